"""Compiled loops of discrete recall: rows one by one, fields kept up to date by the neurons that change.

Shapes common to all: ``states`` int8 [batch, neurons] in {low, 0 = silent, 1}; ``fields`` [batch, neurons]; ``free``
bool [1 or batch, neurons], False where clamped; ``rows`` int64, the rows to work on; ``columns`` [neurons, neurons]
with W[:, i] contiguous in row i; ``energy``, ``rise`` float64 [batch] in bits; ``flips`` int64 [batch], neurons changed
in this call; ``log_neuron``, ``log_energy`` [batch or 0, room]: every flip, where asked for.
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


@compiled
def threshold_sweep(  # type: ignore[no-untyped-def]
    weights,
    columns,
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
                x = x - columns[j, j] * (real(s[j]) - real(0.5) * real(1 + low)) - noise[k, j]
            if (x > 0) == (s[j] == 1) or x == 0 or not f[j]:
                continue
            change = real(step) if x > 0 else real(-step)
            drive = np.float64(h[j]) if symmetric else 0.5 * (np.float64(h[j]) + np.float64(mirror[r, j]))
            delta = -change * drive - 0.5 * change * change * np.float64(columns[j, j])
            total += delta
            worst = max(worst, delta)
            s[j] = 1 if x > 0 else low
            c = columns[j]
            for i in range(n):
                h[i] += change * c[i]
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


@compiled
def winner_sweep(  # type: ignore[no-untyped-def]
    columns, states, fields, free, start, single, order, low, rows, energy, rise, flips, log_neuron, log_energy
):
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
                best_score = np.float64(h[now]) - half * columns[now, now]
            present = best_score
            for j in range(first, last):
                if j != now:
                    score = np.float64(h[j]) + half * columns[j, j]
                    if now >= 0:
                        score -= np.float64(step) * columns[now, j]
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
                c = columns[now]
                for i in range(h.size):
                    h[i] -= step * c[i]
                if logging:
                    log_neuron[r, count] = now
                    log_energy[r, count] = total
                count += 1
            if best >= 0:
                s[best] = 1
                c = columns[best]
                for i in range(h.size):
                    h[i] += step * c[i]
                if logging:
                    log_neuron[r, count] = best
                    log_energy[r, count] = total
                count += 1
        energy[r] = total
        rise[r] = worst
        flips[r] = count


@compiled
def swap_sweep(  # type: ignore[no-untyped-def]
    columns, states, fields, free, order, low, rows, energy, rise, flips, log_neuron, log_energy
):
    """One sweep of k-winners: each neuron that is off changes places with the best one that is on, if energy falls."""
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
        for j in order:
            if s[j] == 1 or not f[j] or active == 0:
                continue
            c = columns[j]
            place = -1
            cheapest = 0.0
            for p in range(active):
                o = on[p]
                cost = np.float64(h[o]) + np.float64(step) * c[o] - half * columns[o, o]
                if place < 0 or cost < cheapest or (cost == cheapest and o < on[place]):
                    place, cheapest = p, cost
            gain = np.float64(h[j]) + half * columns[j, j] - cheapest
            if gain <= 0:
                continue
            o = on[place]
            on[place] = j
            delta = -np.float64(step) * gain
            total += delta
            worst = max(worst, delta)
            s[o] = low
            s[j] = 1
            d = columns[o]
            for i in range(h.size):
                h[i] += step * (c[i] - d[i])
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
def fill(  # type: ignore[no-untyped-def]
    columns, weights, evidence, own, states, fields, mirror, bias, missing, start, single, low, winner, rows
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
                    c = columns[j]
                    for i in range(h.size):
                        h[i] += v * c[i]
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
            best = first
            top = h[first]
            now = first
            for j in range(first, last):
                new[j] = low
                now = j if s[j] == 1 else now
                best = j if h[j] > top else best
                top = max(top, h[j])
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
