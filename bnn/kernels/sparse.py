"""Compiled loops over weights that are one constant but for the entries kept.

Shapes common to all: row j of the weights is ``background`` but for ``values[start[j]:start[j + 1]]`` at the neurons
``index[start[j]:start[j + 1]]``, int32, ascending.
"""

import numpy as np

from bnn.kernels.compiling import compiled, compiled_sums


@compiled
def mirror(upper_start, upper_index, upper, first, last, within, diagonal, start, index, values):  # type: ignore[no-untyped-def]
    """Write both halves of symmetric weights, in order, from the upper one; ``start`` is moved on to each row's end.

    Neuron j belongs to an attribute of the neurons ``first[j]`` to ``last[j] - 1``, which are connected by ``within``
    and to themselves by ``diagonal``; what the upper half says of them is passed over.
    """
    for j in range(first.size):
        at = start[j]
        for i in range(first[j], last[j]):
            index[at] = i
            values[at] = diagonal[j] if i == j else within
            at += 1
        for p in range(upper_start[j], upper_start[j + 1]):
            i = upper_index[p]
            if i < last[j]:
                continue
            index[at] = i
            values[at] = upper[p]
            at += 1
            index[start[i]] = j
            values[start[i]] = upper[p]
            start[i] += 1
        start[j] = at


@compiled
def lengths(upper_start, upper_index, first, last, number):  # type: ignore[no-untyped-def]
    """Count the entries that `mirror` writes to each row."""
    for j in range(first.size):
        number[j] += last[j] - first[j]
        for p in range(upper_start[j], upper_start[j + 1]):
            i = upper_index[p]
            if i >= last[j]:
                number[j] += 1
                number[i] += 1


@compiled
def flaw(start, index, values):  # type: ignore[no-untyped-def]
    """A row at which the entries are not ascending, not finite, without a diagonal or not symmetric; -1 for none.

    In order of rows, entries (i, j) must meet the entries of row j one after another.
    """
    n = start.size - 1
    place = start[:-1].copy()
    for i in range(n):
        own = False
        for p in range(start[i], start[i + 1]):
            j = index[p]
            if j < 0 or j >= n or (p > start[i] and index[p - 1] >= j) or not np.isfinite(values[p]):
                return i
            q = place[j]
            if q >= start[j + 1] or index[q] != i or values[q] != values[p]:
                return i
            place[j] = q + 1
            own = own or i == j
        if not own:
            return i
    for i in range(n):
        if place[i] != start[i + 1]:
            return i
    return -1


@compiled
def place(start, index, j, i):  # type: ignore[no-untyped-def]
    """Where row j keeps its entry of neuron i; -1 where it has none."""
    low, high = start[j], start[j + 1]
    while low < high:
        middle = (low + high) // 2
        if index[middle] < i:
            low = middle + 1
        else:
            high = middle
    return low if low < start[j + 1] and index[low] == i else -1


@compiled
def places(start, index, rows, columns, found):  # type: ignore[no-untyped-def]
    """Write to ``found`` where the pairs of rows and columns are kept, -1 where they are not."""
    for k in range(found.size):
        found[k] = place(start, index, rows[k], columns[k])


@compiled_sums
def row_sums(start, values, background, total):  # type: ignore[no-untyped-def]
    """Sum of the sizes of each row's weights."""
    n = total.size
    for j in range(n):
        sum_ = abs(background) * (n - (start[j + 1] - start[j]))
        for p in range(start[j], start[j + 1]):
            sum_ += abs(np.float64(values[p]))
        total[j] = sum_


@compiled
def send(start, index, values, background, states, fields, rows):  # type: ignore[no-untyped-def]
    """Add to the fields what each row's neurons send, neuron after neuron: rows of the weights times their states."""
    for r in rows:
        s = states[r]
        h = fields[r]
        total = 0.0
        for i in range(s.size):
            total += s[i]
        if total != 0.0:
            for j in range(h.size):
                h[j] += total * background
        for i in range(s.size):
            if s[i] != 0:
                v = np.float64(s[i])
                for p in range(start[i], start[i + 1]):
                    h[index[p]] += v * (np.float64(values[p]) - background)


@compiled
def gather(start, index, values, background, vector, image, begin, end):  # type: ignore[no-untyped-def]
    """W times a vector, row by row: entries ``begin`` to ``end - 1`` of the image."""
    total = 0.0
    for i in range(vector.size):
        total += vector[i]
    for j in range(begin, end):
        sum_ = 0.0
        for p in range(start[j], start[j + 1]):
            sum_ += (np.float64(values[p]) - background) * vector[index[p]]
        image[j] = sum_ + total * background
