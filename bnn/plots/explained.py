"""Why a class was answered: what speaks for it and against it, in bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bnn.classify.explanation import INTERVAL, Explanation
from bnn.errors import DataError, unknown_name
from bnn.plots.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    count,
    figure_of,
    given_or_new,
    number_axis,
    readable,
    short,
    styled,
)


@styled()
def explanation(
    explained: Explanation, row: int = 0, *, label: Any = None, strongest: int = 15, ax: Axes | None = None
) -> Figure:
    """Draw what speaks for and against a class in one row: a bar a term, the strongest for it on top.

    Each bar is a gain log2 P(C|V)/P(C) in bits [S eq 4], a bit a factor of two, with the number of training cases
    behind it and a thin line of its 95 % interval. Grey are the prior and the normaliser, which has the probabilities
    of all classes add up to one; all bars together are log2 of the probability. Unknown attributes say nothing and
    have no bar.

    Parameters
    ----------
    explained
        From ``classifier.explain(X)``.
    row
        Which row of it.
    label
        The class; None: the one answered.
    strongest
        How many terms have a bar of their own; the others share one.
    ax
        Axes to draw into; None makes a figure.

    Raises
    ------
    DataError
        No such row or class, or fewer than one term asked for.

    Examples
    --------
    >>> import bnn
    >>> zoo = bnn.datasets.load("zoo")
    >>> figure = explanation(bnn.NaiveBayesClassifier().fit(zoo).explain(zoo[[0]]))
    >>> figure.axes[0].get_title(loc="left")
    'mammal: over 99.9 % (prior 38.9 %)'
    """
    c = class_position(explained, label, row)
    if strongest < 1:
        raise DataError(f"plots.explanation.strongest: got {strongest}; ask for at least one term.")
    gains, errors, cases = explained.gains[row, :, c], explained.errors[row, :, c], explained.cases[row]
    told = [a for a in range(len(explained.terms)) if explained.values[row, a] is not None]
    by_size = sorted(told, key=lambda a: -abs(gains[a]))
    own = sorted(by_size[:strongest], key=lambda a: -gains[a])
    rest = by_size[strongest:]
    bars = [("prior", float(explained.prior[c]), 0.0, GREY)]
    for a in own:
        value = short(f"{explained.terms[a]} = {explained.values[row, a]}", 50)
        name = f"{value}   ({count(round(cases[a]), 'case')})"
        bars.append((name, float(gains[a]), INTERVAL * float(errors[a]), BLUE if gains[a] > 0 else ORANGE))
    if rest:
        bars.append((f"{count(len(rest), 'weaker term')} together", float(gains[rest].sum()), 0.0, GREY))
    bars.append(("normaliser", -float(explained.normaliser[row]), 0.0, GREY))
    total = float(explained.log2_probabilities[row, c])
    bars.append(("sum: log2 probability", total, 0.0, INK))
    ax = given_or_new(ax, 10.0, 1.6 + 0.36 * len(bars))
    _draw_bars(ax, bars)
    ax.set_title(
        f"{short(str(explained.classes[c]), 30)}: {_percent(total)} (prior {_percent(float(explained.prior[c]))})"
    )
    unknown = len(explained.unknown(row))
    ax.set_xlabel("bits against and for" + (f" ({count(unknown, 'unknown attribute')} left out)" if unknown else ""))
    return figure_of(ax)


def class_position(explained: Explanation, label: Any, row: int | None = None) -> int:
    """Which class is meant; where None is named, the one answered in the row."""
    if not isinstance(explained, Explanation):
        raise DataError(f"plots.explained: got {type(explained).__name__}; give what classifier.explain(X) returns.")
    if row is not None and not -len(explained) <= row < len(explained):
        raise DataError(f"plots.explanation.row: got {row}; explained are {count(len(explained), 'row')}, from 0.")
    if label is None and row is not None:
        return int(explained.log2_probabilities[row].argmax())
    classes: list[Any] = explained.classes.tolist()
    if label not in classes:
        raise unknown_name("plots.label", label, classes)
    return classes.index(label)


def _draw_bars(ax: Axes, bars: list[tuple[str, float, float, str]]) -> None:
    """One bar a line, from the top, with its number at its end; infinite ones end at the frame."""
    finite = [abs(gain) + reach for _, gain, reach, _ in bars if np.isfinite(gain)]
    widest = 1.05 * max(finite, default=1.0) or 1.0
    for y, (_, gain, reach, colour) in enumerate(bars):
        shown = float(np.clip(gain, -widest, widest))
        ax.barh(y, shown, color=colour, height=0.62, zorder=2)
        if reach:
            ax.plot([gain - reach, gain + reach], [y, y], color=INK, linewidth=1.0, alpha=0.7, zorder=3)
        end, side = (max(shown, gain + reach), 1) if gain > 0 else (min(shown, gain - reach, 0.0), -1)
        end = float(np.clip(end, -widest, widest))
        told = readable(gain, "+z.2f") if np.isfinite(gain) else readable(gain, "+").replace("inf", "∞")
        ax.annotate(
            told, (end, y), (5 * side, 0), textcoords="offset points", va="center", fontsize=10,
            ha="left" if side > 0 else "right",
        )  # fmt: skip
    ax.axvline(0.0, color=GREY, linewidth=1.0, zorder=1)
    ax.axhline(len(bars) - 1.5, color=GREY, linewidth=0.8, zorder=1)
    ax.set_yticks(range(len(bars)), [name for name, *_ in bars])
    ax.set_ylim(len(bars) - 0.4, -0.6)
    low = min([0.0, *(max(g - r, -widest) for _, g, r, _ in bars)])
    high = max([0.0, *(min(g + r, widest) for _, g, r, _ in bars)])
    ax.set_xlim(low - 0.14 * (high - low), high + 0.14 * (high - low))
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    number_axis(ax.xaxis)


def _percent(bits: float) -> str:
    """A probability given by its log2, in per cent; near certainty by how little is missing."""
    share = 100.0 * 2.0**bits
    return f"{share:.3g} %" if share < 99.95 else "over 99.9 %" if bits < 0 else "100 %"
