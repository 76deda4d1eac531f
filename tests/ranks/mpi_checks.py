"""What every number of ranks must get right; tests/ranks/test_mpi.py starts this under mpiexec.

Each `check_*` is called by all ranks with the communicator and a folder for files. All ranks make
the same random matrix from a seed, and each keeps its part. A failure ends all ranks.
"""

import itertools

import numpy as np
import scipy.io
import scipy.sparse as sp

import oracle
import sparsematch as sm
from every_start import GIVEN, PATTERNS, fault, start_of
from rank_driver import run_script
from sparsematch._engines.mpi.core import host, sides
from sparsematch._engines.mpi.core.exchange import Exchange
from sparsematch._engines.mpi.matching import forest
from strategies import build, partial_matching

#: Random matrices, by the number of ranks: on few cores many ranks wait for each other.
SEEDS = {1: 40, 2: 12, 3: 6, 4: 4}


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


def distribute(comm, A, starts):
    begin, end = starts[comm.rank : comm.rank + 2]
    return sm.DistributedCSR.from_local(comm, sp.csr_array(A)[begin:end])


def cases(comm):
    for seed in range(SEEDS[comm.size]):
        rng = np.random.default_rng([seed, comm.size])
        A = random_matrix(rng)
        yield A, distribute(comm, A, row_starts(rng, A.shape[0], comm.size)), rng


def whole(comm, parts):
    return np.concatenate(comm.allgather(parts))


def assert_right(comm, A, D, matching, rank, host=np.asarray):
    """A maximum matching, by the oracle and by the library's own certificates.

    `host` copies an array of the library to host memory.
    """
    together = matching.gather()
    assert matching.cardinality == together.cardinality == rank
    oracle.assert_maximum(A, host(together.row_mate), host(together.col_mate))
    assert sm.is_matching(D, matching)
    assert sm.is_maximal(D, matching)
    assert sm.is_maximum(D, matching)
    rows, cols = (whole(comm, host(side)) for side in sm.vertex_cover(D, matching))
    assert len(rows) + len(cols) == rank
    in_cover = np.zeros(A.shape[0], bool), np.zeros(A.shape[1], bool)
    in_cover[0][rows], in_cover[1][cols] = True, True
    assert oracle.is_cover(A, *in_cover)


def check_random_matrices(comm, folder):
    """Every engine from every start: maximum, and the same on each call."""
    heuristics = [engine.name for engine in sm.engines("heuristic", backend="mpi")]
    for A, D, rng in cases(comm):
        rank = sm.structural_rank(A)
        assert sm.structural_rank(D) == rank
        assert sm.is_structurally_singular(D) == (rank < min(A.shape))
        for init in ("none", *heuristics):
            how = {"method": "ms_bfs", "init": init, "rng": 7}
            matching, info = sm.maximum_transversal(D, return_info=True, **how)
            assert_right(comm, A, D, matching, rank)
            assert info.steps[-1].cardinality == info.cardinality == rank
            again = sm.maximum_transversal(D, **how)
            assert np.array_equal(again.row_mate, matching.row_mate)
        for init in heuristics:
            matching = sm.maximum_transversal(D, method="none", init=init)
            together = matching.gather()
            oracle.assert_maximal(A, together.row_mate, together.col_mate)
            assert sm.is_maximal(D, matching)
            assert sm.is_maximum(D, matching) == (matching.cardinality == rank)
        start = partial_matching(A, rng)
        mine = (
            start[0][D.own_rows.start : D.own_rows.stop],
            start[1][D.own_cols.start :][: len(D.own_cols)],
        )
        for method in ("auto", "ms_bfs"):
            assert_right(comm, A, D, sm.maximum_transversal(D, method=method, initial=mine), rank)


def check_auto_after_every_start(comm, folder):
    """Alone, gathered, and together, on matrices that other steps suit than random ones."""
    for host.GATHERED in (0, 1_000_000):
        assert_auto_follows_every_start(comm, distribute, "mpi")


def assert_auto_follows_every_start(comm, distribute, backend, place=np.asarray, host=np.asarray):
    """The default of a back-end after each heuristic, from each kind of matching.

    `place` puts an array where the matrix is, `host` brings one back.
    """
    first = ["none", *(engine.name for engine in sm.engines("heuristic", backend=backend))]
    rng = np.random.default_rng(comm.size)
    for make, init, kind in itertools.product(PATTERNS, first, GIVEN[::2]):
        A, given = make(rng), None
        D = distribute(comm, A, row_starts(rng, A.shape[0], comm.size))
        if start := start_of(A, kind, rng):
            owned = zip(start, (D.own_rows, D.own_cols), strict=True)
            given = tuple(place(mates[own.start : own.stop]) for mates, own in owned)
        m = sm.maximum_transversal(D, init=init, initial=given).gather()
        mates = host(m.row_mate), host(m.col_mate)
        words = fault(A, mates, np.count_nonzero(start_of(A, GIVEN[-1], rng)[0] >= 0))
        assert not words, f"{make.__name__} after {init}, given {kind}: {words}"


def check_stored_zeros(comm, folder):
    """Dropped, they are as if never stored; entries of one place may cancel."""
    for A, _, rng in cases(comm):
        A = sp.csr_array(A).astype(float)
        A.data[:] = rng.choice([-1, 0, 1], A.data.size)
        D = distribute(comm, A, row_starts(rng, A.shape[0], comm.size))
        B = A.copy()
        B.sum_duplicates()
        B.eliminate_zeros()
        rank = sm.structural_rank(B)
        assert sm.structural_rank(sm.view(D, zeros="drop")) == rank
        assert sm.is_structurally_singular(sm.view(D, zeros="drop")) == (rank < min(A.shape))
        matching = sm.maximum_transversal(sm.view(D, zeros="drop"))
        together = matching.gather()
        oracle.assert_maximum(B, together.row_mate, together.col_mate)
        for call in (sm.is_matching, sm.is_maximal, sm.is_maximum):
            assert call(sm.view(D, zeros="drop"), matching)
        rows, cols = sm.vertex_cover(sm.view(D, zeros="drop"), matching)
        assert len(whole(comm, rows)) + len(whole(comm, cols)) == rank
        form = sm.block_triangular_form(sm.view(D, zeros="drop"))
        assert form.n_blocks == sm.block_triangular_form(B).n_blocks
        assert sm.is_reducible(sm.view(D, zeros="drop")) == (form.n_blocks > 1)
        parts = sm.coarse_dulmage_mendelsohn(sm.view(D, zeros="drop"))
        assert parts.sizes == sm.coarse_dulmage_mendelsohn(B).sizes


def check_larger_matrices(comm, folder):
    """Many levels, phases and slices: small constants stand in for large matrices."""
    sides._LEAST_SLICE, forest._ANNOUNCED, host.GATHERED = 64, 8, 0
    rng = np.random.default_rng(12)
    matrices = [sp.random_array((300, 300), density=3 / 300, format="csr", rng=rng)]
    n = 17
    ones = np.ones(n * n)
    grid = sp.diags_array([ones[1:], ones[1:], ones[n:], ones[n:]], offsets=[-1, 1, -n, n])
    scrambled = sp.csr_array(grid)[rng.permutation(n * n)][:, rng.permutation(n * n)]
    tall = sp.random_array((300, 70), density=0.012, format="csr", rng=rng)
    path = sp.diags_array([ones[:40], ones[:39]], offsets=[0, 1]).tocsr()[::-1]
    matrices += [sp.csr_array(grid), scrambled, tall, sp.csr_array(tall.T), path]
    for A in matrices:
        D = distribute(comm, A, row_starts(np.random.default_rng(A.nnz), A.shape[0], comm.size))
        rank = sm.structural_rank(A)
        for how in ({"method": "auto"}, {"method": "ms_bfs", "init": "none"}):
            matching, info = sm.maximum_transversal(D, return_info=True, **how)
            assert_right(comm, A, D, matching, rank)
            last = info.steps[-1]
            assert comm.size == 1 or last.engine == "ms_bfs"
            if how["method"] == "ms_bfs" and comm.size > 1:
                assert last.augmentations == rank
                assert last.phases >= 1
                assert last.levels >= last.phases - 1  # the last has none if no tree can grow
                assert last.rounds > last.levels
                assert last.bytes_sent > 0
        assert_parts(comm, A, D)
    sides._LEAST_SLICE, forest._ANNOUNCED, host.GATHERED = 1 << 16, 1 << 15, 1_000_000


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
        matching = sm.maximum_transversal(D)
        moved = sm.permute_and_redistribute(D, matching)
        assert np.array_equal(moved.row_starts, D.row_starts)
        p = matching.gather().as_permutation()
        assert np.array_equal(p, matching.as_permutation())
        assert np.array_equal(p[matching.perm_r()], np.arange(A.shape[0]))
        expected = B[p][D.own_rows.start : D.own_rows.stop]
        assert abs(moved.to_local() - expected).sum() == 0
        assert np.array_equal(moved.indices, expected.indices)
        if matching.is_perfect:
            assert sm.maximum_transversal(moved).cardinality == A.shape[0]
            assert (expected.tocoo().row + D.first_row == expected.tocoo().col).sum() >= len(
                D.own_rows
            )


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


def check_solver_libraries(comm, folder):
    """A matrix of PETSc's is permuted, and given to SuperLU_DIST with NOROWPERM."""
    rng = np.random.default_rng(5)
    A = sp.csr_array(sp.eye_array(50) + sp.random_array((50, 50), density=0.1, rng=rng))
    A, b = A[rng.permutation(50)], rng.random(50)
    starts = row_starts(np.random.default_rng(3), 50, comm.size)
    begin, end = starts[comm.rank : comm.rank + 2]
    mat = PetscMatrix(comm, A[begin:end], begin, (50, 50))
    D = sm.DistributedCSR.from_petsc(mat)
    matching = sm.maximum_transversal(D)
    moved = sm.permute_and_redistribute(D, matching)
    x = superlu_dist(comm, moved, b[matching.as_permutation()][begin:end])
    assert np.allclose(A @ x, b)
    place = matching.perm_r()  # what MY_PERMR is given
    assert np.array_equal(place[matching.pairs()[0]], matching.pairs()[1])


def superlu_dist(comm, D, b_local):
    """What pdgssvx does with SLU_NR_loc and NOROWPERM: it factorises without moving rows."""
    m_loc, fst_row, rowptr, colind, nzval = (
        len(D.own_rows),
        D.first_row,
        D.indptr,
        D.indices,
        D.values,
    )
    blocks = comm.allgather(sp.csr_array((nzval, colind, rowptr), shape=(m_loc, D.n_cols)))
    assert fst_row == sum(block.shape[0] for block in blocks[: comm.rank])
    A = sp.vstack(blocks).tocsc()
    assert np.all(A.diagonal() != 0), "NOROWPERM needs a zero-free diagonal"
    lu = sp.linalg.splu(A, permc_spec="NATURAL", diag_pivot_thresh=0.0)
    assert np.array_equal(lu.perm_r, np.arange(A.shape[0]))
    return lu.solve(whole(comm, b_local))


def check_exchange(comm, folder):
    """Elements arrive by sender, in order; queries are answered in theirs."""
    exchange = Exchange(comm)
    starts = np.arange(comm.size + 1) * 10
    rng = np.random.default_rng(comm.rank)
    keys = rng.integers(0, starts[-1], 30).astype(np.int32)
    values = np.arange(30) + 0.5
    got, sent, numbers = exchange.alltoallv(starts, keys, values, keys * 2)
    assert np.all((got >= starts[comm.rank]) & (got < starts[comm.rank + 1]))
    assert np.array_equal(numbers, 2 * got)
    assert np.count_nonzero(np.diff(sent) < 0) < comm.size
    assert exchange.allreduce(len(got))[0] == 30 * comm.size
    answers = exchange.query(starts, keys, lambda keys: keys * 3.0)
    assert np.array_equal(answers, keys * 3.0)
    table = starts[comm.rank] + np.arange(10)
    assert np.array_equal(exchange.lookup(starts, keys, table), keys)
    ends = np.cumsum([0, *range(comm.size)])
    assert np.array_equal(exchange.starts_of(comm.rank), ends)
    assert exchange.allreduce(comm.rank, 1, op="MAX") == [comm.size - 1, 1]
    assert exchange.any(comm.rank == comm.size - 1)
    own = np.full(comm.rank, comm.rank)
    expected = np.repeat(np.arange(comm.size), np.arange(comm.size))
    assert np.array_equal(exchange.allgatherv(own), expected)
    gathered = exchange.gatherv(own)
    assert (gathered is None) == (comm.rank > 0)
    part = exchange.scatterv(
        starts, np.arange(10 * comm.size) if comm.rank == 0 else None, np.int64
    )
    assert np.array_equal(part, np.arange(10) + 10 * comm.rank)


if __name__ == "__main__":
    run_script(globals())
