"""What the tests are run over: every engine that is registered, every matrix of the gallery."""

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

import sparsematch
from calls import variants
from gallery import GALLERY

# A Python that a test starts finds the modules that this one does. Given -P, it does not look in the folder where it is
# started: in a clone that would be the source of the package, without its compiled core.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))

# The same examples on every run: a red suite is red for everybody. HYPOTHESIS_PROFILE=deep draws new ones each time.
common = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", derandomize=True, database=None, max_examples=100, **common)
settings.register_profile("short", derandomize=True, database=None, max_examples=15, **common)
settings.register_profile("deep", max_examples=2000, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ENGINES = sparsematch.engines()
EXACT = [engine for engine in ENGINES if engine.kind == "exact"]


def engine_id(engine):
    return engine.name


def pytest_generate_tests(metafunc):
    """Give a test that asks for `engine`, `exact`, `compiled` (exact and fast), `variant` or `matrix` each in turn."""
    if "variant" in metafunc.fixturenames:
        cases = [(engine, options) for engine in ENGINES for options in variants(engine)]
        names = [engine_id(e) + "".join(f"-{k}={v}" for k, v in options.items()) for e, options in cases]
        metafunc.parametrize("engine, variant", cases, ids=names)
    elif "engine" in metafunc.fixturenames:
        metafunc.parametrize("engine", ENGINES, ids=engine_id)
    if "exact" in metafunc.fixturenames:
        metafunc.parametrize("exact", EXACT, ids=engine_id)
    if "compiled" in metafunc.fixturenames:
        metafunc.parametrize("compiled", [e for e in EXACT if e.name != "reference"], ids=engine_id)
    if "matrix" in metafunc.fixturenames:
        metafunc.parametrize("matrix", [make() for make in GALLERY.values()], ids=list(GALLERY))


@pytest.fixture(autouse=True)
def default_workers():
    """No test leaves another number of workers behind."""
    yield
    assert sparsematch.get_workers() == 1
