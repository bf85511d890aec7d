"""Dynamics of recall; a new one is a file and a line here."""

from bnn.dynamics.attention import Attention
from bnn.dynamics.base import Dynamics
from bnn.dynamics.flow import GradientFlow
from bnn.dynamics.threshold import Asynchronous, Glauber, Synchronous
from bnn.dynamics.winners import KWinners, WinnerTakeAll

__all__ = [
    "DYNAMICS",
    "Asynchronous",
    "Attention",
    "Dynamics",
    "Glauber",
    "GradientFlow",
    "KWinners",
    "Synchronous",
    "WinnerTakeAll",
]

DYNAMICS: dict[str, type[Dynamics]] = {
    kind.name: kind for kind in (Asynchronous, Synchronous, WinnerTakeAll, KWinners, Glauber, GradientFlow, Attention)
}
