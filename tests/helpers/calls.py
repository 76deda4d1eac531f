"""How the tests run one engine alone, and make the matrices that several of them need."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp

import gpu_calls
import oracle
import sparsematch
from sparsematch._systems.named_solvers import find_solver

#: What conftest.py has calls believe, so that no test depends on the machine.
CORES = 64

#: Whether the core was built with a sanitizer: calls take ten times as long.
SANITIZED = "san.so" in os.environ.get("LD_PRELOAD", "")


def few(*values):
    """Values to try, mostly numbers of workers; under a sanitizer the last alone."""
    return values[-1:] if SANITIZED else values


def solve(A, engine, options=None, **how):
    """The matching that this engine alone makes of A, from `initial` or none, and its report.

    A is in host memory and so is the answer, wherever the engine works.
    """
    if engine.backend == "cupy":
        return gpu_calls.solve(A, engine, options, **how)
    method, init = (engine.name, "none") if engine.kind == "exact" else ("none", engine.name)
    return sparsematch.maximum_transversal(
        A, method=method, init=init, options=options, return_info=True, **how
    )


def limited(solver="auto", **policy):
    """What chooses kernels, for `solver=`, by another policy: `Policy` of cost.hpp."""
    chooser = find_solver(solver)
    return chooser._replace(policy=chooser.policy | policy)


def outside(solver="auto"):
    """The same, which leaves every block of two rows or more to it."""
    return limited(solver, **{"forced": "superlu"} | find_solver(solver).policy, few_rows=1)


def here(solver="auto", **policy):
    """The same, which leaves no block to it before its factors fill up."""
    return limited(solver, few_rows=1 << 40, **policy)


def names(info):
    """The engines that were run, in order."""
    return [step.engine for step in info.steps]


def certified(A, **how):
    """The report of a call whose matching is certified to be maximum."""
    m, info = sparsematch.maximum_transversal(A, return_info=True, **how)
    certify(A, m)
    return info


def other_values(default):
    """Values of an option that differ from its default."""
    return [not default] if isinstance(default, bool) else [default / 8, default * 8]


def variants(engine):
    """The options an engine is run with: the defaults, then each option away from its default."""
    yield {}
    for name, default in engine.options.items():
        for value in other_values(default):
            yield {name: value}


def scrambled(A, seed):
    """A with its rows and columns in random order."""
    rng = np.random.default_rng(seed)
    A = sp.coo_array(A)
    rows, cols = rng.permutation(A.shape[0])[A.row], rng.permutation(A.shape[1])[A.col]
    return sp.csr_array((A.data, (rows, cols)), shape=A.shape)


def grid(n, width=None):
    """Five-point operator on n by n points, or n by `width`: its pattern without the diagonal."""
    place = np.arange(n * (width or n), dtype=np.int32).reshape(n, -1)
    here = np.concatenate([place[1:].ravel(), place[:, 1:].ravel()])
    there = np.concatenate([place[:-1].ravel(), place[:, :-1].ravel()])
    coords = np.concatenate([here, there]), np.concatenate([there, here])
    return sp.csr_array((np.ones(len(coords[0]), np.int8), coords), shape=(place.size, place.size))


def incidence(n):
    """The edges of that grid of n by n points, by points: 1 at one end, -1 at the other."""
    A = sp.triu(grid(n)).tocoo()
    signs, edges = np.repeat([1.0, -1.0], A.nnz), np.tile(np.arange(A.nnz), 2)
    return sp.csr_array((signs, (np.r_[A.row, A.col], edges)), shape=(n * n, A.nnz))


def shifted_path(n):
    """A bidiagonal matrix each of whose rows takes the column of the next one: a path is left."""
    A = sp.csr_array(sp.eye_array(n) + sp.eye_array(n, k=-1))
    return A[np.r_[1:n, 0]]


def random_matrix(n_rows, n_cols, degree, seed):
    """Entries in random places, `degree` to a row on average, repeats left in."""
    rng = np.random.default_rng(seed)
    n = int(n_rows * degree)
    rows = np.sort(rng.integers(n_rows, size=n))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]).astype(np.int32)
    indices = rng.integers(n_cols, size=n).astype(np.int32)
    return sp.csr_array((np.ones(n, np.int8), indices, indptr), shape=(n_rows, n_cols))


def frozen(A):
    """A copy of a csr or csc matrix that is read-only."""
    A = A.copy()
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    return A


def in_a_new_process(code, *arguments):
    """The process of another Python that runs this code; its output is piped."""
    return subprocess.Popen(
        [sys.executable, "-P", "-c", code, *arguments], stdout=subprocess.PIPE, text=True
    )


def run_python(*arguments, **how):
    """What another Python with these arguments has printed, and how it ended."""
    how = {"capture_output": True, "text": True, "timeout": 120, "check": False} | how
    return subprocess.run([sys.executable, *arguments], **how)


def ticks_during(call):
    """How often another thread gets on with its work while a call is made."""
    done, ticks = threading.Event(), []

    def tick():
        while not done.wait(0.001):
            ticks.append(1)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(tick)
        before = len(ticks)
        call()
        during = len(ticks) - before
        done.set()
    return during


def certify(A, m, rank=None):
    """Fail unless the matching is maximum: the library finds a cover of its size, checked here."""
    oracle.assert_matching(A, m.row_mate, m.col_mate)
    cover = sparsematch.vertex_cover(A, m)
    rows, cols = np.zeros(A.shape[0], bool), np.zeros(A.shape[1], bool)
    rows[cover.rows], cols[cover.cols] = True, True
    assert oracle.is_cover(A, rows, cols)
    assert cover.size == m.cardinality == (m.cardinality if rank is None else rank)


def batch_of(rng, dense, form, k, kind=float):
    """A matrix, and values for its pattern in the order of its data, with the dense matrices."""
    A = sp.coo_array(dense).asformat(form)
    values = A.data * (1 + rng.random((k, A.nnz))) * (1j if kind is complex else 1)
    whole = []
    for data in values:
        B = A.astype(values.dtype)
        B.data = data
        whole.append(B.toarray())
    return A, values, np.array(whole)
