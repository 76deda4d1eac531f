"""What the library is for is there, and what users see of it has not changed unnoticed.

`rows.csv` has a line for each thing that the library does; `public.txt` the engines with their
options and the public names with their signatures; `corpus.csv` what calls return for the matrices
of `corpus.py`. `python tests/meta/test_contract.py` rewrites the last two: read the difference
before it is committed, and say in the changelog what users notice.
"""

import csv
import importlib
import inspect
import itertools
import re
import types
from pathlib import Path

import pytest

import corpus
import sparsematch as sm
from sparsematch import csgraph, edge_files, graclus, linalg, plot, solvers
from sparsematch._engines.registry import engines

HERE = Path(__file__).parent
ROWS = list(csv.DictReader((HERE / "rows.csv").read_text(encoding="utf-8").splitlines()))
PUBLIC, CORPUS = HERE / "public.txt", HERE / "corpus.csv"
#: Lines of the corpus that one test compares.
SHARE = 100


def find(dotted):
    """The public object of this name, however deep."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for name in parts[length:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(dotted)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['what']}-{row['backend']}")
def test_what_the_library_is_for_is_there(row):
    if row["call"]:
        assert find(row["call"]) is not None
    if row["engine"]:
        name, *options = row["engine"].split()
        found = [e for e in engines() if (e.name, e.backend) == (name, row["backend"])]
        assert any(set(options) <= set(engine.options) for engine in found)
    file, _, function = row["test"].partition("::")
    text = (HERE.parent / file).read_text(encoding="utf-8")
    assert re.search(rf"^def {function or 'test_'}", text, re.MULTILINE)
    benchmarks = HERE.parents[1] / "benchmarks"
    assert (
        not row["benchmark"] or not benchmarks.is_dir() or (benchmarks / row["benchmark"]).exists()
    )


def test_every_engine_and_public_call_has_a_row():
    listed = {(row["engine"].split()[0], row["backend"]) for row in ROWS if row["engine"]}
    assert listed == {(engine.name, engine.backend) for engine in engines()}
    options = {(row["backend"], option) for row in ROWS for option in row["engine"].split()[1:]}
    assert {name for _, name in options} <= {name for e in engines() for name in e.options}


def describe():
    """The engines with their options, and the public names with their signatures, as text."""
    yield "# engines: back-end, kind, name, options"
    for engine in sorted(engines(), key=lambda e: (e.backend, e.kind, e.name)):
        options = " ".join(f"{name}={value}" for name, value in engine.options.items())
        yield f"{engine.backend} {engine.kind} {engine.name} {options}".rstrip()
    for module in (sm, solvers, linalg, csgraph, graclus, edge_files, plot):
        yield f"# {module.__name__}"
        for name in module.__all__:
            yield from describe_object(name, getattr(module, name))


def describe_object(name, value):
    if isinstance(value, types.FunctionType):
        yield f"{name}({', '.join(map(describe_parameter, parameters(value)))})"
    elif inspect.isclass(value):
        yield f"class {name}: {' '.join(sorted(members(value)))}"
    else:
        yield name


def parameters(call):
    return inspect.signature(call).parameters.values()


def describe_parameter(parameter):
    star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    key = "@" if parameter.kind.name == "KEYWORD_ONLY" else ""
    default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
    return f"{star}{key}{parameter.name}{default}"


def members(value):
    """The public attributes that the class and its bases in this package define."""
    ours = [base for base in value.__mro__ if base.__module__.startswith("sparsematch")]
    names = itertools.chain.from_iterable(
        [*vars(base), *vars(base).get("__annotations__", {})] for base in ours
    )
    return {name for name in names if not name.startswith("_")}


def test_engines_and_public_names_are_those_that_are_known():
    assert PUBLIC.read_text(encoding="utf-8").splitlines() == list(describe())


KNOWN = CORPUS.read_text(encoding="utf-8").splitlines() if CORPUS.exists() else []


@pytest.mark.library_independent
@pytest.mark.parametrize("first", range(0, len(KNOWN), SHARE))
def test_results_are_those_that_are_known(first):
    matrices = itertools.islice(corpus.matrices(), first, first + SHARE)
    found = [corpus.line(name, A) for name, A in matrices]
    assert found == KNOWN[first : first + SHARE]


def test_the_corpus_is_complete():
    assert sum(1 for _ in corpus.matrices()) == len(KNOWN) >= 2000


if __name__ == "__main__":
    PUBLIC.write_text("\n".join(describe()) + "\n", encoding="utf-8")
    lines = [corpus.line(name, A) for name, A in corpus.matrices()]
    CORPUS.write_text("\n".join(lines) + "\n", encoding="utf-8")
