"""Torch twins of the compiled recall loops: the same steps on any device, rows side by side, neurons one by one.

All take the working memory of a recall (`bnn.dynamics.base.Work`) or its tensors, and ``rows``, the rows at work.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

BLOCK = 128


def _at(tensor: Tensor, rows: Tensor) -> Tensor:
    """Rows of a tensor that may stand for all rows at once."""
    return tensor if len(tensor) == 1 else tensor[rows]


class _Log:
    """Flips of one sweep, kept in the order in which each row made them."""

    def __init__(self, work: Any, sweep: int) -> None:
        self.work, self.sweep = work, sweep
        self.entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, rows: Tensor, neurons: Tensor, energy: Tensor) -> None:
        """Rows, the neuron each flipped, its energy after."""
        if self.work.log_flips and len(rows):
            self.entries.append((rows.cpu().numpy(), neurons.cpu().numpy(), energy.cpu().numpy()))

    def close(self) -> None:
        """Hand the sweep over, row by row."""
        if self.entries:
            rows, neurons, energy = (np.concatenate(part) for part in zip(*self.entries, strict=True))
            order = np.argsort(rows, kind="stable")
            self.work.log.append((self.sweep, rows[order], neurons[order], energy[order]))


def threshold_sweep(work: Any, sweep: int, order: np.ndarray, noise: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """One sweep of single-neuron updates, in blocks, with exactly the result of asking neurons one by one.

    Inside a block the field a neuron sees is its field before the block plus what the neurons asked earlier changed:
    x = h + L c, c = decision(x), L strictly lower triangular. Starting from c = 0, every round settles at least one
    more neuron, and the first c that repeats is the sequential one; it usually takes a handful of rounds.
    """
    network, device = work.network, work.fields.device
    at_work = torch.from_numpy(rows).to(device)
    weights, columns, low = network.weights, network.columns, network.low
    step = 1 - low
    fields, states = work.fields[at_work], work.states[at_work]
    mirror = None if work.mirror is None else work.mirror[at_work]
    free = _at(work.free, at_work).expand_as(states)
    thresholds = torch.from_numpy(noise).to(device) if len(noise) else None
    energy, rise = (torch.from_numpy(a[rows]).to(device) for a in (work.energy, work.rise))
    flips = torch.zeros_like(energy, dtype=torch.int64)
    log = _Log(work, sweep)
    for first in range(0, len(order), BLOCK):
        block = torch.from_numpy(order[first : first + BLOCK]).to(device)
        h, s, f = (t[:, block].T.contiguous() for t in (fields, states, free))
        g = None if mirror is None else mirror[:, block].T.contiguous()
        on, off = (s == 1) & f, (s != 1) & f
        diagonal = network.diagonal[block][:, None]
        offset = None
        if thresholds is not None:
            offset = diagonal * (s.to(h.dtype) - 0.5 * (1 + low)) + thresholds[:, block].T
        earlier = columns[block][:, block].T.tril(-1)
        change, seen = torch.zeros_like(h), h
        while True:
            x = seen if offset is None else seen - offset
            decided = step * (((x > 0) & off).to(h.dtype) - ((x < 0) & on).to(h.dtype))
            if torch.equal(decided, change):
                break
            change = decided
            seen = torch.addmm(h, earlier, change)
        wide = change.double()
        drive = seen.double()
        if g is not None:
            drive = 0.5 * (drive + torch.addmm(g, weights[block][:, block].T.tril(-1), change).double())
        delta = -wide * drive - 0.5 * wide * wide * diagonal.double()
        if work.log_flips:
            after = energy + torch.cumsum(delta, dim=0)
            asked, k = torch.nonzero(change, as_tuple=True)
            log.add(at_work[k], block[asked], after[asked, k])
        energy += delta.sum(dim=0)
        rise = torch.maximum(rise, delta.amax(dim=0))
        flips += (change != 0).sum(dim=0)
        difference = change.T
        fields += difference @ columns[block]
        if mirror is not None:
            mirror += difference @ weights[block]
        states[:, block] += difference.to(torch.int8)
    log.close()
    work.fields[at_work], work.states[at_work] = fields, states
    if mirror is not None:
        work.mirror[at_work] = mirror
    for array, tensor in ((work.energy, energy), (work.rise, rise), (work.flips, flips)):
        array[rows] = tensor.cpu().numpy()
    wrong = (((fields > 0) != (states == 1)) & (fields != 0) & free).any(dim=1)
    unstable = np.zeros(len(work.states), dtype=np.bool_)
    unstable[rows] = wrong.cpu().numpy()
    return unstable


def fill(work: Any, missing: Tensor, own: Tensor, winner: bool) -> None:
    """Give every missing attribute its states, in order, each from the fields of what is known by then."""
    network = work.network
    layout, low = network.layout, network.low
    for a in torch.unique(torch.nonzero(missing)[:, 1]).tolist():
        mine = slice(int(layout.start[a]), int(layout.start[a + 1]))
        rows = torch.nonzero(missing[:, a])[:, 0]
        score = work.fields[rows, mine]
        if winner:
            score = score.double() + own[mine]
        new = torch.where(score > 0, 1, low).to(torch.int8)
        if winner and not layout.single[a]:
            new = torch.full_like(new, low).scatter_(1, score.argmax(dim=1, keepdim=True), 1)
        work.states[rows, mine] = new
        evidence: Tensor | float = 0.0
        if network.silence is not None:
            evidence = network.silence[:, a]
            work.bias[rows] += evidence
        for fields, outgoing in ((work.fields, network.columns), (work.mirror, network.weights)):
            if fields is not None:
                fields[rows] += new.to(fields.dtype) @ outgoing[mine] + evidence


def winner_sweep(work: Any, sweep: int, order: np.ndarray, rows: np.ndarray) -> None:
    """One sweep of sequential winner-take-all, attribute by attribute."""
    network, device = work.network, work.fields.device
    columns, low = network.columns, network.low
    start, single = network.layout.start, network.layout.single
    step = 1 - low
    at_work = torch.from_numpy(rows).to(device)
    energy, rise = (torch.from_numpy(a).to(device) for a in (work.energy, work.rise))
    flips = torch.zeros(len(work.states), dtype=torch.int64, device=device)
    log = _Log(work, sweep)
    half = 0.5 * step * network.diagonal.double()
    for a in order.tolist():
        first, last = int(start[a]), int(start[a + 1])
        if first == last:
            continue
        mine = slice(first, last)
        states = work.states[at_work, mine]
        fields = work.fields[at_work, mine].double()
        on = states == 1
        within = columns[mine, mine].double()
        # Without the present winner; the one on neuron of a legal state makes this sum a single term.
        score = fields - step * (on.double() @ within) + half[mine]
        if single[a]:
            new = torch.where(score[:, 0] > 0, 1, torch.where(score[:, 0] < 0, low, states[:, 0]))[:, None]
            now_score = torch.where(on[:, 0], score[:, 0], 0.0)
            best_score = torch.where(new[:, 0] == 1, score[:, 0], 0.0)
        else:
            now = on.to(torch.int8).argmax(dim=1, keepdim=True)
            best = score.argmax(dim=1, keepdim=True)
            now_score, best_score = score.gather(1, now)[:, 0], score.gather(1, best)[:, 0]
            best = torch.where((best_score > now_score)[:, None], best, now)
            new = torch.full_like(states, low).scatter_(1, best, 1)
        moves = (new != states).any(dim=1) & _at(work.free, at_work)[:, first]
        chosen = at_work[moves]
        if len(chosen) == 0:
            continue
        delta = -step * (best_score - now_score)[moves]
        change = (new.to(torch.int8) - states)[moves]
        energy[chosen] += delta
        rise[chosen] = torch.maximum(rise[chosen], delta)
        work.states[chosen, mine] += change
        work.fields[chosen] += change.to(work.fields.dtype) @ columns[mine]
        flips[chosen] += (change != 0).sum(dim=1)
        for sign in (-1, 1):
            k, neuron = torch.nonzero(sign * change > 0, as_tuple=True)
            log.add(chosen[k], neuron + first, energy[chosen[k]])
    log.close()
    for array, tensor in ((work.energy, energy), (work.rise, rise), (work.flips, flips)):
        array[rows] = tensor.cpu().numpy()[rows]


def swap_sweep(work: Any, sweep: int, order: np.ndarray, rows: np.ndarray) -> None:
    """One sweep of k-winners by single swaps, candidate by candidate."""
    network, device = work.network, work.fields.device
    columns, low = network.columns, network.low
    step = 1 - low
    at_work = torch.from_numpy(rows).to(device)
    fields, states = work.fields[at_work], work.states[at_work]
    free = _at(work.free, at_work).expand_as(states)
    energy, rise = (torch.from_numpy(a[rows]).to(device) for a in (work.energy, work.rise))
    flips = torch.zeros_like(energy, dtype=torch.int64)
    log = _Log(work, sweep)
    half = 0.5 * step * network.diagonal.double()
    for j in order.tolist():
        can = (states[:, j] != 1) & free[:, j]
        cost = fields.double() + step * columns[j].double() - half
        cost = torch.where((states == 1) & free, cost, torch.inf)
        cheapest, out = cost.min(dim=1)
        gain = fields[:, j].double() + half[j] - cheapest
        chosen = torch.nonzero(can & (gain > 0))[:, 0]
        if len(chosen) == 0:
            continue
        out = out[chosen]
        delta = -step * gain[chosen]
        energy[chosen] += delta
        rise[chosen] = torch.maximum(rise[chosen], delta)
        states[chosen, out] = low
        states[chosen, j] = 1
        fields[chosen] += step * (columns[j] - columns[out])
        flips[chosen] += 2
        log.add(at_work[chosen], out, energy[chosen])
        log.add(at_work[chosen], torch.full_like(out, j), energy[chosen])
    log.close()
    work.fields[at_work], work.states[at_work] = fields, states
    for array, tensor in ((work.energy, energy), (work.rise, rise), (work.flips, flips)):
        array[rows] = tensor.cpu().numpy()


def choose_winners(work: Any, rows: np.ndarray, chosen: Tensor) -> None:
    """Next states of all attributes at once; the largest field wins, a tie keeps the present value."""
    at_work = torch.from_numpy(rows).to(chosen.device)
    low, free = work.network.low, _at(work.free, at_work)
    bounds = work.network.layout.start.tolist()
    for (first, last), single in zip(pairwise(bounds), work.network.layout.single, strict=True):
        if first == last:
            continue
        mine = slice(first, last)
        states, fields = work.states[at_work, mine], work.fields[at_work, mine]
        if single:
            new = torch.where(fields > 0, 1, torch.where(fields < 0, low, states)).to(torch.int8)
        else:
            # The first of the largest; the present value goes before it where it is as large.
            top = fields.max(dim=1, keepdim=True).values
            tied = (fields == top).to(torch.int8) * (1 + (states == 1).to(torch.int8))
            new = torch.full_like(states, low).scatter_(1, tied.argmax(dim=1, keepdim=True), 1)
        chosen[at_work, mine] = torch.where(free[:, first : first + 1], new, states)


def choose_k(work: Any, number: Tensor, rows: np.ndarray, chosen: Tensor) -> None:
    """The ``number`` largest fields among the free neurons; ties keep those that are on, then by index."""
    at_work = torch.from_numpy(rows).to(chosen.device)
    states = work.states[at_work]
    free = _at(work.free, at_work).expand_as(states)
    fields = torch.where(free, work.fields[at_work], -torch.inf)
    present = torch.argsort((states != 1).to(torch.int8), dim=1, stable=True)
    order = present.gather(1, torch.argsort(fields.gather(1, present), dim=1, descending=True, stable=True))
    rank = torch.empty_like(order).scatter_(
        1, order, torch.arange(order.shape[1], device=order.device).expand_as(order)
    )
    new = torch.where(rank < number[at_work][:, None], 1, work.network.low).to(torch.int8)
    chosen[at_work] = torch.where(free, new, states)


def parallel_step(
    columns: Tensor,
    bias: Tensor,
    states: Tensor,
    previous: Tensor,
    chosen: Tensor,
    fields: Tensor,
    rows: np.ndarray,
    energy: np.ndarray,
    two_step: np.ndarray,
    rise: np.ndarray,
    flips: np.ndarray,
    back: np.ndarray,
) -> None:
    """Put ``chosen`` in place of ``states`` and bring fields and energies up to date, see `parallel.parallel_step`."""
    at_work = torch.from_numpy(rows).to(states.device)
    old, new, h, b = states[at_work], chosen[at_work], fields[at_work], _at(bias, at_work).double()
    pair = 0.0 - (new.double() * h.double() + old.double() * b).sum(dim=1).cpu().numpy()
    rise[rows] = np.maximum(rise[rows], pair - two_step[rows])
    two_step[rows] = pair
    h = h + (new - old).to(h.dtype) @ columns
    fields[at_work] = h
    energy[rows] = 0.0 - 0.5 * (new.double() * (h.double() + b)).sum(dim=1).cpu().numpy()
    flips[rows] = (new != old).sum(dim=1).cpu().numpy()
    back[rows] = (new == previous[at_work]).all(dim=1).cpu().numpy()
    previous[at_work], states[at_work] = old, new
