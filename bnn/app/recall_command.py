"""The work of ``bnn recall``: read data, learn each rule, recall the cues, sum up what happened."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float64, Int

from bnn import coding, datasets
from bnn.csvfile import read_csv
from bnn.driver import external_input, recall
from bnn.dynamics import DYNAMICS
from bnn.dynamics.base import Dynamics
from bnn.errors import DataError, unknown_name
from bnn.learning import find, learn, options_of
from bnn.network import Network
from bnn.noise import corrupt
from bnn.records import Records
from bnn.rules import RULES
from bnn.schema import Value
from bnn.trace import Trace

DEFAULT_RULES = ("odds", "probability", "hopfield")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for; the command's options say what each means."""

    data: str = "mnist-100"
    rules: tuple[str, ...] = ()
    patterns: int | None = None
    noise: float | None = None
    row: int | None = None
    mask: tuple[str, ...] = ()
    free: bool = False
    dynamics: str | None = None
    parallel: bool = False
    temperature: float | None = None
    winners: int | None = None
    m: float | None = None
    input: str = "0"
    seed: int = 0
    max_sweeps: int = 100


@dataclass(frozen=True, slots=True)
class Task:
    """A request made ready: nothing in it can be wrong any more but the fit of a rule to a dynamics.

    Attributes
    ----------
    request
        Where it came from.
    name
        Name of the data, for people.
    learned
        The records each rule learns.
    cues, truth
        Row by row, what recall starts from and what it should come back to.
    noise
        Share of the known cells that were changed in the cues; None where a row is asked about instead.
    rules, dynamics, input, clamp
        As `bnn.learn` and `bnn.recall` take them.
    known
        Whether the row asked about is among those learned.
    """

    request: Request
    name: str
    learned: Records
    cues: Records
    truth: Records
    noise: float | None
    rules: tuple[str, ...]
    dynamics: Dynamics
    input: str | float
    clamp: tuple[str, ...] | None = None
    known: bool = True


@dataclass(frozen=True, slots=True)
class Summary:
    """What one rule did with all cues: counts, means over the cues, and the verdict; the rows of ``--json``."""

    rule: str
    cues: int
    recalled: int
    overlap_before: float
    overlap_after: float
    flips: float
    sweeps: float
    energy_before: float
    energy_after: float
    descent_holds: bool
    largest_rise: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What one rule says of one attribute that was hidden; the answers of ``--json``.

    Attributes
    ----------
    rule, attribute
        Who answers what.
    recalled, true
        The value recalled and the one the row has; None where there is none.
    next, lead
        The best of the other values, and by how much the field of the recalled one exceeds it, in bits (Hopfield's rule
        has no unit); None where the attribute has no other value.
    prior, posterior
        Share of the learned rows that have the value, and its naive Bayesian probability given all other attributes;
        None where the rule has none.
    """

    rule: str
    attribute: str
    recalled: Value | None
    true: Value | None
    next: Value | None = None
    lead: float | None = None
    prior: float | None = None
    posterior: float | None = None


def prepare(request: Request) -> Task:
    """Read the data and check every option against it.

    Raises
    ------
    BnnError
        Whatever does not fit, in one sentence that names the option.
    """
    if request.mask and request.row is None:
        raise DataError("--mask: hides attributes of one row; name that row with --row, such as --row 3.")
    if request.row is not None and not request.mask:
        raise DataError("--row: nothing is hidden; name what to recall with --mask, such as --mask legs.")
    if request.row is not None and request.noise is not None:
        raise DataError("--noise: changes cells of all rows, while --row asks about one; leave out one of the two.")
    if request.free and request.row is None:
        raise DataError("--free: lets the attributes that --row and --mask keep move; give both, or leave it out.")
    if request.noise is not None and not 0.0 <= request.noise <= 1.0:
        raise DataError(f"--noise: got {request.noise:g}; give the share of cells to change, between 0 and 1.")
    for rule in request.rules:
        if rule not in RULES:
            raise unknown_name("--rule", rule, RULES)
    name, records, classes = read_data(request.data)
    table = any(attribute.kind != "on_off" for attribute in records.schema.attributes)
    external = _input(request.input)
    # where nobody chose, rules without a prior are left out when a prior is asked for
    able = [rule for rule in DEFAULT_RULES if external != "prior" or RULES[rule].prior_bias is not None]
    rules = tuple(dict.fromkeys(request.rules)) or tuple(able)
    if request.m is not None and not any("m" in options_of(find(rule)) for rule in rules):
        raise DataError(f"--m: {', '.join(rules)} has no such option; it belongs to probability and odds.")
    chosen = _chosen(request, name, records, classes)
    learned = records[chosen]
    dynamics = _dynamics(request, table)
    if request.row is None:
        noise = 0.1 if request.noise is None else request.noise
        cues = corrupt(learned, flip=noise, seed=request.seed)
        return Task(request, name, learned, cues, learned, noise, rules, dynamics, external)
    if not 0 <= request.row < records.rows:
        raise DataError(f"--row: got {request.row}; {name} has the rows 0 to {records.rows - 1}.")
    for attribute in request.mask:
        if attribute not in records.schema.names:
            raise unknown_name("--mask", attribute, records.schema.names)
    truth = records[[request.row]]
    codes = truth.codes.copy()
    codes[:, [records.schema.index(attribute) for attribute in request.mask]] = -1
    clamp = None if request.free else tuple(n for n in records.schema.names if n not in request.mask)
    cue = Records(codes, records.schema)
    known = request.row in chosen
    return Task(request, name, learned, cue, truth, None, rules, dynamics, external, clamp, known)


def read_data(data: str) -> tuple[str, Records, Sequence[Value | None] | None]:
    """A data set by name or a CSV file: its name, its records, and the class of each pattern where there is one."""
    file = Path(data)
    shipped = data in datasets.names()
    if not shipped and (file.suffix.lower() == ".csv" or file.name != data or file.is_file()):
        name = file.name
    else:
        name, file = data, datasets.path(data)
    records = datasets.read(file)
    if datasets.CLASS in records.schema.names:
        return name, records, None
    table = read_csv(file)
    return name, records, table[datasets.CLASS].to_pylist() if datasets.CLASS in table.column_names else None


def run(task: Task, rule: str, progress: Callable[[int, int], None]) -> Trace:
    """Learn by one rule and recall every cue."""
    options = {"m": task.request.m} if task.request.m is not None and "m" in options_of(find(rule)) else {}
    return recall(
        learn(task.learned, rule, **options),
        task.cues,
        task.dynamics,
        clamp=task.clamp,
        input=task.input,
        seed=task.request.seed,
        max_sweeps=task.request.max_sweeps,
        progress=progress,
    )


def summarise(rule: str, trace: Trace, truth: Records) -> Summary:
    """Counts and means over the cues; recalled are those that came back to their own pattern, all of it."""
    own = coding.read_states(trace.network.layout, truth, "recall.truth")
    nothing = np.zeros_like(own.on, dtype=bool)
    gaps, unknown, silent = (nothing if mask is None else mask for mask in (own.unknown, trace.unknown, trace.silent))
    before = _overlaps(trace.cues, own.on, gaps | unknown)
    after = _overlaps(trace.states, own.on, gaps | silent)
    return Summary(
        rule=rule,
        cues=len(trace),
        recalled=int((after == 1.0).sum()),
        overlap_before=float(before.mean()),
        overlap_after=float(after.mean()),
        flips=float(trace.flips.mean()),
        sweeps=float(trace.sweeps.mean()),
        energy_before=float(trace.energy[:, 0].mean()),
        energy_after=float(trace.energy[:, -1].mean()),
        descent_holds=trace.descent.holds,
        largest_rise=trace.descent.largest_rise,
    )


def answers(task: Task, rule: str, trace: Trace) -> list[Answer]:
    """What a rule says of each attribute that was hidden in the row asked about."""
    network = trace.network
    states = trace.states.astype(np.float32)
    if trace.silent is not None:
        states[trace.silent] = np.nan
    fields = network.field(states)[0].cpu().double().numpy()
    external = external_input(network, task.input, 1)[0].cpu().double().numpy()
    on = trace.states[0] == 1
    return [_answer(rule, network, on, fields, external, task.truth, name) for name in task.request.mask]


def _answer(
    rule: str,
    network: Network,
    on: Bool[np.ndarray, " neurons"],
    fields: Float64[np.ndarray, " neurons"],
    external: Float64[np.ndarray, " neurons"],
    truth: Records,
    name: str,
) -> Answer:
    """What the network says of one attribute, from its final states and fields."""
    layout = network.layout
    values, code = layout.schema[name].values, int(truth.codes[0, layout.schema.index(name)])
    true = values[code] if code >= 0 else None
    neurons = layout.neurons_of(name)
    support = fields[neurons] + external[neurons]
    prior, posterior = (np.full(len(values), np.nan) if p is None else p for p in _probabilities(network, fields, neurons))
    if len(neurons) == 1 and len(values) == 2:  # one neuron speaks for both values
        support = np.array([0.0, support[0]])
        prior, posterior = (np.array([1.0 - p[-1], p[-1]]) for p in (prior, posterior))
        active = np.array([int(on[neurons[0]])])
    else:
        active = np.flatnonzero(on[neurons])
    if len(active) == 0:
        return Answer(rule, name, None, true)
    best = int(active[np.argmax(support[active])])
    others = np.delete(np.arange(len(values)), best)
    rival = int(others[np.argmax(support[others])]) if len(others) else None
    return Answer(
        rule=rule,
        attribute=name,
        recalled=values[best],
        true=true,
        next=None if rival is None else values[rival],
        lead=None if rival is None else float(support[best] - support[rival]),
        prior=None if np.isnan(prior[best]) else float(prior[best]),
        posterior=None if np.isnan(posterior[best]) else float(posterior[best]),
    )


def _probabilities(
    network: Network, fields: Float64[np.ndarray, " neurons"], neurons: Int[np.ndarray, " some"]
) -> tuple[Float64[np.ndarray, " some"] | None, Float64[np.ndarray, " some"] | None]:
    """P(j) of an attribute's neurons before and given the others: by the odds [B eq 20], or normalised [B eq 1]."""
    if network.prior is None or network.prior_bias is None:
        return None, None
    prior = network.prior.cpu().numpy()[neurons]
    support = fields[neurons] + network.prior_bias.cpu().numpy()[neurons]
    if network.silence is not None:  # both states of a neuron speak: the field is in log odds
        return prior, np.exp2(-np.logaddexp2(0.0, -support))
    if len(neurons) == 1:  # only "on" speaks: there is nothing to normalise by
        return prior, None
    return prior, np.exp2(support - np.logaddexp2.reduce(support))


def _overlaps(states: np.ndarray, own: np.ndarray, left_out: np.ndarray) -> Float64[np.ndarray, " batch"]:
    """1 - 2 x share of differing neurons of each row with its own pattern, over the neurons not left out."""
    differ = ((states == 1) != (own == 1)) & ~left_out
    compared = np.maximum((~left_out).sum(axis=1), 1)
    return np.asarray(1.0 - 2.0 * differ.sum(axis=1) / compared, dtype=np.float64)


def _chosen(
    request: Request, name: str, records: Records, classes: Sequence[Value | None] | None
) -> Int[np.ndarray, " chosen"]:
    """Rows to learn: of patterns with a class the first of each, then the second of each; else from the top."""
    order, number = np.arange(records.rows), records.rows
    if classes is not None:
        seen: dict[Value | None, int] = {}
        turn = []
        for value in classes:
            turn.append(seen.get(value, 0))
            seen[value] = turn[-1] + 1
        order, number = np.argsort(turn, kind="stable"), len(seen)
    wanted = request.patterns or number
    if wanted > records.rows:
        raise DataError(f"--patterns: got {wanted}; {name} has {records.rows} rows.")
    return order[:wanted]


def _input(text: str) -> str | float:
    """``prior``, or a number of bits."""
    try:
        return "prior" if text == "prior" else float(text)
    except ValueError:
        raise DataError(f"--input: got {text!r}; give a number of bits, or prior.") from None


def _dynamics(request: Request, table: bool) -> Dynamics:
    """The dynamics by name with its own options; others' options are an error."""
    name = request.dynamics or ("winner-take-all" if table else "asynchronous")
    if name not in DYNAMICS:
        raise unknown_name("--dynamics", name, DYNAMICS)
    given = {"parallel": request.parallel or None, "temperature": request.temperature, "winners": request.winners}
    options = {}
    for option, value in given.items():
        field = "k" if option == "winners" else option
        if value is None:
            continue
        able = [n for n, kind in DYNAMICS.items() if field in {f.name for f in dataclasses.fields(kind)}]
        if name not in able:
            raise DataError(f"--{option}: {name!r} has no such option; use --dynamics {' or '.join(sorted(able))}.")
        options[field] = value
    return DYNAMICS[name](**options)
