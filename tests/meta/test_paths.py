"""Every file that prose, a comment or a docstring names is there, under the name that is given."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (".ci", "sparsematch", "tests", "docs", "benchmarks")
BUILT = {"_build", "gallery_pages", "sg_execution_times.rst", "__pycache__"}
TREE = [path for path in ROOT.iterdir() if path.is_file()] + [
    path for top in SOURCE for path in (ROOT / top).rglob("*") if not BUILT & set(path.parts)
]
NAMES = {path.relative_to(ROOT).as_posix() for path in TREE}
READ = {".md", ".rst", ".py", ".hpp", ".cpp", ".cu", ".cuh", ".toml", ".ini"}
PAGES = sorted(path for path in TREE if path.suffix in READ and path.name != Path(__file__).name)
#: A file of the source or a page, or a folder below one of the tops of the tree.
MENTION = re.compile(
    r"(?<![\w/<>.:*-])((?:[\w.-]+/)*[\w-]+\.(?:py|pyi|hpp|cpp|cu|cuh|md|rst|toml)"
    r"|(?:sparsematch|tests|docs|benchmarks)/(?:[\w.-]+/)*[\w.-]*)(?![\w/]|\.\w)"
)
#: Files of readers, placeholders, and a name that every package has.
ELSEWHERE = {"model.py", "program.py", "name.py", "name.cu", "docs/_build/html", "__init__.py"}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def prose_of_python(text):
    """Comments and docstrings, with the numbers of their lines."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            doc := ast.get_docstring(node, clean=False)
        ):
            for k, line in enumerate(doc.split("\n")):
                yield node.body[0].lineno + k, line


def prose(path):
    """The lines of a file in which it speaks to a reader."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from prose_of_python(text)
        return
    fenced = False
    for number, line in enumerate(text.split("\n"), start=1):
        if path.suffix in {".md", ".rst"}:
            fenced ^= line.lstrip().startswith("```")
            if not fenced:
                yield number, re.sub(r"\]\([^)]*\)", "]", line)  # links have a test of their own
        elif path.suffix in {".toml", ".ini"}:
            yield number, line.partition("#")[2]
        elif match := re.search(r'^#include "(.*)"|//(.*)', line):
            yield number, match[1] or match[2] or ""


def is_there(mention, path):
    """Whether a file has this path, from a folder above the reader, or is the only one."""
    mention = mention.removeprefix("./").rstrip("/")
    above = path.parent.relative_to(ROOT)
    if any((base / mention).as_posix() in NAMES for base in (above, *above.parents)):
        return True
    return sum(f"/{name}".endswith(f"/{mention}") for name in NAMES) == 1


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_files_that_are_named_exist(path):
    missing = [
        f"{number}: {mention}"
        for number, line in prose(path)
        for mention in MENTION.findall(line)
        if mention not in ELSEWHERE and not is_there(mention, path)
    ]
    assert not missing, f"{name_of(path)} names files that are not there, or not the only ones"


def test_tests_that_are_named_exist():
    """A page may also name a test."""
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    named = {
        name
        for path in PAGES
        if path.suffix == ".md"
        for name in re.findall(r"`(test_\w+)`", path.read_text(encoding="utf-8"))
    }
    assert not [name for name in named if f"def {name}(" not in tests]


def test_a_wrong_path_is_found(tmp_path):
    """The test above reads a page and the comments of a header, and refuses wrong names."""
    page, header = tmp_path / "page.md", tmp_path / "a.hpp"
    text = "See `cpu/matching/cheap.hpp`, `tour.md` and [x](none.md).\n```\nnone.py\n```\n"
    page.write_text(text)
    header.write_text('#include "core/csr.hpp"\nint a;  // as in table.hpp\n')
    named = [[m for _, line in prose(p) for m in MENTION.findall(line)] for p in (page, header)]
    assert named == [["cpu/matching/cheap.hpp", "tour.md"], ["core/csr.hpp", "table.hpp"]]
    assert is_there("cpu/matching/cheap.hpp", ROOT / "docs" / "index.md")
    assert not is_there("table.hpp", ROOT / "docs" / "index.md")
    assert not is_there("engine_table.hpp", ROOT / "docs" / "index.md"), "there are two of these"
