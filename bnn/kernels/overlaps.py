"""Compiled loops of recall from stored patterns: overlaps kept up to date, every change weighed by its own energy.

Shapes as in `bnn.kernels.flips`, bundled:

``memory``: ``columns`` int8 [neurons, patterns], the states of one neuron in all patterns together; ``weight`` float64
[patterns]; ``table`` and ``beta``, by which overlaps save energy (`saved`); ``rounding``: a change counts as an
improvement only beyond so much of the sizes compared, and is a tie up to there.
``work``: ``states``, ``bias``, ``free``, ``overlaps`` int32 [batch, patterns], m = the sum over neurons of state times
pattern, and ``rest`` float64 [batch], the part of the energy that no change touches: E = rest - saved - bias' states.
``results``: ``energy``, ``rise``, ``flips``. ``log``: ``log_neuron``, ``log_energy``.
"""

import numpy as np

from bnn.kernels.compiling import compiled_sums


@compiled_sums
def saved(overlaps, weight, table, beta):  # type: ignore[no-untyped-def]
    """What overlaps save of the energy, and its size, which rounding goes by.

    ``beta`` = 0: the sum of w F(m), ``table`` holding F from the least overlap to the largest; else the log-sum-exp
    ln(sum of w exp(beta m))/beta, ``table`` holding exp(-beta k) for k = 0, 1, ...
    """
    number = overlaps.size
    total = 0.0
    if beta == 0.0:
        size = 0.0
        middle = table.size // 2
        for p in range(number):
            term = weight[p] * table[middle + overlaps[p]]
            total += term
            size += abs(term)
        return total, number * size
    top = overlaps[0]
    for p in range(number):
        top = max(top, overlaps[p])
    for p in range(number):
        total += weight[p] * table[top - overlaps[p]]
    rest = np.log(total) / beta
    return top + rest, abs(top) + abs(rest) + number / beta


@compiled_sums
def move(overlaps, change, column, into):  # type: ignore[no-untyped-def]
    """Overlaps once a neuron's state has changed by ``change``."""
    for p in range(overlaps.size):
        into[p] = overlaps[p] + change * column[p]


@compiled_sums
def weighed(states, bias):  # type: ignore[no-untyped-def]
    """Bias times state."""
    total = 0.0
    for j in range(states.size):
        total += states[j] * bias[j]
    return total


@compiled_sums
def energies(memory, work, rows, energy):  # type: ignore[no-untyped-def]
    """E of the present states."""
    _, weight, table, beta, _ = memory
    states, overlaps, bias, _, rest = work
    for r in rows:
        own = weighed(states[r], bias[min(r, bias.shape[0] - 1)])
        energy[r] = rest[r] - (saved(overlaps[r], weight, table, beta)[0] + own)


@compiled_sums
def fill(memory, work, missing, start, single, low, winner, rows):  # type: ignore[no-untyped-def]
    """Give every missing attribute of a row its states, in order, each from the overlaps of what is known by then.

    ``missing`` bool [batch, attributes]. With ``winner`` an attribute takes its value of least energy, else each of its
    neurons the state of less energy while the others of the attribute are unknown. Ties: the first value, or off.
    """
    columns, weight, table, beta, rounding = memory
    states, overlaps, bias, _, _ = work
    step = 1 - low
    without = np.empty(overlaps.shape[1], np.int32)
    trial = np.empty_like(without)
    for r in rows:
        m = overlaps[r]
        s = states[r]
        b = bias[min(r, bias.shape[0] - 1)]
        for a in range(start.size - 1):
            if not missing[r, a]:
                continue
            first, last = start[a], start[a + 1]
            without[:] = m
            if winner:
                for j in range(first, last):
                    move(without, low, columns[j], without)
            off, size = saved(without, weight, table, beta)
            best = -1
            top = 0.0
            for j in range(first, last):
                if not winner:
                    move(m, low, columns[j], without)
                    off, size = saved(without, weight, table, beta)
                move(without, step, columns[j], trial)
                on, other = saved(trial, weight, table, beta)
                gain = on - off + step * b[j]
                tie = rounding * (size + other)
                if not winner:
                    s[j] = 1 if gain > tie else low
                elif (best < 0 and not single[a]) or gain > top + tie:
                    best, top = j, gain
            for j in range(first, last):
                if winner:
                    s[j] = 1 if j == best else low
                move(m, s[j], columns[j], m)


@compiled_sums
def threshold_sweep(memory, work, noise, order, low, rows, unstable, results, log):  # type: ignore[no-untyped-def]
    """One sweep of single-neuron updates in the given order: each neuron takes its state of less energy.

    ``noise`` [rows or 0, neurons] holds Glauber's random thresholds of the field, what being on saves by (1 - low).
    Without noise a second round, which ends at the first neuron that would change, finds out who is ``unstable``.
    """
    columns, weight, table, beta, rounding = memory
    states, overlaps, bias, free, rest = work
    energy, rise, flips = results
    log_neuron, log_energy = log
    n = order.size
    logging = log_neuron.shape[0] > 0
    noisy = noise.shape[0] > 0
    trial = np.empty(overlaps.shape[1], np.int32)
    for k in range(rows.size):
        r = rows[k]
        s = states[r]
        m = overlaps[r]
        b = bias[min(r, bias.shape[0] - 1)]
        f = free[min(r, free.shape[0] - 1)]
        own = weighed(s, b)
        now, size = saved(m, weight, table, beta)
        count = 0
        wrong = False
        for t in range(n if noisy else 2 * n):
            if t == n and count == 0:
                break
            j = order[t % n]
            if not f[j]:
                continue
            change = low - 1 if s[j] == 1 else 1 - low
            move(m, change, columns[j], trial)
            then, other = saved(trial, weight, table, beta)
            gain = then - now + change * b[j]
            if gain <= (change * noise[k, j] if noisy else rounding * (size + other)):
                continue
            if t >= n:
                wrong = True
                break
            m[:] = trial
            s[j] += change
            now, size = then, other
            own += change * b[j]
            after = rest[r] - (now + own)
            rise[r] = max(rise[r], after - energy[r])
            energy[r] = after
            if logging:
                log_neuron[r, count] = j
                log_energy[r, count] = after
            count += 1
        flips[r] = count
        unstable[r] = wrong


@compiled_sums
def winner_sweep(memory, work, start, single, order, low, rows, results, log):  # type: ignore[no-untyped-def]
    """One sweep of winner-take-all: each attribute in turn takes its value of least energy; a tie keeps the present.

    ``start`` int64 [attributes + 1] bounds each attribute's neurons; ``single`` bool: its one neuron is on or off.
    """
    columns, weight, table, beta, rounding = memory
    states, overlaps, bias, free, rest = work
    energy, rise, flips = results
    log_neuron, log_energy = log
    step = 1 - low
    logging = log_neuron.shape[0] > 0
    without = np.empty(overlaps.shape[1], np.int32)
    trial = np.empty_like(without)
    for k in range(rows.size):
        r = rows[k]
        s = states[r]
        m = overlaps[r]
        b = bias[min(r, bias.shape[0] - 1)]
        f = free[min(r, free.shape[0] - 1)]
        own = weighed(s, b)
        now, size = saved(m, weight, table, beta)
        count = 0
        for a in order:
            first, last = start[a], start[a + 1]
            if first == last or not f[first]:
                continue
            present = -1
            for j in range(first, last):
                if s[j] == 1:
                    present = j
            without[:] = m
            left = 0.0
            if present >= 0:
                move(m, -step, columns[present], without)
                left = step * b[present]
            best = present
            top = 0.0
            for j in range(first - 1 if single[a] else first, last):  # the one before the first is "off"
                if j == present or (j < first and present < 0):
                    continue
                gain = -left
                if j < first:
                    then, other = saved(without, weight, table, beta)
                else:
                    move(without, step, columns[j], trial)
                    then, other = saved(trial, weight, table, beta)
                    gain += step * b[j]
                gain += then - now
                if gain > top + rounding * (size + other):
                    best, top = j if j >= first else -1, gain
            if best == present:
                continue
            for turned, change in ((present, -step), (best, step)):
                if turned < 0:
                    continue
                s[turned] += change
                move(m, change, columns[turned], m)
                own += change * b[turned]
            now, size = saved(m, weight, table, beta)
            after = rest[r] - (now + own)
            rise[r] = max(rise[r], after - energy[r])
            energy[r] = after
            for turned in (present, best):
                if turned >= 0:
                    if logging:
                        log_neuron[r, count] = turned
                        log_energy[r, count] = after
                    count += 1
        flips[r] = count


@compiled_sums
def swap_sweep(memory, work, order, low, rows, results, log):  # type: ignore[no-untyped-def]
    """One sweep of k-winners: each neuron that is off changes places with the best one that is on, if energy falls."""
    columns, weight, table, beta, rounding = memory
    states, overlaps, bias, free, rest = work
    energy, rise, flips = results
    log_neuron, log_energy = log
    n = order.size
    step = 1 - low
    logging = log_neuron.shape[0] > 0
    joined = np.empty(overlaps.shape[1], np.int32)
    trial = np.empty_like(joined)
    for k in range(rows.size):
        r = rows[k]
        s = states[r]
        m = overlaps[r]
        b = bias[min(r, bias.shape[0] - 1)]
        f = free[min(r, free.shape[0] - 1)]
        own = weighed(s, b)
        now, size = saved(m, weight, table, beta)
        count = 0
        for j in order:
            if s[j] == 1 or not f[j]:
                continue
            move(m, step, columns[j], joined)
            best = -1
            top = 0.0
            for o in range(n):
                if s[o] != 1 or not f[o]:
                    continue
                move(joined, -step, columns[o], trial)
                then, other = saved(trial, weight, table, beta)
                gain = then - now + step * (b[j] - b[o])
                if gain > top + rounding * (size + other):
                    best, top = o, gain
            if best < 0:
                continue
            move(joined, -step, columns[best], m)
            s[best] = low
            s[j] = 1
            own += step * (b[j] - b[best])
            now, size = saved(m, weight, table, beta)
            after = rest[r] - (now + own)
            rise[r] = max(rise[r], after - energy[r])
            energy[r] = after
            for turned in (best, j):
                if logging:
                    log_neuron[r, count] = turned
                    log_energy[r, count] = after
                count += 1
        flips[r] = count
