"""What the tests are run over: every engine that is registered, every matrix of the gallery."""

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

import sparsematch
from calls import CORES, variants
from gallery import GALLERY
from gpu_calls import MISSING

# A Python that a test starts finds the modules that this one does. Given -P, it does not search
# the folder where it is started: in a clone that would be the source of the package, without its
# compiled core.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))

# Four workers are four threads on two cores, too: what they do to each other is what is tested.
# test_threads.py tests how many there are without this.
os.environ["SPARSEMATCH_CORES"] = str(CORES)

# A shell without job control has what it runs in the background ignore Ctrl-C, and so would every
# Python that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run: a red suite is red for everybody. HYPOTHESIS_PROFILE=deep draws
# new ones each time.
common = {"deadline": None, "print_blob": True, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("default", derandomize=True, database=None, max_examples=100, **common)
settings.register_profile("short", derandomize=True, database=None, max_examples=15, **common)
settings.register_profile("deep", max_examples=2000, **common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

#: Those for several ranks are run by test_mpi.py.
OVER_RANKS = "mpi", "nccl"
HERE = [e for e in sparsematch.engines(backend=None) if e.backend not in OVER_RANKS]
ENGINES = [engine for engine in HERE if engine.kind != "approximate"]
APPROXIMATE = [engine for engine in HERE if engine.kind == "approximate"]


def engine_id(engine):
    return f"cuda_{engine.name}" if engine.backend == "cupy" else engine.name


def case(engine, *more, name=""):
    """The parameters of one test."""
    marks = [pytest.mark.kernels] if engine.backend == "cupy" else []
    return pytest.param(engine, *more, marks=marks, id=engine_id(engine) + name)


def pytest_generate_tests(metafunc):
    """Parametrise by `engine`, `exact`, `compiled` (exact and fast), `variant` and `matrix`.

    `approximate` are the engines for general graphs, the others those for matrices. The engines are
    those for matrices in host memory; where the test is marked `every_backend`, all.
    """
    names = metafunc.fixturenames
    everywhere = metafunc.definition.get_closest_marker("every_backend")
    engines = [engine for engine in ENGINES if everywhere or engine.backend == "numpy"]
    exact = [engine for engine in engines if engine.kind == "exact"]
    if "variant" in names:
        pairs = [(engine, options) for engine in engines for options in variants(engine)]
        cases = [
            case(e, options, name="".join(f"-{k}={v}" for k, v in options.items()))
            for e, options in pairs
        ]
        metafunc.parametrize("engine, variant", cases)
    elif "engine" in names:
        metafunc.parametrize("engine", [case(e) for e in engines])
    if "exact" in names:
        metafunc.parametrize("exact", [case(e) for e in exact])
    if "compiled" in names:
        metafunc.parametrize("compiled", [case(e) for e in exact if e.name != "reference"])
    if "approximate" in names:
        chosen = [engine for engine in APPROXIMATE if everywhere or engine.backend == "numpy"]
        metafunc.parametrize("approximate", [case(e) for e in chosen])
    if "matrix" in names:
        metafunc.parametrize("matrix", [make() for make in GALLERY.values()], ids=list(GALLERY))


def pytest_collection_modifyitems(items):
    """Skip kernels where neither a GPU nor a compiler can run them."""
    for item in items:
        if MISSING and item.get_closest_marker("kernels"):
            item.add_marker(pytest.mark.skip(reason=MISSING))


@pytest.fixture(autouse=True)
def default_workers():
    """No test leaves another number of workers behind."""
    yield
    assert sparsematch.get_workers() == 1
