"""The examples in the docstrings run; public functions document parameters and results."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import sparsematch
from sparsematch import csgraph, linalg, solvers

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(sparsematch.__path__, "sparsematch.")
    if not module.name.endswith(("__main__", "._core"))
)
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (sparsematch, csgraph, linalg, solvers)
    for name in module.__all__
}


@pytest.mark.parametrize("name", ["sparsematch", *MODULES])
def test_examples(name):
    """Every example of a module gives what it says."""
    module = importlib.import_module(name)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize(
    "name", [name for name, value in PUBLIC.items() if inspect.isfunction(value)]
)
def test_a_function_documents_parameters_and_results(name):
    text, function = inspect.getdoc(PUBLIC[name]), PUBLIC[name]
    parameters = inspect.signature(function).parameters
    needed = ["Parameters"] * bool(parameters) + ["Returns", "See Also", "Examples"]
    assert [s for s in needed if f"\n{s}\n{'-' * len(s)}\n" not in text] == []
    heads = [line.lstrip("*").split(" :")[0].split(", ") for line in text.splitlines()]
    assert [parameter for parameter in parameters if not any(parameter in h for h in heads)] == []
    assert ">>> " in text


TYPES = [
    name
    for name, value in PUBLIC.items()
    if inspect.isclass(value) and not issubclass(value, Warning)
]


@pytest.mark.parametrize("name", TYPES)
def test_a_type_describes_its_attributes(name):
    assert "\nAttributes\n----------\n" in inspect.getdoc(PUBLIC[name])
