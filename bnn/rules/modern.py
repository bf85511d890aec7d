"""Modern Hopfield network: the patterns themselves, and the log-sum-exp of their overlaps."""

from __future__ import annotations

from bnn.interactions import LogSumExp
from bnn.memories import PatternMemory
from bnn.records import Records
from bnn.rules.base import Rule
from bnn.schema import Layout


def modern(records: Records, layout: Layout, *, beta: float | int = 1.0, low: int = -1) -> PatternMemory:
    """E = -ln(sum over patterns of w exp(beta m))/beta + |V|^2/2 + constant [Ramsauer et al. 2021].

    Recalled by `bnn.Attention` it is their network of graded states; by `bnn.Asynchronous` the exponential memory of
    Demircigil et al. (2017), whose energy, minus the sum of exp(m), falls with this one at beta = 1.

    Parameters
    ----------
    records, layout
        What is stored: gaps add nothing to an overlap, a record of weight 2 counts as two.
    beta
        As in `bnn.interactions.LogSumExp`: large, and the nearest pattern is recalled; small, and near ones blend.
    low
        State of a neuron that is off: -1, or 0, where only neurons that are on speak.
    """
    return PatternMemory.of(records, layout, LogSumExp(beta), low)


RULE = Rule(
    name="modern",
    function=modern,
    summary="modern Hopfield network: patterns kept, energy the log-sum-exp of their overlaps",
    coding="values",
    self_connections=False,
    source="patterns",
    in_bits=False,
    pairwise=False,
)
