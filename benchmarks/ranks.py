"""Matchings over MPI ranks, with or without a GPU each: times, exchanges, published values.

    mpiexec -n 16 python benchmarks/ranks.py scale er rmat delaunay --entries 100_000_000
    mpiexec -n 2 python benchmarks/ranks.py scale --gpu skewed uniform --entries 1_000_000_000
    mpiexec -n 4 python benchmarks/ranks.py local_max delaunay random_4 --vertices 1e6
    mpiexec -n 2 python benchmarks/ranks.py local_max --gpu circulant --vertices 4e6
    mpiexec -n 4 python benchmarks/ranks.py real FOLDER [NAME ...]

`scale` prints a table of maximum matchings: each matrix on 1, 2, 4 ... of the ranks that it was
started with, while the others sleep; on GPUs on all. Every rank makes its own rows
(rank_matrices.py); `delaunay_scrambled` and the like are in an order that keeps nothing together.
Beside a line is one process that has the whole matrix, with as many threads as there are ranks, or
one GPU; on one rank, `auto` is that process. Efficiency is the time on one rank over that on all,
each rank's share of the work times their number. `--weak` gives each rank as many entries.

`local_max` prints one of `approximate_matching`, beside one process with one thread and with as
many as there are ranks, and whether the matchings are identical. Its graphs are those of graphs.py
and `circulant`, which can be made on a GPU.

`real` reads every `.npz` of a folder that has the published values in `index.csv`, and compares
structural rank, certificate, coarse parts and number of fine blocks. Small matrices are not
gathered on one rank then, so that all of the search is tried.

Times are the least of `--repeats`, each from the call to the last rank's return, results are
certified, and the exit status is 1 if anything differs.
"""

import csv
import os
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import driver
import graphs
import rank_matrices
import sparsematch as sm
from sparsematch._engines.mpi.core import host
from sparsematch._engines.mpi.core.exchange import abort_on_error, import_mpi

SCALE = [
    "matrix", "rows", "entries", "ranks", "seconds", "efficiency", "start, search", "levels",
    "exchanges", "MB sent", "one process, threads",
]  # fmt: skip
LOCAL_MAX = [
    "graph", "vertices", "edges", "ranks", "seconds", "rounds", "MB sent", "one thread", "threads",
    "identical",
]  # fmt: skip


# ---- arrays and clocks


def module_of_arrays(comm, args):
    """Return NumPy, or CuPy with this rank's number among those of its machine as its GPU."""
    if not args.gpu:
        return np
    import cupy

    local = comm.Split_type(import_mpi().COMM_TYPE_SHARED)
    count = cupy.cuda.runtime.getDeviceCount()
    cupy.cuda.Device(local.rank % count).use()
    if local.size > count and comm.rank == 0:
        print("ranks share GPUs: arrays go through host memory", file=sys.stderr)
    return cupy


def timed(comm, call, repeats):
    """Return the least time of a call by all ranks, and its last result."""
    seconds = []
    for _ in range(repeats):
        result = None  # its memory is used again
        comm.barrier()
        begin = time.perf_counter()
        result = call()
        if "cupy" in sys.modules:
            sys.modules["cupy"].cuda.get_current_stream().synchronize()
        comm.barrier()
        seconds.append(time.perf_counter() - begin)
    return min(seconds), result


def alone(comm, call):
    """What rank 0 finds by itself, for which the others wait without a load."""
    request = comm.Ibarrier() if comm.rank else None
    found = None
    if comm.rank == 0:
        found = call()
        comm.Ibarrier().Wait()
    while request and not request.Test():
        time.sleep(0.01)
    return comm.bcast(found)


def show(comm, cells):
    """Print a line of a table once."""
    if comm.rank == 0:
        print(f"| {' | '.join(cells)} |", flush=True)


def head(comm, args, heads):
    """Print the head of a table once."""
    if comm.rank == 0 and not args.bare:
        print(*driver.table(heads, ()), sep="\n", flush=True)


# ---- maximum matchings


def scale(comm, args):
    """Time matrices on more and more ranks."""
    head(comm, args, SCALE)
    powers = sorted({2**k for k in range(comm.size.bit_length())} | {comm.size})
    for name in args.names:
        single = None
        for n_ranks in args.ranks or ([comm.size] if args.gpu else powers):
            single = on_ranks(comm, n_ranks, name, args, single)


def on_ranks(comm, n_ranks, name, args, single):
    """Time one matrix on some of the ranks, print a line; return the time on one rank."""
    part = comm.Split(comm.rank < n_ranks, comm.rank)
    found = None
    if comm.rank < n_ranks:
        entries = args.entries * (n_ranks if args.weak else 1)
        found = measured(part, name, entries, args)
    seconds, cells = alone(comm, lambda: found)
    part.Free()
    if n_ranks == 1:
        single = seconds
    share = single / seconds / (1 if args.weak else n_ranks) if single else None
    rows, nnz, *others = cells
    shown = f"{seconds:.3f}", "" if share is None else f"{share:.2f}"
    show(comm, [f"`{name}`", rows, nnz, str(n_ranks), *shown, *others])
    return single


def measured(comm, name, entries, args):
    """The least time of the matching, and the cells of a line."""
    xp = module_of_arrays(comm, args)
    D = rank_matrices.build(comm, name, entries, xp)
    call = lambda: sm.maximum_transversal(D, method=args.method, return_info=True)
    seconds, (matching, info) = timed(comm, call, args.repeats)
    assert sm.is_maximum(D, matching)
    levels, rounds, sent = (
        sum(getattr(step, what) for step in info.steps)
        for what in ("levels", "rounds", "bytes_sent")
    )
    steps = ", ".join(f"{step.seconds:.3f}" for step in info.steps) if comm.size > 1 else ""
    cells = [f"{D.n_rows:,}", f"{D.nnz:,}", steps]
    cells += [f"{levels:,}", f"{rounds:,}", f"{sent / 1e6:,.1f}"]
    if args.bare:
        return seconds, [*cells, ""]
    parts = None if args.gpu else comm.gather((np.diff(D.indptr), D.indices))
    one = alone(comm, lambda: in_one_process(comm, name, entries, parts, args, matching))
    return seconds, [*cells, f"{one:.3f}"]


def in_one_process(comm, name, entries, parts, args, matching):
    """The time of one process with the whole matrix, and threads or a GPU."""
    if args.gpu:
        import cupy

        n = rank_matrices.n_hashed(entries)
        indptr, indices = rank_matrices.HASHED[name](cupy, n, rank_matrices.MEAN, 0, n)
        A = sm.BipartiteCSR.from_arrays(indptr.astype(np.int32), indices, (n, n))
    else:
        degrees, indices = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(indices.dtype)
        ones = np.broadcast_to(np.int8(1), indices.size)
        A = sp.csr_array((ones, indices, indptr), (indptr.size - 1, matching.shape[1]))
    how = {} if args.gpu else {"workers": comm.size}
    call = lambda: sm.structural_rank(A, **how)
    seconds, rank = timed(import_mpi().COMM_SELF, call, args.repeats)
    assert rank == matching.cardinality
    return seconds


# ---- heavy matchings of graphs


def graph_rows(name, args, n, xp):
    """Return the number of vertices, and what makes the rows of a graph from one to another."""
    if name != "circulant":
        G = graphs.build(name, n, args.weights)
        return G.shape[0], lambda begin, end: G[begin:end]
    if xp is np:
        sparse = sp
    else:
        from cupyx.scipy import sparse

    def rows(begin, end):
        indptr, indices, weights = rank_matrices.circulant(xp, n, 12, begin, end)
        G = sparse.csr_matrix((end - begin, n), dtype=np.float32)
        G.indptr, G.indices, G.data = indptr.astype(np.int32), indices, weights
        return G

    return n, rows


def local_max(comm, args):
    """Time heavy matchings of graphs; return how many differ from that of one process."""
    head(comm, args, LOCAL_MAX)
    xp, wrong = module_of_arrays(comm, args), 0
    for name in args.names:
        n = int(args.vertices) * (comm.size if args.weak else 1)
        n, rows = graph_rows(name, args, n, xp)
        workers = [None] if args.gpu else [1, comm.size]

        def one_process(n=n, rows=rows, workers=workers):
            """Times, and mates on the host."""
            G, found = rows(0, n), []
            for k in workers:
                call = lambda k=k, G=G: sm.approximate_matching(G, workers=k)
                found.append(timed(import_mpi().COMM_SELF, call, args.repeats))
            return [seconds for seconds, _ in found], on_host(found[0][1].mate)

        times, expected = alone(comm, one_process)
        begin, end = (n * (comm.rank + k) // comm.size for k in (0, 1))
        D = sm.DistributedCSR.from_local(comm, rows(begin, end))
        seconds, matching = timed(comm, lambda D=D: sm.approximate_matching(D), args.repeats)
        same = all(comm.allgather(np.array_equal(on_host(matching.mate), expected[begin:end])))
        wrong += not same
        (step,) = matching.info.steps
        cells = [f"`{name}`", f"{n:,}", f"{D.nnz // 2:,}", str(comm.size), f"{seconds:.4f}"]
        cells += [str(step.phases), f"{step.bytes_sent / 1e6:,.1f}", *(f"{t:.4f}" for t in times)]
        show(comm, [*cells, *[""] * args.gpu, "yes" if same else "NO"])
    return wrong


def on_host(array):
    """Return a NumPy array."""
    return array.get() if hasattr(array, "get") else array


# ---- real matrices


def real(comm, args):
    """Compare with published values; return how many matrices differ."""
    host.GATHERED = 0
    with open(args.folder / "index.csv", newline="") as file:
        index = {row["name"]: row for row in csv.DictReader(file)}
    names = args.names or [n for n in index if (args.folder / f"{n}.npz").exists()]
    wrong, begin = 0, time.perf_counter()
    for name in names:
        D = sm.read_distributed(args.folder / f"{name}.npz", comm)
        start = time.perf_counter()
        found = compare(D, index[name])
        seconds = time.perf_counter() - start
        wrong += bool(found)
        if comm.rank == 0 and (found or seconds > args.slow):
            print(f"{name}: {found or 'right'}, {seconds:.1f} s", flush=True)
    if comm.rank == 0:
        total = time.perf_counter() - begin
        print(f"{len(names) - wrong} of {len(names)} right on {comm.size} ranks, {total:.0f} s")
    return wrong


def compare(D, row):
    """What differs from the published values, in words."""
    matching = sm.maximum_transversal(D)
    if matching.cardinality != int(row["sprank"]):
        return f"structural rank {matching.cardinality}, published {row['sprank']}"
    if not sm.is_maximum(D, matching):
        return "no cover proves it"
    sizes = sm.coarse_dulmage_mendelsohn(D, matching=matching).sizes
    horizontal, square, vertical = (f"{rows}x{cols}" for rows, cols in sizes)
    expected = row["dm_hr"], f"{row['dm_sq']}x{row['dm_sq']}", row["dm_vr"]
    if (horizontal, square, vertical) != expected:
        return f"coarse parts {horizontal}, {square}, {vertical}, published {expected}"
    n_blocks = sm.block_triangular_form(D, matching=matching).n_blocks
    if n_blocks != int(row["dm_nblocks"]):
        return f"{n_blocks} fine blocks, published {row['dm_nblocks']}"
    return ""


def parse():
    """Read the command line."""
    parser = driver.parser(__doc__)
    adders = parser.add_subparsers(required=True)
    tables = []
    for call, names in ((scale, rank_matrices.NAMES), (local_max, [*graphs.NAMES, "circulant"])):
        one = adders.add_parser(call.__name__)
        one.add_argument("names", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
        one.add_argument("--gpu", action="store_true", help="a GPU for each rank")
        one.add_argument("--weak", action="store_true", help="so much for each rank")
        one.add_argument("--repeats", type=int, default=3)
        one.add_argument("--bare", action="store_true", help="no head of the table")
        one.set_defaults(call=call)
        tables.append(one)
    tables[0].add_argument("--entries", type=int, default=4_000_000)
    tables[0].add_argument("--ranks", type=int, nargs="+", help="in the place of 1, 2, 4 ...")
    tables[0].add_argument("--method", default="auto")
    tables[1].add_argument("--vertices", type=float, default=5e5)
    tables[1].add_argument("--weights", choices=("random", "length", "unit"), default="random")
    other = adders.add_parser("real")
    other.add_argument("folder", type=Path)
    other.add_argument("names", nargs="*", metavar="NAME")
    other.add_argument("--slow", type=float, default=5.0, help="seconds worth a line")
    other.set_defaults(call=real)
    return parser.parse_args()


def main():
    """Call what the arguments name on each rank; exit with status 1 if it counts errors."""
    comm = import_mpi().COMM_WORLD
    if comm.rank > 0:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    with abort_on_error(comm):
        args = parse()
        sys.exit(1 if args.call(comm, args) else 0)


if __name__ == "__main__":
    main()
