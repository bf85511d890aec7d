"""Noise: patterns and records with a stated share of their neurons flipped, moved, switched off or hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Int, Int8, Shaped

from bnn.errors import DataError
from bnn.patterns import as_numbers, pattern_codes
from bnn.records import Records, require_on_off


def corrupt(
    patterns: Any,
    *,
    flip: float | None = None,
    move: float | None = None,
    delete: float | None = None,
    redraw: float | None = None,
    mask: float | None = None,
    groups: Any = None,
    pool: Any = None,
    seed: int | np.random.Generator | None = None,
) -> Any:
    """Corrupt patterns or records by exact shares of each row; several kinds are applied in the order of the arguments.

    In each row ``round(share * number)`` cells are drawn without replacement (a half rounds to even). Missing cells
    are never touched nor counted.

    Parameters
    ----------
    patterns
        [patterns, ...] in {0, 1}, {-1, +1} or bool with NaN = unknown, or `Records`; never changed.
    flip
        Share of the row's known cells that change: on to off and off to on, in a table to another value, all others
        equally likely. An attribute of one value cannot change and does not count.
    move
        Share of the active neurons that are switched off while as many inactive ones are switched on (fewer if fewer
        are inactive); on_off only.
    delete
        Share of the active neurons that are switched off; on_off only.
    redraw
        Share of the known cells that get the value which a random record of ``pool`` has there, perhaps their own:
        noise by each attribute's own frequencies. A cell of which the pool knows nothing stays.
    mask
        Share of the known cells that become unknown.
    groups
        [neurons], any integers: a moved neuron lands in its own group, as in modular patterns with one active neuron
        a group; one whose group has no inactive neuron left stays. None: it lands anywhere.
    pool
        Patterns, or `Records` of the same schema, such as the training rows; None: those given.
    seed
        Number or numpy Generator; None draws another one each time.

    Returns
    -------
    `Records` for records; else an array of the same shape, coding and type, or of floats (float32 unless the array
    was of another float type) where `mask` needs NaN.

    Raises
    ------
    DataError
        No share, one outside [0, 1], patterns of mixed coding, `move` and `delete` on a table, or a pool that does not
        fit.

    Examples
    --------
    >>> noisy = corrupt([[1, 1, 1, 1, 0, 0, 0, 0]], delete=0.5, seed=0)
    >>> int(noisy.sum())
    2
    """
    shares = {"flip": flip, "move": move, "delete": delete, "redraw": redraw, "mask": mask}
    if all(share is None for share in shares.values()):
        raise DataError("corrupt: got no share; name one of flip, move, delete, redraw, mask, such as flip=0.1.")
    for name, share in shares.items():
        if share is not None and not 0 <= share <= 1:
            raise DataError(f"corrupt.{name}: a share lies in [0, 1]; got {share}.")
    shares = {name: None if share is None else float(share) for name, share in shares.items()}
    if groups is not None and move is None:
        raise DataError("corrupt.groups: only move=... heeds groups; name a share to move or leave groups out.")
    if pool is not None and redraw is None:
        raise DataError(
            "corrupt.pool: only redraw=... draws from a pool; name a share to redraw or leave the pool out."
        )
    try:
        rng = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise DataError(f"corrupt.seed: needs a whole number from 0 on, or a numpy Generator; got {seed!r}.") from None
    if isinstance(patterns, Records):
        if move is not None or delete is not None:
            require_on_off(patterns.schema, "corrupt.move and delete")
        drawn_from = patterns.codes if pool is None else _pool_of_records(pool, patterns)
        codes = corrupt_codes(patterns.codes, np.array(patterns.schema.sizes), shares, rng, groups, drawn_from)
        return Records(codes, patterns.schema, patterns.weights, patterns.unseen)
    array = as_numbers(patterns, "corrupt.patterns")
    if array.ndim < 2 or 0 in array.shape:
        raise DataError(
            f"corrupt.patterns: got shape {array.shape}; needed are one or more patterns, a single one as "
            "array.reshape(1, -1)."
        )
    codes = pattern_codes(array, owner="corrupt.patterns").reshape(len(array), -1)
    drawn_from = codes if pool is None else _pool_of_patterns(pool, array.shape)
    noisy = corrupt_codes(codes, np.full(codes.shape[1], 2), shares, rng, groups, drawn_from).reshape(array.shape)
    return _recoded(noisy, array, floats=mask is not None)


def corrupt_codes(
    codes: Int[np.ndarray, "rows cells"],
    sizes: Int[np.ndarray, " cells"],
    amounts: Mapping[str, float | int | None],
    rng: np.random.Generator,
    groups: Any = None,
    pool: Int[np.ndarray, "pooled cells"] | None = None,
) -> Int[np.ndarray, "rows cells"]:
    """Codes after each kind of noise in the order of `corrupt`'s arguments; an amount is as for `draw_amount`."""
    codes = codes.copy()
    if (amount := amounts.get("flip")) is not None:
        flipped = draw_amount((codes >= 0) & (sizes > 1), amount, rng)
        row, cell = np.nonzero(flipped)
        step = rng.integers(1, sizes[cell])
        codes[row, cell] = (codes[row, cell] + step) % sizes[cell]
    if (amount := amounts.get("move")) is not None:
        moved = draw_amount(codes == 1, amount, rng)
        for members in _members(groups, codes.shape[1]):
            _move(codes, moved, members, rng)
    if (amount := amounts.get("delete")) is not None:
        codes[draw_amount(codes == 1, amount, rng)] = 0
    if (amount := amounts.get("redraw")) is not None:
        pool = codes.copy() if pool is None else pool
        redrawn = draw_amount(codes >= 0, amount, rng)
        for a in np.flatnonzero(redrawn.any(axis=0) & (pool >= 0).any(axis=0)):
            rows, values = redrawn[:, a], pool[:, a]
            codes[rows, a] = rng.choice(values[values >= 0], int(rows.sum()))
    if (amount := amounts.get("mask")) is not None:
        codes[draw_amount(codes >= 0, amount, rng)] = -1
    return codes


def _pool_of_records(pool: Any, records: Records) -> Int[np.ndarray, "pooled cells"]:
    """Codes of a pool for records."""
    if not isinstance(pool, Records) or pool.schema != records.schema:
        got = "Records of another schema" if isinstance(pool, Records) else type(pool).__name__
        raise DataError(f"corrupt.pool: got {got}; give Records of the same schema as those to corrupt.")
    return pool.codes


def _pool_of_patterns(pool: Any, shape: tuple[int, ...]) -> Int[np.ndarray, "pooled cells"]:
    """Codes of a pool for patterns of a shape."""
    array = as_numbers(pool, "corrupt.pool")
    if array.shape[1:] != shape[1:] or len(array) == 0:
        raise DataError(f"corrupt.pool: got shape {array.shape} for patterns of {shape}; give patterns of one shape.")
    return pattern_codes(array, owner="corrupt.pool").reshape(len(array), -1)


def _move(
    codes: Int[np.ndarray, "rows cells"],
    moved: Bool[np.ndarray, "rows cells"],
    members: Int[np.ndarray, " members"],
    rng: np.random.Generator,
) -> None:
    """Switch the moved cells among the members off and as many inactive members on, as far as there are any."""
    leave, free = moved[:, members], codes[:, members] == 0
    wanted = leave.sum(axis=1)
    count = np.minimum(wanted, free.sum(axis=1))
    if (count < wanted).any():
        leave = _drawn(leave, count, rng)
    arrive = _drawn(free, count, rng)
    codes[:, members] += arrive.astype(codes.dtype) - leave.astype(codes.dtype)


def _members(groups: Any, neurons: int) -> list[Int[np.ndarray, " members"]]:
    """Neurons of each group; all of them where there are no groups."""
    if groups is None:
        return [np.arange(neurons)]
    groups = np.asarray(groups).reshape(-1)
    if groups.shape != (neurons,) or groups.dtype.kind not in "iu":
        raise DataError(
            f"corrupt.groups: needs one integer a neuron, {neurons}; got {groups.dtype} of {groups.size} entries."
        )
    return [np.flatnonzero(groups == group) for group in np.unique(groups)]


def draw_amount(
    eligible: Bool[np.ndarray, "rows cells"], amount: float | int, rng: np.random.Generator
) -> Bool[np.ndarray, "rows cells"]:
    """Draw of each row's eligible cells a share (a float) or so many (an int; all where there are fewer)."""
    number = eligible.sum(axis=1)
    count = np.minimum(amount, number) if isinstance(amount, int) else np.rint(amount * number).astype(np.int64)
    return _drawn(eligible, count, rng)


def _drawn(
    eligible: Bool[np.ndarray, "rows cells"], count: Int[np.ndarray, " rows"], rng: np.random.Generator
) -> Bool[np.ndarray, "rows cells"]:
    """Draw so many of each row's eligible cells: those of the smallest random keys."""
    cells = eligible.shape[1]
    bits = cells.bit_length()
    # the low bits are the cell's own number, so that no two keys of a row are equal and the count is exact
    keys = (rng.integers(2 ** (62 - bits), size=eligible.shape) << bits) | np.arange(cells)
    keys |= np.multiply(~eligible, 2**62)
    last = np.maximum(count - 1, 0)
    largest = np.take_along_axis(np.partition(keys, np.unique(last), axis=1), last[:, None], axis=1)
    drawn: np.ndarray = (keys <= largest) & (count > 0)[:, None]
    return drawn


def _recoded(codes: Int8[np.ndarray, "..."], array: Shaped[np.ndarray, "..."], *, floats: bool) -> Any:
    """Codes in the coding and type of an array, floats where NaN must be held."""
    values = codes.astype(np.float32 if floats and array.dtype.kind != "f" else array.dtype)
    if (array == -1).any():
        values = 2 * values - 1
    if values.dtype.kind == "f":
        values[codes < 0] = np.nan
    return values
