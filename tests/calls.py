"""How the tests run one engine alone, and make the matrices that several of them need."""

import os
import subprocess
import sys

import numpy as np
import scipy.sparse as sp

import sparsematch


def solve(A, engine, options=None, **how):
    """The matching that this engine alone makes of A, from nothing or from `initial`, and what it reports."""
    method, init = (engine.name, "none") if engine.kind == "exact" else ("none", engine.name)
    return sparsematch.maximum_transversal(A, method=method, init=init, options=options, return_info=True, **how)


def scrambled(A, seed):
    """A with its rows and columns in random order."""
    rng = np.random.default_rng(seed)
    A = sp.coo_array(A)
    rows, cols = rng.permutation(A.shape[0])[A.row], rng.permutation(A.shape[1])[A.col]
    return sp.csr_array((A.data, (rows, cols)), shape=A.shape)


def grid(n):
    """The pattern of the five-point operator on an n by n grid, without its diagonal."""
    place = np.arange(n * n, dtype=np.int32).reshape(n, n)
    here = np.concatenate([place[1:].ravel(), place[:, 1:].ravel()])
    there = np.concatenate([place[:-1].ravel(), place[:, :-1].ravel()])
    coords = np.concatenate([here, there]), np.concatenate([there, here])
    return sp.csr_array((np.ones(len(coords[0]), np.int8), coords), shape=(n * n, n * n))


def random_matrix(n_rows, n_cols, degree, seed):
    """Entries in random places, `degree` to a row on average, repeats left in."""
    rng = np.random.default_rng(seed)
    n = int(n_rows * degree)
    rows = np.sort(rng.integers(n_rows, size=n))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int32)
    indices = rng.integers(n_cols, size=n).astype(np.int32)
    return sp.csr_array((np.ones(n, np.int8), indices, indptr), shape=(n_rows, n_cols))


def frozen(A):
    """A copy of a csr or csc matrix that nobody can write to."""
    A = A.copy()
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    return A


def in_a_new_process(code, *arguments):
    """The process of another Python that runs this code, finding the same modules as this one; its output is piped."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
