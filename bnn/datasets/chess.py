"""King and rook against king: which positions are illegal, by the rules of chess."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from jaxtyping import Bool, Int, Int64

from bnn.errors import DataError
from bnn.records import Records
from bnn.schema import Attribute, Schema, Value

PIECES = ("white king", "white rook", "black king")
_AXES: dict[str, tuple[Value, ...]] = {"file": tuple("abcdefgh"), "rank": tuple(range(1, 9))}
_CLASS = Attribute("class", ("legal", "illegal"))


def illegal(positions: Int[np.ndarray, "rows 6"]) -> Bool[np.ndarray, " rows"]:
    """Which positions cannot occur with White to move.

    Two pieces on one square, kings on neighbouring squares, or the black king in check: on the rook's file or rank
    without the white king between them.

    Parameters
    ----------
    positions
        File and rank, each from 0 to 7, of the white king, the white rook and the black king.

    Examples
    --------
    >>> illegal(np.array([[0, 0, 3, 3, 3, 7], [3, 5, 3, 3, 3, 7]])).tolist()
    [True, False]
    """
    king, rook, black = positions[:, 0:2], positions[:, 2:4], positions[:, 4:6]
    met = (king == rook).all(axis=1) | (rook == black).all(axis=1) | (abs(king - black) <= 1).all(axis=1)
    lines, shielded = rook == black, (king - rook) * (king - black) < 0
    checks = lines & ~((king == rook) & shielded[:, ::-1])
    found: np.ndarray = met | checks.any(axis=1)
    return found


def krk(rows: int, seed: int | np.random.Generator | None, *, relations: bool = False) -> Records:
    """Draw positions of king and rook against king with White to move, and say which are illegal.

    The chess domains of [S 4] and of inductive logic programming (Muggleton, Bain, Hayes-Michie and Michie 1989): every
    piece is put on any of the 64 squares, so that a third of the positions are illegal. By coordinates a single
    attribute hardly tells anything, so that naive Bayes learns nothing; by relations it learns most.

    Parameters
    ----------
    rows
        Number of positions, drawn independently.
    seed
        Number or numpy Generator; None draws others each time.
    relations
        False: six attributes, file (a to h) and rank (1 to 8) of the white king, the white rook and the black king.
        True: 18 attributes, no or yes: for each pair of pieces, and for files and ranks, whether they are the same,
        whether they are neighbours, and whether the first piece's comes before the second's.

    Returns
    -------
    `Records` with the target ``class``, legal or illegal.

    Raises
    ------
    DataError
        Fewer than one row, or a seed that is none.

    Examples
    --------
    >>> positions = krk(1000, seed=0)
    >>> positions.schema.names[:2], positions.schema["class"].values
    (('white king, file', 'white king, rank'), ('legal', 'illegal'))
    >>> krk(1, seed=0, relations=True).schema.names[0]
    'white king and white rook: same file'
    """
    if rows < 1:
        raise DataError(f"krk.rows: got {rows}; needed is a number of positions from 1 on.")
    try:
        rng = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise DataError(f"krk.seed: needs a whole number from 0 on, or a numpy Generator; got {seed!r}.") from None
    positions = rng.integers(0, 8, (rows, 6))
    answers = illegal(positions)[:, None].astype(np.int64)
    if relations:
        codes, attributes = _related(positions), _RELATIONS
    else:
        codes, attributes = positions, _COORDINATES
    return Records(np.hstack([codes, answers]), Schema((*attributes, _CLASS), "class"))


_COORDINATES = tuple(Attribute(f"{piece}, {axis}", values) for piece, (axis, values) in product(PIECES, _AXES.items()))
_PAIRS = tuple(combinations(range(3), 2))
_RELATIONS = tuple(
    Attribute(f"{PIECES[a]} and {PIECES[b]}: {relation} {axis}", ("no", "yes"))
    for (a, b), axis, relation in product(_PAIRS, _AXES, ("same", "neighbouring", "ascending"))
)


def _related(positions: Int64[np.ndarray, "rows 6"]) -> Int64[np.ndarray, "rows 18"]:
    """Codes of the relations, in the order of their attributes."""
    columns = []
    for (a, b), axis in product(_PAIRS, range(2)):
        apart = positions[:, 2 * b + axis] - positions[:, 2 * a + axis]
        columns += [apart == 0, abs(apart) == 1, apart > 0]
    return np.stack(columns, axis=1).astype(np.int64)
