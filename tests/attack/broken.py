"""Broken index arrays, in every format, given to every public call: none may crash or hang.

What is asked of a call is an answer or an exception: a defect that it need not see may be ignored.
Each case is a process of its own, since one that writes past its memory may crash another later.
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from harness import announce, main
from sparsematch import csgraph, plot, solvers

N = 40
WRONG = -(10**8), -5, -1, N, 10**8, 2**31 - 1  # as an index, or in place of a row's beginning
FORMATS = "csr", "csc", "bsr"


def base():
    """Symmetric, with a full diagonal and different values, so that every call takes it."""
    A = sp.random_array((N, N), density=0.2, rng=np.random.default_rng(1), format="csr")
    A = sp.csr_array(A + A.T + sp.eye_array(N))
    A.data = np.arange(1.0, A.nnz + 1)
    return sp.csr_array(A + A.T)


G = base()


def put(array, rng):
    """A copy with a wrong number somewhere, often at an end."""
    array = array.copy()
    place = rng.choice([0, array.size - 1, rng.integers(array.size)])
    array[place] = rng.choice(WRONG)
    return array


def compressed(rng):
    """A matrix of compressed rows, columns or blocks."""
    A = G.asformat(FORMATS[rng.integers(len(FORMATS))])
    if rng.random() < 0.3:
        A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


def wrong_indices(rng):
    A = compressed(rng)
    A.indices = put(A.indices, rng)
    return A


def wrong_indptr(rng):
    A = compressed(rng)
    A.indptr = put(A.indptr, rng)
    return A


def cut(rng):
    A = compressed(rng)
    name = rng.choice(["indices", "indptr", "data"])
    array = getattr(A, name)
    setattr(A, name, array[: rng.integers(array.shape[0])])
    return A


def longer(rng):
    """Longer buffers than `indptr` says: that is legal, and the rest is not to be read."""
    A = compressed(rng)
    more = int(rng.integers(1, 10**5))
    A.indices = np.r_[A.indices, np.full(more, rng.choice(WRONG), A.indices.dtype)]
    A.data = np.r_[A.data, np.zeros((more, *A.data.shape[1:]))]
    return A


def of_floats(rng):
    A = compressed(rng)
    name = rng.choice(["indices", "indptr"])
    setattr(A, name, getattr(A, name).astype(float))
    return A


def another_shape(rng):
    A = compressed(rng)
    shapes = [(N, 3), (3, N), (10**6, N), (N, 10**6), (N - 1, N), (N, N - 1), (0, 0)]
    A._shape = shapes[rng.integers(len(shapes))]
    return A


def coordinates(rng):
    A = G.tocoo()
    coords = [side.copy() for side in A.coords]
    k = rng.integers(2)
    coords[k] = put(coords[k], rng)
    A.coords = tuple(coords)
    return A


def cut_coordinates(rng):
    A = G.tocoo()
    if rng.random() < 0.5:
        A.data = A.data[: rng.integers(A.nnz)]
    else:
        A.coords = (A.coords[0], A.coords[1][: rng.integers(A.nnz)])
    return A


def diagonals(rng):
    A = sp.eye_array(N).todia()
    A.offsets = np.array([rng.choice(WRONG)])
    return A


def lists(rng):
    A = G.tolil()
    i = rng.integers(N)
    A.rows[i], A.data[i] = [int(rng.choice(WRONG))], [1.0] * int(rng.integers(1, 3))
    return A


def keys(rng):
    A = G.todok()
    A._dict[int(rng.choice(WRONG)), int(rng.integers(N))] = 1.0
    return A


DEFECTS = (
    *(wrong_indices, wrong_indptr, cut, longer, of_floats, another_shape, coordinates),
    *(cut_coordinates, diagonals, lists, keys),
)

MATE = sm.maximum_transversal(G)
GRAPH_MATE = sm.approximate_matching(G)
FORM = sm.block_triangular_form(G)
HEAVY = sm.maximum_product_transversal(G)
B = np.ones(N)


def refactorise(A):
    """By factors whose matrix came in the same format, or in another."""
    for form in ("csr", "csc", "coo"):
        try:
            solvers.splu(G.asformat(form)).refactorise(A)
        except (ValueError, TypeError):
            continue


CALLS = {
    "maximum_transversal": sm.maximum_transversal,
    "structural_rank": sm.structural_rank,
    "block_triangular_form": sm.block_triangular_form,
    "coarse_dulmage_mendelsohn": sm.coarse_dulmage_mendelsohn,
    "explain_singularity": lambda A: str(sm.explain_singularity(A)),
    "connected_components": sm.connected_components,
    "is_reducible": sm.is_reducible,
    "is_matching": lambda A: sm.is_matching(A, MATE),
    "is_maximal": lambda A: sm.is_maximal(A, MATE),
    "is_maximum": lambda A: sm.is_maximum(A, MATE),
    "vertex_cover": lambda A: sm.vertex_cover(A, MATE),
    "maximum_product_transversal": sm.maximum_product_transversal,
    "approximate product": lambda A: sm.maximum_product_transversal(A, approximate=True),
    "maximum_sum_transversal": sm.maximum_sum_transversal,
    "bottleneck_transversal": sm.bottleneck_transversal,
    "is_optimal_transversal": lambda A: sm.is_optimal_transversal(A, HEAVY),
    "approximate_matching": sm.approximate_matching,
    "symmetrized": lambda A: sm.approximate_matching(A, symmetrize=True),
    "maximal_matching": sm.maximal_matching,
    "coarsen": lambda A: sm.coarsen(A, GRAPH_MATE),
    "coarsening_hierarchy": lambda A: sm.coarsening_hierarchy(A, min_vertices=2),
    "write_edge_file": lambda A: sm.write_edge_file("/dev/null", A),
    "DistributedCSR": lambda A: sm.structural_rank(sm.DistributedCSR.from_local(None, A)),
    "BlockForm.permute": FORM.permute,
    "WeightedTransversal.scale": HEAVY.scale,
    "WeightedTransversal.permute": HEAVY.permute,
    "splu": lambda A: solvers.splu(A).solve(B),
    "analyse": solvers.analyse,
    "refactorise": refactorise,
    "spsolve": lambda A: solvers.spsolve(A, B),
    "sparse right-hand side": lambda A: solvers.spsolve(G, A),
    "spilu": lambda A: solvers.spilu(A).solve(B),
    "csgraph.maximum_bipartite_matching": csgraph.maximum_bipartite_matching,
    "csgraph.structural_rank": csgraph.structural_rank,
    "csgraph.min_weight_full": csgraph.min_weight_full_bipartite_matching,
    "spy_blocks": plot.spy_blocks,
    "spy_conflicts": plot.spy_conflicts,
}


def case(rng):
    defect, name = DEFECTS[rng.integers(len(DEFECTS))], list(CALLS)[rng.integers(len(CALLS))]
    A = defect(rng)
    announce(f"in {name}, {A.format} with {defect.__name__}")
    yield from answer(name, A) or ()


def answer(name, A):
    """Let the call answer or raise; only what Python itself cannot explain is a failure."""
    try:
        CALLS[name](A)
    except SystemError as error:
        return [f"{name}: SystemError: {error}"]
    except Exception:
        return None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for call in CALLS.values():  # what is imported for them is not imported by each child again
        call(G)
    sys.exit(main(case, isolated=True, limit=20))
