"""Matrices for the benchmarks: one small function per class, in natural order and scrambled.

A generator takes a numpy Generator and the number of rows wanted, and returns a CSR array of ones.
The entry points are `build`, `load` for those in files, and `chosen` for what a user names.
"""

import functools
import pathlib
import tempfile

import numpy as np
import scipy.sparse as sp
from scipy.spatial import Delaunay

import graphs


def pattern(rows, cols, shape):
    """Return the CSR pattern of a list of positions, repeats merged, indices sorted."""
    places = np.asarray(rows, np.int32), np.asarray(cols, np.int32)
    A = sp.coo_array((np.ones(len(rows), np.float32), places), shape=shape).tocsr()
    A.sum_duplicates()
    A.data[:] = 1
    return A


def scrambled(A, rng):
    """Return A with rows and columns permuted at random."""
    C = A.tocoo()
    return pattern(rng.permutation(A.shape[0])[C.row], rng.permutation(A.shape[1])[C.col], A.shape)


def grid(rng, n):
    """Five-point differences on a square grid, numbered line by line, without the diagonal."""
    low, high, _ = graphs.grid(rng, n)
    return pattern(np.r_[low, high], np.r_[high, low], (round(n**0.5) ** 2,) * 2)


def mesh(rng, n):
    """Neighbours in a Delaunay triangulation of random points, numbered in strips."""
    indptr, indices = Delaunay(graphs.in_strips(rng.random((n, 2)))).vertex_neighbor_vertices
    return pattern(np.repeat(np.arange(n), np.diff(indptr)), indices, (n, n))


def random(rng, n, degree):
    """Positions drawn uniformly at random, `degree` per row on average."""
    return pattern(*rng.integers(0, n, (2, degree * n)), (n, n))


def sparse_random(rng, n):
    """Three random entries a row: many rows and columns of degree one, a deficient matrix."""
    return random(rng, n, 3)


def dense_random(rng, n):
    """Eight random entries a row: almost of full structural rank."""
    return random(rng, n, 8)


def power_law(rng, n):
    """Six entries a row, Zipf-like columns, milder rows: web and social graphs, very deficient."""

    def draw(exponent):
        weight = np.cumsum((np.arange(n) + 10.0) ** -exponent)
        return np.minimum(np.searchsorted(weight / weight[-1], rng.random(6 * n)), n - 1)

    return pattern(rng.permutation(n)[draw(0.8)], rng.permutation(n)[draw(1.1)], (n, n))


def circuit(rng, n):
    """A diagonal, couplings to near nodes, a few nets with thousands of pins; rows permuted."""
    near = rng.integers(0, n, 2 * n)
    far = (near + np.rint(rng.laplace(0, 30, near.size)).astype(np.int64)) % n
    pins = rng.integers(0, n, n // 10)
    nets = rng.integers(0, n, 25)[rng.integers(0, 25, pins.size)]
    rows = np.r_[np.arange(n), near, far, nets, pins]
    cols = np.r_[np.arange(n), far, near, pins, nets]
    return pattern(rng.permutation(n)[rows], cols, (n, n))


def linear_program(rng, n):
    """Twice as many columns as rows: a staircase of blocks, linking rows with many entries."""
    n_cols = 2 * n
    cols = np.repeat(np.arange(n_cols), rng.integers(1, 6, n_cols))
    block = cols // 400 * 200
    rows = np.where(
        rng.random(cols.size) < 0.9,
        block + rng.integers(0, 240, cols.size),
        rng.zipf(1.6, cols.size),
    )
    return pattern(rows % n, cols, (n, n_cols))


FAMILIES = {
    f.__name__: f
    for f in (grid, mesh, sparse_random, dense_random, power_law, circuit, linear_program)
}
SCRAMBLED = {f"{name}_scrambled": FAMILIES[name] for name in ("grid", "mesh", "linear_program")}
NAMES = [
    name
    for family in FAMILIES
    for name in (family, f"{family}_scrambled")
    if name in FAMILIES | SCRAMBLED
]


def build(name, scale, seed=2011):
    """Return the matrix of that name with about 2**scale rows; the same for the same arguments."""
    rng = np.random.default_rng([seed, NAMES.index(name.removesuffix("_scrambled"))])
    if name in FAMILIES:
        return FAMILIES[name](rng, 2**scale)
    return scrambled(SCRAMBLED[name](rng, 2**scale), rng)


def load(path):
    """Return the matrix of a file of SciPy's save_npz in CSR, duplicates added up."""
    A = sp.csr_array(sp.load_npz(path))
    A.sum_duplicates()
    return A


def pattern_of(A):
    """Return the pattern in CSR, with ones in single precision as values."""
    return sp.csr_array((np.ones(A.nnz, np.float32), A.indices, A.indptr), shape=A.shape)


def saved(chosen):
    """Yield each name with the pattern and a file of it, for processes that measure it."""
    with tempfile.TemporaryDirectory() as folder:
        for k, (name, make) in enumerate(chosen):
            A, path = pattern_of(make()), f"{folder}/{k}.npz"
            sp.save_npz(path, A, compressed=False)
            yield name, A, path


def add_argument(parser, default=NAMES):
    """Let a program's user name matrices."""
    text = "a .npz file of scipy.sparse.save_npz, a folder of them, or one that is generated: "
    text += f"{', '.join(NAMES)}; default: {', '.join(default) or 'none'}"
    parser.add_argument("names", nargs="*", default=default, metavar="MATRIX", help=text)


def chosen(parser, args):
    """Return what `chosen_of` does; what is not there is wrong usage."""
    try:
        return chosen_of(args.names, args.scale, args.seed)
    except ValueError as error:
        parser.error(str(error))


def chosen_of(names, scale, seed):
    """Return names and what loads or builds the matrices that were named, files by size."""
    found = []
    for name in names:
        path = pathlib.Path(name)
        if name in NAMES:
            found.append((name, functools.partial(build, name, scale, seed)))
        elif path.is_dir():
            files = sorted(path.glob("*.npz"), key=lambda file: file.stat().st_size)
            found += [(file.stem, functools.partial(load, file)) for file in files]
        elif path.is_file():
            found.append((path.stem, functools.partial(load, path)))
        else:
            raise ValueError(f"{name} is no file, no folder and not generated: {', '.join(NAMES)}")
    if not found:
        raise ValueError("no matrix: name files, a folder of .npz files, or generated ones")
    return found
