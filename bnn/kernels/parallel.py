"""The compiled loop of a parallel step, whatever chose the next states.

Shapes as in `bnn.kernels.flips`.
"""

import numpy as np

from bnn.kernels.compiling import compiled_sums


@compiled_sums
def parallel_step(  # type: ignore[no-untyped-def]
    columns, bias, states, previous, chosen, fields, moved, rows, energy, two_step, rise, flips, back
):
    """Put ``chosen`` in place of ``states`` (kept in ``previous``) and bring fields and both energies up to date.

    ``two_step`` becomes -s(t+1)' W s(t) - b'(s(t+1) + s(t)), ``rise`` the largest rise of it; ``back``: which rows
    returned to the state before last. ``moved`` [rows or 0, neurons]: W times the change, where it is already known.
    """
    for k in range(rows.size):
        r = rows[k]
        h = fields[r]
        b = bias[min(r, bias.shape[0] - 1)]
        pair = 0.0
        count = 0
        differ = 0
        for j in range(h.size):
            pair += chosen[r, j] * np.float64(h[j]) + states[r, j] * np.float64(b[j])
            differ += chosen[r, j] != previous[r, j]
        known = moved.shape[0] > 0
        for j in range(h.size):
            change = chosen[r, j] - states[r, j]
            if change != 0:
                count += 1
                if not known:
                    v = columns.dtype.type(change)
                    c = columns[j]
                    for i in range(h.size):
                        h[i] += v * c[i]
        if known:
            for i in range(h.size):
                h[i] += moved[k, i]
        single = 0.0
        for j in range(h.size):
            single += chosen[r, j] * (np.float64(h[j]) + np.float64(b[j]))
            previous[r, j] = states[r, j]
            states[r, j] = chosen[r, j]
        rise[r] = max(rise[r], 0.0 - pair - two_step[r])
        two_step[r] = 0.0 - pair
        energy[r] = 0.0 - 0.5 * single
        flips[r] = count
        back[r] = differ == 0
