"""Every way to the blocks in the core, on all small matrices, against a transitive closure.

Python is too slow for as many, so that `block_search/block_search.cpp` is compiled over the headers
of the core, with invariants checked. All digraphs of five vertices in all orders take half an hour
of one core: they are compared, by all cores, where `SPARSEMATCH_EXHAUSTIVE` is set.
"""

import os
import subprocess
from pathlib import Path

import pytest

from cuda_host.emulator import COMPILER

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "sparsematch" / "_engines" / "cpu"
EVERYTHING = bool(os.environ.get("SPARSEMATCH_EXHAUSTIVE"))

pytestmark = [
    pytest.mark.library_independent,
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
]

#: What is compared, and how many forms there are at least.
BRIEF = [
    ("digraphs 3 6 1", 2_000),
    ("digraphs 4 24 1", 500_000),
    ("digraphs 5 1 128", 100_000),
    ("patterns 3 3 1", 10_000),
    ("patterns 3 4 1", 100_000),
    ("patterns 4 3 1", 100_000),
    ("patterns 4 4 16", 100_000),
    ("violators 4 3 1", 10_000),
    ("violators 5 3 8", 10_000),
    ("coupled 1 800", 20_000),
]
CORES = os.cpu_count() or 1
WHOLE = [
    (f"digraphs 5 120 {CORES}", 700_000_000),
    ("patterns 4 4 1", 1_000_000),
    ("violators 4 4 1", 500_000),
    ("violators 5 4 1", 5_000_000),
    ("coupled 2 20000", 500_000),
]


@pytest.fixture(scope="module")
def block_search(tmp_path_factory):
    """The program."""
    program = tmp_path_factory.mktemp("block_search") / "block_search"
    options = ["-O2"] if EVERYTHING else ["-O1", "-DSPARSEMATCH_CHECKS"]
    source = HERE / "block_search" / "block_search.cpp"
    command = [COMPILER, "-std=c++20", *options, "-pthread", f"-I{CORE}", source, "-o", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.timeout(7200 if EVERYTHING else 300)
@pytest.mark.parametrize(("what", "least"), WHOLE if EVERYTHING else BRIEF)
def test_every_way_to_the_blocks(block_search, what, least):
    parts = [[str(k)] for k in range(CORES)] if EVERYTHING and "digraphs" in what else [[]]
    pipe = subprocess.PIPE
    running = [
        subprocess.Popen([block_search, *what.split(), *part], stdout=pipe, stderr=pipe, text=True)
        for part in parts
    ]
    forms = 0
    for process in running:
        out, errors = process.communicate()
        assert process.returncode == 0, out + errors
        n, end = out.split(maxsplit=1)
        assert end == "forms, 0 wrong\n"
        forms += int(n)
    assert forms >= least
