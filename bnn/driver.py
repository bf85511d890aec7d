"""`recall`: drive one dynamics over a batch of cues and record what happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from bnn import coding
from bnn.associative import AssociativeMemory
from bnn.dynamics import Asynchronous
from bnn.dynamics.base import CYCLE, OUTCOMES, RUNNING, Dynamics, Work
from bnn.dynamics.overlaps import OverlapWork
from bnn.dynamics.pairs import PairWork
from bnn.errors import DataError, DescentError, unknown_name
from bnn.network import Network
from bnn.patterns import as_numbers
from bnn.recorder import Recorder
from bnn.trace import Descent, Trace
from bnn.verdict import audit, tolerance_of

RECORDS = ("sweeps", "flips", "states")
BACKENDS = ("auto", "compiled", "torch")
LARGEST_INPUT = 1e30  # so that no sum of float32 overflows
BEGIN: dict[str, Callable[..., Work]] = {"weights": PairWork.of, "patterns": OverlapWork.of}


def recall(
    network: AssociativeMemory,
    cues: Any,
    dynamics: Dynamics = Asynchronous(),  # noqa: B008 - frozen
    *,
    known: Any = None,
    clamp: Any = None,
    input: Any = 0.0,
    seed: int | np.random.Generator | None = None,
    max_sweeps: int | None = None,
    record: str | Collection[str] = "sweeps",
    check: str = "record",
    backend: str = "auto",
    progress: Callable[[int, int], None] | None = None,
) -> Trace:
    """Let the network settle from each cue, record its energy, and verify that what must fall fell.

    Parameters
    ----------
    network
        A `Network` or a `PatternMemory`: from `bnn.learn`, written down or loaded.
    cues
        [neurons], [batch, neurons] or [batch, *picture] in {0,1}, {-1,+1} or bool, NaN = unknown; or Records. Where
        neurons are graded also fractions: the probability of each neuron being on [B eq 8].
    dynamics
        `Asynchronous`, `Synchronous`, `WinnerTakeAll`, `KWinners`, `Glauber`, or, with graded neurons, `GradientFlow`
        and, of a modern Hopfield network, `Attention`.
    known
        bool mask, [neurons] or of the cues' shape: False makes that part of the cue unknown.
    clamp
        What may not change: attribute names, a bool mask ([neurons] or of the cues' shape), or ``"known"`` for all that
        the cue knows. A clamped unknown stays silent throughout; free unknowns are filled once, in order, from what
        is known, before the series starts (in a flow: start at their priors).
    input
        Added to the field, in bits, a number or an array [neurons] or [batch, neurons]: external input, minus a
        threshold, or ``"prior"`` for the prior the network learned (a neuron then turns on by its posterior, not by
        its gain). Rounded to the network's grid.
    seed
        Of the orders and the noise: a whole number, or a Generator to draw it from; None draws one. The trace keeps it.
    max_sweeps
        Rows that have not settled by then end with the outcome ``"limit"``; None: 100, or 10,000 steps of a flow.
    record
        ``"sweeps"`` (series at each sweep's end), ``"flips"`` (also every flip), ``"states"`` (also the states at each
        sweep's end), or several of them. Graded neurons have no flips to record, and their sweeps are steps.
    check
        ``"raise"``: a rise where the guarantee holds is a `DescentError`; ``"record"``: it is only recorded.
    backend
        ``"auto"``: compiled loops on the CPU, torch elsewhere; ``"compiled"`` or ``"torch"`` to insist. Flows have
        torch's products, on the CPU with compiled passes between them, in any case.
    progress
        Called after each sweep with the number of rows that have ended and of all rows.

    Raises
    ------
    DataError
        Cues, masks, input or options that do not fit; the message says which.
    DescentError
        Only with ``check="raise"``.

    Examples
    --------
    >>> import bnn
    >>> patterns = [[1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 0, 0]]
    >>> network = bnn.learn(bnn.Records.from_patterns(patterns), "odds")
    >>> trace = bnn.recall(network, [[1, 1, 1, 1, 0, 0, 0, 1]], seed=0, check="raise")
    >>> trace.states.tolist(), trace.outcome.tolist(), trace.descent.holds
    ([[1, 1, 1, 1, 0, 0, 0, 0]], ['settled'], True)
    """
    wanted = {record} if isinstance(record, str) else set(record) if isinstance(record, Collection) else {record}
    for name in wanted - set(RECORDS):
        raise unknown_name("recall.record", name, RECORDS)
    if check not in ("record", "raise"):
        raise unknown_name("recall.check", check, ("record", "raise"))
    if not isinstance(network, AssociativeMemory):
        raise DataError(f"recall.network: got {type(network).__name__}; give a Network, such as bnn.learn(records).")
    if not isinstance(dynamics, Dynamics):
        raise DataError(f"recall.dynamics: got {dynamics!r}; give an instance, such as bnn.Asynchronous().")
    if max_sweeps is None:
        max_sweeps = dynamics.limit
    if not isinstance(max_sweeps, int | np.integer) or max_sweeps < 1:
        raise DataError(f"recall.max_sweeps: got {max_sweeps!r}; give a whole number of at least 1.")
    if (refusal := dynamics.refusal(network)) is not None:
        raise DataError(f"{type(dynamics).__name__}: {refusal}.")
    if dynamics.graded and "flips" in wanted:
        raise DataError('recall.record: graded neurons have no single flips; record="states" keeps their path.')
    seed = drawn_seed(seed, "recall.seed")

    cue = coding.read_states(network.layout, cues, "recall.cues", soft=True)
    if cue.soft and not dynamics.graded:
        raise DataError(
            f"recall.cues: there are fractions, and neurons of {type(dynamics).__name__} are on or off; use "
            "GradientFlow, or round the cues."
        )
    if len(cue.on) == 0:
        raise DataError("recall.cues: got no rows; give at least one cue.")
    if known is not None:
        hidden = ~_mask(network, known, len(cue.on), "recall.known") | np.zeros_like(cue.on, dtype=np.bool_)
        hidden |= False if cue.unknown is None else cue.unknown
        cue = coding.NeuronStates(np.where(hidden, cue.on.dtype.type(0), cue.on), hidden)
    held = _clamped(network, clamp, cue)
    begun = dynamics.admissible(network, cue, torch.from_numpy(held))
    external = external_input(network, input, len(cue.on))
    work, unknown = _begin(network, begun, held, external, seed, backend, "flips" in wanted, dynamics.graded)
    dynamics.start(work, unknown)
    dynamics.begin(work)
    silent = None if unknown is None else unknown & ~work.free

    recorder = Recorder(work, external, "states" in wanted)
    start = work.states.cpu().numpy().copy()
    for number in range(max_sweeps):
        if work.outcome.all():
            break
        work.flips[:] = 0
        dynamics.sweep(work, number)
        recorder.add(number)
        if progress is not None:
            progress(int((work.outcome != RUNNING).sum()), len(work.outcome))

    energy = recorder.series("energy")
    lyapunov = energy if work.lyapunov is work.energy else recorder.series("lyapunov")
    guarantee = dynamics.guarantee(network)
    rounding = tolerance_of(network, external, dynamics.graded)
    mismatch = audit(work)
    excess = float(work.excess.max())
    descent = Descent(
        holds=excess <= (0.0 if dynamics.graded else rounding) and mismatch <= rounding,
        largest_rise=float(work.rise.max()),
        mismatch=mismatch,
        tolerance=float(work.allowed.max()) if dynamics.graded else rounding,
        mismatch_tolerance=rounding,
        guaranteed=guarantee.holds,
        reason=guarantee.reason,
    )
    if check == "raise" and guarantee.holds and not descent.holds:
        found = (
            f"the independent checks of fields and energy differ by {mismatch:.3g} bits, more than {rounding:.3g}"
            if mismatch > rounding
            else f"the {dynamics.lyapunov} rose by {excess:.3g} bits more than the error of its step"
        )
        raise DescentError(
            f"recall: {found}, although {guarantee.reason}; the network was changed while it ran, or the machine erred."
        )
    states = work.states.cpu().numpy()
    cycling = work.outcome == CYCLE
    other = None
    if cycling.any() and work.previous is not None:
        other = np.where(cycling[:, None], work.previous.cpu().numpy(), states)
    similarity = recorder.log_similarity(network, energy, silent)
    return Trace(
        network=network,
        dynamics=dynamics,
        seed=seed,
        cues=network.values_of(cue)[0].cpu().numpy(),
        unknown=cue.unknown,
        start=start,
        states=states,
        silent=None if silent is None or not bool(silent.any()) else silent.cpu().numpy(),
        lyapunov=lyapunov,
        energy=energy,
        log_similarity=similarity,
        times=np.arange(energy.shape[1], dtype=np.float64) if work.time is None else recorder.series("time"),
        outcome=np.array(OUTCOMES)[work.outcome],
        other_phase=other,
        flips=recorder.flips,
        sweeps=recorder.sweeps,
        descent=descent,
        flip_log=recorder.flip_log() if "flips" in wanted else None,
        history=recorder.series("states") if "states" in wanted else None,
        suspended=None if work.suspended is None or not recorder.ever_suspended else recorder.series("suspended"),
    )


def drawn_seed(seed: int | np.random.Generator | None, owner: str) -> int:
    """A whole number: the one given, or drawn from the generator, or from a new one."""
    if seed is None:
        seed = np.random.default_rng()
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**32))
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise DataError(f"{owner}: got {seed!r}; use a whole number of at least 0, or a numpy Generator.")
    return int(seed)


def _mask(network: AssociativeMemory, mask: Any, batch: int, owner: str) -> Bool[np.ndarray, "_ neurons"]:
    """A bool mask as [1 or batch, neurons]."""
    array = coding.as_batch(network.layout, as_numbers(mask, owner), owner).copy()
    if array.dtype != np.bool_:
        raise DataError(f"{owner}: got dtype {array.dtype}; give a mask of True and False.")
    if len(array) not in (1, batch):
        raise DataError(f"{owner}: got {len(array)} rows for {batch} cues; give one row for all, or one a cue.")
    return array


def _clamped(network: AssociativeMemory, clamp: Any, cue: coding.NeuronStates) -> Bool[np.ndarray, "_ neurons"]:
    """Which neurons may not change, [1 or batch, neurons]."""
    if clamp is None:
        return np.zeros((1, network.neurons), dtype=np.bool_)
    if isinstance(clamp, str) and clamp == "known" and "known" not in network.layout.schema.names:
        return np.ones((1, network.neurons), dtype=np.bool_) if cue.unknown is None else ~cue.unknown
    if isinstance(clamp, str) or (isinstance(clamp, Sequence) and all(isinstance(name, str) for name in clamp)):
        held = np.zeros((1, network.neurons), dtype=np.bool_)
        held[0, network.layout.neurons_of(clamp)] = True
        return held
    return _mask(network, clamp, len(cue.on), "recall.clamp")


def external_input(network: AssociativeMemory, given: Any, batch: int) -> Float[Tensor, "_ neurons"]:
    """The input of a recall as [1 or batch, neurons] on the network's grid and device, in the unit of its fields."""
    if isinstance(given, str):
        if given != "prior":
            raise unknown_name("recall.input", given, ("prior",))
        if network.prior_bias is None:
            raise DataError(
                'recall.input: "prior" needs a network that knows its priors in bits; learn one with the rule '
                '"probability" or "odds".'
            )
        array = network.prior_bias.cpu().numpy()
    else:
        array = as_numbers(given, "recall.input").astype(np.float64)
    if array.ndim == 0:
        array = np.full(network.neurons, array)
    array = coding.as_batch(network.layout, array, "recall.input")
    if len(array) not in (1, batch):
        raise DataError(f"recall.input: got {len(array)} rows for {batch} cues; give one row for all, or one a cue.")
    if not (good := np.abs(array) <= LARGEST_INPUT).all():
        row, j = np.argwhere(~good)[0]
        raise DataError(
            f"recall.input: got {array[row, j]} at {network.layout.names[j]!r}; give numbers of bits up to "
            f"{LARGEST_INPUT:g}, and clamp a neuron to fix its state."
        )
    if network.grid and array.any():
        array = np.rint(array / network.grid) * network.grid
    sparse = isinstance(network, Network) and network.is_sparse  # its fields are float64 whatever its weights
    return torch.from_numpy(array).to(network.device, torch.float64 if sparse else network.bias.dtype)


def _begin(
    network: AssociativeMemory,
    cue: coding.NeuronStates,
    held: Bool[np.ndarray, "_ neurons"],
    external: Float[Tensor, "_ neurons"],
    seed: int,
    backend: str,
    log_flips: bool,
    graded: bool,
) -> tuple[Work, Bool[Tensor, "batch neurons"] | None]:
    """Working memory of the cue, and what is unknown."""
    if backend not in BACKENDS:
        raise unknown_name("recall.backend", backend, BACKENDS)
    device = network.device
    compiled = device.type == "cpu" and backend != "torch" and not graded
    if backend == "compiled" and graded:
        raise DataError("recall.backend: graded neurons have no compiled twin of their products; use 'auto'.")
    if backend == "compiled" and not compiled:
        raise DataError(f"recall.backend: compiled loops run on the CPU, the network is on {device}; use 'auto'.")
    if backend == "torch" and isinstance(network, Network) and network.is_sparse:
        raise DataError(
            "recall.backend: sparse weights are recalled by compiled loops; use 'auto', or network.to_dense()."
        )
    states, unknown = network.values_of(cue)
    if unknown is not None:
        network.unknown_attributes(unknown)  # refuses half-known attributes
    work = BEGIN[network.keeps](
        network,
        states,
        network.bias_for(unknown) + external,
        compiled,
        graded,
        free=~torch.from_numpy(held).to(device),
        seed=seed,
        log_flips=log_flips,
    )
    return work, unknown
