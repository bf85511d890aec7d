"""Pictures."""
from bnn.plots.series import energy, similarity
from bnn.plots.panels import recall, replay
from bnn.plots.compared import comparison, overlap_against_noise
