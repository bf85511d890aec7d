"""`learn`: from counts, or records, to a network."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
import torch
from jaxtyping import Float64

from bnn import representation, rounding
from bnn.counts import Counts
from bnn.errors import DataError, unknown_name
from bnn.memories import PatternMemory
from bnn.network import DTYPES, Network
from bnn.patterns import as_numbers
from bnn.records import Records
from bnn.rules import RULES
from bnn.rules.base import Connections, Draft, Rule
from bnn.schema import Layout
from bnn.sparse import SparseWeights

LEAST_M = 1e-9  # smaller ones underflow where four cells are multiplied


def options_of(rule: Rule) -> dict[str, Any]:
    """Names and defaults of a rule's own options."""
    parameters = inspect.signature(rule.function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


@overload
def learn(data: Records, rule: Literal["dense", "modern"], **options: Any) -> PatternMemory: ...
@overload
def learn(data: Counts | Records, rule: str | Rule = "probability", **options: Any) -> Network: ...
def learn(
    data: Counts | Records,
    rule: str | Rule = "probability",
    *,
    within: bool = False,
    self_connections: bool = False,
    mask: Any = None,
    start: Network | None = None,
    sparse: bool | None = None,
    dtype: torch.dtype = torch.float64,
    device: str | torch.device = "cpu",
    **options: Any,
) -> Network | PatternMemory:
    """Learn a network: count co-occurrences, turn counts into weights, round once to an exact grid.

    The rules "dense" and "modern" keep the records themselves instead, as a `PatternMemory`: gaps and weights are
    heeded, and there are no connections to choose.

    Parameters
    ----------
    data
        `Counts` or `Records`. "odds" and the rules with states -1 and +1 ("hopfield", "storkey", "pseudo-inverse") need
        the coding "on" (one neuron for a two-valued attribute) and take it from either; the others take counts as they
        are, and code tables by "values". "storkey" and "pseudo-inverse" are no functions of counts: `Records` only.
    rule
        A key of `bnn.RULES`, or a `Rule` of your own. Which to take (sources and guarantees: docs/theory.md):

        - "probability" [section 4]: tables, sparse patterns; of few records too. "odds" [5]: dense patterns, where off
          is evidence. "hopfield" [6]: the classic of dense patterns that have nothing in common.
        - "bcpnn" [15]: sparse and modular patterns, recalled by winners. "willshaw": the same in one bit a connection,
          from parts of patterns. "covariance": sparse patterns by single thresholds, and robust. "hebb": the
          floor of any comparison. "presynaptic-covariance": asymmetric, so that no descent is promised; for parallel
          winners.
        - "pseudo-inverse" [15]: correlated or many dense patterns, every one a fixed point up to n independent ones.
          "storkey": dense patterns that come one after another; depends on their order.
    within
        Connect different values of one attribute as in the paper (they exclude, so they inhibit); off by default.
    self_connections
        W(j,j) by the rule's own formula with i = j [B 2.2]; off by default. They add fixed points, and the odds form
        refuses them.
    mask
        bool [attributes, attributes], True where two attributes may be connected; `bnn.two_layers` makes Kosko's. Or
        bool [neurons, neurons], such as of a network damaged in any form: in the odds form a connection that is left
        out takes the evidence of both states with it.
    start
        A network to go on from, for a rule that learns record by record ("storkey"): one that the same rule made of
        earlier records. The result is that of all records at once, up to the grid the earlier weights were rounded to
        (float64 for long series). Rules of counts need no such thing: `Counts` add.
    sparse
        Whether to keep only what differs from the weight of pairs never seen together, which they all have in common
        under "probability" with complete records; such a network runs on the CPU. None: where all weights would be
        large, and so fewer bytes are needed.
    dtype
        torch.float64, or torch.float32 for speed: sums over states stay exact in both.
    device
        Where the network lives.
    **options
        The rule's own: ``m`` (2.0) and ``estimate`` ("joint") for "probability" and "odds", ``low`` (-1) for
        "hopfield"; ``degree`` (3), ``rectified`` (False) and ``low`` (-1) for "dense", ``beta`` (1.0) and ``low`` (-1)
        for "modern"; the others have none.

    Raises
    ------
    DataError
        Unknown rule or option; m below 0, or m = 0 with a pair that was never seen; self-connections refused; nothing
        counted; counts, or records with gaps, for a rule fitted from patterns; a start that does not fit.

    Examples
    --------
    >>> import bnn
    >>> records = bnn.Records.from_patterns([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]])
    >>> network = bnn.learn(records, "probability", m=2.0)
    >>> network.weights.round(decimals=2).tolist()[0]  # log2 (16/3 + 2)/(4 + 2), and never together: log2 2/(4 + 2)
    [0.0, 0.29, -1.58]
    """
    chosen = find(rule)
    known = options_of(chosen)
    for name in options:
        if name not in known:
            raise unknown_name(f"learn({chosen.name!r}).option", name, known)
    options = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
    m = options.get("m", 0.0)
    if not isinstance(m, int | float) or not (m == 0.0 or LEAST_M <= m < np.inf):
        raise DataError(f"learn.m: got {m!r}; it is a number of records, 0 or at least {LEAST_M:g}.")
    for name, value in (("within", within), ("self_connections", self_connections)):
        if not isinstance(value, bool | np.bool_):
            raise DataError(f"learn.{name}: got {value!r}; give True or False.")
    if "m" in options:
        options["m"] = float(m)
    if self_connections and not chosen.self_connections:
        raise DataError(f"learn.self_connections: the rule {chosen.name!r} has none; leave them off.")
    if not isinstance(data, Counts | Records):
        raise DataError(
            f"learn.data: got {type(data).__name__}; give Counts or Records, such as bnn.Records.from_patterns(array)."
        )
    records = data if isinstance(data, Records) else None
    if chosen.source == "patterns" and records is None:
        raise DataError(
            f"learn.data: the rule {chosen.name!r} is fitted from the patterns themselves, which Counts do not keep; "
            "give Records."
        )
    if records is not None and not chosen.pairwise:
        given = {
            "within": within,
            "mask": mask is not None,
            "start": start is not None,
            "sparse": sparse is not None,
            "dtype": dtype != torch.float64,
        }
        for name in [name for name, value in given.items() if value]:
            raise DataError(f"learn.{name}: the rule {chosen.name!r} keeps patterns and has no weights; leave it out.")
        return stored(records, chosen, options).to(device=device)
    if isinstance(data, Records):
        data = Counts.of(data, Layout.default(data.schema).coding if chosen.coding == "values" else "on")
    elif chosen.coding == "on" and data.layout.coding == "values":
        data = data.select("on")  # two neurons for one binary attribute would count its evidence twice
    if data.rows == 0:
        raise DataError("learn.data: nothing was counted; give at least one record.")
    if data.layout.neurons == 0:
        raise DataError("learn.data: no attribute has a value; give at least one known cell.")
    if dtype not in DTYPES:
        raise DataError(f"learn.dtype: got {dtype}; use torch.float64 or torch.float32.")
    numpy_dtype = DTYPES[dtype]
    joined = None if mask is None else as_numbers(mask, "learn.mask")
    if joined is not None and joined.dtype != np.bool_:
        raise DataError(f"learn.mask: got {joined.dtype}; give True or False for each pair of attributes.")
    connections = Connections(data.layout, bool(within), bool(self_connections), joined)
    told = {"within": within, "self_connections": self_connections, "mask": mask is not None}
    if start is not None:
        _require_continued(start, chosen, data.layout, told)
    if chosen.source == "counts":
        data = representation.chosen(data, chosen, connections, known | options, numpy_dtype, sparse, str(device))
    source = records if chosen.source == "patterns" else data
    draft = chosen.function(source, connections, numpy_dtype, *([start] if chosen.ordered else []), **options)
    weights, bias, silence = checked(draft, chosen, data.layout, numpy_dtype)
    if isinstance(weights, SparseWeights):
        weights, grid = weights.rounded(bias)
    else:
        grid = rounding.round_network(weights, bias, silence, draft.unit or 1.0)
    number, prior = data.records, priors(data)
    if start is not None and start.prior is not None:
        before = start.provenance["records"]
        number += before
        prior += (start.prior.cpu().numpy() - prior) * (before / number)
    provenance = {"rule": chosen.name, **known, **options, **told, "records": number, "complete": data.complete}
    network = Network(
        weights if isinstance(weights, SparseWeights) else torch.from_numpy(weights),
        torch.from_numpy(bias),
        data.layout,
        draft.constant,
        draft.low,
        silence=None if silence is None else torch.from_numpy(silence),
        grid=grid,
        prior=torch.from_numpy(prior),
        prior_bias=None if chosen.prior_bias is None else torch.from_numpy(chosen.prior_bias(prior)),
        provenance=provenance,
    )
    return network.to(device=device)


def _require_continued(start: Network, rule: Rule, layout: Layout, told: dict[str, Any]) -> None:
    """Refuse a network that learning cannot go on from."""
    if not rule.ordered:
        raise DataError(
            f"learn.start: the rule {rule.name!r} does not go on from a network; learn it from all records, or from "
            "the sum of their Counts."
        )
    if not isinstance(start, Network):
        raise DataError(f"learn.start: got {type(start).__name__}; give a Network that this rule made, or None.")
    layout.require_same(start.layout, "learn.start")
    for name, value in {"rule": rule.name, **told}.items():
        if start.provenance.get(name) != value:
            raise DataError(
                f"learn.start: that network was learned with {name} = {start.provenance.get(name)!r}, not {value!r}; "
                "go on as it was begun."
            )


def stored(records: Records, rule: Rule, options: dict[str, Any]) -> PatternMemory:
    """A memory of the records themselves."""
    layout = Layout.default(records.schema) if rule.coding == "values" else Layout(records.schema, "on")
    number = float(records.rows if records.weights is None else records.weights.sum())
    if number == 0.0:
        raise DataError("learn.data: nothing was counted; give at least one record.")
    if layout.neurons == 0:
        raise DataError("learn.data: no attribute has a value; give at least one known cell.")
    memory = rule.function(records, layout, **options)
    if not isinstance(memory, PatternMemory):
        raise DataError(
            f"learn: the rule {rule.name!r} returned {type(memory).__name__}; a rule that is not pairwise returns a "
            "bnn.PatternMemory."
        )
    return replace(memory, provenance={"rule": rule.name, **options_of(rule), **options, "records": number})


def checked(
    draft: Draft, rule: Rule, layout: Layout, dtype: np.dtype[Any]
) -> tuple[np.ndarray | SparseWeights, np.ndarray, np.ndarray | None]:
    """Weights, bias and silence of a rule's draft, of one dtype and free to be rounded in place."""
    owner = f"the rule {rule.name!r}"
    if not isinstance(draft, Draft):
        raise DataError(f"learn: {owner} returned {type(draft).__name__}; a rule returns a bnn.rules.base.Draft.")
    n, attributes = layout.neurons, len(layout.schema.names)
    arrays: list[Any] = []
    for name, shape in (("weights", (n, n)), ("bias", (n,)), ("silence", (n, attributes))):
        given = getattr(draft, name)
        if given is None and name == "silence":
            arrays.append(None)
            continue
        if isinstance(given, SparseWeights):
            arrays.append(given)
            continue
        array = np.require(given, dtype, ["C", "W"])
        if array.shape != shape:
            raise DataError(f"learn: {owner} made {name} of shape {array.shape}; this layout needs {shape}.")
        largest = max(float(array.max()), -float(array.min()))
        if not largest < np.finfo(dtype).max / (4 * n * n):
            raise DataError(f"learn: {owner} made {name} with {largest:g}; all must be finite and leave room for sums.")
        arrays.append(array)
    weights, bias, silence = arrays
    assert weights is not None
    assert bias is not None
    return weights, bias, silence


def priors(counts: Counts) -> Float64[np.ndarray, " neurons"]:
    """P(j) = N(j) / N(attribute known); 0 and 1 are moved inwards by half a record, so that logarithms are finite.

    Half a record of N + 1 is less than one of N, so a value never seen stays rarer than one seen once.
    """
    attribute = counts.layout.attribute
    on = counts.on[np.arange(len(attribute)), attribute] / counts.scale
    known = np.diagonal(counts.known)[attribute] / counts.scale
    least = 0.5 / (known + 1.0)
    prior = np.where(known > 0, on / np.maximum(known, 1.0 / counts.scale), 0.5)
    return np.where(prior == 0.0, least, np.where(prior == 1.0, 1.0 - least, prior))


def find(rule: str | Rule) -> Rule:
    """The registered rule of that name; an unknown one is an error naming the nearest."""
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, str) or rule not in RULES:
        raise unknown_name("learn.rule", rule, RULES)
    return RULES[rule]
