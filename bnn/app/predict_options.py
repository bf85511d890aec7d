"""The command ``bnn predict``: its options, and the order of its work."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from bnn.app.arguments import Asked, Model, spoken
from bnn.app.commands import telling_warnings
from bnn.app.output import output_path

ANSWERS = "bnn-predictions.csv"


def predict(
    model: Model,
    data: Asked,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER|FILE.csv", help="Where the answers go.", show_default="standard output"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print one JSON object for programs instead.")
    ] = False,
) -> None:
    """Classify rows: CSV with a prediction and the probability of each class, a line a row in the rows' order.

    [bold]bnn predict model.safetensors new.csv --out answers.csv[/]

    Empty fields, and values that were never learned, are no evidence.
    """
    from bnn.app.data import data_file
    from bnn.app.predict_command import answers, as_csv
    from bnn.app.progress import Bar
    from bnn.files import write_atomically

    file = out and output_path(out, ANSWERS, (".csv",), [data_file(data)])
    with telling_warnings(), Bar() as bar:
        bar.say("classifying")
        found = answers(model, data)
        if file:
            write_atomically(file, lambda temporary: temporary.write_bytes(as_csv(found)))
    files = [str(file)] if file else []
    if as_json:
        rows = [
            {"prediction": label, "probabilities": row}
            for label, row in zip(found.predictions, found.probabilities.tolist(), strict=True)
        ]
        print(json.dumps({"classes": found.classes, "rows": rows, "files": files}, allow_nan=False))
    elif file:
        print(f"{spoken(data)}: {len(found.predictions):,} rows classified.\nWritten: {file}")
    else:
        sys.stdout.write(as_csv(found).decode())
