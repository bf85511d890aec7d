"""The work of ``bnn compare``: read the table, compare, write pictures and CSV files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from bnn import plots
from bnn.app.data import training_table
from bnn.classify import comparison
from bnn.classify.paired import Difference
from bnn.classify.registry import CLASSIFIERS
from bnn.classify.scores import MEASURES, Comparison
from bnn.errors import DataError, FileError, unknown_name
from bnn.files import write_atomically

SCORES, RELIABILITY = "bnn-compare", "bnn-compare-reliability"
RESULTS, SPLITS = "bnn-compare-results.csv", "bnn-compare-splits.csv"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for; the command's options say what each means."""

    data: str
    target: str = "class"
    ignored: tuple[str, ...] = ()
    classifiers: tuple[str, ...] = ()
    splits: int = 10
    repeats: int = 10
    train: float = 0.7
    seed: int = 0
    out: Path = Path()


@dataclass(frozen=True, slots=True)
class Task:
    """A request made ready to run: estimators by name, attributes and labels."""

    request: Request
    classifiers: Mapping[str, Any]
    attributes: pa.Table
    labels: pa.ChunkedArray


def prepare(request: Request) -> Task:
    """Read the data and check every option.

    Raises
    ------
    BnnError
        Whatever does not fit, in one sentence that names the option.
    """
    if not 0 < request.train < 1:
        raise DataError(f"--train: got {request.train:g}; give the share of rows to train on, between 0 and 1.")
    if request.splits * request.repeats < 2:
        raise DataError("--splits: one split shows no spread; ask for more splits or --repeats.")
    for name in request.classifiers:
        if name not in CLASSIFIERS:
            raise unknown_name("--classifier", name, CLASSIFIERS)
    if not request.out.is_dir():
        raise FileError(f"--out: {str(request.out)!r} is no folder; make it first.")
    attributes, labels = training_table(request.data, request.target, request.ignored)
    chosen = request.classifiers or tuple(CLASSIFIERS)
    return Task(request, {name: CLASSIFIERS[name] for name in chosen}, attributes, labels)


def run(task: Task, progress: Callable[[int, int], None]) -> Comparison:
    """Compare on every split."""
    request = task.request
    return comparison.compare(
        task.classifiers,
        task.attributes,
        task.labels,
        splits=request.splits,
        repeats=request.repeats,
        train=request.train,
        seed=request.seed,
        progress=progress,
    )


def differences(found: Comparison) -> dict[str, tuple[Difference, ...]]:
    """Differences from the first classifier, by measure."""
    return {measure: found.differences(measure) for measure in MEASURES}


def write(found: Comparison, folder: Path, ending: str) -> list[str]:
    """Write pictures and CSV files into a folder, each all of it or nothing, and return where they are."""
    calibration = {name: found.calibration_table(name) for name in found.classifiers}
    figures = {f"{SCORES}.{ending}": plots.scores(found), f"{RELIABILITY}.{ending}": plots.reliability(calibration)}
    for name, figure in figures.items():
        write_atomically(folder / name, partial(figure.savefig, dpi=150))
    found.write(folder / RESULTS, folder / SPLITS)
    return [str(folder / name) for name in (*figures, RESULTS, SPLITS)]
