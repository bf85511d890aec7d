"""The command ``bnn capacity``: its options, and the order of its work."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnn.app.arguments import PictureFormat, completed, data_names, dynamics_names, rule_names
from bnn.app.commands import INTERRUPTED, fail, telling_warnings
from bnn.app.output import PICTURES, output_path

if TYPE_CHECKING:
    from bnn.study import Capacity

PICTURE = "bnn-capacity"
FAMILIES = ("dense", "k-active", "modular", "correlated", "real")
_patterns, _cues, _memory, _search, _output = (
    partial(typer.Option, rich_help_panel=panel)
    for panel in ("Patterns", "Cues", "Rules and dynamics", "When it holds", "Output")
)


def capacity(
    rule: Annotated[
        list[str] | None,
        _memory(
            metavar="RULE",
            autocompletion=rule_names,
            help="A learning rule (a wrong name lists all); may be repeated, and all get the same patterns and cues.",
            show_default="odds, probability, hopfield",
        ),
    ] = None,
    family: Annotated[
        str,
        _patterns(
            metavar="FAMILY",
            autocompletion=completed(lambda: FAMILIES),
            help="dense, k-active, modular, correlated or real.",
        ),
    ] = "dense",
    neurons: Annotated[
        int | None, _patterns(metavar="N", help="Neurons (dense, k-active).", show_default="400")
    ] = None,
    activity: Annotated[
        float | None, _patterns(metavar="SHARE", help="Probability of being on (dense).", show_default="0.5")
    ] = None,
    active: Annotated[int | None, _patterns(metavar="K", help="Neurons on (k-active).", show_default="20")] = None,
    groups: Annotated[
        int | None, _patterns(metavar="N", help="Groups, each with one neuron on (modular).", show_default="20")
    ] = None,
    size: Annotated[int | None, _patterns(metavar="N", help="Neurons of a group (modular).", show_default="20")] = None,
    prototypes: Annotated[
        str | None,
        _patterns(
            metavar="FAMILY",
            help="Family of the prototypes (correlated): dense, k-active or modular, with its own options.",
            show_default="dense",
        ),
    ] = None,
    per: Annotated[
        int | None, _patterns(metavar="N", help="Patterns of a prototype (correlated).", show_default="5")
    ] = None,
    distortion: Annotated[
        float | None,
        _patterns(metavar="SHARE", help="Probability that a part changes (correlated).", show_default="0.1"),
    ] = None,
    data: Annotated[
        str | None,
        _patterns(
            metavar="NAME",
            autocompletion=data_names,
            help="A data set, see bnn datasets (real).",
            show_default="mnist-100",
        ),
    ] = None,
    flips: Annotated[
        str | None,
        _cues(
            metavar="SHARE|N",
            help="Cells that change: a share, such as 0.1, or so many, such as 2; 0 for none.",
            show_default="0.1 of dense and real patterns, if no other noise is named",
        ),
    ] = None,
    moves: Annotated[
        str | None,
        _cues(
            metavar="SHARE|N",
            help="Active neurons that go elsewhere, in modular patterns within their group.",
            show_default="1 of modular and k-active patterns, if no other noise is named",
        ),
    ] = None,
    wrong: Annotated[
        str | None, _cues(metavar="SHARE|N", help="Cells that take the values of another pattern.")
    ] = None,
    erased: Annotated[str | None, _cues(metavar="SHARE|N", help="Cells that become unknown.")] = None,
    contiguous: Annotated[
        bool, _cues("--contiguous", metavar="", help="Wrong and erased cells are neighbours.")
    ] = False,
    scrambled: Annotated[
        bool, _cues("--scrambled", metavar="", help="Each wrong cell is that of a pattern of its own.")
    ] = False,
    learn: Annotated[
        list[str] | None,
        _memory(metavar="NAME=VALUE", help="An option of the rules that have it, such as m=1; may be repeated."),
    ] = None,
    input: Annotated[
        str, _memory("--input", metavar="prior|NUMBER", help="Added to every field: a number, or the neuron's prior.")
    ] = "0",
    tune: Annotated[
        int,
        _memory(
            min=0,
            metavar="RECALLS",
            help="Find each rule's best threshold by so many recalls at most, of other seeds.",
            show_default="none",
        ),
    ] = 0,
    dynamics: Annotated[
        str | None,
        _memory(
            metavar="DYNAMICS",
            autocompletion=dynamics_names,
            help="As in bnn recall.",
            show_default="what the literature takes for the family: asynchronous, or winners in parallel",
        ),
    ] = None,
    parallel: Annotated[
        bool, _memory("--parallel", metavar="", help="All at once (winner-take-all, k-winners).")
    ] = False,
    winners: Annotated[int | None, _memory(min=1, metavar="K", help="Number of neurons on (k-winners).")] = None,
    temperature: Annotated[float | None, _memory(metavar="BITS", help="Noise (glauber).")] = None,
    gain: Annotated[float | None, _memory(metavar="PER BIT", help="Slope of graded neurons (flow).")] = None,
    solver: Annotated[str | None, _memory(metavar="SOLVER", help="Of a flow.")] = None,
    max_sweeps: Annotated[
        int | None,
        _memory(
            min=1,
            metavar="N",
            help="Cues that have not settled by then stop.",
            show_default="15 in parallel, else 100; of a flow 10,000 steps",
        ),
    ] = None,
    criterion: Annotated[
        str,
        _search(
            metavar="MEASURE",
            help="exact: share of patterns recalled without an error; overlap: mean overlap with the pattern; wrong: "
            "mean share of wrong neurons.",
        ),
    ] = "exact",
    bound: Annotated[
        float | None,
        _search(metavar="NUMBER", help="What the measure must reach.", show_default="0.9, 0.95, at most 0.015"),
    ] = None,
    seeds: Annotated[int, _search(min=1, metavar="N", help="How many times patterns are drawn anew.")] = 3,
    seed: Annotated[int, _search(min=0, metavar="NUMBER", help="The first of the seeds.")] = 0,
    precision: Annotated[float, _search(metavar="SHARE", help="Step of the loads that are tried.")] = 0.01,
    most: Annotated[
        int | None, _search(min=1, metavar="N", help="Largest load.", show_default="16 patterns a neuron")
    ] = None,
    cues: Annotated[int, _search(min=1, metavar="N", help="Patterns of a load that are asked for at most.")] = 1000,
    results: Annotated[
        Path | None,
        _output(
            metavar="FILE.jsonl",
            help="Keep every evaluated load there, and go on from what is there.",
            show_default="nothing is kept",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        _output(
            metavar="FOLDER|FILE",
            help=f"Where the picture goes: a folder, or a file ({', '.join(PICTURES)}).",
            show_default=f"{PICTURE}.png",
        ),
    ] = None,
    ending: PictureFormat = "png",
    as_json: Annotated[bool, _output("--json", metavar="", help="Print one JSON object for programs instead.")] = False,
) -> None:
    """Find how many patterns a memory holds: the largest load of which 90 % come back from their cues without error.

    [bold]bnn capacity --rule bcpnn --family modular --moves 1[/] has one neuron on in each of 20 groups, one moved.

    Ctrl-C loses nothing of what --results keeps; the same command goes on from there.
    """
    from bnn.app import capacity_report
    from bnn.app.capacity_command import Request, draw, prepare, run
    from bnn.app.progress import Bar

    usual = Path(f"{PICTURE}.{ending}")
    picture = output_path(out or usual, usual.name, PICTURES, [] if results is None else [results])
    task = prepare(
        Request(
            rules=tuple(dict.fromkeys(rule or ())),
            family=family,
            patterns={
                "neurons": neurons,
                "activity": activity,
                "active": active,
                "groups": groups,
                "size": size,
                "prototypes": prototypes,
                "per": per,
                "distortion": distortion,
                "data": data,
            },
            noise={"flips": flips, "moves": moves, "wrong": wrong, "erased": erased},
            contiguous=contiguous,
            scrambled=scrambled,
            learn=tuple(learn or ()),
            input=input,
            tune=tune,
            dynamics=dynamics,
            parameters={
                "parallel": parallel,
                "winners": winners,
                "temperature": temperature,
                "gain": gain,
                "solver": solver,
            },
            max_sweeps=max_sweeps,
            criterion=criterion,
            bound=bound,
            seeds=seeds,
            seed=seed,
            precision=precision,
            most=most,
            cues=cues,
            results=results,
        )
    )
    found: dict[str, Capacity] = {}
    interrupted = False
    files: list[str] = []
    with telling_warnings(), Bar() as bar:
        try:
            for name, learner in task.learners.items():
                bar.say(name)
                found[name] = run(task, learner, bar.advance)
        except KeyboardInterrupt:
            interrupted = True
        if found:
            bar.say("picture")
            files.append(draw(found, picture))
    if as_json:
        rows = [capacity.describe() for capacity in found.values()]
        print(json.dumps((rows[0] if len(rows) == 1 else {"rows": rows}) | {"files": files}, allow_nan=False))
    elif found:
        capacity_report.tell(task, found, files)
    if interrupted:
        kept = "nothing is kept without --results" if results is None else f"the same command goes on from {results}"
        raise typer.Exit(fail(f"interrupted after {len(found)} of {len(task.learners)} rules; {kept}.", INTERRUPTED))
