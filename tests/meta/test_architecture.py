"""What a program can check of the architecture: tree, includes, sizes; every name is tested."""

import ast
import functools
import graphlib
import os
import re
import sys
from pathlib import Path

import pytest

import sparsematch
import stays
from calls import run_python
from sparsematch import csgraph, solvers
from sparsematch._base.above import ABOVE, above

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sparsematch"
ENGINES = PACKAGE / "_engines"
CPU = ENGINES / "cpu"
CUDA = ENGINES / "cuda"


def files(folder, *suffixes):
    found = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return sorted(path for path in found if path.is_file() and path.suffix in suffixes)


PYTHON = files(PACKAGE, ".py")
CORE = files(ENGINES, ".hpp", ".cpp")
KERNELS = files(ENGINES, ".cu", ".cuh")
TESTS = files(ROOT / "tests", ".py", ".hpp")
BENCHMARKS = files(ROOT / "benchmarks", ".py")
EVERYTHING = PYTHON + CORE + KERNELS + TESTS + BENCHMARKS
OTHERS = [ROOT / "pyproject.toml", ROOT / "tox.ini", CPU / "CMakeLists.txt", ROOT / "docs/conf.py"]
OTHERS += [*files(ROOT / "docs/gallery", ".py"), *files(ROOT / "docs/_ext", ".py")]
OTHERS += [*files(ROOT / "docs/figures", ".py"), *files(ROOT / ".ci", "")]

# Of code; a file is one concept, whatever its length.
LINES_OF_A_FUNCTION = 50
LINES_OF_A_PUBLIC_FUNCTION = 25
PARAMETERS = 10
COLUMNS = 100

#: The packages of a back-end, the same in each, and what may be included there beside their own.
#: For Python, import-linter holds the same table (pyproject.toml).
MAY_INCLUDE = {
    "core": set(),
    "ordering": {"core"},
    "matching": {"core", "ordering"},
    "decomposition": {"core", "ordering", "matching"},
    "weighted": {"core", "matching", "decomposition"},
    "graph": {"core"},
    "coarsening": {"core", "graph"},
    "stream": {"core", "graph"},
    "elimination": {"core", "matching", "graph", "coarsening"},
    "lu": {"core", "matching", "decomposition", "weighted", "elimination"},
    "qr": {"core", "elimination"},
}
MAY_INCLUDE["bindings"] = set(MAY_INCLUDE)


def name_of(path):
    return str(path.relative_to(ROOT))


def test_the_tree():
    """Public modules over the packages; a new entry is added here on purpose."""
    public = {"__init__.py", "__init__.pyi", "__main__.py", "_io", "cli", "csgraph.py", "plot"}
    public |= {"edge_files.py", "graclus.py", "linalg.py", "networkx_backend.py", "pyomo.py"}
    public |= {"py.typed", "solvers"}
    here = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    private = {"_api", "_base", "_blame", "_engines", "_input", "_numerics", "_systems", "_text"}
    assert here == public | private | {"_types"}


def folders(path):
    return {x.name for x in path.iterdir() if x.is_dir() and x.name != "__pycache__"}


def test_the_same_concept_has_the_same_package_in_every_back_end():
    assert folders(ENGINES) == {"cpu", "cuda", "mpi", "nccl", "reference"}
    assert folders(CPU) == set(MAY_INCLUDE)
    assert folders(CUDA) <= set(MAY_INCLUDE) - {"bindings"}
    for back_end in ("mpi", "nccl"):
        assert folders(ENGINES / back_end) <= set(MAY_INCLUDE) - {"bindings"}
    assert [path.name for path in CORE + KERNELS if path.parent in (CPU, CUDA)] == []


def included(path):
    """What a file includes, as (opening bracket, header)."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r"^\s*#\s*include\s*([<\"])([^>\"]+)", text, re.MULTILINE)


@pytest.mark.parametrize("path", CORE + KERNELS, ids=name_of)
def test_a_file_includes_what_its_package_may(path):
    """Headers are named from the folder of the back-end on."""
    back_end, package = path.relative_to(ENGINES).parts[:2]
    ours = {header for bracket, header in included(path) if bracket == '"'}
    ours -= {"host.hpp"} if path.name == "device.cuh" else set()  # of the tests without a GPU
    assert [header for header in ours if not (ENGINES / back_end / header).is_file()] == []
    allowed = {package} | MAY_INCLUDE[package]
    assert sorted(h for h in ours if h.split("/")[0] not in allowed) == []


@pytest.mark.parametrize("path", CORE + KERNELS, ids=name_of)
def test_a_file_includes_nothing_foreign(path):
    """C++ has the standard library, and the bindings nanobind; NVRTC knows no headers but ours."""
    known = "" if path in KERNELS else "[a-z_]+"
    if path.name == "portability.hpp":
        known += r"|pthread\.h|sched\.h|sys/mman\.h|intrin\.h"
    if path.parent.name == "bindings":
        known += "|nanobind/.*"
    foreign = {header for bracket, header in included(path) if bracket == "<"}
    assert [header for header in foreign if not re.fullmatch(known, header)] == []


def test_one_header_knows_compilers_and_systems():
    """core/portability.hpp; the rest is standard C++."""
    special = r"__builtin_|__attribute__|__u?int128|gnu::|msvc::|__GNUC__|__clang__|_MSC_VER"
    special += r"|__linux__|__APPLE__|_WIN32|\b(?:fopen|fseek|ftell|madvise|ssize_t|long)\b"
    found = [path.name for path in CORE if re.search(special, code_of(path))]
    assert found == ["portability.hpp"]


def code_of(path):
    """A C++ file without its comments."""
    return re.sub(r"//.*", "", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", CORE + KERNELS, ids=name_of)
def test_a_source_file_says_what_it_is(path):
    """It opens with a comment; a header is included once only, a kernel starts with the device."""
    text = path.read_text(encoding="utf-8")
    assert re.match(r"// \S", text)
    if path.suffix == ".cu":
        assert included(path)[:1] == [('"', "core/device.cuh")]
    assert path.suffix in (".cpp", ".cu") or "#pragma once" in text


@pytest.mark.parametrize("path", PYTHON, ids=name_of)
def test_a_python_file_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_no_line_is_long():
    found = [
        f"{name_of(path)}:{number}"
        for path in EVERYTHING + OTHERS
        for number, line in enumerate(lines_of(path), 1)
        if len(line) > COLUMNS
    ]
    assert found == []


@functools.cache
def functions(path):
    """The line, name, lines of code and parameters of each function."""
    if path.suffix == ".py":
        return list(in_python(path.read_text(encoding="utf-8")))
    import lizard  # not among what wheels are tested with

    found = lizard.analyze_file(str(path)).function_list  # with the signature and the last bracket
    return [(f.start_line, f.name, f.nloc - 2, len(f.full_parameters)) for f in found]


def in_python(text):
    """Code lines are those of the body, without docstring and blank ones; `self` is not counted."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[ast.get_docstring(node) is not None :]
            code = lines[body[0].lineno - 1 : node.end_lineno] if body else []
            a = node.args
            named = [arg.arg for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs]]
            n_named = len(named[named[:1] in (["self"], ["cls"]) :])
            several = (a.vararg is not None) + (a.kwarg is not None)
            yield node.lineno, node.name, sum(map(bool, map(str.strip, code))), n_named + several


def test_functions_are_found():
    text = '''
def f(a, /, b, *args, c=1, **options):
    """Says what it does."""

    def g(): ...

    return (a,
            b)
class A:
    def __init__(self, x): pass
    @classmethod
    def make(cls): pass
'''
    found = {name: sizes for _, name, *sizes in in_python(text)}
    assert found == {"f": [3, 5], "g": [1, 0], "__init__": [1, 1], "make": [1, 0]}
    assert sum(len(functions(path)) for path in CORE) > 1000
    assert sum(len(functions(path)) for path in KERNELS) > 300


def test_no_function_is_long_or_has_many_parameters():
    found = []
    for path in EVERYTHING:
        for line, name, size, parameters in functions(path):
            public = path.parent.name == "_api" and not name.startswith("_")
            most = LINES_OF_A_PUBLIC_FUNCTION if public else LINES_OF_A_FUNCTION
            # the public one has a single matrix, the others go by keyword
            if size > most or parameters > PARAMETERS + (name == "coarsening_hierarchy"):
                found.append(f"{name_of(path)}:{line} {name}: {size} lines, {parameters}")
    assert found == []


@pytest.mark.every_backend
def test_an_engine_has_a_file_of_its_name(engine):
    if engine.name == "reference":
        assert (ENGINES / "reference" / "augment.py").exists()
    else:
        folder = CPU if engine.backend == "numpy" else CUDA
        suffix = ".hpp" if engine.backend == "numpy" and engine.name != "auto" else ".py"
        assert list((folder / "matching").rglob(engine.name + suffix))


def test_calls_of_one_process_import_no_file_of_ranks():
    code = "import stays, sys; [call() for call in stays.CALLS.values()]; print(*sys.modules)"
    paths = os.pathsep.join([str(Path(stays.__file__).parent), *sys.path])
    found = run_python("-W", "ignore", "-c", code, env={**os.environ, "PYTHONPATH": paths})
    loaded = [name for name in found.stdout.split() if name.startswith("sparsematch.")]
    assert len(loaded) > 50, found.stderr
    assert not [name for name in loaded if {*name.split(".")} & {"over_ranks", "mpi", "nccl"}]
    assert "sparsematch._engines.distributed_operations" not in loaded


#: Stays of each call: see `stays`. What is added here should be worth its way.
STAYS = {
    "block_triangular_form": 35,  # one to log its steps, one to time them, one to keep threads
    "maximum_transversal": 19,
    "splu": 7,
    "lstsq": 66,  # eight to make a matrix, where SciPy takes 20 or 30 us
    "explain_singularity": 84,
}


@pytest.mark.parametrize("name", STAYS)
def test_a_call_goes_through_few_files(name):
    files = stays.stays(stays.CALLS[name])
    assert 5 <= len(files) <= STAYS[name]
    assert not stays.of_ranks(files)


def imports_of(path, modules):
    """The modules that a file imports, within functions too, but not for type checkers alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in names)


def test_no_imports_go_round_in_circles():
    paths = {path.relative_to(ROOT).with_suffix(""): path for path in files(PACKAGE, ".py")}
    modules = {".".join(stem.parts).removesuffix(".__init__"): p for stem, p in paths.items()}
    imported = {name: {*imports_of(path, modules)} - {name} for name, path in modules.items()}
    assert sum(map(len, imported.values())) > 1000
    graphlib.TopologicalSorter(imported).prepare()  # raises CycleError


def test_what_is_asked_of_higher_layers_is_there():
    assert all(callable(above(name)) for name in ABOVE)


def test_nothing_is_left_for_later():
    words = ["TO" + "DO", "FIX" + "ME", "X" + "XX", "NotImplemented" + "Error"]
    found = [
        (name_of(path), word)
        for path in EVERYTHING
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


def test_one_file_changes_the_filters_of_warnings():
    """All threads share them; factors return what they know, and public functions warn."""
    changing = {"catch_warnings", "simplefilter", "filterwarnings", "resetwarnings"}
    found = [path.name for path in PYTHON if changing & identifiers(path)]
    assert found == ["upstream_warnings.py"]


@pytest.mark.parametrize("name", sorted({*sparsematch.__all__, *csgraph.__all__, *solvers.__all__}))
def test_every_public_name_is_tested(name):
    assert any(
        name in identifiers(path)
        for path in files(ROOT / "tests", ".py")
        if path.name not in (Path(__file__).name, "conftest.py")
    )


def test_the_version_is_that_of_the_package():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", sparsematch.__version__)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert sparsematch.__version__ in changes
