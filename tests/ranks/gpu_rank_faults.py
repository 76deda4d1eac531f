"""What goes wrong on one of several GPUs is raised on all ranks; see gpu_rank_checks.py."""

from functools import partial

import numpy as np

import mpi_faults
import sparsematch as sm
from gpu_calls import CUPY, host
from gpu_ranks import constants, distribute, use_own_gpu
from mpi_faults import assert_raises_on_all, block
from rank_driver import run_script
from sparsematch._engines.nccl.matching import forest


def check_bad_input(comm, folder):
    """One clear error on all ranks."""
    last = comm.size - 1
    front = f"rank {last}: " if last else ""
    without_values = partial(block, comm, CUPY, with_values=False)

    def put(*values):
        return CUPY.asarray(np.array(values))

    on_host = {"indptr": np.array([0, 1, 2]), "indices": np.array([0, 1])}
    for kind, words, changes in (
        (TypeError, front + "indices is in host memory, but indptr is on a GPU", {"indices": [0]}),
        (TypeError, front + "indptr must hold integers, not float64", {"indptr": put(0.0, 1, 2)}),
        (TypeError, front + "indices must hold integers, not float64", {"indices": put(0.0, 1)}),
        (ValueError, front + "indices[1] is 7, but the matrix has", {"indices": put(0, 7)}),
        (ValueError, front + "indices[0] is -1", {"indices": put(-1, 1)}),
        (ValueError, front + "indptr must not fall, but goes from 2", {"indptr": put(0, 2, 1)}),
        (ValueError, front + "indptr[0] is 1, but must be 0", {"indptr": put(1, 1, 2)}),
        (ValueError, front + "indices has 1 elements, but", {"indices": put(0)}),
        (TypeError, front + "values is in host memory, but indptr", {"values": np.ones(2)}),
    ):
        assert_raises_on_all(comm, kind, words, without_values(**changes))
    if comm.size > 1:
        words = f"the arrays are on a GPU on rank 0, but in host memory on rank {last}"
        assert_raises_on_all(comm, TypeError, words, without_values(**on_host))
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
    launch = forest.Forest._launch

    def break_down(self, *arguments):
        if comm.rank == comm.size - 1:
            raise RuntimeError("the device is on fire")
        launch(self, *arguments)

    forest.Forest._launch = break_down
    with constants():
        sm.structural_rank(distribute(comm, np.eye(50), [0, *[50] * comm.size]))


if __name__ == "__main__":
    run_script(globals(), before=use_own_gpu)
