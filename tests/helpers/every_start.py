"""Every engine after every heuristic, on matrices where most steps of `auto` have work to do.

What a step presumes of the matching that it gets shows where another step, or the caller, has made
one. The judge is SciPy's matching and a look at each pair.
"""

import itertools
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

import gpu_calls
import sparsematch as sm
from calls import variants
from coupled_pieces import coupled
from sparsematch._engines.cpu.matching import auto as host_auto
from sparsematch._engines.cuda.matching import choice as device_choice
from sparsematch._engines.cuda.matching import one_block, rare_columns
from strategies import partial_matching

FORMATS = "csr", "csc", "coo"
GIVEN = "nothing", "no pair", "some pairs", "a maximal one", "a maximum one"


def pieces(rng, scale=1):
    """Coupled pieces, with entries missing, rows or columns folded together, or left out."""
    A = coupled(rng, (4 * scale, 10 * scale, 30 * scale), (0.4, 0.3, 0.3))[0]
    keep = rng.random(A.nnz) < rng.choice([0.7, 0.9, 1.0])
    rows, cols, (m, n) = A.row[keep], A.col[keep], A.shape
    fold = rng.integers(4)
    if fold == 1:
        n = max(n // 2, 1)
        cols = cols % n
    if fold == 2:
        m = max(m // 3, 1)
        rows = rows % m
    return build(rows, cols, (m + int(rng.integers(3)), n + int(rng.integers(3))))


def hubs(rng, scale=1):
    """Hubs with leaves on one side or both, and some entries between leaves."""
    n, n_hubs = int(rng.integers(80, 300)) * scale, int(rng.integers(1, 4))
    leaves = np.arange(n_hubs, n)
    own, some = rng.integers(0, n_hubs, leaves.size), leaves[rng.random(leaves.size) < 0.2]
    near = leaves[:: rng.integers(1, 9)]
    pairs = (own, leaves), (leaves, own[::-1]), (near, np.roll(near, 1)), (some, some[::-1])
    kept = [pairs, pairs[::2], pairs[1:], pairs[:2]][rng.integers(4)]
    rows, cols = (np.concatenate(side) for side in zip(*kept, strict=True))
    return build(rows, cols, (n, n + int(rng.integers(3)) * n // 10))


def ends(rng, scale=1):
    """No two rows begin, or end, in the same column; there may be more columns than rows."""
    m = int(rng.integers(5, 60)) * scale
    n = m + int(rng.choice([0, 1, m // 5, m]))
    first = np.sort(rng.permutation(n)[:m])
    rows, cols = np.repeat(np.arange(m), 3), np.repeat(first, 3)
    cols[1::3] += rng.integers(0, 4, m)
    cols[2::3] += rng.integers(0, 9, m)
    if rng.random() < 0.5:
        cols = n - 1 - cols
    inside = (cols >= 0) & (cols < n)
    return build(rng.permutation(m)[rows[inside]], cols[inside], (m, n))


def symmetric(rng, scale=1):
    """A graph's pattern, with or without a few entries on the diagonal, sparse or with leaves."""
    n = int(rng.integers(5, 90)) * scale
    i, j = rng.integers(0, n, (2, int(n * rng.choice([0.6, 1.0, 2.0]))))
    i, j = (np.append(side, k) for side, k in ((i, [0, 1, 1, 2]), (j, [1, 0, 2, 1])))
    off = i != j
    own = np.flatnonzero(rng.random(n) < rng.choice([0, 0.1, 1.0]))
    return build(np.r_[i[off], j[off], own], np.r_[j[off], i[off], own], (n, n))


def uneven(rng, scale=1):
    """Ten entries a row and a few long rows, or three entries with many rows of one."""
    m, n = rng.integers(20, 60, 2) * scale
    size = rng.geometric(rng.choice([0.1, 0.35]), m)
    size[: rng.integers(4)] = n
    rows = np.repeat(np.arange(m), np.minimum(size, n))
    return build(rows, rng.integers(0, n, rows.size), (int(m), int(n)))


PATTERNS = pieces, hubs, ends, symmetric, uneven


def build(rows, cols, shape):
    """The pattern of these entries, without repeats."""
    A = sp.coo_array((np.ones(len(rows), np.int8), (rows, cols)), shape=shape)
    A.sum_duplicates()
    return A


def as_format(A, form, rng):
    """The matrix in a format, with indices of 32 or 64 bits, each list in any order."""
    index = rng.choice([np.int32, np.int64])
    order = rng.permutation(A.nnz) if rng.random() < 0.5 else np.arange(A.nnz)
    B = sp.coo_array((A.data[order], (A.row[order], A.col[order])), shape=A.shape)
    if form == "coo":
        return B
    B = B.asformat(form)
    B.indptr, B.indices = B.indptr.astype(index), B.indices.astype(index)
    return B


def start_of(A, kind, rng):
    """A matching to be given, as both mates, or None."""
    if kind == "nothing":
        return None
    if kind == "no pair":
        return np.full(A.shape[0], -1), np.full(A.shape[1], -1)
    if kind == "a maximum one":
        return maximum(A)
    return partial_matching(A, rng, 1.0 if kind == "a maximal one" else 0.4)


def maximum(A):
    """The mates of rows and columns in a maximum matching, by SciPy."""
    row_mate = sp.csgraph.maximum_bipartite_matching(sp.csr_array(A), perm_type="column")
    rows, col_mate = np.flatnonzero(row_mate >= 0), np.full(A.shape[1], -1)
    col_mate[row_mate[rows]] = rows
    return row_mate, col_mate


def choices(backend):
    """Each heuristic, or none, before each exact engine, or none: their names and options.

    All options at their defaults, then each of them away from it.
    """
    exact, first = ((None, *sm.engines(kind, backend=backend)) for kind in ("exact", "heuristic"))
    for pair in itertools.product(exact, first):
        options = [o for engine in pair if engine for o in variants(engine) if o]
        names = [engine.name if engine else "none" for engine in pair]
        yield from ((*names, o) for o in (None, *options))
    yield from ((engine.name, "auto", None) for engine in exact if engine)


def fault(A, mates, rank):
    """What is wrong with a matching in host memory, or None; `rank`: of how many pairs, or None."""
    row_mate, col_mate = mates
    if (row_mate.size, col_mate.size) != A.shape:
        return f"mates of {row_mate.size} rows and {col_mate.size} columns"
    rows, cols = np.flatnonzero(row_mate != -1), np.flatnonzero(col_mate != -1)
    if not np.array_equal(np.sort(row_mate[rows]), cols):
        return f"{rows.size} rows have {np.unique(row_mate[rows]).size} mates, {cols.size} columns"
    if not np.array_equal(col_mate[row_mate[rows]], rows):
        return "mates disagree"
    there = np.zeros(A.shape[0], bool)
    there[A.row[row_mate[A.row] == A.col]] = True
    if not there[rows].all():
        return "pairs that are no entries"
    return None if rank in (None, rows.size) else f"{rows.size} pairs for {rank}"


def wrong(A, rank, how, form, kind, backend, rng):
    """Match by one choice of engines from one kind of given matching; what is wrong, or None."""
    (method, init, options), given = how, start_of(A, kind, rng)
    B, start, others = as_format(A, form, rng), given, {"workers": int(rng.choice([1, 1, 3, 9]))}
    if backend == "cupy":
        B, start, others = gpu_calls.to_gpu(B), given and gpu_calls.mates_to_gpu(given), {}
    others |= {"method": method, "init": init, "options": options, "initial": start}
    with gpu_calls.one_call if backend == "cupy" else nullcontext():
        m, info = sm.maximum_transversal(B, return_info=True, **others)
    mates = [gpu_calls.host(side) for side in (m.row_mate, m.col_mate)]
    found = fault(A, mates, None if method == "none" else rank)
    pushed = "push_relabel" in [step.engine for step in info.steps]
    for m, was in zip(mates, given or mates, strict=True):
        kept, before = m[was >= 0], was[was >= 0]
        if not (found or pushed) and np.any(kept < 0):
            found = "vertices of the given matching are free"
        if not found and method == "none" and not np.array_equal(kept, before):
            found = "a start has changed pairs"
    return found and f"{A.shape} {form}, {method} after {init}, {options}, given {kind}: {found}"


def as_if_large(patch, levels=None):
    """Let no matrix be small; the host gets what takes more levels. `patch` sets attributes."""
    patch(one_block, "fits", lambda _: False)
    patch(rare_columns, "LEAST", 0)
    patch(host_auto, "POLICY", replace(host_auto.POLICY, small=0))
    policy = device_choice.POLICY
    if levels is not None:
        work = policy.search._replace(share=0.0, least=levels)
        works = dict.fromkeys(("search", "thin_search", "thin_in_order"), work)
        policy = replace(policy, small=0, **works)
    patch(device_choice, "POLICY", policy)
