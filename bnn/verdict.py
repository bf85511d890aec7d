"""A verdict on descent that can fail: checks that share nothing with the increments, and what rounding may do."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from bnn.dynamics.base import GRAIN, Work
from bnn.kernels import sums, threads
from bnn.network import Network


def audit(work: Work) -> float:
    """Largest disagreement, in bits, of fields and energy with the final states, by a way that uses no increments."""
    network, found = work.network, work.network._found
    if "probe" not in found:
        # Ones and twos, so that no field is left out; the weights themselves, lest a wrong `symmetric` be believed
        direction = np.random.default_rng(network.neurons).integers(1, 3, network.neurons).astype(np.float64)
        ahead = torch.from_numpy(direction).to(network.weights.device)
        found["image"] = (network.weights.T @ ahead.to(network.weights.dtype)).double()
        found["probe"] = ahead  # last: another thread looks for it
    probe, image = found["probe"], found["image"]
    if work.compiled:
        mismatch = np.zeros(work.batch)
        arrays = (*work.views("states", "fields", "bias"), probe.numpy(), image.numpy())
        rows = np.arange(len(mismatch))
        threads.run(lambda begin, end: sums.audit(*arrays, work.energy, rows[begin:end], mismatch), len(rows), GRAIN)
        return float(mismatch.max())
    values, fields, bias = work.states.double(), work.fields.double(), work.bias.double()
    along = (fields @ probe - values @ image - bias @ probe).abs()
    anew = -0.5 * (values * (fields + bias)).sum(dim=1).cpu().numpy()
    return float(np.maximum(along.cpu().numpy(), np.abs(anew - work.energy)).max())


def tolerance_of(network: Network, external: Float[Tensor, "_ neurons"], graded: bool) -> float:
    """What rounding may do to the checks, in bits: nothing where all sums lie on a grid with room to spare."""
    largest = float(external.abs().max())
    bits = 22 if network.weights.dtype == torch.float32 else 51
    room = 1 if network.weights.dtype == torch.float32 else network.neurons
    if network.grid is not None and not graded and (largest == 0.0 or largest * room <= 2.0**bits * network.grid):
        return 0.0
    size = float(network.weights.abs().sum(dtype=torch.float64) + network.bias.abs().sum(dtype=torch.float64))
    # Graded states fill every bit of a sum, and networks with many equal weights round all their fields the same way
    terms = 4.0 * network.neurons**0.5 if graded else 8.0
    return terms * torch.finfo(network.weights.dtype).eps * (size + largest * network.neurons)
