"""Noise of cues: what is wrong, moved or missing in what a memory is asked with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from bnn.errors import DataError, unknown_name
from bnn.noise import corrupt_codes, draw_amount
from bnn.schema import Schema

Amount = float | int
WRONG_BY = ("pattern", "values")


@dataclass(frozen=True, slots=True)
class Noise:
    """How cues differ from the patterns; several kinds are applied in the order of the parameters.

    An amount is a share, a float from 0 to 1, or a whole number of cells (all there are, where there are fewer). Cells
    are neurons of patterns, attributes of tables and modular patterns; those that are missing are left alone.

    Parameters
    ----------
    flips
        Cells that change: off to on and on to off, in a group or attribute to another value.
    moves
        Active units that go elsewhere: active neurons to places of inactive ones; in a group or attribute, which
        always keeps one active unit, to another value of it, as with `flips`.
    wrong
        Cells that take the values of something else stored, see `wrong_by`; some may stay equal.
    erased
        Cells that become unknown.
    contiguous
        Whether wrong and erased cells are neighbours, from a random place on, the first after the last.
    wrong_by
        ``"pattern"``: all wrong cells of a cue are those of one other pattern; ``"values"``: each is that of a pattern
        of its own, so that values are as frequent as ever but fit nothing. Other patterns are earlier ones, so that
        they are stored at every load; only the first pattern has the second.

    Examples
    --------
    >>> Noise(moves=1)
    Noise(moves=1)
    """

    flips: Amount = 0
    moves: Amount = 0
    wrong: Amount = 0
    erased: Amount = 0
    contiguous: bool = False
    wrong_by: str = "pattern"

    def __post_init__(self) -> None:
        for name in ("flips", "moves", "wrong", "erased"):
            object.__setattr__(self, name, _amount(getattr(self, name), f"Noise.{name}"))
        if not isinstance(self.contiguous, bool | np.bool_):
            raise DataError(f"Noise.contiguous: got {self.contiguous!r}; give True or False.")
        if self.wrong_by not in WRONG_BY:
            raise unknown_name("Noise.wrong_by", self.wrong_by, WRONG_BY)

    def __repr__(self) -> str:
        return f"Noise({', '.join(f'{name}={value!r}' for name, value in self.describe().items())})"

    def describe(self) -> dict[str, Any]:
        """What is not as usual, as plain JSON types."""
        usual = Noise.__dataclass_fields__
        told = {name: getattr(self, name) for name in usual}
        return {name: value for name, value in told.items() if value != usual[name].default}

    def require_room(self, schema: Schema) -> None:
        """Refuse whole numbers beyond the cells of a pattern."""
        cells = len(schema.names)
        for name in ("flips", "moves", "wrong", "erased"):
            if getattr(self, name) > cells:
                raise DataError(f"Noise.{name}: got {getattr(self, name)}, but a pattern has {cells} cells.")


def corrupted(
    noise: Noise, codes: Int[np.ndarray, "rows cells"], rows: slice, schema: Schema, rng: np.random.Generator
) -> Int[np.ndarray, "chosen cells"]:
    """Cues of some rows of ``codes``, which are the patterns in the order they are stored in."""
    sizes = np.array(schema.sizes)
    cues = codes[rows]
    units = all(attribute.kind == "on_off" for attribute in schema.attributes)
    for kind, amount in (("flip", noise.flips), ("move" if units else "flip", noise.moves)):
        if amount:
            cues = corrupt_codes(cues, sizes, {kind: amount}, rng)
    if noise.wrong:
        cues = np.where(_part(cues, noise, noise.wrong, rng), codes[_others(noise, rows, codes.shape, rng)], cues)
    if noise.erased:
        cues = np.where(_part(cues, noise, noise.erased, rng), np.int8(-1), cues)
    return cues


def _others(
    noise: Noise, rows: slice, shape: tuple[int, ...], rng: np.random.Generator
) -> tuple[Int[np.ndarray, "chosen _"], Int[np.ndarray, " cells"]]:
    """For each cell of the rows, where its value comes from if it is wrong: an earlier row, of the first the second."""
    earlier = np.arange(rows.start, rows.stop)[:, None]
    size = (len(earlier), 1 if noise.wrong_by == "pattern" else shape[1])
    chosen = rng.integers(0, np.maximum(earlier, 1), size)
    chosen[earlier[:, 0] == 0] = min(1, shape[0] - 1)
    return chosen, np.arange(shape[1])


def _part(
    cues: Int[np.ndarray, "rows cells"], noise: Noise, amount: Amount, rng: np.random.Generator
) -> Bool[np.ndarray, "rows cells"]:
    """Cells of each row: a share or so many of the known ones, anywhere or, of all, in one piece."""
    if not noise.contiguous:
        return draw_amount(cues >= 0, amount, rng)
    rows, cells = cues.shape
    length = amount if isinstance(amount, int) else round(amount * cells)
    place = (np.arange(cells) - rng.integers(0, cells, (rows, 1))) % cells
    part: np.ndarray = (place < length) & (cues >= 0)
    return part


def _amount(value: Any, owner: str) -> Amount:
    """A share as a float or a number as an int; no noise is 0."""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
    if not number or not value >= 0 or (isinstance(value, float | np.floating) and value > 1):
        raise DataError(f"{owner}: got {value!r}; give a share, such as 0.1, or a whole number of cells, such as 2.")
    return int(value) if isinstance(value, int | np.integer) or value == 0 else float(value)
