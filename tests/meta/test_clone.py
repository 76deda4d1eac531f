"""Python started in a clone, where the source has no compiled core."""

import os
import shutil
import sys
from pathlib import Path

import pytest

import sparsematch
from calls import run_python
from sparsematch._engines.cpu import _core

PACKAGE = Path(__file__).resolve().parents[2] / "sparsematch"
CPU = Path("sparsematch/_engines/cpu")


@pytest.fixture
def clone(tmp_path):
    """A copy of the source without the core."""
    clone = tmp_path / "clone"
    ignore = shutil.ignore_patterns("*.so", "*.pyd", "_core.pyi", "__pycache__")
    shutil.copytree(PACKAGE, clone / "sparsematch", ignore=ignore)
    return clone


@pytest.fixture
def site(clone, tmp_path):
    """A folder of installed packages with sparsematch, compiled, in it."""
    site = tmp_path / "site"
    shutil.copytree(clone / "sparsematch", site / "sparsematch")
    shutil.copy(_core.__file__, site / CPU)
    information = site / f"sparsematch-{sparsematch.__version__}.dist-info"
    information.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: sparsematch\nVersion: {sparsematch.__version__}\n"
    (information / "METADATA").write_text(metadata)
    return site


def python(folder, *arguments, path=""):
    """Run Python in a folder, which then is the first of its path."""
    return run_python(*arguments, cwd=folder, env={**os.environ, "PYTHONPATH": str(path)})


def test_the_core_of_the_installation_is_used(clone, site):
    code = "import sparsematch; print(sparsematch.__file__); print(sparsematch.engines()[0].name)"
    done = python(clone, "-c", code, path=site)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [str(clone / "sparsematch/__init__.py"), "auto"]
    done = python(clone, "-m", "sparsematch", "--version", path=site)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "code", ["sparsematch.engines()", "sparsematch.structural_rank(sp.eye_array(2))"]
)
def test_without_any_core_a_sentence_says_what_to_run(clone, code):
    before = f"import sys; sys.path += {sys.path!r}[1:]; import sparsematch, scipy.sparse as sp;"
    before += "import importlib.metadata as m; m.distributions = lambda **_: [];"
    done = python(clone, "-S", "-c", before + code)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: sparsematch is not compiled for Python ")
    assert f"in {clone}: run 'python -m pip install .' there" in last


def test_a_core_of_another_source_is_refused(clone, site):
    with (clone / CPU / "core/csr.hpp").open("a") as header:
        header.write("// changed\n")
    done = python(clone, "-c", "import sparsematch; sparsematch.engines()", path=site)
    assert done.returncode == 1
    assert "was compiled from another source: run 'python -m pip install .'" in done.stderr
