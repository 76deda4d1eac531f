"""Measure sparsematch against SciPy, and print a markdown table.

    python benchmarks/compare.py                             # 2**17 rows each, stopped after 20 s
    python benchmarks/compare.py --scale 20 mesh mesh_scrambled
    python benchmarks/compare.py --write README.md           # the table goes where the last one is
    python benchmarks/compare.py FOLDER/crack.npz FOLDER/bayer10.npz --write docs/speed.md

Matrices are made here, or files written by `scipy.sparse.save_npz`, whose patterns count; those of
the SuiteSparse Matrix Collection come from https://sparse.tamu.edu.

Times are medians of calls as a user makes them, warm, in milliseconds of processor time (of wall
clock with more than one worker) and, in brackets, in units of one product of the same matrix with a
vector in single precision (SpMV), measured in the same process. Every result is checked outside the
timed part: the matching by a vertex cover of its size, the blocks entry by entry, the cardinality
against SciPy's where it finished. Each of the three is measured in a process of its own, which is
stopped at the limit. benchmarks/README.md says what is fair.
"""

import time

import numpy as np
import scipy.sparse as sp

import driver
import matrices
from driver import three

HEADS = [
    "matrix", "rows x columns", "entries", "rank", "transversal, ms (SpMV)",
    "block form, ms (SpMV)", "SciPy, ms (SpMV)", "SciPy / transversal",
]  # fmt: skip


def transversal(path, workers):
    """`maximum_transversal` as a user calls it: checks of the matrix and transposes included."""
    import sparsematch

    A, unit = loaded(path)

    def check(matching):
        if not sparsematch.is_maximum(A, matching):
            raise AssertionError("the matching is not maximum")
        return {"cardinality": matching.cardinality, "unit": unit}

    return lambda: sparsematch.maximum_transversal(A, workers=workers), check


def blocks(path, workers):
    """`block_triangular_form`, the matching included."""
    import sparsematch

    A, unit = loaded(path)

    def check(form):
        if not sparsematch.is_maximum(A, form.matching):
            raise AssertionError("the matching is not maximum")
        C = form.permute(A).tocoo()
        row_block = np.searchsorted(form.row_blocks[1:], C.row, side="right")
        if (row_block > np.searchsorted(form.col_blocks[1:], C.col, side="right")).any():
            raise AssertionError("the permuted matrix is not block triangular")
        return {"cardinality": form.matching.cardinality, "unit": unit}

    return lambda: sparsematch.block_triangular_form(A, workers=workers), check


def scipy(path):
    """SciPy's function, from the same CSR matrix."""
    from scipy.sparse.csgraph import maximum_bipartite_matching

    A, unit = loaded(path)
    return (
        lambda: maximum_bipartite_matching(A, perm_type="column"),
        lambda mates: {"cardinality": int((mates >= 0).sum()), "unit": unit},
    )


def loaded(path):
    """Return the matrix, and the time of its product with a vector."""
    A = sp.load_npz(path)
    x = np.ones(A.shape[1], np.float32)
    return A, driver.median(lambda: A @ x, time.thread_time, 7)[0]


def row(name, A, path, args):
    """Measure one matrix; return the cells of its line."""
    how = {"repeats": args.repeats, "limit": args.limit}
    ours, form = (
        driver.measure(call, path, args.workers, workers=args.workers, **how)
        for call in (transversal, blocks)
    )
    peer = driver.measure(scipy, path, **how)
    ranks = {found["cardinality"] for found in (ours, form, peer) if "cardinality" in found}
    if len(ranks) > 1:
        raise AssertionError(f"{name}: cardinalities differ: {ranks}")
    shape = f"{A.shape[0]:,} x {A.shape[1]:,}"
    cells = [f"`{name}`", shape, f"{A.nnz:,}", f"{ranks.pop():,}" if ranks else "not found"]
    cells += [time_cell(found, args.limit) for found in (ours, form, peer)]
    return [*cells, driver.ratio(peer, ours["seconds"], args.limit) if "seconds" in ours else ""]


def time_cell(figures, limit):
    """Milliseconds and, in brackets, SpMV; or what is known when the limit was reached."""
    shown = driver.ratio(figures, 1e-3, limit)
    return (
        f"{shown} ({three(figures['seconds'] / figures['unit'])})" if "unit" in figures else shown
    )


def main():
    """Print the table, and write it to the file that is given."""
    parser = driver.parser(
        __doc__, write=True, scale=17, seed=2011, limit=20.0, repeats=3, workers=1
    )
    matrices.add_argument(parser)
    args = parser.parse_args()
    chosen = matrices.chosen(parser, args)
    generated = all(name in matrices.NAMES for name in args.names)
    what = "speed table" if generated else "table of real matrices"
    options = ("scale", "workers", "limit", "seed") if generated else ("workers", "limit")
    lines = driver.table(HEADS, (row(*saved, args) for saved in matrices.saved(chosen)))
    driver.publish(lines, args, what, driver.conditions(args, *options))


if __name__ == "__main__":
    main()
