"""Matrices over the GPUs of several ranks: gpu_rank_checks.py under mpiexec.

With GPUs if there are some, else with the stand-in for them.
"""

import pytest

import gpu_rank_checks
import gpu_rank_faults
from gpu_calls import MISSING
from rank_driver import assert_one_rank_ends_all, needs_mpi, over_ranks

pytestmark = pytest.mark.skipif(bool(MISSING), reason=str(MISSING))


@needs_mpi
@over_ranks((gpu_rank_checks, (1, 3)), (gpu_rank_faults, (1, 3)))
def test_over_ranks(check, assert_passes):
    assert_passes(check)


@needs_mpi
def test_a_rank_that_fails_ends_all(tmp_path):
    words = "the device is on fire"
    assert_one_rank_ends_all("gpu_rank_faults.py", tmp_path, "fail_alone", words, 1)
