"""What several GPUs must get right; tests/ranks/test_mpi.py starts this under mpiexec.

    mpiexec -n 2 python tests/ranks/gpu_rank_checks.py FOLDER [NAME ...]

Without names all checks run. Where there are GPUs, each rank uses the one of its number, and ranks
that share one exchange by way of the host; elsewhere a stand-in for CuPy and the kernels as
threaded C++ take their place. Checks are called as those of mpi_checks.py are.
"""

import itertools
from functools import partial

import numpy as np
import scipy.sparse as sp

import mpi_checks
import mpi_faults
import oracle
import sparsematch as sm
import suitesparse
from every_start import as_if_large
from gpu_calls import CUPY, HAS_GPU, host, values_to_gpu
from graphs import assert_maximal, graph, random_graph
from mpi_checks import Place, larger_matrices, random_matrix, whole
from mpi_faults import assert_raises_on_all, block
from mpi_graph_checks import larger_graphs
from rank_driver import PATCH, run_script
from sparsematch._engines.nccl.core import layout
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching import forest, gathered, min_degree

GPUS = Place("nccl", CUPY.ndarray, CUPY.asarray, host)
cases, distribute, spread, spread_evenly = (
    getattr(GPUS, name) for name in ("cases", "distribute", "spread", "spread_evenly")
)
assert_right = partial(mpi_checks.assert_right, place=GPUS)


def constants(capacity=3, long=None, deep=3):
    """Let a small matrix be a large one: send buffers overflow, lists are cut."""
    PATCH.setattr(layout, "LEAST_CAPACITY", capacity)
    PATCH.setattr(forest, "DEEP", deep)
    PATCH.setattr(gathered, "GATHERED", 0)
    if long:
        PATCH.setattr(forest, "LONG", long)


def on_own_gpus(comm):
    return bool(HAS_GPU and comm.size <= CUPY.cuda.runtime.getDeviceCount() and has_nccl())


def has_nccl():
    try:
        from cupy.cuda import nccl
    except ImportError:
        return False
    return nccl.available


def use_own_gpu(comm):
    """Those of one machine share its GPUs by their numbers."""
    if HAS_GPU:
        CUPY.cuda.Device(comm.rank % CUPY.cuda.runtime.getDeviceCount()).use()


def check_random_matrices(comm, folder):
    """Any partition, duplicates, both index types; every engine from every start."""
    mpi_checks.check_random_matrices(
        *(comm, folder, GPUS),
        lambda k: constants(capacity=1 if k % 2 else 1 << 14, deep=1 + 3 * (k % 3)),
    )


def check_auto_after_every_start(comm, folder):
    """On each GPU alone, gathered, and over all of them."""
    as_if_large(PATCH.setattr)
    mpi_checks.assert_auto_follows_every_start(comm, GPUS)
    PATCH.undo()
    constants()
    mpi_checks.assert_auto_follows_every_start(comm, GPUS)


def check_stored_zeros(comm, folder):
    """Dropped where they are, on the GPU."""
    mpi_checks.check_stored_zeros(comm, folder, GPUS)


def check_larger_matrices(comm, folder):
    """Every step of the search, with small send buffers and with short lists cut to parts."""
    for A in larger_matrices():
        D = spread(comm, A, A.nnz)
        for long, how in ((None, {"method": "auto"}), (4, {"method": "ms_bfs", "init": "none"})):
            PATCH.undo()
            constants(capacity=1 if long else 7, long=long, deep=2 if long else 12)
            last = mpi_checks.assert_searched(comm, A, D, GPUS, **how)
            if long and comm.size > 1:
                assert last.path_edges >= last.augmentations
                assert last.levels >= last.phases
                assert last.rounds > last.phases
                assert last.edges > 0
                assert last.carrier == ("NCCL" if on_own_gpus(comm) else "MPI")


def check_real_matrices(comm, folder):
    """A chemical plant, and where the others are, all coarse parts, tall and wide."""
    names = "west0479", "494_bus", "lp_25fv47", "celegansneural", "illc1033", "lp_scorpion"
    for A in (sp.csr_array(suitesparse.load(name)) for name in names if suitesparse.find(name)):
        D, rank = spread_evenly(comm, A), sm.structural_rank(A)
        constants(capacity=64)
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
        D, rank = spread_evenly(comm, A), sm.structural_rank(A)
        constants(capacity=1 << 14, deep=12)
        matching, info = sm.maximum_transversal(D, return_info=True)
        assert_right(comm, A, D, matching, rank)
        if comm.size > 1:
            assert [step.engine for step in info.steps] == [start, "ms_bfs"]
    PATCH.undo()
    D, free = spread(comm, uneven, rng), {}
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
        D = spread(comm, A, 5)
        mates = GPUS.gathered(sm.maximum_transversal(D, method="none", init="min_degree"))
        oracle.assert_maximal(A, *mates)
        assert np.count_nonzero(mates[1][200:] >= 0) == most
        matching, info = sm.maximum_transversal(
            D, method="ms_bfs", init="min_degree", return_info=True
        )
        assert_right(comm, A, D, matching, rank)
        assert info.steps[0].cardinality == rank == 200 + most
        assert info.steps[1].phases == 0


def check_wrong_degrees(comm, folder):
    """Degrees are counted by many threads in a byte each; a wrong one costs time, no pair."""
    A = with_rare_columns()
    D, rank = spread(comm, A, 6), sm.structural_rank(A)
    for wrong in (0, 1, 255):
        degrees = CUPY.full(260, wrong, np.uint8)
        PATCH.setattr(min_degree, "degrees", lambda *_, degrees=degrees: degrees.copy())
        matching = sm.maximum_transversal(D, method="ms_bfs", init="min_degree")
        assert_right(comm, A, D, matching, rank)


def check_memory_bounds_what_is_gathered(comm, folder):
    """What does not fit in a third of the free memory stays where it is."""
    A = random_matrix(np.random.default_rng(1))
    D = spread(comm, A, 2)
    assert gathered.is_small(D)
    PATCH.setattr(gathered, "SHARE", 0.0)
    assert not gathered.is_small(D)
    assert_right(comm, A, D, sm.maximum_transversal(D), sm.structural_rank(A))


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
            D = spread(comm, G, len(name))
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
    expected = sm.approximate_matching(repeated)
    matching = sm.approximate_matching(spread(comm, repeated, 9))
    assert np.array_equal(matching.gather().get().mate, expected.mate)
    one_sided = sp.csr_array(G, copy=True)
    one_sided.data[(rows == rows[0]) & (cols == cols[0])] *= 3
    D = spread(comm, one_sided, 9)
    expected = sm.approximate_matching(one_sided, symmetrize=True)
    matching = sm.approximate_matching(D, symmetrize=True)
    assert np.array_equal(matching.gather().get().mate, expected.mate)
    words = f"G[{rows[0]}, {cols[0]}] is an entry, but"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.approximate_matching(D))
    one_sided.data[0] = np.inf
    D = spread(comm, one_sided, 9)
    words = "is inf, but weights must be finite"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.approximate_matching(D))


def check_moved_rows(comm, folder):
    """Rows move where the permutation says; copies in host memory are the same matrix."""
    for A, D, rng in itertools.islice(cases(comm), 4):
        B = sp.csr_array(A, copy=True)
        B.data = rng.random(B.nnz)
        D = distribute(comm, B, D.row_starts.tolist())
        assert abs(D.to_local() - B[D.own_rows.start : D.own_rows.stop]).sum() == 0
        assert D.get().backend == "mpi"
        if all(comm.allgather(bool(D.own_rows and B.shape[1]))):
            rows = values_to_gpu(B[D.own_rows.start : D.own_rows.stop])
            same = sm.DistributedCSR.from_local(comm, rows)
            assert same.backend == "nccl"
            assert abs(same.to_local() - D.to_local()).sum() == 0
        assert sm.structural_rank(D.get()) == sm.structural_rank(A)
        _, matching, _ = mpi_checks.assert_rows_move(D, B, GPUS)
        rows, cols = matching.pairs()
        assert np.array_equal(host(cols), host(matching.row_mate)[host(rows) - D.first_row])


def check_arrays_of_others(comm, folder):
    """They arrive by ascending sender, without the own one."""
    ranks = np.arange(comm.size)
    own = CUPY.full(comm.rank, comm.rank, np.int64)
    others = host(Exchange(comm, CUPY).allgather_others(own, ranks))
    assert np.array_equal(others, np.repeat(ranks, ranks * (ranks != comm.rank)))


def check_bad_input(comm, folder):
    """One clear error on all ranks, also where arrays are in host memory on one."""
    last = comm.size - 1
    front = f"rank {last}: " if last else ""
    on_host = {"indptr": np.array([0, 1, 2]), "indices": np.array([0, 1])}
    cases = [
        (front + "indices is in host memory, but indptr is on a GPU", {"indices": [0]}),
        (front + "values is in host memory, but indptr", {"values": np.ones(2)}),
    ]
    if comm.size > 1:
        mpi_faults.check_bad_blocks(comm, folder, CUPY)
        words = f"the arrays are on a GPU on rank 0, but in host memory on rank {last}"
        cases.append((words, on_host))
    for words, changes in cases:
        call = block(comm, CUPY, with_values=False, **changes)
        assert_raises_on_all(comm, TypeError, words, call)
    D = block(comm, CUPY)()
    empty = np.full(2, -1), np.full(len(D.own_cols), -1)
    words = "initial is on the host, but the matrix is on GPUs"
    assert_raises_on_all(comm, TypeError, words, lambda: sm.maximum_transversal(D, initial=empty))
    words = "done in host memory only"
    assert_raises_on_all(comm, TypeError, words, lambda: sm.coarse_dulmage_mendelsohn(D))


def check_wrong_matchings(comm, folder):
    mpi_faults.check_wrong_matchings(comm, folder, CUPY, host)


def fail_alone(comm, folder):
    """An unexpected error on one rank, within an engine."""
    error = RuntimeError("the device is on fire")
    mpi_faults.break_alone(comm, forest.Forest, "_launch", error)
    constants()
    sm.structural_rank(distribute(comm, np.eye(50), [0, *[50] * comm.size]))


if __name__ == "__main__":
    run_script(globals(), before=use_own_gpu)
