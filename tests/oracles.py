"""Slow, obvious twins of what the package does quickly."""

import math
import operator
from collections import Counter
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

# --- Counting -----------------------------------------------------------------------------------------------------


def counts(records, layout, scale=1):
    """joint, on, known, rows of `Counts`, record by record, by the definition of each entry."""
    neurons, attributes = layout.neurons, len(layout.schema.names)
    joint = np.zeros((neurons, neurons), dtype=np.int64)
    on = np.zeros((neurons, attributes), dtype=np.int64)
    known = np.zeros((attributes, attributes), dtype=np.int64)
    rows = 0
    for r, codes in enumerate(records.codes.tolist()):
        weight = 1 if records.weights is None else round(float(records.weights[r]) * scale)
        is_on = [codes[a] == v for a, v in zip(layout.attribute.tolist(), layout.value.tolist(), strict=True)]
        is_known = [code >= 0 for code in codes]
        rows += weight
        for i in range(neurons):
            for j in range(neurons):
                joint[i, j] += weight * (is_on[i] and is_on[j])
            for a in range(attributes):
                on[i, a] += weight * (is_on[i] and is_known[a])
        for a in range(attributes):
            for b in range(attributes):
                known[a, b] += weight * (is_known[a] and is_known[b])
    return joint, on, known, rows


# --- Estimates, rules and recall ----------------------------------------------------------------------------------


def four_cells(records, layout, j, i):
    """{(x, y): number of records with neuron j in state x and i in state y}, where both attributes are known."""
    cells = {(x, y): Fraction(0) for x in (True, False) for y in (True, False)}
    weights = np.ones(records.rows) if records.weights is None else records.weights
    for codes, weight in zip(records.codes.tolist(), weights.tolist(), strict=True):
        a, b = codes[layout.attribute[j]], codes[layout.attribute[i]]
        if a >= 0 and b >= 0:
            cells[a == layout.value[j], b == layout.value[i]] += Fraction(weight)
    return cells


def joint_ratio(cells, x, y, m):
    """(R + m) / (N + m), R = N(j,i) / (P(j) P(i)), for neuron j in state x and i in state y."""
    number = sum(cells.values())
    if number == 0:
        return Fraction(1)
    p_to, p_from = (cells[x, True] + cells[x, False]) / number, (cells[True, y] + cells[False, y]) / number
    ratio = cells[x, y] / (p_to * p_from) if cells[x, y] else 0
    return (ratio + m) / (number + m)


def conditional_ratio(cells, x, y, m):
    """P(j|i) / P(j) with the m-estimate P(j|i) = (N(j,i) + m P(j)) / (N(i) + m)."""
    number, given = sum(cells.values()), cells[True, y] + cells[False, y]
    if given + m == 0 or number == 0:
        return Fraction(1)
    ratio = cells[x, y] / ((cells[x, True] + cells[x, False]) / number) if cells[x, y] else 0
    return (ratio + m) / (given + m)


RATIOS = {"joint": joint_ratio, "conditional": conditional_ratio}


def connected(layout, j, i, within=False, self_connections=False):
    """Whether neuron j listens to neuron i."""
    if i == j:
        return self_connections
    return within or layout.attribute[i] != layout.attribute[j]


def log_ratios(records, layout, *, m=2, estimate="joint", **connections):
    """{(x, y): float64 [neurons, neurons]}: L(x, y) = log2 of the ratio of every pair, 0 where not connected."""
    n = layout.neurons
    logs = {(x, y): np.zeros((n, n)) for x in (True, False) for y in (True, False)}
    for j in range(n):
        for i in range(n):
            if connected(layout, j, i, **connections):
                cells = four_cells(records, layout, j, i)
                for x, y in logs:
                    logs[x, y][j, i] = math.log2(RATIOS[estimate](cells, x, y, Fraction(m)))
    return logs


def probability(records, layout, **options):
    """Weights, bias, silence, constant of the probability form [B 2.2]."""
    return log_ratios(records, layout, **options)[True, True], np.zeros(layout.neurons), None, 0.0


def odds(records, layout, **options):
    """Weights, bias, silence, constant of the odds form, from its four cells [B eq 20]."""
    logs = log_ratios(records, layout, **options)
    weights = logs[True, True] - logs[False, True] - logs[True, False] + logs[False, False]
    silence = np.zeros((layout.neurons, len(layout.schema.names)))
    for i, a in enumerate(layout.attribute):
        silence[:, a] += logs[True, False][:, i] - logs[False, False][:, i]
    return weights, silence.sum(axis=1), silence, logs[False, False].sum()


def hopfield(records, layout, *, low=-1, **connections):  # noqa: ARG001 - both have the same weights
    """Weights, bias, silence, constant of Hopfield's rule: P(same) - P(different)."""
    n = layout.neurons
    weights = np.zeros((n, n))
    for j in range(n):
        for i in range(n):
            cells = four_cells(records, layout, j, i)
            if connected(layout, j, i, **connections) and (number := sum(cells.values())):
                same = cells[True, True] + cells[False, False]
                weights[j, i] = (2 * same - number) / number
    return weights, np.zeros(n), None, 0.0


def by_cells(weigh):
    """A rule of counts with states {0, 1} and no bias, from what it says of the four cells of a pair, a fraction."""

    def rule(records, layout, **connections):
        n = layout.neurons
        weights = np.zeros((n, n))
        for j in range(n):
            for i in range(n):
                cells = four_cells(records, layout, j, i)
                if connected(layout, j, i, **connections) and sum(cells.values()):
                    weights[j, i] = weigh(*pair_shares(cells))
        return weights, np.zeros(n), None, 0.0

    return rule


def pair_shares(cells):
    """P(j,i), P(j), P(i) and the number of records of a pair."""
    number = sum(cells.values())
    to, given = (sum(c for state, c in cells.items() if state[which]) / number for which in (0, 1))
    return cells[True, True] / number, to, given, number


hebb = by_cells(lambda both, to, given, number: both)  # noqa: ARG005 - as every formula
covariance = by_cells(lambda both, to, given, number: both - to * given)  # noqa: ARG005
presynaptic_covariance = by_cells(lambda both, to, given, number: both / given - to if given else 0)  # noqa: ARG005
willshaw = by_cells(lambda both, to, given, number: int(both > 0))  # noqa: ARG005


def bcpnn(records, layout, **connections):
    """Weights, bias, silence, constant of BCPNN, zeros replaced as its benchmarks do."""

    def weigh(both, to, given, number):
        least = Fraction(1) / (number + 1)
        return math.log2(max(both, least**2) / (max(to, least) * max(given, least)))

    weights, bias, *rest = by_cells(weigh)(records, layout, **connections)
    for j in range(len(bias)):
        cells = four_cells(records, layout, j, j)
        if number := sum(cells.values()):  # of no record the least probability is 1
            bias[j] = math.log2(max(pair_shares(cells)[1], Fraction(1) / (number + 1)))
    return weights, bias, *rest


def signed_rows(records, layout):
    """Rows as states -1 and +1, each as often as its weight says."""
    rows = []
    times = np.ones(records.rows, int) if records.weights is None else records.weights
    for codes, number in zip(records.codes.tolist(), times, strict=True):
        on = [codes[a] == v for a, v in zip(layout.attribute.tolist(), layout.value.tolist(), strict=True)]
        rows += [[1 if v else -1 for v in on]] * int(number)
    return rows


def storkey(records, layout, **connections):
    """Weights, bias, silence, constant of Storkey's rule: the textbook's double loop, in fractions."""
    n = layout.neurons
    heard = [[k for k in range(n) if k != j and connected(layout, j, k, **connections)] for j in range(n)]
    w = [[Fraction(0)] * n for _ in range(n)]
    for x in signed_rows(records, layout):

        def h(j, i, w=w, x=x):
            return sum(w[j][k] * x[k] for k in heard[j] if k != i)

        w = [
            [
                w[j][i] + Fraction(1, n) * (x[j] * x[i] - x[j] * h(i, j) - h(j, i) * x[i])
                if connected(layout, j, i, **connections)
                else Fraction(0)
                for i in range(n)
            ]
            for j in range(n)
        ]
    return np.array(w, dtype=float).reshape(n, n), np.zeros(n), None, 0.0


def pseudo_inverse(records, layout, **connections):
    """Weights, bias, silence, constant of the projection on the patterns, by Gram and Schmidt in fractions."""
    n = layout.neurons
    basis = []
    for row in signed_rows(records, layout):
        left = [Fraction(v) for v in row]
        for b in basis:
            share = sum(map(operator.mul, left, b)) / sum(v * v for v in b)
            left = [v - share * u for v, u in zip(left, b, strict=True)]
        if any(left):
            basis.append(left)
    weights = np.zeros((n, n))
    for j in range(n):
        for i in range(n):
            if connected(layout, j, i, **connections):
                weights[j, i] = sum(b[j] * b[i] / sum(v * v for v in b) for b in basis)
    return weights, np.zeros(n), None, 0.0


class Row:
    """One row of a recall. Every field and energy is computed anew from the states, in Python's whole numbers.

    Fields come in units of the network's grid, energies in half units.
    """

    def __init__(self, network, on, unknown, held, external):
        self.unit = network.grid or 2.0**-60
        self.low, self.sizes = network.low, network.layout.schema.sizes
        self.start, self.attribute = network.layout.start.tolist(), network.layout.attribute.tolist()
        self.weights = self._whole(network.table.numpy())
        self.full_bias = self._whole(network.bias.numpy()) + self._whole(np.rint(external / self.unit) * self.unit)
        self.silence = None if network.silence is None else self._whole(network.silence.numpy())
        self.held, self.unknown = held.tolist(), unknown.copy()
        self.state = np.array([0 if u else (1 if v else self.low) for v, u in zip(on, unknown, strict=True)], object)

    def forget_illegal(self):
        """An attribute of several neurons with none or several on is not known."""
        for a in range(len(self.start) - 1):
            mine = list(self.neurons(a))
            if mine and None not in self.values(a) and sum(self.state[mine] == 1) != 1:
                self.unknown[mine], self.state[mine] = True, 0

    def _whole(self, array):
        units = np.asarray(array, dtype=np.float64) / self.unit
        assert (units == np.rint(units)).all(), "not on the grid"
        return np.vectorize(int, otypes=[object])(units)

    @property
    def bias(self):
        bias = self.full_bias
        if self.silence is not None:
            for a in {self.attribute[j] for j in np.flatnonzero(self.unknown)}:
                bias = bias - self.silence[:, a]
        return bias

    def field(self):
        return self.weights.dot(self.state) + self.bias

    def energy(self, state=None):
        state = self.state if state is None else state
        return -state.dot(self.weights.dot(state)) - 2 * state.dot(self.bias)

    def saved_by_on(self, j):
        """Energy that neuron j saves by being on rather than off, as its own weights say."""
        others = self.state.copy()
        others[j] = 0
        own = self.weights[j, j] * (1 - self.low**2)  # V(j)^2 W(j,j) differs between on and off only where off is 0
        return float(2 * (1 - self.low) * (self.weights[j].dot(others) + self.bias[j]) + own) * self.unit / 2

    def neurons(self, a):
        return range(self.start[a], self.start[a + 1])

    def with_value(self, a, chosen):
        """The state with one neuron of attribute a on, or none."""
        state = self.state.copy()
        for j in self.neurons(a):
            state[j] = 1 if j == chosen else self.low
        return state

    def values(self, a):
        """What attribute a may be: one of its neurons on; a single neuron of two values, off or on."""
        mine = list(self.neurons(a))
        return [None, *mine] if len(mine) == 1 < self.sizes[a] else mine

    def least(self, a, present=()):
        """Value of attribute a of least energy, the present one before others as good, then the first."""
        first = [*present, *(v for v in self.values(a) if v not in present)]
        return min(first, key=lambda v: self.energy(self.with_value(a, v)))


class StoredRow(Row):
    """One row of a recall from patterns. Every energy by its definition: in fractions, or, of logarithms, 60 digits.

    Fields, by (1 - low), and energies come as they are.
    """

    def __init__(self, memory, on, unknown, held, external):
        self.unit = 2.0  # so that half of it is 1
        self.memory, self.low, self.sizes = memory, memory.low, memory.layout.schema.sizes
        self.start, self.attribute = memory.layout.start.tolist(), memory.layout.attribute.tolist()
        self.external = [Fraction(x) for x in external.tolist()]
        if memory.grid is not None:
            self.external = [round(x / Fraction(memory.grid)) * Fraction(memory.grid) for x in self.external]
        self.held, self.unknown = held.tolist(), unknown.copy()
        self.state = np.array([0 if u else (1 if v else self.low) for v, u in zip(on, unknown, strict=True)], object)

    def energy(self, state=None):
        return stored_energy(self.memory, self.state if state is None else state, self.external)

    def saved_by_on(self, j):
        on, off = self.state.copy(), self.state.copy()
        on[j], off[j] = 1, self.low
        saved = self.energy(off) - self.energy(on)
        # of two energies cut to 20 digits: one digit less tells equal fields from the cutting
        return saved.quantize(Decimal("1e-18")) if isinstance(saved, Decimal) else saved

    def field(self):
        return [self.saved_by_on(j) for j in range(len(self.state))]


DIGITS = Context(prec=60)


def stored_energy(memory, state, external):
    """Energy of a state, from the overlaps with all patterns; logarithms to 60 digits, cut to 30 so that ties are."""
    state = [int(s) for s in state]
    overlaps = [sum(x * s for x, s in zip(pattern, state, strict=True)) for pattern in memory.patterns.tolist()]
    weights = memory.weight.tolist()
    given = sum((b * s for b, s in zip(external, state, strict=True)), Fraction(0))
    kind = memory.interaction
    if kind.name == "polynomial":
        powers = [(max(m, 0) if kind.rectified else m) ** kind.degree for m in overlaps]
        return -sum(Fraction(w) * f for w, f in zip(weights, powers, strict=True)) - given
    beta = Decimal(kind.beta)
    total = sum(Decimal(w) * (beta * m).exp(DIGITS) for w, m in zip(weights, overlaps, strict=True))
    constant = (
        Decimal(sum(weights)).ln(DIGITS) / beta
        + Decimal(max(sum(x * x for x in pattern) for pattern in memory.patterns.tolist())) / 2
    )
    norm = Decimal(sum(s * s for s in state)) / 2
    energy = norm + constant - total.ln(DIGITS) / beta - Decimal(given.numerator) / Decimal(given.denominator)
    return energy.quantize(Decimal("1e-20"), context=DIGITS)


def row_of(network, *cue):
    """One row of a recall, by weights or from patterns."""
    return (StoredRow if network.keeps == "patterns" else Row)(network, *cue)


def threshold(field, state, low):
    """The threshold rule: on above zero, off below, unchanged at zero."""
    return 1 if field > 0 else low if field < 0 else state


def fill_attributes(fill):
    """Start of a row: each free unknown attribute is filled in order."""

    def start(row, run):  # noqa: ARG001 - as every start
        for a in range(len(row.start) - 1):
            mine = list(row.neurons(a))
            if mine and row.unknown[mine[0]] and not row.held[mine[0]]:
                fill(row, a)

    return start


def start_with_winners(row, run):
    """Start from the k largest fields, unless the cue knows all and has k neurons on."""
    missing = row.unknown & ~np.array(row.held)
    if missing.any() or sum(row.state == 1) != run.winners(row):
        row.state = largest_fields(row, run.winners(row))
    row.unknown[missing] = False


def fill_by_threshold(row, a):
    fields = row.field()
    for j in row.neurons(a):
        row.state[j] = 1 if fields[j] > 0 else row.low
        row.unknown[j] = False  # evidence of being off counts once the attribute is known


def fill_by_energy(row, a):
    row.unknown[row.start[a] : row.start[a + 1]] = False
    row.state = row.with_value(a, row.least(a))


def asynchronous(row, order):
    """One sweep; returns the flips as (neuron, energy after), and whether every neuron is stable."""
    flips = []
    for j in order(len(row.state)):
        new = threshold(row.field()[j], row.state[j], row.low)
        if not row.held[j] and new != row.state[j]:
            row.state[j] = new
            flips.append((j, row.energy()))
    fields = row.field()
    stable = all(
        h or threshold(fields[j], s, row.low) == s for j, (h, s) in enumerate(zip(row.held, row.state, strict=True))
    )
    return flips, stable


def glauber(row, order, uniform, temperature):
    """One sweep: on with the Boltzmann probability of on against off, 2^(-E/T), all other neurons as they are."""
    flips = []
    for j in order(len(row.state)):
        saved = row.saved_by_on(j)
        new = 1 if uniform[j] < 1 / (1 + 2.0 ** min(-float(saved) / temperature, 1000.0)) else row.low
        if not row.held[j] and new != row.state[j]:
            row.state[j] = new
            flips.append((j, row.energy()))
    return flips, False


def winner_take_all(row, order):
    """One sweep: each attribute takes its value of least energy."""
    flips = []
    for a in order(len(row.start) - 1):
        mine = list(row.neurons(a))
        if mine and not row.held[mine[0]]:
            present = [j for j in mine if row.state[j] == 1] or [None]
            new = row.with_value(a, row.least(a, present))
            changed = [j for j in mine if new[j] != row.state[j]]
            row.state = new
            changed.sort(key=lambda j: new[j])  # off, then on
            flips += [(j, row.energy()) for j in changed]
    return flips, not flips


def k_winners(row, order):
    """One sweep: each neuron that is off changes places with the on neuron that saves most energy, if any does."""
    flips = []
    for j in order(len(row.state)):
        swaps = []
        for o in range(len(row.state)):
            if row.state[j] != 1 and row.state[o] == 1 and not row.held[j] and not row.held[o]:
                swapped = row.state.copy()
                swapped[j], swapped[o] = 1, row.low
                swaps.append((row.energy(swapped), o))
        if swaps and min(swaps)[0] < row.energy():
            energy, o = min(swaps)
            row.state[j], row.state[o] = 1, row.low
            flips += [(o, energy), (j, energy)]
    return flips, not flips


def all_thresholds(row, run):  # noqa: ARG001 - as every choice of `parallel`
    fields = row.field()
    return [s if f else threshold(h, s, row.low) for h, s, f in zip(fields, row.state, row.held, strict=True)]


def all_winners(row, run):  # noqa: ARG001 - as every choice of `parallel`
    """Each attribute's largest field wins, the present value before others as large, then the first."""
    fields, new = row.field(), row.state.copy()
    for a in range(len(row.start) - 1):
        mine = list(row.neurons(a))
        if mine and not row.held[mine[0]]:
            if None in row.values(a):
                new[mine[0]] = threshold(fields[mine[0]], row.state[mine[0]], row.low)
            else:
                winner = max(mine, key=lambda j: (fields[j], row.state[j] == 1, -j))
                new[mine] = [1 if j == winner else row.low for j in mine]
    return new


def all_largest(row, run):
    return largest_fields(row, run.winners(row))


def largest_fields(row, k):
    """k neurons on, clamped ones counted, those of largest field, the present ones before others as large."""
    fields, new = row.field(), row.state.copy()
    free = [j for j in range(len(new)) if not row.held[j]]
    k -= sum(s == 1 and h for s, h in zip(row.state, row.held, strict=True))
    winners = sorted(free, key=lambda j: (-fields[j], row.state[j] != 1, j))[: max(k, 0)]
    new[free] = [1 if j in winners else row.low for j in free]
    return new


class Recalled:
    """What became of one row: its start and end, series, flips and outcome."""

    def __init__(self, row):
        self.start = row.state.copy()
        self.energies, self.two_steps = [row.energy()], [2 * row.energy()]
        self.states, self.flips = [row.state.copy()], []
        self.outcome, self.other_phase, self.sweeps = "limit", None, 0

    def add(self, number, row, flips, two_step=0):
        self.energies.append(row.energy())
        self.two_steps.append(two_step)
        self.states.append(row.state.copy())
        self.flips += [(number, neuron, energy) for neuron, energy in flips]
        self.sweeps = number + 1 if flips else self.sweeps


@dataclass(frozen=True)
class Run:
    """What a dynamics and its seed decide for one row of a batch."""

    dynamics: Any
    seed: int
    max_sweeps: int
    index: int

    def order(self, sweep):
        """Function from a number of things to the order in which they are asked."""
        if getattr(self.dynamics, "order", "random") == "fixed":
            return range
        return lambda length: np.random.default_rng([self.seed, sweep, 1]).permutation(length).tolist()

    def uniform(self, sweep, length):
        """Glauber's numbers in (0, 1]."""
        return 1.0 - np.random.default_rng([self.seed, sweep, 2, self.index]).random(length)

    def winners(self, row):
        """How many neurons are on."""
        return sum(row.state == 1) if self.dynamics.k is None else self.dynamics.k


def sequential(sweep):
    """Twin of a sequential dynamics: ``sweep(row, order)`` returns the flips and whether the row has settled."""
    return lambda row, run: run_sequential(row, run, lambda number: sweep(row, run.order(number)))


def run_glauber(row, run):
    """Twin of Glauber dynamics."""

    def sweep(number):
        return glauber(row, run.order(number), run.uniform(number, len(row.state)), run.dynamics.temperature)

    return run_sequential(row, run, sweep)


def run_sequential(row, run, sweep):
    recalled = Recalled(row)
    for number in range(run.max_sweeps):
        flips, settled = sweep(number)
        recalled.add(number, row, flips)
        if settled:
            recalled.outcome = "settled"
            break
    return recalled


def parallel(choose):
    """Twin of a parallel dynamics: ``choose(row, run)`` returns the next state of all neurons."""

    def twin(row, run):
        recalled = Recalled(row)
        for number in range(run.max_sweeps):
            before, new = row.state.copy(), np.array(choose(row, run), object)
            two_step = -2 * new.dot(row.field()) - 2 * before.dot(row.bias)
            changed = np.flatnonzero(new != before).tolist()
            row.state = new
            recalled.add(number, row, [(j, row.energy()) for j in changed], two_step)
            if not changed:
                recalled.outcome = "settled"
                break
            if number > 0 and (new == recalled.states[-3]).all():
                recalled.outcome, recalled.other_phase = "cycle", before
                break
        return recalled

    return twin


def boltzmann(network, temperature):
    """States of a small network, counting up, and their probabilities, proportional to 2^(-E/T)."""
    n, low = network.neurons, network.low
    states = [[1 if number >> (n - 1 - j) & 1 else low for j in range(n)] for number in range(2**n)]
    if network.keeps == "patterns":
        energies = [float(stored_energy(network, v, [Fraction(0)] * n)) for v in states]
    else:
        weights, bias = network.table.numpy(), network.bias.numpy()
        energies = [-0.5 * np.dot(v, weights @ v) - np.dot(bias, v) for v in states]
    terms = 2.0 ** ((min(energies) - np.array(energies)) / temperature)
    return np.array(states), terms / terms.sum()


# --- Records ------------------------------------------------------------------------------------------------------


def decoded(records):
    """Values of each row, None where missing."""
    return [
        [None if c < 0 else a.values[c] for c, a in zip(row, records.schema.attributes, strict=True)]
        for row in records.codes.tolist()
    ]


# --- Graded neurons -----------------------------------------------------------------------------------------------


def plain_states(levels, gain, activation, attribute, single):
    """States of one row of activation levels, neuron by neuron, by the formulas of the papers."""
    states = []
    for j, u in enumerate(levels):
        if activation == "tanh":
            states.append(math.tanh(gain * u * math.log(2) / 2))
        elif activation == "logistic" or single[attribute[j]]:
            states.append(1 / (1 + 2.0 ** min(-gain * u, 1000)))
        else:
            mine = [i for i in range(len(levels)) if attribute[i] == attribute[j]]
            largest = max(gain * levels[i] for i in mine)
            total = sum(2.0 ** (gain * levels[i] - largest) for i in mine)
            states.append(2.0 ** (gain * u - largest) / total)
    return states


def information(value):
    """V log2 V."""
    return value * math.log2(value) if value > 0 else 0.0


def entropy_term(states, gain, activation, attribute, single, free):
    """1/gain times the integral of the inverse activation, summed over the free neurons."""
    total = 0.0
    for j, v in enumerate(states):
        if not free[j]:
            continue
        if activation == "tanh":
            total += information(1 + v) + information(1 - v)
        elif activation == "logistic" or single[attribute[j]]:
            total += information(v) + information(1 - v)
        else:
            total += information(v)
    return total / gain


def plain_energy(weights, bias, states):
    """-1/2 V'WV - b'V, term by term."""
    n = len(states)
    pairs = sum(weights[j][i] * states[j] * states[i] for j in range(n) for i in range(n))
    return -pairs / 2 - sum(b * v for b, v in zip(bias, states, strict=True))


def odds_posterior(records, target, evidence, m):
    """P(target = 1 | evidence) by odds [B eq 20]: evidence {attribute: 0 or 1}, each ratio by the joint estimate."""
    layout_of = {name: a for a, name in enumerate(records.schema.names)}
    column = records.codes[:, layout_of[target]]
    prior = Fraction(int((column == 1).sum()), int((column >= 0).sum()))
    odds = prior / (1 - prior)
    for name, value in evidence.items():
        other = records.codes[:, layout_of[name]]
        cells = {
            (x, y): Fraction(int(((column == x) & (other == y)).sum())) for x in (True, False) for y in (True, False)
        }
        odds *= joint_ratio(cells, True, bool(value), m) / joint_ratio(cells, False, bool(value), m)
    return odds / (1 + odds)


# --- Naive Bayes --------------------------------------------------------------------------------------------------


def naive_gains(rows, classes, k, values, estimate, m=2):
    """Prior and gains, as fractions, of rows (None = missing) by the definitions: prior [class], gain[a][value][class].

    A gain is the ratio P(C|V)/P(C), not yet its logarithm.
    """
    m, n = Fraction(m), len(rows)
    of = [Fraction(sum(c == j for c in classes)) for j in range(k)]
    laplace = [(of[j] + 1) / (n + k) for j in range(k)]
    prior = [of[j] / n for j in range(k)] if estimate == "relative" else laplace
    gains = []
    for a, number in enumerate(values):
        known = [(r[a], c) for r, c in zip(rows, classes, strict=True) if r[a] is not None]
        n_a, of_a = Fraction(len(known)), [Fraction(sum(c == j for _, c in known)) for j in range(k)]
        gains.append([])
        for v in range(number):
            n_v = Fraction(sum(x == v for x, _ in known))
            both = [Fraction(sum(x == v and c == j for x, c in known)) for j in range(k)]
            if n_v == 0:
                gains[a].append([Fraction(1)] * k)
            elif estimate == "m":
                gains[a].append([(both[j] + m * laplace[j]) / (n_v + m) / laplace[j] for j in range(k)])
            elif estimate == "neutral":
                p = [of_a[j] / n_a for j in range(k)]
                gains[a].append([(both[j] + m * p[j]) / (n_v + m) / p[j] if p[j] else Fraction(1) for j in range(k)])
            elif estimate in ("joint", "relative"):
                by = m if estimate == "joint" else Fraction(0)
                r = [both[j] / (of_a[j] / n_a * n_v / n_a) if both[j] else Fraction(0) for j in range(k)]
                gains[a].append([(r[j] + by) / (n_a + by) for j in range(k)])
            else:
                added = Fraction(1) if estimate == "laplace" else Fraction(1, number)
                p = [(both[j] + added) / (of_a[j] + added * number) for j in range(k)]
                whole = sum(laplace[j] * p[j] for j in range(k))
                gains[a].append([p[j] / whole for j in range(k)])
    return prior, gains


def naive_posterior(row, prior, gains):
    """Exact posterior of one row (None = missing or unseen): the product of ratios, normalised; the prior if all 0."""
    product = list(prior)
    for a, v in enumerate(row):
        if v is not None:
            product = [p * gains[a][v][j] for j, p in enumerate(product)]
    total = sum(product)
    return [p / total for p in product] if total else list(prior)


# --- Comparison of classifiers ------------------------------------------------------------------------------------


def split_measures(classifier, X, y, trained, tested, floor):
    """Accuracy, information score and log loss of one split, test row by test row, by the definitions."""
    classes = sorted(set(y))
    model = classifier.fit(X[trained], y[trained])
    prior = {c: (sum(y[trained] == c) + 1) / (sum(trained) + len(classes)) for c in classes}
    absent = [c for c in classes if c not in model.classes_]
    right = bits = loss = 0.0
    for row, true in zip(model.predict_proba(X[tested]), y[tested], strict=True):
        answer = dict(zip(model.classes_, row * (1 - floor * len(absent)), strict=True)) | dict.fromkeys(absent, floor)
        P, Q = prior[true], answer[true]
        right += max(classes, key=lambda c: answer[c]) == true
        loss -= math.log2(max(Q, floor))
        if Q > P:
            bits += math.log2(Q / P)
        elif Q < P:
            bits -= math.log2((1 - Q) / (1 - P))
    return right / sum(tested), bits / sum(tested), loss / sum(tested)


class SlowNaive:
    """Naive Bayes of [S eq 2, 3, 4], m = 2, on rows of codes (None = missing or never seen), counting one by one."""

    def fit(self, X, y):
        self.classes_ = sorted(set(y))
        number = Counter(y)
        self.prior = {c: (number[c] + 1) / (len(y) + len(self.classes_)) for c in self.classes_}
        self.both = Counter((a, v, c) for row, c in zip(X, y, strict=True) for a, v in enumerate(row))
        self.either = Counter((a, v) for row in X for a, v in enumerate(row))
        return self

    def predict_proba(self, X):
        table = []
        for row in X:
            product = dict(self.prior)
            for a, v in enumerate(row):
                if v is not None and self.either[a, v]:
                    for c, P in self.prior.items():
                        product[c] *= (self.both[a, v, c] + 2 * P) / (self.either[a, v] + 2) / P
            table.append([product[c] / sum(product.values()) for c in self.classes_])
        return np.array(table)


# --- Beyond independence ------------------------------------------------------------------------------------------


def shares(rows, classes, k, has):
    """Number of rows that ``has``, and the fraction of each class among them (0 where there are none)."""
    some = [c for r, c in zip(rows, classes, strict=True) if has(r)]
    return len(some), [Fraction(some.count(j), max(len(some), 1)) for j in range(k)]


def semi_naive_joins(rows, classes, k, max_order=3, threshold=Fraction(1, 2)):
    """Joins {((attribute, value), ...): (n, eps)} in order of use, and the number of tests, by the definitions."""
    values = sorted({(a, v) for row in rows for a, v in enumerate(row) if v is not None})
    prior = shares(rows, classes, k, lambda _: True)[1]

    def of(members):
        return shares(rows, classes, k, lambda row: all(row[a] == v for a, v in members))

    level, out, tests = [(value,) for value in values], [], 0
    for order in range(2, max_order + 1):
        found = {}
        for item in level:
            for value in values:
                used = [a for a, _ in item]
                if value[0] in used or (order == 2 and value[0] < used[0]):
                    continue
                joined = tuple(sorted((*item, value)))
                n, together = of(joined)
                if n == 0:
                    continue
                tests += 1
                apart = [x * y / p for x, y, p in zip(of(item)[1], of((value,))[1], prior, strict=True)]
                eps = sum(p * abs(x - y) for p, x, y in zip(prior, together, apart, strict=True))
                reliable = 1 - 1 / (4 * eps**2 * n) if eps else -1
                if reliable > threshold and (joined not in found or reliable > found[joined][0]):
                    found[joined] = (reliable, n, eps)
        level = sorted(found, key=lambda j: (-found[j][0], -found[j][1], [f"x{a}={v}" for a, v in j]))
        out = [(j, found[j][1:]) for j in level] + out
    return dict(out), tests


def semi_naive_posterior(row, rows, classes, k, joins, m=2):
    """Exact posterior of one row: joins in their order, no value twice, and then single values."""
    n, m = len(rows), Fraction(m)
    prior = [Fraction(classes.count(j) + 1, n + k) for j in range(k)]
    left = {(a, v) for a, v in enumerate(row) if v is not None}
    terms = []
    for join in joins:
        if set(join) <= left:
            terms.append(join)
            left -= set(join)
    product = prior
    for term in [*terms, *((value,) for value in sorted(left))]:
        number, of_class = shares(rows, classes, k, lambda r, term=term: all(r[a] == v for a, v in term))
        if number:
            product = [
                x * (number * f + m * p) / (number + m) / p for x, f, p in zip(product, of_class, prior, strict=True)
            ]
    return [p / sum(product) for p in product]


def conditional_information(rows, classes, a, b):
    """I(a; b | C) in bits, from relative frequencies of the rows where both are known."""
    known = [(r[a], r[b], c) for r, c in zip(rows, classes, strict=True) if r[a] is not None and r[b] is not None]
    total = 0.0
    for v, w, c in set(known):
        both, alone = known.count((v, w, c)), sum(z == c for _, _, z in known)
        first, second = (sum(t[i] == x and t[2] == c for t in known) for i, x in ((0, v), (1, w)))
        total += both / len(known) * np.log2(both * alone / (first * second))
    return total


def tree_posterior(row, rows, classes, k, parents, m=2):
    """Exact posterior of one row of a tree of attributes, smoothed step by step; None = missing or unseen."""
    n, m = len(rows), Fraction(m)
    product = [Fraction(classes.count(j) + 1, n + k) for j in range(k)]
    for a, parent in enumerate(parents):
        x = row[a]
        known = [(r, c) for r, c in zip(rows, classes, strict=True) if r[a] is not None]
        seen = sum(r[a] == x for r, _ in known)
        if x is None or not seen:
            continue
        p = row[parent] if parent >= 0 else None
        for j in range(k):
            of = [r for r, c in known if c == j]
            share = (sum(r[a] == x for r in of) + m * Fraction(seen, len(known))) / (len(of) + m)
            if p is not None:
                with_p = [r for r in of if r[parent] == p]
                share = (sum(r[a] == x for r in with_p) + m * share) / (len(with_p) + m)
            product[j] *= share
    return [p / sum(product) for p in product]


def successive_naive(rows, classes, k, values, reading, max_rounds=10):
    """Functions of [S 3] over the oracle of naive Bayes: lists of known labels and a function to their posterior."""
    functions, labels, together = [], list(classes), [k] * len(rows)
    for _ in range(max_rounds):
        known = sorted(set(labels))
        prior, gains = naive_gains(rows, [known.index(c) for c in labels], len(known), values, "m")
        functions.append((known, lambda row, prior=prior, gains=gains: naive_posterior(row, prior, gains)))
        answers = [first_largest(functions[-1], row, k)[0] for row in rows]
        together = [t if a == k else a for a, t in zip(answers, together, strict=True)]
        right = {"original": (answers, classes), "label": (answers, labels), "cascade": (together, classes)}[reading]
        labels = [k if x == y else c for x, y, c in zip(*right, classes, strict=True)]
        if set(answers) == {k} or set(labels) == {k}:
            break
    return functions


def first_largest(function, row, k):
    """Answer of one function, and its probabilities of the classes and C0."""
    known, posterior = function
    shares = [Fraction(0)] * (k + 1)
    for c, p in zip(known, posterior(row), strict=True):
        shares[c] = p
    return shares.index(max(shares)), shares


def successive_posterior(row, functions, k):
    """Probabilities of the function that answers, asked from the last, without C0."""
    for function in reversed(functions):
        answer, shares = first_largest(function, row, k)
        if answer < k:
            return [p / sum(shares[:k]) for p in shares[:k]]
    raise AssertionError("the first function has no C0")


def successive_ties(rows, functions, k):
    """Whether some function is undecided about some row."""
    for function in functions:
        for row in rows:
            shares = sorted(first_largest(function, row, k)[1])
            if shares[-1] == shares[-2]:
                return True
    return False


# --- Chess --------------------------------------------------------------------------------------------------------

ROOK_STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0))
KING_STEPS = tuple((x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0))


def rook_attacks(rook, blocker):
    """Squares that a rook attacks: it slides until the edge or the first piece, which it attacks too."""
    found = set()
    for x, y in ROOK_STEPS:
        file, rank = rook[0] + x, rook[1] + y
        while 0 <= file < 8 and 0 <= rank < 8:
            found.add((file, rank))
            if (file, rank) == blocker:
                break
            file, rank = file + x, rank + y
    return found


def illegal_positions():
    """All illegal positions of white king, white rook and black king with White to move, as six numbers from 0 to 7."""
    squares = [(file, rank) for file in range(8) for rank in range(8)]
    found = set()
    for king in squares:
        near = {(king[0] + x, king[1] + y) for x, y in KING_STEPS}
        for rook in squares:
            attacked = rook_attacks(rook, king)
            for black in squares:
                if len({king, rook, black}) < 3 or black in near or black in attacked:
                    found.add(king + rook + black)
    return found


# --- Capacity -----------------------------------------------------------------------------------------------------


def recalled(question, rule, patterns, cues, seed, **options):
    """cues, recalled, missed, extra, differing, unknown and sweeps of `study.Point`, one cue and neuron at a time."""
    import torch

    import bnn
    from bnn.coding import read_states

    if bnn.RULES[rule].pairwise:
        options = {"dtype": torch.float32, **options}
    network = bnn.learn(patterns, rule, **options)
    told = Counter(cues=len(cues), neurons=network.neurons)
    for r in range(len(cues)):
        trace = bnn.recall(network, cues[[r]], question.dynamics, seed=seed, max_sweeps=question.max_sweeps)
        told["sweeps"] += int(trace.sweeps[0])
        truth, cue = (read_states(network.layout, one[[r]], "oracle") for one in (patterns, cues))
        errors = 0
        for j in range(network.neurons):
            if cue.unknown is not None and cue.unknown[0, j]:
                told["unknown"] += 1
            elif (truth.unknown is None or not truth.unknown[0, j]) and cue.on[0, j] != truth.on[0, j]:
                told["differing"] += 1
            if truth.unknown is not None and truth.unknown[0, j]:
                continue
            on = trace.states[0, j] == 1
            told["missed"] += int(truth.on[0, j] and not on)
            told["extra"] += int(on and not truth.on[0, j])
            errors += bool(truth.on[0, j]) != on
        told["recalled"] += errors == 0
    return dict(told)


def grid(most, precision):
    """Loads one after another, each at least 1 and the share ``precision`` larger."""
    loads, load = [], 1
    while load < most:
        loads.append(load)
        load = max(load + 1, int(load * (1 + precision)))
    return (*loads, most)
