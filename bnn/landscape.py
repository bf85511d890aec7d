"""The energy landscape of small networks, by enumeration of every state."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Int8

from bnn.associative import AssociativeMemory
from bnn.errors import DataError

LARGEST = 20


def all_states(network: AssociativeMemory) -> Int8[np.ndarray, "states neurons"]:
    """Every state of the network, int8 in {low, 1}, counting up with the first neuron as the highest bit.

    Raises
    ------
    DataError
        More than 20 neurons: over a million states.
    """
    if network.neurons > LARGEST:
        raise DataError(f"fixed_points.network: has {network.neurons} neurons; enumeration stops at {LARGEST}.")
    numbers = np.arange(2**network.neurons)[:, None]
    on = (numbers >> np.arange(network.neurons)[::-1]) & 1
    return np.where(on == 1, 1, network.low).astype(np.int8)


def fixed_points(network: AssociativeMemory) -> Int8[np.ndarray, "points neurons"]:
    """All states that the threshold rule leaves unchanged: no neuron on with h < 0, none off with h > 0 [B 2.2].

    Parameters
    ----------
    network
        At most 20 neurons.

    Returns
    -------
    int8 [points, neurons]
        In {low, 1}, by rising energy, then in counting order.

    Examples
    --------
    >>> import bnn
    >>> network = bnn.Network.of([[0, 1], [1, 0]], bias=[-0.5, -0.5])
    >>> fixed_points(network).tolist()
    [[0, 0], [1, 1]]
    """
    states = all_states(network)
    fields = network.field(states).cpu().numpy()
    wrong = ((fields > 0) & (states != 1)) | ((fields < 0) & (states == 1))
    fixed: np.ndarray = states[~wrong.any(axis=1)]
    energy = network.energy(torch.from_numpy(fixed)).cpu().numpy()
    return np.take(fixed, np.argsort(energy, kind="stable"), axis=0)
