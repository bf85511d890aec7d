"""bnn: Bayesian neural networks in Kononenko's sense, and Hopfield-type associative memory.

Records in, a network learned by counting, recall whose energy is verified to fall. The names below are the public face;
each is imported when first used, so that ``import bnn`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Attribute": "bnn.schema",
    "Schema": "bnn.schema",
    "Layout": "bnn.schema",
    "Records": "bnn.records",
    "Counts": "bnn.counts",
    "Source": "bnn.sources",
    "find_schema": "bnn.streaming",
    "Window": "bnn.window",
    "Network": "bnn.network",
    "PatternMemory": "bnn.memories",
    "RULES": "bnn.rules",
    "two_layers": "bnn.rules.base",
    "ESTIMATES": "bnn.estimate",
    "learn": "bnn.learning",
    "learn_delta": "bnn.repetition",
    "recall": "bnn.driver",
    "recall_states": "bnn.batches",
    "fixed_points": "bnn.landscape",
    "bifurcation": "bnn.continuation",
    "capacity": "bnn.study.capacities",
    "drift": "bnn.change",
    "corrupt": "bnn.noise",
    "compare": "bnn.classify.comparison",
    "CLASSIFIERS": "bnn.classify.registry",
    "load_classifier": "bnn.classify.storing",
    "what_to_ask": "bnn.classify.asking",
    "DYNAMICS": "bnn.dynamics",
    "Asynchronous": "bnn.dynamics",
    "Attention": "bnn.dynamics",
    "Synchronous": "bnn.dynamics",
    "WinnerTakeAll": "bnn.dynamics",
    "KWinners": "bnn.dynamics",
    "Glauber": "bnn.dynamics",
    "GradientFlow": "bnn.dynamics",
    "Trace": "bnn.trace",
    "NaiveBayesClassifier": "bnn.classify.naive",
    "BayesHead": "bnn.classify.head",
    "NaiveBayesCombiner": "bnn.classify.combiner",
    "NetworkClassifier": "bnn.classify.network_classifier",
    "SemiNaiveBayesClassifier": "bnn.classify.semi_naive",
    "SuccessiveBayesClassifier": "bnn.classify.successive",
    "TreeBayesClassifier": "bnn.classify.tree",
    "BnnError": "bnn.errors",
    "BnnWarning": "bnn.errors",
    "datasets": "",
    "metrics": "",
    "plots": "",
    "study": "",
}

__all__ = sorted(_HOMES)

if TYPE_CHECKING:
    from bnn import datasets as datasets
    from bnn import metrics as metrics
    from bnn import plots as plots
    from bnn import study as study
    from bnn.batches import recall_states as recall_states
    from bnn.change import drift as drift
    from bnn.classify.asking import what_to_ask as what_to_ask
    from bnn.classify.combiner import NaiveBayesCombiner as NaiveBayesCombiner
    from bnn.classify.comparison import compare as compare
    from bnn.classify.head import BayesHead as BayesHead
    from bnn.classify.naive import NaiveBayesClassifier as NaiveBayesClassifier
    from bnn.classify.network_classifier import NetworkClassifier as NetworkClassifier
    from bnn.classify.registry import CLASSIFIERS as CLASSIFIERS
    from bnn.classify.semi_naive import SemiNaiveBayesClassifier as SemiNaiveBayesClassifier
    from bnn.classify.storing import load_classifier as load_classifier
    from bnn.classify.successive import SuccessiveBayesClassifier as SuccessiveBayesClassifier
    from bnn.classify.tree import TreeBayesClassifier as TreeBayesClassifier
    from bnn.continuation import bifurcation as bifurcation
    from bnn.counts import Counts as Counts
    from bnn.driver import recall as recall
    from bnn.dynamics import DYNAMICS as DYNAMICS
    from bnn.dynamics import Asynchronous as Asynchronous
    from bnn.dynamics import Attention as Attention
    from bnn.dynamics import Glauber as Glauber
    from bnn.dynamics import GradientFlow as GradientFlow
    from bnn.dynamics import KWinners as KWinners
    from bnn.dynamics import Synchronous as Synchronous
    from bnn.dynamics import WinnerTakeAll as WinnerTakeAll
    from bnn.errors import BnnError as BnnError
    from bnn.errors import BnnWarning as BnnWarning
    from bnn.estimate import ESTIMATES as ESTIMATES
    from bnn.landscape import fixed_points as fixed_points
    from bnn.learning import learn as learn
    from bnn.memories import PatternMemory as PatternMemory
    from bnn.network import Network as Network
    from bnn.noise import corrupt as corrupt
    from bnn.records import Records as Records
    from bnn.repetition import learn_delta as learn_delta
    from bnn.rules import RULES as RULES
    from bnn.rules.base import two_layers as two_layers
    from bnn.schema import Attribute as Attribute
    from bnn.schema import Layout as Layout
    from bnn.schema import Schema as Schema
    from bnn.sources import Source as Source
    from bnn.streaming import find_schema as find_schema
    from bnn.study.capacities import capacity as capacity
    from bnn.trace import Trace as Trace
    from bnn.window import Window as Window


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bnn' has no attribute {name!r}")
    home = _HOMES[name]
    return getattr(import_module(home), name) if home else import_module(f"bnn.{name}")


def __dir__() -> list[str]:
    return __all__
