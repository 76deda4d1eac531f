"""The rules of the house that a program can check: sizes, the tree, includes, and that every name is tested."""

import ast
import functools
import re
from pathlib import Path

import pytest

import sparsematch
from sparsematch import csgraph, solvers

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sparsematch"
CPU = PACKAGE / "_engines" / "cpu"
CUDA = PACKAGE / "_engines" / "cuda"
PYTHON = sorted(PACKAGE.rglob("*.py"))
CORE = sorted([*CPU.rglob("*.hpp"), *CPU.rglob("*.cpp")])
KERNELS = sorted([*CUDA.rglob("*.cu"), *CUDA.rglob("*.cuh")])
TESTS = sorted((ROOT / "tests").rglob("*.py"))

# The soft limits are 300, 50 and 15 lines; this is where they end.
LINES_OF_A_FILE = 350
LINES_OF_A_FUNCTION = 60
LINES_OF_A_PUBLIC_FUNCTION = 25

#: The files that Python calls.
DOORS = {"coarsening.cpp", "nanobind_helpers.hpp", "stream.cpp", "graph.cpp", "core.cpp", "lu.cpp"}


def name_of(path):
    return str(path.relative_to(ROOT))


def functions(path):
    """Every function of a file, with the number of its lines of code: without signature, docstring and blank lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[ast.get_docstring(node) is not None :]
            code = lines[body[0].lineno - 1 : node.end_lineno] if body else []
            yield node.name, sum(bool(line.strip()) for line in code)


@pytest.mark.parametrize("path", PYTHON + CORE + KERNELS + TESTS, ids=name_of)
def test_no_file_is_long(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_OF_A_FILE


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_no_function_is_long(path):
    def limit(name):
        public = path.parent.name == "_api" and not name.startswith("_")
        return LINES_OF_A_PUBLIC_FUNCTION if public else LINES_OF_A_FUNCTION

    assert {name: length for name, length in functions(path) if length > limit(name)} == {}


def test_the_tree():
    """A porch and three rooms; what is new here is put into one of them on purpose."""
    porch = {
        "__init__.py",
        "__main__.py",
        "_io.py",
        "cli",
        "csgraph.py",
        "demo.py",
        "plot",
        "py.typed",
        "solvers",
    }
    porch |= {"networkx_backend.py"}
    rooms = {"_api", "_engines", "_types"}
    here = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert here == porch | rooms
    back_ends = {
        path.name
        for path in (PACKAGE / "_engines").iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert back_ends == {"cpu", "cuda", "reference"}


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_an_algorithm_includes_neither_python_nor_nanobind(path):
    """A header includes headers of its own folder and the standard library; the door alone knows Python."""
    included = re.findall(
        r"^#include [<\"]([^>\"]+)[>\"]", path.read_text(encoding="utf-8"), re.MULTILINE
    )
    own = {str(header.relative_to(CPU)) for header in CORE}
    foreign = [
        header
        for header in included
        if header not in own and not re.fullmatch(r"[a-z_]+|sys/mman\.h", header)
    ]
    if path.name in DOORS:
        assert all(header.startswith("nanobind/") for header in foreign)
    else:
        assert foreign == []


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_a_core_file_says_what_it_is(path):
    """Every file of the core opens with a comment, and every header is included once only."""
    text = path.read_text(encoding="utf-8")
    assert re.match(r"// \S", text)
    assert path.suffix == ".cpp" or "#pragma once" in text


@pytest.mark.parametrize("path", KERNELS, ids=name_of)
def test_a_kernel_file_says_what_it_is_and_includes_ours_only(path):
    """NVRTC knows no other headers, and where a kernel runs as threaded C++, none are needed but `host.hpp`."""
    text = path.read_text(encoding="utf-8")
    assert re.match(r"// \S", text)
    included = re.findall(r"^#include (\S+)$", text, re.MULTILINE)
    ours = {f'"{header.relative_to(CUDA)}"' for header in KERNELS}
    ours |= {'"host.hpp"'} if path.name == "device.cuh" else set()
    assert set(included) <= ours
    assert included[:1] == ['"core/device.cuh"'] if path.suffix == ".cu" else "#pragma once" in text


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_a_python_file_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.every_backend
def test_an_engine_has_a_file_of_its_name(engine):
    if engine.backend == "cupy":
        assert list(CUDA.rglob(f"{engine.name}.py"))
        return
    files = {
        "auto": CPU / "matching" / "auto.py",
        "reference": PACKAGE / "_engines" / "reference" / "augment.py",
    }
    assert (
        files[engine.name].exists()
        if engine.name in files
        else list(CPU.rglob(f"{engine.name}.hpp"))
    )


def test_nothing_is_left_for_later():
    words = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "NotImplemented" + "Error"]
    found = [
        (name_of(path), word)
        for path in PYTHON + CORE + KERNELS + TESTS
        for word in words
        if re.search(rf"\b{word}\b", path.read_text(encoding="utf-8"))
    ]
    assert found == []


@functools.cache
def identifiers(path):
    """The names that a file uses: not those in its strings and comments."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}


@pytest.mark.parametrize("name", sorted({*sparsematch.__all__, *csgraph.__all__, *solvers.__all__}))
def test_every_public_name_is_tested(name):
    assert any(
        name in identifiers(path)
        for path in TESTS
        if path.name not in ("test_architecture.py", "conftest.py")
    )


@pytest.mark.parametrize(
    "module", [sparsematch, csgraph, solvers], ids=lambda module: module.__name__
)
def test_the_porch_shows_public_names_only(module):
    """What `dir` shows beside the names of __all__ are modules and what the file itself imports, not strays."""
    assert all(hasattr(module, name) for name in module.__all__)
    assert sorted(module.__all__) == list(module.__all__)


def test_the_version_is_that_of_the_package():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", sparsematch.__version__)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert sparsematch.__version__ in changes
