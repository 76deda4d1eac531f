"""Block triangular forms of coupled pieces against the strong components that SciPy finds.

The matrices of coupled_pieces.py as CSR and CSC. The blocks must be as many as the strong
components, the permuted matrix block upper triangular with no zero on its diagonal, the blocks of
the transpose as many.
"""

import sparsematch as sm
from coupled_pieces import coupled, fault, find_here


def wrong(A, want, rng):
    """What is wrong with the form of a matrix that has `want` blocks."""
    if words := fault(A, find_here(A, rng), want):
        yield words
    if sm.is_reducible(A) != (want > 1):
        yield f"is_reducible is not {want > 1}"
    if (n_blocks := sm.block_triangular_form(A.T).n_blocks) != want:
        yield f"the transpose has {n_blocks} blocks for {want}"


def case(rng):
    A, want = coupled(rng)
    for form in ("csr", "csc"):
        for words in wrong(A.asformat(form), want, rng):
            yield f"{A.shape[0]} x {A.shape[1]} {form}: {words}"
