"""What overlaps with stored patterns save of the energy: a polynomial, or the log-sum-exp."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from bnn.errors import DataError

EPS = float(np.finfo(np.float64).eps)
LARGEST = 1000.0  # binary digits of an energy that float64 still holds, with room for sums
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Polynomial:
    """What patterns save in a dense associative memory: the sum of w F(m), F(m) = m^degree [Krotov, Hopfield 2016].

    Parameters
    ----------
    degree
        At least 2, Hopfield's network. The larger, the more a near pattern outweighs many far ones.
    rectified
        F(m) = 0 for m < 0, so that the inverse of a pattern is not stored with it (even degrees), and far patterns do
        not push (odd ones).
    """

    degree: int = 3
    rectified: bool = False
    name: ClassVar[str] = "polynomial"
    beta: ClassVar[float] = 0.0
    curvature: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.degree, int | np.integer) or isinstance(self.degree, bool) or self.degree < 2:
            raise DataError(f"Polynomial.degree: got {self.degree!r}; give a whole number of at least 2.")
        if not isinstance(self.rectified, bool | np.bool_):
            raise DataError(f"Polynomial.rectified: got {self.rectified!r}; give True or False.")
        object.__setattr__(self, "degree", int(self.degree))
        object.__setattr__(self, "rectified", bool(self.rectified))

    @property
    def unit(self) -> str:
        """Unit of energies."""
        return f"overlap{str(self.degree).translate(SUPERSCRIPT)}"

    @property
    def rounding(self) -> float:
        """By how much of its size a sum may be rounded."""
        return 2.0 * EPS * self.degree

    def power(self, overlaps: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        """F of each overlap, by products: exact while whole and below 2^53."""
        values = overlaps.clamp(min=0.0) if self.rectified else overlaps
        result = values
        for _ in range(self.degree - 1):
            result = result * values
        return result

    def saved(
        self, overlaps: Float64[Tensor, "*batch patterns"], weight: Float64[Tensor, " patterns"]
    ) -> tuple[Float64[Tensor, "*batch"], Float64[Tensor, "*batch"]]:
        """What overlaps save of the energy, and its size, which rounding goes by."""
        terms = self.power(overlaps) * weight
        return terms.sum(dim=-1), terms.abs().sum(dim=-1) * len(weight)

    def table(self, largest: int) -> Float64[np.ndarray, " overlaps"]:
        """F of the overlaps -largest to largest."""
        values: np.ndarray = self.power(torch.arange(-largest, largest + 1, dtype=torch.float64)).numpy()
        return values

    def offset(self, weight: Float64[Tensor, " patterns"], norm: float) -> float:
        """Constant of the energy."""
        return 0.0

    def grid(self, weight: Float64[Tensor, " patterns"], largest: int) -> float | None:
        """Power of two that all energies and fields are multiples of, None where float64 does not hold them exactly.

        Raises
        ------
        DataError
            Overlaps up to ``largest``, to this power, overflow.
        """
        digits = 1.0 + math.log2(float(weight.sum())) + self.degree * math.log2(largest)
        if digits > LARGEST:
            raise DataError(
                f"Polynomial.degree: got {self.degree}, and energies of {largest} neurons overflow; use a lower degree."
            )
        finest = next((unit for unit in (1.0, 2.0**-20) if bool((weight / unit == (weight / unit).round()).all())), 0.0)
        grid: float = 2.0 ** (math.ceil(digits) - 52)
        return grid if grid <= 0.5 * finest else None  # a field is half a difference of energies


@dataclass(frozen=True, slots=True)
class LogSumExp:
    """What patterns save in a modern Hopfield network: ln(sum of w exp(beta m))/beta [Ramsauer et al. 2021].

    Energies compare as those of the exponential memory do, minus the sum of w exp(beta m), of which they are a monotone
    function [Demircigil et al. 2017 with beta = 1].

    Parameters
    ----------
    beta
        Inverse temperature, from 1e-6 to 1e6, natural logarithms. Overlaps of patterns in {-1, +1} differ by 2 a
        neuron, so that at 1 a pattern nearer by one neuron already weighs 7 times as much.
    """

    beta: float | int = 1.0
    name: ClassVar[str] = "log-sum-exp"
    unit: ClassVar[str] = "overlap"
    rounding: ClassVar[float] = 8.0 * EPS
    curvature: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        number = isinstance(self.beta, int | float | np.number) and not isinstance(self.beta, bool)
        if not number or not 1e-6 <= self.beta <= 1e6:
            raise DataError(f"LogSumExp.beta: got {self.beta!r}; give a number from 1e-6 to 1e6.")
        object.__setattr__(self, "beta", float(self.beta))

    def saved(
        self, overlaps: Float64[Tensor, "*batch patterns"], weight: Float64[Tensor, " patterns"]
    ) -> tuple[Float64[Tensor, "*batch"], Float64[Tensor, "*batch"]]:
        """What overlaps save of the energy, and its size, which rounding goes by."""
        value = torch.logsumexp(self.beta * overlaps + weight.log(), dim=-1) / self.beta
        top = overlaps.amax(dim=-1)
        return value, top.abs() + (value - top).abs() + len(weight) / self.beta

    def attention(
        self, overlaps: Float64[Tensor, "*batch patterns"], weight: Float64[Tensor, " patterns"]
    ) -> Float64[Tensor, "*batch patterns"]:
        """The softmax of the overlaps: each pattern's share of w exp(beta m)."""
        return torch.softmax(self.beta * overlaps + weight.log(), dim=-1)

    def table(self, largest: int) -> Float64[np.ndarray, " overlaps"]:
        """exp(-beta k) of the differences of two overlaps, k = 0 to 2 largest."""
        values: np.ndarray = np.exp(-self.beta * np.arange(2.0 * largest + 1.0))
        return values

    def offset(self, weight: Float64[Tensor, " patterns"], norm: float) -> float:
        """Constant of the energy: with it no energy is negative; ``norm`` is the largest |pattern|^2."""
        return math.log(float(weight.sum())) / self.beta + 0.5 * norm

    def grid(self, weight: Float64[Tensor, " patterns"], largest: int) -> float | None:
        """None: logarithms are not exact."""
        return None


Interaction = Polynomial | LogSumExp
INTERACTIONS: dict[str, type[Polynomial] | type[LogSumExp]] = {kind.name: kind for kind in (Polynomial, LogSumExp)}
