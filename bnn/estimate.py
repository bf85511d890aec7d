"""Estimates: from counts to the ratio Q(j,i) = P(j,i) / (P(j) P(i)) whose logarithm is an information gain in bits.

An estimate sees the counts of a block of pairs and answers with the block of ratios, so that no second table of all
pairs is ever made. Register a new one in `ESTIMATES`; `symmetric` says whether Q(j,i) = Q(i,j), on which every energy
argument rests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from bnn.counts import Counts

Block = Float[np.ndarray, "to from"]
Broadcast = Float[np.ndarray, "#to #from"]


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Counts of a block of pairs (to j, from i), float64, in units of ``1 / counts.scale``.

    Attributes
    ----------
    joint
        N(j,i): records with both on.
    to, given
        N(j; attribute of i known) and N(i; attribute of j known).
    known
        Records with both attributes known.
    """

    joint: Block
    to: Broadcast
    given: Broadcast
    known: Broadcast

    def cell(self, to: bool, given: bool) -> PairCounts:
        """The same block for another cell of the 2 x 2 table: j on or off, i on or off."""
        joint = self.joint
        if not (to and given):
            joint = {
                (True, False): self.to - joint,
                (False, True): self.given - joint,
                # Rounded counts (`Counts.decay`) may miss nothing by a unit or two
                (False, False): np.maximum(self.known - self.to - self.given + joint, 0.0),
            }[to, given]
        return PairCounts(
            joint,
            self.to if to else self.known - self.to,
            self.given if given else self.known - self.given,
            self.known,
        )


def pair_counts(counts: Counts, to: slice, given: slice) -> PairCounts:
    """Counts of the pairs of two runs of neurons; without gaps the margins stay broadcasts."""
    joint = counts.block(to, given).astype(np.float64)
    attribute = counts.layout.attribute
    if counts.complete:  # the same marginal whatever the other attribute
        return PairCounts(
            joint,
            counts.on[to, :1].astype(np.float64),
            counts.on[given, :1].astype(np.float64).T,
            counts.known[:1, :1].astype(np.float64),
        )
    return PairCounts(
        joint,
        counts.on[to][:, attribute[given]].astype(np.float64),
        counts.on[given][:, attribute[to]].astype(np.float64).T,
        counts.known[np.ix_(attribute[to], attribute[given])].astype(np.float64),
    )


def joint(pairs: PairCounts, m: float) -> Block:
    """Joint m-estimate: Q = (R + m) / (N + m) with R = N(j,i) / (P(j) P(i)), P the relative frequencies.

    Symmetric; an independent pair has Q = 1 exactly (N times N(j,i) and N(j) times N(i) are then the same integer), a
    pair never seen together Q = m / (N + m), a pair of attributes never known together Q = 1. With m = 0 it is the
    relative-frequency estimate.

    Parameters
    ----------
    pairs
        Counts of the block.
    m
        Strength of the prior belief in independence, in records (of the counts' unit); at least 0.

    Notes
    -----
    Not in the papers: the class-conditional `conditional` of [S eq 2] makes Q(j,i) differ from Q(i,j), and the energy
    argument of [B 2.2] needs symmetry.
    """
    # A count is at least one unit wherever the joint count is, so the floor only turns 0/0 into 0.
    expected = np.maximum(pairs.to * pairs.given, 1.0)
    ratio: np.ndarray = pairs.joint * pairs.known
    ratio /= expected
    ratio *= pairs.known
    if m == 0.0:
        ratio = np.where(pairs.known > 0, ratio / np.maximum(pairs.known, 1.0), 1.0)
    else:
        ratio += m
        ratio /= pairs.known + m
    return ratio


def conditional(pairs: PairCounts, m: float) -> Block:
    """m-estimate of j given i over P(j): Q(j,i) = (N(j,i) / P(j) + m) / (N(i) + m) [S eq 2, C eq 5].

    Not symmetric: a network learned with it carries no guarantee of descent.
    """
    ratio: np.ndarray = pairs.joint * pairs.known / np.maximum(pairs.to, 1.0)
    if m == 0.0:
        ratio = np.where(pairs.given > 0, ratio / np.maximum(pairs.given, 1.0), 1.0)
    else:
        ratio = (ratio + m) / (pairs.given + m)
    return ratio


@dataclass(frozen=True, slots=True)
class Estimate:
    """A registered estimate: its ratio function and whether that is symmetric in the pair."""

    ratio: Callable[[PairCounts, float], Block]
    symmetric: bool


ESTIMATES = {
    "joint": Estimate(joint, symmetric=True),
    "conditional": Estimate(conditional, symmetric=False),
}
