"""What the tests of the CUDA back-end share."""

import re
from importlib.metadata import PackageNotFoundError, files

import pytest

from sparsematch._engines.cuda.matching import one_block


@pytest.fixture
def no_matrix_is_small(monkeypatch):
    """Those of these tests would be solved by one block."""
    monkeypatch.setattr(one_block, "fits", lambda _: False)


@pytest.fixture(scope="session")
def nvrtc_library():
    """The path of the compiler, which needs no driver."""
    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "nvidia-cuda-nvrtc-cu12"):
        try:
            found = [f for f in files(package) if re.fullmatch(r"libnvrtc\.so\.\d+", f.name)]
        except PackageNotFoundError:
            continue
        if found:
            return str(found[0].locate())
    pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc")
