"""Compiled loops of a flow, each in one pass over its rows: between two products of a step, and over its result."""

from math import factorial, log
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from bnn.kernels.compiling import compiled, compiled_sums

ROOT = int(np.sqrt(0.5).view(np.int64))
TERMS = tuple(2.0 / (log(2.0) * (2 * k + 1)) for k in range(11))  # of the series of 2 artanh(s) / ln 2 in s^2
POWERS = tuple(log(2.0) ** k / factorial(k) for k in range(1, 14))  # of the series of 2^x - 1
LARGEST = 67.0  # of an exponent: 2^-67 is below `NEVER`
NEVER = 1e-20  # smaller chances are 0: they change no sum, and numbers below the normal range are slow


@compiled_sums
def series(x, terms, kind):  # type: ignore[no-untyped-def]
    """2^x - 1 by x times a polynomial, in numbers of a kind."""
    total = kind(terms[-1])
    for k in range(len(terms) - 2, -1, -1):
        total = total * x + kind(terms[k])
    return x * total


def fraction(x: Any) -> Any:
    """2^x - 1 of -1/2 to 1/2, to the last bits; compiled, by as many terms as the type of x has bits for."""
    return np.expm1(x * log(2.0))


def whole(x: Any) -> Any:
    """2^x of a whole number from -100 to 100; compiled, by writing the bits of its exponent."""
    return np.exp2(x)


@overload(fraction)
def _fraction_of(x):  # type: ignore[no-untyped-def]
    if x == types.float32:
        return lambda x: series(x, POWERS[:7], np.float32)
    return lambda x: series(x, POWERS, np.float64)


@overload(whole)
def _whole_of(x):  # type: ignore[no-untyped-def]
    if x == types.float32:
        return lambda x: np.int32((np.int32(x) + np.int32(127)) << np.int32(23)).view(np.float32)
    return lambda x: np.int64((np.int64(x) + 1023) << 52).view(np.float64)


@compiled_sums
def power(x, kind):  # type: ignore[no-untyped-def]
    """2^x and 2^x - 1 of numbers from -100 to 100, each to the last bits; several at once."""
    nearest = np.rint(x)
    scale = whole(nearest)
    more = scale * fraction(x - nearest)
    return scale + more, scale - kind(1.0) + more


@compiled_sums
def respond(levels, gain, low, alone, spans, states):  # type: ignore[no-untyped-def]
    """The states of one row of levels; see `answer`. The two rows are different memory."""
    kind = levels.dtype.type
    largest, never, one, zero = kind(LARGEST), kind(NEVER), kind(1.0), kind(0.0)
    if low < 0.0:
        for j in range(levels.size):
            x = gain * abs(levels[j])
            x = -largest if x > largest else -x
            _, less = power(x, kind)  # exact near 0, where a state is half of it
            states[j] = np.copysign(np.divide(less, one + one + less), levels[j])
        return
    for j in range(levels.size):
        states[j] = -levels[j]
    for a in range(len(spans)):
        top = levels[spans[a, 0]]
        for j in range(spans[a, 0], spans[a, 1]):
            top = max(top, levels[j])
        for j in range(spans[a, 0], spans[a, 1]):  # a large gain cannot overflow
            states[j] = levels[j] - top
    for j in range(levels.size):
        x = gain * states[j]
        x = largest if x > largest else x
        x = -largest if x < -largest else x
        odds, _ = power(x, kind)
        chance = np.divide(one, one + odds)
        chance = zero if chance < never else chance
        states[j] = chance if alone[j] else odds
    for a in range(len(spans)):
        total = zero
        for j in range(spans[a, 0], spans[a, 1]):
            total += states[j]
        for j in range(spans[a, 0], spans[a, 1]):
            chance = np.divide(states[j], total)
            states[j] = zero if chance < never else chance


@compiled
def answer(levels, gain, low, alone, spans, states):  # type: ignore[no-untyped-def]
    """States of levels: 1 / (1 + 2^(-gain u)), from -1 on the tanh, or 2^(gain u) over the sum of those of a span.

    Parameters
    ----------
    levels, states
        [rows, neurons], the latter written; different memory.
    gain
        [1 or rows, 1].
    low
        State of a neuron that is off: 0 or -1.
    alone
        bool [neurons]: those that answer for themselves.
    spans
        [number, 2]: the first and the last neuron plus one of those that answer together.
    """
    for r in range(levels.shape[0]):
        respond(levels[r], gain[min(r, gain.shape[0] - 1), 0], low, alone, spans, states[r])


@compiled
def weights(size, lines, found):  # type: ignore[no-untyped-def]
    """What w is in u + sum over m of w(m) (h(m) - u), the levels of each stage after the first and, last, the error.

    w(m) = step (a(m) - sum over m < k of a(k) w of stage k at m) (`docs/theory.md`, section 10).

    Parameters
    ----------
    size
        [rows]: the steps, in time constants.
    lines
        [stages, stages]: a of the levels of each stage after the first and, last, of the error.
    found
        [stages, rows, stages], written: w.
    """
    for line in range(len(lines)):
        for r in range(size.size):
            for m in range(len(lines)):
                total = lines[line, m]
                for k in range(m + 1, line + 1):
                    total -= lines[line, k] * found[k - 1, r, m]
                found[line, r, m] = size[r] * total


@compiled
def combine(r, levels, fields, products, weights, bias, change):  # type: ignore[no-untyped-def]
    """The sum over stages of w(k) (h(k) - u) in row r: h(0) the given fields, later ones product plus bias."""
    u = levels[r]
    h = fields[r]
    b = bias[min(r, bias.shape[0] - 1)]
    w = weights[r, 0]
    for j in range(u.size):
        change[j] = w * (h[j] - u[j])
    for k in range(products.shape[0]):
        w = weights[r, k + 1]
        p = products[k, r]
        for j in range(u.size):  # as fields are rounded: where these rest nothing is left, however large the bias
            change[j] += w * ((p[j] + b[j]) - u[j])


@compiled
def advance(  # type: ignore[no-untyped-def]
    levels, fields, products, weights, bias, free, gain, low, alone, spans, held, reached, states
):
    """Levels that a stage reaches, u + sum of w(k) (h(k) - u), and their states, in one pass; those held stay.

    Parameters
    ----------
    levels, fields
        [rows, neurons]: u and h(0).
    products
        [stages, rows, neurons]: W V of the stages before this one, after the first.
    weights
        [rows, at least stages + 1]: w.
    bias, free
        [1 or rows, neurons].
    gain, low, alone, spans
        As in `answer`.
    held
        [rows or none, neurons]: states of the neurons that are not free; of no row where all are.
    reached
        [1 or rows, neurons], written; of one row where nobody asks for it.
    states
        [rows, neurons], written.
    """
    for r in range(levels.shape[0]):
        u = levels[r]
        to = reached[min(r, reached.shape[0] - 1)]
        combine(r, levels, fields, products, weights, bias, to)
        for j in range(u.size):
            to[j] += u[j]
        v = states[r]
        respond(to, gain[min(r, gain.shape[0] - 1), 0], low, alone, spans, v)
        if len(held):
            asked = free[min(r, free.shape[0] - 1)]
            kept = held[r]
            for j in range(v.size):
                found, old, new, start = v[j], kept[j], to[j], u[j]
                v[j] = found if asked[j] else old
                to[j] = new if asked[j] else start


@compiled_sums
def farthest(one, other, asked):  # type: ignore[no-untyped-def]
    """Largest difference of those asked for; of sizes without sign the bits have the same order, NaN above all."""
    most = np.int64(0)
    for j in range(one.size):
        size = np.float64(abs(one[j] - other[j])).view(np.int64)
        most = max(most, size if asked[j] else np.int64(0))
    return np.int64(most).view(np.float64)


@compiled_sums
def judge(  # type: ignore[no-untyped-def]
    levels, fields, products, weights, bias, free, gain, low, alone, spans,
    reached, states, after, rtol, atol, norm, amiss, gap
):  # fmt: skip
    """What a step that is done may err by, and how far its states are from rest, in one pass.

    Parameters
    ----------
    levels, fields, products, weights, bias, free, gain, low, alone, spans
        As in `advance`; the weights, [rows, stages + 2], are those of the error.
    reached, states, after
        [rows, neurons]: the new levels, their states and fields.
    rtol, atol
        Of the tolerance atol + rtol |u|.
    norm, amiss, gap
        float64 [rows], written: the sum of squares of the error in tolerances; the most by which a state changes with
        the error; the most by which one differs from the answer to its field.
    """
    e = np.empty_like(levels[0])
    other = np.empty_like(levels[0])
    answered = np.empty_like(levels[0])
    kind = levels.dtype.type
    relative, absolute = kind(rtol), kind(atol)
    last = products.shape[0] + 1
    for r in range(levels.shape[0]):
        u = levels[r]
        combine(r, levels, fields, products, weights, bias, e)
        w = weights[r, last]
        new = reached[r]
        h = after[r]
        v = states[r]
        asked = free[min(r, free.shape[0] - 1)]
        g = gain[min(r, gain.shape[0] - 1), 0]
        squares = 0.0
        for j in range(u.size):
            wrong = e[j] + w * (h[j] - u[j])
            wrong = wrong if asked[j] else kind(0.0)
            share = np.float64(np.divide(wrong, absolute + relative * abs(new[j])))
            squares += share * share
            other[j] = new[j] - wrong
        norm[r] = squares
        respond(other, g, low, alone, spans, answered)
        amiss[r] = farthest(answered, v, asked)
        respond(h, g, low, alone, spans, answered)
        gap[r] = farthest(answered, v, asked)


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
