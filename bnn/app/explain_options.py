"""The command ``bnn explain``: its options, and the order of its work."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bnn.app.arguments import Asked, Model, PictureFormat
from bnn.app.commands import telling_warnings
from bnn.app.output import PICTURES, output_path

BARS = "bnn-explanation"
_asked, _output = (partial(typer.Option, rich_help_panel=panel) for panel in ("What is explained", "Output"))


def explain(
    model: Model,
    data: Asked,
    row: Annotated[int, _asked(metavar="N", help="Explain this row; the first is 0.")] = 0,
    label: Annotated[
        str | None, _asked("--class", metavar="CLASS", help="What speaks for this one.", show_default="the prediction")
    ] = None,
    against: Annotated[
        str | None,
        _asked(metavar="CLASS", help="Compare with this other class: the difference of gains, and a nomogram."),
    ] = None,
    labels: Annotated[
        Path | None,
        _asked(
            metavar="FILE.json",
            help='Readable labels of coded values: {"sex": {"0": "female", "1": "male"}}; those of the classes under '
            '"class".',
        ),
    ] = None,
    strongest: Annotated[
        int, _output(min=1, metavar="N", help="So many attributes have a line of their own; the others share one.")
    ] = 20,
    out: Annotated[
        Path | None,
        _output(
            metavar="FOLDER|FILE",
            help=f"Draw bars, with --against or of two classes also a nomogram ({', '.join(PICTURES)}).",
            show_default="no picture",
        ),
    ] = None,
    ending: PictureFormat = "png",
    as_json: Annotated[bool, _output("--json", metavar="", help="Print one JSON object for programs instead.")] = False,
) -> None:
    """Say why a row is classified as it is: what each attribute speaks for and against a class, in bits.

    [bold]bnn explain model.safetensors new.csv --row 3 --out pictures[/]

    Prior, gains and normaliser add up to log2 of the probability; a bit is a factor of two.
    """
    from bnn.app import explain_report
    from bnn.app.data import data_file
    from bnn.app.explain_command import Request, draw, prepare
    from bnn.app.progress import Bar

    picture = out and output_path(out, f"{BARS}.{ending}", PICTURES, [data_file(data)])
    with telling_warnings(), Bar() as bar:
        bar.say("explaining")
        task = prepare(Request(model, data, row, label, against, labels, strongest))
        bar.say("pictures")
        files = draw(task, picture) if picture else []
    if as_json:
        print(json.dumps(explain_report.as_json(task) | {"files": files}, allow_nan=False))
    else:
        explain_report.tell(task, files)
