"""Through how many files a call goes: ``python tests/meta/stays.py`` prints them.

A stay is a place where a function of this package is called from another file than its own, or from
outside the package. Each counts once, however often an iteration passes it; attributes that are
computed count as those that are stored, which is not at all, nor does the compiled core. The
process has run each call before, so imports are no part of it.
"""

import inspect
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from sparsematch import solvers

PACKAGE = Path(sm.__file__).parent


def small_matrix():
    """A square matrix with blocks of several sizes, by rows."""
    rows = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    cols = [0, 1, 1, 0, 2, 4, 3, 2, 4, 2, 5, 0]
    return sp.csr_array((np.arange(1.0, 13.0), (rows, cols)), shape=(6, 6))


def singular_matrix():
    """The same with a row that is a multiple of another."""
    dense = small_matrix().toarray()
    dense[3] = 2 * dense[2]
    dense[:, 3] = dense[:, 4]
    return sp.csr_array(dense)


#: What is followed: each call by name.
CALLS = {
    "block_triangular_form": lambda: sm.block_triangular_form(small_matrix()),
    "maximum_transversal": lambda: sm.maximum_transversal(small_matrix()),
    "splu": lambda: solvers.splu(small_matrix()),
    "lstsq": lambda: solvers.lstsq(small_matrix()[:, :4], np.ones(6)),
    "explain_singularity": lambda: sm.explain_singularity(singular_matrix(), numeric=True),
}


def stays(call):
    """The files that a call enters, in order, under the folder of the package."""
    entered = {}

    def follow(frame, event, _):
        if event != "call" or (file := _file_of(frame)) is None or _is_attribute(frame):
            return
        caller = frame.f_back
        if caller is None or _file_of(caller) != file:
            site = caller and (caller.f_code, caller.f_lineno)
            entered.setdefault((site, frame.f_code), file)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
        sys.setprofile(follow)
        try:
            call()
        finally:
            sys.setprofile(None)
    return list(entered.values())


def _is_attribute(frame):
    """Whether this reads an attribute of an object, as a property does."""
    owner = frame.f_locals.get("self")
    found = inspect.getattr_static(type(owner), frame.f_code.co_name, None)
    return isinstance(found, property)


def _file_of(frame):
    """The file of a frame under the folder of the package; None outside."""
    path = Path(frame.f_code.co_filename)
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else None


def of_ranks(files):
    """Those of the files that only matrices over ranks need."""
    return [file for file in files if {"over_ranks", "mpi", "nccl"} & set(Path(file).parts)]


if __name__ == "__main__":
    for name, call in CALLS.items():
        files = stays(call)
        counts = Counter(files)
        lines = [
            f"{name}: {len(files)} stays in {len(counts)} files, {len(of_ranks(files))} of ranks"
        ]
        if "-v" in sys.argv:
            lines += [f"  {count:4} {file}" for file, count in counts.most_common()]
        sys.stdout.write("\n".join(lines) + "\n")
