"""Slow, obvious twins of what the package does quickly."""

import numpy as np


# --- Counting -----------------------------------------------------------------------------------------------------


def counts(records, layout, scale=1):
    """joint, on, known, rows of `Counts`, record by record, by the definition of each entry."""
    neurons, attributes = layout.neurons, len(layout.schema.names)
    joint = np.zeros((neurons, neurons), dtype=np.int64)
    on = np.zeros((neurons, attributes), dtype=np.int64)
    known = np.zeros((attributes, attributes), dtype=np.int64)
    rows = 0
    for r, codes in enumerate(records.codes.tolist()):
        weight = 1 if records.weights is None else round(float(records.weights[r]) * scale)
        is_on = [codes[a] == v for a, v in zip(layout.attribute.tolist(), layout.value.tolist(), strict=True)]
        is_known = [code >= 0 for code in codes]
        rows += weight
        for i in range(neurons):
            for j in range(neurons):
                joint[i, j] += weight * (is_on[i] and is_on[j])
            for a in range(attributes):
                on[i, a] += weight * (is_on[i] and is_known[a])
        for a in range(attributes):
            for b in range(attributes):
                known[a, b] += weight * (is_known[a] and is_known[b])
    return joint, on, known, rows
