"""One type for every network of pairs: weights, bias, and which neuron stands for what."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from bnn import association, coding, hypertext, memory, rounding
from bnn.association import Associations
from bnn.associative import AssociativeMemory, States, to_device
from bnn.counts import Counts
from bnn.errors import DataError, FileError, unknown_name
from bnn.files import read_tensors, write_tensors
from bnn.schema import Attribute, Layout, Schema
from bnn.sparse import SparseWeights

PARTS = ("start", "index", "values")  # arrays of sparse weights
DTYPES: dict[torch.dtype, np.dtype[Any]] = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network(AssociativeMemory):
    """A network of two-state neurons with field h = W V + b and energy E = -1/2 V' W V - b' V, both in bits.

    Learn one with `bnn.learn`, write one down with `Network.of`, keep one with `save` and `load`.

    Parameters
    ----------
    weights
        float32 or float64 [neurons, neurons], W[to, from], in bits; no unit where the rule says so. `SparseWeights`
        where most are one `background`: on the CPU, symmetric; fields are then float64. `table` has them written out.
    bias
        Same dtype, [neurons], in bits.
    layout
        Which neuron stands for which attribute = value.
    constant
        log2 Sim = -2 E + constant, in bits [B eq 7, 22].
    low
        State of a neuron that is off: 0 or -1. An unknown neuron has state 0 in either case and adds nothing.
    silence
        [neurons, attributes]: the part of the bias that leaves while an attribute is unknown, because in the odds form
        "off" is evidence and "unknown" is not; None where the bias does not depend on the cue.
    grid
        Power of two of which weights and bias are multiples, so that every sum is exact; None where they are not.
    prior
        float64 [neurons], P(j): relative frequency of each neuron, a frequency of 0 or 1 moved half a record inwards.
    prior_bias
        float64 [neurons], bits: what the prior would add to the field, log2 P(j) in the probability form and
        log2 P(j) / (1 - P(j)) in the odds form; 0 under BCPNN, whose bias holds it; None where a rule has none.
    provenance
        How the network came to be: rule, options, number of records.

    Attributes
    ----------
    symmetric
        Whether W(j,i) = W(i,j) everywhere, on which the guarantees of descent rest.

    Raises
    ------
    DataError
        NaN or infinite weights, shapes or dtypes that do not fit.

    Notes
    -----
    The energy is minus half the similarity: a *falling* energy is a *rising* agreement of the active neurons [B eq 7].
    In the papers' letters T = -W, while Hopfield's own T is +W.
    """

    weights: Float[Tensor, "neurons neurons"] | SparseWeights
    bias: Float[Tensor, " neurons"]
    layout: Layout
    constant: float = 0.0
    low: int = 0
    silence: Float[Tensor, "neurons attributes"] | None = None
    grid: float | None = None
    prior: Float64[Tensor, " neurons"] | None = None
    prior_bias: Float64[Tensor, " neurons"] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    symmetric: bool = field(init=False)
    _found: dict[str, Any] = field(init=False, repr=False, default_factory=dict)
    keeps: ClassVar[str] = "weights"
    grounds: ClassVar[str] = "symmetric weights"

    def __post_init__(self) -> None:
        neurons = self.layout.neurons
        own = self.weights.dtype if isinstance(self.weights, Tensor) else self.bias.dtype
        if own not in DTYPES:
            raise DataError(f"Network.weights: got {own}; use torch.float64 or torch.float32.")
        if self.grid is not None and not (isinstance(self.grid, float) and math.frexp(self.grid)[0] in (0.0, 0.5)):
            raise DataError(f"Network.grid: got {self.grid!r}; the grid is a power of two, 0.0 or None.")
        if not isinstance(self.provenance, Mapping):
            raise DataError(f"Network.provenance: got {self.provenance!r}; give a mapping of names to plain values.")
        if self.low not in (0, -1):
            raise DataError(f"Network.low: got {self.low!r}; the off state is 0 or -1.")
        attributes = len(self.layout.schema.names)
        for name, shape, dtype in (
            ("weights", (neurons, neurons), own),
            ("bias", (neurons,), own),
            ("silence", (neurons, attributes), own),
            ("prior", (neurons,), torch.float64),
            ("prior_bias", (neurons,), torch.float64),
        ):
            tensor = getattr(self, name)
            if tensor is None or isinstance(tensor, SparseWeights):
                continue
            if tuple(tensor.shape) != shape or tensor.dtype != dtype:
                raise DataError(
                    f"Network.{name}: got {tensor.dtype} of shape {tuple(tensor.shape)}; "
                    f"expected {dtype} of shape {shape}."
                )
            if not bool(torch.isfinite(tensor.sum())) and not bool(torch.isfinite(tensor).all()):
                position = [int(i) for i in torch.argwhere(~torch.isfinite(tensor))[0]]
                names = " from ".join(repr(self.layout.names[i]) for i in position[: 2 if name == "weights" else 1])
                raise DataError(f"Network.{name}: {float(tensor[tuple(position)])} at {names}; all must be finite.")
        if isinstance(self.weights, SparseWeights):
            _require_fitting(self, self.weights)
            object.__setattr__(self, "symmetric", True)
        else:
            object.__setattr__(self, "symmetric", rounding.is_symmetric(self.weights.cpu().numpy()))

    @staticmethod
    def of(
        weights: Any,
        bias: Any = None,
        *,
        low: int = 0,
        names: Sequence[str] | None = None,
        layout: Layout | None = None,
        dtype: torch.dtype = torch.float64,
    ) -> Network:
        """Write down a network: weights [neurons, neurons], bias [neurons] or None; rounded once to an exact grid.

        Parameters
        ----------
        weights, bias
            Array-likes, copied.
        low
            State of a neuron that is off, 0 or -1.
        names
            One name a neuron (default ``x0``, ``x1``, ...), or give a whole ``layout`` instead.
        dtype
            torch.float32 or torch.float64.

        Examples
        --------
        >>> network = Network.of([[0, 1], [1, 0]], bias=[-0.5, 0.0])
        >>> network.energy([[0, 0], [1, 1]]).tolist()
        [0.0, -0.5]
        """
        matrix = _numbers(weights, "Network.of.weights")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
            raise DataError(f"Network.of.weights: got shape {matrix.shape}; give a square matrix, one row a neuron.")
        if layout is None:
            labels = [f"x{i}" for i in range(len(matrix))] if names is None else list(names)
            layout = Layout(Schema(tuple(Attribute(name, (0, 1), "on_off") for name in labels)), "on")
        if layout.neurons != len(matrix):
            raise DataError(f"Network.of.names: got {layout.neurons} for {len(matrix)} neurons; give one a neuron.")
        vector = np.zeros(len(matrix)) if bias is None else _numbers(bias, "Network.of.bias")
        if vector.shape != (len(matrix),):
            raise DataError(f"Network.of.bias: got shape {vector.shape}; give one number a neuron, [{len(matrix)}].")
        network = Network(torch.from_numpy(matrix), torch.from_numpy(vector), layout, low=low)
        return network._rounded(dtype)

    def __repr__(self) -> str:
        rule = self.provenance.get("rule", "by hand")
        kind = "symmetric" if self.symmetric else "asymmetric"
        dtype = str(self.bias.dtype).removeprefix("torch.")
        if isinstance(self.weights, SparseWeights):
            kind = f"sparse, {len(self.weights.index) / self.neurons**2:.2%} of its weights kept"
        return f"Network({self.neurons:,} neurons, {rule}, {kind}, {dtype})"

    def _repr_html_(self) -> str:
        return hypertext.of_network(self)

    @property
    def is_sparse(self) -> bool:
        """Whether only weights that differ from the background are kept."""
        return isinstance(self.weights, SparseWeights)

    @property
    def background(self) -> float | None:
        """The weight of pairs never seen together, where it is kept once for all of them; else None."""
        return self.weights.background if isinstance(self.weights, SparseWeights) else None

    @property
    def table(self) -> Float[Tensor, "neurons neurons"]:
        """All weights; sparse ones written out, anew each time.

        Raises
        ------
        DataError
            They would not fit the memory.
        """
        if isinstance(self.weights, Tensor):
            return self.weights
        needed = self.neurons**2 * self.weights.values.itemsize
        if not memory.fits(needed):
            raise DataError(
                f"Network.weights: those of {self.neurons:,} neurons are sparse, and need {needed / 1e9:,.1f} GB "
                "written out, more than the free memory; learn fewer neurons for what asks for all of them."
            )
        return torch.from_numpy(self.weights.table())

    def between(
        self, to: Int64[np.ndarray, " pairs"], given: Int64[np.ndarray, " pairs"]
    ) -> Float64[np.ndarray, " pairs"]:
        """W(j,i) of some pairs of neurons."""
        if isinstance(self.weights, SparseWeights):
            return self.weights.between(to, given)
        some: np.ndarray = self.weights[torch.from_numpy(to), torch.from_numpy(given)].cpu().double().numpy()
        return some

    def to_dense(self) -> Network:
        """The same network with all weights written out; of float32 rounded once more, to the grid of its own fields.

        Raises
        ------
        DataError
            They would not fit the memory.
        """
        if not self.is_sparse:
            return self
        full = replace(self, weights=self.table)
        return full if self.bias.dtype == torch.float64 else full._rounded(torch.float32)

    @property
    def parameters(self) -> int:
        """Weights that learning sets: one a pair of neurons where they are symmetric, else two.

        Self-connections and biases, a few a neuron, are left out, as they are where bits per synapse are told; a pair
        that the rule or a mask leaves unconnected counts.

        Examples
        --------
        >>> Network.of([[0, 1, 0], [1, 0, 2], [0, 2, 0]]).parameters
        3
        """
        return self.neurons * (self.neurons - 1) // (2 if self.symmetric else 1)

    @property
    def columns(self) -> Float[Tensor, "neurons neurons"]:
        """Contiguous rows W[:, i], one a sending neuron: the weights themselves where they are symmetric."""
        if self.symmetric:
            return self.table
        if "columns" not in self._found:
            self._found["columns"] = self.table.T.contiguous()
        found: Tensor = self._found["columns"]
        return found

    @property
    def evidence(self) -> Float[Tensor, "attributes neurons"] | None:
        """Contiguous rows ``silence[:, a]``, what knowing an attribute adds to the bias; None without silence."""
        if self.silence is None:
            return None
        if "evidence" not in self._found:
            self._found["evidence"] = self.silence.T.contiguous()
        found: Tensor = self._found["evidence"]
        return found

    @property
    def diagonal(self) -> Float[Tensor, " neurons"]:
        """Self-connections W(j,j), zero unless they were asked for."""
        if isinstance(self.weights, Tensor):
            return self.weights.diagonal()
        if "diagonal" not in self._found:
            self._found["diagonal"] = torch.from_numpy(self.weights.diagonal())
        found: Tensor = self._found["diagonal"]
        return found

    @property
    def negative_self(self) -> int | None:
        """The neuron with the most negative self-connection, None where none is negative."""
        if "least" not in self._found:
            least = self.diagonal.argmin()
            self._found["least"] = torch.where(self.diagonal[least] < 0, least, -1).cpu()
        found = int(self._found["least"])
        return None if found < 0 else found

    @property
    def indefinite(self) -> int | None:
        """The first attribute whose weights between its values bend E upwards, None where none does.

        Its states sum to one, so changes sum to zero, and the weights are looked at along these (one neuron: as it is).
        """
        if "indefinite" not in self._found:
            same, table = torch.tensor(self.layout.attribute, device=self.device), self.table
            inner = (table != 0) & (same[:, None] == same)
            bad = -1
            for a in torch.unique(same[inner.any(dim=1)]).tolist():
                mine = slice(*self.layout.start[a : a + 2].tolist())
                block = table[mine, mine].double()
                if not self.layout.single[a]:
                    block = block - block.mean(dim=0) - block.mean(dim=1, keepdim=True) + block.mean()
                if float(torch.linalg.eigvalsh(block)[0]) < -1e-12 * float(table[mine, mine].abs().max()):
                    bad = a
                    break
            self._found["indefinite"] = torch.tensor(bad)
        found = int(self._found["indefinite"])
        return None if found < 0 else found

    @property
    def largest_row_sum(self) -> float:
        """Largest sum of |W(j,i)| over i: no eigenvalue is larger in size."""
        if "row sum" not in self._found:
            if isinstance(self.weights, SparseWeights):
                self._found["row sum"] = self.weights.row_sums().max()
            else:
                self._found["row sum"] = self.weights.abs().sum(dim=1, dtype=torch.float64).max().cpu()
        return float(self._found["row sum"])

    @property
    def least_eigenvalue(self) -> float:
        """Smallest eigenvalue of the weights, where they are symmetric."""
        if "least eigenvalue" not in self._found:
            self._found["least eigenvalue"] = torch.linalg.eigvalsh(self.table.double())[0].cpu()
        return float(self._found["least eigenvalue"])

    def field(self, states: States, mixing: str = "geometric") -> Float[Tensor, "batch neurons"]:
        """Field h = W V + b, in bits: what the other neurons say for (positive) or against a neuron being on.

        Parameters
        ----------
        states
            [batch, neurons] in {0,1}, {-1,+1} or bool, NaN = unknown (adds nothing, [B eq 4]); or Records. Fractions
            are probabilities of being on, and the field is then the expected information [B eq 8, 9, 23].
        mixing
            How uncertain evidence counts: ``"geometric"``, the mean of the information [B eq 10]; or ``"arithmetic"``,
            the information of the mean: P(j | evidence) = sum over values v of P(v) P(j | v), the reading of Ihara
            (1987) that [B 2.3] names. The latter needs a neuron for each value (probability form of a table) and a
            distribution over the values of each known attribute; of certain evidence both say the same.

        Examples
        --------
        >>> layout = Layout(Schema((Attribute("a", (0, 1)), Attribute("b", (0, 1)))), "values")
        >>> network = Network.of([[0, 0, 1, -1], [0, 0, -1, 1], [1, -1, 0, 0], [-1, 1, 0, 0]], layout=layout)
        >>> half = [[0.5, 0.5, float("nan"), float("nan")]]
        >>> network.field(half)[0, 2].item(), round(network.field(half, "arithmetic")[0, 2].item(), 3)
        (0.0, 0.322)
        """
        values, bias = self._terms(states, "Network.field.states")
        if mixing == "geometric":
            return self.product(values) + bias
        if mixing != "arithmetic":
            raise unknown_name("Network.field.mixing", mixing, ("arithmetic", "geometric"))
        if self.low != 0 or self.layout.coding != "values" or self.silence is not None:
            raise DataError(
                'Network.field.mixing: "arithmetic" needs a neuron for each value; learn "probability" from a table.'
            )
        fields = bias.repeat(len(values), 1) if len(bias) == 1 else bias.clone()
        for first, last in pairwise(self.layout.start.tolist()):
            chances = values[:, first:last]
            total = chances.sum(dim=1)
            known = total > 0.0
            if bool((known & ((total - 1.0).abs() > 1e-6)).any()):
                name = self.layout.schema.names[int(self.layout.attribute[first])]
                raise DataError(
                    f"Network.field.states: the values of {name!r} do not sum to 1; arithmetic mixing needs that."
                )
            fields[known] += torch.log2(chances[known] @ torch.exp2(self.columns[first:last]))
        return fields

    def product(self, values: Float[Tensor, "batch neurons"]) -> Float[Tensor, "batch neurons"]:
        """W V of each row of states in the weights' dtype; of sparse weights float64."""
        if isinstance(self.weights, Tensor):
            return values @ self.columns
        fields = torch.zeros(values.shape, dtype=torch.float64)
        self.weights.send(values.numpy(), fields.numpy())
        return fields

    def energy(self, states: States) -> Float[Tensor, " batch"]:
        """Energy E = -1/2 V' W V - b' V, float64, in bits; what asynchronous recall never raises [B eq 5].

        Parameters
        ----------
        states
            As for `field`; unknown neurons take no part.
        """
        values, bias = self._terms(states, "Network.energy.states")
        fields = (self.product(values) + bias).double()
        return 0.0 - 0.5 * ((fields + bias.double()) * values.double()).sum(-1)

    def log_similarity(self, states: States) -> Float[Tensor, " batch"]:
        """log2 Sim = -2 E + constant, float64, in bits: the states' agreement with each other [B eq 6, 7, 22].

        NaN where something is unknown and the constant depends on what is known (odds form).
        """
        read = coding.read_states(self.layout, states, "Network.log_similarity.states", soft=True)
        similarity = -2.0 * self.energy(states) + self.constant
        if read.unknown is not None and self.silence is not None:
            similarity[torch.from_numpy(read.unknown.any(axis=1)).to(similarity.device)] = torch.nan
        return similarity

    def associations(
        self,
        counts: Counts | None = None,
        *,
        top: int = 20,
        attribute: str | None = None,
        level: float = association.LEVEL,
    ) -> Associations:
        """Pairs of values that come together more often, or less, than chance, with intervals, beside their weights.

        The measure is the information component log2((O + 1/2) / (E + 1/2)) of observed and expected counts, with its
        credible interval [Noren et al. 2013]; no pair is listed whose interval contains 0.

        Parameters
        ----------
        counts
            What the network learned. None: found from the weights, which tell them where the rule "probability"
            learned complete records.
        top
            So many pairs at most of those too often together, and of those too rarely.
        attribute
            Only pairs of this attribute with others, such as the class; None: all.
        level
            Of the intervals.

        Raises
        ------
        DataError
            Counts of other neurons, or none where the weights do not tell them.

        Examples
        --------
        >>> import bnn
        >>> zoo = bnn.learn(bnn.datasets.load("zoo"), "probability")
        >>> zoo.associations(attribute="class", top=1).to_frame().select(["first", "second", "observed"]).to_pylist()[0]
        {'first': 'legs = 6', 'second': 'class = insect', 'observed': 8.0}
        """
        if counts is None:
            counts = self._counts_behind()
        self.layout.require_same(counts.layout, "Network.associations.counts")
        return association.find_associations(counts, top, attribute, level, self.between, "Network.associations")

    def _counts_behind(self) -> Counts:
        """The counts that the weights tell of, or a sentence."""
        told = self.provenance
        plain = told.get("rule") == "probability" and told.get("estimate") == "joint" and told.get("complete")
        counts = None
        if plain and not self.is_sparse and not told.get("mask") and "cut" not in told and self.prior is not None:
            weights, prior = self.table.cpu().double().numpy(), self.prior.cpu().numpy()
            counts = association.counts_behind(self.layout, weights, prior, told["records"], told["m"])
        if counts is None:
            raise DataError(
                "Network.associations.counts: this network does not tell what was counted (another rule, missing "
                "values, weighted records, float32, sparse weights); give the counts, as in "
                "network.associations(counts)."
            )
        return counts

    def cut(self, share: float, seed: int | np.random.Generator | None = None) -> Network:
        """A damaged copy: a random share of the connections, each with its mirror image, set to zero.

        In the odds form the constant of log2 Sim belongs to all connections and becomes NaN.

        Parameters
        ----------
        share
            Between 0 and 1, of the pairs of different neurons that are connected.
        seed
            Of the choice.
        """
        if not 0.0 <= share <= 1.0:
            raise DataError(f"Network.cut.share: got {share}; give a share between 0 and 1.")
        if self.silence is not None and self.neurons != len(self.layout.schema.names):
            raise DataError(
                "Network.cut: in the odds form a connection carries evidence of both states, which is kept apart only "
                "where every attribute owns one neuron; learn with a mask of neurons, or cut the probability form."
            )
        if not isinstance(self.weights, Tensor):
            raise DataError(
                "Network.cut: of sparse weights, pairs never seen together have no connection of their own to cut; use "
                "network.to_dense().cut(share)."
            )
        weights = self.weights.cpu().numpy().copy()
        upper = np.flatnonzero(np.triu((weights != 0) | (weights.T != 0), k=1))
        chosen = np.random.default_rng(seed).choice(upper, round(share * len(upper)), replace=False, shuffle=False)
        to, given = np.divmod(chosen, self.neurons)
        weights[to, given] = weights[given, to] = 0.0
        changed: dict[str, Any] = {"weights": torch.from_numpy(weights).to(self.weights.device)}
        if self.silence is not None:
            silence = self.silence.cpu().numpy().copy()
            silence[to, given] = silence[given, to] = 0.0
            changed["silence"] = torch.from_numpy(silence).to(self.weights.device)
            changed["bias"] = changed["silence"].sum(dim=1)
            changed["constant"] = float("nan") if len(chosen) else self.constant
        return replace(self, **changed, provenance={**self.provenance, "cut": share})

    def to(self, *, dtype: torch.dtype | None = None, device: str | torch.device | None = None) -> Network:
        """The same network in another dtype (rounded once more to that dtype's grid) or on another device."""
        network = self if dtype in (None, self.bias.dtype) else self._rounded(dtype)
        if device is None or str(device) == str(self.device):
            return network
        if self.is_sparse:
            raise DataError(
                f"Network.to.device: got {str(device)!r}, and sparse weights run on the CPU; use "
                "network.to_dense().to(device=...)."
            )
        return replace(network, **to_device(network.tensors(), device, "Network"))

    def tensors(self) -> dict[str, Tensor]:
        """The tensors a network is made of, by name, without those it lacks; of sparse weights their arrays."""
        named = {name: getattr(self, name) for name in ("weights", "bias", "silence", "prior", "prior_bias")}
        if isinstance(self.weights, SparseWeights):
            del named["weights"]
            named |= {f"weights.{name}": torch.from_numpy(getattr(self.weights, name)) for name in PARTS}
        return {name: tensor for name, tensor in named.items() if tensor is not None}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a safetensors file with a versioned JSON header; all of it or nothing."""
        arrays = {name: tensor.cpu().numpy() for name, tensor in self.tensors().items()}
        header = {
            "schema": self.layout.schema.to_json(),
            "coding": self.layout.coding,
            "constant": None if math.isnan(self.constant) else self.constant,  # JSON has no NaN
            "low": self.low,
            "grid": self.grid,
            "provenance": dict(self.provenance),
        }
        if self.is_sparse:
            header["background"] = self.background
        write_tensors(path, arrays, header, kind="network")

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Network:
        """Read what `save` wrote, bit for bit.

        Raises
        ------
        FileError
            The file is missing, damaged, not a network, or written by a newer version.
        """
        arrays, header = read_tensors(path, kind="network")
        try:
            parts = {name: arrays.pop(f"weights.{name}") for name in PARTS} if "background" in header else None
            tensors: dict[str, Any] = {name: torch.from_numpy(array) for name, array in arrays.items()}
            if parts is not None:
                tensors["weights"] = SparseWeights(**parts, background=float(header["background"]))
            return Network(
                **tensors,
                layout=Layout(Schema.from_json(header["schema"]), header["coding"]),
                constant=math.nan if header["constant"] is None else float(header["constant"]),
                low=header["low"],
                grid=header["grid"],
                provenance=header["provenance"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{path}: is damaged: {error}") from error

    def _terms(self, states: States, owner: str) -> tuple[Tensor, Tensor]:
        """Values V (0 where unknown) in the weights' dtype, and the bias of each row."""
        read = coding.read_states(self.layout, states, owner, soft=True)
        values, unknown = self.values_of(read)
        return values.to(self.bias.dtype), self.bias_for(unknown, owner)

    def _rounded(self, dtype: torch.dtype) -> Network:
        """A copy rounded to the grid of a dtype."""
        if dtype not in DTYPES:
            raise DataError(f"Network.dtype: got {dtype}; use torch.float64 or torch.float32.")
        if isinstance(self.weights, SparseWeights):
            bias = self.bias.to(dtype, copy=True)
            values = self.weights.values.astype(DTYPES[dtype])
            weights, grid = replace(self.weights, values=values).rounded(bias.numpy())
            return replace(self, weights=weights, bias=bias, grid=grid)
        largest = max(float(self.weights.abs().max()), float(self.bias.abs().max()))
        if largest * 8.0 * self.neurons > torch.finfo(dtype).max:
            raise DataError(
                f"Network.weights: with sizes up to {largest:.3g} sums would overflow {dtype}; "
                "divide weights and bias by a power of two."
            )
        names = ("weights", "bias") if self.silence is None else ("weights", "bias", "silence")
        arrays = {name: getattr(self, name).cpu().to(dtype, copy=True).numpy() for name in names}
        silence = arrays.get("silence")
        grid = rounding.round_network(arrays["weights"], arrays["bias"], silence)
        tensors: dict[str, Any] = {n: torch.from_numpy(a).to(self.weights.device) for n, a in arrays.items()}
        return replace(self, **tensors, grid=grid)


def require_weights(network: object, owner: str) -> None:
    """Refuse what is no `Network`, such as a memory of patterns, where weights are needed."""
    if not isinstance(network, Network):
        raise DataError(f"{owner}: got {type(network).__name__}; give a Network, whose weights connect its neurons.")


def _require_fitting(network: Network, weights: SparseWeights) -> None:
    """Refuse sparse weights of other neurons, of another dtype, or of a network that is not on the CPU."""
    if weights.neurons != network.neurons or weights.values.dtype != DTYPES[network.bias.dtype]:
        raise DataError(
            f"Network.weights: got {weights.values.dtype} of {weights.neurons} neurons; expected "
            f"{network.bias.dtype} of {network.neurons}, as the bias."
        )
    if network.device.type != "cpu":
        raise DataError(f"Network.weights: sparse ones run on the CPU; got a bias on {network.device}.")


def _numbers(array: Any, owner: str) -> Float64[np.ndarray, "..."]:
    """A float64 copy of an array of numbers; `DataError` where it is none."""
    try:
        return np.array(array, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise DataError(f"{owner}: cannot be read as an array of numbers ({error}).") from error
