"""Dynamics of recall; a new one is a file and a line here."""

from bnn.dynamics.threshold import Asynchronous, Glauber, Synchronous
from bnn.dynamics.winners import KWinners, WinnerTakeAll

DYNAMICS = {kind.name: kind for kind in (Asynchronous, Synchronous, WinnerTakeAll, KWinners, Glauber)}
