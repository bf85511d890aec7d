"""The work of ``bnn capacity``: check what was asked, search for each rule, draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from bnn import plots
from bnn.app.dynamics import dynamics_of, input_of
from bnn.dynamics import KWinners, WinnerTakeAll
from bnn.errors import DataError, unknown_name
from bnn.files import write_atomically
from bnn.learning import options_of
from bnn.rules import RULES
from bnn.study import FAMILIES, Capacity, Criterion, Family, Learner, Noise, Question, held, thresholds, tuned
from bnn.study.family import Prototypes

SIDE_BY_SIDE = ("odds", "probability", "hopfield")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for; the command's options say what each means."""

    rules: tuple[str, ...]
    family: str
    patterns: Mapping[str, Any]
    noise: Mapping[str, str | None]
    contiguous: bool
    scrambled: bool
    learn: tuple[str, ...]
    input: str
    tune: int
    dynamics: str | None
    parameters: Mapping[str, Any]
    max_sweeps: int | None
    criterion: str
    bound: float | None
    seeds: int
    seed: int
    precision: float
    most: int | None
    cues: int
    results: Path | None


@dataclass(frozen=True, slots=True)
class Task:
    """A request made ready to run: one question, and a learner for each rule."""

    request: Request
    question: Question
    learners: Mapping[str, Learner]
    criterion: Criterion


def prepare(request: Request) -> Task:
    """Check every option.

    Raises
    ------
    BnnError
        Whatever does not fit, in one sentence that names the option.
    """
    given = input_of(request.input)
    for rule in request.rules:
        if rule not in RULES:
            raise unknown_name("--rule", rule, RULES)
    able = tuple(rule for rule in SIDE_BY_SIDE if given != "prior" or RULES[rule].prior_bias is not None)
    rules = request.rules or able
    family = _family(request.family, {name: v for name, v in request.patterns.items() if v is not None})
    dynamics = None
    if request.dynamics or any(request.parameters.values()):
        dynamics = dynamics_of(request.dynamics or family.dynamics.name, request.parameters)
    if request.tune and given not in ("prior", 0.0):
        raise DataError("--tune: finds what is added to every field; leave --input out, or say prior.")
    if request.tune and isinstance(dynamics or family.dynamics, WinnerTakeAll | KWinners):
        raise DataError("--tune: a threshold changes nothing where winners take all; leave it out.")
    amounts = {name: _amount(name, text) for name, text in request.noise.items() if text is not None}
    wrong_by = "values" if request.scrambled else "pattern"
    noise = Noise(**amounts, contiguous=request.contiguous, wrong_by=wrong_by) if amounts else None
    options = _options(request.learn, rules)
    learners = {rule: Learner(RULES[rule], options[rule], given) for rule in rules}
    question = Question(family, noise, dynamics, request.max_sweeps, request.cues)
    return Task(request, question, learners, Criterion(request.criterion, request.bound))


def run(task: Task, learner: Learner, progress: Callable[[int, int], object]) -> Capacity:
    """Search for the capacity of one rule, with its best threshold where that is asked for."""
    request = task.request
    if request.tune:
        candidates = thresholds(learner.rule, prior=learner.input == "prior", **learner.learning)
        learner = tuned(
            task.question,
            candidates,
            criterion=task.criterion,
            budget=request.tune,
            most=request.most,
            results=request.results,
            progress=progress,
        ).learner
    return held(
        task.question,
        learner,
        task.criterion,
        range(request.seed, request.seed + request.seeds),
        request.precision,
        request.most,
        request.results,
        progress,
    )


def draw(found: Mapping[str, Capacity], picture: Path) -> str:
    """Write the picture, all of it or nothing, and return where it is."""
    figure = plots.capacity(found)
    write_atomically(picture, lambda temporary: figure.savefig(temporary, dpi=150))
    return str(picture)


def _family(
    name: str, given: dict[str, Any], option: str = "--family", known: Mapping[str, type[Family]] = FAMILIES
) -> Family:
    """The family of that name with its own options; those of another are an error."""
    if name not in known:
        raise unknown_name(option, name, known)
    own = signature(known[name]).parameters
    if "prototypes" in own:
        inner = {key: given.pop(key) for key in list(given) if key not in own}
        able = {key: kind for key, kind in known.items() if issubclass(kind, Prototypes)}
        given["prototypes"] = _family(given.get("prototypes", "dense"), inner, "--prototypes", able)
    for key in given:
        if key not in own:
            near, far = (
                [f"{word} {other}" for other, kind in kinds.items() if key in signature(kind).parameters]
                for word, kinds in ((option, known), ("--family", FAMILIES))
            )
            raise DataError(f"--{key}: {name!r} has no such option; use it with {' or '.join(near or far)}.")
    return known[name](**given)


def _amount(name: str, text: str) -> float | int:
    """A share or a whole number."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise DataError(f"--{name}: got {text!r}; give a share, such as 0.1, or a whole number, such as 2.") from None


def _options(words: tuple[str, ...], rules: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """For each rule those options that it has; an option that no rule has is an error."""
    chosen: dict[str, dict[str, Any]] = {rule: {} for rule in rules}
    known = {rule: options_of(RULES[rule]) for rule in rules}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise DataError(f"--learn: got {word!r}; give an option of the rule and its value, such as m=1.")
        able = [rule for rule in rules if name in known[rule]]
        if not able:
            raise unknown_name("--learn", name, {option for options in known.values() for option in options})
        for rule in able:
            chosen[rule][name] = _value(text)
    return chosen


def _value(text: str) -> Any:
    """A whole number, a number, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)
