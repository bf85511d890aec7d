"""How far a mean over seeds may lie from what all seeds would give."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float64

CONFIDENCE = 0.95


def half_width(values: Float64[np.ndarray, "seeds *rest"]) -> Float64[np.ndarray, "*rest"]:
    """Half of the 95 % interval of the mean over two seeds or more, by Student's t.

    Examples
    --------
    >>> round(float(half_width(np.array([9.0, 10.0, 11.0]))), 2)  # 4.3 standard errors of 1 / sqrt(3)
    2.48
    """
    from scipy.special import stdtrit  # here, so that pictures of networks do not load scipy

    quantile = float(stdtrit(len(values) - 1, 0.5 + CONFIDENCE / 2))
    return np.asarray(quantile / math.sqrt(len(values)) * values.std(axis=0, ddof=1))
