"""The pages and docstrings: examples run, engines are described, links lead somewhere."""

import doctest
import importlib
import inspect
import pkgutil
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch
import tables
from calls import run_python
from driver import median
from sparsematch import (
    csgraph,
    edge_files,
    graclus,
    linalg,
    networkx_backend,
    plot,
    pyomo,
    solvers,
)

PUBLIC = (
    *(sparsematch, csgraph, edge_files, graclus, linalg),
    *(networkx_backend, plot, pyomo, solvers),
)
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ALGORITHMS = DOCS / "algorithms"
OUTSIDE = "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "benchmarks/README.md"
PAGES = [ROOT / name for name in OUTSIDE]
PAGES += sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
FENCE = re.compile(r"^ *```([^\s`]*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
DOWNLOAD = re.compile(r"\{download\}`[^`<]*<([^`>]+)>`")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    """The fenced blocks of a page: language, line before the first, text."""
    text = page.read_text(encoding="utf-8")
    return [(m[1], text.count("\n", 0, m.start(2)), m[2]) for m in FENCE.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_examples_run(page, monkeypatch, tmp_path):
    """The examples of a page run as one session, in order, beside what it offers to load."""
    for target in DOWNLOAD.findall(page.read_text(encoding="utf-8")):
        shutil.copy(page.parent / target, tmp_path)
    monkeypatch.chdir(tmp_path)
    parser, runner, report = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS), []
    session = {}
    for language, line, text in blocks(page):
        if language == "pycon":
            test = parser.get_doctest(text, session, name_of(page), str(page), line)
            runner.run(test, out=report.append, clear_globs=False)
            session = test.globs
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_example_escapes(page):
    """Python in a fence of another language would be run by nobody."""
    escaped = [
        line
        for language, line, text in blocks(page)
        if language in {"python", "py"} or (language != "pycon" and ">>>" in text)
    ]
    assert not escaped, f"{name_of(page)}: fence what follows these lines as pycon: {escaped}"


def test_the_command_of_getting_started_prints_what_is_shown(tmp_path, monkeypatch):
    """All but the line of times."""
    page = DOCS / "getting_started/index.md"
    (shown,) = (text.splitlines() for language, _, text in blocks(page) if language == "console")
    shutil.copy(page.parent / "west0479.mtx", tmp_path)
    monkeypatch.chdir(tmp_path)
    result = run_python("-m", *shown[0].split()[1:])
    printed = result.stdout.rstrip("\n").splitlines()
    assert [line.split() for line in printed[:-1]] == [line.split() for line in shown[1:-1]]
    assert printed[-1].split()[:2] == shown[-1].split()[:2] == ["time", "read"]


def test_code_fits_the_page():
    """Examples have at most 100 columns, programs of the gallery 85: more is cut off."""
    lines = [
        (f"{name_of(page)}:{start + number}", len(line), 100)
        for page in PAGES
        for _, start, text in blocks(page)
        for number, line in enumerate(text.splitlines(), start=1)
    ]
    lines += [
        (f"{name_of(program)}:{number}", len(line), 85)
        for program in sorted((DOCS / "gallery").glob("*.py"))
        for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), start=1)
    ]
    assert [place for place, length, limit in lines if length > limit] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", prose)
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_references_are_there():
    """What pages cite is on the page of references, in order and with its DOI; all is cited."""
    page = (DOCS / "references.md").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^\(([\w-]+)\)=\n(.*?)(?=\n\n|\Z)", page, re.MULTILINE | re.DOTALL))
    texts = [other.read_text(encoding="utf-8") for other in PAGES]
    cited = {key for text in texts for key in re.findall(r"references\.md#([\w-]+)", text)}
    assert cited == set(entries)
    assert list(entries) == sorted(entries)
    without = [key for key, text in entries.items() if not re.search(r"doi\.org/10\.\d{4}/", text)]
    known = "adlers-2000 duff-2002 foster-1986 konig-1931 orzan-2004 papadimitriou-1982 schenk-2006"
    assert without == [*known.split(), "setubal-1996"]
    algorithms = [p for p in ALGORITHMS.glob("*.md") if p.stem != "index"]
    assert not [p.name for p in algorithms if "references.md#" not in p.read_text(encoding="utf-8")]


def test_every_engine_has_a_page():
    """One page per registered engine, with the stem of its name, and no other page."""
    others = {"index", "block_triangular_form", "weighted", "primal_dual"}
    pages = {page.stem for page in ALGORITHMS.glob("*.md")} - others
    engines = {engine.name for engine in sparsematch.engines(backend=None)}
    assert not engines - pages, "these engines have no page in docs/algorithms"
    assert not pages - engines, "these pages in docs/algorithms are of no engine"


def page_of(engine):
    """The text of an engine's page."""
    page = ALGORITHMS / f"{engine.name}.md"
    assert page.exists(), (
        f"the engine {engine.name!r} has no page: write {name_of(page)} with the headings of the"
        " others, and list it in docs/algorithms/index.md"
    )
    return page.read_text(encoding="utf-8")


def fields_of(page):
    """What the table on the page of an engine says."""
    return dict(re.findall(r"^\| (Kind|Transpose|Workers) \| (.*) \|$", page, re.MULTILINE))


@pytest.mark.parametrize("one", sparsematch.engines(), ids=lambda one: f"{one.kind}-{one.name}")
def test_page_tells_what_the_registry_knows(one):
    page, kind = page_of(one), one.kind
    if (one.name, kind) == ("auto", "approximate"):  # its page is that of the exact engine
        assert "`local_max`" in page
        return
    assert f"(`{one.name}`)" in page.splitlines()[0]
    for option, default in one.options.items():
        assert f"`{option}` (default `{default!r}`)" in page
    fields = fields_of(page)
    assert fields["Workers"].startswith("any number" if one.multithreaded else "one")
    if kind == "approximate":
        kind = f"approximate: {'at least 1/2' if one.guarantee else 'maximal'}"
        assert "Transpose" not in fields
    else:
        transpose = "not used" if one.transpose == "unused" else one.transpose
        assert fields["Transpose"].startswith(transpose)
    assert fields["Kind"].startswith(kind)


#: Back-ends, those whose engines have pages of their own, and what the page says of another.
ELSEWHERE = [
    ("cupy", ["numpy"], "## On a GPU\n", "On a GPU."),
    ("mpi", ["numpy", "cupy"], "## Over MPI ranks\n", "Over MPI ranks"),
    ("nccl", ["numpy", "cupy"], "## Over several GPUs\n", "Over several GPUs"),
]


@pytest.mark.parametrize(("backend", "others", "heading", "sentence"), ELSEWHERE)
def test_page_tells_of_the_engine_elsewhere(backend, others, heading, sentence):
    """An engine of several back-ends has a section on the differences; options have defaults."""
    known = {e.name for other in others for e in sparsematch.engines(backend=other)}
    for engine in sparsematch.engines(backend=backend):
        page = page_of(engine)
        assert f"\n{heading if engine.name in known else sentence}" in page
        for option, default in engine.options.items() if backend == "cupy" else ():
            assert f"`{option}` (default `{default!r}`)" in " ".join(page.split())


def test_algorithm_pages_have_the_same_headings():
    for engine in sparsematch.engines():
        page = page_of(engine)
        headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
        assert headings[0] == "How it works"
        assert headings[-2:] == ["When it wins", "Example"]
        assert any("names and ours" in heading for heading in headings)
        assert ("With several workers" in headings) == engine.multithreaded


def test_readme_has_a_quick_start_of_two_commands():
    """The first block installs and runs, the second runs the tests; and it fits one screen."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text.split("## Quick start", 1)[1].split("\n## ", 1)[0]
    commands = re.findall(r"```bash\n(.*?)```", start, re.DOTALL)
    assert len(commands) == 2
    assert "sparsematch btf" in commands[0]
    assert text[: text.index(start) + len(start)].count("\n") <= 30


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference(module):
    """As an entry under the module's name."""
    listed, current = set(), ""
    for page in (DOCS / "reference").glob("*.rst"):
        for kind, name in re.findall(r"^\.\. (\w+):: ([\w.]+)$", page.read_text("utf-8"), re.M):
            current = name if kind == "currentmodule" else current
            listed |= {f"{current}.{name}"} if kind.startswith("auto") else set()
    assert not {f"{module.__name__}.{name}" for name in module.__all__} - listed


def test_the_public_modules_are_these():
    """Whose names the reference has: all but those with an underscore and the command line."""
    names = {path.stem for path in Path(sparsematch.__file__).parent.glob("[!_]*")} - {"cli", "py"}
    assert names == {module.__name__.rpartition(".")[2] for module in PUBLIC[1:]}


@pytest.mark.parametrize(
    ("seconds", "measured"),
    [([9.0, 1.0, 3.0, 2.0], 2.0), ([300.0, 250.0], 250.0), ([600.0], 600.0)],
)
def test_benchmarks_warm_up_what_is_short(seconds, measured):
    """Times in milliseconds: a first call below half a second is not counted; then it ends."""
    clock = iter(np.cumsum([0.0, *(t / 1e3 for s in seconds for t in (s, 0.0))]))
    found = median(lambda: "result", lambda: next(clock), 3)
    assert found == (pytest.approx(measured / 1e3), "result")


def test_tables_beside_others_are_written_by_one_command(tmp_path):
    """On small matrices, between the marks of the pages; what differs is an error there."""
    entries = sp.random_array((60, 50), density=0.05, rng=np.random.default_rng(1), format="csr")
    sp.save_npz(tmp_path / "small.npz", entries)
    for _, _, page, _ in tables.TABLES.values():
        (tmp_path / page).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / page, tmp_path / page)
    program = [str(ROOT / "benchmarks/tables.py"), "--limit", "60", "--write", str(tmp_path)]
    names = [str(tmp_path / "small.npz"), "linear_program_scrambled"]
    chosen = [word for name in ("generated", "real", "beside") for word in ("--only", name)]
    result = run_python(*program, "--scale", "8", *chosen, *names)
    assert result.returncode == 0, result.stderr
    for name in ("generated", "real", "beside"):
        page = tables.TABLES[name][2]
        text, before = ((folder / page).read_text(encoding="utf-8") for folder in (tmp_path, ROOT))
        assert "\n| `small` |" in text
        assert "\n| `linear_program_scrambled` |" in text
        assert not re.search(r"\| `bayer10` \| \d", text), "the old table is still there"
        assert text.split("##")[0] == before.split("##")[0]


def test_every_mark_of_tables_is_on_its_page():
    """Each of the program's tables has a place, and the other way round."""
    mark = re.compile(r"<!-- (.*): written by benchmarks/tables\.py -->$", re.MULTILINE)
    found = {(what, name_of(page)) for page in PAGES for what in mark.findall(page.read_text())}
    assert found == {(what, page) for _, what, page, _ in tables.TABLES.values()}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_tables_of_times_name_their_command(page):
    """In their section."""
    for section in re.split(r"^#+ ", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
        heads = re.findall(r"^(\|.*\|)\n\| ?-{3}", section, re.MULTILINE)
        if any(re.search(r"\bms\b|µs|, s\b|seconds", head) for head in heads):
            programs = re.findall(r"benchmarks/(\w+\.py)", section)
            assert programs, f"{name_of(page)}: {section.splitlines()[0]}"
            assert all((ROOT / "benchmarks" / program).exists() for program in programs)


MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(sparsematch.__path__, "sparsematch.")
    if not module.name.endswith(("__main__", "._core"))
)
DOCUMENTED = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (sparsematch, csgraph, linalg, solvers)
    for name in module.__all__
}


@pytest.mark.parametrize("name", ["sparsematch", *MODULES])
def test_examples_of_docstrings(name):
    """Every example of a module gives what it says."""
    module = importlib.import_module(name)
    report = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize(
    "name", [name for name, value in DOCUMENTED.items() if inspect.isfunction(value)]
)
def test_a_function_documents_parameters_and_results(name):
    text, function = inspect.getdoc(DOCUMENTED[name]), DOCUMENTED[name]
    parameters = inspect.signature(function).parameters
    needed = ["Parameters"] * bool(parameters) + ["Returns", "See Also", "Examples"]
    assert [s for s in needed if f"\n{s}\n{'-' * len(s)}\n" not in text] == []
    heads = [line.lstrip("*").split(" :")[0].split(", ") for line in text.splitlines()]
    assert [parameter for parameter in parameters if not any(parameter in h for h in heads)] == []
    assert ">>> " in text


TYPES = [
    name
    for name, value in DOCUMENTED.items()
    if inspect.isclass(value) and not issubclass(value, Warning)
]


@pytest.mark.parametrize("name", TYPES)
def test_a_type_describes_its_attributes(name):
    assert "\nAttributes\n----------\n" in inspect.getdoc(DOCUMENTED[name])
