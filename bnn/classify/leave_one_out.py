"""Leaving each row out in turn, in closed form: what its own counts would be without it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float64, Int, Int32, Int64, Integer

from bnn.classify.class_counts import ClassCounts
from bnn.classify.gains import Cells, gain_table, prior_bits
from bnn.classify.model import Options, Scores, answerable
from bnn.errors import DataError
from bnn.kernels.scores import pad, sum_gains

TABLES = 1 << 22
"""Entries of the tables held at a time."""


def scores_without_own_row(
    counts: ClassCounts,
    options: Options,
    prior: Float64[np.ndarray, " classes"] | None,
    codes: Integer[np.ndarray, "rows attributes"],
    classes: Int32[np.ndarray, " rows"],
    weights: Int64[np.ndarray, " rows"] | None,
    owner: str,
) -> Scores:
    """log2 scores of counted rows, each by the counts without itself.

    Schema, classes and bounds stay. For a row of class c only the counts of c change, and of each attribute only those
    of the row's own value matter. So one table a class (and weight) holds, for every value, its gain once a record with
    it is left out.

    Parameters
    ----------
    counts, options
        The classifier; intervals neither fuzzy nor reliable.
    prior
        log2 priors that are given; None: those of the counts.
    codes, classes, weights
        The rows, as they were counted; weights in units of ``1 / counts.scale``, None: one record each.
    owner
        Who asks.

    Raises
    ------
    DataError
        A row that was never counted.
    """
    sizes = np.array(counts.schema.sizes, dtype=np.int64)
    k = len(counts.totals)
    if weights is None:
        kinds, kind = np.arange(k), classes.astype(np.int64)
        weight = np.full(k, counts.scale)
    else:
        pairs, kind = np.unique(np.stack([classes, weights], axis=1), axis=0, return_inverse=True)
        kinds, weight, kind = pairs[:, 0], pairs[:, 1], kind.reshape(-1)
    cells = Cells.of(counts)
    scores = np.empty((len(codes), k))
    at_once = max(1, TABLES // ((len(counts.joint) + len(sizes)) * max(k, 8)))
    for begin in range(0, len(kinds), at_once):
        end = begin + at_once
        some = [cells.without(int(c), float(w)) for c, w in zip(kinds[begin:end], weight[begin:end], strict=True)]
        table = np.concatenate([pad(gain_table(c, options.gains, options.m), sizes) for c in some])
        front = np.stack([prior_bits(options.gains.prior(c)) if prior is None else prior for c in some])
        rows = _rows(kind, begin, end)
        block = kind[rows] - begin
        part = sum_gains(codes[rows], sizes, table, front, block)
        scores[rows] = part if not np.isneginf(table).any() else answerable(part, front[block], owner)
    if (strange := np.isnan(scores).any(axis=1)).any():
        raise DataError(
            f"{owner}.leave_one_out_proba: row {int(np.argmax(strange))} was never counted; give the rows that were "
            "learned."
        )
    return scores


def _rows(kind: Int[np.ndarray, " rows"], begin: int, end: int) -> Int[np.ndarray, " some"] | slice:
    """Rows of these kinds."""
    within = (kind >= begin) & (kind < end)
    return slice(None) if within.all() else np.flatnonzero(within)
