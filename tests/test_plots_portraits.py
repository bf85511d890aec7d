"""Pictures of single rows of a flow, of two neurons, and of fixed points against gain."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox
from strategies import unchecked

import bnn
from bnn import plots
from bnn.errors import DataError
from bnn.plots import branches, cells, clock, flows, portrait, style

RNG = np.random.default_rng(7)
PICTURES = bnn.Records.from_patterns(RNG.random((6, 7, 9)) < 0.4)
TABLE = bnn.Records.from_table(
    {"milk": ["yes", "yes", "no", "no"], "legs": [4, 2, 2, 6], "class": ["mammal", "mammal", "bird", "insect"]}
)
PAIR = bnn.Network.of([[0, 2], [2, 0]], bias=[-1, -1], names=["hair", "milk"])
FLOW = bnn.GradientFlow(gain=0.1)


@pytest.fixture(scope="module")
def cues():
    return bnn.corrupt(PICTURES, flip=0.1, seed=1)


@pytest.fixture(scope="module")
def flow(cues):
    return bnn.recall(bnn.learn(PICTURES, "odds"), cues, FLOW, seed=0, record="states")


@pytest.fixture(scope="module")
def discrete(cues):
    return bnn.recall(bnn.learn(PICTURES, "odds"), cues, seed=0, record="flips")


@pytest.fixture(scope="module")
def table_flow():
    masked = bnn.corrupt(TABLE, mask=0.34, seed=3)
    return bnn.recall(bnn.learn(TABLE), masked, bnn.GradientFlow(gain=1.0), seed=0, record="states", input=-0.5)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# ---- trajectories


def test_trajectories_are_the_states_of_named_neurons(flow):
    (ax,) = plots.trajectories(flow, 2, neurons=["r3c4", "r0c0"]).axes
    assert labels(ax) == ["r3c4", "r0c0"]
    for line, name in zip(ax.lines, labels(ax), strict=True):
        times, values = line.get_data()
        assert (np.diff(times) > 0).all()
        entries = np.searchsorted(flow.times[2], times)
        np.testing.assert_array_equal(values, flow.history[2, entries, flow.network.layout.names.index(name)])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (tau)", "state (probability of being on)")


def test_default_trajectories_move_most_and_differ(flow):
    (ax,) = plots.trajectories(flow).axes
    paths = np.stack([line.get_ydata() for line in ax.lines])
    assert 2 <= len(paths) <= flows.MOST_LINES
    _, _, states = clock.path_of(flow, 0, "here")
    gone = np.abs(np.diff(states, axis=0)).sum(axis=0)
    assert np.abs(np.diff(paths, axis=1)).sum(axis=1).max() == pytest.approx(gone.max())
    apart = np.abs(paths[:, None] - paths[None]).max(axis=2)
    assert apart[~np.eye(len(paths), dtype=bool)].min() >= flows.ALIKE * np.ptp(states)
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == len(paths)


def test_of_two_mirror_images_one_is_drawn(table_flow):
    for row in range(len(table_flow)):
        (ax,) = plots.trajectories(table_flow, row).axes
        assert sum(label.startswith("milk") for label in labels(ax)) <= 1


def test_trajectories_of_hopfields_neurons_are_expected_states():
    network = bnn.Network.of([[0, 2], [2, 0]], low=-1)
    trace = bnn.recall(network, [[1, -1]], bnn.GradientFlow(), record="states", seed=0)
    (ax,) = plots.trajectories(trace).axes
    assert ax.get_ylabel() == "expected state"
    assert ax.get_ylim()[0] < -1


def test_trajectories_refuse_what_they_cannot_draw(flow, discrete):
    with pytest.raises(DataError, match=r"plots\.trajectories\.neurons: there is no 'r3c44'; did you mean 'r3c4'\?"):
        plots.trajectories(flow, neurons="r3c44")
    with pytest.raises(DataError, match=r"plots\.trajectories\.neurons: got none; name at least one"):
        plots.trajectories(flow, neurons=[])
    with pytest.raises(DataError, match=r"plots\.trajectories\.trace: 'asynchronous' has no graded states; recall wi"):
        plots.trajectories(discrete)
    with pytest.raises(DataError, match=r"plots\.trajectories\.row: got 9; the trace has rows 0 to 5"):
        plots.trajectories(flow, 9)


# ---- the free energy by parts


@pytest.mark.parametrize("row", [1, -1])
def test_free_energy_is_the_sum_of_its_parts(table_flow, row):
    (ax,) = plots.free_energy(table_flow, row).axes
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    pairs, bias, heat, total = drawn.values()
    np.testing.assert_allclose(pairs + bias + heat, total, atol=1e-9)
    states = table_flow.history[row]
    weights, gain = table_flow.network.weights.numpy(), table_flow.dynamics.gain
    assert pairs[0] == pytest.approx(-0.5 * states[0] @ weights @ states[0])
    # softmax: minus the entropy is the sum of V log2 V; the bias is all in the input here
    assert heat[-1] == pytest.approx((states[-1] * np.log2(states[-1])).sum() / gain, abs=1e-9)
    assert bias[-1] == pytest.approx(-states[-1] @ (table_flow.network.bias.numpy() - 0.5), abs=1e-9)
    assert total[-1] == table_flow.lyapunov[row, -1]
    assert ax.get_ylabel() == "part of the free energy (bits)"
    assert ax.get_title(loc="right") == "descent verified at every step"


# ---- beside discrete recall


def test_discrete_and_graded_snapshots_stand_beside_their_energies(flow, discrete):
    row = int(discrete.flips.argmax())
    figure = plots.graded_against_discrete(discrete, flow, row)
    upper, staircase, lower, curve = figure.axes
    assert (staircase.get_xlabel(), curve.get_xlabel()) == ("flip", "time (tau)")
    dots = staircase.lines[-1]
    assert dots.get_xdata()[[0, -1]].tolist() == [0, discrete.flips[row]]
    assert dots.get_ydata()[-1] == discrete.energy[row, -1]
    assert curve.lines[-1].get_ydata()[-1] == flow.lyapunov[row, -1]
    image = np.asarray(lower.images[0].get_array(), dtype=float)
    last = len(curve.lines[-1].get_xdata()) - 1
    grey = (to_rgba(style.PALE)[0] - image[:7, 10 * last : 10 * last + 9, 0]) / (
        to_rgba(style.PALE)[0] - to_rgba(style.INK)[0]
    )
    np.testing.assert_allclose(grey.ravel(), flow.states[row], atol=0.005)
    assert upper.get_title(loc="left") == "discrete neurons"
    differ = (discrete.discrete[row] != flow.discrete[row]).sum()
    assert lower.get_title(loc="left") == (
        "graded neurons: " + ("the same answer" if differ == 0 else f"differs from it in {differ} neurons")
    )


def test_tables_are_lines_of_cells_at_some_moments():
    network, masked = bnn.learn(TABLE), bnn.corrupt(TABLE, mask=0.34, seed=3)
    options = {"seed": 0, "input": -0.5}
    one = bnn.recall(network, masked, bnn.WinnerTakeAll(), record="flips", **options)
    other = bnn.recall(network, masked, bnn.GradientFlow(gain=1.0), record="states", **options)
    upper, _, lower, _ = plots.graded_against_discrete(one, other, 1).axes
    assert [text.get_text() for text in lower.get_xticklabels()] == list(network.layout.names)
    assert upper.get_yticklabels()[0].get_text() == lower.get_yticklabels()[0].get_text() == "start"
    assert len(lower.images[0].get_array()) == len(lower.get_yticklabels())


def test_a_different_answer_is_counted(flow, discrete):
    states = flow.discrete.copy()
    states[0, :2] = 1 - states[0, :2]
    lower = plots.graded_against_discrete(replace(discrete, states=states), flow, 0).axes[2]
    assert "differs from it in 2 neurons" in lower.get_title(loc="left")


def test_traces_that_cannot_be_compared_are_refused(flow, discrete):
    with pytest.raises(DataError, match=r"against_discrete\.discrete: 'flow' has graded states; give the flow second"):
        plots.graded_against_discrete(flow, flow)
    with pytest.raises(DataError, match=r"against_discrete\.trace: 'asynchronous' has no graded states"):
        plots.graded_against_discrete(discrete, discrete)
    other = bnn.recall(flow.network, PICTURES, FLOW, seed=0, record="states")
    with pytest.raises(DataError, match="row 0 of the traces began from different cues; recall the same cues twice"):
        plots.graded_against_discrete(discrete, other)
    plain = bnn.recall(flow.network, PICTURES, seed=0)
    with pytest.raises(DataError, match=r"against_discrete\.discrete: the flips were not recorded; call recall"):
        plots.graded_against_discrete(plain, flow)


# ---- phase portrait


def logistic(x):
    return 1 / (1 + 2.0**-x)


def dots(ax):
    """Stable and unstable fixed points drawn."""
    stable, unstable = (line for line in ax.lines if line.get_marker() == "o")
    assert unstable.get_markerfacecolor() == "white"
    return np.column_stack(stable.get_data()), np.column_stack(unstable.get_data())


def test_phase_portrait_marks_fixed_points_by_their_stability():
    gain = 5.0
    ax = plots.phase_portrait(PAIR, bnn.GradientFlow(gain=gain)).axes[0]
    stable, unstable = dots(ax)
    np.testing.assert_allclose(unstable, [[0.5, 0.5]], atol=1e-9)
    assert len(stable) == 2
    np.testing.assert_allclose(stable, logistic(gain * (2 * stable[:, ::-1] - 1)), atol=1e-9)
    assert ax.get_title(loc="left") == "gain 5: 2 stable states"
    assert ax.get_xlabel() == "hair: state (probability of being on)"
    assert ax.get_ylabel() == "milk: state (probability of being on)"
    below = dots(plots.phase_portrait(PAIR, bnn.GradientFlow(gain=2.8)).axes[0])
    above = dots(plots.phase_portrait(PAIR, bnn.GradientFlow(gain=2.95)).axes[0])
    assert [len(points) for points in below + above] == [1, 0, 2, 1]  # they part at 4 / (2 ln2) = 2.885


def test_nullclines_are_where_a_neuron_answers_its_field():
    gain = 5.0
    ax = plots.phase_portrait(PAIR, bnn.GradientFlow(gain=gain)).axes[0]
    for colour, own, other in ((style.BLUE, 0, 1), (style.ORANGE, 1, 0)):
        (line,) = (line for line in ax.lines if line.get_color() == colour)
        points = np.column_stack(line.get_data())
        points = points[~np.isnan(points).any(axis=1)]
        np.testing.assert_allclose(points[:, own], logistic(gain * (2 * points[:, other] - 1)), atol=1e-12)
        assert np.ptp(points[:, other]) > 0.98


def test_neurons_that_do_not_hear_each_other_rest_along_straight_lines():
    network = bnn.Network.of([[12.0, 0], [0, 0]], bias=[-6.0, 1.0])
    start, single = network.layout.start, network.layout.single
    plane = portrait.Plane(network, portrait.ACTIVATIONS["logistic"](start, single), 2.0)
    upright, level = plane.nullclines(0), plane.nullclines(1)
    assert [len(np.unique(line[:, 0])) for line in upright] == [1, 1, 1]
    np.testing.assert_allclose([line[0, 0] for line in upright][1], 0.5, atol=1e-6)
    np.testing.assert_allclose(level, [[[0.0, 0.8], [1.0, 0.8]]], atol=1e-6)


def test_paths_descend_to_the_stable_states():
    ax = plots.phase_portrait(PAIR, bnn.GradientFlow(gain=5.0)).axes[0]
    stable, _ = dots(ax)
    paths = [
        np.column_stack(line.get_data())
        for line in ax.lines
        if line.get_color() == style.INK and line.get_marker() != "o"
    ]
    assert len(paths) == 12
    ends = [np.abs(path[-1] - stable).max(axis=1).min() for path in paths]
    off_the_ridge = [abs(path[0].sum() - 1.0) > 1e-9 for path in paths]  # on it a path ends in the saddle
    assert all(end < 0.01 for end, off in zip(ends, off_the_ridge, strict=True) if off)
    assert sum(off_the_ridge) >= 8


def test_arrows_point_down_the_free_energy():
    plane = portrait.Plane(PAIR, portrait.ACTIVATIONS["logistic"](PAIR.layout.start, PAIR.layout.single), 5.0)
    places = np.random.default_rng(0).uniform(0.05, 0.95, (50, 2))
    velocity = plane.slope(places) * plane.force(places)
    change = plane.free_energy(places + 1e-6 * velocity) - plane.free_energy(places)
    assert (change < 0).all()
    trace = bnn.recall(PAIR, places, bnn.GradientFlow(gain=5.0, blur=1e-3), seed=0)
    np.testing.assert_allclose(plane.free_energy(trace.start.astype(float)), trace.lyapunov[:, 0], atol=1e-9)


def test_all_rest_points_are_found_even_at_a_high_gain_with_self_connections():
    network = bnn.Network.of([[1.5, -2], [-2, 1.0]], bias=[0.2, 0.4])
    plane = portrait.Plane(network, portrait.ACTIVATIONS["logistic"](network.layout.start, network.layout.single), 30.0)
    points, stable = plane.rest_points()
    # by enumeration: states of the discrete network no neuron leaves, at this gain all but certain
    corners = np.array([[a, b] for a in (0, 1) for b in (0, 1)], dtype=float)
    kept = [c for c in corners if (((plane.fields(c[None])[0]) > 0) == (c == 1)).all()]
    np.testing.assert_allclose(sorted(points[stable].round(2).tolist()), sorted(np.array(kept).tolist()), atol=0.02)
    assert len(points) % 2 == 1  # index theorem: sinks and sources less saddles are one
    np.testing.assert_allclose(plane.states(plane.fields(points)), points, atol=1e-7)


@pytest.mark.parametrize("gain", [1.0, 30.0, 3000.0])
def test_no_rest_point_is_missed(gain):
    # Signs of the determinants of the Hessian add up to one on a plane that everything flows into (Poincare and Hopf)
    rng = np.random.default_rng(0)
    for number in range(12):
        weights = rng.normal(size=(2, 2)) * 2
        weights += weights.T
        np.fill_diagonal(weights, weights.diagonal() * (number % 2))
        network = bnn.Network.of(weights, bias=rng.normal(size=2) - weights.sum(axis=1) / 2)
        start, single = network.layout.start, network.layout.single
        plane = portrait.Plane(network, portrait.ACTIVATIONS["logistic"](start, single), gain)
        points, stable = plane.rest_points()
        root = np.sqrt(plane.slope(points))
        hessian = np.eye(2) - root[:, :, None] * network.weights.numpy() * root[:, None, :]
        sign = np.sign(np.linalg.det(hessian))
        assert sign.sum() == 1
        assert (sign[stable] == 1).all()


def test_the_others_are_held_at_the_cue_and_the_input_is_added():
    weights = np.array([[0, 2, 1.5], [2, 0, -1.0], [1.5, -1.0, 0]])
    network = bnn.Network.of(weights, bias=[-1, -1, 0.5])
    for cue, third in (([0, 0, 1], 1.0), ([0, 0, 0.25], 0.25), ([1, 1, 0], 0.0), (None, 0.0), ([1, 0, np.nan], 0.0)):
        held = portrait._held(network, np.array([0, 1]), cue, [0.25, 0.0, 9.0])
        np.testing.assert_allclose(held.bias.numpy(), [-0.75 + 1.5 * third, -1 - third])
        np.testing.assert_allclose(held.weights.numpy(), weights[:2, :2])


def test_tanh_and_rising_gains():
    network = bnn.Network.of([[0, 2], [2, 0]], low=-1)
    ax = plots.phase_portrait(network, bnn.GradientFlow(gain=(0.1, 3.0), anneal=5.0)).axes[0]
    assert ax.get_title(loc="left") == "gain 3: 2 stable states"
    stable, unstable = dots(ax)
    np.testing.assert_allclose(stable, -stable[::-1], atol=1e-9)
    np.testing.assert_allclose(unstable, [[0, 0]], atol=1e-9)
    assert ax.get_xlabel() == "x0: expected state"


def test_strongest_pair_and_neurons_of_their_own_attribute():
    weights = np.zeros((4, 4))
    weights[1, 3] = weights[3, 1] = -3.0
    weights[0, 2] = weights[2, 0] = 1.0
    np.fill_diagonal(weights, 9.0)
    ax = plots.phase_portrait(bnn.Network.of(weights, names=list("abcd"))).axes[0]
    assert (ax.get_xlabel()[0], ax.get_ylabel()[0]) == ("b", "d")
    network = bnn.learn(TABLE)
    with pytest.raises(DataError, match=r"under softmax 'legs = 4' moves with the other values of its attribute; choo"):
        plots.phase_portrait(network, neurons=["legs = 4", "legs = 2"])
    with pytest.raises(DataError, match=r"plots\.phase_portrait\.network: no two neurons move by themselves"):
        plots.phase_portrait(network)
    names = ["legs = 4", "class = mammal"]
    ax = plots.phase_portrait(network, bnn.GradientFlow(activation="logistic"), neurons=names).axes[0]
    assert ax.get_xlabel().startswith("legs = 4")


def test_phase_portraits_that_cannot_be_drawn():
    with pytest.raises(DataError, match=r"plots\.phase_portrait\.network: the weights are asymmetric"):
        plots.phase_portrait(bnn.Network.of([[0, 1], [2, 0]]))
    with pytest.raises(DataError, match=r"plots\.phase_portrait\.neurons: got 1 names; give two different neurons"):
        plots.phase_portrait(PAIR, neurons=["hair"])
    with pytest.raises(DataError, match="give two different neurons"):
        plots.phase_portrait(PAIR, neurons=["hair", "hair"])
    with pytest.raises(DataError, match="there is no 'hare'; did you mean 'hair'"):
        plots.phase_portrait(PAIR, neurons=["hare", "milk"])
    with pytest.raises(DataError, match=r"plots\.phase_portrait\.cue: got 2 rows; give one state"):
        plots.phase_portrait(PAIR, cue=[[0, 1], [1, 0]])
    with pytest.raises(DataError, match=r"plots\.phase_portrait\.dynamics: the activation 'tanh' has states from -1"):
        plots.phase_portrait(PAIR, bnn.GradientFlow(activation="tanh"))


# ---- fixed points against gain


@pytest.fixture(scope="module")
def pitchfork():
    return bnn.bifurcation(PAIR, np.geomspace(1.0, 8.0, 12))


@pytest.fixture(scope="module")
def memories():
    return bnn.bifurcation(bnn.learn(PICTURES, "odds"), np.geomspace(0.01, 1.0, 9), PICTURES)


def test_pitchfork_is_drawn_as_a_fork(pitchfork):
    (ax,) = plots.bifurcation(pitchfork, neurons="milk").axes
    points = next(line for line in ax.lines if line.get_linewidth() == 0)
    np.testing.assert_array_equal(points.get_xdata(), pitchfork.gains[pitchfork.at])
    np.testing.assert_array_equal(points.get_ydata(), pitchfork.states[:, 1])
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "gain (1/bits)")
    assert ax.get_ylabel() == "milk: state (probability of being on)"
    links = branches.links_of(pitchfork)
    last = np.flatnonzero(np.bincount(pitchfork.at) == 1)[-1]
    assert sorted(b for a, b in links if pitchfork.at[a] == last) == [last + 1, last + 2]
    assert len(links) == len(pitchfork) - 1


def test_a_state_born_far_from_others_begins_its_own_line(memories):
    links = branches.links_of(memories)
    apart = [np.linalg.norm(memories.states[a] - memories.states[b]) for a, b in links]
    children = {b for _, b in links}
    born = [p for p in range(len(memories)) if memories.at[p] > 0 and p not in children]
    assert born
    assert (
        max(apart)
        < np.linalg.norm(memories.states[memories.of(8)][:, None] - memories.states[memories.of(8)], axis=2).max()
    )
    assert all(memories.at[b] == memories.at[a] + 1 for a, b in links)


def test_overlap_with_a_pattern_and_who_leads_where(memories):
    figure = plots.bifurcation(memories, PICTURES, pattern=2)
    above, ax = figure.axes
    expected = ((2 * memories.states - 1) * (2.0 * PICTURES.codes[2] - 1)).mean(axis=1)
    drawn = {}
    for line in ax.lines:
        if line.get_linewidth() == 0:
            drawn |= dict(zip(line.get_ydata().tolist(), line.get_xdata().tolist(), strict=True))
    np.testing.assert_allclose(sorted(drawn), np.sort(expected), atol=1e-12)
    assert ax.get_ylabel() == "overlap with pattern 2"
    own = memories.lead[-1, 2]
    blue = next(line for line in ax.lines if line.get_label() == "only pattern 2 leads here")
    assert blue.get_ydata()[-1] == pytest.approx(expected[own])
    assert expected[own] > 0.99
    pictures = [artist for artist in above.get_children() if isinstance(artist, AnnotationBbox)]
    assert len(pictures) >= branches.COLUMNS
    first = pictures[0].offsetbox.get_data()
    shade = cells.colours_of(cells.as_pictures(memories.network.layout, cells.greys_of(memories.states[:1]))[0])
    np.testing.assert_array_equal(first, shade)
    counted = np.bincount(memories.at)
    assert above.get_title(loc="left") == f"stable states: {counted[0]} at gain 0.01, {counted[-1]} at gain 1"


def test_owner_is_the_only_start_that_leads_to_a_point(memories):
    owner = branches._owner_of(memories)
    for point, start in enumerate(owner.tolist()):
        mine = np.flatnonzero(memories.lead[memories.at[point], :-1] == point)
        assert (mine.tolist() == [start]) if start >= 0 else len(mine) != 1


def test_states_of_several_neurons_have_colours_of_their_own(memories):
    ax = Figure().add_subplot()
    names = ["r0c0", "r1c1", "r2c2"]
    assert plots.bifurcation(memories, neurons=names, ax=ax) is ax.figure
    assert labels(ax) == names
    lines = [line for line in ax.lines if line.get_linewidth() == 0]
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == 3
    assert ax.get_ylabel() == "state (probability of being on)"


def test_by_default_the_neuron_that_differs_most(memories):
    ax = Figure().add_subplot()
    plots.bifurcation(memories, ax=ax)
    name = ax.get_ylabel().split(":")[0]
    last = memories.states[memories.of(8)]
    assert np.ptp(last[:, memories.network.layout.names.index(name)]) == np.ptp(last, axis=0).max()


def test_bifurcations_that_cannot_be_drawn(memories, pitchfork):
    with pytest.raises(DataError, match=r"plots\.bifurcation: got patterns and neurons; give one of them"):
        plots.bifurcation(memories, PICTURES, neurons="r0c0")
    with pytest.raises(DataError, match=r"plots\.bifurcation\.pattern: got 6; there are patterns 0 to 5"):
        plots.bifurcation(memories, PICTURES, pattern=6)
    with pytest.raises(DataError, match=r"plots\.bifurcation\.neurons: there is no 'mlik'; did you mean 'milk'"):
        plots.bifurcation(pitchfork, neurons="mlik")
    nothing = replace(
        pitchfork, at=pitchfork.at[:0], states=pitchfork.states[:0], free_energy=np.empty(0), margin=np.empty(0)
    )
    with pytest.raises(DataError, match=r"plots\.bifurcation\.result: holds no stable point; give bnn\.bifurcation mo"):
        plots.bifurcation(nothing)


def test_neurons_of_attributes_with_several_values_have_their_other_values_off():
    network = bnn.learn(bnn.datasets.load("zoo"), "odds")
    strongest = bnn.plots.phase_portrait(network)
    assert "=" in strongest.axes[0].get_xlabel()
    named = bnn.plots.phase_portrait(network, bnn.GradientFlow(gain=4), neurons=["class = mammal", "milk = 1"])
    assert named.axes[0].get_xlabel().startswith("class = mammal")


def test_other_things_than_networks_and_flows_are_refused():
    network = bnn.Network.of([[0, 2], [2, 0]])
    with (
        unchecked(),
        pytest.raises(DataError, match=r"phase_portrait\.network: got list; give a Network, such as"),
    ):
        bnn.plots.phase_portrait([[0, 1]])
    with unchecked(), pytest.raises(DataError, match=r"phase_portrait\.dynamics: got 6; give a GradientFlow"):
        bnn.plots.phase_portrait(network, 6)
