"""Pictures."""
from bnn.plots.series import energy, similarity
