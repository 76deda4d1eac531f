"""Local max and coarsening over ranks: as in one process; tests/ranks/test_mpi.py starts this.

Checks are called as those of mpi_checks.py are.
"""

from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import sparsematch as sm
from graphs import assert_maximal, graph, graphs, greedy, path, random_graph, save_edges, star
from mpi_checks import (
    as_if_large,
    distribute,
    row_starts,
    spread,
    spread_evenly,
    whole,
)
from mpi_faults import assert_raises_on_all, break_alone
from rank_driver import run_script
from sparsematch._engines.mpi.graph import local_max
from sparsematch._io import UnreadableFile

#: Random graphs, by the number of ranks: on few cores many ranks wait for each other.
EXAMPLES = {1: 60, 2: 40, 3: 15, 4: 10}


def assert_same(comm, G, D, **how):
    """The matching of one process, with all that the result says of it; the input untouched."""
    before = [array.copy() for array in (D.indptr, D.indices, D.values)]
    expected = sm.approximate_matching(G, **how)
    matching = sm.approximate_matching(D, **how)
    for array, old in zip((D.indptr, D.indices, D.values), before, strict=True):
        assert np.array_equal(array, old, equal_nan=array.dtype.kind == "f")
    assert isinstance(matching, sm.DistributedGraphMatching)
    assert matching.mate.dtype == D.dtype
    assert not matching.mate.flags.writeable
    parts = comm.allgather((matching.mate, matching.col_mate, *matching.pairs()))
    mate, col_mate, smaller, larger = map(np.concatenate, zip(*parts, strict=True))
    assert np.array_equal(mate, expected.mate)
    assert np.array_equal(col_mate, expected.mate)
    assert np.array_equal(smaller, expected.pairs()[0])
    assert np.array_equal(larger, expected.pairs()[1])
    assert matching.to_pyomo().items() <= expected.to_pyomo().items()
    assert len(matching.to_pyomo()) == np.count_nonzero(matching.mate >= 0)
    assert matching.cardinality == expected.cardinality == smaller.size
    assert matching.is_perfect == expected.is_perfect
    assert np.isclose(matching.weight, expected.weight, rtol=1e-12, atol=0)
    assert matching.guarantee == expected.guarantee == 0.5
    assert matching.shape == G.shape
    return matching


def the_same_on_all_ranks(comm):
    """Settings of a property: every rank generates the same examples."""
    return settings(
        max_examples=EXAMPLES[comm.size],
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def check_any_graph(comm, folder):
    """Loops, repeats, ties, zero and negative weights; any partition, ranks without a vertex."""

    @the_same_on_all_ranks(comm)
    @given(graphs(max_side=14), st.integers(0, 2**32), st.booleans())
    def check(G, seed, weights):
        G = sp.csr_array(G)
        D = spread(comm, G, seed)
        matching = assert_same(comm, G, D, weights=weights)
        together = matching.gather()
        assert_maximal(G, together.mate)
        assert np.array_equal(together.mate, greedy(G, weights))
        assert sm.is_matching(D, matching)
        # as of a matrix, of which an entry on the diagonal can be added
        assert sm.is_maximal(D, matching) == sm.is_maximal(G, together)
        if weights:
            assert_same(comm, G, D, rng=seed)
        else:
            assert np.array_equal(sm.maximal_matching(D).mate, matching.mate)

    check()


def larger_graphs():
    """Names, graphs, and whether they take few rounds."""
    rng = np.random.default_rng(2013)
    n = 40
    lines = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], shape=(n, n))
    grid = sp.csr_array(sp.kron(lines, sp.eye_array(n)) + sp.kron(sp.eye_array(n), lines))
    order = rng.permutation(n * n)
    upper = sp.triu(sp.random_array((300, 300), density=0.3, rng=rng), 1)
    climb = sp.csr_array(path(np.arange(1.0, 61.0)))
    mixed = rng.permutation(61)
    return {
        "random": (random_graph(3000, 6, seed=1), True),
        "dense": (sp.csr_array(upper + upper.T), True),
        "grid": (grid, True),
        "scrambled grid": (grid[order][:, order], True),
        "star": (star(500), True),
        "hubs": (sp.csr_array(graph(900, rng.zipf(1.7, (4000, 2)).clip(1, 899))), True),
        "ascending path": (climb, False),
        "scrambled path": (climb[mixed][:, mixed], False),
        "no edges": (sp.csr_array((50, 50)), True),
    }


def check_larger_graphs(comm, folder):
    """Many ghosts, hubs, and paths along which each vertex waits for the next one."""
    for name, (G, is_quick) in larger_graphs().items():
        anyhow = spread(comm, G, len(name))
        for D, weights in ((anyhow, False), (spread_evenly(comm, G), True)):
            how = {"weights": weights, "return_info": True, "workers": 1 + weights}
            matching = assert_same(comm, G, D, **how)
            (step,) = matching.info.steps
            assert step.engine == "local_max"
            assert step.rounds <= step.phases
            assert not is_quick or step.phases <= 12
            assert len(step.matched) == step.phases
            assert step.matched[-1] == 2 * matching.cardinality
            assert list(step.matched) == sorted(step.matched)
            assert step.edges >= G.nnz or name == "hubs"  # which has repeats
            assert comm.size > 1 or (step.phases, step.rounds, step.bytes_sent) == (1, 0, 0)
        if comm.size > 1 and name == "random":
            assert step.bytes_sent > 0


def check_unsymmetric(comm, folder):
    """The larger of two entries counts if the caller says so; else the same message on all."""
    as_if_large()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        A = sp.random_array((n, n), density=0.1, rng=rng, format="csr", data_sampler=rng.normal)
        starts = row_starts(rng, n, comm.size)
        for how in ({}, {"weights": False}):
            assert_same(comm, A, distribute(comm, A, starts), symmetrize=True, **how)
            for B in (A, sp.csr_array(A + A.T)):
                D = distribute(comm, B, starts)
                try:
                    sm.approximate_matching(B, **how)
                except ValueError as error:
                    call = lambda D=D, how=how: sm.approximate_matching(D, **how)
                    assert_raises_on_all(comm, ValueError, str(error), call)
                else:
                    assert_same(comm, B, D, **how)
    # the last rank alone has the entry without a partner, the first one its partner
    A = sp.csr_array(([1.0, 2.0], ([0, 8], [8, 0])), shape=(9, 9))
    D = spread(comm, A, 3)
    words = "G must be symmetric: G[0, 8] is an entry, but G[8, 0] is not of the same absolute"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.approximate_matching(D))


def check_bad_graphs(comm, folder):
    """What one rank finds wrong, or what differs between several, is raised on all."""
    n, last = 3 * comm.size, comm.rank == comm.size - 1
    ring = graph(n, [(v, (v + 1) % n) for v in range(n)], np.arange(n) + 1.0)
    D = spread_evenly(comm, ring)

    def call(graph=D, **changes):
        return lambda: sm.approximate_matching(graph, **(changes if last else {}))

    def refuse(kind, words, call):
        assert_raises_on_all(comm, kind, words, call)

    front = f"rank {comm.size - 1}: "
    words = "method is 'suitor', but must be one of 'auto', 'local_max'"
    refuse(ValueError, front + words, call(method="suitor"))
    refuse(TypeError, front + "symmetrize must be True or False", call(symmetrize=1))
    refuse(ValueError, front + "options['p'] is given", call(options={"p": 0.5}))
    refuse(ValueError, front + "workers is 0", call(workers=0))
    words = "must be the same on all ranks, but is"
    refuse(ValueError, f"weights {words} True on rank 0 and False", call(weights=False))
    refuse(ValueError, f"method {words} 'auto' on rank 0", call(method="local_max"))
    refuse(ValueError, f"the seed drawn from rng {words} 0 on rank 0", call(rng=3))
    infinite = sp.csr_array(ring, copy=True)
    infinite[n - 1, n - 2] = np.inf
    words = f"G[{n - 1}, {n - 2}] is inf, but weights must be finite"
    refuse(ValueError, words, call(spread_evenly(comm, infinite)))
    on_diagonal = sp.csr_array(ring + sp.diags_array([np.nan], offsets=0, shape=(n, n)))
    assert_same(comm, on_diagonal, spread_evenly(comm, on_diagonal))
    wide = sp.csr_array((n, n + 1))
    refuse(ValueError, f"G has shape ({n}, {n + 1}), but", call(spread_evenly(comm, wide)))
    local = D.indptr, D.indices, D.first_row, D.shape
    bare = sm.DistributedCSR(comm, *local)
    refuse(ValueError, "G has no values, which are the weights", call(bare))
    assert np.array_equal(
        sm.maximal_matching(bare).mate, sm.approximate_matching(D, weights=False).mate
    )
    names = sm.DistributedCSR(comm, *local, np.full(D.local_nnz, "a"))
    refuse(TypeError, "G.data must hold numbers, not <U1", call(names))


def check_types_of_values(comm, folder):
    """Magnitudes of complex numbers, integers, floats: those of one process."""
    rng = np.random.default_rng(8)
    G = random_graph(60, 5, seed=3)
    for dtype in (np.float32, np.int16, np.complex128, np.bool_):
        A = G.copy()
        A.data = (100 * A.data).astype(dtype)
        if dtype is np.complex128:
            A.data = A.data * 1j
        assert_same(comm, A, spread(comm, A, rng))


def check_files_of_edges(comm, folder):
    """All ranks read a part; loops vanish, the heaviest of several edges stays."""
    rng = np.random.default_rng(21)
    for k, (n, m) in enumerate([(30, 90), (5, 60), (1, 2), (40, 0)]):
        u, v = rng.integers(0, n, (2, m)).astype(np.int32)
        chunks = {"weighted": (u, v, rng.random(m) - 0.5), "bare": (u, v)}
        for kind, chunk in chunks.items():
            file = folder / f"{k}{kind}.npy"
            if comm.rank == 0:
                save_edges(file, *chunk)
            comm.barrier()
            D = sm.read_distributed(file, comm, n_vertices=n)
            assert D.shape == (n, n)
            expected = sm.edge_files.match_edge_file(file, n_vertices=n)
            matching = sm.approximate_matching(D, weights=kind == "weighted")
            assert matching.gather() == expected
            assert np.isclose(matching.weight, expected.weight, rtol=1e-12)
            found = sm.read_distributed(file, comm).n_rows
            assert found == (max(u.max(), v.max()) + 1 if m else 0)
    few = lambda: sm.read_distributed(folder / "0bare.npy", comm, n_vertices=3)
    assert_raises_on_all(comm, UnreadableFile, "but the vertices are 0 to 2", few)
    wrong = lambda: sm.read_distributed(folder / "a.mtx", comm, n_vertices=3)
    assert_raises_on_all(comm, ValueError, "is no file of edges (.npy)", wrong)


def together(comm, D):
    """The matrix of all ranks, on each."""
    return sp.csr_array(sp.vstack(comm.allgather(D.to_local()), format="csr"))


def assert_coarsened(comm, G, D, mate):
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


def check_coarsening(comm, folder):
    """Loops, repeats, explicit zeros; any partition, ranks without a vertex."""

    @the_same_on_all_ranks(comm)
    @given(graphs(max_side=14), st.integers(0, 2**32), st.booleans())
    def check(G, seed, complex_values):
        G = sp.csr_array(G).astype(complex) * (2 - 1j) if complex_values else sp.csr_array(G)
        D = spread(comm, G, seed)
        assert_coarsened(comm, G, D, sm.maximal_matching(abs(G)).mate)

    check()


def check_coarse_levels(comm, folder):
    """A coarse matrix is coarsened again, until it is small; pairs that are no edges."""
    as_if_large()
    rng = np.random.default_rng(3)
    G = sp.csr_array(random_graph(2000, 5, seed=2))
    D = spread(comm, G, rng)
    while G.shape[0] > 50:
        matching = sm.approximate_matching(D)
        mate = whole(comm, matching.mate)
        coarse, expected = assert_coarsened(comm, G, D, mate)
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
        assert_coarsened(comm, B, spread(comm, B, rng), mate)


def check_coarsening_refused(comm, folder):
    """What is wrong on one rank is said on all."""
    n = 2 * comm.size
    begin = 2 * comm.rank
    G = sp.csr_array(np.ones((n, n)))[begin : begin + 2]
    D = sm.DistributedCSR.from_local(comm, G)
    last = comm.rank == comm.size - 1
    pair = np.array([begin + 1, begin])
    front = "" if comm.size == 1 else f"rank {comm.size - 1}: "
    no_pairs = (
        f"{front}matching is not a matching of this matrix: row {n - 2} is paired with row {n}"
    )
    bare = sm.DistributedCSR(comm, [0, 1, 2], [0, 1], begin, (n, n))
    for words, matrix, mates, how in (
        (f"the mate of vertex {n - 2} is another one", D, np.array([begin, begin + 1]), {}),
        (no_pairs, D, np.array([n, -1]), {}),
        ("the mates of the rows of this rank have length 1, not 2", D, pair[:1], {}),
        ("join_unmatched is True, but over ranks", D, pair, {"join_unmatched": True}),
        ("G has no values, which are added up", bare, pair, {}),
    ):
        call = partial(sm.coarsen, matrix, mates if last else pair, **how)
        assert_raises_on_all(comm, ValueError, words, call)
    words = "this is done in one process only"
    assert_raises_on_all(comm, TypeError, words, lambda: sm.coarsening_hierarchy(D))


def check_memory(comm, folder):
    """A rank takes 4 times its part of the matrix, and some words per own vertex, at its peak."""
    n, degree = 400_000, 12
    rng = np.random.default_rng(6)
    offsets = rng.integers(1, n, degree // 2)  # a circulant: each rank makes its rows alone
    first, end = (n * (comm.rank + k) // comm.size for k in (0, 1))
    n_own = end - first
    own = np.arange(first, first + n_own)[:, None]
    cols = np.sort((own + np.concatenate([offsets, -offsets])) % n, axis=1).astype(np.int32)
    indptr = np.arange(n_own + 1, dtype=np.int64) * degree
    difference = np.minimum((cols - own) % n, (own - cols) % n)
    D = sm.DistributedCSR(comm, indptr, cols.ravel(), first, (n, n), 1.0 / difference.ravel())
    del cols, own, difference
    share = sum(array.nbytes for array in (D.indptr, D.indices, D.values))
    comm.barrier()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is the present size
    before = resident("VmRSS")
    matching = sm.approximate_matching(D)
    used = resident("VmHWM") - before
    assert matching.cardinality > n // 3
    assert used + share <= 4 * share + 10 * 8 * n_own, (used, share)


def resident(which):
    (line,) = [x for x in Path("/proc/self/status").read_text().splitlines() if which in x]
    return 1024 * int(line.split()[1])


def fail_alone(comm, folder):
    """One rank has an unexpected error, within the engine."""
    break_alone(comm, local_max, "operations", RuntimeError("the disk is on fire"))
    sm.approximate_matching(spread_evenly(comm, random_graph(60, 5, seed=3)))


if __name__ == "__main__":
    run_script(globals())
