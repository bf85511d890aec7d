import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import BernoulliNB

import bnn
from bnn import metrics, plots
from bnn.errors import DataError
from bnn.plots.style import BLUE, GREY, INK, ORANGE

Y = np.array(["no"] * 40 + ["yes"] * 30)
X = (np.random.default_rng(5).random((70, 4)) < np.where(Y == "yes", 0.9, 0.2)[:, None]).astype(int)
NAMES = ("majority", "naive", "again")


@pytest.fixture(scope="module")
def found():
    models = (DummyClassifier(), BernoulliNB(), DummyClassifier())
    return bnn.compare(dict(zip(NAMES, models, strict=True)), X, Y, splits=5, repeats=3)


def marks(ax):
    """Mean and colour drawn for each classifier."""
    return {
        line.get_ydata()[0]: (line.get_xdata()[0], line.get_color()) for line in ax.lines if line.get_marker() == "D"
    }


def test_marks_are_the_means_and_dots_those_of_each_repeat(found):
    figure = plots.scores(found)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(NAMES)
    for ax, measure, scale in zip(figure.axes, ("accuracy", "information"), (100, 1), strict=True):
        values = scale * getattr(found, measure)
        assert {y: x for y, (x, _) in marks(ax).items()} == pytest.approx(dict(enumerate(values.mean(axis=1))))
        dots = [line.get_xdata() for line in ax.lines if line.get_marker() == "o"]
        np.testing.assert_allclose(dots, values.reshape(3, 3, 5).mean(axis=2))


def test_bars_are_the_paired_intervals_around_the_marks(found):
    ax = plots.scores(found, baseline="naive").axes[1]
    bars = {line.get_ydata()[0]: line.get_xdata() for line in ax.lines if line.get_linewidth() == 3}
    base = found.scores[1].information
    for difference in found.differences("information", baseline="naive"):
        y = NAMES.index(difference.classifier)
        assert bars[y] == pytest.approx([base + difference.low, base + difference.high])
    assert set(bars) == {0, 2}


def test_colours_say_better_worse_and_neither(found):
    better = [colour for _, colour in marks(plots.scores(found).axes[0]).values()]
    assert better == [INK, BLUE, GREY]
    worse = [colour for _, colour in marks(plots.scores(found, baseline="naive").axes[0]).values()]
    assert worse == [ORANGE, INK, ORANGE]


def test_it_says_what_is_drawn(found):
    told = plots.scores(found)._supxlabel.get_text()
    assert told.startswith(
        "mean of 15 splits; a dot is the mean of 5; bars: 95 % of the paired difference from majority"
    )
    alone = bnn.compare({"m": DummyClassifier()}, X, Y, splits=2, repeats=1)
    assert plots.scores(alone)._supxlabel.get_text() == "mean of 2 splits; a dot is the mean of 2"
    texts = [text.get_text() for text in plots.scores(found).axes[0].texts]
    assert texts[0] == f"{100 * found.scores[0].accuracy:.1f} %"
    assert texts[2].endswith("+0.0 ± 0.0")


def test_unknown_baseline(found):
    with pytest.raises(DataError, match=r"baseline: there is no 'naiv'; did you mean 'naive'"):
        plots.scores(found, baseline="naiv")


@pytest.mark.parametrize("backend", ["pyarrow", "pandas", "polars"])
def test_reliability_is_the_table_without_its_empty_bins(found, backend):
    table = found.calibration_table("naive", backend)
    lines = [line for line in found.calibration_table("naive").to_pylist() if line["count"]]
    figure = plots.reliability({"naive": table, "majority": found.calibration_table("majority")})
    ax, other = figure.axes
    assert (ax.get_title(loc="left"), other.get_title(loc="left")) == ("naive", "majority")
    diagonal, curve = ax.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert curve.get_xdata().tolist() == [line["mean_probability"] for line in lines]
    assert curve.get_ydata().tolist() == [line["observed_frequency"] for line in lines]
    np.testing.assert_allclose(ax.collections[0].get_offsets(), curve.get_xydata())
    shares = [bar.get_height() for bar in ax.patches]
    assert sum(shares) == pytest.approx(1)
    assert shares[-1] == pytest.approx(lines[-1]["count"] / found.tested.sum())
    assert figure._supxlabel.get_text() == "probability of the answer"


@pytest.mark.parametrize("number", [1, 4, 5, 8])
def test_one_panel_each(found, number):
    figure = plots.reliability({str(i): found.calibration_table("naive") for i in range(number)})
    assert [ax.get_title(loc="left") for ax in figure.axes] == [str(i) for i in range(number)]


def test_reliability_refuses_what_is_no_table():
    with pytest.raises(DataError, match=r"plots.reliability.tables: got none"):
        plots.reliability({})
    for wrong in ([1, 2], metrics.calibration_table(["a"], [[1, 0]], ["a", "b"]).select(["low"])):
        with pytest.raises(DataError, match=r"plots.reliability.tables\['x'\]: got \w+ without mean_probability"):
            plots.reliability({"x": wrong})
