"""Delta learning of a memory: patterns that are not recalled are counted again, round after round.

    python experiments/delta_memory.py [--out FOLDER] [--seed 0] [--quick]

I. Kononenko, Successive Naive Bayesian Classifier, Informatica 17 (1993) 167-174, section 2, repeats the rows that a
naive Bayesian classifier answers wrong, and finds that it overfits. Here the rows are patterns, the classifier is the
memory itself, and what is to be answered is what was learned: `bnn.learn_delta`. Does it hold more patterns, of which
kinds, by which schedule; and what does that cost?

Every run learns from noise of its own; what is printed was recalled from other noise, that neither learning nor the
choice of the best round saw. Two schedules: careful, weights of 1 + 0.15/(1 + r/5) in round r, and bold, 1.5
throughout; counted again is what is not a fixed point and, once all are, what is not recalled from a noisy cue (signal
"both"). Capacity: patterns at which 90 % are recalled without an error, between loads by straight lines.

About twelve minutes on one core; with --quick ten seconds.
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from harness import Measured, Result, Table, main
from memories import Kind, correlated, dense, digits, k_active, modular

import bnn
from bnn.repetition import DeltaLearning, recalled

NAME = "delta_memory"
ROUNDS = 40
CUES = 200  # noisy cues of all patterns together in a round, at least: the best round is chosen by them
CAREFUL, BOLD = "careful", "bold"
SCHEDULES = {
    "1.03": np.full(ROUNDS, 1.03),
    "1.05": np.full(ROUNDS, 1.05),
    "1.1": np.full(ROUNDS, 1.1),
    "1.15": np.full(ROUNDS, 1.15),
    BOLD: np.full(ROUNDS, 1.5),
    CAREFUL: 1 + 0.15 / (1 + np.arange(ROUNDS) / 5),
    "growing 1.01 to 1.15": np.linspace(1.01, 1.15, ROUNDS),
    "0.1 added": np.full(ROUNDS, 1.1),
    "1 added, as [S 2]": np.full(ROUNDS, 2.0),
}
SIGNALS = ("patterns", "cues", "both")


@dataclass(frozen=True)
class Case:
    """A kind of patterns, the parts that noise changes, the loads and how many seeds."""

    name: str
    kind: Kind
    changed: int
    loads: tuple[int, ...]
    seeds: int
    quick: tuple[int, ...] = ()

    def patterns(self, load: int, seed: int) -> bnn.Records:
        """The patterns of a seed."""
        return self.kind.draw(load, np.random.default_rng([seed, 5]))

    def learn(self, load: int, seed: int, schedule: str, signal: str = "both", rounds: int = ROUNDS) -> DeltaLearning:
        """Learn them over and over."""
        kind = self.kind
        return bnn.learn_delta(
            self.patterns(load, seed),
            kind.rule,
            dynamics=kind.dynamics,
            input=kind.input(bnn.RULES[kind.rule]),
            max_sweeps=15,
            noise=kind.noise(self.changed),
            cues=max(1, CUES // load),
            seed=seed,
            signal=signal,
            rounds=rounds,
            weight=SCHEDULES[schedule][:rounds],
            additive="added" in schedule,
        )


LATTICE = modular(20, 20)
CASES = (
    Case("modular", LATTICE, 1, (450, 500, 550, 600, 650, 700), 4, (500, 600)),
    Case(
        "modular, one group after another",
        replace(LATTICE, dynamics=bnn.WinnerTakeAll()),
        1,
        (500, 550, 600, 650),
        2,
    ),
    Case("k-active", k_active(400, 20), 1, (400, 450, 500, 550), 3),
    Case("dense, odds", dense(200, "odds"), 20, (16, 19, 22, 25, 28, 32), 10, (22, 25)),
    Case("dense, Hopfield", dense(200, "hopfield"), 20, (16, 19, 22, 25, 28, 32), 10),
    Case("correlated modular", correlated(LATTICE, 20, 0.5), 1, (150, 200, 250, 300, 400), 4),
    Case("correlated dense, odds", correlated(dense(200, "odds"), 5, 0.2), 10, (4, 6, 8, 10, 12, 14), 10, (6, 10)),
    Case("digits, odds", digits(), 39, (5, 10, 15), 3),
)
COMPARED = {"modular": (600, 2), "dense, odds": (25, 10), "correlated dense, odds": (12, 10)}
BASIN = {"modular": (550, range(9), 4), "dense, odds": (25, range(0, 61, 6), 10)}
BASIN |= {"correlated dense, odds": (10, range(0, 61, 6), 10)}
WATCHED = ("modular", (550, 600, 650, 700), 2)
COSTS = ("flattered", "flattered, bold", "round", "round, bold", "weight", "weight, bold")
PLAIN, KEPT, LAST, CHOSEN_BY, ROUND, HEAVIEST = range(6)


def outcome(run: DeltaLearning) -> tuple[float, ...]:
    """Held-out share of round 0, of the best and of the last round; by what the best was chosen; and what it cost."""
    of_best = (run.held_out[run.best], run.held_out[-1], run.recalled[run.best])
    return (run.held_out[0], *of_best, run.best, run.weights.max())


def outcomes(case: Case, loads: Sequence[int], seeds: Sequence[int], schedule: str, **options: Any) -> np.ndarray:
    """[loads, seeds, outcomes]."""
    return np.array([[outcome(case.learn(load, seed, schedule, **options)) for seed in seeds] for load in loads])


def by_round(case: Case, load: int, seeds: Sequence[int]) -> np.ndarray:
    """[fixed and held out, rounds + 1], mean over seeds; where nothing was left to count again the last round stays."""
    runs = [case.learn(load, seed, CAREFUL) for seed in seeds]
    pad = [[(0, ROUNDS + 1 - len(run.fixed))] for run in runs]
    both = [[np.pad(s, p, mode="edge") for s in (run.fixed, run.held_out)] for run, p in zip(runs, pad, strict=True)]
    return np.mean(both, axis=0)


def basin(case: Case, load: int, parts: Sequence[int], seeds: Sequence[int], rounds: int) -> np.ndarray:
    """[plain, careful and bold, parts changed, seeds]: share recalled, from noise of yet another seed."""
    shares = np.empty((3, len(parts), len(seeds)))
    for s, seed in enumerate(seeds):
        patterns = case.patterns(load, seed)
        networks = [bnn.learn(patterns, case.kind.rule)]
        networks += [case.learn(load, seed, name, rounds=rounds).network for name in (CAREFUL, BOLD)]
        many = patterns[np.tile(np.arange(load), max(1, CUES // load))]
        for p, changed in enumerate(parts):
            cues = bnn.corrupt(many, **case.kind.noise(changed), seed=np.random.default_rng([seed, changed, 6]))
            for n, network in enumerate(networks):
                shares[n, p, s] = recalled(case.kind.recall(network, cues, seed), patterns).mean()
    return shares


def crossing(loads: Sequence[int], shares: np.ndarray, level: float = 0.9) -> float:
    """Load at which a share that falls with the load crosses the level; at most the last one, at least the first."""
    falling = np.minimum.accumulate(shares)
    return float(np.interp(level, falling[::-1], np.array(loads)[::-1]))


def measure(chosen: Namespace) -> Result:
    quick = chosen.quick
    rounds = 5 if quick else ROUNDS
    found: dict[Any, Any] = {}
    cases = {case.name: case for case in CASES if case.quick or not quick}
    capacities, shares, compared, basins = [], [], [], []

    def seeds(number: int) -> range:
        return range(chosen.seed, chosen.seed + (2 if quick else number))

    for name, case in cases.items():
        loads = case.quick if quick else case.loads
        careful, bold = (outcomes(case, loads, seeds(case.seeds), one, rounds=rounds) for one in (CAREFUL, BOLD))
        found[name] = loads, careful, bold
        at = [
            [crossing(loads, run[:, s, column]) for s in range(run.shape[1])]
            for run, column in ((careful, PLAIN), (careful, KEPT), (bold, KEPT))
        ]
        gains = (np.subtract(some, at[0]) for some in at[1:])
        capacities.append([name, *(Measured.of(some) for some in (*at, *gains))])
        shares += [[name, load, *cells(careful[i], bold[i])] for i, load in enumerate(loads)]
    for name, (load, number) in COMPARED.items():
        if not quick or name == "dense, odds":
            for schedule in (CAREFUL, "1.15") if quick else SCHEDULES:
                runs = [
                    outcomes(cases[name], [load], seeds(number), schedule, signal=one, rounds=rounds)[0]
                    for one in SIGNALS
                ]
                found["schedules", name, schedule] = runs
                row = [f"{name}, {load}", schedule, Measured.of(runs[0][:, PLAIN], scale=100)]
                row += [Measured.of(run[:, KEPT], scale=100) for run in runs]
                compared.append([*row, Measured.of(runs[-1][:, ROUND])])
    for name, (load, parts, number) in BASIN.items():
        if not quick or name == "dense, odds":
            found["basin", name] = load, parts, basin(cases[name], load, parts, seeds(number), rounds)
            for changed, some in zip(parts, found["basin", name][2].transpose(1, 0, 2), strict=True):
                basins.append([f"{name}, {load}", changed, *(Measured.of(one, scale=100) for one in some)])
    name, loads, number = WATCHED
    for load in () if quick else loads:
        found["rounds", load] = by_round(cases[name], load, seeds(number))
    tables = [
        Table(
            "Patterns of which 90 % are recalled from held-out noise",
            ["patterns", "plain", CAREFUL, BOLD, "careful - plain", "bold - plain"],
            capacities,
        ),
        Table(
            "Recalled from held-out noise (%); what choosing the best round flatters it by; its number, largest weight",
            ["patterns", "stored", "plain", CAREFUL, BOLD, "last careful", *COSTS],
            shares,
        ),
        Table(
            f"Schedules and what is counted again: recalled from held-out noise (%), at most {rounds} rounds",
            ["patterns", "schedule", "plain", *SIGNALS, "round, both"],
            compared,
        ),
        Table("Basin: recalled (%) against parts changed", ["patterns", "changed", "plain", CAREFUL, BOLD], basins),
    ]
    return Result(tables, conclusion(found), {"rounds": rounds, "cues": CUES}, ("mnist-100",), found)


def cells(careful: np.ndarray, bold: np.ndarray) -> list[Measured]:
    """One load of the table of shares."""
    told = [Measured.of(run[:, column], scale=100) for run, column in ((careful, PLAIN), (careful, KEPT), (bold, KEPT))]
    told.append(Measured.of(careful[:, LAST], scale=100))
    told += [Measured.of(run[:, CHOSEN_BY] - run[:, KEPT], scale=100) for run in (careful, bold)]
    return told + [Measured.of(run[:, column]) for column in (ROUND, HEAVIEST) for run in (careful, bold)]


def conclusion(found: dict[Any, Any]) -> str:
    """Where held-out recall changed by more than two standard errors of the paired difference, and what it costs."""
    told, flattered = [], []
    for number, schedule in ((1, CAREFUL), (2, BOLD)):
        gained, lost, loads = 0, [], 0
        for case in (case for case in CASES if case.name in found):
            run = found[case.name][number]
            flattered.append(run[:, :, CHOSEN_BY] - run[:, :, KEPT])
            for load, apart in zip(found[case.name][0], run[:, :, KEPT] - run[:, :, PLAIN], strict=True):
                error = apart.std(ddof=1) / np.sqrt(len(apart))
                loads += 1
                gained += apart.mean() > 2 * error
                lost += [f"{case.name} {load}"] if apart.mean() < -2 * error else []
        told.append(
            f"{schedule}: more recalled from held-out noise, by more than two standard errors, at {gained} of {loads} "
            f"loads, less at {len(lost)}{': ' if lost else ''}{', '.join(lost)}."
        )
    told.append(
        "The noise by which the best round is chosen flatters it by "
        f"{100 * np.mean([some.mean() for some in flattered]):.1f} points on average; held-out noise is free of that. "
        "A round costs one learning and three recalls: of the patterns, of the cues to learn by, of those held out."
    )
    return "\n".join(told)


if __name__ == "__main__":
    from delta_memory_figure import picture

    main(NAME, __doc__, measure, picture)
