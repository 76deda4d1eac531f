"""Starts of searches over ranks, and kernels for 64 bits; see mpi_checks.py."""

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from mpi_checks import assert_parts, assert_right, distribute, row_starts
from rank_driver import run_script
from sparsematch._engines.mpi.core import host, sides
from sparsematch._types.over_ranks import matrix
from strategies import build


def check_wide_indices(comm, folder):
    """Kernels for 64 bits, as for matrices with more rows than 32 bits number."""
    limit, matrix.INT32_MAX = matrix.INT32_MAX, -1
    sides._LEAST_SLICE, host.GATHERED = 64, 0
    A = sp.random_array((300, 280), density=0.01, format="csr", rng=np.random.default_rng(9))
    D = distribute(comm, A, row_starts(np.random.default_rng(1), 300, comm.size))
    assert D.dtype == np.int64
    for how in ({}, {"init": "by_rank", "method": "ms_bfs"}, {"init": "none", "method": "ms_bfs"}):
        assert_right(comm, A, D, sm.maximum_transversal(D, **how), sm.structural_rank(A))
    assert_parts(comm, A, D)
    sides._LEAST_SLICE, host.GATHERED = 1 << 16, 1_000_000
    matrix.INT32_MAX = limit


def check_karp_sipser(comm, folder):
    """Where there is no cycle, degrees of one lead to a maximum matching, whatever the order."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 200))
        # each vertex but the first is joined to an earlier one of the other side
        side = rng.integers(0, 2, n)
        number = np.where(side == 0, np.cumsum(side == 0), np.cumsum(side == 1)) - 1
        rows, cols = [], []
        for v in range(1, n):
            others = np.flatnonzero(side[:v] != side[v])
            if others.size:
                u = others[rng.integers(others.size)]
                rows.append(number[v if side[v] == 0 else u])
                cols.append(number[u if side[v] == 0 else v])
        shape = max(1, int((side == 0).sum())), max(1, int((side == 1).sum()))
        A = build(np.array(rows, int), np.array(cols, int), shape, dtype=np.int32)
        A = sp.csr_array(A)[rng.permutation(shape[0])][:, rng.permutation(shape[1])]
        D = distribute(comm, A, row_starts(rng, shape[0], comm.size))
        matching = sm.maximum_transversal(D, init="karp_sipser", method="none")
        assert_right(comm, A, D, matching, sm.structural_rank(A))


def check_choice_of_start(comm, folder):
    """Neighbours near each other are matched rank by rank, others by Karp-Sipser."""
    host.GATHERED = 0
    n, rng = 2000, np.random.default_rng(6)
    band = sp.csr_array(sp.diags_array(np.ones((3, n)), offsets=[0, 1, 5], shape=(n, n)))
    far = band[rng.permutation(n)][:, rng.permutation(n)]
    for A, first in ((band, "by_rank"), (far, "karp_sipser")):
        D = distribute(comm, A, row_starts(np.random.default_rng(3), n, comm.size))
        matching, info = sm.maximum_transversal(D, return_info=True)
        assert_right(comm, A, D, matching, n)
        if comm.size > 1:
            assert [step.engine for step in info.steps] == [first, "ms_bfs"]
            assert "exchanges  MB sent" in repr(info)
    host.GATHERED = 1_000_000


if __name__ == "__main__":
    run_script(globals())
