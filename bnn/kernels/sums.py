"""Compiled loops over fields and energies of given states, row by row.

Shapes as in `bnn.kernels.flips`.
"""

import numpy as np

from bnn.kernels.compiling import compiled, compiled_sums


@compiled
def add_active(columns, states, bias, fields, rows, first, last):  # type: ignore[no-untyped-def]
    """Fields ``first`` to ``last - 1`` as bias plus the columns of the active neurons, four columns at a time."""
    n = states.shape[1]
    active = np.empty(n, np.int64)
    for r in rows:
        h = fields[r, first:last]
        h[:] = bias[min(r, bias.shape[0] - 1), first:last]
        s = states[r]
        count = 0
        for i in range(n):
            if s[i] != 0:
                active[count] = i
                count += 1
        done = count - count % 4
        for k in range(0, done, 4):
            a, b, c, d = active[k], active[k + 1], active[k + 2], active[k + 3]
            p, q, u, v = s[a], s[b], s[c], s[d]
            x, y = columns[a, first:last], columns[b, first:last]
            z, w = columns[c, first:last], columns[d, first:last]
            if p + q + u + v == 4:
                for j in range(h.size):
                    h[j] += (x[j] + y[j]) + (z[j] + w[j])
            else:
                e, f = columns.dtype.type(p), columns.dtype.type(q)
                g, o = columns.dtype.type(u), columns.dtype.type(v)
                for j in range(h.size):
                    h[j] += (e * x[j] + f * y[j]) + (g * z[j] + o * w[j])
        for k in range(done, count):
            value = columns.dtype.type(s[active[k]])
            x = columns[active[k], first:last]
            for j in range(h.size):
                h[j] += value * x[j]


@compiled_sums
def weigh(states, external, total, rows):  # type: ignore[no-untyped-def]
    """Input times state, in float64."""
    for r in rows:
        s = states[r]
        u = external[min(r, external.shape[0] - 1)]
        value = 0.0
        for j in range(s.size):
            value += s[j] * np.float64(u[j])
        total[r] = value


@compiled_sums
def energies(states, fields, bias, energy, rows):  # type: ignore[no-untyped-def]
    """E = -1/2 V (h + b), in float64."""
    for r in rows:
        h = fields[r]
        b = bias[min(r, bias.shape[0] - 1)]
        s = states[r]
        total = 0.0
        for j in range(h.size):
            total += s[j] * (np.float64(h[j]) + np.float64(b[j]))
        energy[r] = 0.0 - 0.5 * total


@compiled_sums
def audit(states, fields, bias, probe, image, energy, rows, mismatch):  # type: ignore[no-untyped-def]
    """Two checks that share nothing with the increments, the larger disagreement of each row in ``mismatch``.

    Along a vector r of ones and twos, ``probe``, the fields must equal V (W' r) + b'r, ``image`` being W' r; and the
    energy computed anew from states and fields must equal the running one.
    """
    for r in rows:
        h = fields[r]
        b = bias[min(r, bias.shape[0] - 1)]
        s = states[r]
        seen = 0.0
        expected = 0.0
        total = 0.0
        for j in range(h.size):
            seen += probe[j] * np.float64(h[j])
            expected += s[j] * image[j] + probe[j] * np.float64(b[j])
            total += s[j] * (np.float64(h[j]) + np.float64(b[j]))
        mismatch[r] = max(abs(seen - expected), abs(-0.5 * total - energy[r]))
