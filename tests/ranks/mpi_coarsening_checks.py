"""Coarsening over ranks against one process; see mpi_checks.py."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparsematch as sm
from graphs import graphs, random_graph
from mpi_checks import distribute, row_starts, whole
from mpi_faults import assert_raises_on_all
from mpi_graph_checks import the_same_on_all_ranks
from rank_driver import run_script
from sparsematch._engines.mpi.core import sides


def together(comm, D):
    """The matrix of all ranks, on each."""
    return sp.csr_array(sp.vstack(comm.allgather(D.to_local()), format="csr"))


def assert_same(comm, G, D, mate):
    """The matrix and the aggregates of one process, and rows in blocks as before."""
    expected = sm.coarsen(G, mate)
    coarse = sm.coarsen(D, mate[D.own_rows.start : D.own_rows.stop])
    matrix, P = together(comm, coarse.matrix), together(comm, coarse.prolongation)
    n = expected.matrix.shape[0]
    assert matrix.shape == (n, n) == coarse.matrix.shape
    assert matrix.dtype == expected.matrix.dtype
    assert np.array_equal(matrix.indptr, expected.matrix.indptr)
    assert np.array_equal(matrix.indices, expected.matrix.indices)
    assert np.allclose(matrix.data, expected.matrix.data)
    assert abs(P - expected.prolongation).sum() == 0
    assert np.array_equal(whole(comm, coarse.aggregates), expected.aggregates)
    assert repr(coarse) == repr(expected)
    return coarse, expected


def check_any_graph(comm, folder):
    """Loops, repeats, explicit zeros; any partition, ranks without a vertex."""

    @the_same_on_all_ranks(comm)
    @given(graphs(max_side=14), st.integers(0, 2**32), st.booleans())
    def check(G, seed, complex_values):
        G = sp.csr_array(G).astype(complex) * (2 - 1j) if complex_values else sp.csr_array(G)
        D = distribute(comm, G, row_starts(np.random.default_rng(seed), G.shape[0], comm.size))
        assert_same(comm, G, D, sm.maximal_matching(abs(G)).mate)

    check()


def check_levels(comm, folder):
    """A coarse matrix is coarsened again, until it is small; pairs that are no edges."""
    sides._LEAST_SLICE = 64
    rng = np.random.default_rng(3)
    G = sp.csr_array(random_graph(2000, 5, seed=2))
    D = distribute(comm, G, row_starts(rng, 2000, comm.size))
    while G.shape[0] > 50:
        matching = sm.approximate_matching(D)
        mate = whole(comm, matching.mate)
        coarse, expected = assert_same(comm, G, D, mate)
        matrix = together(comm, coarse.matrix)
        assert (matrix != matrix.T).nnz == 0, "not symmetric to the last bit"
        if expected.matrix.shape[0] > 0.9 * G.shape[0]:
            break
        G, D = matrix, coarse.matrix
    assert G.shape[0] < 700
    A = sp.random_array((101, 101), density=0.1, rng=rng, format="csr")
    order = rng.permutation(101)
    mate = np.full(101, -1)
    mate[order[:50]], mate[order[50:100]] = order[50:100], order[:50]
    for B in (A, sp.csr_array((100 * A).astype(np.int8)), A > 0.5):
        assert_same(comm, B, distribute(comm, B, row_starts(rng, 101, comm.size)), mate)


def check_refused(comm, folder):
    """What is wrong on one rank is said on all."""
    n = 2 * comm.size
    begin = 2 * comm.rank
    G = sp.csr_array(np.ones((n, n)))[begin : begin + 2]
    D = sm.DistributedCSR.from_local(comm, G)
    last = comm.rank == comm.size - 1
    pair = np.array([begin + 1, begin])
    front = "" if comm.size == 1 else f"rank {comm.size - 1}: "
    wrong = np.array([begin, begin + 1]) if last else pair
    words = f"the mate of vertex {n - 2} is another one"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.coarsen(D, wrong))
    far = np.array([n, -1]) if last else pair
    words = f"{front}matching is not one of a graph: the mate of vertex {n - 2} is {n}"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.coarsen(D, far))
    short = pair[:1] if last else pair
    words = front + "matching is of 1 vertices, but this rank has 2 rows"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.coarsen(D, short))
    words = "join_unmatched is True, but over ranks"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.coarsen(D, pair, join_unmatched=True))
    bare = sm.DistributedCSR(comm, [0, 1, 2], [0, 1], begin, (n, n))
    words = "G has no values, which are added up"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.coarsen(bare, pair))
    words = "this is done in one process only"
    assert_raises_on_all(comm, TypeError, words, lambda: sm.coarsening_hierarchy(D))


if __name__ == "__main__":
    run_script(globals())
