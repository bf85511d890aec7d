"""The work of ``bnn recall``: read data, check what was asked, learn each rule, recall the cues."""

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
    table
        Whether the data are a table, not patterns.
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
    table: bool = False
    known: bool = True


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
        return Task(request, name, learned, cues, learned, noise, rules, dynamics, external, table=table)
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
    return Task(request, name, learned, cue, truth, None, rules, dynamics, external, clamp, table, known)


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
