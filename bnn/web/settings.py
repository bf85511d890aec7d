"""What the recall room shows, as settings that an address can carry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from bnn.dynamics import DYNAMICS
from bnn.errors import DataError, unknown_name
from bnn.rules import RULES

SEEDS = 2**32
MOST_LEARNED = 20
"""Patterns that one address, and so one session, may add."""
BLANK = -1
"""Number of the pattern that has nothing on."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides what the recall room shows.

    Attributes
    ----------
    data
        Name of the patterns.
    pattern
        Number of the stored pattern that the cue starts from; `BLANK`: an empty sheet.
    noise
        Share of the cue's cells that are flipped.
    seed
        Of the noise, of the order of updates, and of the connections cut.
    rules
        One rule, or two side by side.
    dynamics
        A key of `bnn.DYNAMICS`.
    cut
        Share of the connections cut.
    edits
        Cells changed by hand, as packed bits in hexadecimal digits; empty: none.
    learned
        Patterns learned beside those of the data, each as packed bits in hexadecimal digits.
    forgotten
        Numbers of the patterns forgotten again, those learned counted on after those of the data.

    Raises
    ------
    DataError
        A value that cannot be.

    Examples
    --------
    >>> Settings.of({"noise": "0.2", "rules": "odds,storkey"}).query()
    'noise=0.2&rules=odds%2Cstorkey'
    """

    data: str = "mnist-100"
    pattern: int = 0
    noise: float = 0.1
    seed: int = 0
    rules: tuple[str, ...] = ("odds", "hopfield")
    dynamics: str = "asynchronous"
    cut: float = 0.0
    edits: str = ""
    learned: tuple[str, ...] = ()
    forgotten: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("noise", "cut"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise DataError(f"{name}: got {getattr(self, name):g}; give a share between 0 and 1.")
        if not 0 <= self.seed < SEEDS:
            raise DataError(f"seed: got {self.seed}; give a whole number from 0 to {SEEDS - 1}.")
        if len(self.rules) not in (1, 2):
            raise DataError(f"rules: got {len(self.rules)}; name one, or two to compare.")
        for rule in self.rules:
            if rule not in RULES:
                raise unknown_name("rules", rule, RULES)
        if self.dynamics not in DYNAMICS:
            raise unknown_name("dynamics", self.dynamics, DYNAMICS)
        if len(self.learned) > MOST_LEARNED:
            raise DataError(f"learned: got {len(self.learned)} patterns; at most {MOST_LEARNED} fit into an address.")

    @staticmethod
    def of(query: Mapping[str, str], **defaults: Any) -> Settings:
        """Read the part of an address after the question mark; names that mean nothing here are passed over."""
        given = {name: _read(name, query[name]) for name in query if name in _KINDS}
        return Settings(**{**defaults, **given})

    def query(self) -> str:
        """The part of an address after the question mark: what differs from the defaults."""
        told = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return urlencode({name: _told(value) for name, value in told.items()})


_KINDS: dict[str, type] = {f.name: type(f.default) for f in fields(Settings)}


def _told(value: Any) -> str:
    """A setting in words of an address."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _read(name: str, text: str) -> Any:
    """The inverse of `_told`."""
    kind = _KINDS[name]
    if kind is str:
        return text
    try:
        if kind is not tuple:
            return kind(text)
        parts = tuple(part for part in text.split(",") if part)
        return tuple(map(int, parts)) if name == "forgotten" else parts
    except ValueError:
        raise DataError(f"{name}: got {text[:40]!r}; give a number.") from None
