"""Measure sparsematch against SciPy on real matrices of your own, and print a markdown table.

    python benchmarks/real.py FOLDER                  # all matrices of the folder, by size
    python benchmarks/real.py FOLDER bayer10 crack    # some of them
    python benchmarks/real.py FOLDER --write docs/speed.md

The matrices are files written by `scipy.sparse.save_npz`; those of the SuiteSparse Matrix
Collection come from https://sparse.tamu.edu. Only their patterns count. Times and checks are those
of `compare.py`.
"""

import argparse
import os
import pathlib
import platform
import sys
import tempfile

import numpy as np
import scipy
import scipy.sparse as sp

import compare
import sparsematch

BEGIN = "<!-- table of real matrices: written by benchmarks/real.py -->"
END = "<!-- end of the table of real matrices -->"


def load(path):
    """Return the pattern of a matrix in CSR, with ones in single precision as values."""
    A = sp.csr_array(sp.load_npz(path))
    A.sum_duplicates()
    return sp.csr_array((np.ones(A.nnz, np.float32), A.indices, A.indptr), shape=A.shape)


def parse():
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME", help="file names without .npz")
    parser.add_argument(
        "--limit", type=float, default=20.0, help="seconds until a measurement is stopped"
    )
    parser.add_argument("--repeats", type=int, default=3, help="timed calls after one (default 3)")
    parser.add_argument("--workers", type=int, default=1, help="threads for sparsematch")
    parser.add_argument(
        "--write", type=pathlib.Path, metavar="FILE", help="put the table between the marks of FILE"
    )
    args = parser.parse_args()
    paths = [args.folder / f"{name}.npz" for name in args.names]
    paths = paths or sorted(args.folder.glob("*.npz"), key=lambda path: path.stat().st_size)
    missing = [str(path) for path in paths if not path.is_file()]
    if missing or not paths:
        parser.error(
            f"no such file: {', '.join(missing)}" if paths else f"no .npz in {args.folder}"
        )
    return args, paths


def table(args, paths):
    """Yield the lines of the table, each as soon as it is measured."""
    yield from (compare.line(column) for column in zip(*compare.TABLE, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            A, copy = load(path), os.path.join(folder, path.name)
            sp.save_npz(copy, A, compressed=False)
            yield compare.line(compare.row(path.stem, A, copy, args))
            os.remove(copy)


def main():
    """Print the table, and write it to the file that is given."""
    args, paths = parse()
    conditions = (
        f"sparsematch {sparsematch.__version__}, SciPy {scipy.__version__}, "
        f"NumPy {np.__version__}, Python {platform.python_version()}, {compare.processor()}; "
        f"`--workers {args.workers} --limit {args.limit:g}`."
    )
    lines = [conditions, ""]
    print(*lines, sep="\n", flush=True)
    for text in table(args, paths):
        print(text, flush=True)
        lines.append(text)
    if args.write:
        compare.write(args.write, "\n".join(lines), BEGIN, END)
    return 0


if __name__ == "__main__":
    sys.exit(main())
