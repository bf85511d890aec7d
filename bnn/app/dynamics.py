"""Which dynamics and input the words of the command line mean."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from bnn.dynamics import DYNAMICS
from bnn.dynamics.base import Dynamics
from bnn.errors import DataError, unknown_name

PARAMETERS = {"parallel": "parallel", "winners": "k", "temperature": "temperature", "gain": "gain", "solver": "solver"}
"""Option of the command line: parameter of a dynamics."""


def dynamics_of(name: str, given: Mapping[str, Any]) -> Dynamics:
    """The dynamics of that name with its own options; those of another are an error.

    Parameters
    ----------
    name
        A key of `bnn.DYNAMICS`.
    given
        Values of `PARAMETERS`' options; None and False: not given.
    """
    if name not in DYNAMICS:
        raise unknown_name("--dynamics", name, DYNAMICS)
    options = {}
    for option, parameter in PARAMETERS.items():
        value = given[option]
        if value is None or value is False:
            continue
        able = [key for key, kind in DYNAMICS.items() if parameter in signature(kind).parameters]
        if name not in able:
            raise DataError(f"--{option}: {name!r} has no such option; use it with --dynamics {' or '.join(able)}.")
        options[parameter] = value
    return DYNAMICS[name](**options)


def input_of(text: str) -> str | float:
    """``prior``, or a number of bits."""
    try:
        return text if text == "prior" else float(text)
    except ValueError:
        raise DataError(f"--input: got {text!r}; give a number of bits, or prior.") from None
