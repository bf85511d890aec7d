"""Where the last whole record of a piece of a CSV file ends."""

from __future__ import annotations

import numpy as np
from jaxtyping import UInt8

from bnn.kernels.compiling import compiled

START, PLAIN, QUOTED, CLOSED = 0, 1, 2, 3  # at the start of a field; in one; in a quoted one; behind its quote


def records_end(data: bytes) -> int:
    r"""Bytes up to the end of the last whole record, 0 where there is none: line ends within quotes end nothing.

    Parameters
    ----------
    data
        A piece of a CSV file, which begins with a record.

    Examples
    --------
    >>> records_end(b'1,2\n3'), records_end(b'1,2\n"3\n'), records_end(b'1,"2\n"\n')
    (4, 4, 7)
    """
    if b'"' not in data:
        return data.rfind(b"\n") + 1
    return int(_end(np.frombuffer(data, dtype=np.uint8)))


@compiled
def _end(data: UInt8[np.ndarray, " bytes"]) -> int:
    """Go through the bytes of a piece that has quotes."""
    state, end = START, 0
    for i in range(len(data)):
        byte = data[i]
        if state == QUOTED:
            if byte == 34:
                state = CLOSED
        elif byte == 10:
            state, end = START, i + 1
        elif byte == 44:
            state = START
        elif byte == 34 and state != PLAIN:
            state = QUOTED  # also the second of two, which stand for one
        else:
            state = PLAIN
    return end
