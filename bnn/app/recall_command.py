"""The work of ``bnn recall``: read data, check what was asked, learn each rule, recall the cues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Int

from bnn import datasets
from bnn.app.arguments import spoken
from bnn.app.data import basket_records, memory_table, require_format
from bnn.app.dynamics import PARAMETERS, dynamics_of, input_of
from bnn.driver import recall
from bnn.dynamics.base import Dynamics
from bnn.errors import DataError, unknown_name
from bnn.learning import find, learn, options_of
from bnn.noise import corrupt
from bnn.records import Baskets, Records
from bnn.rules import RULES
from bnn.schema import Value
from bnn.trace import Trace

SIDE_BY_SIDE = ("odds", "probability", "hopfield")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for; the command's options say what each means."""

    data: str = "mnist-100"
    form: str = "table"
    patterns: int | None = None
    noise: float | None = None
    row: int | None = None
    mask: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    free: bool = False
    rules: tuple[str, ...] = ()
    learning: Mapping[str, Any] = field(default_factory=dict)
    dynamics: str | None = None
    parallel: bool = False
    winners: int | None = None
    temperature: float | None = None
    gain: float | None = None
    solver: str | None = None
    input: str = "0"
    seed: int = 0
    max_sweeps: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A request made ready to run.

    Attributes
    ----------
    request
        What was asked for.
    name
        Name of the data, for people.
    learned
        The records each rule learns.
    cues, truth
        Row by row, what recall starts from and what it should come back to.
    rules, dynamics, input, clamp
        As `bnn.learn` and `bnn.recall` take them.
    noise
        Share of the known cells that were changed in the cues (of baskets: of the items left out); None where one row
        is asked about instead.
    among
        Whether the row asked about is one of those learned.
    """

    request: Request
    name: str
    learned: Records
    cues: Records
    truth: Records
    rules: tuple[str, ...]
    dynamics: Dynamics
    input: str | float
    clamp: tuple[str, ...] | None = None
    noise: float | None = None
    among: bool = True


BASKETS = 100  # that are recalled
FEW = 12  # cues whose every flip is drawn
INSTEAD = {
    "patterns": "take asynchronous, winner-take-all or k-winners without --parallel, or glauber",
    "weights": "take --rule modern, or another dynamics",
}


def prepare(request: Request) -> Task:
    """Read the data and check every option.

    Raises
    ------
    BnnError
        Whatever does not fit, in one sentence that names the option.
    """
    _check(request)
    given = input_of(request.input)
    # rules without a prior are left out, where nobody named them, when the prior is asked for
    usual = SIDE_BY_SIDE if request.form == "table" else ("probability",)
    able = [rule for rule in usual if given != "prior" or RULES[rule].prior_bias is not None]
    rules = tuple(dict.fromkeys(request.rules)) or tuple(able)
    for option, value in request.learning.items():
        if value is not None and not any(option in options_of(find(rule)) for rule in rules):
            owners = " and ".join(rule for rule in RULES if option in options_of(RULES[rule]))
            have = "has" if len(rules) == 1 else "have"
            raise DataError(f"--{option}: {' and '.join(rules)} {have} no such option; it belongs to {owners}.")
    name, records, classes = read_data(request.data, request.ignored, request.form)
    table = any(attribute.kind != "on_off" for attribute in records.schema.attributes)
    named = request.dynamics or ("winner-take-all" if table else "asynchronous")
    dynamics = dynamics_of(named, {option: getattr(request, option) for option in PARAMETERS})
    for rule in rules:
        keeps = "weights" if find(rule).pairwise else "patterns"
        if keeps not in dynamics.runs:
            raise DataError(
                f"--dynamics: {dynamics.name} as asked for works by {dynamics.runs[0]}, and the rule {rule} keeps "
                f"{keeps}; {INSTEAD[keeps]}."
            )
        if not find(rule).symmetric and not getattr(dynamics, "parallel", True):
            raise DataError(
                f"--rule: {rule} has asymmetric weights, so no energy that {dynamics.name} could choose by; "
                "add --parallel."
            )
    noise = 0.1 if request.noise is None else request.noise
    if isinstance(records, Baskets) and request.row is None:
        truth = records[: request.patterns or BASKETS]
        cues = corrupt(truth, delete=noise, seed=request.seed)
        return Task(request, name, records, cues, truth, rules, dynamics, given, noise=noise)
    chosen = (
        np.arange(records.rows)
        if isinstance(records, Baskets)
        else chosen_rows(request.patterns, name, records, classes)
    )
    learned = records[chosen]
    if request.row is None:
        cells = len(records.schema.names)
        if noise > 0.0 and round(noise * cells) == 0:
            noise = 1 / cells  # a narrow table has one cell changed
        cues = corrupt(learned, flip=noise, seed=request.seed)
        return Task(request, name, learned, cues, learned, rules, dynamics, given, noise=noise)
    truth, cue = _row(request, name, records)
    clamp = None if request.free else tuple(n for n in records.schema.names if n not in request.mask)
    among = request.row in chosen.tolist()
    return Task(request, name, learned, cue, truth, rules, dynamics, given, clamp, among=among)


def run(task: Task, rule: str, progress: Callable[[int, int], None]) -> Trace:
    """Learn by one rule and recall every cue."""
    known = options_of(find(rule))
    options = {name: value for name, value in task.request.learning.items() if value is not None and name in known}
    return recall(
        learn(task.learned, rule, **options),
        task.cues,
        task.dynamics,
        clamp=task.clamp,
        input=task.input,
        seed=task.request.seed,
        max_sweeps=task.request.max_sweeps,
        record="flips" if task.cues.rows <= FEW and not task.dynamics.graded else "sweeps",
        progress=progress,
    )


def read_data(
    data: str, ignored: Sequence[str], form: str = "table"
) -> tuple[str, Records, Sequence[Value | None] | None]:
    """A data set by name, or a file: its name, its records, and each pattern's class where there is one."""
    if form == "baskets":
        return spoken(data), basket_records(data, ignored), None
    records, table = memory_table(data, ignored)
    apart = datasets.CLASS in table.column_names and datasets.CLASS not in records.schema.names
    return spoken(data), records, table[datasets.CLASS].to_pylist() if apart else None


def _check(request: Request) -> None:
    """Refuse options that contradict each other or cannot be, before anything is read."""
    require_format(request.form)
    if request.row is None:
        if request.mask:
            raise DataError("--mask: hides attributes of one row; name that row with --row, such as --row 3.")
        if request.free:
            raise DataError("--free: frees the attributes that --row keeps; give --row and --mask, or leave it out.")
    elif not request.mask:
        raise DataError("--row: nothing is hidden; name what to recall with --mask, such as --mask legs.")
    elif request.noise is not None:
        raise DataError("--noise: changes cells of every cue, while --row asks about one row; leave one of them out.")
    if request.noise is not None and not 0.0 <= request.noise <= 1.0:
        raise DataError(f"--noise: got {request.noise:g}; give the share of cells to change, between 0 and 1.")
    for rule in request.rules:
        if rule not in RULES:
            raise unknown_name("--rule", rule, RULES)


def _row(request: Request, name: str, records: Records) -> tuple[Records, Records]:
    """The row asked about, and the same with what is hidden unknown."""
    if request.row is None or not 0 <= request.row < records.rows:
        raise DataError(f"--row: got {request.row}; {name} has the rows 0 to {records.rows - 1}.")
    for attribute in request.mask:
        if attribute not in records.schema.names:
            raise unknown_name("--mask", attribute, records.schema.names)
    truth = records[[request.row]]
    codes = truth.codes.copy()
    codes[:, [records.schema.index(attribute) for attribute in request.mask]] = -1
    return truth, Records(codes, records.schema)


def chosen_rows(
    patterns: int | None, name: str, records: Records, classes: Sequence[Value | None] | None
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
    wanted = patterns or number
    if wanted > records.rows:
        raise DataError(f"--patterns: got {wanted}; {name} has {records.rows} rows.")
    return order[:wanted]
