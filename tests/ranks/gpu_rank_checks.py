"""What several GPUs must get right; tests/ranks/test_several_gpus.py starts this under mpiexec.

    mpiexec -n 2 python tests/ranks/gpu_rank_checks.py FOLDER [NAME ...]

Without names all checks run. Where there are GPUs, each rank uses the one of its number, and ranks
that share one exchange by way of the host; elsewhere a stand-in for CuPy and the kernels as
threaded C++ take their place. Checks are called as those of mpi_checks.py are.
"""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import mpi_checks
import oracle
import sparsematch as sm
import suitesparse
from every_start import as_if_large
from gpu_calls import CUPY, host, values_to_gpu
from gpu_ranks import assert_gathers, constants, distribute, on_own_gpus, use_own_gpu
from graphs import assert_maximal, graph, random_graph
from mpi_checks import SEEDS, random_matrix, row_starts, whole
from mpi_faults import assert_raises_on_all
from mpi_graph_checks import larger_graphs
from rank_driver import run_script
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching import gathered, min_degree
from strategies import partial_matching


def cases(comm):
    for seed in range(SEEDS[comm.size]):
        rng = np.random.default_rng([seed, comm.size])
        A = random_matrix(rng)
        yield A, distribute(comm, A, row_starts(rng, A.shape[0], comm.size)), rng


def assert_right(comm, A, D, matching, rank):
    """A maximum matching on the GPUs, by the oracle and by the library's own certificates."""
    assert isinstance(matching, sm.DistributedMatching)
    assert isinstance(matching.row_mate, CUPY.ndarray)
    assert matching.row_mate.dtype == matching.col_mate.dtype == D.dtype
    assert matching.gather().get().cardinality == rank
    mpi_checks.assert_right(comm, A, D, matching, rank, host)


def check_random_matrices(comm, folder):
    """Any partition, duplicates, both index types; every engine from every start."""
    heuristics = [engine.name for engine in sm.engines("heuristic", backend="nccl")]
    for k, (A, D, rng) in enumerate(cases(comm)):
        rank = sm.structural_rank(A)
        with constants(capacity=1 if k % 2 else 1 << 14, deep=1 + 3 * (k % 3)):
            assert sm.structural_rank(D) == rank
            assert sm.is_structurally_singular(D) == (rank < min(A.shape))
            for init in ("none", *heuristics):
                matching, info = sm.maximum_transversal(
                    D, method="ms_bfs", init=init, return_info=True
                )
                assert_right(comm, A, D, matching, rank)
                assert info.steps[-1].cardinality == info.cardinality == rank
            for init in heuristics:
                matching = sm.maximum_transversal(D, method="none", init=init)
                together = matching.gather().get()
                oracle.assert_maximal(A, together.row_mate, together.col_mate)
                assert sm.is_maximal(D, matching)
                assert sm.is_maximum(D, matching) == (matching.cardinality == rank)
            start = partial_matching(A, rng)
            rows, cols = D.own_rows, D.own_cols
            mine = (
                CUPY.asarray(start[0][rows.start : rows.stop]),
                CUPY.asarray(start[1][cols.start : cols.stop]),
            )
            for method in ("auto", "ms_bfs"):
                matching = sm.maximum_transversal(D, method=method, initial=mine)
                assert_right(comm, A, D, matching, rank)


def check_auto_after_every_start(comm, folder):
    """On each GPU alone, gathered, and over all of them."""
    on_gpus = distribute, "nccl", CUPY.asarray, host
    with pytest.MonkeyPatch.context() as patch:
        as_if_large(patch.setattr)
        mpi_checks.assert_auto_follows_every_start(comm, *on_gpus)
    with constants():
        mpi_checks.assert_auto_follows_every_start(comm, *on_gpus)


def check_stored_zeros(comm, folder):
    """Dropped where they are, on the GPU."""
    for A, _, rng in cases(comm):
        A = sp.csr_array(A).astype(np.float64)
        A.data[:] = rng.choice([-1, 0, 1], A.data.size)
        D = distribute(comm, A, row_starts(rng, A.shape[0], comm.size), values=True)
        B = A.copy()
        B.sum_duplicates()
        B.eliminate_zeros()
        matching = sm.maximum_transversal(sm.view(D, zeros="drop"))
        assert isinstance(matching.row_mate, CUPY.ndarray)
        together = matching.gather().get()
        oracle.assert_maximum(B, together.row_mate, together.col_mate)
        assert sm.is_maximum(sm.view(D, zeros="drop"), matching)


def matrices():
    """Many levels and phases, hubs, more rows than columns and the reverse."""
    rng = np.random.default_rng(12)
    n, ones = 17, np.ones(17 * 17)
    grid = sp.diags_array([ones[1:], ones[1:], ones[n:], ones[n:]], offsets=[-1, 1, -n, n])
    scrambled = sp.csr_array(grid)[rng.permutation(n * n)][:, rng.permutation(n * n)]
    tall = sp.random_array((300, 70), density=0.012, format="csr", rng=rng)
    path = sp.diags_array([ones[:40], ones[:39]], offsets=[0, 1]).tocsr()[::-1]
    rows, cols = rng.zipf(1.6, (2, 3000)).clip(1, 400) - 1
    skewed = sp.coo_array((np.ones(3000), (rows, cols)), shape=(400, 400)).tocsr()
    skewed = skewed[rng.permutation(400)][:, rng.permutation(400)]
    sparse = sp.random_array((900, 900), density=3 / 900, format="csr", rng=rng)
    return [sp.csr_array(A) for A in (grid, scrambled, tall, tall.T, path, skewed, sparse)]


def check_larger_matrices(comm, folder):
    """Every step of the search, with small send buffers and with short lists cut to parts."""
    for A in matrices():
        starts = row_starts(np.random.default_rng(A.nnz), A.shape[0], comm.size)
        D, rank = distribute(comm, A, starts), sm.structural_rank(A)
        for long, how in ((None, {"method": "auto"}), (4, {"method": "ms_bfs", "init": "none"})):
            with constants(capacity=1 if long else 7, long=long, deep=2 if long else 12):
                matching, info = sm.maximum_transversal(D, return_info=True, **how)
                assert_right(comm, A, D, matching, rank)
            last = info.steps[-1]
            assert comm.size == 1 or last.engine == "ms_bfs"
            if long and comm.size > 1:
                assert last.augmentations == rank
                assert last.path_edges >= rank
                assert last.levels >= last.phases
                assert last.rounds > last.phases
                assert last.bytes_sent > 0
                assert last.edges > 0
                assert last.carrier == ("NCCL" if on_own_gpus(comm) else "MPI")


def check_real_matrices(comm, folder):
    """A chemical plant, and where the others are, all coarse parts, tall and wide."""
    names = "west0479", "494_bus", "lp_25fv47", "celegansneural", "illc1033", "lp_scorpion"
    for A in (sp.csr_array(suitesparse.load(name)) for name in names if suitesparse.find(name)):
        starts = [A.shape[0] * k // comm.size for k in range(comm.size + 1)]
        D, rank = distribute(comm, A, starts), sm.structural_rank(A)
        with constants(capacity=64):
            assert_right(comm, A, D, sm.maximum_transversal(D), rank)
            assert sm.structural_rank(D, method="ms_bfs") == rank


def check_starts(comm, folder):
    """Uneven lists are started by degree, and the search ends when no column is left to match."""
    rng = np.random.default_rng(3)
    degrees = np.minimum(6 * rng.random(3000) ** (-1 / 1.2), 200).astype(int)
    rows = np.repeat(np.arange(3000), degrees)
    cols = (rng.random(rows.size) ** 3 * 2900).astype(int) * 1001 % 3000  # 100 without entries
    uneven = sp.csr_array((np.ones(rows.size, np.int8), (rows, cols)), shape=(3000, 3000))
    even = sp.random_array((500, 500), density=0.02, format="csr", rng=rng)
    for A, start in ((uneven, "min_degree"), (even, "cheap")):
        starts = [A.shape[0] * k // comm.size for k in range(comm.size + 1)]
        D, rank = distribute(comm, A, starts), sm.structural_rank(A)
        with constants(capacity=1 << 14, deep=12):
            matching, info = sm.maximum_transversal(D, return_info=True)
        assert_right(comm, A, D, matching, rank)
        if comm.size > 1:
            assert [step.engine for step in info.steps] == [start, "ms_bfs"]
    D, free = distribute(comm, uneven, row_starts(rng, 3000, comm.size)), {}
    occupied = len(np.unique(uneven.indices))
    for init in ("cheap", "min_degree"):
        matching, info = sm.maximum_transversal(D, method="ms_bfs", init=init, return_info=True)
        assert matching.cardinality == sm.structural_rank(uneven)
        free[init] = occupied - info.steps[0].cardinality
    assert 4 * free["min_degree"] < free["cheap"]


def with_rare_columns():
    """Long rows over 200 columns of many entries each, and 60 of 1 to 3 in some of ten rows."""
    rng = np.random.default_rng(8)
    rows, cols = rng.integers(0, 300, 20000), rng.integers(0, 200, 20000)
    sizes = rng.integers(1, 4, 60)
    few = rng.choice(300, 10, replace=False)
    rows = np.concatenate([rows, *(rng.choice(few, size, replace=False) for size in sizes)])
    cols = np.concatenate([cols, np.repeat(np.arange(200, 260), sizes)])
    return sp.csr_array((np.ones(rows.size), (rows, cols)), shape=(300, 260))


def check_rare_columns(comm, folder):
    """As many as possible are matched by the start, and no phase has to prove that."""
    A = with_rare_columns()
    rank, most = sm.structural_rank(A), sm.structural_rank(A[:, 200:])
    assert most < 60  # not all of them can be
    for dtype in (np.int32, np.int64):
        A.indptr, A.indices = A.indptr.astype(dtype), A.indices.astype(dtype)
        D = distribute(comm, A, row_starts(np.random.default_rng(5), 300, comm.size))
        together = sm.maximum_transversal(D, method="none", init="min_degree").gather().get()
        oracle.assert_maximal(A, together.row_mate, together.col_mate)
        assert np.count_nonzero(together.col_mate[200:] >= 0) == most
        matching, info = sm.maximum_transversal(
            D, method="ms_bfs", init="min_degree", return_info=True
        )
        assert_right(comm, A, D, matching, rank)
        assert info.steps[0].cardinality == rank == 200 + most
        assert info.steps[1].phases == 0


def check_wrong_degrees(comm, folder):
    """Degrees are counted by many threads in a byte each; a wrong one costs time, no pair."""
    A = with_rare_columns()
    D = distribute(comm, A, row_starts(np.random.default_rng(6), 300, comm.size))
    kept, rank = min_degree.degrees, sm.structural_rank(A)
    for wrong in (0, 1, 255):
        try:
            min_degree.degrees = lambda *_, wrong=wrong: CUPY.full(260, wrong, np.uint8)
            matching = sm.maximum_transversal(D, method="ms_bfs", init="min_degree")
        finally:
            min_degree.degrees = kept
        assert_right(comm, A, D, matching, rank)


def check_memory_bounds_what_is_gathered(comm, folder):
    """What does not fit in a third of the free memory stays where it is."""
    A = random_matrix(np.random.default_rng(1))
    D = distribute(comm, A, row_starts(np.random.default_rng(2), A.shape[0], comm.size))
    assert gathered.is_small(D)
    kept = gathered.SHARE
    try:
        gathered.SHARE = 0.0
        assert not gathered.is_small(D)
        assert_right(comm, A, D, sm.maximum_transversal(D), sm.structural_rank(A))
    finally:
        gathered.SHARE = kept


def check_gathered(comm, folder):
    """A small matrix is matched on one GPU; the account says so on all ranks."""
    for A, D, _ in itertools.islice(cases(comm), 6):
        matching, info = sm.maximum_transversal(D, return_info=True)
        assert_right(comm, A, D, matching, sm.structural_rank(A))
        (*_, last) = info.steps
        assert comm.size == 1 or "gathered on the GPU of rank 0" in last.reason
        assert comm.allgather(info.steps) == [info.steps] * comm.size


def check_graphs(comm, folder):
    """The matching of one process, to the last pair, with weights of both types."""
    rng = np.random.default_rng(7)
    loops = sp.csr_array(graph(60, rng.integers(0, 60, (200, 2))))
    graphs = {**larger_graphs(), "one": (sp.csr_array((1, 1)), True), "loops": (loops, True)}
    for name, (G, _) in graphs.items():
        for kind, weights in ((np.float64, True), (np.float32, True), (np.float64, False)):
            G = sp.csr_array(G).astype(kind)
            G.sort_indices()
            starts = row_starts(np.random.default_rng(len(name)), G.shape[0], comm.size)
            D = distribute(comm, G, starts, values=True)
            how = {"weights": weights, "rng": 3}
            expected = sm.approximate_matching(G.astype(np.float64), **how)
            matching = sm.approximate_matching(D, return_info=True, **how)
            together = matching.gather().get()
            assert np.array_equal(together.mate, expected.mate), name
            assert_maximal(G, together.mate)
            assert matching.cardinality == expected.cardinality
            ours = [matching.pairs(), matching.get().pairs()]
            assert all(np.array_equal(host(a), b) for a, b in zip(*ours, strict=True))
            assert np.array_equal(whole(comm, ours[1][0]), expected.pairs()[0])
            assert np.isclose(matching.weight, expected.weight, rtol=1e-6)
            cols = whole(comm, host(matching.col_mate))
            assert np.array_equal(cols, expected.mate)
            assert sm.is_matching(D, matching)
            (step,) = matching.info.steps
            assert step.engine == "local_max"
            assert len(step.matched) == step.phases
            assert not step.matched or step.matched[-1] == 2 * matching.cardinality


def check_repeated_entries(comm, folder):
    """Duplicates are added up; the larger of two is taken; what is not symmetric is refused."""
    G = random_graph(80, 5, seed=3)
    rows, cols = G.nonzero()
    repeated = sp.csr_array(
        (np.repeat(G.data, 2), np.repeat(G.indices, 2), 2 * G.indptr), shape=G.shape
    )
    starts = row_starts(np.random.default_rng(9), 80, comm.size)
    expected = sm.approximate_matching(repeated)
    matching = sm.approximate_matching(distribute(comm, repeated, starts, values=True))
    assert np.array_equal(matching.gather().get().mate, expected.mate)
    one_sided = sp.csr_array(G, copy=True)
    one_sided.data[(rows == rows[0]) & (cols == cols[0])] *= 3
    D = distribute(comm, one_sided, starts, values=True)
    expected = sm.approximate_matching(one_sided, symmetrize=True)
    matching = sm.approximate_matching(D, symmetrize=True)
    assert np.array_equal(matching.gather().get().mate, expected.mate)
    words = f"G[{rows[0]}, {cols[0]}] is an entry, but"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.approximate_matching(D))
    one_sided.data[0] = np.inf
    D = distribute(comm, one_sided, starts, values=True)
    words = "is inf, but weights must be finite"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.approximate_matching(D))


def check_moved_rows(comm, folder):
    """Rows move where the permutation says; copies in host memory are the same matrix."""
    for A, D, rng in itertools.islice(cases(comm), 4):
        B = sp.csr_array(A, copy=True)
        B.data = rng.random(B.nnz)
        D = distribute(comm, B, D.row_starts.tolist(), values=True)
        assert abs(D.to_local() - B[D.own_rows.start : D.own_rows.stop]).sum() == 0
        assert D.get().backend == "mpi"
        if D.own_rows and B.shape[1]:
            block = values_to_gpu(B[D.own_rows.start : D.own_rows.stop])
        else:
            block = None
        if all(comm.allgather(block is not None)):
            same = sm.DistributedCSR.from_local(comm, block)
            assert same.backend == "nccl"
            assert abs(same.to_local() - D.to_local()).sum() == 0
        assert sm.structural_rank(D.get()) == sm.structural_rank(A)
        matching = sm.maximum_transversal(D)
        moved = sm.permute_and_redistribute(D, matching)
        assert isinstance(moved.indices, CUPY.ndarray)
        p = host(matching.as_permutation())
        assert np.array_equal(p[host(matching.perm_r())], np.arange(A.shape[0]))
        assert abs(moved.to_local() - B[p][D.own_rows.start : D.own_rows.stop]).sum() == 0
        rows, cols = matching.pairs()
        assert np.array_equal(host(cols), host(matching.row_mate)[host(rows) - D.first_row])


def check_exchange(comm, folder):
    """Arrays arrive by ascending sender; sums and least elements are those of all ranks."""
    exchange = Exchange(comm, CUPY)
    assert exchange.carrier == ("" if comm.size == 1 else "NCCL" if on_own_gpus(comm) else "MPI")
    for dtype in (np.int32, np.int64):
        ranks = np.arange(comm.size)
        counts = ranks + comm.rank
        array = CUPY.full(int(counts.sum()), comm.rank, dtype)
        arrived = host(exchange.alltoallv_parts(array, counts, counts))
        expected = np.repeat(ranks, counts) if comm.size > 1 else []
        assert arrived.dtype == dtype
        assert np.array_equal(arrived, expected)
        others = host(exchange.allgather_others(array[: comm.rank], ranks))
        assert np.array_equal(others, np.repeat(ranks, ranks * (ranks != comm.rank)))
    numbers = CUPY.asarray(np.arange(5, dtype=np.int64) * (comm.rank + 1))
    exchange.allreduce_array(numbers, "MIN")
    assert np.array_equal(host(numbers), np.arange(5))
    bits = CUPY.asarray(np.full(3, 1 << comm.rank, np.uint32))
    exchange.allreduce_array(bits, "SUM")
    assert np.array_equal(host(bits), np.full(3, (1 << comm.size) - 1, np.uint32))
    assert exchange.allreduce(1, comm.rank) == [comm.size, comm.size * (comm.size - 1) // 2]
    assert exchange.rounds == 6 if comm.size > 1 else exchange.bytes_sent == 0
    assert_gathers(exchange)


if __name__ == "__main__":
    run_script(globals(), before=use_own_gpu)
