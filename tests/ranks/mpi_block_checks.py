"""Fine blocks over ranks against those of one process; see mpi_checks.py."""

import itertools

import numpy as np
import scipy.sparse as sp

import coupled_pieces
import oracle
import sparsematch as sm
from mpi_checks import as_if_large, cases, spread, spread_evenly, whole
from rank_driver import PATCH, run_script
from sparsematch._engines.mpi.core import host
from sparsematch._engines.mpi.decomposition import strong_components


def assert_block_form(comm, A, D):
    """Valid, of the sizes that it says, and the partition of one process."""
    form, info = sm.block_triangular_form(D, return_info=True)
    expected = sm.block_triangular_form(A)
    stages = [step.engine for step in info.steps]
    assert stages[-3:] == ["coarse parts", "strong components", "block permutation"]
    assert comm.allgather(stages) == [stages] * comm.size
    assert info.cardinality == form.structural_rank
    assert all(step.seconds >= 0 for step in info.steps)
    assert form.n_blocks == expected.n_blocks
    assert form.structural_rank == expected.structural_rank
    assert form.is_reducible == expected.is_reducible == sm.is_reducible(D)
    row_block, col_block = whole(comm, form.row_block), whole(comm, form.col_block)
    entries = sp.coo_array(A)
    assert np.all(row_block[entries.row] <= col_block[entries.col]), "an entry is below the blocks"
    pairs = zip((row_block, col_block), oracle.block_labels(expected), strict=True)
    both = np.concatenate([np.stack(pair) for pair in pairs], axis=1)
    assert np.unique(both, axis=1).shape[1] == form.n_blocks, "another partition"
    sizes = whole(comm, form.block_sizes)
    for side, label in enumerate((row_block, col_block)):
        assert np.array_equal(sizes[:, side], np.bincount(label, minlength=form.n_blocks))
    firsts = comm.allgather((form.first_block, len(form.block_sizes)))
    assert firsts[0][0] == 0
    assert all(first + n == then for (first, n), (then, _) in itertools.pairwise(firsts))
    together = form.gather()
    for mine, theirs in zip(oracle.block_labels(together), (row_block, col_block), strict=True):
        assert np.array_equal(mine, theirs)
    assert np.array_equal(together.coarse_rows, expected.coarse_rows)
    assert np.array_equal(together.coarse_cols, expected.coarse_cols)
    n_free, rank = A.shape[1] - form.structural_rank, form.structural_rank
    mates = together.matching.row_mate[together.row_perm[:rank]]
    assert np.array_equal(mates, together.col_perm[n_free:]), "no pair on a diagonal"
    assert sm.is_block_form(A, together)


def check_random_matrices(comm, folder):
    """Any shape and rank; the rest by one rank, and everything over ranks."""
    for small in (host.GATHERED, 0):
        PATCH.setattr(host, "GATHERED", small)
        for A, D, _ in cases(comm):
            assert_block_form(comm, A, D)


def families(n, rng):
    """Square matrices whose blocks are many, deep, large, or of one kind."""
    k = np.arange(n)

    def matrix(rows, cols):
        rows, cols = np.concatenate([k, *rows]), np.concatenate([k, *cols])
        return sp.csr_array(sp.coo_array((np.ones(rows.size), (rows, cols)), shape=(n, n)))

    yield "diagonal", matrix([], [])
    yield "triangular", matrix([k[:-1]], [k[1:]])
    yield "cycle", matrix([k], [(k + 1) % n])
    pairs = k[1::2], k[1::2] - 1
    yield "chain of cycles", matrix([k[:-1], pairs[0]], [k[1:], pairs[1]])
    yield "cycles side by side", matrix([k[1::2], pairs[1]], [pairs[1], k[1::2]])
    tree = (k[1:] - 1) // 2
    yield "tree of cycles", matrix([tree, pairs[0]], [k[1:], pairs[1]])
    ring = k[: n // 2]
    tail = k[n // 2 - 1 :]
    yield "ring with a tail", matrix([ring, tail[:-1]], [np.roll(ring, 1), tail[1:]])
    yield "tail into a ring", matrix([ring, tail[1:]], [np.roll(ring, 1), tail[:-1]])
    for degree in (0.7, 1.2, 2.5):
        m = int(degree * n)
        yield f"random {degree}", matrix([rng.integers(0, n, m)], [rng.integers(0, n, m)])


def check_families(comm, folder):
    """In natural order, backwards and scrambled, with rows anywhere."""
    as_if_large()
    rng = np.random.default_rng(4)
    n = 200
    for name, A in families(n, rng):
        for order in (np.arange(n), np.arange(n)[::-1], rng.permutation(n)):
            B = A[order][:, order][rng.permutation(n)]
            assert_block_form(comm, B, spread(comm, B, rng))
        if name == "diagonal":
            continue
        # what is singular around a square part: wide and tall pieces
        wide = sp.random_array((7, 20), density=0.3, rng=rng)
        tall = sp.random_array((20, 9), density=0.3, rng=rng)
        C = sp.csr_array(sp.block_diag([wide, A, tall]))[rng.permutation(n + 27)]
        assert_block_form(comm, C, spread(comm, C, rng))


def check_coupled_pieces(comm, folder):
    """Pieces whose blocks SciPy knows, and every digraph of three vertices."""
    as_if_large()
    find, rng = coupled_pieces.find_over_ranks(comm), np.random.default_rng(comm.size)
    for A, want in [
        *(coupled_pieces.coupled(rng, (4, 10, 30)) for _ in range(6)),
        *(coupled_pieces.every_digraph(rng, 3, order) for order in (0, 3)),
    ]:
        assert coupled_pieces.fault(A, find(A, rng), want) is None


def check_few_rounds(comm, folder):
    """A chain of blocks is halved again and again, not taken apart from one end."""
    as_if_large()
    n, calls, by_labels = 1000, [], strong_components._Search.by_labels
    count = lambda self: calls.append(comm.rank) or by_labels(self)
    PATCH.setattr(strong_components._Search, "by_labels", count)
    chain = next(A for name, A in families(n, np.random.default_rng(0)) if name[:5] == "chain")
    for A in (chain, chain[::-1][:, ::-1]):
        calls.clear()
        D = spread_evenly(comm, A)
        assert sm.block_triangular_form(D).n_blocks == n // 2
        assert len(calls) <= 30, calls
        assert calls or comm.size == 1


if __name__ == "__main__":
    run_script(globals())
