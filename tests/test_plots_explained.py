from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from strategies import unchecked

import bnn
from bnn import plots
from bnn.errors import DataError
from bnn.plots.nomograms import nomogram_scales
from bnn.plots.style import BLUE, GREY, INK, ORANGE

VOTES = bnn.datasets.load("house-votes-84")
LYMPH = bnn.datasets.load("lymphography")


@pytest.fixture(scope="module")
def votes():
    model = bnn.NaiveBayesClassifier().fit(VOTES)
    return model, model.explain(VOTES)


@pytest.fixture(scope="module")
def lymph():
    model = bnn.NaiveBayesClassifier().fit(LYMPH)
    return model, model.explain(LYMPH)


def bars(figure):
    """Name, length and colour of each bar, from the top."""
    ax = figure.axes[0]
    names = [label.get_text() for label in ax.get_yticklabels()]
    return [(name, bar.get_width(), bar.get_facecolor()) for name, bar in zip(names, ax.patches, strict=True)]


def overlaps(figure):
    """Pairs of texts of a figure that overlap, and texts that leave it."""
    FigureCanvasAgg(figure).draw()
    renderer = figure.canvas.get_renderer()
    texts = [text for ax in figure.axes for text in [*ax.texts, *(ax.get_yticklabels() if ax.axison else [])]]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts]
    outside = [name for name, box in boxes if box.x0 < 0 or box.x1 > figure.bbox.x1 or box.y0 < 0]
    return [(a, b) for (a, one), (b, other) in combinations(boxes, 2) if one.overlaps(other)] + outside


# ---- explanation


def test_bars_add_up_to_the_prediction(lymph):
    model, explained = lymph
    for row in (0, 7, -1):
        *parts, total = bars(plots.explanation(explained, row, strongest=5))
        answered = model.predict_proba(LYMPH[[row]]).max()
        assert sum(width for _, width, _ in parts) == pytest.approx(np.log2(answered))
        assert total[1] == pytest.approx(np.log2(answered))
        names = [name for name, *_ in parts]
        assert (names[0], names[-2:]) == ("prior", ["13 weaker terms together", "normaliser"])


def test_bars_are_sorted_named_and_coloured(votes):
    _, explained = votes
    row = int(np.flatnonzero((VOTES.codes >= 0).sum(axis=1) == 14)[0])  # some votes unknown
    drawn = bars(plots.explanation(explained, row, label="democrat", strongest=99))
    own = drawn[1:-2]
    known = [a for a, value in enumerate(explained.values[row]) if value is not None]
    assert len(own) == len(known) < 16
    gains = sorted(explained.gains[row, known, 0].tolist(), reverse=True)
    assert [width for _, width, _ in own] == pytest.approx(gains)
    names = {
        f"{explained.terms[a]} = {explained.values[row, a]}   ({explained.cases[row, a]:,.0f} cases)" for a in known
    }
    assert {name for name, *_ in own} == names
    assert all(colour == to_rgba(BLUE if width > 0 else ORANGE) for _, width, colour in own)
    assert [drawn[i][2] for i in (0, -2, -1)] == [to_rgba(GREY), to_rgba(GREY), to_rgba(INK)]


def test_it_says_the_class_its_probability_and_what_is_unknown(votes):
    model, explained = votes
    row = int(np.flatnonzero((VOTES.codes >= 0).sum(axis=1) == 14)[0])
    ax = plots.explanation(explained, row, label="republican").axes[0]
    share = 100 * model.predict_proba(VOTES[[row]])[0, 1]
    prior = 100 * 2 ** explained.prior[1]
    shown = f"{share:.3g} %" if share < 99.95 else "over 99.9 %"
    assert ax.get_title(loc="left") == f"republican: {shown} (prior {prior:.3g} %)"
    unknown = sum(value is None for value in explained.values[row])
    assert ax.get_xlabel() == f"bits against and for ({unknown} unknown attributes left out)"
    everything = int(np.flatnonzero((VOTES.codes >= 0).all(axis=1))[0])
    assert plots.explanation(explained, everything).axes[0].get_xlabel() == "bits against and for"


def test_thin_lines_are_the_intervals(lymph):
    _, explained = lymph
    ax = plots.explanation(explained, 0, strongest=99).axes[0]
    lines = [line for line in ax.lines if line.get_linewidth() == 1.0 and line.get_alpha() == 0.7]
    c = int(explained.log2_probabilities[0].argmax())
    order = np.argsort(-explained.gains[0, :, c], kind="stable")
    reach = 1.96 * explained.errors[0, order, c]
    np.testing.assert_allclose([np.ptp(line.get_xdata()) / 2 for line in lines], reach)


def test_infinite_gains_end_at_the_frame(lymph):
    _, explained = lymph
    gains = explained.gains.copy()
    gains[0, 3, :3] = -np.inf
    figure = plots.explanation(replace(explained, gains=gains), 0, label="fibrosis")
    ax = figure.axes[0]
    assert "\N{MINUS SIGN}∞" in [text.get_text() for text in ax.texts]
    assert np.isfinite(ax.get_xlim()).all()
    FigureCanvasAgg(figure).draw()


def test_texts_of_bars_do_not_overlap(lymph, votes):
    for _, explained in (lymph, votes):
        for row in (0, 5):
            assert overlaps(plots.explanation(explained, row)) == []


def test_explanation_refuses(lymph):
    _, explained = lymph
    for options, message in (
        ({"row": 148}, r"plots.explanation.row: got 148; explained are 148 rows, from 0"),
        ({"label": "norml"}, r"plots.label: there is no 'norml'; did you mean 'normal'"),
        ({"strongest": 0}, r"plots.explanation.strongest: got 0; ask for at least one term"),
    ):
        with pytest.raises(DataError, match=message):
            plots.explanation(explained, **options)


def test_explanation_draws_into_given_axes(lymph):
    figure = plots.explanation(lymph[1], 1)
    assert plots.explanation(lymph[1], 0, ax=figure.axes[0]) is figure


# ---- nomogram


@pytest.mark.parametrize(("label", "against"), [("malign lymph", "metastases"), ("normal", "fibrosis")])
def test_points_added_up_give_the_probability_among_the_two(lymph, label, against):
    model, explained = lymph
    scales = nomogram_scales(explained, label, against, strongest=99)
    classes = explained.classes.tolist()
    both = model.predict_proba(LYMPH)[:, [classes.index(label), classes.index(against)]]
    for row in range(0, 148, 7):
        told = dict(zip(explained.terms, explained.values[row], strict=True))
        total = sum(dict(zip(s.values, s.points, strict=True))[told[s.term]] for s in scales.scales)
        assert scales.probability(total) == pytest.approx(both[row, 0] / both[row].sum())
        assert scales.total(scales.probability(total)) == pytest.approx(total)


def test_unknown_has_its_place(votes):
    model, explained = votes
    scales = nomogram_scales(explained, "democrat", strongest=99)
    assert scales.left_out == ()
    nothing = sum(scale.unknown for scale in scales.scales)
    prior = np.exp2(explained.prior)
    assert scales.probability(nothing) == pytest.approx(prior[0] / prior.sum())
    row = int(np.flatnonzero((VOTES.codes >= 0).sum(axis=1) == 14)[0])
    told = dict(zip(explained.terms, explained.values[row], strict=True))
    total = 0.0
    for scale in scales.scales:
        places = {None: scale.unknown, **dict(zip(scale.values, scale.points, strict=True))}
        total += places[told[scale.term]]
    assert scales.probability(total) == pytest.approx(model.predict_proba(VOTES[[row]])[0, 0])


def test_longest_axis_has_a_hundred_points_and_the_others_follow(lymph):
    scales = nomogram_scales(lymph[1], "normal", "fibrosis", strongest=6)
    reach = [max(scale.points) for scale in scales.scales]
    assert reach[0] == pytest.approx(100)
    assert reach == sorted(reach, reverse=True)
    assert all(min(scale.points) == 0 for scale in scales.scales)
    assert len(scales.left_out) >= 10
    assert scales.most == pytest.approx(sum(reach))


def test_what_is_drawn_are_the_scales(lymph):
    figure = plots.nomogram(lymph[1], "malign lymph", "metastases", strongest=4)
    scales = nomogram_scales(lymph[1], "malign lymph", "metastases", strongest=4)
    ax = figure.axes[0]
    assert ax.get_title(loc="left") == "malign lymph against metastases"
    assert ax.get_title(loc="right") == f"ring: unknown; {len(scales.left_out)} weaker attributes left out"
    places = {(text.get_text(), round(text.get_position()[0], 6)) for text in ax.texts}
    for scale in scales.scales:
        assert scale.term in {text.get_text() for text in ax.texts}
        for value, point in zip(scale.values, scale.points, strict=True):
            assert (str(value), round(point, 6)) in places
    rings = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert rings == pytest.approx([scale.unknown for scale in scales.scales])
    (half,) = [x for name, x in places if name == "50 %"]
    assert scales.probability(half * scales.most / 100) == pytest.approx(0.5)


def test_texts_of_a_nomogram_do_not_overlap(lymph, votes):
    tumors = bnn.datasets.load("breast-cancer")
    cancer = bnn.NaiveBayesClassifier().fit(tumors).explain(tumors)
    for explained, classes in (
        (lymph[1], ("malign lymph", "metastases")),
        (lymph[1], ("normal", "fibrosis")),
        (votes[1], ("democrat",)),
        (cancer, ("recurrence-events",)),
    ):
        assert overlaps(plots.nomogram(explained, *classes)) == []


def test_numeric_attributes_are_printed_by_their_intervals():
    X = {
        "age": [float(v) + 0.5 for v in range(30)],
        "sex": ["m", "f"] * 15,
    }
    explained = bnn.NaiveBayesClassifier(intervals=3).fit(X, [0] * 12 + [1] * 18).explain(X)
    values = {value for scale in nomogram_scales(explained, 1).scales for value in scale.values}
    assert {"< 10", "10 to 20", ">= 20"} <= values


def test_readable_labels_are_printed(votes):
    _, explained = votes
    term = explained.terms[0]
    labelled = explained.with_labels({term: {"y": "for", "n": "no vote"}})
    scales = nomogram_scales(labelled, "democrat", strongest=99)
    (scale,) = [scale for scale in scales.scales if scale.term == term]
    assert set(scale.values) == {"for", "no vote"}


def test_nomogram_refuses(lymph, votes):
    _, explained = lymph
    infinite, differing = explained.gains.copy(), explained.gains.copy()
    infinite[3, 0] = -np.inf
    differing[3, 0, 0] += 1.0
    term = explained.terms[0]
    two = ("normal", "fibrosis")
    for told, words, message in (
        (explained, ("normal",), r"plots.nomogram.against: got none; name one of 'fibrosis', 'malign lymph', 'metas"),
        (explained, ("normal", "normal"), r"plots.nomogram.against: got 'normal' twice; name another class"),
        (explained, ("norml", "fibrosis"), r"plots.label: there is no 'norml'; did you mean 'normal'"),
        (votes[1], ("demokrat",), r"plots.label: there is no 'demokrat'; did you mean 'democrat'"),
        (replace(explained, gains=infinite), two, rf"gain of '{term} = \w.*' is infinite; learn with m above 0"),
        (replace(explained, gains=differing), two, rf"gain of '{term} = \w.*' differs from row to row"),
        (replace(explained, gains=0 * explained.gains), two, r"no attribute of these rows tells 'normal' from the"),
    ):
        with pytest.raises(DataError, match=message):
            plots.nomogram(told, *words)
    with pytest.raises(DataError, match=r"plots.nomogram.strongest: got 0; ask for at least one attribute"):
        plots.nomogram(explained, "normal", "fibrosis", strongest=0)


def test_a_classifier_is_no_explanation():
    classifier = bnn.NaiveBayesClassifier().fit(bnn.datasets.load("zoo"))
    for draw in (lambda: plots.explanation(classifier), lambda: plots.nomogram(classifier, "bird")):
        with (
            unchecked(),
            pytest.raises(DataError, match=r"got NaiveBayesClassifier; give what classifier\.explain"),
        ):
            draw()
