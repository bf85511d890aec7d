"""Dense associative memory: the patterns themselves, and an energy that is a power of their overlaps."""

from __future__ import annotations

from bnn.interactions import Polynomial
from bnn.memories import PatternMemory
from bnn.records import Records
from bnn.rules.base import Rule
from bnn.schema import Layout


def dense(
    records: Records, layout: Layout, *, degree: int = 3, rectified: bool = False, low: int = -1
) -> PatternMemory:
    """E = -(sum over patterns of w m^degree), m the overlap of pattern and state [Krotov, Hopfield 2016].

    Degree 2 is Hopfield's network: asynchronous recall makes the same flips as by the rule "hopfield". Degree n holds
    about N^(n-1) random patterns. An even degree stores the inverse of every pattern with it, at the same energy; an
    odd one makes inverses the highest states; a rectified power has neither.

    Parameters
    ----------
    records, layout
        What is stored: gaps add nothing to an overlap, a record of weight 2 counts as two.
    degree, rectified
        As in `bnn.interactions.Polynomial`.
    low
        State of a neuron that is off: -1, or 0, where only neurons that are on speak: an overlap then counts the
        attributes that agree. No neuron has anything against being on there, so recall with winners.
    """
    return PatternMemory.of(records, layout, Polynomial(degree, rectified), low)


RULE = Rule(
    name="dense",
    function=dense,
    summary="dense associative memory: patterns kept, energy a power of their overlaps",
    coding="values",
    self_connections=False,
    source="patterns",
    in_bits=False,
    pairwise=False,
)
