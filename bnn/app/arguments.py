"""Words of the command line that several commands share, and what the shell offers to complete them."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from bnn.app.output import FORMATS, known_format

RULES = (
    "odds", "probability", "hopfield", "hebb", "covariance", "presynaptic-covariance", "willshaw", "bcpnn", "storkey",
    "pseudo-inverse", "dense", "modern",
)  # fmt: skip
CLASSIFIERS = (
    "naive", "semi-naive", "tree", "chain", "successive", "network", "hopfield", "sklearn-categorical",
    "sklearn-logistic",
)  # fmt: skip
DYNAMICS = ("asynchronous", "synchronous", "winner-take-all", "k-winners", "glauber", "flow", "attention")
STDIN = "-"
SPOOL = "standard-input.csv"


def completed(words: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """What the shell offers: those of the words that begin as the one being typed does."""

    def offered(incomplete: str) -> list[str]:
        return [word for word in words() if word.startswith(incomplete)]

    return offered


def paragraphs(text: str) -> str:
    """The paragraphs of a docstring without the line breaks in them, which typer would keep."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _data_sets() -> Iterable[str]:
    from bnn import datasets

    return datasets.names()


rule_names = completed(lambda: RULES)
dynamics_names = completed(lambda: DYNAMICS)
classifier_names = completed(lambda: CLASSIFIERS)
data_names = completed(_data_sets)


def spooled(context: Any, data: Any) -> Any:
    """``-`` as a file: what standard input holds, kept until the command ends, as tables may be read twice."""
    if isinstance(data, list):
        return [spooled(context, one) for one in data]
    if data != STDIN or context.resilient_parsing:
        return data
    folder = tempfile.TemporaryDirectory(prefix="bnn-")
    context.call_on_close(folder.cleanup)
    file = Path(folder.name) / SPOOL
    with file.open("wb") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
    return str(file)


def spoken(text: str) -> str:
    """A text in which the file of `spooled` is called what it holds."""
    place = re.escape(tempfile.gettempdir()) + r"[\\/]bnn-\w+[\\/]" + re.escape(SPOOL)
    return re.sub(place, "standard input", text)


Learned = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE.csv|-",
        help="A data set (see bnn datasets), a CSV file, or - for CSV from standard input.",
        show_default=False,
        autocompletion=data_names,
        callback=spooled,
    ),
]
"""A table that is learned."""

Asked = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE.csv|-",
        help="A data set, a CSV file, or - for CSV from standard input, with the columns that were learned, in any "
        "order; others do no harm.",
        show_default=False,
        autocompletion=data_names,
        callback=spooled,
    ),
]
"""Rows that a classifier is asked about."""

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME|FILE...|-",
        help="A data set (see bnn datasets), or CSV or Parquet files of the same columns and any size; patterns such "
        'as "2026-*.parquet" too; or - for CSV from standard input.',
        show_default=False,
        autocompletion=data_names,
        callback=spooled,
    ),
]
"""Tables that are learned as one."""

DATA_FORMATS = ("table", "baskets")
DATA_FORMAT = "table: a CSV file; baskets: a text file of one basket a line, items separated by spaces or commas."
"""What ``--format`` does."""

IGNORED = "Leave this column out, such as a name; may be repeated."
"""What ``--ignore`` does."""

PictureFormat = Annotated[
    str,
    typer.Option(
        "--pictures",
        metavar="png|pdf|svg",
        help="Of pictures in a folder; a file's name says its own.",
        rich_help_panel="Output",
        autocompletion=completed(lambda: FORMATS),
        callback=known_format,
    ),
]
"""How pictures are written that are not named by the user."""

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that bnn fit wrote.", show_default=False)]
"""A classifier in a file."""
