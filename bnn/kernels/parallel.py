"""The compiled loop of a parallel step, whatever chose the next states.

Shapes as in `bnn.kernels.flips`.
"""

import numpy as np

from bnn.kernels.compiling import compiled, compiled_sums


@compiled
def send(columns, kept, j, change, h):  # type: ignore[no-untyped-def]
    """Add to the fields what a change of neuron j's state sends; the like of that in `bnn.kernels.flips`."""
    if columns.ndim == 2:
        c = columns[j]
        for i in range(h.size):
            h[i] += change * c[i]
    else:
        start, index, background = kept
        for i in range(h.size):
            h[i] += change * background
        for p in range(start[j], start[j + 1]):
            h[index[p]] += change * (np.float64(columns[p]) - background)


@compiled_sums
def parallel_step(  # type: ignore[no-untyped-def]
    columns, kept, bias, states, previous, chosen, fields, moved, symmetric, rows, energy, two_step, rise, flips, back
):
    """Put ``chosen`` in place of ``states`` (kept in ``previous``) and bring fields and both energies up to date.

    ``two_step`` becomes -s(t+1)' W s(t) - b'(s(t+1) + s(t)) = 2 E(t) - d'h(t), d the change, ``rise`` the largest rise
    of it; with symmetric weights E falls by d'(h(t) + h(t+1)) / 2. ``back``: which rows returned to the state before
    last. ``moved`` [rows or 0, neurons]: W times the change, where it is already known.
    """
    known = moved.shape[0] > 0
    changed = np.empty(states.shape[1], np.int64)
    for k in range(rows.size):
        r = rows[k]
        h = fields[r]
        s = states[r]
        new = chosen[r]
        old = previous[r]
        count = 0
        for j in range(s.size):
            count += new[j] != s[j]
        flips[r] = count
        before = 0.0
        if count > 0:
            differ = 0
            for j in range(s.size):
                differ += new[j] != old[j]
            back[r] = differ == 0
            place = 0
            for j in range(s.size):
                changed[place] = j
                place += new[j] != s[j]
                if place == count:
                    break
            for j in changed[:count]:
                before += (new[j] - s[j]) * np.float64(h[j])
        pair = 2.0 * energy[r] - before
        rise[r] = max(rise[r], pair - two_step[r])
        two_step[r] = pair
        if count == 0:
            continue
        if known:
            for i in range(h.size):
                h[i] += moved[k, i]
        else:
            for j in changed[:count]:
                send(columns, kept, j, columns.dtype.type(new[j] - s[j]), h)
        total = 0.0
        if symmetric:
            for j in changed[:count]:
                total += (new[j] - s[j]) * np.float64(h[j])
            energy[r] -= 0.5 * (before + total)
        else:
            b = bias[min(r, bias.shape[0] - 1)]
            for j in range(s.size):
                total += new[j] * (np.float64(h[j]) + np.float64(b[j]))
            energy[r] = 0.0 - 0.5 * total
        old[:] = s
        s[:] = new
