"""Arrays with a versioned header in one safetensors file: how counts and networks are kept. Never pickle."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, numpy, safe_open

from bnn.errors import FileError

VERSION = 1


def write_atomically(path: str | os.PathLike[str], write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary neighbour of the file, then put it in its place: all of it or nothing.

    Parameters
    ----------
    path
        The file to make or replace; its folder must exist.
    write
        Called once with the temporary name.

    Raises
    ------
    FileError
        The folder is missing, the name is a folder, or the system refuses.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileError(f"{target}: the folder {str(target.parent)!r} does not exist; make it first.")
    if target.is_dir():
        raise FileError(f"{target}: is a folder; give the name of a file in it.")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
            temporary = Path(folder, target.name)
            write(temporary)
            temporary.replace(target)
    except OSError as error:
        raise FileError(f"{target}: cannot be written: {error.strerror or error}.") from error


def write_tensors(
    path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], header: Mapping[str, Any], kind: str
) -> None:
    """Write arrays and a header of plain JSON types, exactly and atomically.

    Parameters
    ----------
    path
        File to make or replace, usually ``*.safetensors``.
    arrays
        By name; any shape, memory order and numeric dtype.
    header
        Plain JSON types: schema, options, where it came from.
    kind
        What the file is, such as ``"counts"``; `read_tensors` asks for it again.

    Raises
    ------
    FileError
        The folder is missing, the name is a folder, or the system refuses.
    """
    note = json.dumps({"kind": kind, "version": VERSION, "header": header}, allow_nan=False)
    plain = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    write_atomically(path, lambda temporary: numpy.save_file(plain, temporary, metadata={"bnn": note}))


def read_tensors(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `write_tensors` wrote, every array and header bit for bit.

    Raises
    ------
    FileError
        A file that is missing, damaged, cut short, not of this package, of another kind, or of a newer version.
    """
    target = Path(path)
    if target.is_dir():
        raise FileError(f"{target}: is a folder; give the name of a file in it.")
    if not target.exists():
        raise FileError(f"{target}: there is no such file.")
    try:
        with safe_open(target, framework="numpy") as file:
            header = _header(target, (file.metadata() or {}).get("bnn"), kind)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except OSError as error:
        raise FileError(f"{target}: cannot be read: {error.strerror or error}.") from error
    except SafetensorError as error:
        raise FileError(f"{target}: is damaged, cut short, or no safetensors file ({error}).") from error
    return arrays, header


def _header(target: Path, note: str | None, kind: str) -> dict[str, Any]:
    """Give the header, once the note has shown that the file is ours, of this kind and a known version."""
    if note is None:
        raise FileError(f"{target}: is a safetensors file of another program, not {kind} written by bnn.")
    try:
        told = json.loads(note)
        found, version, header = told["kind"], int(told["version"]), dict(told["header"])
    except (ValueError, TypeError, KeyError) as error:
        raise FileError(f"{target}: its bnn header is damaged ({error!r}); write the file anew.") from error
    if found != kind:
        raise FileError(f"{target}: holds {found}, not {kind}; load it as what it is.")
    if version > VERSION:
        raise FileError(
            f"{target}: was written by a newer bnn (format {version}, this one reads up to {VERSION}); upgrade bnn."
        )
    return header
