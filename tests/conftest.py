"""How hypothesis searches: the same examples on every run in CI, new ones at a desk; no clocks."""

import os

# Several test processes share the cores, and a waiting OpenMP thread spins; set before torch is first imported
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "max_examples": 40, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("ci", derandomize=True, **COMMON)
settings.register_profile("desk", **COMMON)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.fixture(autouse=True, scope="session")
def _compiling_is_not_told():
    """Where nothing is compiled yet, whichever test comes first would find a line more on its standard error."""
    from bnn.kernels import compiling

    compiling._Announcer.told = True
