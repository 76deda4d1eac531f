"""What every number of ranks must get right; tests/ranks/test_mpi.py starts this under mpiexec.

Each `check_*` is called by all ranks with the communicator and a folder for files. All ranks make
the same random matrix from a seed, and each keeps its part. A failure ends all ranks.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp

import oracle
import sparsematch as sm
from every_start import GIVEN, PATTERNS, fault, start_of
from rank_driver import PATCH, run_script
from sparsematch._engines.mpi.core import host, sides
from sparsematch._engines.mpi.matching import forest
from sparsematch._types.over_ranks import matrix
from strategies import build, partial_matching

#: Random matrices, by the number of ranks: on few cores many ranks wait for each other.
SEEDS = {1: 20, 2: 6, 3: 4, 4: 2}


def random_matrix(rng):
    """Any shape, empty ones too; duplicates, unsorted lists, both index types."""
    n_rows, n_cols = rng.integers(0, 40, 2)
    if rng.random() < 0.3:  # tall or wide
        n_rows, n_cols = rng.permutation([n_rows // 8, 2 * n_cols])
    n = int(rng.random() * 3 * max(n_rows, n_cols)) if n_rows and n_cols else 0
    rows, cols = rng.integers(0, max(n_rows, 1), n), rng.integers(0, max(n_cols, 1), n)
    return build(rows, cols, (int(n_rows), int(n_cols)), dtype=rng.choice([np.int32, np.int64]))


def row_starts(rng, n_rows, size):
    """Where the rows of each rank begin: anything, all on one rank, or first come, first served."""
    kind = rng.integers(4)
    if kind == 0:
        cuts = np.sort(rng.integers(0, n_rows + 1, size - 1))
    elif kind == 1:
        cuts = np.where(np.arange(size - 1) < rng.integers(size), 0, n_rows)
    elif kind == 2:  # a row for each rank, as far as there are some, and the rest for the last
        cuts = np.minimum(np.arange(1, size), n_rows)
    else:
        cuts = np.arange(1, size) * n_rows // size
    return [0, *cuts.tolist(), n_rows]


class Place(NamedTuple):
    """Where matrices over ranks are: in host memory, or on a GPU of each rank."""

    backend: str
    array: type
    put: Callable[..., Any]
    host: Callable[..., Any]

    def distribute(self, comm, A, starts):
        """Each rank its rows, with their values."""
        begin, end = starts[comm.rank : comm.rank + 2]
        here = sp.csr_array(A)[begin:end]
        if self.backend == "mpi":
            return sm.DistributedCSR.from_local(comm, here)
        arrays = here.indptr.astype(np.int64), here.indices, here.data
        indptr, indices, values = map(self.put, arrays)
        return sm.DistributedCSR(comm, indptr, indices, begin, A.shape, values)

    def spread(self, comm, A, seed):
        """Rows on ranks as they are drawn."""
        return self.distribute(
            comm, A, row_starts(np.random.default_rng(seed), A.shape[0], comm.size)
        )

    def spread_evenly(self, comm, A):
        n = A.shape[0]
        return self.distribute(comm, A, [n * k // comm.size for k in range(comm.size + 1)])

    def cases(self, comm):
        for seed in range(SEEDS[comm.size]):
            rng = np.random.default_rng([seed, comm.size])
            A = random_matrix(rng)
            yield A, self.spread(comm, A, rng), rng

    def gathered(self, matching):
        """The mates of all rows and columns, in host memory."""
        together = matching.gather()
        return self.host(together.row_mate), self.host(together.col_mate)


HOST = Place("mpi", np.ndarray, np.asarray, np.asarray)
distribute, spread, spread_evenly, cases = (
    getattr(HOST, name) for name in ("distribute", "spread", "spread_evenly", "cases")
)


def whole(comm, parts):
    return np.concatenate(comm.allgather(parts))


def assert_right(comm, A, D, matching, rank, place=HOST):
    """A maximum matching, by the oracle and by the library's own certificates."""
    assert isinstance(matching, sm.DistributedMatching)
    assert isinstance(matching.row_mate, place.array)
    assert matching.row_mate.dtype == matching.col_mate.dtype == D.dtype
    assert matching.cardinality == matching.gather().cardinality == rank
    oracle.assert_maximum(A, *place.gathered(matching))
    assert sm.is_matching(D, matching)
    assert sm.is_maximal(D, matching)
    assert sm.is_maximum(D, matching)
    rows, cols = (whole(comm, place.host(side)) for side in sm.vertex_cover(D, matching))
    assert len(rows) + len(cols) == rank
    in_cover = np.zeros(A.shape[0], bool), np.zeros(A.shape[1], bool)
    in_cover[0][rows], in_cover[1][cols] = True, True
    assert oracle.is_cover(A, *in_cover)


def check_random_matrices(comm, folder, place=HOST, before=lambda k: None):
    """Every engine from every start: maximum, and in host memory the same on each call.

    `before` is told the number of each matrix.
    """
    heuristics = [engine.name for engine in sm.engines("heuristic", backend=place.backend)]
    for k, (A, D, rng) in enumerate(place.cases(comm)):
        before(k)
        rank = sm.structural_rank(A)
        assert sm.structural_rank(D) == rank
        assert sm.is_structurally_singular(D) == (rank < min(A.shape))
        for init in ("none", *heuristics):
            how = {"method": "ms_bfs", "init": init, "rng": 7}
            matching, info = sm.maximum_transversal(D, return_info=True, **how)
            assert_right(comm, A, D, matching, rank, place)
            assert info.steps[-1].cardinality == info.cardinality == rank
            if place is HOST:
                again = sm.maximum_transversal(D, **how)
                assert np.array_equal(again.row_mate, matching.row_mate)
        for init in heuristics:
            matching = sm.maximum_transversal(D, method="none", init=init)
            oracle.assert_maximal(A, *place.gathered(matching))
            assert sm.is_maximal(D, matching)
            assert sm.is_maximum(D, matching) == (matching.cardinality == rank)
        mine = owned(D, partial_matching(A, rng), place)
        for method in ("auto", "ms_bfs"):
            matching = sm.maximum_transversal(D, method=method, initial=mine)
            assert_right(comm, A, D, matching, rank, place)


def owned(D, mates, place):
    """Those of the own rows and columns, where the matrix is."""
    sides = zip(mates, (D.own_rows, D.own_cols), strict=True)
    return tuple(place.put(side[own.start : own.stop]) for side, own in sides)


def check_auto_after_every_start(comm, folder):
    """Alone, gathered, and together, on matrices that other steps suit than random ones."""
    for limit in (0, host.GATHERED):
        PATCH.setattr(host, "GATHERED", limit)
        assert_auto_follows_every_start(comm, HOST)


def assert_auto_follows_every_start(comm, place):
    """The default of a back-end after each heuristic, from each kind of matching."""
    first = ["none", *(engine.name for engine in sm.engines("heuristic", backend=place.backend))]
    rng = np.random.default_rng(comm.size)
    for make, init, kind in itertools.product(PATTERNS, first, GIVEN[::2]):
        A, given = make(rng), None
        D = place.spread(comm, A, rng)
        if start := start_of(A, kind, rng):
            given = owned(D, start, place)
        mates = place.gathered(sm.maximum_transversal(D, init=init, initial=given))
        words = fault(A, mates, np.count_nonzero(start_of(A, GIVEN[-1], rng)[0] >= 0))
        assert not words, f"{make.__name__} after {init}, given {kind}: {words}"


def check_stored_zeros(comm, folder, place=HOST):
    """Dropped, they are as if never stored; entries of one place may cancel."""
    for A, _, rng in place.cases(comm):
        A = sp.csr_array(A).astype(float)
        A.data[:] = rng.choice([-1, 0, 1], A.data.size)
        D = sm.view(place.spread(comm, A, rng), zeros="drop")
        B = A.copy()
        B.sum_duplicates()
        B.eliminate_zeros()
        rank = sm.structural_rank(B)
        assert sm.structural_rank(D) == rank
        assert sm.is_structurally_singular(D) == (rank < min(A.shape))
        assert_right(comm, B, D, sm.maximum_transversal(D), rank, place)
        if place is not HOST:
            continue
        form = sm.block_triangular_form(D)
        assert form.n_blocks == sm.block_triangular_form(B).n_blocks
        assert sm.is_reducible(D) == (form.n_blocks > 1)
        assert sm.coarse_dulmage_mendelsohn(D).sizes == sm.coarse_dulmage_mendelsohn(B).sizes


def larger_matrices():
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


def as_if_large():
    """Let a matrix of any size be a large one: nothing is gathered, slices are small."""
    PATCH.setattr(sides, "_LEAST_SLICE", 64)
    PATCH.setattr(host, "GATHERED", 0)


def check_larger_matrices(comm, folder):
    """Many levels, phases and slices: small constants stand in for large matrices."""
    as_if_large()
    PATCH.setattr(forest, "_ANNOUNCED", 8)
    for A in larger_matrices():
        D = spread(comm, A, A.nnz)
        for how in ({"method": "auto"}, {"method": "ms_bfs", "init": "none"}):
            last = assert_searched(comm, A, D, HOST, **how)
            if how["method"] == "ms_bfs" and comm.size > 1:
                assert last.levels >= last.phases - 1  # the last has none if no tree can grow
                assert last.rounds > last.levels
        assert_parts(comm, A, D)


def assert_searched(comm, A, D, place, **how):
    """A maximum matching; the account of the last step, which a search of all has."""
    rank = sm.structural_rank(A)
    matching, info = sm.maximum_transversal(D, return_info=True, **how)
    assert_right(comm, A, D, matching, rank, place)
    last = info.steps[-1]
    if comm.size > 1:
        assert last.engine == "ms_bfs"
        if how["method"] == "ms_bfs":
            assert last.augmentations == rank
            assert last.phases >= 1
            assert last.bytes_sent > 0
    return last


def assert_parts(comm, A, D):
    parts, expected = sm.coarse_dulmage_mendelsohn(D), sm.coarse_dulmage_mendelsohn(A)
    assert parts.sizes == expected.sizes
    assert np.array_equal(whole(comm, parts.row_part), expected.row_part)
    assert np.array_equal(whole(comm, parts.col_part), expected.col_part)


def check_coarse_parts(comm, folder):
    """The same as those of one process, whatever the matching."""
    for A, D, _ in cases(comm):
        assert_parts(comm, A, D)


def check_permutation(comm, folder):
    """Rows move where `as_permutation` says, values with them; perm_r is its inverse."""
    for A, D, rng in cases(comm):
        B = sp.csr_array(A, copy=True)
        B.data = rng.random(B.nnz) + 1j
        D = distribute(comm, B, D.row_starts.tolist())
        moved, matching, expected = assert_rows_move(D, B)
        assert np.array_equal(moved.row_starts, D.row_starts)
        p = matching.as_permutation()
        assert np.array_equal(p, matching.gather().as_permutation())
        assert np.array_equal(moved.indices, expected.indices)
        if matching.is_perfect:
            assert sm.maximum_transversal(moved).cardinality == A.shape[0]
            entries = expected.tocoo()
            assert (entries.row + D.first_row == entries.col).sum() >= len(D.own_rows)


def assert_rows_move(D, B, place=HOST):
    """The matrix with its rows moved by a matching, which is returned too, and the own rows."""
    matching = sm.maximum_transversal(D)
    moved, p = sm.permute_and_redistribute(D, matching), place.host(matching.as_permutation())
    assert isinstance(moved.indices, place.array)
    assert np.array_equal(p[place.host(matching.perm_r())], np.arange(B.shape[0]))
    expected = B[p][D.own_rows.start : D.own_rows.stop]
    assert abs(moved.to_local() - expected).sum() == 0
    return moved, matching, expected


def check_files(comm, folder):
    """Each format, compressed or not, is read as SciPy reads it."""
    for seed, (A, _, rng) in enumerate(itertools.islice(cases(comm), 4)):
        A = sp.csr_array(A)
        A.sum_duplicates()
        A.data = np.round(rng.random(A.nnz), 6)
        for layout in ("csr", "csc", "coo"):
            for compressed in (True, False):
                path = folder / f"{seed}{layout}{compressed}.npz"
                if comm.rank == 0:
                    sp.save_npz(path, A.asformat(layout), compressed=compressed)
                comm.barrier()
                assert_read(comm, A, sm.read_distributed(path, comm))
        square = A[: min(A.shape), : min(A.shape)]
        for field, symmetry, B in (
            ("real", "general", A),
            ("pattern", "general", A.astype(bool).astype(float)),
            ("complex", "hermitian", square + square.T + 1j * (square - square.T)),
            ("real", "symmetric", square + square.T),
            ("real", "skew-symmetric", square - square.T),
        ):
            if 0 in B.shape:
                continue
            path = folder / f"{seed}{field}{symmetry}.mtx"
            how = {"field": field, "symmetry": symmetry, "comment": "one\n two", "precision": 12}
            if comm.rank == 0:
                scipy.io.mmwrite(path, sp.coo_array(B), **how)
            comm.barrier()
            assert_read(
                comm, scipy.io.mmread(path, spmatrix=False), sm.read_distributed(path, comm)
            )


def assert_read(comm, A, D):
    assert D.shape == A.shape
    assert np.array_equal(
        np.diff(D.row_starts), np.diff(np.arange(comm.size + 1) * A.shape[0] // comm.size)
    )
    together = sp.vstack(comm.allgather(D.to_local())) if A.shape[0] else sp.csr_array(A.shape)
    assert together.nnz == A.nnz
    assert abs(together - A).sum() < 1e-9


def check_wide_indices(comm, folder):
    """Kernels for 64 bits, as for matrices with more rows than 32 bits number."""
    PATCH.setattr(matrix, "INT32_MAX", -1)
    as_if_large()
    A = sp.random_array((300, 280), density=0.01, format="csr", rng=np.random.default_rng(9))
    D = spread(comm, A, 1)
    assert D.dtype == np.int64
    for how in ({}, {"init": "by_rank", "method": "ms_bfs"}, {"init": "none", "method": "ms_bfs"}):
        assert_right(comm, A, D, sm.maximum_transversal(D, **how), sm.structural_rank(A))
    assert_parts(comm, A, D)


def check_karp_sipser(comm, folder):
    """Where there is no cycle, degrees of one lead to a maximum matching, whatever the order."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 200))
        # each vertex but the first is joined to an earlier one, which is on the other side
        joined, side = [int(rng.integers(v)) for v in range(1, n)], [0]
        for u in joined:
            side.append(1 - side[u])
        number = np.where(side, np.cumsum(side), np.cumsum(1 - np.array(side))) - 1
        ends = [(u, v) if side[v] else (v, u) for v, u in enumerate(joined, start=1)]
        rows, cols = number[np.array(ends).T]
        shape = n - sum(side), sum(side)
        A = build(rows, cols, shape)
        A = sp.csr_array(A)[rng.permutation(shape[0])][:, rng.permutation(shape[1])]
        D = spread(comm, A, rng)
        matching = sm.maximum_transversal(D, init="karp_sipser", method="none")
        assert_right(comm, A, D, matching, sm.structural_rank(A))


def check_choice_of_start(comm, folder):
    """Neighbours near each other are matched rank by rank, others by Karp-Sipser."""
    PATCH.setattr(host, "GATHERED", 0)
    n, rng = 2000, np.random.default_rng(6)
    band = sp.csr_array(sp.diags_array(np.ones((3, n)), offsets=[0, 1, 5], shape=(n, n)))
    far = band[rng.permutation(n)][:, rng.permutation(n)]
    for A, first in ((band, "by_rank"), (far, "karp_sipser")):
        D = spread(comm, A, 3)
        matching, info = sm.maximum_transversal(D, return_info=True)
        assert_right(comm, A, D, matching, n)
        if comm.size > 1:
            assert [step.engine for step in info.steps] == [first, "ms_bfs"]
            assert "exchanges  MB sent" in repr(info)


if __name__ == "__main__":
    run_script(globals())
