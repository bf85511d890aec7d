"""The command line ``bnn``; whatever is slow to load is loaded by the command that needs it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from bnn import __version__
from bnn.errors import BnnError, DataError, FileError

if TYPE_CHECKING:
    from bnn.app.recall_command import Answer, Request, Summary, Task
    from bnn.trace import Trace

PICTURE = "bnn-recall.png"
FORMATS = (".png", ".pdf", ".svg")
RULES = ("odds", "probability", "hopfield")
DYNAMICS = ("asynchronous", "synchronous", "winner-take-all", "k-winners", "glauber")
_DATA, _NETWORK, _OUTPUT = "What is recalled", "Rules and dynamics", "Output"
UsageError = typer.BadParameter.__bases__[0]  # typer brings a click of its own or uses another, by version


class Commands(TyperGroup):
    """The commands, with every error told in one sentence: 2 what was asked cannot be, 130 interrupted."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one command and exit."""
        for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a letter shows a question mark
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
            sys.stdout.flush()
        except BnnError as error:
            code = _fail(str(error))
        except UsageError as error:
            code = _fail(_usage(error))
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
            code = 1
        except OSError as error:
            code = _fail(f"{error.filename or 'the system'}: {error.strerror or error}.")
        except MemoryError:
            code = _fail("there is not enough memory for this; take fewer --patterns or a smaller table.")
        except (KeyboardInterrupt, typer.Abort):
            code = _fail("interrupted.", 130)
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(cls=Commands, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Entry point of the command ``bnn``."""
    app(prog_name="bnn")


@app.callback(invoke_without_command=True)
def _bnn(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Bayesian neural networks in Kononenko's sense: learn by counting, recall with an energy verified to fall."""
    if version:
        print(f"bnn {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    help="Learn patterns or a table, recall them from cues, and verify that the energy falls.\n\n"
    "Without options: ten handwritten digits, a tenth of their pixels flipped, recalled by three rules side by side. "
    "[bold]bnn recall --data zoo --row 3 --mask legs[/] asks how many legs the animal in row 3 has.\n\n"
    "In the table and in JSON, cues and recalled are counts (recalled: equal to the cue's own pattern in every neuron), "
    "largest_rise is the largest single rise, in bits, of what must fall; the other numbers are means over the cues."
)
def recall(
    data: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE.csv",
            help="A data set (see bnn datasets) or a CSV file: patterns where all columns but class hold 0 and 1, one "
            "neuron a column, the class left out; else a table, its class one more attribute.",
            rich_help_panel=_DATA,
        ),
    ] = "mnist-100",
    patterns: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="How many rows are learned and recalled: of patterns with a class one of each class first, of a table "
            "the first N.",
            show_default="one of each class; of a table all",
            rich_help_panel=_DATA,
        ),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Share of each cue's known cells that are changed.",
            show_default="0.1",
            rich_help_panel=_DATA,
        ),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Ask about this row (the first is 0) instead, with what --mask names unknown.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    mask: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ATTRIBUTE", help="Hide this attribute of the row; may be repeated.", rich_help_panel=_DATA
        ),
    ] = None,
    free: Annotated[
        bool, typer.Option("--free", help="Let the row's other attributes change too.", rich_help_panel=_DATA)
    ] = False,
    rule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help=f"{', '.join(RULES)}; may be repeated.",
            show_default="each of them",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    m: Annotated[
        float | None,
        typer.Option(
            "--m",
            metavar="RECORDS",
            help="Strength of the estimate (probability, odds).",
            show_default="2",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    dynamics: Annotated[
        str | None,
        typer.Option(
            metavar="DYNAMICS",
            help=f"{', '.join(DYNAMICS)}.",
            show_default="asynchronous; for tables winner-take-all",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    parallel: Annotated[
        bool,
        typer.Option("--parallel", help="All at once (winner-take-all, k-winners).", rich_help_panel=_NETWORK),
    ] = False,
    winners: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="K",
            help="Number of neurons on (k-winners).",
            show_default="as many as in each cue",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(metavar="BITS", help="Noise (glauber).", show_default="1", rich_help_panel=_NETWORK),
    ] = None,
    input: Annotated[
        str,
        typer.Option(
            "--input",
            metavar="prior|BITS",
            help="Added to every field: a number, or the prior of each neuron, which then turns on by its posterior, "
            "not by its gain.",
            rich_help_panel=_NETWORK,
        ),
    ] = "0",
    seed: Annotated[
        int,
        typer.Option(
            min=0, metavar="NUMBER", help="Of the noise and the order of updates.", rich_help_panel=_NETWORK
        ),
    ] = 0,
    max_sweeps: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Cues that have not settled by then stop.", rich_help_panel=_NETWORK),
    ] = 100,
    out: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER|FILE",
            help=f"Where the picture goes: a folder, or a file ({', '.join(FORMATS)}).",
            rich_help_panel=_OUTPUT,
        ),
    ] = Path(PICTURE),
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON object for programs instead.", rich_help_panel=_OUTPUT),
    ] = False,
) -> None:
    """Learn, recall side by side, and report."""
    from bnn.app.progress import Bar
    from bnn.app.recall_command import Request, answers, prepare, run, summarise

    picture = picture_path(out)
    request = Request(
        data, tuple(rule or ()), patterns, noise, row, tuple(dict.fromkeys(mask or ())), free, dynamics, parallel,
        temperature, winners, m, input, seed, max_sweeps,
    )  # fmt: skip
    traces: dict[str, Trace] = {}
    files: list[str] = []
    trouble: BnnError | KeyboardInterrupt | None = None
    with Bar() as bar:
        task = prepare(request)
        try:
            for name in task.rules:
                bar.say(name)
                traces[name] = run(task, name, bar.advance)
        except KeyboardInterrupt as interrupt:
            trouble = interrupt
        if traces:
            bar.say("picture")
            try:
                files.append(draw(task, traces, picture))
            except (BnnError, KeyboardInterrupt) as error:
                trouble = error
    summaries = [summarise(name, trace, task.truth) for name, trace in traces.items()]
    said = [a for name, trace in traces.items() for a in answers(task, name, trace)]
    if as_json:
        found = {"rows": [asdict(s) for s in summaries], "files": files}
        print(json.dumps(found | ({} if row is None else {"answers": [asdict(a) for a in said]}), allow_nan=False))
    elif traces:
        tell(task, traces, summaries, said, files)
    if trouble is not None:
        raise trouble


def tell(
    task: Task, traces: dict[str, Trace], summaries: list[Summary], said: list[Answer], files: list[str]
) -> None:
    """Print what happened for people."""
    from rich.console import Console

    from bnn.app import report

    console = Console(highlight=False, soft_wrap=False)
    console.print(report.headline(task), markup=False)
    if said:
        console.print()
    for a in said:
        console.print(report.answer(a))
    console.print(report.summary_table(summaries, console.width))
    console.print(report.seen(task, traces, summaries), markup=False)
    console.print(report.legend(summaries), style="dim", markup=False)
    for file in files:
        console.print(f"Picture: {file}", markup=False, soft_wrap=True)


def draw(task: Task, traces: dict[str, Trace], picture: Path) -> str:
    """Write the picture of a recall, all of it or nothing, and return where it is."""
    from bnn import plots
    from bnn.files import write_atomically

    figure = plots.comparison(traces, task.truth)
    write_atomically(picture, lambda temporary: figure.savefig(temporary, dpi=150))
    return str(picture)


def picture_path(out: Path) -> Path:
    """The file that ``--out`` means, refused at once where it could not be written."""
    if out.is_dir():
        return out / PICTURE
    if out.suffix.lower() not in FORMATS:
        raise DataError(f"--out: {str(out)!r} is no folder and does not end in {', '.join(FORMATS)}; make or name one.")
    if not out.parent.is_dir():
        raise FileError(f"--out: the folder {str(out.parent)!r} does not exist; make it first.")
    return out


@app.command()
def datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for programs instead.")] = False,
) -> None:
    """List the data sets that ship, with their credit and licence, and those of the folder BNN_DATA."""
    from rich.console import Console

    from bnn import datasets
    from bnn.app import report

    described = [datasets.describe(name) for name in datasets.names()]
    if as_json:
        print(json.dumps({"datasets": [{**asdict(d)} for d in described]}))
    else:
        Console(highlight=False).print(report.datasets_table(described))


def _usage(error: Any) -> str:
    """What was wrong with the words of the command line, with the nearest right one."""
    near = getattr(error, "possibilities", None)
    text = f"{error.message.rstrip('.')}; did you mean {near[0]}?" if near else error.format_message()
    return " ".join(text.split())


def _fail(sentence: str, code: int = 2) -> int:
    """Tell on standard error why a command ended, and with which exit code."""
    typer.secho(f"bnn: {sentence}", err=True, fg="red")
    return code
