"""Fuzzy and reliable intervals of numeric attributes [C 3.1, 3.2, 3.3]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Float64, Int64, Integer, Real

from bnn.classify.class_counts import ClassCounts
from bnn.classify.gains import Cells, Gains, gain_table
from bnn.classify.reading import Codebook, Table
from bnn.counting import SCALE
from bnn.discretize import memberships

CHUNK = 1 << 14
"""Rows whose memberships are held at a time."""


def with_memberships(
    counts: ClassCounts,
    codebook: Codebook,
    table: Table,
    classes: Integer[np.ndarray, " rows"],
    weights: Int64[np.ndarray, " rows"] | None,
    SIG: float,
) -> ClassCounts:
    """Fuzzy learning: count each row in every interval by its membership [C eq 7, 8].

    Memberships are rounded to whole units of 2**-20, so that they add up to the row's weight exactly: what is left
    over goes to the row's largest one.

    Parameters
    ----------
    counts
        The rows counted by their own intervals.
    codebook, table, classes
        The rows.
    weights
        Their whole weights of 2**-20, or None: once each.
    SIG
        Fuzziness.
    """
    joint = counts.joint * (SCALE // counts.scale)
    k = joint.shape[1]
    for a, span in numeric(codebook).items():
        numbers, column = table.numbers(a), codebook.columns[a]
        bounds, sigma = column.inner, SIG * column.width
        block = np.zeros((len(bounds) + 1, k), np.int64)
        for begin in range(0, table.rows, CHUNK):
            rows = slice(begin, begin + CHUNK)
            whole = _whole(memberships(numbers[rows], bounds, sigma), np.full(len(numbers[rows]), SCALE))
            if weights is not None:  # a row of weight 2 is the row twice
                whole = _whole(whole / SCALE, weights[rows])
            for c in range(k):
                block[:, c] += whole[classes[rows] == c].sum(axis=0)
        joint[span] = block
    return ClassCounts(counts.schema, counts.target, joint, counts.totals * (SCALE // counts.scale), SCALE)


def reliable(cells: Cells, chosen: Gains, m: float, codebook: Codebook, Pr: float, borrow: float) -> Cells:
    """Let unreliable intervals borrow the counts of their neighbours [C eq 10-12].

    An interval is unreliable while max(0, 1 - 1/(4 eps^2 n)) < Pr, n its records and eps = sum over C of P(C)
    |P(C|J) - P(C)|. It then takes in the original counts of one more interval on each side, or a share ``borrow`` of
    them at a time, until it is reliable or all intervals are in.

    Parameters
    ----------
    cells
        The original counts.
    chosen, m
        The estimate of P(C|J), as P(C) 2^gain.
    codebook
        Which attributes are numeric.
    Pr
        Least reliability, 0 to 1; 0 changes nothing.
    borrow
        Share of an interval taken in at a time, above 0, at most 1.
    """
    joint = cells.joint.copy()
    prior = chosen.prior(cells)
    for span in numeric(codebook).values():
        own = _part(cells, span, cells.joint[span])
        place = np.arange(len(own.joint))
        apart = np.abs(place[:, None] - place)
        distance = np.zeros(len(place))
        while True:
            reach = np.clip(distance[:, None] - apart + 1.0, 0.0, 1.0)
            window = _part(cells, span, reach @ own.joint)
            share = prior * np.exp2(gain_table(window, chosen, m))
            eps = (prior * np.abs(share - prior)).sum(axis=1)
            known = 4.0 * eps**2 * window.joint.sum(axis=1) / cells.scale
            bound = np.where(known > 1.0, 1.0 - 1.0 / np.maximum(known, 1.0), 0.0)
            unreliable = (bound < Pr) & (distance < len(place) - 1)
            if not unreliable.any():
                break
            distance[unreliable] += borrow
        joint[span] = window.joint
    return replace(cells, joint=joint)


def fuzzy_gains(
    numbers: Real[np.ndarray, " rows"],
    bounds: Float64[np.ndarray, " bounds"],
    sigma: float,
    gains: Float64[np.ndarray, "intervals classes"],
    cases: Float64[np.ndarray, " intervals"],
) -> tuple[Float64[np.ndarray, "rows classes"], Float64[np.ndarray, " rows"]]:
    """Fuzzy classification: log2 of sum over J of membership times P(C|J)/P(C), and the cases behind it [C eq 9].

    A missing number has gain 0, of no cases.
    """
    member = memberships(numbers, bounds, sigma)
    with np.errstate(divide="ignore"):
        gain = np.log2(member @ np.exp2(gains))
    gain[np.isnan(numbers)] = 0.0
    return gain, member @ cases


def numeric(codebook: Codebook) -> Mapping[int, slice]:
    """Which values belong to each numeric attribute."""
    start = np.concatenate([[0], np.cumsum(codebook.sizes)]).tolist()
    columns = enumerate(codebook.columns)
    return {a: slice(start[a], start[a + 1]) for a, column in columns if column.bounds is not None}


def _whole(
    member: Float64[np.ndarray, "rows intervals"], weight: Int64[np.ndarray, " rows"]
) -> Int64[np.ndarray, "rows intervals"]:
    """Divide each row's whole weight by its memberships; a row that belongs nowhere has none."""
    whole: np.ndarray = np.rint(member * weight[:, None]).astype(np.int64)
    left = np.where(member.any(axis=1), weight - whole.sum(axis=1), 0)
    whole[np.arange(len(whole)), member.argmax(axis=1)] += left
    return whole


def _part(cells: Cells, span: slice, joint: Float64[np.ndarray, "intervals classes"]) -> Cells:
    """The cells of one attribute, with other counts."""
    return Cells(joint, cells.known[span], cells.totals, cells.sizes[span], cells.scale)
