"""What a recall found, in numbers: a summary of each rule, and its answers about one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int, Int8

from bnn import coding
from bnn.associative import AssociativeMemory
from bnn.driver import external_input
from bnn.records import Records
from bnn.schema import Value
from bnn.trace import Trace


@dataclass(frozen=True, slots=True)
class Summary:
    """What one rule did with all cues; a row of ``--json``.

    Attributes
    ----------
    rule
        Its name.
    cues, recalled
        Number of cues, and of those that came back to their own pattern in every neuron.
    overlap_before, overlap_after
        Mean of 1 - 2 x share of neurons that differ from the own pattern, over the neurons known in both.
    flips, sweeps
        Means over the cues; of a flow, neurons that crossed the middle of their range, and steps.
    energy_before, energy_after
        Means over the cues, in bits where the rule's weights are (`Rule.in_bits`); of a flow, of the free energy.
    descent_holds, largest_rise
        The verdict of the trace, and the largest single rise of what must fall.
    """

    rule: str
    cues: int
    recalled: int
    overlap_before: float
    overlap_after: float
    flips: float
    sweeps: float
    energy_before: float
    energy_after: float
    descent_holds: bool
    largest_rise: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What one rule says of one attribute that was hidden; an answer of ``--json``.

    Attributes
    ----------
    rule, attribute
        Who answers what.
    recalled, true
        The value recalled and the one the row has; None where there is none.
    next, lead
        The best of the other values, and by how much the field of the recalled one exceeds its field, in bits
        where the rule's weights are; None where nothing was recalled or there is no other value.
    prior, posterior
        Share of the learned rows that have the value, and its naive Bayesian probability given all other attributes
        as they are in the end; None where the rule has none.
    """

    rule: str
    attribute: str
    recalled: Value | None
    true: Value | None
    next: Value | None = None
    lead: float | None = None
    prior: float | None = None
    posterior: float | None = None


def summarise(rule: str, trace: Trace, truth: Records) -> Summary:
    """Sum up a recall whose cue r should come back to row r of the truth."""
    own = coding.read_states(trace.network.layout, truth, "recall.truth")
    before = _overlaps(trace.cues, own, trace.unknown)
    after = _overlaps(trace.discrete, own, trace.silent)
    energy = trace.lyapunov if trace.dynamics.graded else trace.energy
    return Summary(
        rule=rule,
        cues=len(trace),
        recalled=int((after == 1.0).sum()),
        overlap_before=float(before.mean()),
        overlap_after=float(after.mean()),
        flips=float(trace.flips.mean()),
        sweeps=float(trace.sweeps.mean()),
        energy_before=float(energy[:, 0].mean()),
        energy_after=float(energy[:, -1].mean()),
        descent_holds=trace.descent.holds,
        largest_rise=trace.descent.largest_rise,
    )


def answers(
    rule: str, trace: Trace, learned: Records, truth: Records, hidden: Sequence[str], given: str | float
) -> list[Answer]:
    """What a rule says of each hidden attribute of the one row recalled.

    Parameters
    ----------
    rule, trace
        Who answers, and its recall of that row.
    learned, truth
        What was learned from, and the row itself.
    hidden
        Names of the attributes.
    given
        The input of the recall: ``"prior"`` or a number of bits.
    """
    network = trace.network
    fields = network.field(trace.final)[0].cpu().double().numpy()
    external = external_input(network, given, 1)[0].cpu().double().numpy()
    on = trace.discrete[0] == 1
    told = []
    for name in hidden:
        code = int(truth.codes[0, truth.schema.index(name)])
        true = truth.schema[name].values[code] if code >= 0 else None
        one = _answer(rule, network, name, true, on, fields, external)
        if one.prior is not None and one.recalled is not None:  # the share itself: the network's is kept from 0 and 1
            codes = learned.column(truth.schema.index(name))
            one = replace(one, prior=float((codes[codes >= 0] == truth.schema[name].code(one.recalled)).mean()))
        told.append(one)
    return told


def _answer(
    rule: str,
    network: AssociativeMemory,
    name: str,
    true: Value | None,
    on: Bool[np.ndarray, " neurons"],
    fields: Float64[np.ndarray, " neurons"],
    external: Float64[np.ndarray, " neurons"],
) -> Answer:
    """What the network says of one attribute, from its final states and fields."""
    values, neurons = network.layout.schema[name].values, network.layout.neurons_of(name)
    support = fields[neurons] + external[neurons]
    prior, posterior = _probabilities(network, neurons, fields)
    active = np.flatnonzero(on[neurons])
    if len(neurons) == 1 and len(values) == 2:  # one neuron speaks for both values, and is on for the second
        support = np.array([0.0, support[0]])
        prior, posterior = (np.array([1.0 - p[0], p[0]]) for p in (prior, posterior))
        active = np.array([1 if len(active) else 0])
    if len(active) == 0:
        return Answer(rule, name, None, true)
    best = int(active[np.argmax(support[active])])
    others = [code for code in range(len(values)) if code != best]
    rival = max(others, key=lambda code: support[code], default=None)
    return Answer(
        rule=rule,
        attribute=name,
        recalled=values[best],
        true=true,
        next=None if rival is None else values[rival],
        lead=None if rival is None else float(support[best] - support[rival]),
        prior=None if np.isnan(prior[best]) else float(prior[best]),
        posterior=None if np.isnan(posterior[best]) else float(posterior[best]),
    )


def _probabilities(
    network: AssociativeMemory, neurons: Int[np.ndarray, " some"], fields: Float64[np.ndarray, " neurons"]
) -> tuple[Float64[np.ndarray, " some"], Float64[np.ndarray, " some"]]:
    """P(j) of an attribute's neurons before and given the others, by the odds [B eq 20] or normalised [B eq 1].

    NaN where the rule has no probabilities.
    """
    none = np.full(len(neurons), np.nan)
    if network.prior is None or network.prior_bias is None:
        return none, none
    prior = network.prior.cpu().numpy()[neurons]
    support = fields[neurons] + network.prior_bias.cpu().numpy()[neurons]
    if network.silence is not None:  # both states of a neuron speak: the field is in log odds
        return prior, np.exp2(-np.logaddexp2(0.0, -support))
    if len(neurons) == 1:  # only "on" speaks: there is nothing to normalise by
        return prior, none
    return prior, np.exp2(support - np.logaddexp2.reduce(support))


def _overlaps(
    states: Int8[np.ndarray, "batch neurons"],
    own: coding.NeuronStates,
    left_out: Bool[np.ndarray, "batch neurons"] | None,
) -> Float64[np.ndarray, " batch"]:
    """1 - 2 x share of differing neurons of each row with its own pattern, over the neurons that both know."""
    compared = np.ones(states.shape, dtype=np.bool_)
    for mask in (own.unknown, left_out):
        if mask is not None:
            compared &= ~mask
    differ = ((states == 1) != (own.on == 1)) & compared
    overlap: np.ndarray = 1.0 - 2.0 * differ.sum(axis=1) / np.maximum(compared.sum(axis=1), 1)
    return overlap
