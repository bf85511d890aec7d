from dataclasses import replace

import numpy as np
import pytest

import bnn
from bnn import plots
from bnn.errors import DataError
from bnn.plots.style import SERIES
from bnn.study import Capacity, Criterion, Dense, Learner, Noise, Point, Question
from bnn.study.intervals import half_width

QUESTION = Question(Dense(40), Noise())


def made(curves, values, rule="hopfield", criterion=Criterion(), limited=None):  # noqa: B008 - frozen
    """A capacity of curves {seed: {load: recalled of 100}}."""
    points = tuple(
        Point(seed, load, 40, 100, recalled, 100 - recalled, 0, 0, 0, 100, 780)
        for seed, curve in curves.items()
        for load, recalled in curve.items()
    )
    limited = limited or (False,) * len(values)
    return Capacity(QUESTION, Learner(rule), criterion, tuple(curves), values, limited, points, 0.01, 640)


TWO = made({0: {4: 100, 8: 92, 12: 60}, 1: {4: 100, 6: 96, 10: 88, 14: 0}}, (8, 6))


def lines(ax, marker):
    return [line for line in ax.lines if line.get_marker() == marker]


def test_the_line_is_the_mean_of_straight_lines_where_every_seed_has_one():
    ax = plots.capacity(TWO).axes[0]
    (line,) = [line for line in ax.lines if len(line.get_xdata()) > 2 and line.get_marker() == "None"]
    assert line.get_xdata().tolist() == [4, 6, 8, 10, 12]
    first, second = [1.0, 0.96, 0.92, 0.76, 0.6], [1.0, 0.96, 0.92, 0.88, 0.44]
    assert line.get_ydata() == pytest.approx(np.mean([first, second], axis=0))
    (band,) = ax.collections
    edges = band.get_paths()[0].vertices
    reach = half_width(np.array([0.76, 0.88]))
    assert [edges[:, 1][edges[:, 0] == 10].min(), edges[:, 1][edges[:, 0] == 10].max()] == pytest.approx(
        [max(0.0, 0.82 - reach), min(1.0, 0.82 + reach)]
    )


def test_dots_are_the_evaluated_loads_and_the_marker_is_the_capacity():
    ax = plots.capacity({"Hopfield's": TWO}).axes[0]
    dots, *marks = lines(ax, "o")
    assert sorted(dots.get_xdata()) == [4, 4, 6, 8, 10, 12, 14]
    assert [(mark.get_xdata()[0], mark.get_ydata()[0]) for mark in marks] == [(7.0, 0.9)]
    (bar,) = [line for line in ax.lines if line.get_linewidth() == 4]
    assert tuple(bar.get_xdata()) == TWO.interval
    (text,) = ax.get_legend().get_texts()
    assert text.get_text() == "Hopfield's: 7 [0, 20]"


def test_one_seed_has_no_band():
    figure = plots.capacity(made({3: {4: 100, 8: 50}}, (4,), limited=(True,)))
    ax = figure.axes[0]
    assert len(ax.collections) == 0
    assert ax.get_legend().get_texts()[0].get_text() == "hopfield: at least 4"
    assert ax.get_title(loc="left") == "mean of 1 seed; dotted: exact >= 0.9"


def test_each_memory_has_its_colour_and_loads_far_apart_are_logarithms():
    far = made({0: {100: 100, 400: 0}, 1: {100: 95, 400: 5}}, (100, 100), rule="odds")
    ax = plots.capacity({"a": TWO, "b": far}).axes[0]
    assert [line.get_color() for line in ax.lines if line.get_linewidth() == 4] == list(SERIES[:2])
    assert ax.get_xscale() == "log"
    assert plots.capacity(TWO).axes[0].get_xscale() == "linear"


def test_loads_are_told_in_patterns_a_neuron_too():
    figure = plots.capacity(TWO)
    figure.draw_without_rendering()
    ax = figure.axes[0]
    (above,) = ax.child_axes
    assert above.get_xlabel() == "patterns a neuron (40 neurons)"
    assert above.get_xlim() == pytest.approx(np.array(ax.get_xlim()) / 40)
    other = replace(TWO, points=tuple(replace(point, neurons=20) for point in TWO.points))
    assert plots.capacity({"a": TWO, "b": other}).axes[0].child_axes == []


def test_other_measures():
    for measure, label in (("overlap", "mean overlap with the pattern"), ("wrong", "mean share of neurons wrong")):
        ax = plots.capacity(replace(TWO, criterion=Criterion(measure))).axes[0]
        assert ax.get_ylabel() == label
        assert lines(ax, "o")[0].get_ydata()[0] == getattr(TWO.points[0], measure)


def test_it_draws_into_axes_that_are_given():
    figure = plots.style.new_figure(6.0, 4.0)
    ax = figure.add_subplot()
    assert plots.capacity(bnn.capacity("hopfield", Dense(20), seeds=1), ax=ax) is figure
    assert ax.get_xlabel() == "patterns stored"


def test_refusals():
    with pytest.raises(DataError, match=r"plots\.capacity\.capacities: got none; give at least one"):
        plots.capacity({})
    with pytest.raises(DataError, match=r"their criteria differ, exact >= 0\.9 and wrong <= 0\.015; draw those of one"):
        plots.capacity({"a": TWO, "b": replace(TWO, criterion=Criterion("wrong"))})
