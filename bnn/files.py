"""Arrays with a versioned header in one safetensors file: how counts and networks are kept. Never pickle."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from safetensors import SafetensorError, numpy, safe_open

from bnn.errors import DataError, FileError

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
    named = Path(path)
    try:
        if not named.parent.is_dir():
            raise FileError(f"{named}: the folder {str(named.parent)!r} does not exist; make it first.")
        if named.is_dir():
            raise FileError(f"{named}: is a folder; give the name of a file in it.")
        if named.exists() and not named.is_file():
            raise FileError(f"{named}: is no ordinary file; give the name of one.")
        target = named.resolve()  # what a link points to is written, not the link
        with tempfile.TemporaryDirectory(prefix=".bnn.", dir=target.parent) as folder:
            temporary = Path(folder, target.name)
            write(temporary)
            temporary.chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
            temporary.replace(target)
    except FileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name no system knows
        raise FileError(f"{named}: cannot be written: {getattr(error, 'strerror', None) or error}.") from error


@contextlib.contextmanager
def exclusively(path: str | os.PathLike[str]) -> Iterator[None]:
    """A context in which no other process that asks alike changes a file: it is read, changed and written again.

    What is locked is an empty file beside it; however the process ends, the lock ends with it.

    Raises
    ------
    FileError
        Another process is at it, or the folder is missing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, exclusively(Path(folder, "counts.safetensors")):
    ...     pass
    """
    named = Path(path)
    if not named.parent.is_dir():
        raise FileError(f"{named}: the folder {str(named.parent)!r} does not exist; make it first.")
    real = named.resolve()
    lock = FileLock(real.with_name(f".{real.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise FileError(
            f"{named}: another process is changing it and will win; wait for its end, or name another file."
        ) from None
    except OSError as error:
        raise FileError(f"{named}: cannot be locked: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


def _umask() -> int:
    """The permissions that new files lack; the system tells it only by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
    DataError
        Infinity or NaN in the header.
    """
    plain = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    told = {"kind": kind, "version": VERSION, "header": dict(header)}
    try:
        note = json.dumps({**told, "checksum": _checksum(plain, told)}, allow_nan=False)
    except ValueError as error:
        raise DataError(f"{path}: cannot hold {kind} with infinity or NaN among its options; choose others.") from error
    try:
        write_atomically(path, lambda temporary: numpy.save_file(plain, temporary, metadata={"bnn": note}))
    except SafetensorError as error:  # it has no error of the system's own kind
        raise FileError(f"{path}: cannot be written: {error}.") from error


def _checksum(arrays: Mapping[str, np.ndarray], told: Mapping[str, Any]) -> int:
    """CRC-32 of what the file says: damage shows, forgery does not."""
    sum_ = zlib.crc32(json.dumps(told, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        sum_ = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), sum_)
        sum_ = zlib.crc32(array.reshape(-1).view(np.uint8).data, sum_)
    return sum_


def read_tensors(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `write_tensors` wrote, every array and header bit for bit.

    Raises
    ------
    FileError
        A file that is missing, damaged, cut short, not of this package, of another kind, or of a newer version.
    """
    target = Path(path)
    with _opened(target) as file:
        told = _told(target, (file.metadata() or {}).get("bnn"), kind)
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    if told.pop("checksum", None) != _checksum(arrays, told):
        raise FileError(f"{target}: is damaged: its contents do not match their checksum; take another copy.")
    return arrays, dict(told["header"])


@contextlib.contextmanager
def _opened(target: Path) -> Iterator[Any]:
    """A safetensors file; whatever is wrong with it, then or while it is read, is one sentence."""
    if target.is_dir():
        raise FileError(f"{target}: is a folder; give the name of a file in it.")
    try:
        if not target.exists():
            raise FileError(f"{target}: there is no such file.")
        if not target.is_file():
            raise FileError(f"{target}: is no ordinary file; give the name of one.")
        with safe_open(target, framework="numpy") as file:
            yield file
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"{target}: cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    except SafetensorError as error:
        raise FileError(f"{target}: is damaged, cut short, or no safetensors file ({error}).") from error


def _told(target: Path, note: str | None, kind: str) -> dict[str, Any]:
    """Give what the note tells, once it has shown that the file is ours, of this kind and a known version."""
    told = _header(target, note, kind)
    if told["kind"] != kind:
        raise FileError(f"{target}: holds {told['kind']}, not {kind}; load it as what it is.")
    if (version := int(told["version"])) > VERSION:
        raise FileError(
            f"{target}: was written by a newer bnn (format {version}, this one reads up to {VERSION}); upgrade bnn."
        )
    return told


def _header(target: Path, note: str | None, kind: str) -> dict[str, Any]:
    """Give what the note tells, once it has shown that the file is ours and its parts are there."""
    if note is None:
        raise FileError(f"{target}: is a safetensors file of another program, not {kind} written by bnn.")
    try:
        told = dict(json.loads(note))
        _ = told["kind"], int(told["version"]), dict(told["header"])
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise FileError(f"{target}: its bnn header is damaged ({error!r}); write the file anew.") from error
    return told
