"""Heavy transversals over ranks against the heaviest of one process; see mpi_checks.py."""

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from mpi_checks import as_if_large, cases, distribute, row_starts, spread, whole
from rank_driver import PATCH, run_script
from sparsematch._engines.mpi.core import host


def with_values(A, rng):
    """The same pattern, with values over many magnitudes, some of them zero."""
    B = sp.csr_array(A, copy=True)
    B.data = np.exp(4 * rng.normal(size=B.nnz)) * rng.choice([1, -1, 1j], B.nnz)
    B.data[rng.random(B.nnz) < 0.05] = 0
    return B


def assert_transversal(comm, A, D):
    """As many pairs, a product between the largest and the bound, factors that keep their word."""
    found, info = sm.maximum_product_transversal(D, return_info=True)
    exact = sm.maximum_product_transversal(A)
    stages = [step.engine for step in info.steps]
    assert stages[0] == "reading"
    assert stages[-1] == "costs and duals"
    assert {"auction", "start"} & set(stages), "over ranks, or on one"
    assert comm.allgather(stages) == [stages] * comm.size
    assert (info.method, info.cardinality) == ("product", found.cardinality)
    k = found.cardinality
    assert k == exact.cardinality
    together = found.matching.gather()
    rows, cols = together.pairs()
    canonical = sp.csr_array(A, copy=True)
    canonical.sum_duplicates()
    magnitude = np.abs(canonical)
    matched = magnitude[rows, cols] if k else np.zeros(0)
    assert np.all(matched > 0)
    near = 1e-9 * max(1.0, k, abs(exact.objective))
    assert abs(np.log(matched).sum() - found.objective) < near
    assert found.objective <= exact.objective + near
    assert exact.objective <= found.upper_bound + near
    assert found.gap >= 0
    assert found.approximate == (found.gap > 0)
    assert all(there == found.gap for there in comm.allgather(found.gap))
    row_dual, col_dual = whole(comm, found.row_dual), whole(comm, found.col_dual)
    entries = magnitude.tocoo()
    entries.eliminate_zeros()
    slack = -np.log(entries.data) - row_dual[entries.row] - col_dual[entries.col]
    assert slack.min(initial=0) > -1e-9 * max(1, np.abs(slack).max(initial=0))
    assert np.allclose(np.log(whole(comm, found.row_scale)), row_dual)
    assert np.allclose(np.log(whole(comm, found.col_scale)), col_dual)
    if found.matching.is_perfect and k:
        scaled = np.log(matched) + row_dual[rows] + col_dual[cols]
        assert abs(-scaled.sum() - (found.upper_bound - found.objective)) < near
    return found, exact


def check_random_matrices(comm, folder):
    """Any shape and rank, duplicates, zeros, complex values; gathered and not."""
    for limit in (host.GATHERED, 0):
        PATCH.setattr(host, "GATHERED", limit)
        for A, D, rng in cases(comm):
            B = with_values(A, rng)
            found, exact = assert_transversal(comm, B, distribute(comm, B, D.row_starts.tolist()))
            if limit or comm.size == 1:
                assert not found.approximate
                assert np.isclose(found.objective, exact.objective)


def square(n, degree, rng):
    """A matrix of full rank with values over many magnitudes."""
    A = sp.eye_array(n) + sp.random_array((n, n), density=degree / n, rng=rng)
    A = sp.csr_array(A)[rng.permutation(n)]
    A.data = np.exp(3 * rng.normal(size=A.nnz))
    return A


def check_quality(comm, folder):
    """What the auction promises: a few percent for each pair; and the bound says so."""
    as_if_large()
    for seed, degree in enumerate((3, 10)):
        rng = np.random.default_rng(seed)
        A = square(300, degree, rng)
        found, exact = assert_transversal(comm, A, spread(comm, A, rng))
        assert exact.objective - found.objective <= 0.05 * 300
        assert found.gap <= 0.1 * 300
    # with a dominant diagonal, scrambled, it is found, and proved
    A = sp.csr_array(A + sp.diags_array(np.full(300, 1e8)))[rng.permutation(300)]
    found, _ = assert_transversal(comm, A, spread(comm, A, rng))
    assert not found.approximate


class PetscMatrix:
    """What petsc4py's Mat of type MPIAIJ answers."""

    def __init__(self, comm, block, first_row, shape):
        self.comm, self._block, self._first, self._shape = comm, block, first_row, shape

    def getSize(self):
        return self._shape

    def getOwnershipRange(self):
        return self._first, self._first + self._block.shape[0]

    def getValuesCSR(self):
        return self._block.indptr, self._block.indices, self._block.data


def superlu_dist(comm, D, b_local):
    """What pdgssvx does with SLU_NR_loc and NOROWPERM: it factorises without moving rows."""
    blocks = comm.allgather(D.to_local())
    assert D.first_row == sum(block.shape[0] for block in blocks[: comm.rank])
    A = sp.vstack(blocks).tocsc()
    assert np.all(A.diagonal() != 0), "NOROWPERM needs a zero-free diagonal"
    lu = sp.linalg.splu(A, permc_spec="NATURAL", diag_pivot_thresh=0.0)
    assert np.array_equal(lu.perm_r, np.arange(A.shape[0]))
    return lu.solve(whole(comm, b_local))


def check_scaled_and_permuted(comm, folder):
    """Of PETSc's matrix that which SuperLU_DIST is given has large entries on its diagonal."""
    for limit in (host.GATHERED, 0):
        PATCH.setattr(host, "GATHERED", limit)
        rng = np.random.default_rng(5)
        A, b = square(60, 4, rng), rng.random(60)
        starts = row_starts(rng, 60, comm.size)
        begin, end = starts[comm.rank : comm.rank + 2]
        D = sm.DistributedCSR.from_petsc(PetscMatrix(comm, A[begin:end], begin, A.shape))
        found = sm.maximum_product_transversal(D)
        moved = sm.permute_and_redistribute(D, found)
        p = found.matching.as_permutation()
        row_scale, col_scale = whole(comm, found.row_scale), whole(comm, found.col_scale)
        expected = (sp.diags_array(row_scale) @ A @ sp.diags_array(col_scale))[p]
        assert abs(moved.to_local() - expected[begin:end]).max() < 1e-12 if begin < end else True
        assert abs(expected).max() < 1 + 1e-12
        assert np.exp(np.log(expected.diagonal()).mean()) > 0.9
        y = superlu_dist(comm, moved, (row_scale * b)[p][begin:end])
        x = col_scale * y
        assert np.linalg.norm(A @ x - b) <= 1e-6 * np.linalg.norm(b)
        plain = sm.maximum_product_transversal(D, scaling=False)
        assert plain.row_scale is None
        assert plain.col_scale is None
        moved = sm.permute_and_redistribute(D, plain)
        assert begin == end or abs(moved.to_local() - A[p][begin:end]).max() == 0


if __name__ == "__main__":
    run_script(globals())
