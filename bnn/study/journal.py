"""The results file: every evaluated load on a line of its own, so that an interrupted study goes on from it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bnn import __version__
from bnn.errors import FileError
from bnn.files import write_atomically
from bnn.study.points import Point
from bnn.study.questions import Learner, Question

KIND, FORMAT = "bnn capacity", 1


class Journal:
    """Evaluated loads of one question, of any learners and seeds; kept in a JSON-lines file where one is named.

    The first line tells the question, each other one a learner and a `Point`. A line is written whole and at once, so
    that an interruption loses at most the load at work; a last line cut short is dropped, and its load evaluated again.

    Parameters
    ----------
    path
        The file to go on with or to begin; None: nothing is kept.
    question
        What was and will be asked.

    Raises
    ------
    FileError
        A file that answers another question, is no such file, is damaged, or cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str] | None, question: Question) -> None:
        self.path = None if path is None else Path(path)
        self._points: dict[str, Point] = {}
        if self.path is None:
            return
        head = {"kind": KIND, "format": FORMAT, "bnn": __version__, "question": question.describe()}
        if self.path.exists() and self.path.stat().st_size:
            self._read(self.path, head)
        else:
            write_atomically(self.path, lambda file: file.write_text(_line(head), encoding="utf-8"))

    def point(self, learner: Learner, seed: int, load: int, evaluate: Callable[[], Point]) -> Point:
        """The point that is known, or else evaluated and written."""
        key = _key(learner.describe(), seed, load)
        if key not in self._points:
            point = evaluate()
            if self.path is not None:
                self._append(self.path, {**learner.describe(), **asdict(point)})
            self._points[key] = point
        return self._points[key]

    def _append(self, path: Path, told: dict[str, Any]) -> None:
        """Write one line at the end, at once."""
        try:
            with path.open("r+b", buffering=0) as file:  # a file that is gone is not begun again without its first line
                file.seek(0, os.SEEK_END)
                file.write(_line(told).encode())
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror or error}.") from error

    def _read(self, path: Path, head: dict[str, Any]) -> None:
        """Take over what the file tells; a last line that was cut short is taken off."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error.strerror or error}.") from error
        first, *lines = content.splitlines(keepends=True)
        _require_same(path, first, head)
        whole = len(first)
        for number, line in enumerate(lines, start=2):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError("cut short")
                told = json.loads(line)
                point = Point(**{name: told[name] for name in Point.__dataclass_fields__})
                key = _key({name: told[name] for name in ("rule", "learning", "input")}, point.seed, point.patterns)
            except (ValueError, TypeError, KeyError) as error:
                if number <= len(lines):
                    raise FileError(
                        f"{path}: line {number} is damaged ({error}); delete it, and its load is evaluated again."
                    ) from error
                os.truncate(path, whole)
                return
            self._points[key] = point
            whole += len(line)


def _line(told: dict[str, Any]) -> str:
    return json.dumps(told, allow_nan=False) + "\n"


def _key(learner: dict[str, Any], seed: int, load: int) -> str:
    """What a point is known by."""
    return json.dumps([learner, seed, load], sort_keys=True)


def _require_same(path: Path, line: bytes, head: dict[str, Any]) -> None:
    """Refuse a file that begins otherwise than ours would."""
    try:
        told = dict(json.loads(line))
    except (ValueError, TypeError):
        told = {}
    if told.get("kind") != KIND:
        raise FileError(f"{path}: is no results file of bnn capacity; name another file, which need not exist yet.")
    expected = json.loads(_line(head))
    if (place := _difference(told, expected)) is not None:
        where, there, here = place
        raise FileError(
            f"{path}: holds results of other settings: {where} is {there} there and {here} here; name another file, or "
            "ask as it was asked."
        )


def _difference(told: Any, expected: Any, where: str = "") -> tuple[str, str, str] | None:
    """The first place where two JSON values differ, and what is there in each."""
    if isinstance(told, dict) and isinstance(expected, dict):
        for name in dict.fromkeys([*expected, *told]):
            inner = f"{where}.{name}" if where else name
            found = _difference(told.get(name), expected.get(name), inner)
            if found is not None:
                return found
        return None
    there, here = json.dumps(told), json.dumps(expected)  # as texts, since 1 is a number of cells and 1.0 a share
    return None if there == here else (where, there, here)
