"""Pictures of graded neurons."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba

import bnn
from bnn import plots
from bnn.errors import DataError
from bnn.plots import cells, clock, style

RNG = np.random.default_rng(7)
PICTURES = bnn.Records.from_patterns(RNG.random((6, 7, 9)) < 0.4)
TABLE = bnn.Records.from_table(
    {"milk": ["yes", "yes", "no", "no"], "legs": [4, 2, 2, 6], "class": ["mammal", "mammal", "bird", "insect"]}
)


@pytest.fixture(scope="module")
def flow():
    """Noisy pictures relaxed at a middle gain, every state kept."""
    cues = bnn.corrupt(PICTURES, flip=0.1, seed=1)
    return bnn.recall(bnn.learn(PICTURES, "odds"), cues, bnn.GradientFlow(gain=0.1), seed=0, record="states")


@pytest.fixture(scope="module")
def annealed():
    cues = bnn.corrupt(PICTURES, flip=0.1, seed=1)
    rising = bnn.GradientFlow(gain=(0.01, 1.0), anneal=6.0, tau=2.0)
    return bnn.recall(bnn.learn(PICTURES, "odds"), cues, rising, seed=0, record="states")


@pytest.fixture(scope="module")
def table_flow():
    cues = bnn.corrupt(TABLE, mask=0.34, seed=3)
    return bnn.recall(bnn.learn(TABLE), cues, bnn.GradientFlow(gain=1.0), seed=0, record="states")


def notes(ax):
    return ax.get_title(loc="right").replace("\n", " ")


def spans(ax):
    """Ends of what is shaded."""
    return [patch.get_x() + patch.get_width() for patch in ax.patches if patch.get_alpha() == clock.SHADE]


def warned(ax):
    """Segments in the warning colour."""
    return [
        segment
        for collection in ax.collections
        if np.array_equal(collection.get_edgecolor(), [to_rgba(style.WARNING)])
        for segment in collection.get_segments()
    ]


def test_free_energy_is_drawn_against_each_rows_own_clock(flow):
    ax = plots.energy(flow).axes[0]
    assert len(ax.lines) == len(flow)
    for line, times, values in zip(ax.lines, flow.times, flow.lyapunov, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), times)
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (tau)", "free energy (bits)")
    assert notes(ax) == "descent verified at every step"
    assert not spans(ax)


def test_time_is_in_time_constants(annealed):
    ax = plots.energy(annealed).axes[0]
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), annealed.times[0] / 2.0)


def test_one_row_of_a_flow_needs_no_flips(flow):
    (line,) = plots.energy(flow, row=-1, label="last").axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), flow.lyapunov[-1])
    with pytest.raises(DataError, match=r"plots\.energy\.row: got 6; the trace has rows 0 to 5\."):
        plots.energy(flow, row=6)


def test_time_of_a_rising_gain_is_shaded_and_its_rises_are_no_warning(annealed):
    ax = plots.energy(annealed).axes[0]
    assert spans(ax) == [annealed.times[annealed.suspended].max() / 2.0]
    assert clock.RISING in [text.get_text().strip() for text in ax.texts]
    assert notes(ax) == "descent verified at every step after the gain's rise"
    rising = (np.diff(annealed.lyapunov, axis=1) > 0) & annealed.suspended[:, 1:]
    assert rising.any()
    assert not warned(ax)


def test_a_rise_of_a_step_that_promised_descent_is_a_warning(flow):
    values = flow.lyapunov.copy()
    values[2, 3] = values[2, 2] + 5.0
    broken = replace(flow, lyapunov=values, descent=replace(flow.descent, holds=False, largest_rise=5.0, tolerance=0.1))
    ax = plots.energy(broken).axes[0]
    expected = [[(flow.times[2, t], values[2, t]) for t in (2, 3)]]
    np.testing.assert_array_equal(warned(ax), expected)
    assert notes(ax).startswith("descent violated: largest rise 5 bits")


def test_a_rise_within_the_solvers_error_is_told(flow):
    risen = replace(flow, descent=replace(flow.descent, largest_rise=0.001))
    assert notes(plots.energy(risen).axes[0]) == (
        "descent verified at every step, within the solver's error: largest rise 0.001 bits"
    )


def test_steps_too_long_promise_nothing(flow):
    coarse = bnn.GradientFlow(gain=0.1, solver="euler", step=1.5, t_end=6.0)
    trace = bnn.recall(flow.network, PICTURES, coarse, seed=0)
    assert "no guarantee: steps of 1.5 tau exceed" in notes(plots.energy(trace).axes[0])


def test_many_rows_are_summed_up_on_one_clock(flow):
    cues = bnn.corrupt(np.repeat(PICTURES.codes, 5, axis=0), flip=0.1, seed=0)
    many = bnn.recall(flow.network, cues, bnn.GradientFlow(gain=0.1), seed=0)
    ax = plots.energy(many).axes[0]
    (line,) = ax.lines
    times = line.get_xdata()
    assert (times[0], times[-1]) == (0.0, many.times.max())
    assert len(times) <= clock.FINEST
    for k in (0, len(times) // 2, len(times) - 1):
        at = [np.interp(times[k], own, values) for own, values in zip(many.times, many.lyapunov, strict=True)]
        assert line.get_ydata()[k] == pytest.approx(np.median(at))
    assert ax.get_legend().get_texts()[0].get_text() == "median of 30 rows, band 10 to 90 %"


def test_the_busy_part_of_the_time_is_never_squeezed(flow):
    ax = plots.energy(flow).axes[0]
    half = np.median([t[(v <= 0.5 * (v[0] + v[-1])).argmax()] for t, v in zip(flow.times, flow.lyapunov, strict=True)])
    assert half < clock.SQUEEZED * flow.times.max()
    assert ax.get_xscale() == "symlog"
    left, place, right = ax.transData.transform([(0.0, 0.0), (half, 0.0), (flow.times.max(), 0.0)])[:, 0]
    assert (place - left) / (right - left) > 0.1
    assert 0.0 in ax.get_xticks()


def test_similarity_of_a_flow_may_fall(flow):
    ax = plots.similarity(flow).axes[0]
    np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], flow.log_similarity)
    assert ax.get_xlabel() == "time (tau)"
    assert notes(ax) == "may fall: what is sure to fall is the free energy"


def shown(ax, columns):
    """Darkness of an image's pixels, 0 off to 1 on, of the first so many columns."""
    image = np.asarray(ax.images[0].get_array(), dtype=float)[:, :columns, 0]
    off, on = (to_rgba(colour)[0] for colour in (style.PALE, style.INK))
    return (image - off) / (on - off)


def test_graded_states_are_grey_levels_and_wrong_ones_marked(flow):
    blurred = bnn.recall(flow.network, PICTURES, bnn.GradientFlow(gain=0.02), seed=0)
    figure = plots.recall(blurred)
    recalled = shown(figure.axes[0], 9)[8:15].ravel()
    assert ((blurred.states[0] > 0.1) & (blurred.states[0] < 0.9)).any()
    np.testing.assert_allclose(recalled, blurred.states[0], atol=0.005)
    (ax,) = plots.recall(blurred, PICTURES, rows=[0]).axes
    palette = cells._PALETTE
    image = np.asarray(ax.images[0].get_array(), dtype=float)[8:15, :9]
    marked = (np.abs(image[:, :, None] - palette[[cells.EXTRA, cells.LACKING]]).sum(-1).min(-1) == 0).ravel()
    np.testing.assert_array_equal(marked, (blurred.states[0] > 0.5) != (PICTURES.codes[0] == 1))


def test_fractional_cues_are_grey_and_unknown_ones_are_not(flow):
    cue = np.linspace(0.0, 1.0, 63)
    cue[5] = np.nan
    trace = bnn.recall(flow.network, cue, bnn.GradientFlow(gain=0.1), seed=0)
    (ax,) = plots.recall(trace).axes
    dark = shown(ax, 9)[:7].ravel()
    known = np.arange(63) != 5
    np.testing.assert_allclose(dark[known], cue[known], atol=0.005)
    image = np.asarray(ax.images[0].get_array(), dtype=float)[:7, :9].reshape(63, 3)
    np.testing.assert_array_equal(image[5], cells._PALETTE[cells.UNKNOWN])


def test_likeliest_value_of_an_attribute_is_its_answer(table_flow):
    truth = cells.truth_of(table_flow, TABLE, "here")
    line = cells.lines_of(table_flow, range(len(TABLE.codes)), truth)["recalled"]
    marked = np.isin(line, [cells.EXTRA, cells.LACKING])
    np.testing.assert_array_equal(marked, truth.wrong)
    np.testing.assert_array_equal(line == cells.EXTRA, truth.wrong & (table_flow.discrete == 1))


def test_comparison_sets_flow_beside_flips(flow):
    discrete = bnn.recall(flow.network, bnn.corrupt(PICTURES, flip=0.1, seed=1), seed=0, record="flips")
    figure = plots.comparison({"discrete": discrete, "flow": flow}, PICTURES)
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "flip", "", "time (tau)"]
    assert figure.axes[3].get_ylabel() == "free energy above final\n(bits)"


def test_replay_of_a_flow_has_snapshots_in_grey_levels(flow):
    above, below = plots.replay(flow, 0).axes
    dots = below.lines[-1]
    entries, times, states = clock.path_of(flow, 0, "here")
    chosen = clock.moments_of(states, 8)
    np.testing.assert_array_equal(dots.get_xdata(), times[chosen])
    np.testing.assert_array_equal(dots.get_ydata(), flow.lyapunov[0, entries[chosen]])
    for k, moment in enumerate(chosen):
        np.testing.assert_allclose(
            shown(above, len(chosen) * 10)[:7, k * 10 : k * 10 + 9].ravel(), states[moment], atol=0.005
        )
    names = [label.get_text() for label in above.get_xticklabels()]
    assert names[0] == "start"
    assert all(name.endswith(" tau") for name in names[1:])


def test_replay_of_a_table_has_columns_as_wide_as_steps(table_flow):
    above, below = plots.replay(table_flow, 1).axes
    _, times, states = clock.path_of(table_flow, 1, "here")
    mesh = above.collections[0]
    np.testing.assert_array_equal(mesh.get_coordinates()[0, :-1, 0], times)
    assert mesh.get_array().shape == (states.shape[1], len(times), 3)
    assert [label.get_text() for label in above.get_yticklabels()] == list(table_flow.network.layout.names)
    assert above.get_xlim() == below.get_xlim()


def test_moments_are_spread_over_what_changes():
    states = np.array([0.0, 0.0, 0.1, 0.5, 0.5, 0.9, 1.0, 1.0])[:, None]
    assert clock.moments_of(states, 3) == [0, 3, 7]
    assert clock.moments_of(np.zeros((4, 2)), 3) == [0, 3]
    assert clock.moments_of(np.zeros((1, 2)), 3) == [0]


def test_paths_must_have_been_recorded(flow):
    plain = bnn.recall(flow.network, PICTURES, bnn.GradientFlow(gain=0.1), seed=0)
    with pytest.raises(DataError, match=r"plots\.replay\.trace: the path was not recorded; call recall\(\.\.\., rec"):
        plots.replay(plain, 0)
    with pytest.raises(DataError, match=r"plots\.replay\.row: got 6; the trace has rows 0 to 5\."):
        plots.replay(flow, 6)
