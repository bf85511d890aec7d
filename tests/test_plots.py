import subprocess
import sys
import threading
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.dummy import DummyClassifier

import bnn
from bnn import plots
from bnn.classify.references import CategoricalReference
from bnn.errors import DataError, SchemaError
from bnn.plots import cells, network_graph, style

RNG = np.random.default_rng(7)
PICTURES = bnn.Records.from_patterns(RNG.random((6, 7, 9)) < 0.4)
TABLE = bnn.Records.from_table(
    {
        "milk": ["yes", "yes", "no", "no", "no", "yes"],
        "legs": [4, 2, 2, 6, 0, 0],
        "class": ["mammal", "mammal", "bird", "insect", "fish", "mammal"],
    },
    target="class",
)
CYCLE = bnn.Network.of([[0, -1], [-1, 0]], low=-1)


@pytest.fixture(scope="module")
def trace():
    """Noisy pictures recalled by the odds network, every flip kept."""
    cues = bnn.corrupt(PICTURES, flip=0.1, seed=1)
    return bnn.recall(bnn.learn(PICTURES, "odds"), cues, seed=0, record="flips")


@pytest.fixture(scope="module")
def asymmetric():
    """A network without an energy guarantee whose energy does rise."""
    weights = np.random.default_rng(0).normal(size=(12, 12))
    np.fill_diagonal(weights, 0)
    return bnn.recall(
        bnn.Network.of(weights),
        np.random.default_rng(1).integers(0, 2, (20, 12)),
        seed=0,
        max_sweeps=9,
        record="flips",
    )


@pytest.fixture(scope="module")
def table_trace():
    cues = bnn.corrupt(TABLE, mask=0.34, seed=3)
    return bnn.recall(bnn.learn(TABLE), cues, bnn.WinnerTakeAll(), seed=0, record="flips")


@pytest.fixture(scope="module")
def compared():
    X, y = TABLE.codes[:, :2].repeat(3, axis=0), TABLE.codes[:, 2].repeat(3)
    return bnn.compare({"naive": CategoricalReference(), "majority": DummyClassifier()}, X, y, splits=2, repeats=2)


def take(trace, rows, dynamics=None):
    """The same recall of some rows alone."""
    cues = np.where(trace.start[rows] == 1, 1, 0)
    return bnn.recall(trace.network, cues, dynamics or trace.dynamics, seed=0, max_sweeps=9, record="flips")


def notes(ax):
    return ax.get_title(loc="right").replace("\n", " ")


def warned(ax):
    """Segments in the warning colour."""
    return [
        segment
        for collection in ax.collections
        if isinstance(collection, mpl.collections.LineCollection)
        and np.allclose(collection.get_colors(), to_rgba(style.WARNING))
        for segment in collection.get_segments()
    ]


def image_cells(ax):
    """Cells that an image shows, read back from their colours."""
    palette = np.array([mpl.colors.to_rgb(colour) for colour in cells._COLOURS])
    image = np.asarray(ax.images[0].get_array(), dtype=float)
    return np.abs(image[:, :, None] - palette).sum(-1).argmin(-1)


def drawn_of_flows(trace, table_trace):
    """Figures of graded neurons."""
    recorded = {"seed": 0, "record": "states"}
    flow = bnn.recall(trace.network, trace.cues, bnn.GradientFlow(gain=0.1), **recorded)
    table = bnn.recall(table_trace.network, TABLE, bnn.GradientFlow(gain=(0.5, 2.0), anneal=5.0), **recorded)
    pair = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -1])
    gains = np.geomspace(0.02, 0.5, 5)
    return {
        "trajectories": [plots.trajectories(flow), plots.trajectories(table, 1)],
        "free_energy": [plots.free_energy(flow), plots.free_energy(table, 1)],
        "graded_against_discrete": [plots.graded_against_discrete(trace, flow, 2)],
        "phase_portrait": [plots.phase_portrait(pair, bnn.GradientFlow(gain=5.0))],
        "bifurcation": [
            plots.bifurcation(bnn.bifurcation(trace.network, gains, PICTURES), PICTURES),
            plots.bifurcation(bnn.bifurcation(pair, [1.0, 4.0])),
        ],
    }


@pytest.fixture(scope="module")
def drawn(trace, table_trace, asymmetric, compared):
    """One figure, or several, of every public function."""
    network = trace.network
    explained = bnn.NaiveBayesClassifier().fit(TABLE).explain(TABLE)
    before = dict(mpl.rcParams)
    figures = {
        "energy": [plots.energy(trace), plots.energy(asymmetric), plots.energy(trace, row=0)],
        "similarity": [plots.similarity(trace)],
        "recall": [plots.recall(trace, PICTURES), plots.recall(table_trace, TABLE), plots.recall(trace)],
        "replay": [plots.replay(trace, 0), plots.replay(table_trace, 0)],
        "comparison": [plots.comparison({"odds": trace}, PICTURES), plots.comparison({"p": table_trace}, TABLE)],
        "scores": [plots.scores(compared)],
        "reliability": [plots.reliability({"naive": compared.calibration_table("naive")})],
        "explanation": [plots.explanation(explained)],
        "nomogram": [plots.nomogram(explained, "mammal", "bird")],
        "overlap_against_noise": [plots.overlap_against_noise([0.0, 0.1], {"odds": [[1, 1], [1, 0.5]]})],
        "weights": [plots.weights(network), plots.weights(network, neuron="r3c4"), plots.weights(table_trace.network)],
        "graph": [plots.graph(network), plots.graph(table_trace.network, attribute="class")],
        **drawn_of_flows(trace, table_trace),
    }
    assert dict(mpl.rcParams) == before
    return figures


def test_every_public_function_draws_a_figure_that_can_be_saved(drawn, tmp_path):
    of_their_own = {"animation", "associations", "capacity"}  # have tests of their own
    assert {*drawn, *of_their_own} == set(plots.__all__)
    for name, figures in drawn.items():
        for i, figure in enumerate(figures):
            assert isinstance(figure, Figure)
            figure.savefig(tmp_path / f"{name}{i}.png", dpi=40)
            assert (tmp_path / f"{name}{i}.png").stat().st_size > 1000


def test_every_axes_with_a_scale_is_labelled(drawn):
    for figures in drawn.values():
        for figure in figures:
            for ax in figure.axes:
                if ax.lines and ax.axison and not ax.images:
                    assert ax.get_xlabel() or figure._supxlabel, figure
                    # a list of names runs downwards
                    assert ax.get_ylabel() or figure._supylabel or ax.yaxis_inverted(), figure


def test_settings_are_left_alone_after_an_error(trace):
    before = dict(mpl.rcParams)
    with pytest.raises(DataError):
        plots.energy(trace, row=99)
    assert dict(mpl.rcParams) == before


def test_settings_are_left_alone_by_threads(trace):
    before = dict(mpl.rcParams)
    threads = [threading.Thread(target=plots.energy, args=(trace,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(mpl.rcParams) == before


def test_pyplot_is_never_imported():
    code = (
        "import sys, io, bnn\n"
        "network = bnn.Network.of([[0, 1], [1, 0]])\n"
        "trace = bnn.recall(network, [[1, 0]], seed=0, record='flips')\n"
        "for figure in (bnn.plots.energy(trace), bnn.plots.graph(network), bnn.plots.replay(trace, 0)):\n"
        "    figure.savefig(io.BytesIO())\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_energy_lines_are_the_trace(trace):
    ax = plots.energy(trace, label="odds").axes[0]
    assert len(ax.lines) == len(trace)
    for line, values in zip(ax.lines, trace.lyapunov, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), values)
        np.testing.assert_array_equal(line.get_xdata(), trace.times)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sweep", "energy (bits)")
    assert notes(ax) == "descent verified over every single change"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["odds"]
    assert not warned(ax)


def test_energy_of_several_traces_in_the_same_axes(trace, asymmetric):
    ax = Figure().add_subplot()
    assert plots.energy(trace, ax=ax, label="odds") is ax.figure
    plots.energy(take(asymmetric, [0, 1]), ax=ax, label="other")
    colours = {line.get_label(): line.get_color() for line in ax.lines if not line.get_label().startswith("_")}
    assert set(colours) == {"odds", "other"}
    assert len(set(colours.values())) == 2
    assert notes(ax).startswith("descent verified over every single change no guarantee: the weights are asymmetric")
    assert next(child for child in ax.get_children() if child.get_gid() == "note").get_color() == style.WARNING


def test_energy_in_a_subfigure_returns_the_whole_figure(trace):
    figure = Figure()
    inner = figure.subfigures(1, 2)[0]
    assert plots.energy(trace, ax=inner.add_subplot()) is figure


def test_many_rows_become_median_and_band(trace):
    cues = np.repeat(np.where(trace.start == 1, 1, 0), 10, axis=0)
    many = bnn.recall(trace.network, bnn.corrupt(cues, flip=0.1, seed=0), seed=0)
    ax = plots.energy(many).axes[0]
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_ydata(), np.median(many.lyapunov, axis=0))
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == np.percentile(many.lyapunov, 10, axis=0).min()
    assert band[:, 1].max() == np.percentile(many.lyapunov, 90, axis=0).max()
    assert ax.get_legend().get_texts()[0].get_text() == "median of 60 rows, band 10 to 90 %"


def test_rises_are_drawn_in_the_warning_colour_and_the_missing_guarantee_written_out(asymmetric):
    few = take(asymmetric, range(5))
    ax = plots.energy(few).axes[0]
    rises = np.argwhere(np.diff(few.lyapunov, axis=1) > 0)
    assert len(rises) > 0
    expected = [[(t, few.lyapunov[r, t]), (t + 1, few.lyapunov[r, t + 1])] for r, t in rises]
    np.testing.assert_array_equal(warned(ax), expected)
    assert "no guarantee: the weights are asymmetric, so the field is not the slope of the energy" in notes(ax)
    assert f"largest rise {few.descent.largest_rise:.3g} bits" in notes(ax)


def test_of_many_rows_the_one_of_the_largest_rise_is_drawn(asymmetric):
    ax = plots.energy(asymmetric).axes[0]
    rise = np.diff(asymmetric.lyapunov, axis=1).max(axis=1)
    worst = int(rise.argmax())
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), asymmetric.lyapunov[worst])
    assert ax.lines[1].get_label() == f"row {worst}: the largest rise in a sweep"
    assert len(warned(ax)) == (np.diff(asymmetric.lyapunov[worst]) > 0).sum()


def test_a_rise_against_the_guarantee_is_called_a_violation(trace):
    wrong = replace(trace.descent, holds=False, largest_rise=2.0, mismatch=0.5)
    broken = replace(trace, descent=wrong)
    assert notes(plots.energy(broken).axes[0]) == (
        "descent violated: largest rise 2 bits, independent checks differ by 0.5"
    )


def test_noise_claims_no_descent(trace):
    glauber = take(trace, [0], bnn.Glauber(50.0))
    assert "no guarantee: noise raises the energy now and then" in notes(plots.energy(glauber).axes[0])


def test_the_two_step_energy_is_named_and_its_fall_drawn():
    trace = bnn.recall(CYCLE, [[1, 1], [-1, 1]], bnn.Synchronous(), seed=0, record="flips")
    ax = plots.energy(trace).axes[0]
    assert ax.get_ylabel() == "two-step energy (bits)"
    np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], trace.lyapunov)
    row = plots.energy(trace, row=0).axes[0]
    assert notes(row) == "E itself may rise here: what must fall is the two-step energy"
    assert notes(plots.similarity(trace).axes[0]) == "may fall: what is sure to fall is the two-step energy"


def test_parallel_rises_of_the_energy_are_drawn_in_the_warning_colour():
    trace = bnn.recall(
        bnn.Network.of([[0, -1], [-1, 0]], bias=[0.5, 0.5]), [[0, 0]], bnn.Synchronous(), seed=0, record="flips"
    )
    values = np.concatenate([trace.energy[0, :1], trace.flip_log.energy])
    assert len(warned(plots.energy(trace, row=0).axes[0])) == (np.diff(values) > 0).sum()


@pytest.mark.parametrize("row", [2, -1])
def test_every_flip_of_one_row_is_a_step(trace, row):
    ax = plots.energy(trace, row=row).axes[0]
    log = trace.flip_log
    mine = slice(log.start[row % len(trace)], log.start[row % len(trace) + 1])
    steps = next(line for line in ax.lines if line.get_drawstyle() == "steps-post")
    np.testing.assert_array_equal(steps.get_ydata(), [trace.energy[row, 0], *log.energy[mine]])
    assert ax.get_xlabel() == "flip"


def test_flips_that_rise_are_drawn_in_the_warning_colour(asymmetric):
    ax = plots.energy(asymmetric, row=0).axes[0]
    log = asymmetric.flip_log
    values = np.concatenate([asymmetric.energy[0, :1], log.energy[: log.start[1]]])
    risen = np.flatnonzero(np.diff(values) > 0)
    assert len(risen) > 0
    np.testing.assert_array_equal(warned(ax), [[(k + 1, values[k]), (k + 1, values[k + 1])] for k in risen])


def test_one_row_needs_recorded_flips(trace):
    plain = bnn.recall(trace.network, PICTURES, seed=0)
    with pytest.raises(
        DataError, match=r"plots\.energy\.row: the flips were not recorded; call recall\(\.\.\., record="
    ):
        plots.energy(plain, row=0)
    with pytest.raises(DataError, match=r"Trace\.replay: the flips were not recorded; call recall"):
        plots.replay(plain, 0)


def test_rows_that_are_not_there(trace):
    with pytest.raises(DataError, match=r"plots\.energy\.row: got 6; the trace has rows 0 to 5\."):
        plots.energy(trace, row=6)
    with pytest.raises(DataError, match=r"plots\.recall\.rows: got -7; the trace has rows 0 to 5\."):
        plots.recall(trace, rows=[0, -7])
    with pytest.raises(DataError, match=r"plots\.recall\.rows: got none; name at least one row\."):
        plots.recall(trace, rows=[])
    with pytest.raises(DataError, match=r"Trace\.replay\.row: got 6"):
        plots.replay(trace, 6)


def test_hopfields_rule_has_units_of_its_own():
    trace = bnn.recall(bnn.learn(PICTURES, "hopfield"), PICTURES, seed=0)
    assert plots.energy(trace).axes[0].get_ylabel() == "energy (no unit)"
    assert plots.weights(trace.network).axes[1].get_ylabel() == "weight (no unit)"


def test_similarity_lines_are_the_trace(trace):
    ax = plots.similarity(trace).axes[0]
    np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], trace.log_similarity)
    assert ax.get_ylabel() == "log2 similarity (bits)"
    assert not warned(ax)


def test_similarity_leaves_out_rows_where_it_is_not_defined():
    network = bnn.learn(PICTURES, "odds")
    cues = PICTURES.patterns.astype(np.float32)
    cues[1, :3] = np.nan
    clamp = np.zeros(cues.shape, dtype=bool)
    clamp[1, :3] = True
    trace = bnn.recall(network, cues, clamp=clamp, seed=0)
    assert np.isnan(trace.log_similarity[1]).all()
    ax = plots.similarity(trace).axes[0]
    np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], np.delete(trace.log_similarity, 1, axis=0))
    assert notes(ax).startswith("1 row left out, undefined while neurons are silent")
    only = bnn.recall(network, cues[1:2], clamp=clamp[1:2], seed=0)
    assert len(plots.similarity(only).axes[0].lines) == 0


def test_similarity_need_not_rise_with_external_input(trace):
    pushed = bnn.recall(trace.network, PICTURES, input=-60.0, seed=0)
    ax = plots.similarity(pushed).axes[0]
    assert notes(ax) == "may fall: the external input is part of the energy, not of the similarity"
    falls = np.diff(pushed.log_similarity, axis=1) < 0
    assert falls.any()
    assert len(warned(ax)) == falls.sum()


def test_recall_pictures_show_cue_recalled_and_truth(trace):
    figure = plots.recall(trace, PICTURES, rows=[4, 0])
    (ax,) = figure.axes
    shown, gap = image_cells(ax), 1
    for k, row in enumerate([4, 0]):
        left = k * (9 + gap)
        mine = slice(left, left + 9)
        cue, recalled, true = (shown[i * (7 + gap) : i * (7 + gap) + 7, mine].ravel() for i in range(3))
        np.testing.assert_array_equal(cue, trace.cues[row] == 1)
        np.testing.assert_array_equal(true, PICTURES.codes[row])
        np.testing.assert_array_equal(np.isin(recalled, [cells.ON, cells.EXTRA]), trace.states[row] == 1)
        np.testing.assert_array_equal(recalled > cells.ON, trace.states[row] != PICTURES.codes[row])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cue", "recalled", "true"]


def test_recall_says_what_was_recalled_and_how_near(trace):
    network = trace.network
    codes = PICTURES.codes[[0, 1, 2, 2]].copy()
    codes[2] = 1 - codes[2]
    codes[3, :5] = 1 - codes[3, :5]
    settled = bnn.recall(network, codes, clamp=np.ones(network.neurons, dtype=bool), seed=0)
    (ax,) = plots.recall(settled, PICTURES.codes[[0, 0, 2, 2]]).axes
    captions = [label.get_text() for label in ax.get_xticklabels()]
    other = 1 - 2 * (PICTURES.codes[0] != PICTURES.codes[1]).mean()
    assert captions == [
        "stored\noverlap 1.00",
        f"spurious\noverlap {style.readable(other, '.2f')}",
        "inverse\noverlap −1.00",  # noqa: RUF001
        f"spurious\noverlap {1 - 10 / 63:.2f}",
    ]
    (ax,) = plots.recall(settled, PICTURES.codes[[1, 0, 2, 2]]).axes
    assert ax.get_xticklabels()[0].get_text() == f"another stored\noverlap {style.readable(other, '.2f')}"


def test_recall_without_patterns_says_how_rows_ended(trace):
    (ax,) = plots.recall(trace).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cue", "recalled"]
    assert [label.get_text() for label in ax.get_xticklabels()] == list(trace.outcome)


def test_recall_takes_the_nearest_pattern_where_numbers_differ(trace):
    part = take(trace, [3])
    (ax,) = plots.recall(part, PICTURES).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cue", "recalled", "nearest"]
    np.testing.assert_array_equal(image_cells(ax)[16:23, :9].ravel(), PICTURES.codes[3])


def test_unknown_pixels_have_their_own_colour(trace):
    cues = bnn.corrupt(PICTURES, mask=0.3, seed=0)
    figure = plots.recall(bnn.recall(trace.network, cues, seed=0), PICTURES)
    assert (image_cells(figure.axes[0])[:7] == cells.UNKNOWN).sum() == (cues.codes < 0).sum()
    assert figure.legends[0].get_texts()[0].get_text() == "unknown"
    silent = bnn.recall(trace.network, cues, clamp=cues.codes < 0, seed=0)
    assert (image_cells(plots.recall(silent).axes[0]) == cells.UNKNOWN).sum() == 2 * (cues.codes < 0).sum()


def test_more_than_ten_rows_wrap_and_are_spread_by_default(trace):
    many = take(trace, np.arange(24) % 6)
    assert len(plots.recall(many, rows=range(24)).axes) == 3
    (ax,) = plots.recall(many).axes
    np.testing.assert_array_equal(image_cells(ax)[:7, 10:19].ravel(), many.cues[3])


def test_two_neurons_a_pixel_are_a_picture_too():
    network = bnn.learn(bnn.Counts.of(PICTURES, "values"), "probability")
    trace = bnn.recall(network, PICTURES, bnn.WinnerTakeAll(), seed=0)
    (ax,) = plots.recall(trace, PICTURES, rows=[1]).axes
    np.testing.assert_array_equal(image_cells(ax)[16:].ravel(), PICTURES.codes[1])


def test_tables_are_drawn_as_strips_named_by_attribute_and_value(table_trace):
    (ax,) = plots.recall(table_trace, TABLE, rows=[0, 5]).axes
    shown = image_cells(ax)
    layout = table_trace.network.layout
    assert [label.get_text() for label in ax.get_xticklabels()] == list(layout.names)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["cue", "recalled", "true"] * 2
    cue = np.where(table_trace.unknown[0], cells.UNKNOWN, table_trace.cues[0])
    np.testing.assert_array_equal(shown[0], cue)
    np.testing.assert_array_equal(shown[6], TABLE.codes[5][layout.attribute] == layout.value)
    assert any("overlap" in text.get_text() for text in ax.texts)


def test_patterns_of_another_network_are_refused(trace):
    with pytest.raises(
        SchemaError, match=r"plots\.recall\.patterns: the schemas differ: 3 attributes against 63|63 att"
    ):
        plots.recall(trace, TABLE)
    with pytest.raises(DataError, match=r"plots\.comparison\.patterns: got shape \(2, 5\); this network wants"):
        plots.comparison({"odds": trace}, np.zeros((2, 5)))
    gaps = np.where(np.arange(63) == 0, np.nan, 1.0)[None]
    with pytest.raises(
        DataError, match=r"plots\.recall\.patterns: some values are unknown and 1 patterns are no truth"
    ):
        plots.recall(trace, gaps)


def test_gaps_in_the_truth_are_not_compared(trace):
    known = np.where(PICTURES.codes == 1, 1.0, 0.0)
    known[:, 5:9] = np.nan
    states = PICTURES.codes.copy()
    states[:, 5] ^= 1
    states[1, 0] ^= 1
    settled = bnn.recall(trace.network, states, clamp=np.ones(63, dtype=bool), seed=0)
    (ax,) = plots.recall(settled, known).axes
    captions = [label.get_text() for label in ax.get_xticklabels()]
    assert captions[:2] == ["stored\noverlap 1.00", f"different\noverlap {1 - 2 / 59:.2f}"]
    shown = image_cells(ax)
    np.testing.assert_array_equal(shown[16, 5:9], cells.UNKNOWN)
    assert shown[8, 5] == states[0, 5]
    figure = plots.comparison({"odds": settled}, known)
    assert figure.axes[0].get_title(loc="left") == "odds: 5 of 6 recalled exactly"


def test_comparison_has_one_line_of_axes_a_rule(trace):
    cues = np.where(trace.start == 1, 1, 0)
    traces = {rule: bnn.recall(bnn.learn(PICTURES, rule), cues, seed=0, record="flips") for rule in bnn.RULES}
    figure = plots.comparison(traces, PICTURES)
    assert len(figure.axes) == 2 * len(traces)
    for i, (name, one) in enumerate(traces.items()):
        images, curves = figure.axes[2 * i : 2 * i + 2]
        exact = (one.states == np.where(PICTURES.codes == 1, 1, one.network.low)).all(axis=1).sum()
        assert images.get_title(loc="left") == f"{name}: {exact} of 6 recalled exactly"
        assert curves.get_xlabel() == "flip"
        assert curves.get_ylabel().startswith("energy above final\n(")
        for row, line in enumerate(curves.lines):
            assert len(line.get_ydata()) == one.flips[row] + 1
            assert line.get_ydata()[-1] == 0
            assert line.get_ydata()[0] == one.energy[row, 0] - one.energy[row, -1]


def test_comparison_counts_only_a_rows_own_pattern_as_recalled(trace):
    settled = bnn.recall(trace.network, PICTURES, clamp=np.ones(63, dtype=bool), seed=0)
    figure = plots.comparison({"odds": settled}, PICTURES[[0, 1, 2, 4, 3, 5]])
    assert figure.axes[0].get_title(loc="left") == "odds: 4 of 6 recalled exactly"


def test_comparison_of_tables_has_bars(table_trace):
    figure = plots.comparison({"probability": table_trace}, TABLE)
    bars, curves = figure.axes
    exact = cells.truth_of(table_trace, TABLE, "here").exact
    assert bars.patches[1].get_width() == exact.mean()
    assert bars.get_xlabel() == "share recalled exactly"
    assert bars.get_title(loc="left") == f"probability: {exact.sum()} of 6 recalled exactly"
    assert "descent verified" in notes(curves)


def test_comparison_of_many_rows_draws_median_against_sweeps(trace):
    many = take(trace, np.arange(24) % 6)
    curves = plots.comparison({"odds": many}, PICTURES).axes[1]
    above = many.lyapunov - many.lyapunov[:, -1:]
    np.testing.assert_array_equal(curves.lines[0].get_ydata(), np.median(above, axis=0))
    assert curves.get_xlabel() == "sweep"


def test_comparison_needs_a_trace():
    with pytest.raises(DataError, match=r"plots\.comparison\.traces: got none; give at least one trace by name\."):
        plots.comparison({}, PICTURES)


def test_overlap_against_noise_draws_mean_and_middle_of_the_seeds():
    shares = np.array([0.0, 0.1, 0.2])
    seeds = np.random.default_rng(0).random((3, 5))
    figure = plots.overlap_against_noise(shares, {"odds": seeds, "hopfield": [1, 0, 0]}, before=1 - 2 * shares)
    (ax,) = figure.axes
    np.testing.assert_allclose(ax.lines[0].get_ydata(), seeds.mean(axis=1))
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), [1, 0, 0])
    np.testing.assert_array_equal(ax.lines[2].get_ydata(), 1 - 2 * shares)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["odds", "hopfield", "before recall"]
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert {np.percentile(seeds[1], 10), np.percentile(seeds[1], 90)} <= set(band)
    assert ax.get_title(loc="left") == "mean and middle 80 % of 5 seeds"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("share of neurons flipped", "overlap after recall")


def test_overlap_against_noise_refuses_curves_that_do_not_fit():
    with pytest.raises(DataError, match=r"curves\['odds'\]: got shape \(2,\); expected \[3\] or \[3, seeds\]"):
        plots.overlap_against_noise([0.0, 0.1, 0.2], {"odds": [1, 1]})
    with pytest.raises(DataError, match=r"\.before: got shape \(1,\)"):
        plots.overlap_against_noise([0.0, 0.1], {}, before=[1])
    with pytest.raises(DataError, match=r"\.shares: got shape \(0,\); expected \[shares\]"):
        plots.overlap_against_noise([], {})


def test_weights_are_drawn_receiving_by_sending(asymmetric):
    network = asymmetric.network
    ax, bar = plots.weights(network).axes
    np.testing.assert_array_equal(ax.images[0].get_array(), network.weights.numpy())
    assert (ax.get_xlabel(), ax.get_ylabel(), bar.get_ylabel()) == ("from", "to", "weight (bits)")
    assert [label.get_text() for label in ax.get_yticklabels()] == list(network.layout.names)


def test_weight_colours_are_centred_and_not_ruled_by_a_single_weight():
    weights = np.random.default_rng(0).normal(size=(40, 40))
    weights[3, 5] = 1e6
    ax = plots.weights(bnn.Network.of(weights)).axes[0]
    low, high = ax.images[0].get_clim()
    assert low == -high
    assert high < 10
    assert plots.weights(bnn.Network.of(np.zeros((3, 3)))).axes[0].images[0].get_clim() == (-1, 1)


def test_weights_draw_lines_between_attributes_and_choose_some(table_trace):
    network = table_trace.network
    ax = plots.weights(network).axes[0]
    edges = network.layout.start[1:-1] - 0.5
    assert {float(line.get_xdata()[0]) for line in ax.lines} >= set(edges.tolist())
    chosen = network.layout.neurons_of(["class", "milk"])
    ax = plots.weights(network, attributes=["class", "milk"]).axes[0]
    np.testing.assert_array_equal(ax.images[0].get_array(), network.weights.numpy()[np.ix_(chosen, chosen)])
    assert [label.get_text() for label in ax.get_xticklabels()] == [network.layout.names[i] for i in chosen]


def test_many_neurons_are_named_by_attribute_or_not_at_all(trace):
    wide = {f"a{a}": np.arange(40) % (12 + a) for a in range(6)}
    ax = plots.weights(bnn.learn(bnn.Records.from_table(wide))).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == list(wide)
    ax = plots.weights(trace.network).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sending neuron", "receiving neuron")


def test_what_a_pixel_receives_is_a_picture(trace):
    network = trace.network
    ax = plots.weights(network, neuron="r2c3").axes[0]
    index = network.layout.names.index("r2c3")
    np.testing.assert_array_equal(ax.images[0].get_array(), network.weights.numpy()[index].reshape(7, 9))
    assert ax.patches[0].get_xy() == (2.5, 1.5)
    assert ax.get_title(loc="left") == "what 'r2c3' receives"


def test_weights_refuse_unknown_names(trace, table_trace):
    with pytest.raises(DataError, match=r"plots\.weights\.neuron: there is no 'r2c33'; did you mean 'r2c3'\?"):
        plots.weights(trace.network, neuron="r2c33")
    with pytest.raises(DataError, match=r"plots\.weights\.neuron: the patterns of 'legs = 4' are no pictures"):
        plots.weights(table_trace.network, neuron="legs = 4")
    with pytest.raises(DataError, match="there is no 'leg'; did you mean 'legs'"):
        plots.weights(table_trace.network, attributes="leg")
    empty = bnn.learn(bnn.Records.from_table({"known": [1, 2], "never": [None, None]}))
    with pytest.raises(DataError, match=r"plots\.weights\.attributes: they own no neuron"):
        plots.weights(empty, attributes="never")


def test_graph_holds_the_strongest_connections_of_each_sign():
    weights = np.array([[0, 3, -1, 0.5], [3, 0, -2, 0], [-1, -2, 0, 1], [0.5, 0, 1, 0]])
    network = bnn.Network.of(weights, names=["a", "b", "c", "d"])
    chosen = network_graph.strongest_connections(network, 2)
    edges = {frozenset(edge[:2]): edge[2] for edge in chosen.edges(data="weight")}
    expected = {frozenset((0, 1)): 3, frozenset((2, 3)): 1, frozenset((1, 2)): -2, frozenset((0, 2)): -1}
    assert edges == expected
    figure = plots.graph(network, strongest=1)
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["a", "b", "c"]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == ["1 excite: +3.0 bits", "1 inhibit: −2.0 bits"]  # noqa: RUF001
    colours = [patch.get_edgecolor()[:3] for patch in figure.axes[0].patches]
    assert colours == [to_rgba(style.INHIBITORY)[:3], to_rgba(style.EXCITATORY)[:3]]
    widths = [patch.get_linewidth() for patch in figure.axes[0].patches]
    assert widths == [network_graph.WIDEST * 2 / 3, network_graph.WIDEST]


def test_graph_says_how_many_are_equally_strong_and_takes_the_frequent_ones(table_trace):
    network = table_trace.network
    chosen = network_graph.strongest_connections(network, 2)
    weights = np.triu(network.weights.numpy())
    assert chosen.graph[-1] == (weights == weights.min()).sum() > 2
    prior = network.prior.numpy()
    to, given = np.nonzero(weights == weights.min())
    best = sorted(prior[to] * prior[given])[-2:]
    drawn = sorted(prior[a] * prior[b] for a, b, weight in chosen.edges(data="weight") if weight < 0)
    np.testing.assert_array_equal(drawn, best)
    texts = [text.get_text() for text in plots.graph(network, strongest=2).legends[0].get_texts()]
    assert f"(2 of {chosen.graph[-1]} at " in texts[1]


def test_graph_of_an_attribute_and_of_asymmetric_weights(table_trace, asymmetric):
    network = table_trace.network
    mine = set(network.layout.neurons_of("class").tolist())
    chosen = network_graph.strongest_connections(network, 5, "class")
    assert all(len(mine & {a, b}) == 1 for a, b in chosen.edges)
    directed = network_graph.strongest_connections(asymmetric.network, 3)
    assert directed.is_directed()
    weights = asymmetric.network.weights.numpy()
    assert all(weights[to, given] == weight for given, to, weight in directed.edges(data="weight"))


def test_graph_refuses_what_it_cannot_draw(table_trace):
    with pytest.raises(DataError, match=r"plots\.graph\.strongest: got 0; ask for at least one connection"):
        plots.graph(table_trace.network, strongest=0)
    with pytest.raises(DataError, match=r"plots\.graph\.network: has no connection to draw"):
        plots.graph(bnn.Network.of(np.eye(3)))
    with pytest.raises(DataError, match="did you mean 'class'"):
        plots.graph(table_trace.network, attribute="clas")


def test_names_in_the_graph_do_not_overlap(table_trace):
    figure = plots.graph(table_trace.network, strongest=20)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    centres = [np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2 for box in boxes]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i] if a is not b)
    assert all(figure.bbox.contains(*centre) for centre in centres)


def test_replay_shows_snapshots_above_their_place(trace):
    row = int(trace.flips.argmax())
    above, below = plots.replay(trace, row).axes
    states = trace.replay(row)
    dots = below.lines[-1]
    moments = dots.get_xdata()
    assert moments[0] == 0
    assert moments[-1] == trace.flips[row]
    shown = image_cells(above)
    for k, moment in enumerate(moments):
        np.testing.assert_array_equal(shown[:, k * 10 : k * 10 + 9].ravel(), states[moment])
    assert dots.get_ydata()[-1] == trace.energy[row, -1]
    assert above.get_xticklabels()[0].get_text() == "start"


def test_replay_of_a_table_has_a_column_a_flip(table_trace):
    row = int(table_trace.flips.argmax())
    above, below = plots.replay(table_trace, row).axes
    states = table_trace.replay(row)
    np.testing.assert_array_equal(image_cells(above), states.T)
    assert [label.get_text() for label in above.get_yticklabels()] == list(table_trace.network.layout.names)
    assert below.get_xlim() == (-0.5, len(states) - 0.5)


def test_replay_of_parallel_steps_stops_only_between_them(trace):
    parallel = take(trace, [0], bnn.Synchronous())
    below = plots.replay(parallel, 0).axes[1]
    ends = {0, *(np.flatnonzero(np.diff(parallel.flip_log.sweep)) + 1).tolist(), int(parallel.flips[0])}
    assert set(below.lines[-1].get_xdata()) <= ends


def test_replay_of_a_row_that_rests():
    resting = bnn.recall(bnn.Network.of(np.zeros((4, 4))), [[0, 1, 0, 1]], seed=0, record="flips")
    above, below = plots.replay(resting, 0).axes
    assert image_cells(above).shape == (4, 1)
    assert len(below.lines[0].get_xdata()) == 1
