"""The matrix of a MATLAB file, up to version 7, read by SciPy in a process of its own.

SciPy's reader (`scipy.io.loadmat`) looks up any type that a file names in a table, also beyond its
end, so that a damaged file can end the process by a signal: that process is not the user's. This
module is its program, too: from standard input to an ``.npz`` of SciPy on standard output.
"""

import inspect
import io
import os
import subprocess
import sys
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse


def as_npz(content: bytes) -> bytes:
    """Return an ``.npz`` of the matrix in a file; ValueError says why not, or MemoryError."""
    command = [sys.executable, "-P", "-W", "ignore", __file__]
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, input=content, capture_output=True, env=known)
    if done.returncode == 0:
        return done.stdout
    said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    if said == "MemoryError":
        raise MemoryError
    if done.returncode != 1 or not said:
        said = f"is damaged: SciPy's reader ended with status {done.returncode}"
    raise ValueError(said)


def _matrix_of(content: bytes) -> Any:
    """Return the one matrix, in a field A of a structure too, as SuiteSparse has it."""
    # sparse arrays where there is a choice, whose default depends on the version
    has_choice = "spmatrix" in inspect.signature(scipy.io.loadmat).parameters
    how = {"spmatrix": False} if has_choice else {}
    variables = scipy.io.loadmat(io.BytesIO(content), **how)
    values = {k: _field_a(v) for k, v in variables.items() if not k.startswith("__")}
    found = {name: value for name, value in values.items() if _is_matrix(value)}
    found = {k: v for k, v in found.items() if scipy.sparse.issparse(v)} or found
    if len(found) > 1:
        sys.exit(f"holds {', '.join(found)}: save the one that is meant by itself")
    if not found:
        sys.exit(f"holds no matrix ({', '.join(values) or 'no variable at all'})")
    (matrix,) = found.values()
    by_columns = scipy.sparse.issparse(matrix) and matrix.format == "csc"
    return matrix if by_columns else scipy.sparse.csr_array(matrix)


def _field_a(value: Any) -> Any:
    fields = value.dtype.names if isinstance(value, np.ndarray) else None
    return value["A"].flat[0] if "A" in (fields or ()) and value.size else value


def _is_matrix(value: Any) -> bool:
    dense = isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biufc"
    return dense or scipy.sparse.issparse(value)


if __name__ == "__main__":
    try:
        matrix = _matrix_of(sys.stdin.buffer.read())
        scipy.sparse.save_npz(sys.stdout.buffer, matrix, compressed=False)
    except MemoryError:
        sys.exit("MemoryError")
    except Exception as error:  # SciPy's reader raises many types
        sys.exit(f"cannot read it: {' '.join(str(error).split()) or type(error).__name__}")
