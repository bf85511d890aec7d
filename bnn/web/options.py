"""The command ``bnn serve``: its options, and the order of its work."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Annotated

import typer

from bnn.app.arguments import IGNORED
from bnn.errors import DataError

_opened, _reached = (partial(typer.Option, rich_help_panel=panel) for panel in ("What is opened", "How it is reached"))


def serve(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL.safetensors|NAME|FILE.csv]",
            help="A classifier that bnn fit wrote, a data set, or a CSV file: patterns for the recall room, a table "
            "for consulting.",
            show_default="what ships",
        ),
    ] = None,
    target: Annotated[str, _opened(metavar="COLUMN", help="Column of a table that holds the class.")] = "class",
    ignore: Annotated[list[str] | None, _opened(metavar="COLUMN", help=IGNORED)] = None,
    host: Annotated[str, _reached(metavar="ADDRESS", help="Any but loopback needs --token.")] = "127.0.0.1",
    port: Annotated[int, _reached(min=0, max=65535, metavar="NUMBER", help="0: a free one.")] = 8080,
    token: Annotated[
        str | None,
        _reached(
            metavar="TEXT",
            help="What visitors must show, in the address once, and programs as Authorization: Bearer.",
            show_default="none",
            envvar="BNN_TOKEN",
        ),
    ] = None,
) -> None:
    """Open a page in which patterns are recalled and cases are consulted, and an interface for programs under /api.

    [bold]bnn serve[/] shows digits and lymphography; [bold]bnn serve patients.csv --target diagnosis[/] your own table.

    Nothing leaves this machine: all parts of the page are served from here. Stop with Ctrl-C.
    """
    if find_spec("nicegui") is None:
        raise DataError("bnn serve: needs the extra app; install it with pip install 'bnn-hopfield[app]'.")
    if token is not None and len(token) < 8:
        raise DataError(f"--token: got {len(token)} letters; take at least 8.")
    from bnn.web.server import serve as answer
    from bnn.web.shelf import shelf_of

    shelf = shelf_of(source, target, tuple(ignore or ()))
    answer(shelf, host, port, token, lambda address: typer.echo(f"bnn: open {address} (Ctrl-C stops)"))
