"""Pictures of recall and of networks: matplotlib figures that no window manager knows of, in one look.

Each function returns a `matplotlib.figure.Figure`, to save with ``figure.savefig("name.png")`` or to show in a
notebook; those of a single pair of axes also draw into an ``ax`` that is given. `animation` returns a film instead.
"""

from bnn.plots.associated import associations
from bnn.plots.branches import bifurcation
from bnn.plots.classifiers import reliability, scores
from bnn.plots.compared import comparison, overlap_against_noise
from bnn.plots.explained import explanation
from bnn.plots.film import animation
from bnn.plots.flows import free_energy, graded_against_discrete, trajectories
from bnn.plots.loads import capacity
from bnn.plots.matrix import weights
from bnn.plots.network_graph import graph
from bnn.plots.nomograms import nomogram
from bnn.plots.panels import recall, replay
from bnn.plots.portrait import phase_portrait
from bnn.plots.series import energy, similarity

__all__ = [
    "animation",
    "associations",
    "bifurcation",
    "capacity",
    "comparison",
    "energy",
    "explanation",
    "free_energy",
    "graded_against_discrete",
    "graph",
    "nomogram",
    "overlap_against_noise",
    "phase_portrait",
    "recall",
    "reliability",
    "replay",
    "scores",
    "similarity",
    "trajectories",
    "weights",
]
