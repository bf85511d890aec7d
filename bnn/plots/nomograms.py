"""Nomograms: a naive classifier on a sheet of paper, to be read with a ruler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bnn.classify.explanation import Explanation
from bnn.errors import DataError
from bnn.plots.explained import class_position
from bnn.plots.style import BLUE, GREY, INK, PALE, count, new_figure, note, readable, short, styled

CHARACTER, LANE = 0.95, 0.36  # points that a letter takes, height of a line of text
INCH = 13.0 / 138.0  # a point on paper
PROBABILITIES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)


@dataclass(frozen=True, slots=True)
class Scale:
    """One attribute's axis: the points of each value, and of not knowing it."""

    term: str
    values: tuple[Any, ...]
    points: tuple[float, ...]
    unknown: float


@dataclass(frozen=True, slots=True)
class Scales:
    """What a nomogram prints: points of all values, and what a total of points means.

    Attributes
    ----------
    scales
        The attribute of the largest reach, from 0 to 100 points, first.
    bits
        Bits of log odds that one point is worth.
    start
        log2 of the odds at 0 points.
    left_out
        Names of the weaker terms without a scale; they count as unknown.
    """

    scales: tuple[Scale, ...]
    bits: float
    start: float
    left_out: tuple[str, ...]

    @property
    def most(self) -> float:
        """The largest total."""
        return sum(max(scale.points) for scale in self.scales)

    def probability(self, total: float) -> float:
        """P(class) among the two, at a total of points."""
        return float(1.0 / (1.0 + np.exp2(-(self.start + self.bits * total))))

    def total(self, probability: float) -> float:
        """The total of points at which the class is so probable."""
        return float((np.log2(probability / (1.0 - probability)) - self.start) / self.bits)


@styled()
def nomogram(explained: Explanation, label: Any, against: Any = None, *, strongest: int = 15) -> Figure:
    """Draw a nomogram of one class against one other: read each value's points off, add them up, read the probability.

    One axis an attribute, the most telling one first; a value's place is the difference of its gains for the two
    classes [S eq 4], scaled so that the longest axis has 100 points. A ring is where an unknown attribute stands.
    Below are the scales of the total and of the probability of the class among the two.

    Parameters
    ----------
    explained
        ``classifier.explain(X)`` of rows that show the values to print, such as the training rows.
    label, against
        The class and the other one; of two classes the other need not be named.
    strongest
        How many attributes are printed; the others count as unknown.

    Raises
    ------
    DataError
        Classes that there are not, the same one twice, infinite gains, values whose gain differs from row to row, or
        no attribute that tells the two apart.

    Examples
    --------
    >>> import bnn
    >>> votes = bnn.datasets.load("house-votes-84")
    >>> figure = nomogram(bnn.NaiveBayesClassifier().fit(votes).explain(votes), "democrat")
    >>> figure.axes[0].get_title(loc="left")
    'democrat against republican'
    """
    scales = nomogram_scales(explained, label, against, strongest=strongest)
    other = _other(explained, label, against)
    lanes = [_lanes(scale) for scale in scales.scales]
    above, below = [0.2 + LANE * max(lane) for lane in lanes], [0.2 + LANE * max(0, -min(lane)) for lane in lanes]
    height = 0.4 + sum(above) + sum(below) + 2.6
    result = f"probability of {short(str(label))}"
    names = 1.3 * CHARACTER * max(len(name) for name in (result, *(short(scale.term) for scale in scales.scales)))
    ends = [end for scale in scales.scales for end in _ends(scale)]
    left, right = min(-3.0, *ends) - names, max(104.0, *ends)
    figure = new_figure(INCH * (right - left), 0.6 + 0.52 * height)
    ax = figure.add_subplot()
    points = [(float(p), readable(float(p))) for p in range(0, 101, 10)]
    _ruler(ax, (left, 0.0), "points", points, [5.0 + p for p in range(0, 100, 10)])
    y = 0.4
    for scale, lane, over, under in zip(scales.scales, lanes, above, below, strict=True):
        ax.text(left, y + over, short(scale.term), va="center", fontsize=11.5)
        _draw_scale(ax, y + over, scale, lane)
        y += over + under
    _draw_result(ax, (left, y + 0.7), scales, result)
    for place, _ in points:
        ax.plot([place, place], [0.0, y], color=PALE, linewidth=1.0, zorder=0)
    ax.set(xlim=(left, right), ylim=(height, -0.7))
    ax.axis("off")
    ax.set_title(f"{short(str(label))} against {short(str(other))}")
    note(
        ax,
        "ring: unknown" + (f"; {count(len(scales.left_out), 'weaker attribute')} left out" if scales.left_out else ""),
    )
    return figure


def nomogram_scales(explained: Explanation, label: Any, against: Any = None, *, strongest: int = 15) -> Scales:
    """The numbers that `nomogram` prints; the same arguments and errors."""
    if strongest < 1:
        raise DataError(f"plots.nomogram.strongest: got {strongest}; ask for at least one attribute.")
    c, d = class_position(explained, label), class_position(explained, _other(explained, label, against))
    if c == d:
        raise DataError(f"plots.nomogram.against: got {label!r} twice; name another class.")
    with np.errstate(invalid="ignore"):  # infinite gains are refused below
        difference = explained.gains[..., c] - explained.gains[..., d]
    found = [_gains_of_values(explained, a, difference[:, a]) for a in range(len(explained.terms))]
    reach = np.array([max(gains.values()) - min(gains.values()) if gains else 0.0 for gains in found])
    order = [a for a in np.argsort(-reach, kind="stable").tolist() if reach[a] > 0]
    if not order:
        raise DataError(
            f"plots.nomogram: no attribute of these rows tells {label!r} from the other; explain other rows."
        )
    bits = float(reach[order[0]]) / 100.0
    scales, start = [], float(explained.prior[c] - explained.prior[d])
    for a in order[:strongest]:
        least = min(found[a].values())
        start += least
        points = tuple((gain - least) / bits for gain in found[a].values())
        scales.append(Scale(explained.terms[a], tuple(found[a]), points, -least / bits))
    return Scales(tuple(scales), bits, start, tuple(explained.terms[a] for a in order[strongest:]))


def _other(explained: Explanation, label: Any, against: Any) -> Any:
    """The class that another is drawn against."""
    if against is not None:
        return against
    others = [c for c in explained.classes.tolist() if c != label]
    if len(explained.classes) != 2:
        raise DataError(f"plots.nomogram.against: got none; name one of {', '.join(map(repr, others))}.")
    return others[0]


def _gains_of_values(explained: Explanation, a: int, gains: Float64[np.ndarray, " rows"]) -> dict[Any, float]:
    """Each value of a term and its gain, ascending."""
    found: dict[Any, float] = {}
    for value, gain in zip(explained.values[:, a].tolist(), gains.tolist(), strict=True):
        if value is None:
            continue
        named = f"'{explained.terms[a]} = {value}'"
        if not np.isfinite(gain):
            raise DataError(f"plots.nomogram: the gain of {named} is infinite; learn with m above 0.")
        if abs(found.setdefault(value, gain) - gain) > 1e-9:
            raise DataError(f"plots.nomogram: the gain of {named} differs from row to row, so it has no one place.")
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _lanes(scale: Scale) -> list[int]:
    """Line of text of each value's label, 1, 2, ... above the axis and -1, -2, ... below, so that none overlap."""
    ends: dict[int, float] = {}
    chosen = []
    for value, point in zip(scale.values, scale.points, strict=True):
        half = _half(value)
        lane = next(n for k in range(1, len(scale.values) + 1) for n in (k, -k) if ends.get(n, -1e9) <= point - half)
        ends[lane] = point + half
        chosen.append(lane)
    return chosen


def _named(value: Any) -> str:
    """A value's label."""
    return short(str(value), 30)


def _half(value: Any) -> float:
    """Half the width of a value's label, in points."""
    return CHARACTER * (len(_named(value)) + 1) / 2


def _ends(scale: Scale) -> list[float]:
    """How far labels reach to the left and right."""
    labels = list(zip(scale.values, scale.points, strict=True))
    return [min(p - _half(v) for v, p in labels), max(p + _half(v) for v, p in labels), scale.unknown]


def _draw_scale(ax: Axes, y: float, scale: Scale, lanes: list[int]) -> None:
    """One attribute: its axis, a tick and a label a value, a ring for unknown."""
    ax.plot([scale.points[0], scale.points[-1]], [y, y], color=INK, linewidth=1.4, zorder=2)
    for value, point, lane in zip(scale.values, scale.points, lanes, strict=True):
        side = 1 if lane > 0 else -1
        end = y - side * (0.1 + LANE * (abs(lane) - 1))
        ax.plot([point, point], [y, end], color=INK, linewidth=1.0, zorder=2)
        under: dict[str, Any] = {
            "facecolor": "white",
            "edgecolor": "none",
            "pad": 0.4,
        }  # ticks of longer stems pass behind a label
        va = "bottom" if side > 0 else "top"
        ax.text(point, end - side * 0.02, _named(value), ha="center", va=va, fontsize=10, bbox=under, zorder=3)
    ax.plot(scale.unknown, y, "o", color=BLUE, markerfacecolor="white", markersize=6, markeredgewidth=1.6, zorder=3)


def _draw_result(ax: Axes, at: tuple[float, float], scales: Scales, name: str) -> None:
    """The scales of the total and of the probability, one below the other, as wide as the points above."""
    most = scales.most
    step = next(s for s in (10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10**9) if most / s <= 12)
    totals = [(100.0 * t / most, readable(t)) for t in np.arange(0, most + 1e-9, step).tolist()]
    _ruler(ax, at, "total points", totals, (100.0 * np.arange(step / 2, most + 1e-9, step) / most).tolist())
    places = [(100.0 * scales.total(p) / most, p) for p in PROBABILITIES]
    shown: list[tuple[float, str]] = []
    for place, p in sorted(places, key=lambda item: abs(item[1] - 0.5)):
        room = all(abs(place - other) > CHARACTER * 5 for other, _ in shown)
        if -0.01 <= place <= 100.01 and room:
            shown.append((place, f"{100 * p:g} %"))
    _ruler(ax, (at[0], at[1] + 1.0), name, shown, [], side=-1)


def _ruler(
    ax: Axes,
    at: tuple[float, float],
    name: str,
    marks: list[tuple[float, str]],
    between: list[float],
    *,
    side: int = 1,
) -> None:
    """A scale over the whole width, its name at its left, marks named above (side 1) or below (-1), others between."""
    left, y = at
    ax.plot([0, 100], [y, y], color=GREY, linewidth=1.4)
    for place, text in marks:
        ax.plot([place, place], [y, y - side * 0.13], color=GREY, linewidth=1.2)
        ax.text(place, y - side * 0.16, text, ha="center", va="bottom" if side > 0 else "top", fontsize=10.5)
    for place in between:
        ax.plot([place, place], [y, y - side * 0.08], color=GREY, linewidth=1.0)
    ax.text(left, y, name, va="center", fontsize=11.5, fontweight="bold")
