"""Errors and warnings of the package: one sentence each, owner first, remedy last."""

import difflib
from collections.abc import Iterable


class BnnError(Exception):
    """Base of every error the package raises on purpose; the command line turns it into exit code 2."""


class DataError(BnnError, ValueError):
    """Records, patterns, cues or arguments that cannot mean what they should."""


class CellTypeError(DataError, TypeError):
    """A cell of a table, or an argument, that is of no type a value can have."""


class SchemaError(DataError):
    """Two tables, counts or networks that do not speak of the same attributes and values."""


class FileError(BnnError, ValueError):
    """A file that is missing, damaged, foreign, or written by a newer version."""


class ClusterError(BnnError, RuntimeError):
    """A cluster that is not installed, does not answer, or cannot finish its work."""


class DescentError(BnnError, ArithmeticError):
    """A function that must fall was seen to rise although every hypothesis of its guarantee holds."""


class BnnWarning(UserWarning):
    """Base of the package's own warnings, so that they can be silenced or raised as one family."""


class UnseenValueWarning(BnnWarning):
    """Values outside the schema were met and treated as missing."""


class DamageWarning(BnnWarning):
    """Rows or files that cannot be read were left out."""


class IdentifierWarning(BnnWarning):
    """An attribute whose every value occurs once: it names the rows and cannot help with new ones."""


class MeasurementWarning(BnnWarning):
    """Numbers of which each became a value of its own, so that other numbers will be unknown."""


class NewClassWarning(BnnWarning):
    """A class that earlier rows did not have was met; the columns of probabilities have moved."""


class ContradictionWarning(BnnWarning):
    """Rows whose evidence excludes every class, as unsmoothed zero counts can; they were given the prior."""


def unknown_name(owner: str, name: object, known: Iterable[object]) -> DataError:
    """Build the error for a name that is not in a list, naming the nearest one that is.

    Examples
    --------
    >>> print(unknown_name("learn.rule", "ods", ["odds", "hopfield"]))
    learn.rule: there is no 'ods'; did you mean 'odds'? Known: 'hopfield', 'odds'.
    """
    names = sorted(map(str, known))
    folded = {known.casefold(): known for known in names}
    near = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.5)
    hint = f"did you mean {folded[near[0]]!r}? " if near else ""
    shown = ", ".join(map(repr, names[:12])) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    return DataError(f"{owner}: there is no {str(name)!r}; {hint}Known: {shown}.")
