"""The compiled loop of single-neuron updates, fields kept up to date by the neurons that flip.

Shapes common to all: ``states`` int8 [batch, neurons] in {low, 0 = silent, 1}; ``fields`` [batch, neurons]; ``free``
bool [1 or batch, neurons], False where clamped; ``rows`` int64, the rows to work on; ``columns`` [neurons, neurons]
with W[:, i] contiguous in row i; ``energy``, ``rise`` float64 [batch] in bits; ``flips`` int64 [batch], neurons changed
in this call; ``log_neuron``, ``log_energy`` [batch or 0, room]: every flip, where asked for. Of sparse weights
``columns`` are the values kept, and ``kept`` is their (start, index, background) of `bnn.kernels.sparse`.
"""

import numpy as np

from bnn.kernels.compiling import compiled


@compiled
def send(columns, kept, j, change, h):  # type: ignore[no-untyped-def]
    """Add to the fields what a change of neuron j's state sends; a like one stands in each file (see `compiled`)."""
    if columns.ndim == 2:  # known when compiling
        c = columns[j]
        for i in range(h.size):
            h[i] += change * c[i]
    else:
        start, index, background = kept
        for i in range(h.size):
            h[i] += change * background
        for p in range(start[j], start[j + 1]):
            h[index[p]] += change * (np.float64(columns[p]) - background)


@compiled
def threshold_sweep(  # type: ignore[no-untyped-def]
    weights,
    columns,
    kept,
    diagonal,
    states,
    fields,
    mirror,
    free,
    noise,
    order,
    low,
    rows,
    energy,
    rise,
    flips,
    unstable,
    log_neuron,
    log_energy,
):
    """One sweep of single-neuron updates in the given order: on above threshold, off below, unchanged at it.

    ``mirror`` [batch or 0, neurons] holds W'V + b where weights are asymmetric, so that the energy is the true one.
    ``noise`` [rows or 0, neurons] holds Glauber's random thresholds; the field is then taken without the neuron itself.
    """
    n = order.size
    step = 1 - low
    symmetric = mirror.shape[0] == 0
    noisy = noise.shape[0] > 0
    logging = log_neuron.shape[0] > 0
    real = columns.dtype.type
    for k in range(rows.size):
        r = rows[k]
        h = fields[r]
        s = states[r]
        f = free[min(r, free.shape[0] - 1)]
        total = energy[r]
        worst = rise[r]
        count = 0
        for t in range(n):
            j = order[t]
            x = h[j]
            if noisy:
                x = x - diagonal[j] * (real(s[j]) - real(0.5) * real(1 + low)) - noise[k, j]
            if (x > 0) == (s[j] == 1) or x == 0 or not f[j]:
                continue
            change = real(step) if x > 0 else real(-step)
            drive = np.float64(h[j]) if symmetric else 0.5 * (np.float64(h[j]) + np.float64(mirror[r, j]))
            delta = -change * drive - 0.5 * change * change * np.float64(diagonal[j])
            total += delta
            worst = max(worst, delta)
            s[j] = 1 if x > 0 else low
            send(columns, kept, j, change, h)
            if not symmetric:
                g = mirror[r]
                w = weights[j]
                for i in range(n):
                    g[i] += change * w[i]
            if logging:
                log_neuron[r, count] = j
                log_energy[r, count] = total
            count += 1
        energy[r] = total
        rise[r] = worst
        flips[r] = count
        wrong = 0
        for j in range(n):
            wrong += f[j] and h[j] != 0 and (h[j] > 0) != (s[j] == 1)
        unstable[r] = wrong > 0
