"""Matrices over the GPUs of several ranks: gpu_rank_checks.py under mpiexec.

With GPUs if there are some, else with the stand-in for them; each start has a limit of time, so
that ranks that wait for each other for ever are a failure.
"""

import pytest

import gpu_rank_checks
from test_mpi import HERE, assert_passes, needs_mpi, start

pytestmark = pytest.mark.kernels


@needs_mpi
@pytest.mark.parametrize("n_ranks", [1, 3])
def test_results_are_right(n_ranks, tmp_path):
    assert len(gpu_rank_checks.CHECKS) >= 9
    assert_passes(n_ranks, gpu_rank_checks, gpu_rank_checks.CHECKS, tmp_path)


@needs_mpi
def test_a_rank_that_fails_ends_all(tmp_path):
    done = start(3, HERE / "gpu_rank_checks.py", tmp_path, "fail_alone")
    assert done.returncode == 1
    assert "rank 2 ends all ranks: " in done.stderr
    assert "the device is on fire" in done.stderr
    assert "passed" not in done.stdout
