"""The weights of the semi-naive classifier: a join is one more value of its first attribute, the others fall silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int32, Int64, Integer

from bnn.classify.class_counts import ClassCounts
from bnn.classify.explanation import JOINED
from bnn.classify.gains import GAINS, Cells, gain_table, prior_bits
from bnn.classify.joins import Joins
from bnn.classify.model import cases_of
from bnn.kernels.joined import choose_joins
from bnn.kernels.scores import pad, sum_gains
from bnn.schema import Schema

Codes = Integer[np.ndarray, "rows attributes"]


@dataclass(frozen=True, slots=True, eq=False)
class JoinedModel:
    """Gains of values and joins.

    Attributes
    ----------
    schema, joins
        What the codes of a row mean; the joins in order.
    attributes, values
        Members of each join, -1 where there is none.
    place
        Where a join stands behind the values of its first attribute.
    sizes
        Values and joins of each attribute.
    prior
        log2 P(C).
    gains, cases
        Of each value and join: gain for each class in bits, and records behind it.
    table
        The gains laid out for `sum_gains`.
    """

    schema: Schema
    joins: Joins
    attributes: Int64[np.ndarray, "joins order"]
    values: Int64[np.ndarray, "joins order"]
    place: Int64[np.ndarray, " joins"]
    sizes: Int64[np.ndarray, " attributes"]
    prior: Float64[np.ndarray, " classes"]
    gains: Float64[np.ndarray, "all_values classes"]
    cases: Float64[np.ndarray, " all_values"]
    table: Float64[np.ndarray, "padded lanes"]

    @staticmethod
    def of(counts: ClassCounts, joins: Joins, m: float) -> JoinedModel:
        """Work out the weights."""
        attributes, values = joins.members(counts.schema)
        own, leader = np.array(counts.schema.sizes, np.int64), attributes[:, 0]
        joined = np.bincount(leader, minlength=len(own))
        order = np.argsort(leader, kind="stable")
        place = np.empty(len(joins), np.int64)
        place[order] = np.arange(len(joins)) - (np.cumsum(joined) - joined)[leader[order]] + own[leader[order]]
        sizes = own + joined
        start = np.cumsum(sizes) - sizes
        joint = np.zeros((int(sizes.sum()), len(counts.totals)))
        joint[np.repeat(start - (np.cumsum(own) - own), own) + np.arange(own.sum())] = counts.joint
        joint[start[leader] + place] = joins.counts
        totals = counts.totals.astype(np.float64)
        # the m-estimate asks for nothing but N(V,C) and N(C)
        cells = Cells(
            joint, np.broadcast_to(totals, joint.shape), totals, np.ones((len(joint), 1), np.int64), float(counts.scale)
        )
        gains = gain_table(cells, GAINS["m"], m)
        prior = prior_bits(GAINS["m"].prior(cells))
        return JoinedModel(
            counts.schema, joins, attributes, values, place, sizes, prior, gains, cases_of(cells), pad(gains, sizes)
        )

    def choose(self, codes: Codes) -> Int32[np.ndarray, "rows attributes"]:
        """The join that uses each value of each row, -1 where none does."""
        return choose_joins(codes, self.attributes, self.values, np.array(self.schema.sizes, np.int64))

    def extended(
        self, codes: Codes, chosen: Int32[np.ndarray, "rows attributes"]
    ) -> Int64[np.ndarray, "rows attributes"]:
        """Codes of values and joins."""
        out = codes.astype(np.int64)
        row, a = np.nonzero(chosen >= 0)
        join = chosen[row, a]
        out[row, a] = np.where(self.attributes[join, 0] == a, self.place[join], -1)
        return out

    def scores(self, codes: Codes) -> Float64[np.ndarray, "rows classes"]:
        """log2 P(C) plus the gains of each row, not normalised."""
        return sum_gains(self.extended(codes, self.choose(codes)), self.sizes, self.table, self.prior[None])

    def terms(self, codes: Codes) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
        """Names of the terms, and the value, gains and cases of each row and term; joined attributes are one term."""
        chosen = self.choose(codes)
        extended = self.extended(codes, chosen)
        term_of = self._terms_of(np.unique(chosen[chosen >= 0]))
        names = (*self.schema.names, *dict.fromkeys(self._name(join) for join in term_of))
        shape = (len(codes), len(names))
        values, gains, cases = np.full(shape, None, dtype=object), np.zeros((*shape, len(self.prior))), np.zeros(shape)
        start = np.cumsum(self.sizes) - self.sizes
        for row, a in np.argwhere(extended >= 0).tolist():
            join = int(chosen[row, a])
            term = a if join < 0 else term_of[join]
            place = start[a] + extended[row, a]
            values[row, term] = self._value(a, int(codes[row, a]), join)
            gains[row, term], cases[row, term] = self.gains[place], self.cases[place]
        return names, values, gains, cases

    def _terms_of(self, used: Int32[np.ndarray, " used"]) -> Mapping[int, int]:
        """The term of each join that is used: joins of the same attributes have the same one, behind the attributes."""
        terms: dict[str, int] = {}
        return {j: terms.setdefault(self._name(j), len(self.schema.names) + len(terms)) for j in used.tolist()}

    def _name(self, join: int) -> str:
        """Name of a join's term: its attributes."""
        return JOINED.join(self.schema.names[a] for a in self.attributes[join].tolist() if a >= 0)

    def _value(self, attribute: int, code: int, join: int) -> Any:
        """A row's value of a term."""
        if join < 0:
            return self.schema.attributes[attribute].values[code]
        members = zip(self.attributes[join].tolist(), self.values[join].tolist(), strict=True)
        return " & ".join(str(self.schema.attributes[a].values[v]) for a, v in members if a >= 0)
