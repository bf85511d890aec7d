"""The work of ``bnn associations``: read a table, learn it, compare all pairs, write what was found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pyarrow.csv as pacsv

from bnn import plots
from bnn.app.data import basket_records, memory_table, require_format
from bnn.association import Associations
from bnn.counts import Counts
from bnn.errors import FileError, unknown_name
from bnn.files import write_atomically
from bnn.learning import learn

TABLE, PICTURE, GRAPH = "bnn-associations.csv", "bnn-associations", "bnn-associations-graph"


def find(
    data: str, form: str, attribute: str | None, ignored: Sequence[str], top: int, level: float, m: float
) -> Associations:
    """Compare the values of a table pair by pair; of patterns, the neurons that are on; of baskets, the items.

    Raises
    ------
    BnnError
        Whatever does not fit, in one sentence.
    """
    require_format(form)
    records = basket_records(data, ignored) if form == "baskets" else memory_table(data, ignored)[0]
    if attribute is not None and attribute not in records.schema.names:
        raise unknown_name("--attribute", attribute, records.schema.names)
    counts = Counts.of(records)
    return learn(counts, "probability", m=m).associations(counts, top=top, attribute=attribute, level=level)


def write(found: Associations, folder: Path, ending: str) -> list[str]:
    """Write the table and, where there is something to draw, the pictures; each all of it or nothing."""
    if not folder.is_dir():
        raise FileError(f"--out: {str(folder)!r} is no folder; make it first.")
    write_atomically(folder / TABLE, partial(pacsv.write_csv, found.to_frame()))
    if len(found) == 0:
        return [str(folder / TABLE)]
    figures = {f"{PICTURE}.{ending}": plots.associations(found), f"{GRAPH}.{ending}": plots.graph(found)}
    for name, figure in figures.items():
        write_atomically(folder / name, partial(figure.savefig, dpi=150))
    return [str(folder / name) for name in (TABLE, *figures)]
