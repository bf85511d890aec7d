"""What programs ask and are told: the shapes of the interface under /api."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, StrictBool, StrictInt, StrictStr

from bnn.dynamics import DYNAMICS
from bnn.errors import unknown_name
from bnn.rules import RULES
from bnn.web.limits import MOST_COLUMNS, MOST_CUES, MOST_NEURONS, MOST_PATTERNS, MOST_QUESTIONS
from bnn.web.settings import SEEDS

LARGEST = 2**53
"""Whole numbers up to here are the same as floats."""


def _one_of(owner: str, names: Iterable[str]) -> tuple[Any, Any]:
    """How a field says which names it takes, and refuses others."""
    known = tuple(names)

    def check(name: str) -> str:
        if name not in known:
            raise unknown_name(owner, name, known)
        return name

    return AfterValidator(check), Field(json_schema_extra={"enum": list(known)})


RuleName = Annotated[str, *_one_of("rule", RULES)]
DynamicsName = Annotated[str, *_one_of("dynamics", DYNAMICS)]
Number = Annotated[FiniteFloat, Field(strict=True)] | Annotated[StrictInt, Field(ge=-LARGEST, le=LARGEST)]
Value = Annotated[StrictStr, Field(max_length=1000)] | StrictBool | Number | None
Name = Annotated[str, Field(max_length=200)]
Row = Annotated[dict[Name, Value], Field(max_length=MOST_COLUMNS)]
State = Annotated[StrictInt, Field(ge=0, le=1)]


class Question(BaseModel):
    """Anything that is asked; what it has no room for is refused."""

    model_config = ConfigDict(extra="forbid")


class Consultation(Question):
    """Cases put to a classifier."""

    data: Name | None = Field(None, description="What to consult, a name of GET /api/names; null: what is served.")
    rows: Annotated[list[Row], Field(min_length=1, max_length=MOST_QUESTIONS)] = Field(
        description="Cases: value by attribute; what is left out or null is unknown, and adds nothing.",
        examples=[[{"changes_in_node": "lac central", "special_forms": "vesicles"}]],
    )


class Recollection(Question):
    """Cues to recall, and what to remember."""

    data: Name | None = Field(None, description="Patterns by name, of GET /api/names; null: those given or served.")
    patterns: (
        Annotated[
            list[Annotated[list[State], Field(min_length=1, max_length=MOST_NEURONS)]],
            Field(min_length=1, max_length=MOST_PATTERNS),
        ]
        | None
    ) = Field(
        None,
        description="Patterns of equal length to learn, 1 on and 0 off, instead of data.",
        examples=[[[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0, 0]]],
    )
    cues: Annotated[
        list[Annotated[list[State | None], Field(min_length=1, max_length=MOST_NEURONS)]],
        Field(min_length=1, max_length=MOST_CUES),
    ] = Field(description="What recall starts from; null: unknown.", examples=[[[1, 1, 1, 1, 0, 0, 0, 1]]])
    rule: RuleName = "odds"
    dynamics: DynamicsName = "asynchronous"
    seed: Annotated[StrictInt, Field(ge=0, lt=SEEDS)] = 0
    max_sweeps: Annotated[StrictInt, Field(ge=1, le=200)] = 100


class Names(BaseModel):
    """What can be asked about."""

    consult: list[str]
    recall: list[str]


class Predictions(BaseModel):
    """The most probable class of each row, and the probability of each class."""

    classes: list[str]
    predictions: list[str]
    probabilities: list[list[float]]
    notes: list[str] = Field(description="What was noticed, such as values never learned.")


class Term(BaseModel):
    """What one value says: log2 P(C | V) / P(C) in bits for each class, and the cases behind it."""

    attribute: str
    value: str
    gains: list[float | None] = Field(description="null: the value excludes the class.")
    cases: float


class Reasons(BaseModel):
    """One row explained: prior + gains - normaliser = log2 of the probability."""

    prior: list[float | None]
    terms: list[Term]
    normaliser: float
    log2_probabilities: list[float | None]


class Explanations(BaseModel):
    """Every row explained, in bits."""

    classes: list[str]
    rows: list[Reasons]
    notes: list[str]


class Recalled(BaseModel):
    """One cue recalled."""

    state: list[float] = Field(description="1 on, 0 off; of graded neurons the probability of being on.")
    outcome: str = Field(description="settled, cycle, limit or stalled.")
    sweeps: int
    flips: int
    falling: list[float] = Field(description="What must fall, at each sweep's end.")
    nearest: int = Field(description="The stored pattern with the largest overlap.")
    overlap: float
    match: str = Field(description="stored, inverse or spurious.")


class Recollections(BaseModel):
    """Every cue recalled, and whether what must fall fell."""

    falls: str
    unit: str
    descent_holds: bool
    largest_rise: float
    guaranteed: bool
    reason: str
    rows: list[Recalled]


class Refusal(BaseModel):
    """Why a question is not answered, in a sentence."""

    detail: str | list[dict[str, object]]
