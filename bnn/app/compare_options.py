"""The command ``bnn compare``: its options, and the order of its work."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bnn.app.arguments import IGNORED, Learned, PictureFormat, classifier_names
from bnn.app.commands import telling_warnings

_data, _splits, _output = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("What is compared", "Splits", "Output")
)


def compare(
    data: Learned,
    target: Annotated[str, _data(metavar="COLUMN", help="The column to predict.")] = "class",
    ignore: Annotated[list[str] | None, _data(metavar="COLUMN", help=IGNORED)] = None,
    classifier: Annotated[
        list[str] | None,
        _data(
            metavar="NAME",
            autocompletion=classifier_names,
            help="Compare this one (a wrong name lists all); may be repeated, and others are compared with the first.",
            show_default="all",
        ),
    ] = None,
    splits: Annotated[int, _splits(min=1, metavar="N", help="Random splits in a repeat.")] = 10,
    repeats: Annotated[int, _splits(min=1, metavar="N", help="How many times so many splits.")] = 10,
    train: Annotated[float, _splits(metavar="SHARE", help="Share of the rows to train on.")] = 0.7,
    seed: Annotated[int, _splits(min=0, metavar="NUMBER", help="Of the splits.")] = 0,
    out: Annotated[
        Path,
        _output(
            metavar="FOLDER",
            help="Where two pictures go, and the results of each split and its rows as CSV.",
            show_default="this folder",
        ),
    ] = Path(),
    ending: PictureFormat = "png",
    as_json: Annotated[bool, _output("--json", metavar="", help="Print one JSON object for programs instead.")] = False,
) -> None:
    """Compare classifiers on the same random splits of a table, by accuracy, information score and log loss.

    [bold]bnn compare lymphography[/] compares all classifiers on a data set that ships.

    Splits are not stratified. Intervals heed that they overlap (Nadeau, Bengio), p-values that they are several (Holm).
    """
    from bnn.app import compare_report
    from bnn.app.compare_command import Request, differences, prepare, run, write
    from bnn.app.progress import Bar

    request = Request(
        data=data,
        target=target,
        ignored=tuple(ignore or ()),
        classifiers=tuple(dict.fromkeys(classifier or ())),
        splits=splits,
        repeats=repeats,
        train=train,
        seed=seed,
        out=out,
    )
    with telling_warnings(), Bar() as bar:
        bar.say("reading")
        task = prepare(request)
        bar.say("comparing")
        found = run(task, bar.advance)
        bar.say("pictures")
        files = write(found, out, ending)
    if as_json:
        keys = ("classifier", "accuracy", "accuracy_sd", "information", "log_loss")
        rows = [{key: getattr(score, key) for key in keys} for score in found.scores]
        told = [{"measure": measure, **asdict(d)} for measure, ds in differences(found).items() for d in ds]
        print(json.dumps({"rows": rows, "differences": told, "files": files}, allow_nan=False))
    else:
        compare_report.tell(task, found, files)
