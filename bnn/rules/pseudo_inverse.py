"""The pseudo-inverse rule: the projection on what the patterns span."""

from __future__ import annotations

import numpy as np
from scipy.linalg import orth

from bnn.records import Records
from bnn.rounding import round_to
from bnn.rules.base import Connections, Draft, Rule, known_patterns

NOISE = 2.0**-40  # what the solver leaves where a weight is 0 must not decide over ties


def pseudo_inverse(records: Records, connections: Connections, dtype: np.dtype) -> Draft:
    """W = X' (X X')^-1 X, X the patterns in {-1, +1}, one a row [Personnaz, Guyon, Dreyfus 1986].

    The orthogonal projection on the span of the patterns: W x = x for each of them, whatever their correlations, up to
    n independent ones. Without self-connections, as by default, the field of a pattern's neuron is (1 - W(j,j)) x_j,
    so that each is still a fixed point, and a global minimum of E; and its basin is wider, since no neuron holds on to
    its own state [Kanter, Sompolinsky 1987]. Not local, and not incremental: a new pattern changes every weight.
    Basins shrink as patterns are added and are gone at n, where W is the identity.

    Parameters
    ----------
    records
        Every value known. Repeated and opposite patterns, and such as follow from others, change nothing; of weights it
        only matters whether they are above 0.
    connections, dtype
        Who is connected, the dtype of the weights. Where different neurons are not connected (a mask, attributes of
        three values or more) the rest of the projection is kept, and patterns need not be fixed points.

    Notes
    -----
    A basis of the span comes from a singular value decomposition; directions below machine precision of the largest
    one are left out, so that dependent patterns need no care.
    """
    layout = connections.layout
    learned = records if records.weights is None else records[records.weights > 0.0]
    basis = orth(known_patterns(learned, layout, RULE.name).T)
    weights = basis @ basis.T
    weights = 0.5 * (weights + weights.T)
    round_to(weights, NOISE)
    everyone = slice(0, layout.neurons)
    connections.disconnect(weights, everyone, everyone, 0.0)
    return Draft(weights.astype(dtype), np.zeros(layout.neurons), low=-1)


RULE = Rule(
    name="pseudo-inverse",
    function=pseudo_inverse,
    summary="pseudo-inverse 1986: projection on the span of the patterns",
    coding="on",
    self_connections=True,
    source="patterns",
    in_bits=False,
)
