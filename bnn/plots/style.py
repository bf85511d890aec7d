"""One look for all pictures: colours that colour-blind people tell apart, sizes that carry in a talk."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator

from bnn.associative import AssociativeMemory
from bnn.memories import PatternMemory
from bnn.rules import RULES

# Okabe and Ito's palette; vermilion is kept for what should make the reader stop.
BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"
WARNING = "#D55E00"
INK, GREY, PALE = "#222222", "#666666", "#ECECEC"
SERIES = (BLUE, GREEN, PURPLE, SKY, INK, ORANGE)
MARKERS = ("o", "s", "^", "D", "v", "P")

EXCITATORY, INHIBITORY = BLUE, ORANGE
WEIGHTS = LinearSegmentedColormap.from_list(
    "weights", ["#9C5700", INHIBITORY, "#F7DCA1", "#FFFFFF", "#AFDDF7", EXCITATORY, "#003F63"]
)

_STYLE: dict[Any, Any] = {
    "font.size": 12.0,
    "axes.titlesize": 13.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 12.0,
    "xtick.labelsize": 11.0,
    "ytick.labelsize": 11.0,
    "legend.fontsize": 11.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.prop_cycle": cycler(color=SERIES),
    "lines.linewidth": 1.8,
    "text.color": INK,
    "text.parse_math": False,  # a dollar in a user's table is a dollar
    "axes.labelcolor": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.dpi": 120.0,
}
_NOTE_WIDTH = 70  # characters
_LOCK = threading.RLock()


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the package's look, as a context or as a decorator; global settings are put back.

    Matplotlib's settings belong to the whole process, so threads draw one after another.
    """
    with _LOCK, mpl.rc_context(_STYLE):
        yield


def new_figure(width: float, height: float) -> Figure:
    """A figure of that size in inches that no window manager knows of."""
    return Figure(figsize=(width, height), layout="constrained")


def given_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes given, or the only ones of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def figure_of(ax: Axes) -> Figure:
    """The whole figure that axes belong to, also from inside a subfigure."""
    figure = ax.figure
    while not isinstance(figure, Figure):
        figure = figure.figure
    return figure


def unit(network: AssociativeMemory) -> str:
    """Unit of weights, fields and energies: bits, except under rules whose weights are no logarithms."""
    if isinstance(network, PatternMemory):
        return network.unit
    rule = RULES.get(network.provenance.get("rule", ""))
    return "bits" if rule is None or rule.in_bits else "no unit"


def count(number: int, noun: str) -> str:
    """A number with its noun.

    Examples
    --------
    >>> count(1, "row"), count(1000, "row")
    ('1 row', '1,000 rows')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def readable(number: float, form: str = ",.10g") -> str:
    """A number as people print it, with separated thousands and a true minus sign.

    Examples
    --------
    >>> readable(-183657.2), readable(-0.25, ".1f")
    ('−183,657.2', '−0.2')
    """
    return f"{number:{form}}".replace("-", "\N{MINUS SIGN}")


def short(text: str, width: int = 40) -> str:
    """Text that leaves room for the picture.

    Examples
    --------
    >>> short("a very long name", 10)
    'a very lo…'
    """
    return text if len(text) <= width else f"{text[: width - 1]}…"


def note(ax: Axes, text: str, colour: str = GREY) -> None:
    """Write a remark above axes, at the right, under those already there; one warning colours them all."""
    written = next((child for child in ax.get_children() if child.get_gid() == "note"), None)
    lines: list[str] = []
    if isinstance(written, Text):
        lines = written.get_text().splitlines()
        colour = WARNING if written.get_color() == WARNING else colour
    for part in text.split("\n"):
        even = len(part) // -(-len(part) // _NOTE_WIDTH) + 8  # lines of about equal length look less broken
        lines += [line for line in textwrap.wrap(part, even) if line not in lines]
    ax.set_title("\n".join(lines), loc="right", fontsize=11, color=colour, backgroundcolor="white", gid="note")


def number_axis(axis: Axis, whole: bool = False) -> None:
    """Ticks as people print numbers; only whole ones where counts stand."""
    axis.set_major_locator(MaxNLocator(nbins=8, integer=whole, min_n_ticks=1, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: readable(value)))
