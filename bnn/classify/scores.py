"""What a comparison of classifiers found: scores, differences, tables and files."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pacsv
from jaxtyping import Bool, Float64, Int64

from bnn import metrics
from bnn.classify.paired import Difference, paired_differences
from bnn.errors import unknown_name
from bnn.files import write_atomically
from bnn.frames import frame_of

MEASURES = ("accuracy", "information", "log_loss")


@dataclass(frozen=True, slots=True)
class Score:
    """What one classifier reached: means over the splits, and standard deviations from split to split.

    Attributes
    ----------
    classifier
        Its name.
    accuracy, accuracy_sd
        Share of test rows whose most probable class is the true one.
    information, information_sd
        Information score, bits a test row [B 2.4]; the priors are Laplace's, of the split's training rows.
    log_loss, log_loss_sd
        Bits a test row.
    """

    classifier: str
    accuracy: float
    accuracy_sd: float
    information: float
    information_sd: float
    log_loss: float
    log_loss_sd: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison:
    """What `compare` found; all arrays are read-only. Splits are numbered repeat by repeat.

    Attributes
    ----------
    classifiers, classes
        Names in the order they were given; labels in sorted or declared order.
    accuracy, information, log_loss
        [classifiers, splits of all repeats], the last two in bits a test row.
    calibration
        [classifiers, 10, 3]: `metrics.calibration_sums` of the most probable class over all test rows.
    trained, tested
        [splits of all repeats, rows]: which rows each split trains on and is tested on; one without a label in none.
    repeats, seed, floor
        As given.
    """

    classifiers: tuple[str, ...]
    classes: tuple[Any, ...]
    accuracy: Float64[np.ndarray, "classifiers splits"]
    information: Float64[np.ndarray, "classifiers splits"]
    log_loss: Float64[np.ndarray, "classifiers splits"]
    calibration: Float64[np.ndarray, "classifiers bins 3"]
    trained: Bool[np.ndarray, "splits rows"]
    tested: Bool[np.ndarray, "splits rows"]
    repeats: int
    seed: int
    floor: float

    def __post_init__(self) -> None:
        for field in fields(self):
            if isinstance(array := getattr(self, field.name), np.ndarray):
                array.flags.writeable = False

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.classifiers)}; {len(self.tested)} splits, seed {self.seed})"

    @property
    def scores(self) -> tuple[Score, ...]:
        """Means and standard deviations of each classifier, in the order they were given."""
        spread = [(values.mean(axis=1), values.std(axis=1, ddof=1)) for values in self._measures.values()]
        columns = [column.tolist() for pair in spread for column in pair]
        return tuple(Score(name, *numbers) for name, *numbers in zip(self.classifiers, *columns, strict=True))

    def differences(
        self, measure: str = "accuracy", *, baseline: str | None = None, confidence: float = 0.95
    ) -> tuple[Difference, ...]:
        """Compare each classifier with one of them on the same splits, with intervals that heed the overlap.

        Parameters
        ----------
        measure
            ``"accuracy"``, ``"information"`` or ``"log_loss"``.
        baseline
            Name of the one that others are compared with; None: the first.
        confidence
            Of each interval by itself; the p-values ``p_holm`` hold for all of them together.

        Raises
        ------
        DataError
            No such measure or classifier.
        """
        if measure not in MEASURES:
            raise unknown_name("Comparison.differences.measure", measure, MEASURES)
        baseline = self.classifiers[0] if baseline is None else baseline
        if baseline not in self.classifiers:
            raise unknown_name("Comparison.differences.baseline", baseline, self.classifiers)
        values = self._measures[measure]
        ratio = float(self.tested[0].sum() / self.trained[0].sum())
        own = dict(zip(self.classifiers, values, strict=True))
        return paired_differences(own, baseline, ratio, confidence)

    def calibration_table(self, classifier: str, backend: str = "pyarrow") -> Any:
        """`metrics.calibration_table` of one classifier's most probable class over the test rows of all splits."""
        if classifier not in self.classifiers:
            raise unknown_name("Comparison.calibration_table.classifier", classifier, self.classifiers)
        return metrics.calibration_frame(self.calibration[self.classifiers.index(classifier)], backend)

    def to_frame(self, backend: str = "pyarrow") -> Any:
        """One line a classifier and split: ``classifier``, ``repeat``, ``split`` and the three measures.

        Parameters
        ----------
        backend
            ``"pyarrow"``, ``"pandas"`` or ``"polars"``.
        """
        repeat, split = self._numbers
        number = len(self.classifiers)
        columns = {
            "classifier": np.repeat(self.classifiers, len(repeat)).tolist(),
            "repeat": np.tile(repeat, number),
            "split": np.tile(split, number),
            **{name: values.ravel() for name, values in self._measures.items()},
        }
        return frame_of(columns, backend, "Comparison.to_frame")

    def splits_to_frame(self, backend: str = "pyarrow") -> Any:
        """One line a split and row: ``repeat``, ``split``, ``row`` counted from 0, ``part`` train or test."""
        repeat, split = self._numbers
        at, row = np.nonzero(self.trained | self.tested)
        part = np.where(self.tested[at, row], "test", "train").tolist()
        columns = {"repeat": repeat[at], "split": split[at], "row": row, "part": part}
        return frame_of(columns, backend, "Comparison.splits_to_frame")

    def write(self, results: str | os.PathLike[str], splits: str | os.PathLike[str]) -> None:
        """Write `to_frame` and `splits_to_frame` as CSV files, each all of it or nothing.

        Raises
        ------
        FileError
            A folder that is missing, or the system refuses.
        """
        for path, frame in ((results, self.to_frame()), (splits, self.splits_to_frame())):
            _write_csv(path, frame)

    @property
    def _measures(self) -> dict[str, Float64[np.ndarray, "classifiers splits"]]:
        return {name: getattr(self, name) for name in MEASURES}

    @property
    def _numbers(self) -> tuple[Int64[np.ndarray, " splits"], Int64[np.ndarray, " splits"]]:
        """Repeat and split, each counted from 0, of every split."""
        repeat, split = np.divmod(np.arange(len(self.tested)), len(self.tested) // self.repeats)
        return repeat, split


def _write_csv(path: str | os.PathLike[str], frame: Any) -> None:
    """Write an Arrow table as CSV, atomically."""
    write_atomically(Path(path), lambda temporary: pacsv.write_csv(frame, temporary))
