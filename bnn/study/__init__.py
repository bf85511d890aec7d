"""Studies of capacity: how many patterns a memory holds, of which kind, from which cues, and how sure that is.

`capacity` asks one rule; `tuned` finds its threshold, or any other setting, on seeds of their own before.
"""

from bnn.study.capacities import Capacity, capacity, held
from bnn.study.criteria import Criterion
from bnn.study.cues import Noise
from bnn.study.drawn import Dense, KActive, Modular
from bnn.study.evaluation import evaluate
from bnn.study.families import FAMILIES, Correlated, Real
from bnn.study.family import Family
from bnn.study.inputs import Shift, Threshold
from bnn.study.points import Point
from bnn.study.questions import Learner, Question
from bnn.study.tuning import Tuning, thresholds, tuned

__all__ = [
    "FAMILIES",
    "Capacity",
    "Correlated",
    "Criterion",
    "Dense",
    "Family",
    "KActive",
    "Learner",
    "Modular",
    "Noise",
    "Point",
    "Question",
    "Real",
    "Shift",
    "Threshold",
    "Tuning",
    "capacity",
    "evaluate",
    "held",
    "thresholds",
    "tuned",
]
