"""Words of the command line that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Learned = Annotated[
    str,
    typer.Argument(metavar="NAME|FILE.csv", help="A data set (see bnn datasets) or a CSV file.", show_default=False),
]
"""A table that is learned."""

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME|FILE...",
        help="A data set (see bnn datasets), or CSV or Parquet files of the same columns and any size; patterns such "
        'as "2026-*.parquet" too.',
        show_default=False,
    ),
]
"""Tables that are learned as one."""

IGNORED = "Leave this column out, such as a name; may be repeated."
"""What ``--ignore`` does."""

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that bnn fit wrote.", show_default=False)]
"""A classifier in a file."""
