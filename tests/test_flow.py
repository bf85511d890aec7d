"""Continuous networks: activations, solvers, the papers' equations one by one, the free energy, and odd input."""

import cases
import numpy as np
import oracles
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from strategies import pattern_records, unchecked
from torchdiffeq import odeint

import bnn
from bnn.dynamics.activations import ACTIVATIONS, LN2, Activation, Logistic
from bnn.dynamics.graded import Solver
from bnn.dynamics.runge_kutta import TABLEAUS, apart
from bnn.errors import DataError
from bnn.kernels import stages, threads

SOLVERS = ("dopri5", "rk4", "euler", "descent")
LAYOUTS = [layout for layout in cases.LAYOUTS if layout.neurons >= 2]


def random_network(rng, neurons, low=0, layout=None, self_weights=False, size=2.0, dtype=torch.float64):
    """Symmetric normal weights; none inside an attribute where a layout is given."""
    weights = np.triu(rng.normal(size=(neurons, neurons)) * size, 1)
    weights += weights.T
    if layout is not None:
        weights[layout.attribute[:, None] == layout.attribute] = 0.0
    if self_weights:
        weights += np.diag(rng.random(neurons) * size)
    return bnn.Network.of(weights, rng.normal(size=neurons) * size, low=low, layout=layout, dtype=dtype)


def activation_of(name, layout):
    return ACTIVATIONS[name](layout.start, layout.single)


def name_of(flow, network):
    return flow.activation_of(network).name


def oracle_free_energy(trace, bias, free):
    """The free energy of every recorded state of every row, term by term, in plain floats."""
    network, flow = trace.network, trace.dynamics
    weights, layout = network.weights.tolist(), network.layout
    values = np.empty(trace.lyapunov.shape)
    for r, t in np.ndindex(values.shape):
        states = trace.history[r, t].tolist()
        values[r, t] = oracles.plain_energy(weights, bias[r], states) + oracles.entropy_term(
            states, flow.gain, name_of(flow, network), layout.attribute, layout.single, free[r]
        )
    return values


# --- Activations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACTIVATIONS)
@given(data=st.data())
def test_activations_agree_with_their_formulas_inverses_integrals_and_slopes(name, data):
    layout = data.draw(st.sampled_from(LAYOUTS))
    activation, gain = activation_of(name, layout), data.draw(st.sampled_from([0.1, 1.0, 3.0]))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    levels = torch.from_numpy(rng.normal(size=(3, layout.neurons)) * 2)
    column = torch.tensor([[gain]], dtype=torch.float64)
    states = activation.states(levels, column)
    for row, mine in zip(levels.tolist(), states.tolist(), strict=True):
        assert mine == pytest.approx(oracles.plain_states(row, gain, name, layout.attribute, layout.single), rel=1e-12)
    back = activation.inverse(states)
    if name == "softmax":  # known up to one constant an attribute, except where a neuron is alone
        for a, (first, last) in enumerate(zip(layout.start[:-1], layout.start[1:], strict=True)):
            gap = (back - gain * levels)[:, first:last]
            assert torch.allclose(gap, gap[:, :1] * (not layout.single[a]), atol=1e-10)
    else:
        assert torch.allclose(back, gain * levels, atol=1e-10)
    # The integral's derivative is the inverse, again up to what an attribute's constraint takes away
    variable = states.clone().requires_grad_()
    slope = torch.autograd.grad(activation.integral(variable).sum(), variable)[0]
    one, h = torch.ones(1, 1, dtype=torch.float64), 1e-5
    vector = torch.from_numpy(rng.normal(size=(3, layout.neurons)))
    up, down = (activation.states(gain * levels + s * h * vector, one) for s in (1, -1))
    moved = (up - down) / (2 * h)
    assert ((slope - back) * moved).sum(dim=1).tolist() == pytest.approx([0.0] * 3, abs=1e-8)
    assert float(moved.norm()) <= activation.steepest * float(vector.norm()) + 1e-8
    for j in range(layout.neurons):
        alone = torch.zeros(3, layout.neurons, dtype=torch.float64)
        alone[:, j] = h
        change = activation.states(gain * levels + alone, one) - activation.states(gain * levels - alone, one)
        assert (change[:, j] / (2 * h)).tolist() == pytest.approx(activation.slope(states)[:, j].tolist(), abs=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ACTIVATIONS)
@given(data=st.data())
def test_the_compiled_loop_weighs_states_as_the_formulas_do(name, dtype, data):
    layout = data.draw(st.sampled_from(LAYOUTS))
    activation, rng = activation_of(name, layout), np.random.default_rng(data.draw(st.integers(0, 999)))
    n, low = layout.neurons, activation.low
    states, before = (rng.random((2, 3, n)) * (1 - low) + low).astype(dtype)
    states[rng.random((3, n)) < 0.2] = rng.choice([low, 1.0, low + 1e-19])
    fields, bias = rng.normal(size=(3, n)).astype(dtype), rng.normal(size=(data.draw(st.sampled_from([1, 3])), n))
    free = rng.random((data.draw(st.sampled_from([1, 3])), n)) < 0.8
    energy, total = np.empty((2, 3))
    flips = np.empty(3, dtype=np.int64)
    stages.weigh(states, before, fields, bias.astype(dtype), free, float(low), activation.both, energy, total, flips)
    exact = states.astype(np.float64)
    terms = activation.integral(torch.from_numpy(exact)).numpy() * free
    assert energy == pytest.approx(-0.5 * (exact * (fields.astype(np.float64) + bias.astype(dtype))).sum(axis=1))
    assert total == pytest.approx(terms.sum(axis=1), rel=1e-14, abs=1e-14)
    middle = 0.5 * (1 + low)
    assert flips.tolist() == ((states > middle) != (before > middle)).sum(axis=1).tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ACTIVATIONS)
@given(data=st.data())
def test_the_compiled_loop_answers_as_the_formulas_of_torch_do(name, dtype, data):
    layout = data.draw(st.sampled_from(LAYOUTS))
    activation, rng = activation_of(name, layout), np.random.default_rng(data.draw(st.integers(0, 999)))
    levels = torch.from_numpy(rng.normal(size=(3, layout.neurons))).to(dtype) * 10.0 ** data.draw(st.integers(-3, 4))
    gain = torch.from_numpy(10.0 ** rng.uniform(-2, 2, (data.draw(st.sampled_from([1, 3])), 1))).to(dtype)
    states, expected = activation.states(levels, gain), activation.by_torch(levels, gain)
    # The argument of the power is rounded, and so is torch's
    exponent = 1.0 + (levels * gain).abs().clamp(max=70.0).amax(dim=1, keepdim=True)
    allowed = 4 * torch.finfo(dtype).eps * exponent * expected.abs()
    assert bool(((states - expected).abs() <= allowed + 1.1e-20).all())
    assert float(states.abs().max()) <= 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_answers_are_right_to_the_last_bits(dtype):
    levels = np.concatenate([np.linspace(-66, 66, 4001), np.arange(-66, 67), np.arange(-66, 67) + 0.5]).astype(dtype)
    activation = ACTIVATIONS["logistic"](np.arange(len(levels) + 1), np.ones(len(levels), dtype=np.bool_))
    states = activation.states(torch.from_numpy(levels)[None], torch.ones(1, 1, dtype=torch.from_numpy(levels).dtype))
    exact = 1.0 / (1.0 + np.exp2(-levels.astype(np.longdouble)))
    assert (np.abs(states[0].numpy() - exact) <= 3 * np.finfo(dtype).eps * exact).all()
    assert (np.diff(states[0, :4001].numpy()) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_tanh_is_odd_and_right_to_the_last_bits_at_any_size(dtype):
    levels = np.concatenate([10.0 ** np.linspace(-30, 2, 2001), np.linspace(0, 70, 2001)]).astype(dtype)
    activation = ACTIVATIONS["tanh"](np.arange(len(levels) + 1), np.ones(len(levels), dtype=np.bool_))
    one = torch.ones(1, 1, dtype=torch.from_numpy(levels).dtype)
    up, down = (activation.states(torch.from_numpy(way * levels)[None], one)[0].numpy() for way in (1, -1))
    assert (up == -down).all()
    exact = np.tanh(levels.astype(np.longdouble) * np.log(np.longdouble(2)) / 2)
    assert (np.abs(up - exact) <= 3 * np.finfo(dtype).eps * exact).all()


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_level_without_number_has_no_state(name):
    activation = activation_of(name, LAYOUTS[0])
    levels = torch.full((1, LAYOUTS[0].neurons), torch.nan)
    assert bool(activation.states(levels, torch.ones(1, 1)).isnan().all())


@pytest.mark.parametrize("tableau", TABLEAUS.values(), ids=list(TABLEAUS))
def test_the_weights_of_fields_give_the_levels_that_forces_give_one_after_another(tableau):
    rng = np.random.default_rng(0)
    fields, start = rng.normal(size=len(tableau.nodes) + 1), rng.normal()
    size = np.array([0.01, 0.7, 3.0])
    found = np.empty((len(tableau.lines), len(size), len(tableau.lines)))
    stages.weights(size, tableau.lines, found)
    for r, h in enumerate(size):
        levels = [start]
        for line in tableau.weights:
            forces = [field - level for field, level in zip(fields, levels, strict=False)]
            levels.append(start + h * sum(a * force for a, force in zip(line, forces, strict=True)))
        error = h * sum(a * (field - u) for a, field, u in zip(tableau.error, fields, levels, strict=False))
        gaps = fields - start
        mine = (found[:, r] * np.tri(*found[:, r].shape)) @ gaps
        assert mine[:-1] == pytest.approx(np.array(levels[1:]) - start, rel=1e-12)
        assert mine[-1] == pytest.approx(error, rel=1e-9, abs=1e-14)
        assert not np.triu(found[:, r], 1).any()


@pytest.mark.parametrize("solver", ["dopri5", "rk4", "euler"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_compiled_passes_and_those_of_torch_flow_alike(name, solver, monkeypatch):
    network = {"logistic": EIGHT, "tanh": TANH, "softmax": SOFT}[name]
    rng = np.random.default_rng(1)
    cue = rng.integers(0, 2, (6, network.neurons)).astype(float)
    if name == "softmax":
        cue = np.eye(3)[rng.integers(0, 3, (6, 2))].reshape(6, 6)
    held = np.repeat(rng.random((6, network.neurons // 3)) < 0.4, 3, axis=1)
    held = np.pad(held, ((0, 0), (0, network.neurons - held.shape[1])))
    flow = bnn.GradientFlow(gain=(0.5, 3.0), anneal=2.0, solver=solver, activation=name, rtol=1e-6, atol=1e-6)
    cue = 2 * cue - 1 if network.low else cue
    traces = []
    for compiled in (True, False):
        if not compiled:
            monkeypatch.setattr(Solver, "on_cpu", False)
            monkeypatch.setattr(Activation, "states", lambda self, levels, gain: self.by_torch(levels, gain))
        traces.append(bnn.recall(network, cue, flow, clamp=held, input=0.3))
    mine, other = traces  # the same steps; what rounding makes of 1e-16 on the way to rest is far below these
    assert mine.outcome.tolist() == other.outcome.tolist()
    assert mine.sweeps.tolist() == other.sweeps.tolist()
    assert np.abs(mine.states - other.states).max() < 1e-9
    assert mine.lyapunov == pytest.approx(other.lyapunov, abs=1e-8)
    assert mine.times == pytest.approx(other.times, rel=1e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("solver", ["dopri5", "rk4"])
def test_opposite_cues_of_a_hopfield_network_end_in_opposite_states(solver, dtype):
    network = bnn.Network.of(np.outer(CUE[0] - 0.5, CUE[0] - 0.5) * (1 - np.eye(8)), low=-1, dtype=dtype)
    flow = bnn.GradientFlow(gain=(0.1, 4.0), anneal=20.0, solver=solver)
    there, back = bnn.recall(network, [2 * CUE[1] - 1, 1 - 2 * CUE[1]], flow).states
    assert (there == -back).all()


@pytest.mark.parametrize("solver", ["dopri5", "rk4"])
def test_what_cancels_in_a_field_keeps_no_row_from_settling(solver):
    """Thirty clamped neurons say -1000 bits each, the bias 30,000: a sum that rounds otherwise has no rest state."""
    rng = np.random.default_rng(1)
    weights = np.zeros((68, 68))
    weights[60:, 60:] = np.triu(rng.normal(size=(8, 8)) * 2, 1)
    weights[:60, 60:] = -1000.0
    bias = np.concatenate([np.zeros(60), 30_000.0 + rng.normal(size=8)])
    cues = np.zeros((20, 68))
    for cue in cues:
        cue[rng.permutation(60)[:30]] = 1.0
    cues[:, 60:] = rng.integers(0, 2, (20, 8))
    network = bnn.Network.of(np.triu(weights) + np.triu(weights, 1).T, bias, dtype=torch.float32)
    trace = bnn.recall(network, cues, bnn.GradientFlow(solver=solver), clamp=np.arange(68) < 60, max_sweeps=1000)
    assert set(trace.outcome) == {"settled"}


@pytest.mark.parametrize(("solver", "step"), [("dopri5", None), ("rk4", 3.5), ("euler", 3.0)])
def test_a_row_that_is_clamped_as_a_whole_waits_for_the_last_gain(solver, step):
    flow = bnn.GradientFlow(gain=(0.5, 3.0), anneal=9000.0, solver=solver, step=step, t_end=4e4)
    trace = bnn.recall(EIGHT, CUE, flow, clamp=np.repeat([[True], [False]], 8, axis=1))
    assert trace.outcome[0] == "settled"
    assert (trace.states[0] == CUE[0]).all()


def test_information_is_right_to_the_last_bits():
    rng = np.random.default_rng(0)
    for x in [*rng.random(500), *(1.0 + rng.random(500)), *10.0 ** rng.uniform(-20, 0, 500)]:
        exact = np.longdouble(x) * np.log2(np.longdouble(x))
        assert stages.information(x) == pytest.approx(float(exact), rel=1e-15)
    assert [stages.information(x) for x in (0.0, 0.5, 1.0, 2.0)] == [0.0, -0.5, 0.0, 2.0]


def test_the_extremes_of_activations_are_certainties_without_nan():
    layout = LAYOUTS[-1]
    levels = torch.tensor([[1e4, -1e4] * 3])[:, : layout.neurons]
    for name in ACTIVATIONS:
        activation = activation_of(name, layout)
        states = activation.states(levels, torch.ones(1, 1))
        assert torch.isfinite(states).all()
        assert torch.isfinite(activation.integral(states)).all()
    assert ACTIVATIONS["logistic"](layout.start, layout.single).states(levels, torch.ones(1, 1)).unique().tolist() == [
        0,
        1,
    ]


# --- Solvers ------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
EIGHT = random_network(RNG, 8)
TANH = random_network(RNG, 8, low=-1)
SOFT = random_network(RNG, 6, layout=bnn.Layout(bnn.Schema(tuple(bnn.Attribute(n, (1, 2, 3)) for n in "ab")), "values"))
CUE = (RNG.random((2, 8)) < 0.5).astype(float)


def reference(network, flow, cue, t_end):
    """The same equations by scipy at 1e-12: levels at t_end from the same start."""
    layout, name = network.layout, name_of(flow, network)
    weights, bias = network.weights.numpy(), network.bias.numpy()
    start = torch.from_numpy(bnn.recall(network, cue, flow, max_sweeps=1).start.copy())
    u0 = activation_of(name, layout).inverse(start)[0].numpy() / flow.gain

    def states(u):
        return np.array(oracles.plain_states(u, flow.gain, name, layout.attribute, layout.single))

    def slope(_, u):
        return (-u + weights @ states(u) + bias) / flow.tau

    solved = solve_ivp(slope, (0, t_end), u0, method="DOP853", rtol=1e-12, atol=1e-12)
    assert solved.success
    return states(solved.y[:, -1]), u0, slope


@pytest.mark.parametrize("network", [EIGHT, TANH, SOFT], ids=["logistic", "tanh", "softmax"])
@pytest.mark.parametrize(("solver", "order"), [("rk4", 4), ("euler", 1)])
def test_the_order_of_convergence_of_fixed_steps(network, solver, order):
    cue = CUE[0, : network.neurons]
    steps = [0.1, 0.05, 0.025]
    exact = reference(network, bnn.GradientFlow(gain=0.7, tau=2.0), cue, 2.0)[0]
    errors = []
    for step in steps:
        flow = bnn.GradientFlow(gain=0.7, tau=2.0, solver=solver, step=step, t_end=2.0, settle=0.0)
        trace = bnn.recall(network, cue, flow)
        assert trace.times[0, -1] == pytest.approx(2.0, abs=1e-12)
        errors.append(np.linalg.norm(trace.states[0] - exact))
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("network", [EIGHT, TANH, SOFT], ids=["logistic", "tanh", "softmax"])
def test_the_error_of_dopri5_follows_its_tolerance(network):
    cue = CUE[1, : network.neurons]
    exact = reference(network, bnn.GradientFlow(gain=0.7), cue, 3.0)[0]
    errors = []
    for tolerance in (1e-3, 1e-5, 1e-7, 1e-9):
        flow = bnn.GradientFlow(gain=0.7, rtol=tolerance, atol=tolerance, t_end=3.0, settle=0.0)
        errors.append(np.abs(bnn.recall(network, cue, flow).states[0] - exact).max())
        assert errors[-1] < 5 * tolerance
    assert np.polyfit([-3, -5, -7, -9], np.log10(errors), 1)[0] == pytest.approx(1.0, abs=0.3)


def test_dopri5_takes_the_steps_that_torchdiffeq_takes_to_the_same_end():
    flow = bnn.GradientFlow(gain=0.7, rtol=1e-6, atol=1e-6, t_end=4.0, settle=0.0)
    exact, u0, slope = reference(EIGHT, flow, CUE[0], 4.0)
    calls = []

    def equations(t, u):
        calls.append(t)
        return torch.from_numpy(slope(t, u.numpy()))

    solved = odeint(
        equations, torch.from_numpy(u0), torch.tensor([0.0, 4.0], dtype=torch.float64), rtol=1e-6, atol=1e-6
    )
    theirs = oracles.plain_states(solved[-1].tolist(), 0.7, "logistic", EIGHT.layout.attribute, EIGHT.layout.single)
    trace = bnn.recall(EIGHT, CUE[0], flow)
    assert trace.states[0] == pytest.approx(np.array(theirs), abs=1e-5)
    assert trace.states[0] == pytest.approx(exact, abs=1e-6)
    assert trace.sweeps[0] <= 1.3 * len(calls) / 6


def test_large_levels_do_not_hide_that_a_row_has_come_to_rest():
    """rtol |u| alone lets the states of undecided neurons wander for ever beside levels of hundreds of bits."""
    digits = bnn.datasets.load("mnist-100")[::10]
    network, cues = bnn.learn(digits, "hopfield"), bnn.corrupt(digits, flip=0.1, seed=0)
    for gain in (1.0, 4.0, 100.0):
        trace = bnn.recall(network, cues, bnn.GradientFlow(gain=gain), max_sweeps=200, check="raise")
        assert set(trace.outcome) == {"settled"}


def test_without_weights_the_levels_relax_exponentially():
    """u(t) = b + (u(0) - b) e^(-t/tau): an exact solution."""
    network = bnn.Network.of(np.zeros((2, 2)), bias=[1.5, -0.5])
    for solver in ("dopri5", "rk4"):
        flow = bnn.GradientFlow(tau=2.0, solver=solver, step=0.01, rtol=1e-10, atol=1e-10, t_end=3.0, settle=0.0)
        trace = bnn.recall(network, [[1, 0]], flow, record="states")
        u0 = np.log2(0.95 / 0.05) * np.array([1, -1])
        for t, states in zip(trace.times[0], trace.history[0], strict=True):
            u = network.bias.numpy() + (u0 - network.bias.numpy()) * np.exp(-t / 2.0)
            assert states == pytest.approx(1 / (1 + 2**-u), abs=1e-8)


def test_each_row_has_its_own_steps_and_stops_by_itself():
    network = random_network(np.random.default_rng(3), 40, size=1.0)
    cues = (np.random.default_rng(4).random((600, 40)) < 0.5).astype(float)
    trace = bnn.recall(network, cues, bnn.GradientFlow(rtol=1e-6, atol=1e-6, settle=1e-6), check="raise")
    assert set(trace.outcome) == {"settled"}
    assert len(set(trace.sweeps.tolist())) > 3
    for r in (0, 511, 599):  # in the first and the second solver's rows
        alone = bnn.recall(network, cues[r], trace.dynamics)
        assert alone.sweeps[0] == pytest.approx(trace.sweeps[r], abs=1)
        assert np.allclose(alone.states[0], trace.states[r], atol=1e-5)
        assert (trace.times[r, trace.sweeps[r] :] == trace.times[r, -1]).all()
        assert (trace.lyapunov[r, trace.sweeps[r] :] == trace.lyapunov[r, -1]).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("solver", SOLVERS)
def test_settled_rows_answer_their_own_field(solver, dtype):
    rng = np.random.default_rng(5)
    network = random_network(rng, 200, size=0.3, dtype=dtype)  # more than one block
    cues = (rng.random((20, 200)) < 0.5).astype(float)
    flow = bnn.GradientFlow(gain=2.0, solver=solver, settle=1e-3)
    trace = bnn.recall(network, cues, flow, check="raise")
    assert set(trace.outcome) == {"settled"}
    answer = 1 / (1 + 2.0 ** (-2.0 * network.field(trace.states).double().numpy()))
    assert np.abs(answer - trace.states).max() <= 1e-3 + 1e-4 * (dtype == torch.float32)
    assert trace.states.dtype == (np.float32 if dtype == torch.float32 else np.float64)


def test_descent_is_the_sequential_relaxation_unit_by_unit():
    """V_j <- V_j + (1 - e^(-step/tau)) (g(h_j) - V_j), each knowing what those before it have become."""
    for network in (SOFT, TANH, random_network(np.random.default_rng(6), 150, size=0.3, self_weights=True)):
        flow = bnn.GradientFlow(gain=0.8, solver="descent", step=0.7, tau=2.0, settle=0.0)
        cue = (np.random.default_rng(7).random(network.neurons) < 0.5).astype(float)
        trace = bnn.recall(network, cue, flow, record="states", max_sweeps=3)
        layout, name = network.layout, name_of(flow, network)
        states, weights = trace.history[0, 0].copy(), network.weights.numpy()
        units = layout.attribute if name == "softmax" else np.arange(network.neurons)
        for step in range(3):
            for unit in range(units.max() + 1):
                mine = units == unit
                levels = weights @ states + network.bias.numpy()
                answer = np.array(oracles.plain_states(levels, 0.8, name, layout.attribute, layout.single))
                states[mine] += (1 - np.exp(-0.7 / 2.0)) * (answer - states)[mine]
            assert trace.history[0, step + 1] == pytest.approx(states, abs=1e-9)
            assert trace.times[0, step + 1] == pytest.approx(0.7 * (step + 1))


# --- The free energy ----------------------------------------------------------------------------------------------


@st.composite
def flows(draw, solvers=SOLVERS):
    """A random symmetric network, a flow on it, and cues with unknown and clamped attributes."""
    layout = draw(st.sampled_from(LAYOUTS))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    activation = draw(st.sampled_from(sorted(ACTIVATIONS)))
    gain, tau, solver = (draw(st.sampled_from(some)) for some in ([0.1, 0.5, 1, 4.0], [1, 3.0], solvers))
    size, low = draw(st.sampled_from([0.5, 2.0, 8.0])), -1 if activation == "tanh" else 0
    within = layout if activation == "softmax" else None
    with unchecked():
        network = random_network(rng, layout.neurons, low, within, self_weights=within is None, size=size)
        flow = bnn.GradientFlow(gain, tau, solver, activation=activation)
    rows = draw(st.integers(1, 3))
    cues = (rng.random((rows, layout.neurons)) < 0.5).astype(float)
    if within is not None:  # a clamped attribute is a distribution
        for first, last in zip(layout.start[:-1], layout.start[1:], strict=True):
            if last - first > 1:
                cues[:, first:last] = rng.dirichlet(np.ones(last - first), rows)
    else:
        cues = np.where(rng.random(cues.shape) < 0.3, rng.random(cues.shape), cues)
    unknown = rng.random((rows, len(layout.schema.names))) < 0.3
    cues[unknown[:, layout.attribute]] = np.nan
    held = (rng.random(len(layout.schema.names)) < 0.3)[layout.attribute]
    external = rng.normal(size=layout.neurons)
    return network, flow, cues, held, external


@settings(max_examples=60)
@given(drawn=flows())
def test_the_free_energy_is_that_of_the_states_and_falls(drawn):
    network, flow, cues, held, external = drawn
    trace = bnn.recall(network, cues, flow, clamp=held, input=external, record="states", max_sweeps=40, check="raise")
    bias = np.broadcast_to(network.bias.numpy() + np.rint(external / network.grid) * network.grid, cues.shape)
    values = oracle_free_energy(trace, bias, np.broadcast_to(~held, cues.shape))
    assert trace.lyapunov == pytest.approx(values, rel=1e-9, abs=1e-9)
    assert trace.descent.holds
    assert np.diff(values, axis=1).max(initial=0.0) <= trace.descent.tolerance + 1e-9
    for r, t in np.ndindex(trace.energy.shape):
        energy = oracles.plain_energy(network.weights.tolist(), bias[r], trace.history[r, t].tolist())
        assert trace.energy[r, t] == pytest.approx(energy, rel=1e-9, abs=1e-9)
    if flow.solver == "descent":  # no solver's error to excuse a rise
        assert np.diff(values, axis=1).max(initial=0.0) <= 1e-9
    silent = np.isnan(cues) & held
    known = ~np.isnan(cues) & held
    assert (trace.states[silent] == 0.0).all()
    given_states = np.nan_to_num(cues) * (1 - network.low) + network.low
    assert trace.states[known] == pytest.approx(given_states[known], abs=1e-12)
    assert (trace.history[:, :, held] == trace.history[:, :1, held]).all()


@pytest.mark.parametrize("step", [0.1, 1.0, 10.0, 100.0])
@settings(max_examples=15)
@given(drawn=flows(solvers=("descent",)))
def test_coordinate_descent_never_rises_at_any_step(step, drawn):
    network, flow, cues, held, external = drawn
    flow = bnn.GradientFlow(flow.gain, flow.tau, "descent", step=step * flow.tau, activation=flow.activation)
    trace = bnn.recall(network, cues, flow, clamp=held, input=external, max_sweeps=60, check="raise")
    assert trace.descent.guaranteed
    assert np.diff(trace.lyapunov, axis=1).max(initial=0.0) <= trace.descent.tolerance < 1e-10


def test_coordinate_descent_needs_what_it_says_it_needs():
    """Kept counter-examples: each missing hypothesis, and the rise it lets through."""
    negative = bnn.Network.of([[-8.0]], bias=[2.0])
    trace = bnn.recall(negative, [[0]], bnn.GradientFlow(gain=4.0, solver="descent"), max_sweeps=20)
    assert "self-connection of 'x0' is negative" in trace.descent.reason
    assert trace.descent.largest_rise > 0.1
    layout = bnn.Layout(bnn.Schema((bnn.Attribute("a", (1, 2, 3)),)), "values")
    flow = bnn.GradientFlow(gain=4.0, solver="descent", blur=1e-3)
    friendly = bnn.Network.of(6.0 * (1 - np.eye(3)), layout=layout)
    trace = bnn.recall(friendly, [[1, 0, 0]], flow, max_sweeps=20)
    assert "between the values of 'a' bend E upwards" in trace.descent.reason
    assert trace.descent.largest_rise > 1.0
    # Values that exclude each other: along changes that sum to zero -6 (1 - I) is 6 I, so nothing can overshoot
    for weights in (-6.0 * (1 - np.eye(3)), 6.0 * np.eye(3)):
        for cue in ([0.5, 0.3, 0.2], [1, 0, 0], [0.4, 0.4, 0.2]):
            trace = bnn.recall(bnn.Network.of(weights, layout=layout), [cue], flow, check="raise")
            assert trace.descent.guaranteed
            assert trace.descent.largest_rise < 1e-12


def test_asymmetric_weights_promise_nothing_and_rises_are_seen():
    weights = np.array([[0.0, 6.0], [-6.0, 0.0]])
    network = bnn.Network.of(weights, bias=[-3.0, 3.0])
    for solver in SOLVERS:
        trace = bnn.recall(network, [[1, 1]], bnn.GradientFlow(gain=4.0, solver=solver), max_sweeps=100)
        assert not trace.descent.guaranteed
        assert "asymmetric" in trace.descent.reason
        assert trace.descent.largest_rise > 0.1
        assert not trace.descent.holds


@settings(max_examples=30)
@given(data=st.data())
def test_euler_descends_up_to_its_bound(data):
    """step/tau = min(1, 2 / (1 + steepest * gain * max(0, -smallest eigenvalue)))."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    low = data.draw(st.sampled_from([0, -1]))
    network, gain = random_network(rng, 6, low, size=4.0), data.draw(st.sampled_from([0.3, 1.0, 5.0]))
    steepest = LN2 / 2 if low else LN2 / 4
    least = float(np.linalg.eigvalsh(network.weights.numpy())[0])
    bound = min(1.0, 2.0 / (1.0 + gain * steepest * max(0.0, -least)))
    cues = (rng.random((4, 6)) < 0.5).astype(float)
    flow = bnn.GradientFlow(gain, 2.0, "euler", step=bound * 2.0 * (1 - 1e-9))
    trace = bnn.recall(network, cues, flow, max_sweeps=100, check="raise")
    assert trace.descent.guaranteed
    assert np.diff(trace.lyapunov, axis=1).max(initial=0.0) <= 1e-9
    beyond = bnn.GradientFlow(gain, 2.0, "euler", step=bound * 2.0 * 1.01)
    assert not beyond.guarantee(network).holds
    assert "up to which euler is sure" in beyond.guarantee(network).reason


def test_euler_beyond_its_bound_may_rise():
    network = bnn.Network.of([[0.0, -20.0], [-20.0, 0.0]], bias=[10.0, 10.0])
    trace = bnn.recall(network, [[1, 1]], bnn.GradientFlow(gain=2.0, solver="euler", step=1.0), max_sweeps=30)
    assert not trace.descent.guaranteed
    assert trace.descent.largest_rise > 1.0


def test_the_energy_without_its_integral_does_rise():
    rose = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        network = random_network(rng, 10, size=1.0)
        trace = bnn.recall(
            network, (rng.random((4, 10)) < 0.5).astype(float), check="raise", dynamics=bnn.GradientFlow()
        )
        rose += int((np.diff(trace.energy, axis=1).max(axis=1) > 1e-3).sum())
        assert np.diff(trace.lyapunov, axis=1).max() <= 1e-6
    assert rose > 5


def test_softmax_with_a_two_sided_integral_would_rise():
    rng = np.random.default_rng(1)
    rises = []
    for _ in range(20):
        network = random_network(rng, 6, layout=SOFT.layout)
        trace = bnn.recall(network, rng.dirichlet(np.ones(3), 2).reshape(1, 6), bnn.GradientFlow(), record="states")
        other = 1.0 - trace.history[0]
        wrong = trace.lyapunov[0] + np.where(other > 0, other * np.log2(np.maximum(other, 1e-300)), 0.0).sum(axis=1)
        rises.append(np.diff(wrong).max(initial=0.0) > 1e-6)
    assert sum(rises) >= 5


def test_free_energy_is_energy_minus_temperature_times_entropy():
    trace = bnn.recall(EIGHT, CUE, bnn.GradientFlow(gain=2.0), record="states")
    v = trace.history
    entropy = -(v * np.log2(v) + (1 - v) * np.log2(1 - v)).sum(axis=2)
    assert trace.lyapunov == pytest.approx(trace.energy - entropy / 2.0)
    assert trace.lyapunov_name == "free energy"


# --- The papers' equations ----------------------------------------------------------------------------------------

SEVEN = bnn.Records.from_patterns(
    [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 1], [0, 0, 0, 1]]
)
SOFT_STATES = np.array([[0.2, 0.7, 0.5, 0.9], [1.0, 0.0, 0.25, 0.6]])


def ratios(m=2.0):
    """Q(j,i) of presence and Z(j,i; x,y), by counting."""
    n = 4
    cells = {
        (j, i): oracles.four_cells(SEVEN, bnn.Layout(SEVEN.schema, "on"), j, i)
        for j in range(n)
        for i in range(n)
        if i != j
    }

    def z(j, i, x, y):
        return float(oracles.joint_ratio(cells[j, i], bool(x), bool(y), m))

    return z


def test_equations_9_and_10_of_expected_information():
    """[B eq 9] log2 P(j | V) = log2 P(j) + sum of V(i) log2 Q(j,i); [B eq 10] the product of Q(j,i)^V(i)."""
    network, z = bnn.learn(SEVEN, "probability"), ratios()
    for row, fields in zip(SOFT_STATES, network.field(SOFT_STATES).tolist(), strict=True):
        for j in range(4):
            product = np.prod([z(j, i, 1, 1) ** row[i] for i in range(4) if i != j])
            assert 2.0 ** fields[j] == pytest.approx(product, rel=1e-6)
            prior = (SEVEN.codes[:, j] == 1).mean()
            support = 2.0 ** (fields[j] + float(network.prior_bias[j]))
            assert support == pytest.approx(prior * product, rel=1e-6)


def test_equation_13_of_generalised_similarity():
    """[B eq 13] Sim = product over j of (P(j | V) / P(j))^V(j), so log2 Sim = V' W V."""
    network = bnn.learn(SEVEN, "probability")
    fields = network.field(SOFT_STATES).numpy()
    assert network.log_similarity(SOFT_STATES).numpy() == pytest.approx((SOFT_STATES * fields).sum(axis=1))
    assert network.energy(SOFT_STATES).numpy() == pytest.approx(-0.5 * (SOFT_STATES * fields).sum(axis=1))


def test_equations_23_24_and_26_of_expected_weight_of_evidence():
    """[B eq 23] V log2 Z11/Z01 + (1-V) log2 Z10/Z00; [B eq 24] odds, a product of powers; [B eq 26] as T = -log2 Z."""
    network, z = bnn.learn(SEVEN, "odds"), ratios()
    for row, fields in zip(SOFT_STATES, network.field(SOFT_STATES).tolist(), strict=True):
        for j in range(4):
            others = [i for i in range(4) if i != j]
            odds = np.prod(
                [
                    (z(j, i, 1, 1) / z(j, i, 0, 1)) ** row[i] * (z(j, i, 1, 0) / z(j, i, 0, 0)) ** (1 - row[i])
                    for i in others
                ]
            )
            assert 2.0 ** fields[j] == pytest.approx(odds, rel=1e-6)
            prior = (SEVEN.codes[:, j] == 1).mean()
            assert 2.0 ** (fields[j] + float(network.prior_bias[j])) == pytest.approx(
                prior / (1 - prior) * odds, rel=1e-6
            )


def log_similarity_25(z, row):
    """[B eq 25] product over j of (P(1|V)/P(1))^V(j) (P(0|V)/P(0))^(1-V(j)), each ratio a product of Z to powers."""
    total = 0.0
    for j in range(4):
        for x, weight in ((1, row[j]), (0, 1 - row[j])):
            total += weight * sum(
                row[i] * np.log2(z(j, i, x, 1)) + (1 - row[i]) * np.log2(z(j, i, x, 0)) for i in range(4) if i != j
            )
    return total


def test_equation_25_of_generalised_similarity():
    network, z = bnn.learn(SEVEN, "odds"), ratios()
    for row, value in zip(SOFT_STATES, network.log_similarity(SOFT_STATES).tolist(), strict=True):
        assert value == pytest.approx(log_similarity_25(z, row), rel=1e-6)


def test_equations_27_to_30_of_the_convergence_argument():
    """[B eq 29] E1 = -log2 of eq 25 / 2 with the inputs; [B eq 30] dE1/dV(j) = -A(j), the field; [B eq 27] follows.

    With T symmetric, dE1/dt = sum of dE1/dV dV/dt; only the free energy, with the integral, falls along the flow.
    """
    network, z = bnn.learn(SEVEN, "odds"), ratios()
    row, h = SOFT_STATES[0], 1e-5
    fields = network.field(row).numpy()[0]
    for j in range(4):
        up, down = (row + s * h * np.eye(4)[j] for s in (1, -1))
        slope = -(log_similarity_25(z, up) - log_similarity_25(z, down)) / (4 * h)
        assert slope == pytest.approx(-fields[j], rel=1e-5, abs=1e-8)
        assert float((network.energy(up) - network.energy(down)) / (2 * h)) == pytest.approx(-fields[j], rel=1e-5)


def test_with_gain_one_and_the_prior_the_odds_network_ends_in_the_odds_posterior():
    network = bnn.learn(SEVEN, "odds")
    cue = np.array([[np.nan, 1.0, 0.0, 1.0], [np.nan, 0.0, 1.0, 1.0]])
    for solver in SOLVERS:
        flow = bnn.GradientFlow(gain=1.0, solver=solver, rtol=1e-10, atol=1e-10, settle=1e-10)
        trace = bnn.recall(network, cue, flow, clamp="known", input="prior", check="raise")
        for r, evidence in enumerate(cue[:, 1:]):
            named = dict(zip(("x1", "x2", "x3"), evidence.astype(int).tolist(), strict=True))
            assert trace.states[r, 0] == pytest.approx(float(oracles.odds_posterior(SEVEN, "x0", named, 2)), abs=1e-8)
        assert (trace.states[:, 1:] == cue[:, 1:]).all()


@given(source=pattern_records(gaps=True, max_rows=8, max_neurons=5), seed=st.integers(0, 99))
def test_the_odds_posterior_with_clamped_gaps_is_that_of_what_is_known(source, seed):
    network = bnn.learn(source, "odds")
    unknown = np.random.default_rng(seed).random(network.neurons) < 0.4
    unknown[0] = True
    cue = np.where(unknown, np.nan, 1.0)
    flow = bnn.GradientFlow(rtol=1e-9, atol=1e-9, settle=1e-9)
    clamp = np.arange(network.neurons) > 0
    trace = bnn.recall(network, cue, flow, clamp=clamp, input="prior", check="raise")
    odds = network.bias_for(torch.from_numpy(unknown[None]))[0] + network.prior_bias
    odds = odds + network.weights @ torch.from_numpy(np.nan_to_num(cue))
    assert trace.states[0, 0] == pytest.approx(1 / (1 + 2.0 ** -float(odds[0])), abs=1e-7)


def test_under_softmax_the_probability_network_ends_in_the_odds_posterior_of_a_class():
    """Gain 1, evidence clamped, the prior as input: P(c) times the product of Q, normalised over classes [B eq 1]."""
    zoo = bnn.datasets.load("zoo")
    network = bnn.learn(zoo, "probability")
    cue = zoo.codes[[3, 40]].copy()
    cue[:, -1] = -1
    asked = bnn.Records(cue, zoo.schema)
    flow = bnn.GradientFlow(rtol=1e-9, atol=1e-9, settle=1e-9)
    trace = bnn.recall(network, asked, flow, clamp="known", input="prior", check="raise")
    mine = network.layout.neurons_of("class")
    states = np.nan_to_num(network.encode(asked).astype(float))
    scores = states @ network.weights.numpy()[:, mine] + network.prior_bias.numpy()[mine]
    posterior = np.exp2(scores - np.logaddexp2.reduce(scores, axis=1, keepdims=True))
    assert trace.states[:, mine] == pytest.approx(posterior, abs=1e-7)
    assert trace.decode()["class"].to_pylist() == [zoo.schema["class"].values[c] for c in zoo.codes[[3, 40], -1]]


# --- Cues ---------------------------------------------------------------------------------------------------------


def test_a_row_starts_inside_its_cue_and_unknown_attributes_at_their_priors():
    network = bnn.learn(SEVEN, "odds")
    cue = [[1.0, 0.0, 0.3, np.nan], [0.99, 0.01, 0.5, 1.0]]
    trace = bnn.recall(network, cue, bnn.GradientFlow(blur=0.05), max_sweeps=1)
    prior = (SEVEN.codes[:, 3] == 1).mean()
    assert trace.start == pytest.approx(np.array([[0.95, 0.05, 0.3, prior], [0.95, 0.05, 0.5, 0.95]]))
    assert trace.cues.tolist() == [[1.0, 0.0, 0.3, 0.0], [0.99, 0.01, 0.5, 1.0]]
    signed = bnn.learn(SEVEN, "hopfield")
    trace = bnn.recall(signed, [[1.0, 0.0, 0.3, np.nan]], bnn.GradientFlow(), max_sweeps=1)
    assert trace.start == pytest.approx(np.array([[0.9, -0.9, -0.4, 2 * prior - 1]]))
    assert bnn.recall(signed, [[1, -1, -1, 1]], bnn.GradientFlow(), max_sweeps=1).start[0, 1] == pytest.approx(-0.9)


def test_under_softmax_a_known_value_starts_blur_from_certainty_however_many_there_are():
    layout = bnn.Layout(bnn.Schema((bnn.Attribute("a", tuple(range(200))), bnn.Attribute("b", (1, 2)))), "values")
    network = bnn.Network.of(np.zeros((202, 202)), layout=layout)
    cue = np.zeros((3, 202))
    cue[0, [7, 200]], cue[1, [3, 4, 201]] = 1, 1
    start = bnn.recall(network, cue, bnn.GradientFlow(), max_sweeps=1).start
    assert start[0, 7] == pytest.approx(0.95)
    assert start[0, 200:].tolist() == pytest.approx([0.95, 0.05])
    assert start[1, 3:5].tolist() == pytest.approx([0.475125, 0.475125], abs=1e-5)  # two values are equally likely
    assert start[2] == pytest.approx(np.r_[np.full(200, 1 / 200), 0.5, 0.5])  # no value is an unknown one
    assert start.sum(axis=1) == pytest.approx(2.0)


def test_in_the_odds_form_every_value_has_odds_of_its_own():
    """[B appendix]: a k-valued target is k binary ones; their posteriors need not sum to one."""
    zoo = bnn.datasets.load("zoo")
    network = bnn.learn(zoo, "odds")
    cue = network.encode(zoo[[3]])
    mine = network.layout.neurons_of("class")
    cue[:, mine] = np.nan
    flow = bnn.GradientFlow(rtol=1e-9, atol=1e-9, settle=1e-9)
    trace = bnn.recall(network, cue, flow, clamp="known", input="prior", check="raise")
    odds = network.field(cue)[0, mine] + network.prior_bias[mine]
    odds = odds + (network.evidence[-1] if network.evidence is not None else 0)[mine]  # the class itself is not silent
    inner = network.weights[mine][:, mine]
    assert not inner.any()
    assert trace.states[0, mine] == pytest.approx((1 / (1 + torch.exp2(-odds))).numpy(), abs=1e-7)


def test_a_distribution_over_the_values_of_an_attribute_is_a_cue():
    zoo = bnn.datasets.load("zoo")
    network = bnn.learn(zoo, "probability")
    cue = network.encode(zoo[[3]]).astype(float)
    legs, kind = network.layout.neurons_of("legs"), network.layout.neurons_of("class")
    cue[:, kind] = np.nan
    cue[0, legs] = np.full(len(legs), 1 / len(legs))
    trace = bnn.recall(network, cue, bnn.GradientFlow(), clamp="known", input="prior", check="raise")
    assert trace.states[0, legs] == pytest.approx(np.full(len(legs), 1 / len(legs)))
    assert trace.states[0, kind].sum() == pytest.approx(1.0)
    free = bnn.recall(network, cue, bnn.GradientFlow(solver="descent"), input="prior", check="raise")
    by_attribute = np.add.reduceat(free.states[0], network.layout.start[:-1])
    assert by_attribute[~network.layout.single] == pytest.approx(1.0)


def test_expected_information_of_a_soft_cue_is_the_mean_over_what_it_may_be():
    network = bnn.learn(SEVEN, "odds")
    sure = network.field([[1, 0, 1, 1], [0, 0, 1, 1]]).numpy()
    soft = network.field([[0.3, 0, 1, 1]]).numpy()
    assert soft[0] == pytest.approx(0.3 * sure[0] + 0.7 * sure[1])
    assert network.decode([[0.3, 0.6, np.nan, 1.0]]).to_pylist() == [{"x0": 0, "x1": 1, "x2": None, "x3": 1}]


def test_graded_states_are_told_as_the_nearest_discrete_ones():
    trace = bnn.recall(SOFT, [[1, 0, 0, 0, 1, 0]], bnn.GradientFlow(gain=0.01))
    assert (trace.states < 0.5).all()  # blurred: none of three values is likelier than all others together
    best = trace.states[0].reshape(2, 3).argmax(axis=1)
    assert trace.discrete[0].reshape(2, 3).argmax(axis=1).tolist() == best.tolist()
    assert trace.discrete.sum() == 2
    assert trace.decode().to_pylist() == [{"a": int(best[0]) + 1, "b": int(best[1]) + 1}]
    digits = bnn.datasets.load("mnist-100")[::10]
    network = bnn.learn(digits, "odds")
    cues = bnn.corrupt(digits, flip=0.1, seed=0)
    graded = bnn.recall(network, cues, bnn.GradientFlow(), check="raise")
    assert graded.match(digits).word.tolist() == ["stored"] * 10
    assert np.array_equal(graded.discrete, bnn.recall(network, cues, seed=0).states)
    assert graded.final.dtype == np.float32


@settings(max_examples=25)
@given(data=st.data())
def test_at_a_high_gain_rest_states_are_fixed_points_of_the_discrete_network(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    low = data.draw(st.sampled_from([0, -1]))
    network = random_network(rng, 6, low)
    cues = (rng.random((5, 6)) < 0.5).astype(float)
    trace = bnn.recall(network, cues, bnn.GradientFlow(gain=1e4, solver="descent"), check="raise")
    known = {tuple(point) for point in bnn.fixed_points(network).tolist()}
    sure = np.abs(trace.states - trace.discrete).max(axis=1) < 1e-6
    assert sure.any()
    assert {tuple(state) for state in trace.discrete[sure].tolist()} <= known


def test_at_a_low_gain_everything_flows_into_one_blurred_state():
    network = random_network(np.random.default_rng(8), 10)
    cues = (np.random.default_rng(9).random((20, 10)) < 0.5).astype(float)
    states = bnn.recall(network, cues, bnn.GradientFlow(gain=0.02, settle=1e-7), check="raise").states
    assert np.abs(states - states[0]).max() < 1e-5
    assert np.abs(states - 0.5).max() < 0.2


# --- Rising gain --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_while_the_gain_rises_the_guarantee_is_suspended_and_marked(solver):
    flow = bnn.GradientFlow(gain=(0.05, 4.0), anneal=10.0, solver=solver, step=None if solver == "dopri5" else 0.1)
    trace = bnn.recall(EIGHT, CUE, flow, record="states", check="raise")
    assert set(trace.outcome) == {"settled"}
    assert trace.suspended.any(axis=1).all()
    for r in range(2):
        rising = np.flatnonzero(trace.suspended[r])
        assert (trace.times[r, rising - 1] < 10.0).all()
        assert trace.times[r, rising[-1]] == pytest.approx(10.0)  # a step ends with the change,
        assert (trace.times[r] > 10.0 + 1e-9).any()  # and at least one more is judged
        fixed = np.flatnonzero(~trace.suspended[r])[1:]
        assert (np.diff(trace.lyapunov[r])[fixed - 1] <= trace.descent.tolerance).all()
        early = int(np.flatnonzero((trace.times[r] > 3.0) & (trace.times[r] < 9.0))[0])
        gain = 0.05 * (4.0 / 0.05) ** (trace.times[r, early] / 10.0)
        entropy = oracles.entropy_term(
            trace.history[r, early].tolist(), gain, "logistic", EIGHT.layout.attribute, EIGHT.layout.single, [True] * 8
        )
        assert trace.lyapunov[r, early] == pytest.approx(trace.energy[r, early] + entropy)
    assert "once the gain is at its last value" in trace.descent.reason
    still = bnn.recall(bnn.Network.of(np.zeros((3, 3))), [[0.5] * 3], flow)  # the clock runs though nothing moves
    assert still.outcome.tolist() == ["settled"]
    assert still.times[0, -1] >= 10.0 - 1e-9
    assert not still.suspended[:, -1].any() or solver == "descent"
    assert bnn.recall(EIGHT, CUE, bnn.GradientFlow()).suspended is None


# --- Odd input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gain": 0.0}, r"GradientFlow\.gain: got 0\.0; give a number above 0, up to 1e30\."),
        ({"gain": -1}, r"GradientFlow\.gain: got -1"),
        ({"gain": float("nan")}, r"GradientFlow\.gain: got nan"),
        ({"gain": (1.0, 0.0), "anneal": 1.0}, r"GradientFlow\.gain: got \(1\.0, 0\.0\)"),
        (
            {"gain": (1.0, 2.0)},
            r"GradientFlow\.anneal: got 0\.0 with gain \(1\.0, 2\.0\); a changing gain takes a pair",
        ),
        ({"anneal": 5.0}, r"GradientFlow\.anneal: got 5\.0 with gain 1\.0; a changing gain takes a pair"),
        ({"tau": 0.0}, r"GradientFlow\.tau: got 0\.0; give a number above 0"),
        ({"tau": float("inf")}, r"GradientFlow\.tau: got inf"),
        ({"rtol": 0.0}, r"GradientFlow\.rtol: got 0\.0; give a number above 0, up to 0\.01: coarser steps would leave"),
        ({"rtol": 0.1}, r"GradientFlow\.rtol: got 0\.1"),
        ({"atol": -1e-3}, r"GradientFlow\.atol: got -0\.001"),
        ({"step": 0.0}, r"GradientFlow\.step: got 0\.0"),
        ({"t_end": 0.0}, r"GradientFlow\.t_end: got 0\.0; give a number above 0"),
        ({"t_end": -3}, r"GradientFlow\.t_end: got -3"),
        ({"settle": -1.0}, r"GradientFlow\.settle: got -1\.0; give a number from 0 to 1\."),
        ({"blur": 0.5}, r"GradientFlow\.blur: got 0\.5; give a number from 1e-6 to below 0\.5\."),
        ({"solver": "dopri"}, r"GradientFlow\.solver: there is no 'dopri'; did you mean 'dopri5'\?"),
        ({"activation": "relu"}, r"GradientFlow\.activation: there is no 'relu'"),
    ],
)
def test_parameters_that_cannot_be(options, sentence):
    with pytest.raises(DataError, match=sentence):
        bnn.GradientFlow(**options)


def test_parameters_of_another_type():
    for name in ("gain", "tau", "step", "settle", "blur"):
        with unchecked(), pytest.raises(DataError, match=rf"GradientFlow\.{name}: got 'a'"):
            bnn.GradientFlow(**{name: "a"})
        with unchecked(), pytest.raises(DataError, match=rf"GradientFlow\.{name}: got True"):
            bnn.GradientFlow(**{name: True})
    with (
        unchecked(),
        pytest.raises(DataError, match=r"GradientFlow\.gain: got \(1\.0, 2\.0, 3\.0\); give one number, or"),
    ):
        bnn.GradientFlow(gain=(1.0, 2.0, 3.0))


@pytest.mark.parametrize(
    ("network", "arguments", "sentence"),
    [
        (
            TANH,
            {"dynamics": bnn.GradientFlow(activation="logistic")},
            r"the activation 'logistic' has states from 0 to 1, and",
        ),
        (
            EIGHT,
            {"dynamics": bnn.GradientFlow(activation="tanh")},
            r"this network from 0 to 1; use activation='logistic'",
        ),
        (EIGHT, {"record": "flips"}, r"recall\.record: graded neurons have no single flips; record=\"states\""),
        (EIGHT, {"backend": "compiled"}, r"recall\.backend: graded neurons have no compiled twin"),
        (EIGHT, {"input": np.nan}, r"recall\.input: got nan at 'x0'"),
        (EIGHT, {"max_sweeps": 0}, r"recall\.max_sweeps: got 0"),
    ],
)
def test_recalls_that_cannot_be(network, arguments, sentence):
    arguments = {"dynamics": bnn.GradientFlow(), **arguments}
    with pytest.raises(DataError, match=sentence):
        bnn.recall(network, CUE, **arguments)


def test_cues_that_cannot_be():
    with pytest.raises(DataError, match=r"recall\.cues: row 0, neuron 'x1' is -1\.0 beside fractions; where there are"):
        bnn.recall(EIGHT, [[0.5, -1] + [0] * 6], bnn.GradientFlow())
    with pytest.raises(DataError, match=r"recall\.cues: row 0, neuron 'x1' is 7\.0"):
        bnn.recall(EIGHT, [[0.5, 7] + [0] * 6], bnn.GradientFlow())
    with pytest.raises(
        DataError, match=r"recall\.cues: there are fractions, and neurons of Asynchronous are on or off;"
    ):
        bnn.recall(EIGHT, [[0.5] * 8])
    with pytest.raises(DataError, match=r"Trace\.match\.patterns: row 0, neuron 'x0' is 0\.5"):
        bnn.recall(EIGHT, CUE, bnn.GradientFlow()).match([[0.5] * 8])
    with pytest.raises(
        DataError, match=r"recall\.cues: in row 0 the values of 'b', clamped, sum to 0\.5; under softmax they"
    ):
        bnn.recall(SOFT, [[1, 0, 0, 0.5, 0, 0]], bnn.GradientFlow(), clamp=["b"])
    with pytest.raises(DataError, match=r"recall\.clamp: only some neurons of 'a' are clamped; softmax clamps whole"):
        bnn.recall(SOFT, [[1, 0, 0, 0, 1, 0]], bnn.GradientFlow(), clamp=[True, False, False, False, False, False])


def test_a_flow_that_cannot_go_on_ends_with_a_word():
    stiff = bnn.Network.of([[0.0, -1e9], [-1e9, 0.0]], bias=[5e8, 5e8])
    exploding = bnn.recall(stiff, [[1, 1]], bnn.GradientFlow(solver="euler", step=1e3, t_end=1e9, settle=0.0))
    assert exploding.outcome.tolist() == ["stalled"]
    assert np.isfinite(exploding.states).all()
    assert np.isfinite(exploding.lyapunov).all()
    fine = bnn.GradientFlow(gain=1e6, rtol=1e-14, atol=1e-14, settle=0.0)
    trace = bnn.recall(stiff, [[1, 1], [1, 0]], fine, max_sweeps=300)
    assert np.isfinite(trace.lyapunov).all()
    assert bnn.recall(stiff, [[1, 0]], bnn.GradientFlow(gain=1e6, solver="descent")).outcome.tolist() == ["settled"]


def test_gains_beyond_the_range_of_the_dtype_do_not_overflow():
    layout = bnn.Layout(bnn.Schema((bnn.Attribute("a", (1, 2, 3)), bnn.Attribute("b", (1, 2, 3)))), "values")
    weights = np.zeros((6, 6))
    weights[:3, 3:] = weights[3:, :3] = 1e30 * np.eye(3)
    network = bnn.Network.of(weights, layout=layout, dtype=torch.float32)
    for solver in SOLVERS:
        trace = bnn.recall(network, [[1, 0, 0, 0, 1, 0]], bnn.GradientFlow(gain=1e12, solver=solver), max_sweeps=200)
        assert np.isfinite(trace.states).all()
    settled = bnn.recall(network, [[1, 0, 0, 0, 1, 0]], bnn.GradientFlow(gain=1e12, solver="descent"), check="raise")
    assert settled.outcome.tolist() == ["settled"]
    assert settled.discrete.tolist() in ([[1, 0, 0, 1, 0, 0]], [[0, 1, 0, 0, 1, 0]])


# --- The verdict --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("low", [0, -1])
def test_the_verdict_does_not_cry_wolf(dtype, low):
    for size in (1e-12, 1e-6, 1.0, 1e4):
        for gain in (1e-6, 1e-2, 1.0, 1e3):
            network = random_network(np.random.default_rng(9), 8, low, size=size, dtype=dtype)
            for solver in SOLVERS:
                flow = bnn.GradientFlow(gain=gain, solver=solver)
                if flow.guarantee(network).holds:
                    bnn.recall(network, CUE, flow, max_sweeps=50, check="raise")
    two = bnn.Network.of([[0, 0.5], [0.5, 0]], bias=[0.1, -0.1], dtype=dtype)
    bnn.recall(two, [[1, 1], [0, 0], [1, 0]], bnn.GradientFlow(gain=0.1, solver="rk4"), check="raise")


def test_the_verdict_of_a_learned_network_with_many_equal_weights():
    digits = bnn.datasets.load("mnist-100")[::5]
    network = bnn.learn(digits, "odds")
    for flow in (bnn.GradientFlow(gain=1e-2), bnn.GradientFlow(gain=1e-4), bnn.GradientFlow(gain=1e-3, solver="euler")):
        bnn.recall(network, digits[:8], flow, max_sweeps=60, check="raise")


@pytest.mark.parametrize("activation", ["logistic", "tanh"])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-3, 1e-2])
def test_loose_tolerances_bring_coarse_steps_that_still_descend(activation, tolerance):
    for seed in range(30):
        network = random_network(np.random.default_rng(seed), 8, -1 if activation == "tanh" else 0)
        for gain, settle in ((4.0, 0.0), (100.0, 1e-4), (1.0, 1.0)):
            flow = bnn.GradientFlow(gain, rtol=tolerance, atol=tolerance, settle=settle, t_end=30.0)
            bnn.recall(network, CUE, flow, check="raise")


@settings(max_examples=30)
@given(drawn=flows(solvers=("dopri5", "rk4")))
def test_what_excuses_a_rise_bounds_what_the_error_of_the_step_does(drawn):
    """The free energies of two nearby states, term by term, against the bound that a solver uses."""
    network, flow = drawn[:2]
    rng = np.random.default_rng(0)
    activation = flow.activation_of(network)
    layout, name, n = network.layout, activation.name, network.neurons
    for size in (1e-3, 0.1, 1.0):
        levels = torch.from_numpy(rng.normal(size=(4, n)) * 2)
        column = torch.tensor([[flow.gain]], dtype=torch.float64)
        error = size * torch.from_numpy(rng.normal(size=(4, n)))
        within = levels + error.abs() * torch.from_numpy(rng.uniform(-1, 1, size=(4, n)))
        others = [activation.states(levels + way * error.abs(), column) for way in (1, -1)]
        states, other = activation.states(levels, column), activation.states(within, column)
        fields = states @ network.columns + network.bias
        bound = apart(states, others, fields, column, activation, network.largest_row_sum)
        if name == "softmax":  # where the others of an attribute move too, only these very states are bounded
            bound = apart(states, [other], fields, column, activation, network.largest_row_sum)
        for r in range(4):
            f = [
                oracles.plain_energy(network.weights.tolist(), network.bias.tolist(), v[r].tolist())
                + oracles.entropy_term(v[r].tolist(), flow.gain, name, layout.attribute, layout.single, [True] * n)
                for v in (states, other)
            ]
            assert abs(f[0] - f[1]) <= float(bound[r]) + 1e-9


def test_a_planted_rise_breaks_the_verdict(monkeypatch):
    """A wrong integral, a wrong field: what the energies are computed from is what is looked at."""
    monkeypatch.setattr(Logistic, "both", np.zeros(10, dtype=np.bool_))  # the integral lacks a term
    rng = np.random.default_rng(2)
    broken = 0
    for _ in range(10):
        network = random_network(rng, 10, size=1.0)
        cues = (rng.random((4, 10)) < 0.5).astype(float)
        for solver in SOLVERS:
            broken += not bnn.recall(network, cues, bnn.GradientFlow(solver=solver)).descent.holds
    assert broken > 20


@pytest.mark.parametrize("solver", SOLVERS)
def test_shares_of_the_rows_on_several_threads_change_nothing(monkeypatch, solver):
    rng = np.random.default_rng(5)
    network, cues = random_network(rng, 12, size=1.0), (rng.random((23, 12)) < 0.5).astype(float)
    dynamics, before = bnn.GradientFlow(gain=2.0, solver=solver), torch.get_num_threads()
    whole = bnn.recall(network, cues, dynamics, clamp=np.arange(12) < 3, check="raise")
    for name, number in {"MANY": 1, "FEW": 1, "MANY_ROWS": 4, "FEW_ROWS": 2}.items():
        monkeypatch.setattr(f"bnn.dynamics.flow.{name}", number)
    with threads.threads(3):
        shared = bnn.recall(network, cues, dynamics, clamp=np.arange(12) < 3, check="raise")
    assert torch.get_num_threads() == before
    assert shared.sweeps.tolist() == whole.sweeps.tolist()
    assert shared.outcome.tolist() == whole.outcome.tolist()
    assert np.allclose(shared.states, whole.states, rtol=0, atol=1e-12)
    assert np.allclose(shared.lyapunov, whole.lyapunov, rtol=0, atol=1e-11, equal_nan=True)


def test_time_and_steps_are_limits():
    late = bnn.recall(EIGHT, CUE, bnn.GradientFlow(t_end=0.5))
    assert late.outcome.tolist() == ["limit", "limit"]
    assert late.times[:, -1] == pytest.approx(0.5)
    assert bnn.recall(EIGHT, CUE, bnn.GradientFlow(t_end=1e-12)).outcome.tolist() == ["limit", "limit"]
    few = bnn.recall(EIGHT, CUE, bnn.GradientFlow(solver="rk4"), max_sweeps=3)
    assert few.outcome.tolist() == ["limit", "limit"]
    assert few.times.shape == few.energy.shape == (2, 4)


def test_one_neuron_all_clamped_and_all_unknown():
    one = bnn.Network.of([[0.0]], bias=[1.0])
    for solver in SOLVERS:
        flow = bnn.GradientFlow(solver=solver)
        assert bnn.recall(one, [[1]], flow, check="raise").states[0, 0] == pytest.approx(2 / 3, abs=1e-3)
        held = bnn.recall(EIGHT, CUE, flow, clamp="known", check="raise")
        assert held.outcome.tolist() == ["settled", "settled"]
        assert np.array_equal(held.states, CUE)
        lost = bnn.recall(EIGHT, np.full((1, 8), np.nan), flow, check="raise")
        assert lost.outcome.tolist() == ["settled"]
        mute = bnn.recall(EIGHT, np.full((1, 8), np.nan), flow, clamp=np.ones(8, dtype=bool), check="raise")
        assert not mute.states.any()
    cue = CUE.copy()
    bnn.recall(EIGHT, cue, bnn.GradientFlow())
    assert np.array_equal(cue, CUE)
