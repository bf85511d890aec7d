"""Numbers as people read them."""

from __future__ import annotations


def percent(share: float) -> str:
    """A share in per cent, never rounded to certainty."""
    if 0.999 < share < 1.0:
        return "over 99.9 %"
    if 0.0 < share < 0.001:
        return "under 0.1 %"
    return f"{100.0 * share:.3g} %"
