"""A run of ``bnn fit`` that goes on where it was interrupted: its counts, and which rows are in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bnn.classify.naive import NaiveBayesClassifier
from bnn.classify.storing import load_classifier, note_of, save
from bnn.classify.streamed import Meaning, Progress
from bnn.csvfile import Place
from bnn.errors import FileError
from bnn.sources import Fragment, Mark, Source
from bnn.streaming import Losses

REMEDY = "name another --out to count anew"


@dataclass(frozen=True, slots=True)
class Saved:
    """Counts in the file of their classifier, with a note which rows are in them.

    Attributes
    ----------
    path
        The file.
    target, ignored
        What was asked of the tables.
    stamps
        Of each file in order: its size, and when it was changed last.
    """

    path: Path
    target: str
    ignored: tuple[str, ...]
    stamps: Mapping[str, list[int]]

    @staticmethod
    def of(path: Path, source: Source, target: str, ignored: Sequence[str]) -> Saved:
        """Note the files as they are before they are read."""
        stats = {file: Path(file).stat() for file in source.files}
        stamps = {file: [stat.st_size, stat.st_mtime_ns] for file, stat in stats.items()}
        return Saved(path, target, tuple(sorted(set(ignored))), stamps)

    def write(self, classifier: NaiveBayesClassifier, progress: Progress) -> None:
        """Replace the file by what has been counted so far: all of it or nothing."""
        end = progress.end
        if end is None:
            return
        files = list(self.stamps)
        begun = files[: files.index(end.fragment.path) + 1]
        note = {
            "target": self.target,
            "ignored": list(self.ignored),
            "files": {file: self.stamps[file] for file in begun},
            "end": asdict(end),
            "left_out": progress.left_out,
            "losses": asdict(progress.losses),
        }
        classifier.counts_ = progress.counts
        save(classifier, self.path, note)

    def take_up(self, wanted: NaiveBayesClassifier) -> tuple[NaiveBayesClassifier, Meaning, Progress]:
        """The classifier as it was saved, what columns mean to it, and its counts so far.

        Raises
        ------
        FileError
            A file of something else, of other options, or of tables that have changed since or are not among ours.
        """
        classifier, note = load_classifier(self.path), note_of(self.path)
        if note is None:
            raise FileError(f"{self.path}: does not say which rows are in it, so that none can be added; {REMEDY}.")
        self._require_same(classifier, wanted, note)
        self._require_unchanged(note["files"])
        try:
            progress = Progress(classifier.counts_, note["left_out"], _losses(note["losses"]), _mark(note["end"]))
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{self.path}: its note is damaged ({error!r}); {REMEDY}.") from error
        return classifier, Meaning(self.target, classifier.codebook_.columns, classifier.classes_), progress

    def _require_same(self, classifier: Any, wanted: NaiveBayesClassifier, note: Mapping[str, Any]) -> None:
        """Raise `FileError` where other options were asked for."""
        there = {"classifier": type(classifier).__name__, **classifier.get_params(deep=False)}
        here = {"classifier": type(wanted).__name__, **wanted.get_params(deep=False)}
        there |= {"target": note.get("target"), "ignore": note.get("ignored")}
        here |= {"target": self.target, "ignore": list(self.ignored)}
        for name, value in here.items():
            if there.get(name) != value:
                raise FileError(
                    f"{self.path}: was begun otherwise: {name} is {there.get(name)!r} there and {value!r} here; ask as "
                    f"it was asked, or {REMEDY}."
                )

    def _require_unchanged(self, files: Mapping[str, Sequence[int]]) -> None:
        """Raise `FileError` unless the files that are in it are our first ones, as they were."""
        for ours, theirs in zip([*self.stamps, *[None] * len(files)], files, strict=False):
            if ours != theirs:
                raise FileError(f"{self.path}: holds rows of {theirs!r}, but here is {ours!r}; name its files first.")
            if list(files[theirs]) != self.stamps[theirs]:
                raise FileError(f"{self.path}: {theirs!r} has changed since its rows were counted; {REMEDY}.")


def _mark(told: Mapping[str, Any]) -> Mark:
    """The inverse of `asdict`."""
    place = None if told["place"] is None else Place(**told["place"])
    return Mark(Fragment(**told["fragment"]), int(told["row"]), place)


def _losses(told: Mapping[str, Any]) -> Losses:
    """The inverse of `asdict`."""
    unseen = {name: (int(cells), example) for name, (cells, example) in told["unseen"].items()}
    return Losses(int(told["rows"]), int(told["places"]), tuple(told["damage"]), unseen)
