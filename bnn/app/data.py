"""Which file the words of the command line mean."""

from __future__ import annotations

from pathlib import Path

from bnn import datasets


def data_file(data: str) -> Path:
    """The CSV file of a data set by name, or the file itself; an unknown name is an error naming the nearest."""
    file = Path(data)
    if data in datasets.names() or not (file.suffix.lower() == ".csv" or file.name != data or file.is_file()):
        return datasets.path(data)
    return file
