"""Classifiers compared: what they reach on the same splits, and how far their probabilities can be believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from bnn.classify.paired import Difference
from bnn.classify.scores import Comparison
from bnn.errors import DataError
from bnn.plots.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    count,
    new_figure,
    number_axis,
    readable,
    styled,
)

IN_A_LINE = 4  # panels
SURE = 0.05  # adjusted p-value below which a difference is drawn in colour
_PANELS = {"accuracy": ("accuracy", 100.0, ".1f", " %"), "information": ("information score", 1.0, ".3f", " bits")}
_COLUMNS = ("mean_probability", "observed_frequency", "count")


@styled()
def scores(comparison: Comparison, *, baseline: str | None = None) -> Figure:
    """Draw accuracy and information score of each classifier, and whether it differs from one of them.

    A mark is the mean over all splits, each pale dot the mean of one repeat: what a single study of that many splits
    would have reported. The bar around a mark is the 95 % interval of the paired difference from the baseline, laid
    around the mark, so that a bar that misses the dashed line differs; in colour where it still does among all
    comparisons made (Holm).

    Parameters
    ----------
    comparison
        From `bnn.compare`.
    baseline
        Classifier that others are compared with; None: the first.

    Raises
    ------
    DataError
        No such classifier.

    Examples
    --------
    >>> import bnn, numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> two = {"majority": DummyClassifier(), "at random": DummyClassifier(strategy="uniform", random_state=0)}
    >>> figure = scores(bnn.compare(two, np.zeros((10, 1)), ["a"] * 6 + ["b"] * 4, splits=2))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['majority', 'at random']
    """
    names = comparison.classifiers
    chosen = names[0] if baseline is None else baseline
    figure = new_figure(13.0, 1.9 + 0.55 * len(names))
    for ax, measure in zip(figure.subplots(1, 2, sharey=True), _PANELS, strict=True):
        _draw_measure(ax, comparison, measure, comparison.differences(measure, baseline=chosen))
    total = len(comparison.tested)
    told = f"mean of {count(total, 'split')}; a dot is the mean of {total // comparison.repeats}"
    if len(names) > 1:
        told += f"; bars: 95 % of the paired difference from {chosen}, coloured where it holds among all (Holm)"
    figure.supxlabel(told, fontsize=11, color=GREY)
    return figure


def _draw_measure(ax: Axes, comparison: Comparison, measure: str, differences: tuple[Difference, ...]) -> None:
    """One panel: a line a classifier."""
    title, scale, form, unit = _PANELS[measure]
    values: Float64[np.ndarray, "classifiers splits"] = scale * getattr(comparison, measure)
    repeats = values.reshape(len(values), comparison.repeats, -1).mean(axis=2)
    means = values.mean(axis=1)
    differs = {d.classifier: d for d in differences}
    base = next(mean for name, mean in zip(comparison.classifiers, means, strict=True) if name not in differs)
    ax.axvline(base, color=GREY, linestyle="--", linewidth=1.2, zorder=1)
    for y, (name, mean) in enumerate(zip(comparison.classifiers, means.tolist(), strict=True)):
        below = np.full(comparison.repeats, y + 0.28)
        ax.plot(repeats[y], below, "o", color=GREY, alpha=0.4, markersize=5, zorder=2, markeredgewidth=0)
        told, colour = f"{readable(mean, form)}{unit}", INK
        if (d := differs.get(name)) is not None:
            colour = GREY if d.p_holm >= SURE else BLUE if d.mean > 0 else ORANGE
            reach = scale * (d.high - d.mean)
            ax.plot([mean - reach, mean + reach], [y, y], color=colour, linewidth=3, zorder=3, solid_capstyle="butt")
            told += f"   {readable(scale * d.mean, '+' + form)} ± {readable(reach, form)}"
        ax.plot(mean, y, "D", color=colour, markersize=9, zorder=4, markeredgecolor="white")
        ax.text(1.02, y, told, transform=ax.get_yaxis_transform(), va="center", fontsize=11, color=colour)
    ax.set_xlabel(f"{title} ({unit.strip()})")
    ax.set_ylim(len(means) - 0.4, -0.6)
    ax.set_yticks(range(len(means)), comparison.classifiers)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(axis="x", color=PALE, zorder=0)
    ax.set_axisbelow(True)
    number_axis(ax.xaxis)


@styled()
def reliability(tables: Mapping[str, Any]) -> Figure:
    """Draw how often answers came true against how probable they were called: a reliability diagram each.

    On the dashed line probabilities mean what they say; below it the classifier is too sure. Bars show what share of
    its answers a mark stands for, and the larger a mark, the more.

    Parameters
    ----------
    tables
        By name, from `bnn.metrics.calibration_table` or `Comparison.calibration_table`.

    Raises
    ------
    DataError
        No tables, or one without these columns.

    Examples
    --------
    >>> from bnn import metrics
    >>> table = metrics.calibration_table(["a", "b"], [[0.6, 0.4], [0.7, 0.3]], classes=["a", "b"])
    >>> [ax.get_title(loc="left") for ax in reliability({"naive": table}).axes]
    ['naive']
    """
    if not tables:
        raise DataError("plots.reliability.tables: got none; give at least one calibration table by name.")
    wide = min(len(tables), IN_A_LINE)
    high = -(-len(tables) // wide)
    figure = new_figure(0.6 + 3.4 * wide, 0.9 + 3.3 * high)
    panels = figure.subplots(high, wide, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, (name, table) in zip(panels, tables.items(), strict=False):
        _draw_reliability(ax, *_columns(name, table))
        ax.set_title(name)
    for ax in panels[len(tables) :]:
        ax.remove()
    for ax in panels[len(tables) - wide : len(tables)]:  # the lowest of each column
        ax.tick_params(labelbottom=True)
    figure.supxlabel("probability of the answer")
    figure.supylabel("how often right (bars: share of the answers)")
    return figure


def _draw_reliability(
    ax: Axes,
    probability: Float64[np.ndarray, " bins"],
    frequency: Float64[np.ndarray, " bins"],
    number: Float64[np.ndarray, " bins"],
) -> None:
    """One classifier's panel."""
    shares = number / max(number.sum(), 1.0)
    edges = np.linspace(0.0, 1.0, len(number) + 1)
    ax.bar(edges[:-1], shares, np.diff(edges), align="edge", color=PALE, edgecolor="white", zorder=1)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1.2, zorder=2)
    filled = number > 0
    ax.plot(probability[filled], frequency[filled], color=BLUE, zorder=3)
    ax.scatter(probability[filled], frequency[filled], s=20.0 + 180.0 * shares[filled], color=BLUE, zorder=4)
    ax.set(xlim=(-0.02, 1.04), ylim=(0.0, 1.04))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _columns(name: str, table: Any) -> list[Float64[np.ndarray, " bins"]]:
    """Mean probability, frequency and count of each bin, NaN where empty."""
    try:
        frame = nw.from_native(table, eager_only=True)
        return [np.array([np.nan if v is None else v for v in frame[column].to_list()], float) for column in _COLUMNS]
    except (TypeError, nw.exceptions.ColumnNotFoundError, KeyError) as error:
        raise DataError(
            f"plots.reliability.tables[{name!r}]: got {type(table).__name__} without {', '.join(_COLUMNS)}; give what "
            "metrics.calibration_table returns."
        ) from error
