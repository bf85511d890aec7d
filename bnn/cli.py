"""The command line ``bnn``; whatever is slow to load is loaded by the command that needs it."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnn import __version__
from bnn.app.arguments import (
    DATA_FORMAT,
    DATA_FORMATS,
    DYNAMICS,
    IGNORED,
    RULES,
    PictureFormat,
    data_names,
    dynamics_names,
    paragraphs,
    rule_names,
    spooled,
)
from bnn.app.associations_options import associations
from bnn.app.capacity_options import capacity
from bnn.app.commands import INTERRUPTED, Commands, fail, telling_warnings
from bnn.app.compare_options import compare
from bnn.app.explain_options import explain
from bnn.app.fit_options import fit
from bnn.app.output import PICTURES, output_path
from bnn.app.predict_options import predict
from bnn.errors import BnnError
from bnn.web.options import serve

if TYPE_CHECKING:
    from bnn.app.recall_command import Task
    from bnn.trace import Trace

PICTURE = "bnn-recall"
_data, _network, _output = (
    partial(typer.Option, rich_help_panel=panel) for panel in ("What is recalled", "Rules and dynamics", "Output")
)

app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)


def main() -> None:
    """Entry point of the command ``bnn``."""
    app(prog_name="bnn")


def _version(asked: bool) -> bool:
    if asked:
        print(f"bnn {__version__}")
        raise typer.Exit
    return asked


@app.callback()
def _bnn(
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Bayesian neural networks in Kononenko's sense: learn by counting, recall with an energy verified to fall."""


@app.command(
    help="Learn patterns or a table, recall them from cues, and verify that the energy falls.\n\n"
    "Without options: ten handwritten digits, a tenth of their pixels flipped, recalled by three rules side by side. "
    "[bold]bnn recall --data zoo --row 3 --mask legs[/] asks how many legs the animal in row 3 has.\n\n"
    "In the table and in JSON, cues and recalled are counts (recalled: equal to the cue's own pattern in every "
    "neuron), largest_rise is the largest single rise, in bits, of what must fall; all else are means over the cues. "
    "Of graded neurons (flow, attention), sweeps are steps, flips neurons that crossed the middle; of a flow, energies "
    "are free energies."
)
def recall(
    data: Annotated[
        str,
        _data(
            metavar="NAME|FILE.csv|-",
            autocompletion=data_names,
            callback=spooled,
            help="A data set (see bnn datasets), a CSV file, or - for standard input: patterns where all columns but "
            "class hold 0 and 1, one neuron a column, the class left out; else a table, its class one more attribute, "
            "measurements cut into 20 intervals.",
        ),
    ] = "mnist-100",
    form: Annotated[str, _data("--format", metavar="|".join(DATA_FORMATS), help=DATA_FORMAT)] = "table",
    patterns: Annotated[
        int | None,
        _data(
            min=1,
            metavar="N",
            help="How many rows are learned and recalled: of patterns with a class one of each class first, of a table "
            "the first N; of baskets, which are all learned, the first N are recalled.",
            show_default="one of each class; of a table all; of baskets 100",
        ),
    ] = None,
    noise: Annotated[
        float | None,
        _data(
            metavar="SHARE",
            help="Share of each cue's known cells that are changed; of baskets, of the items that are left out.",
            show_default="0.1",
        ),
    ] = None,
    row: Annotated[
        int | None,
        _data(metavar="N", help="Ask about this row (the first is 0) instead, with what --mask names unknown."),
    ] = None,
    mask: Annotated[
        list[str] | None,
        _data(metavar="ATTRIBUTE", help="Hide this attribute of the row; may be repeated."),
    ] = None,
    ignore: Annotated[list[str] | None, _data(metavar="COLUMN", help=IGNORED)] = None,
    free: Annotated[bool, _data("--free", metavar="", help="Let the row's other attributes change too.")] = False,
    rule: Annotated[
        list[str] | None,
        _network(
            metavar="RULE",
            autocompletion=rule_names,
            help=f"{', '.join(RULES)}; may be repeated.",
            show_default="odds, probability, hopfield",
        ),
    ] = None,
    m: Annotated[
        float | None,
        _network("--m", metavar="RECORDS", help="Strength of the estimate (probability, odds).", show_default="2"),
    ] = None,
    degree: Annotated[
        int | None,
        _network(min=2, metavar="N", help="Power of the overlaps that energies are (dense).", show_default="3"),
    ] = None,
    beta: Annotated[
        float | None,
        _network(metavar="BETA", help="Inverse temperature of the softmax (modern).", show_default="1"),
    ] = None,
    dynamics: Annotated[
        str | None,
        _network(
            metavar="DYNAMICS",
            autocompletion=dynamics_names,
            help=f"{', '.join(DYNAMICS)}.",
            show_default="asynchronous; for tables winner-take-all",
        ),
    ] = None,
    parallel: Annotated[
        bool,
        _network("--parallel", metavar="", help="All at once (winner-take-all, k-winners)."),
    ] = False,
    winners: Annotated[
        int | None,
        _network(min=1, metavar="K", help="Number of neurons on (k-winners).", show_default="as many as in each cue"),
    ] = None,
    temperature: Annotated[
        float | None,
        _network(metavar="BITS", help="Noise (glauber).", show_default="1"),
    ] = None,
    gain: Annotated[
        float | None,
        _network(metavar="PER BIT", help="Slope of graded neurons (flow).", show_default="1"),
    ] = None,
    solver: Annotated[
        str | None,
        _network(metavar="SOLVER", help="dopri5, rk4, euler or descent (flow).", show_default="dopri5"),
    ] = None,
    input: Annotated[
        str,
        _network(
            "--input",
            metavar="prior|BITS",
            help="Added to every field: a number, or the prior of each neuron, which then turns on by its posterior, "
            "not by its gain.",
        ),
    ] = "0",
    seed: Annotated[
        int,
        _network(min=0, metavar="NUMBER", help="Of the noise and the order of updates."),
    ] = 0,
    max_sweeps: Annotated[
        int | None,
        _network(
            min=1,
            metavar="N",
            help="Cues that have not settled by then stop.",
            show_default="100; of a flow 10,000 steps, of attention 1,000 updates",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        _output(
            metavar="FOLDER|FILE",
            help=f"Where the picture goes: a folder, or a file ({', '.join(PICTURES)}).",
            show_default=f"{PICTURE}.png; with --row none is drawn",
        ),
    ] = None,
    ending: PictureFormat = "png",
    as_json: Annotated[
        bool,
        _output("--json", metavar="", help="Print one JSON object for programs instead."),
    ] = False,
) -> None:
    """Learn, recall side by side, and report."""
    from bnn.app import report
    from bnn.app.findings import answers, summarise
    from bnn.app.progress import Bar
    from bnn.app.recall_command import Request, prepare, run

    usual = Path(f"{PICTURE}.{ending}")
    picture = None if out is None and row is not None else output_path(out or usual, usual.name, PICTURES)
    request = Request(
        data=data,
        form=form,
        patterns=patterns,
        noise=noise,
        row=row,
        mask=tuple(dict.fromkeys(mask or ())),
        ignored=tuple(ignore or ()),
        free=free,
        rules=tuple(rule or ()),
        learning={"m": m, "degree": degree, "beta": beta},
        dynamics=dynamics,
        parallel=parallel,
        winners=winners,
        temperature=temperature,
        gain=gain,
        solver=solver,
        input=input,
        seed=seed,
        max_sweeps=max_sweeps,
    )
    traces: dict[str, Trace] = {}
    files: list[str] = []
    trouble: BnnError | MemoryError | KeyboardInterrupt | None = None
    with telling_warnings(), Bar() as bar:
        bar.say("reading")
        task = prepare(request)
        try:
            for name in task.rules:
                bar.say(name)
                traces[name] = run(task, name, bar.advance)
        except KeyboardInterrupt as interrupt:
            trouble = interrupt
        if traces and picture:
            bar.say("picture")
            try:
                files.append(draw(task, traces, picture))
            except (BnnError, MemoryError, KeyboardInterrupt) as error:
                trouble = trouble or error
    summaries = [summarise(name, trace, task.truth) for name, trace in traces.items()]
    said = [
        one
        for name, trace in traces.items()
        for one in answers(name, trace, task.learned, task.truth, request.mask, task.input)
    ]
    if as_json:
        found = {"rows": [asdict(s) for s in summaries], "files": files}
        print(json.dumps(found | ({} if row is None else {"answers": [asdict(a) for a in said]}), allow_nan=False))
    elif traces:
        report.tell(task, traces, summaries, said, files)
    if isinstance(trouble, KeyboardInterrupt):
        raise typer.Exit(fail(f"interrupted after {len(traces)} of {len(task.rules)} rules.", INTERRUPTED))
    if trouble is not None:
        raise trouble


def draw(task: Task, traces: dict[str, Trace], picture: Path) -> str:
    """Write the picture of a recall, all of it or nothing, and return where it is."""
    from bnn import plots
    from bnn.files import write_atomically

    figure = plots.comparison(traces, task.truth)
    write_atomically(picture, lambda temporary: figure.savefig(temporary, dpi=150))
    return str(picture)


for command in (capacity, compare, fit, predict, explain, associations, serve):
    app.command(help=paragraphs(command.__doc__ or ""))(command)


@app.command("datasets")
def list_datasets(
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="Print one JSON object for programs instead.")
    ] = False,
) -> None:
    """List the data sets that ship, with their credit and licence, and those of the folder BNN_DATA."""
    from rich.console import Console

    from bnn import datasets
    from bnn.app.catalogue import datasets_table

    described = [datasets.describe(name) for name in datasets.names()]
    if as_json:
        told = [asdict(one) for one in described]
        print(json.dumps({"datasets": [one | one.pop("about") for one in told]}))
    else:
        Console(highlight=False).print(datasets_table(described))
