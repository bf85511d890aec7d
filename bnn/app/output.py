"""Where a command writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bnn.errors import DataError, FileError, unknown_name

FORMATS = ("png", "pdf", "svg")
PICTURES = tuple(f".{one}" for one in FORMATS)


def known_format(form: str) -> str:
    """A format of pictures; an unknown one is an error."""
    if form not in FORMATS:
        raise unknown_name("--pictures", form, FORMATS)
    return form


def output_path(out: Path, name: str, endings: Sequence[str], reads: Sequence[Path] = ()) -> Path:
    """The file that ``--out`` means, refused at once where it could not be written or would replace what is read.

    Parameters
    ----------
    out
        A folder, or a file.
    name
        Of the file, where a folder is meant.
    endings
        What the file's name may end in.
    reads
        Files that the command reads.
    """
    path = out / name if out.is_dir() else out
    if path.suffix.lower() not in endings:
        raise DataError(f"--out: {str(out)!r} is no folder and does not end in {', '.join(endings)}; make or name one.")
    if not path.parent.is_dir():
        raise FileError(f"--out: the folder {str(path.parent)!r} does not exist; make it first.")
    if path.exists() and any(file.exists() and path.samefile(file) for file in reads):
        raise DataError(f"--out: {str(path)!r} is read by this command and would be replaced; name another file.")
    return path
