"""Memory that a factorisation takes beside its factors."""

import os

import numpy as np
import pytest
from scipy.sparse import block_array, block_diag, csc_array, diags_array, random_array

from calls import in_a_new_process
from sparsematch.solvers import splu

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
@pytest.mark.parametrize(("blocks", "bytes_a_row"), [("one block", 140), ("many blocks", 140)])
def test_memory_beside_the_factors(blocks, bytes_a_row):
    """12 bytes of an entry of the factors, 16 of one of the matrix, and these of a row."""
    n = 300_000
    process = in_a_new_process(PEAK, blocks, str(n))
    peak, entries, stored = map(int, process.communicate(timeout=120)[0].split())
    assert peak < 12 * stored + 16 * entries + bytes_a_row * n


@pytest.mark.parametrize("exponent", [0, 40, 140])
@pytest.mark.parametrize("is_complex", [False, True])
def test_values_come_back_from_the_scaled_ones(exponent, is_complex):
    """Of blocks, of single rows, and of what is above blocks: all are the same to the last bit."""
    rng = np.random.default_rng(5)
    chain = diags_array([np.full(29, 1.1), np.full(30, 3.7)], offsets=[1, 0])
    dense = [
        random_array((m, m), density=0.5, rng=rng) + diags_array(np.full(m, 3.0)) for m in (7, 20)
    ]
    above = random_array((30, 27), density=0.3, rng=rng)
    A = block_array([[chain, above], [None, block_diag(dense)]])
    scales = [diags_array(10.0 ** rng.integers(-exponent, exponent + 1, 57)) for _ in range(2)]
    A = csc_array((scales[0] @ A @ scales[1]).tocsc()[rng.permutation(57)][:, rng.permutation(57)])
    A.sort_indices()
    if is_complex:
        A = A * (1 + 0.3j)
    lu = splu(A)
    np.testing.assert_array_equal(lu._factors.matrix().data, A.data)
    lu.refactorise(B := -1.5 * A)
    np.testing.assert_array_equal(lu._factors.matrix().data, B.data)
    lu = splu(B)
    lu.refactorise(A)
    np.testing.assert_array_equal(lu._factors.matrix().data, A.data)
