"""Memory that a factorisation takes beside its factors."""

import os

import pytest

from calls import in_a_new_process

#: Prints the peak of the memory that a factorisation has taken, and the entries of the matrix and
#: of its factors. Linux resets the peak on request.
PEAK = """
import sys
from scipy.sparse import csc_array, diags_array
from sparsematch.solvers import splu

def status(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))

def matrix(n):
    diagonals = {0: [3.0], 1: [-1.1]} | ({-1: [-1.0]} if sys.argv[1] == "one block" else {})
    A = csc_array(diags_array(list(diagonals.values()), offsets=list(diagonals), shape=(n, n)))
    A.sort_indices()  # SciPy before 1.16 leaves them unsorted, and to sort them takes a copy
    return A

splu(matrix(100))  # what is loaded once
A = matrix(int(sys.argv[2]))
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
lu = splu(A)
print(status("VmHWM") - before, A.nnz, lu.nnz)
"""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"),
    reason="only Linux resets the peak of a process's memory",
)
@pytest.mark.parametrize(("blocks", "bytes_a_row"), [("one block", 190), ("many blocks", 200)])
def test_memory_beside_the_factors(blocks, bytes_a_row):
    """12 bytes of an entry of the factors, 16 of one of the matrix, and these of a row."""
    n = 300_000
    process = in_a_new_process(PEAK, blocks, str(n))
    peak, entries, stored = map(int, process.communicate(timeout=120)[0].split())
    assert peak < 12 * stored + 16 * entries + bytes_a_row * n
