"""The command ``bnn fit``: its options, and the order of its work."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bnn.app.arguments import IGNORED, Files, classifier_names
from bnn.app.commands import INTERRUPTED, fail, telling_warnings
from bnn.app.output import output_path

MODEL = "bnn-model.safetensors"
MOST = 6  # classes that are named
_data, _learning, _output = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("What is learned", "Classifier", "Output")
)


def fit(
    data: Files,
    target: Annotated[str, _data(metavar="COLUMN", help="The column to predict.")] = "class",
    ignore: Annotated[list[str] | None, _data(metavar="COLUMN", help=IGNORED)] = None,
    schema: Annotated[
        Path | None,
        _data(
            metavar="FILE.json",
            help="What the columns mean: where the file exists, a first pass over the tables is spared; else it is "
            "written.",
            show_default=False,
        ),
    ] = None,
    strict: Annotated[
        bool, _data("--strict", metavar="", help="Stop at a damaged row or file; else it is left out and told.")
    ] = False,
    scheduler: Annotated[
        str | None,
        _data(
            metavar="ADDRESS",
            help="A dask cluster that reads the files, such as tcp://10.0.0.1:8786; its workers must find them where "
            "they are found here.",
            show_default=False,
        ),
    ] = None,
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
    resume: Annotated[
        bool,
        _output(
            "--resume",
            metavar="",
            help="Save what is counted in --out on the way, and go on from there where it exists: after an "
            "interruption, or with more files behind the first ones.",
        ),
    ] = False,
    as_json: Annotated[bool, _output("--json", metavar="", help="Print one JSON object for programs instead.")] = False,
) -> None:
    """Learn a classifier from tables and keep it in a file, for bnn predict and bnn explain.

    [bold]bnn fit lymphography --out lymph.safetensors[/] learns a data set that ships.

    Empty fields are missing and no evidence; rows without a class are left out. Naive Bayes learns tables that are
    larger than the memory: it reads them twice, for what their columns mean and to count.
    """
    from bnn.app.fit_command import Interrupted, Request, fit_classifier, source_of
    from bnn.app.progress import Bar

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
        source = source_of(data, strict, scheduler)
        file = output_path(out, MODEL, (".safetensors",), [Path(name) for name in source.files])
        words = tuple(data), target, tuple(ignore or ()), classifier, options, schema, strict, file, resume
        request = Request(*words)
        bar.say("learning")
        try:
            found = fit_classifier(request, source, bar)
        except Interrupted as stop:
            sentence = f"interrupted after {stop.args[0]:,} rows; {file} holds them: the same words go on from there."
            raise typer.Exit(fail(sentence, INTERRUPTED)) from None
        found.losses.warn()
    attributes, rows = found.classifier.n_features_in_, sum(found.rows.values())
    if as_json:
        classes = [{"class": label, "rows": number} for label, number in found.rows.items()]
        lost = {"left_out": found.left_out, "damaged": found.losses.rows}
        files = [str(written) for written in found.files]
        told = {"classifier": classifier, "rows": rows, **lost, "attributes": attributes, "classes": classes}
        print(json.dumps({**told, "files": files}))
        return
    named = ", ".join(f"{label} {number:,}" for label, number in list(found.rows.items())[:MOST])
    others = len(found.rows) - MOST
    print(
        f"{request.name}: {rows:,} rows, {attributes:,} attributes, {target} of {len(found.rows):,} values: {named}"
        + (f" and {others:,} more." if others > 0 else ".")
        + (f" {found.left_out:,} rows without a {target} are left out." if found.left_out else "")
    )
    print(f"Written: {', '.join(map(str, found.files))}")
