"""SciPy's own tests of its matching and its structural rank, run on our drop-in.

The test modules of the installed SciPy are loaded a second time, with our functions in the place of
SciPy's; tests of functions which we do not offer are left out. SciPy's wheels of some versions come
without tests.
"""

import importlib.util

import pytest

from sparsematch import csgraph

OURS = {name: getattr(csgraph, name) for name in csgraph.__all__}
FEWEST = {"test_matching": 10, "test_reordering": 1}


def upstream(module):
    """SciPy's test module under our functions, or None where SciPy was installed without tests."""
    try:
        spec = importlib.util.find_spec(f"scipy.sparse.csgraph.tests.{module}")
    except ModuleNotFoundError:
        return None
    if spec is None:
        return None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    for name in OURS.keys() & vars(loaded).keys():
        setattr(loaded, name, OURS[name])
    return loaded


def cases(module):
    """Its tests that call one of our functions: name, function and the arguments of each run."""
    for name, test in vars(module).items():
        if name.startswith("test") and OURS.keys() & set(test.__code__.co_names):
            marks = [mark for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
            yield from runs(name, test, marks)


def runs(name, test, marks):
    """One case for each combination of the parameters."""
    if not marks:
        yield pytest.param(test, {}, id=name)
        return
    mark, rest = marks[0], marks[1:]
    keys = (
        [key.strip() for key in mark.args[0].split(",")]
        if isinstance(mark.args[0], str)
        else list(mark.args[0])
    )
    for number, values in enumerate(mark.args[1]):
        chosen = dict(zip(keys, values if len(keys) > 1 else [values], strict=True))
        for case in runs(f"{name}-{number}", test, rest):
            inner, more = case.values
            yield pytest.param(inner, chosen | more, id=case.id)


MODULES = {name: upstream(name) for name in FEWEST}
CASES = [case for module in MODULES.values() if module for case in cases(module)]


@pytest.mark.parametrize("module", FEWEST)
def test_enough_of_them_are_run(module):
    if MODULES[module] is None:
        pytest.skip(f"the installed SciPy comes without {module}")
    assert len(list(cases(MODULES[module]))) >= FEWEST[module]


@pytest.mark.parametrize(("test", "arguments"), CASES)
@pytest.mark.filterwarnings("default")
def test_scipys(test, arguments):
    test(**arguments)
