"""A verdict on descent that can fail: checks that share nothing with the increments, and what rounding may do."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from bnn.associative import AssociativeMemory
from bnn.dynamics.base import GRAIN, Work
from bnn.dynamics.overlaps import OverlapWork
from bnn.dynamics.pairs import PairWork
from bnn.kernels import sums, threads
from bnn.memories import PatternMemory
from bnn.network import Network
from bnn.sparse import SparseWeights


@singledispatch
def audit(work: Work) -> float:
    """Largest disagreement of what was kept up to date with the final states, by a way that uses no increments."""
    raise NotImplementedError(type(work).__name__)


@singledispatch
def tolerance_of(network: AssociativeMemory, external: Float[Tensor, "_ neurons"], graded: bool) -> float:
    """What rounding may do to the checks: nothing where all sums lie on a grid with room to spare."""
    raise NotImplementedError(type(network).__name__)


@audit.register(PairWork)
def audit_pairs(work: PairWork) -> float:
    """Fields along a vector, and the energy by fields and states, in bits."""
    network, found = work.network, work.network._found
    if "probe" not in found:
        # Ones and twos, so that no field is left out; the weights themselves, lest a wrong `symmetric` be believed
        direction = np.random.default_rng(network.neurons).integers(1, 3, network.neurons).astype(np.float64)
        ahead = torch.from_numpy(direction).to(network.device)
        if isinstance(network.weights, SparseWeights):
            found["image"] = torch.from_numpy(network.weights.times(direction))
        else:
            found["image"] = (network.weights.T @ ahead.to(network.weights.dtype)).double()
        found["probe"] = ahead  # last: another thread looks for it
    probe, image = found["probe"], found["image"]
    if work.compiled or (work.time is not None and work.states.device.type == "cpu"):  # a flow is, there
        mismatch = np.zeros(work.batch)
        arrays = tuple(tensor.numpy() for tensor in (work.states, work.fields, work.bias, probe, image))
        rows = np.arange(len(mismatch))
        threads.run(lambda begin, end: sums.audit(*arrays, work.energy, rows[begin:end], mismatch), len(rows), GRAIN)
        return float(mismatch.max())
    values, fields, bias = work.states.double(), work.fields.double(), work.bias.double()
    along = (fields @ probe - values @ image - bias @ probe).abs()
    anew = -0.5 * (values * (fields + bias)).sum(dim=1).cpu().numpy()
    return float(np.maximum(along.cpu().numpy(), np.abs(anew - work.energy)).max())


@audit.register(OverlapWork)
def audit_overlaps(work: OverlapWork) -> float:
    """Overlaps, and the energy by its definition, both from the final states alone."""
    network, values = work.network, work.states.double()
    overlaps = network.overlaps_of(values)
    energy = network.energy_of(values, overlaps) - (values * (work.bias - network.bias)).sum(dim=1)
    differ = np.abs(energy.cpu().numpy() - work.energy).max()
    if work.overlaps is not None:
        differ = max(differ, np.abs(overlaps.numpy() - work.overlaps).max())
    return float(differ)


@tolerance_of.register(PatternMemory)
def tolerance_of_patterns(
    network: PatternMemory,
    external: Float[Tensor, "_ neurons"],
    graded: bool,  # noqa: ARG001 - asked of every memory
) -> float:
    """In the memory's unit; whole overlaps are exact."""
    return network.tolerance(float(external.abs().max()))


@tolerance_of.register(Network)
def tolerance_of_pairs(network: Network, external: Float[Tensor, "_ neurons"], graded: bool) -> float:
    """In bits."""
    largest = float(external.abs().max())
    weights = network.weights
    in_double = isinstance(weights, SparseWeights) or weights.dtype == torch.float64
    bits, room = (51, network.neurons) if in_double else (22, 1)
    if network.grid is not None and not graded and (largest == 0.0 or largest * room <= 2.0**bits * network.grid):
        return 0.0
    sums = float(
        weights.row_sums().sum()
        if isinstance(weights, SparseWeights)
        else torch.linalg.vector_norm(weights, 1, dtype=torch.float64)
    )
    size = sums + float(network.bias.abs().sum(dtype=torch.float64))
    # Graded states fill every bit of a sum, and many equal weights round all fields the same way: the worst case
    terms = 2.0 * (network.neurons + 2) if graded else 8.0
    return terms * torch.finfo(torch.float64 if in_double else torch.float32).eps * (size + largest * network.neurons)
