"""Compiled loops of choices: one value an attribute, k neurons of a network, states for what is unknown.

Shapes as in `bnn.kernels.flips`.
"""

import numpy as np

from bnn.kernels.compiling import compiled


@compiled
def count_on(states, start, rows, total):  # type: ignore[no-untyped-def]
    """Write to ``total`` [batch, attributes] how many neurons of each attribute are on."""
    for r in rows:
        s = states[r]
        for a in range(start.size - 1):
            count = 0
            for j in range(start[a], start[a + 1]):
                count += s[j] == 1
            total[r, a] = count


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


@compiled
def entry(columns, kept, j, i):  # type: ignore[no-untyped-def]
    """What neuron j sends to neuron i, of sparse weights."""
    start, index, background = kept
    low, high = start[j], start[j + 1]
    while low < high:
        middle = (low + high) // 2
        if index[middle] < i:
            low = middle + 1
        else:
            high = middle
    return np.float64(columns[low]) if low < start[j + 1] and index[low] == i else background


@compiled
def fill(  # type: ignore[no-untyped-def]
    columns, kept, weights, evidence, own, states, fields, mirror, bias, missing, start, single, low, winner, rows
):
    """Give every missing attribute of a row its states, in order, each from the fields of what is known by then.

    ``missing`` bool [batch, attributes]. With ``winner`` an attribute takes its value of least energy, else each of its
    neurons is on where its field is positive. ``evidence`` [attributes or 0, neurons] is what an attribute adds to the
    bias by being known, ``own`` float64 [neurons] what it says to itself.
    """
    real = columns.dtype.type
    for r in rows:
        h = fields[r]
        s = states[r]
        for a in range(start.size - 1):
            if not missing[r, a]:
                continue
            first, last = start[a], start[a + 1]
            best = -1
            top = 0.0
            for j in range(first, last):
                s[j] = low
                if winner:
                    score = np.float64(h[j]) + own[j]
                    if (not single[a] or score > 0) and (best < 0 or score > top):
                        best, top = j, score
                elif h[j] > 0:
                    s[j] = 1
            if best >= 0:
                s[best] = 1
            for j in range(first, last):
                if s[j] != 0:
                    v = real(s[j])
                    send(columns, kept, j, v, h)
                    if mirror.shape[0] > 0:
                        w = weights[j]
                        for i in range(h.size):
                            mirror[r, i] += v * w[i]
            if evidence.shape[0] > 0:
                e = evidence[a]
                for i in range(h.size):
                    h[i] += e[i]
                    bias[r, i] += e[i]
                if mirror.shape[0] > 0:
                    for i in range(h.size):
                        mirror[r, i] += e[i]


@compiled
def winner_sweep(  # type: ignore[no-untyped-def]
    columns, kept, diagonal, states, fields, free, start, single, order, low, rows, energy, rise, flips, log_neuron,
    log_energy,
):  # fmt: skip
    """One sweep of winner-take-all: each attribute in turn takes its value of least energy; a tie keeps the present.

    ``start`` int64 [attributes + 1] bounds each attribute's neurons; ``single`` bool: its one neuron is on or off.
    """
    step = columns.dtype.type(1 - low)
    half = 0.5 * (1 - low)
    logging = log_neuron.shape[0] > 0
    for k in range(rows.size):
        r = rows[k]
        h = fields[r]
        s = states[r]
        f = free[min(r, free.shape[0] - 1)]
        total = energy[r]
        worst = rise[r]
        count = 0
        for a in order:
            first, last = start[a], start[a + 1]
            if first == last or not f[first]:
                continue
            now = -1
            for j in range(first, last):
                if s[j] == 1:
                    now = j
            # Score: energy gained by turning j on, all others of the attribute off, per step.
            best = now
            best_score = 0.0
            if now >= 0:
                best_score = np.float64(h[now]) - half * diagonal[now]
            present = best_score
            for j in range(first, last):
                if j != now:
                    score = np.float64(h[j]) + half * diagonal[j]
                    if now >= 0:
                        if columns.ndim == 2:
                            score -= np.float64(step) * columns[now, j]
                        else:
                            score -= np.float64(step) * entry(columns, kept, now, j)
                    if score > best_score:
                        best, best_score = j, score
            if single[a] and now >= 0 and present < 0:
                best, best_score = -1, 0.0
            if best == now:
                continue
            delta = -np.float64(step) * (best_score - present)
            total += delta
            worst = max(worst, delta)
            if now >= 0:
                s[now] = low
                send(columns, kept, now, -step, h)
                if logging:
                    log_neuron[r, count] = now
                    log_energy[r, count] = total
                count += 1
            if best >= 0:
                s[best] = 1
                send(columns, kept, best, step, h)
                if logging:
                    log_neuron[r, count] = best
                    log_energy[r, count] = total
                count += 1
        energy[r] = total
        rise[r] = worst
        flips[r] = count


@compiled
def lowest(h, diagonal, half, on):  # type: ignore[no-untyped-def]
    """What leaving costs the cheapest of the neurons that are on, but for its weight with the one that comes."""
    found = np.inf
    for o in on:
        found = min(found, np.float64(h[o]) - half * diagonal[o])
    return found


@compiled
def swap_sweep(  # type: ignore[no-untyped-def]
    columns, kept, diagonal, least, states, fields, free, order, low, rows, energy, rise, flips, log_neuron, log_energy
):
    """One sweep of k-winners: each neuron that is off changes places with the best one that is on, if energy falls.

    No weight is below ``least``: a neuron that could not win if it had that with every other is passed over.
    """
    step = columns.dtype.type(1 - low)
    half = 0.5 * (1 - low)
    logging = log_neuron.shape[0] > 0
    on = np.empty(order.size, np.int64)
    for k in range(rows.size):
        r = rows[k]
        h = fields[r]
        s = states[r]
        f = free[min(r, free.shape[0] - 1)]
        total = energy[r]
        worst = rise[r]
        count = 0
        active = 0
        for j in range(order.size):
            if s[j] == 1 and f[j]:
                on[active] = j
                active += 1
        floor = lowest(h, diagonal, half, on[:active]) + np.float64(step) * least
        for j in order:
            if s[j] == 1 or not f[j] or active == 0 or np.float64(h[j]) + half * diagonal[j] <= floor:
                continue
            place = -1
            cheapest = 0.0
            for p in range(active):
                o = on[p]
                weight = np.float64(columns[j, o]) if columns.ndim == 2 else entry(columns, kept, j, o)
                cost = np.float64(h[o]) + np.float64(step) * weight - half * diagonal[o]
                if place < 0 or cost < cheapest or (cost == cheapest and o < on[place]):
                    place, cheapest = p, cost
            gain = np.float64(h[j]) + half * diagonal[j] - cheapest
            if gain <= 0:
                continue
            o = on[place]
            on[place] = j
            delta = -np.float64(step) * gain
            total += delta
            worst = max(worst, delta)
            s[o] = low
            s[j] = 1
            send(columns, kept, j, step, h)
            send(columns, kept, o, -step, h)
            floor = lowest(h, diagonal, half, on[:active]) + np.float64(step) * least
            if logging:
                log_neuron[r, count] = o
                log_energy[r, count] = total
                log_neuron[r, count + 1] = j
                log_energy[r, count + 1] = total
            count += 2
        energy[r] = total
        rise[r] = worst
        flips[r] = count


@compiled
def choose_winners(states, fields, free, start, single, low, rows, chosen):  # type: ignore[no-untyped-def]
    """Write to ``chosen`` the next states of all attributes: the largest field wins, a tie keeps the present."""
    for k in range(rows.size):
        r = rows[k]
        h = fields[r]
        s = states[r]
        f = free[min(r, free.shape[0] - 1)]
        new = chosen[r]
        for a in range(start.size - 1):
            first, last = start[a], start[a + 1]
            if first == last:
                continue
            if not f[first]:
                for j in range(first, last):
                    new[j] = s[j]
                continue
            if single[a]:
                new[first] = 1 if h[first] > 0 else (low if h[first] < 0 else s[first])
                continue
            top = h[first]
            now = first
            for j in range(first, last):
                new[j] = low
                top = max(top, h[j])
                now = j if s[j] == 1 else now
            best = first
            while h[best] < top:
                best += 1
            new[now if h[now] == top and s[now] == 1 else best] = 1


@compiled
def choose_k(states, fields, free, number, low, rows, chosen):  # type: ignore[no-untyped-def]
    """Write to ``chosen`` the ``number[r]`` free neurons of largest field; ties keep those on, then by index."""
    for k in range(rows.size):
        r = rows[k]
        h = fields[r]
        s = states[r]
        f = free[min(r, free.shape[0] - 1)]
        new = chosen[r]
        candidates = 0
        for j in range(h.size):
            candidates += f[j]
            new[j] = low if f[j] else s[j]
        wanted = min(number[r], candidates)
        if wanted <= 0:
            continue
        values = np.empty(candidates, h.dtype)
        p = 0
        for j in range(h.size):
            if f[j]:
                values[p] = h[j]
                p += 1
        edge = np.partition(values, candidates - wanted)[candidates - wanted]
        left = wanted
        for j in range(h.size):
            if f[j] and h[j] > edge:
                new[j] = 1
                left -= 1
        for present in (True, False):
            for j in range(h.size):
                if left > 0 and f[j] and h[j] == edge and (s[j] == 1) == present:
                    new[j] = 1
                    left -= 1
