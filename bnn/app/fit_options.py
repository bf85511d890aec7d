"""The command ``bnn fit``: its options, and the order of its work."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bnn.app.arguments import IGNORED, Learned, classifier_names
from bnn.app.commands import telling_warnings
from bnn.app.output import output_path

MODEL = "bnn-model.safetensors"
MOST = 6  # classes that are named
_data, _learning, _output = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("What is learned", "Classifier", "Output")
)


def fit(
    data: Learned,
    target: Annotated[str, _data(metavar="COLUMN", help="The column to predict.")] = "class",
    ignore: Annotated[list[str] | None, _data(metavar="COLUMN", help=IGNORED)] = None,
    classifier: Annotated[
        str,
        _learning(
            metavar="NAME",
            autocompletion=classifier_names,
            help="One that a file can keep (a wrong name lists all).",
        ),
    ] = "naive",
    estimate: Annotated[
        str | None,
        _learning(metavar="NAME", help="How counts become probabilities (a wrong name lists all).", show_default="m"),
    ] = None,
    m: Annotated[
        float | None, _learning("--m", metavar="RECORDS", help="Strength of the estimate.", show_default="2")
    ] = None,
    discretize: Annotated[
        list[str] | None,
        _learning(
            metavar="WAY|COLUMN=WAY|COLUMN=BOUND,BOUND",
            help="How columns of numbers are cut into intervals, all or one (a wrong way lists all); may be repeated.",
            show_default="auto",
        ),
    ] = None,
    intervals: Annotated[
        int | None, _learning(metavar="N", help="Intervals of equal frequency.", show_default="20")
    ] = None,
    fuzzy: Annotated[
        str | None, _learning(metavar="WHEN", help="Fuzzy bounds: learning, classification or both.")
    ] = None,
    sig: Annotated[float | None, _learning("--sig", metavar="NUMBER", help="Fuzziness.", show_default="0.5")] = None,
    pr: Annotated[
        float | None,
        _learning("--pr", metavar="PROBABILITY", help="Intervals less reliable borrow from others.", show_default="0"),
    ] = None,
    out: Annotated[Path, _output(metavar="FOLDER|FILE.safetensors", help="Where the classifier goes.")] = Path(MODEL),
    as_json: Annotated[bool, _output("--json", metavar="", help="Print one JSON object for programs instead.")] = False,
) -> None:
    """Learn a classifier from a table and keep it in a file, for bnn predict and bnn explain.

    [bold]bnn fit lymphography --out lymph.safetensors[/] learns a data set that ships.

    Empty fields are missing and no evidence; rows without a class are left out.
    """
    from bnn.app.data import data_file
    from bnn.app.fit_command import fit_classifier
    from bnn.app.progress import Bar

    file = output_path(out, MODEL, (".safetensors",), [data_file(data)])
    options = {
        "estimate": estimate,
        "m": m,
        "discretize": discretize or None,
        "intervals": intervals,
        "fuzzy": fuzzy,
        "SIG": sig,
        "Pr": pr,
    }
    with telling_warnings(), Bar() as bar:
        bar.say("learning")
        found = fit_classifier(data, target, classifier, options, ignore or ())
        found.classifier.save(file)
    attributes, rows = found.classifier.n_features_in_, sum(found.rows.values())
    if as_json:
        classes = [{"class": label, "rows": number} for label, number in found.rows.items()]
        told = {"rows": rows, "left_out": found.left_out, "attributes": attributes, "classes": classes}
        print(json.dumps({"classifier": classifier, **told, "files": [str(file)]}))
        return
    named = ", ".join(f"{label} {number:,}" for label, number in list(found.rows.items())[:MOST])
    others = len(found.rows) - MOST
    print(
        f"{data}: {rows:,} rows, {attributes:,} attributes, {target} of {len(found.rows):,} values: {named}"
        + (f" and {others:,} more." if others > 0 else ".")
        + (f" {found.left_out:,} rows without a {target} are left out." if found.left_out else "")
    )
    print(f"Written: {file}")
