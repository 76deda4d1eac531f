"""Ranks that are in different calls, or have different matrices, all raise; see mpi_checks.py."""

from functools import partial

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from mpi_faults import assert_raises_on_all
from rank_driver import run_script


def collective_calls(comm, folder, D, seed):
    """Every public call in which all ranks take part, by its name, on one matrix."""
    matching = sm.maximum_transversal(D, rng=seed)
    heavy = sm.maximum_product_transversal(D)
    edges = sm.maximal_matching(D, rng=seed)
    form = sm.block_triangular_form(D)
    path = folder / "eye.npz"
    if comm.rank == 0:
        sp.save_npz(path, sp.csr_array(np.eye(3)))
        sp.save_npz(path.with_name("wide.npz"), sp.csr_array(np.eye(3, 4)))
        np.save(path.with_suffix(".npy"), np.array([[0, 1]]))
    comm.barrier()
    one_argument = (
        *(sm.maximum_transversal, sm.structural_rank, sm.is_structurally_singular),
        *(sm.block_triangular_form, sm.is_reducible, sm.coarse_dulmage_mendelsohn),
        *(sm.maximum_product_transversal, sm.approximate_matching),
    )
    with_matching = sm.is_matching, sm.is_maximal, sm.is_maximum, sm.vertex_cover
    moved = sm.permute_and_redistribute
    return {
        **{call.__name__: partial(call, D) for call in one_argument},
        **{call.__name__: partial(call, D, matching) for call in with_matching},
        "a start": partial(sm.maximum_transversal, D, initial=matching),
        "permute_and_redistribute": partial(moved, D, matching),
        "the same with factors": partial(moved, D, heavy),
        "coarsen": partial(sm.coarsen, D, edges),
        "gather": matching.gather,
        "gather of edges": edges.gather,
        "gather of a form": form.gather,
        "construction": partial(sm.DistributedCSR, comm, *block_of(D), D.values),
        "from_local": partial(sm.DistributedCSR.from_local, comm, D.to_local()),
        "read_distributed": partial(sm.read_distributed, path, comm),
        "another file": partial(sm.read_distributed, path.with_name("wide.npz"), comm),
        "edges": partial(sm.read_distributed, path.with_suffix(".npy"), comm),
        "vertices": partial(sm.read_distributed, path, comm, n_vertices=3),
    }


def block_of(D):
    return D.indptr, D.indices, D.first_row, D.shape


def check_different_calls(comm, folder):
    """Ranks that are in different calls, or in one with different matrices, all raise."""
    own, n = np.arange(3) + 3 * comm.rank, 3 * comm.size
    D, other = (
        sm.DistributedCSR(comm, [0, 1, 2, 3], cols, own[0], (n, n), np.ones(3))
        for cols in (own, own[::-1])
    )
    calls, others = (
        collective_calls(comm, folder, matrix, seed) for seed, matrix in enumerate((D, other))
    )
    last, names = comm.rank == comm.size - 1, list(calls)
    for k, name in enumerate(names):
        for there in (names[k - 1], names[k - 7]):
            error = raised_by(calls[there if last else name])
            assert all(comm.allgather(error is not None)), (name, there)
            assert len(set(comm.allgather(str(error)))) == 1, (name, there)
    on_a_matrix = names[: names.index("construction")]
    for name in on_a_matrix:
        words = "all ranks must make the same calls, on the same objects"
        assert_raises_on_all(comm, RuntimeError, words, (others if last else calls)[name])


def raised_by(call):
    try:
        call()
    except Exception as error:
        return error


if __name__ == "__main__":
    run_script(globals())
