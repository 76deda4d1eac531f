"""Matrices whose arrays were broken after they were made, and the calls that read a matrix."""

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from sparsematch import csgraph, solvers

N = 12


def symmetric():
    """A matrix with a full diagonal, strongly connected."""
    B = sp.random_array((N, N), density=0.2, rng=np.random.default_rng(3), format="csr")
    A = sp.csr_array(B + B.T + sp.diags_array([1.0, 9.0, 1.0], offsets=[-1, 0, 1], shape=(N, N)))
    A.data[:] = A.data.round(3)
    return A


A = symmetric()
MATE, COARSE = sm.maximum_transversal(A), sm.approximate_matching(A)
FORM, WEIGHTED = sm.block_triangular_form(A), sm.maximum_product_transversal(A)
PAIRED = sm.maximum_weight_matching(A)
SYMMETRIC = sm.symmetric_product_transversal(A)
BAD = 10**8


def copied(form):
    return A.tobsr((2, 2)) if form == "bsr" else A.asformat(form, copy=True)


def overwritten(form, field, place, value):
    def make():
        B = copied(form)
        array = getattr(B, field).copy()
        array[place] = value
        put(B, field, array)
        return B

    return make


def replaced(form, field, change):
    def make():
        B = copied(form)
        put(B, field, change(getattr(B, field)))
        return B

    return make


def put(B, field, value):
    if field in ("row", "col"):
        B.coords = (value, B.col) if field == "row" else (B.row, value)
    else:
        setattr(B, field, value)


def reshaped(form, shape):
    return replaced(form, "_shape", lambda _: shape)


def with_key(key):
    def make():
        B = A.todok()
        B._dict[key] = 1.0
        return B

    return make


COMPRESSED = {
    f"{form} {name}": make(form)
    for form in ("csr", "csc", "bsr")
    for name, make in {
        "index too large": lambda f: overwritten(f, "indices", 3, BAD),
        "index negative": lambda f: overwritten(f, "indices", 3, -BAD),
        "indptr rises beyond": lambda f: overwritten(f, "indptr", 2, BAD),
        "indptr negative": lambda f: overwritten(f, "indptr", 2, -BAD),
        "indptr ends beyond": lambda f: overwritten(f, "indptr", -1, BAD),
        "indptr ends below": lambda f: overwritten(f, "indptr", -1, -5),
        "indptr short": lambda f: replaced(f, "indptr", lambda x: x[:-2]),
        "indptr empty": lambda f: replaced(f, "indptr", lambda x: x[:0]),
        "indptr in two dimensions": lambda f: replaced(f, "indptr", lambda x: x[None]),
        "indices short": lambda f: replaced(f, "indices", lambda x: x[:3]),
        "indices of floats": lambda f: replaced(f, "indices", lambda x: x + 0.5),
        "indices of objects": lambda f: replaced(f, "indices", lambda x: x.astype(object)),
        "indices a list": lambda f: replaced(f, "indices", list),
        "large unsigned": lambda f: replaced(f, "indices", lambda x: x.astype(np.uint64) - 99),
        "shape narrow": lambda f: reshaped(f, (N, 2) if f != "csc" else (2, N)),
        "shape negative": lambda f: reshaped(f, (-1, N)),
        "shape tall": lambda f: reshaped(f, (10**9, N) if f != "csc" else (N, 10**9)),
    }.items()
}
OTHERS = {
    "bsr data short": replaced("bsr", "data", lambda x: x[:3]),
    "bsr blocks that do not divide": replaced("bsr", "data", lambda x: np.ones((len(x), 5, 5))),
    "bsr blocks of nothing": replaced("bsr", "data", lambda x: x[:, :0]),
    "coo row too large": overwritten("coo", "row", 3, BAD),
    "coo col too large": overwritten("coo", "col", 3, BAD),
    "coo row negative": overwritten("coo", "row", 3, -BAD),
    "coo col negative": overwritten("coo", "col", 3, -1),
    "coo row short": replaced("coo", "row", lambda x: x[:3]),
    "coo data short": replaced("coo", "data", lambda x: x[:3]),
    "coo data in two dimensions": replaced("coo", "data", lambda x: x[None]),
    "coo row of floats": replaced("coo", "row", lambda x: x * np.nan),
    "coo one side only": replaced("coo", "coords", lambda x: x[:1]),
    "dia data in one dimension": replaced("dia", "data", np.ravel),
    "dia data of few diagonals": replaced("dia", "data", lambda x: x[:1]),
    "dia offset twice": replaced("dia", "offsets", lambda x: x * 0),
    "dia offsets of floats": replaced("dia", "offsets", lambda x: x + 0.5),
    "lil index too large": overwritten("lil", "rows", 3, [BAD]),
    "lil more values": overwritten("lil", "data", 3, [1.0] * 10**4),
    "lil more rows": replaced("lil", "rows", lambda x: np.concatenate([x, x])),
    "lil no list": overwritten("lil", "rows", 3, 7),
    "lil no integer": replaced("lil", "rows", lambda x: np.array([[0.5]] * N, object)),
    "dok row too large": with_key((BAD, 3)),
    "dok col negative": with_key((3, -1)),
    "dok three indices": with_key((1, 2, 3)),
    "dok beyond 64 bits": with_key((2**70, 0)),
}

#: Whatever reads a matrix; the last three read its values too.
CALLS = {
    "maximum_transversal": sm.maximum_transversal,
    "structural_rank": sm.structural_rank,
    "block_triangular_form": sm.block_triangular_form,
    "connected_components": sm.connected_components,
    "is_reducible": sm.is_reducible,
    "is_structurally_singular": sm.is_structurally_singular,
    "is_block_form": lambda B: sm.is_block_form(B, FORM),
    "is_matching": lambda B: sm.is_matching(B, MATE),
    "is_maximal": lambda B: sm.is_maximal(B, MATE),
    "is_maximum": lambda B: sm.is_maximum(B, MATE),
    "vertex_cover": lambda B: sm.vertex_cover(B, MATE).size,
    "explain_singularity": sm.explain_singularity,
    "maximal_matching": sm.maximal_matching,
    "csgraph": csgraph.maximum_bipartite_matching,
    "analyse": solvers.analyse,
    "from_local": lambda B: sm.DistributedCSR.from_local(None, B),
    "maximum_product_transversal": sm.maximum_product_transversal,
    "maximum_sum_transversal": sm.maximum_sum_transversal,
    "bottleneck_transversal": sm.bottleneck_transversal,
    "maximum_weight_matching": sm.maximum_weight_matching,
    "is_optimal_matching": lambda B: sm.is_optimal_matching(B, PAIRED),
    "is_optimal_transversal": lambda B: sm.is_optimal_transversal(B, WEIGHTED),
    "symmetric_product_transversal": sm.symmetric_product_transversal,
    "is_symmetric_transversal": lambda B: sm.is_symmetric_transversal(
        B, SYMMETRIC, triangle="lower"
    ),
    "approximate_matching": lambda B: sm.approximate_matching(B, symmetrize=True),
    "coarsen": lambda B: sm.coarsen(B, COARSE),
    "coarsening_hierarchy": lambda B: sm.coarsening_hierarchy(B, min_vertices=2),
    "csgraph, weighted": csgraph.min_weight_full_bipartite_matching,
    "splu": solvers.splu,
    "spsolve": lambda B: solvers.spsolve(B, np.ones(N)),
    "right-hand sides": lambda B: solvers.spsolve(A, B),
    "spilu": solvers.spilu,
    "permute": FORM.permute,
    "scale": WEIGHTED.scale,
    "permute, weighted": WEIGHTED.permute,
    "compress": SYMMETRIC.compress,
    "permute, symmetric": SYMMETRIC.permute,
    "hierarchy of one level": lambda B: sm.coarsening_hierarchy(B, min_vertices=N).prolongation(),
}
CALLS |= {
    f"refactorise {form}": solvers.splu(A.asformat(form)).refactorise for form in ("csr", "coo")
}
