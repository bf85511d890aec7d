"""States as cells of a picture: on, off, unknown, and where they differ from the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Float64, Int8, Shaped
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from bnn import coding
from bnn.errors import DataError
from bnn.plots.style import INK, ORANGE, PALE, SKY, WARNING
from bnn.schema import Layout
from bnn.trace import Trace

OFF, ON, UNKNOWN, EXTRA, LACKING, BLANK = range(6)
IN_A_LINE = 10
_COLOURS = (PALE, INK, SKY, WARNING, ORANGE, "#FFFFFF")
_PALETTE = np.array([to_rgb(colour) for colour in _COLOURS])
_WORDS = {UNKNOWN: "unknown", EXTRA: "on, should be off", LACKING: "off, should be on"}


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """What each row of a trace should have recalled, and how near it came.

    Attributes
    ----------
    name
        ``"true"``, or ``"nearest"`` where patterns and rows differ in number, so that the nearest pattern stands in.
    on, unknown
        bool [batch, neurons]; ``unknown`` is None where everything is known.
    wrong
        bool [batch, neurons]: recalled otherwise; unknown and silent neurons are not compared.
    exact
        bool [batch]: no neuron is wrong.
    overlap
        float64 [batch]: 1 - 2 x share of wrong neurons among those compared.
    word
        [batch]: `Match.word`, with ``"another stored"`` where a row ended in a pattern that is not its own. Where
        patterns have gaps, only ``"stored"`` or ``"different"``.
    """

    name: str
    on: Bool[np.ndarray, "batch neurons"]
    unknown: Bool[np.ndarray, "batch neurons"] | None
    wrong: Bool[np.ndarray, "batch neurons"]
    exact: Bool[np.ndarray, " batch"]
    overlap: Float64[np.ndarray, " batch"]
    word: Shaped[np.ndarray, " batch"]


def truth_of(trace: Trace, patterns: Any, owner: str) -> Truth:
    """Pattern r is the truth of row r; where there are more or fewer patterns than rows, the nearest one is.

    Raises
    ------
    DataError, SchemaError
        Patterns of another network, or with gaps although the nearest one is wanted; the message begins with
        ``owner``.
    """
    read = coding.read_states(trace.network.layout, patterns, owner)
    own = len(read.on) == len(trace)
    if read.unknown is not None and not own:
        raise DataError(
            f"{owner}: some values are unknown and {len(read.on)} patterns are no truth for {len(trace)} rows one by "
            "one; give complete patterns, or one a row."
        )
    match = None if read.unknown is not None else trace.match(patterns)
    on = (read.on if own or match is None else read.on[match.nearest]) == 1
    compared = np.ones_like(on) if trace.silent is None else ~trace.silent
    if read.unknown is not None:
        compared &= ~read.unknown
    wrong = ((trace.discrete == 1) != on) & compared
    exact = ~wrong.any(axis=1)
    overlap = 1.0 - 2.0 * wrong.sum(axis=1) / np.maximum(compared.sum(axis=1), 1)
    if match is None:
        word = np.where(exact, "stored", "different")
    else:
        word = np.where((match.word == "stored") & ~exact, "another stored", match.word)
    return Truth("true" if own else "nearest", on, read.unknown, wrong, exact, overlap, word)


def spread(rows: int) -> list[int]:
    """Ten row numbers at most, spread over all of them, so that sorted data show their variety.

    Examples
    --------
    >>> spread(3), spread(1000)[:3]
    ([0, 1, 2], [0, 111, 222])
    """
    chosen: list[int] = np.linspace(0, rows - 1, min(rows, IN_A_LINE)).round().astype(int).tolist()
    return chosen


def cells_of(
    on: Bool[np.ndarray, "batch neurons"],
    unknown: Bool[np.ndarray, "batch neurons"] | None = None,
    wrong: Bool[np.ndarray, "batch neurons"] | None = None,
) -> Int8[np.ndarray, "batch neurons"]:
    """What to draw for each neuron, one of OFF, ON, UNKNOWN, EXTRA and LACKING."""
    cells = on.astype(np.int8)
    if wrong is not None:
        cells[wrong] = np.where(on[wrong], EXTRA, LACKING)
    if unknown is not None:
        cells[unknown] = UNKNOWN
    return cells


def lines_of(trace: Trace, rows: Sequence[int], truth: Truth | None) -> dict[str, Int8[np.ndarray, "rows neurons"]]:
    """Cells of the cue, of what was recalled, and of the truth where it is given, by name."""
    lines = {
        "cue": cells_of(trace.cues == 1, trace.unknown),
        "recalled": cells_of(trace.discrete == 1, trace.silent, None if truth is None else truth.wrong),
    }
    if truth is not None:
        lines[truth.name] = cells_of(truth.on, truth.unknown)
    return {name: line[list(rows)] for name, line in lines.items()}


def is_picture(layout: Layout) -> bool:
    """Whether patterns have two dimensions and every attribute is a pixel, on or off."""
    shape = layout.schema.shape
    return shape is not None and len(shape) == 2 and set(layout.schema.sizes) == {2}


def as_pictures(layout: Layout, cells: Int8[np.ndarray, "batch neurons"]) -> Int8[np.ndarray, "batch height width"]:
    """Cells of each pixel's "on" neuron, in the shape of the picture."""
    height, width = layout.schema.shape or (1, layout.neurons)
    return cells[:, layout.start[1:] - 1].reshape(len(cells), height, width)


def mosaic(
    lines: Sequence[Int8[np.ndarray, "batch height width"]], columns: int
) -> Int8[np.ndarray, "all_height all_width"]:
    """Pictures side by side with a gap between them, one line below the other, as one picture of so many columns."""
    _, height, width = lines[0].shape
    gap = max(1, width // 9)
    whole = np.full((len(lines) * (height + gap) - gap, columns * (width + gap) - gap), BLANK, np.int8)
    for i, line in enumerate(lines):
        for k, picture in enumerate(line):
            top, left = i * (height + gap), k * (width + gap)
            whole[top : top + height, left : left + width] = picture
    return whole


def show_cells(ax: Axes, cells: Int8[np.ndarray, "height width"], **options: Any) -> None:
    """Draw cells in their colours, without frame or ticks."""
    image: Float[np.ndarray, "height width rgb"] = _PALETTE[cells]
    ax.imshow(image, **options)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set_xticks([])
    ax.set_yticks([])


def name_columns(ax: Axes, width: int, names: Sequence[str]) -> None:
    """Write a caption below each picture of a mosaic."""
    gap = max(1, width // 9)
    ax.set_xticks([k * (width + gap) + (width - 1) / 2 for k in range(len(names))], list(names))


def name_lines(ax: Axes, height: int, width: int, names: Sequence[str]) -> None:
    """Write the name of each line of a mosaic at its left."""
    gap = max(1, width // 9)
    ax.set_yticks([i * (height + gap) + (height - 1) / 2 for i in range(len(names))], list(names))


def explain_colours(figure: Figure, drawn: Sequence[Int8[np.ndarray, "..."]]) -> None:
    """A legend below the figure of those colours that are not plain on and off, if any was drawn."""
    present = [code for code in _WORDS if any((cells == code).any() for cells in drawn)]
    if present:
        handles = [Patch(facecolor=_COLOURS[code], label=_WORDS[code]) for code in present]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
