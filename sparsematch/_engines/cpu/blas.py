"""The OpenBLAS in SciPy's wheels: where its functions are that tell and set its threads."""

import ctypes
from pathlib import Path

import scipy


def thread_functions() -> tuple[int, int]:
    """Return their addresses; zeros where SciPy has another BLAS, or one of the system."""
    home = Path(scipy.__file__).parent
    for path in (*home.parent.glob("scipy.libs/*openblas*"), *home.glob(".dylibs/*openblas*")):
        library = ctypes.CDLL(str(path))
        names = [f"scipy_openblas_{verb}_num_threads" for verb in ("get", "set")]
        if all(hasattr(library, name) for name in names):
            get, put = (ctypes.cast(getattr(library, name), ctypes.c_void_p) for name in names)
            return get.value or 0, put.value or 0
    return 0, 0
