"""Patterns, cues and counts of one seed, drawn and counted as far as they are needed."""

from __future__ import annotations

from itertools import count

import numpy as np
from jaxtyping import Int

from bnn.counts import Counts
from bnn.errors import DataError
from bnn.records import Records
from bnn.study.cues import Noise, corrupted
from bnn.study.family import Family

BLOCK = 64  # cues drawn at a time, so that none depends on the load
PATTERNS, CUES, ASKED = 3, 4, 5  # streams of one seed; those of recall are others
KEPT = 3  # counts


class Stream:
    """The patterns of one seed in the order they are stored in: those of a load are the first of it.

    Parameters
    ----------
    family, noise
        What is drawn.
    seed
        With the place in the stream it decides over every pattern and cue; neither rule nor load does.
    """

    def __init__(self, family: Family, noise: Noise, seed: int) -> None:
        self.family, self.noise, self.seed = family, noise, seed
        self._schema = family.schema
        self._drawn = Records(np.empty((0, len(self._schema.names)), np.int8), self._schema)
        self._cues = self._drawn
        self._counts: dict[int, Counts] = {}

    def patterns(self, load: int) -> Records:
        """The first so many patterns."""
        self._reach(load)
        return self._drawn[:load]

    def asked(self, load: int, most: int) -> tuple[Records, Records]:
        """The patterns of a load that are asked for, at most so many, and their cues.

        Each place in the stream has a rank of its own, drawn once: as the load grows, most of those asked for stay.
        """
        self._reach(load)
        rank = np.random.default_rng([self.seed, 0, ASKED]).random(load)
        chosen = np.sort(rank.argsort()[:most])
        return self._drawn[chosen], self._cues[chosen]

    def counts(self, load: int) -> Counts:
        """Counts of the first so many patterns: those of the nearest smaller load that are kept, and what is new."""
        begin = max((known for known in self._counts if known <= load), default=0)
        new = self.patterns(load)[begin:]
        kept = self._counts.pop(begin, None)
        found = Counts.of(new) if kept is None else kept if begin == load else kept + Counts.of(new)
        if kept is not None:
            self._counts[begin] = kept  # the last used are kept
        self._counts[load] = found
        while len(self._counts) > KEPT:
            del self._counts[next(iter(self._counts))]
        return found

    def _reach(self, load: int) -> None:
        """Draw at least so many patterns and their cues, in whole blocks, twice as many as before or more."""
        most = self.family.most
        if most is not None and load > most:
            raise DataError(f"Stream.load: got {load}, but the family {self.family.name!r} has {most} patterns.")
        if load <= len(self._drawn):
            return
        number = next(n for k in count() if (n := BLOCK << k) >= load)
        codes = self.family.draw(number, np.random.default_rng([self.seed, 0, PATTERNS]))
        self._drawn = Records(codes, self._schema)
        blocks = [self._block(self._drawn.codes, first) for first in range(0, len(codes), BLOCK)]
        self._cues = Records(np.concatenate(blocks), self._schema)

    def _block(self, codes: Int[np.ndarray, "rows cells"], first: int) -> Int[np.ndarray, "some cells"]:
        """Cues of a block of patterns."""
        rng = np.random.default_rng([self.seed, first // BLOCK, CUES])
        return corrupted(self.noise, codes, slice(first, min(first + BLOCK, len(codes))), self._schema, rng)
