"""Compiled loops of a flow, each in one pass over its rows: between two products of a step, and over its result."""

from math import log

import numpy as np

from bnn.kernels.compiling import compiled, compiled_sums

ROOT = int(np.sqrt(0.5).view(np.int64))
TERMS = tuple(2.0 / (log(2.0) * (2 * k + 1)) for k in range(11))  # of the series of 2 artanh(s) / ln 2 in s^2


@compiled
def advance(levels, size, weights, forces, first, bias, reached, drift):  # type: ignore[no-untyped-def]
    """Levels that a stage reaches, u + h sum of w(k) f(k), and what of its force needs no product, b - u, in one pass.

    Parameters
    ----------
    levels, reached, drift
        [rows, neurons], the latter two written.
    size
        [rows, 1]: h.
    weights, forces, first
        w of the stages from ``first`` on; f [stages, rows, neurons].
    bias
        [1 or rows, neurons].
    """
    for r in range(levels.shape[0]):
        u = reached[r]
        u[:] = 0
        for k in range(weights.size):
            w = weights[k]
            f = forces[first + k, r]
            for j in range(u.size):
                u[j] += w * f[j]
        h = size[r, 0]
        start = levels[r]
        b = bias[min(r, bias.shape[0] - 1)]
        d = drift[r]
        for j in range(u.size):
            u[j] = start[j] + h * u[j]
            d[j] = b[j] - u[j]


@compiled_sums
def information(x):  # type: ignore[no-untyped-def]
    """X log2 x for 0 (where it is 0) to 2, to the last bits: several at once, which no library's logarithm here is.

    log2 x is the exponent, and of the significand m, sqrt(1/2) to sqrt(2), 2 artanh((m - 1) / (m + 1)) / ln 2.
    """
    bits = np.float64(x).view(np.int64)
    exponent = (bits - ROOT) >> 52
    m = np.int64(bits - (exponent << 52)).view(np.float64)
    s = np.divide(m - 1.0, m + 1.0)
    square = s * s
    series = TERMS[10]
    for k in range(9, -1, -1):
        series = series * square + TERMS[k]
    return x * (np.float64(exponent) + s * series)


@compiled_sums
def weigh(states, before, fields, bias, free, low, both, energy, total, flips):  # type: ignore[no-untyped-def]
    """E = -1/2 V (h + b), the integral of the inverse activation, and how many neurons have crossed the middle.

    Parameters
    ----------
    states, before, fields
        [rows, neurons].
    bias, free
        [1 or rows, neurons].
    low
        State of a neuron that is off: a term of the integral is I(V - low), I(x) = x log2 x.
    both
        bool [neurons]: where I(1 - V) is added to it.
    energy, total, flips
        [rows], written.
    """
    middle = 0.5 * (1.0 + low)
    for r in range(states.shape[0]):
        s = states[r]
        o = before[r]
        h = fields[r]
        b = bias[min(r, bias.shape[0] - 1)]
        asked = free[min(r, free.shape[0] - 1)]
        twice = 0.0
        entropy = 0.0
        count = 0
        for j in range(s.size):
            v = np.float64(s[j])
            twice += v * (np.float64(h[j]) + np.float64(b[j]))
            off = information(1.0 - v) if both[j] else 0.0
            entropy += information(v - low) + off if asked[j] else 0.0
            count += (v > middle) != (o[j] > middle)
        energy[r] = 0.0 - 0.5 * twice
        total[r] = entropy
        flips[r] = count
