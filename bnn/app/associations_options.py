"""The command ``bnn associations``: its options, and the order of its work."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bnn.app.arguments import DATA_FORMAT, DATA_FORMATS, IGNORED, Learned, PictureFormat, spoken
from bnn.app.commands import telling_warnings

_data, _output = (partial(typer.Option, rich_help_panel=panel) for panel in ("What is compared", "Output"))


def associations(
    data: Learned,
    attribute: Annotated[
        str | None, _data(metavar="COLUMN", help="Only pairs of this column with others, such as class.")
    ] = None,
    form: Annotated[str, _data("--format", metavar="|".join(DATA_FORMATS), help=DATA_FORMAT)] = "table",
    ignore: Annotated[list[str] | None, _data(metavar="COLUMN", help=IGNORED)] = None,
    top: Annotated[
        int, _data(min=1, metavar="N", help="So many pairs at most together too often, and as many too rarely.")
    ] = 20,
    level: Annotated[float, _data(metavar="PROBABILITY", help="Of the credible intervals.")] = 0.95,
    m: Annotated[float, _data("--m", metavar="RECORDS", help="Strength of the estimate behind the weights.")] = 2.0,
    out: Annotated[
        Path | None,
        _output(
            metavar="FOLDER", help="Where a table (CSV), a picture and a graph go.", show_default="nothing is written"
        ),
    ] = None,
    ending: PictureFormat = "png",
    as_json: Annotated[bool, _output("--json", metavar="", help="Print one JSON object for programs instead.")] = False,
) -> None:
    """Find values that come together more often, or less, than chance, with intervals.

    [bold]bnn associations zoo --attribute class[/] tells what marks each kind of animal.

    The measure is that of pharmacovigilance, log2 of observed over expected counts, half a record added to each; beside
    it stands the network's weight. No pair is listed whose credible interval contains 0. An association is no cause.
    """
    from bnn.app import associations_report
    from bnn.app.associations_command import find, write
    from bnn.app.progress import Bar

    with telling_warnings(), Bar() as bar:
        bar.say("counting")
        found = find(data, form, attribute, ignore or (), top, level, m)
        bar.say("pictures")
        files = [] if out is None else write(found, out, ending)
    if as_json:
        numbers = {"compared": found.compared, "found": found.found, "level": found.level}
        print(json.dumps({"rows": found.to_frame().to_pylist(), **numbers, "files": files}, allow_nan=False))
    else:
        associations_report.tell(spoken(data), found, files)
