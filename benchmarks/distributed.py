"""Maximum matchings over MPI ranks: times, exchanges, and real matrices against published ranks.

    mpiexec -n 16 python benchmarks/distributed.py scale er rmat delaunay --entries 100_000_000
    mpiexec -n 4 python benchmarks/distributed.py real FOLDER [NAME ...]

`scale` prints a table: each matrix on 1, 2, 4 ... of the ranks that it was started with, while the
others sleep. Every rank makes its own rows (rank_matrices.py); `delaunay_scrambled` and the like
are in an order that keeps nothing together. Beside a line is one process that has the whole matrix,
with as many threads as there are ranks; on one rank, `auto` is that process. Efficiency is the time
on one rank over that on all, each rank's share of the work times their number. `--weak` gives each
rank as many entries. Times are the least of `--repeats`, each from the call to the last rank's
return.

`real` reads every `.npz` of a folder that has the published values in `index.csv`, and compares
structural rank, certificate, coarse parts and number of fine blocks; the exit status is 1 if
anything differs. Small
matrices are not gathered on one rank then, so that all of the search is tried.
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import rank_matrices
import sparsematch as sm
from sparsematch._engines.mpi.core.exchange import Exchange, abort_on_error, import_mpi
from sparsematch._engines.mpi.decomposition import small_rest
from sparsematch._engines.mpi.matching import gathered

HEAD = """\
| matrix | rows | entries | ranks | seconds | efficiency | start, search | levels | exchanges \
| MB sent | one process, threads |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def scale(comm, arguments):
    """Time matrices on more and more ranks."""
    if comm.rank == 0 and not arguments.bare:
        print(HEAD.replace("\n| MB", "| MB"), flush=True)
    for name in arguments.names:
        single = None
        for n_ranks in arguments.ranks or powers_of_two(comm.size):
            single = on_ranks(comm, n_ranks, name, arguments, single)


def powers_of_two(size):
    """1, 2, 4 ... and at last all."""
    return sorted({2**k for k in range(size.bit_length()) if 2**k <= size} | {size})


def on_ranks(comm, n_ranks, name, arguments, single):
    """Time one matrix on some of the ranks, print a line; return the time on one rank."""
    part = comm.Split(comm.rank < n_ranks, comm.rank)
    line = None
    if comm.rank < n_ranks:
        entries = arguments.entries * (n_ranks if arguments.weak else 1)
        line = measured(part, rank_matrices.build(part, name, entries), arguments)
    seconds, cells = wait_for(comm, line)
    part.Free()
    if single is None:
        single = seconds if n_ranks == 1 else float("nan")
    share = single / seconds / (1 if arguments.weak else n_ranks)
    if comm.rank == 0:
        rows, entries, *others = cells
        cells = f"`{name}`", rows, entries, str(n_ranks), f"{seconds:.2f}", f"{share:.2f}", *others
        print("| " + " | ".join(cells) + " |", flush=True)
    return single


def measured(comm, D, arguments):
    """The least time of the matching, and the cells of a line."""
    comm.barrier()
    times = []
    for _ in range(arguments.repeats):
        comm.barrier()
        begin = time.perf_counter()
        matching, info = sm.maximum_transversal(D, method=arguments.method, return_info=True)
        comm.barrier()
        times.append(time.perf_counter() - begin)
    assert sm.is_maximum(D, matching)
    levels, rounds, sent = (
        sum(getattr(step, what) for step in info.steps)
        for what in ("levels", "rounds", "bytes_sent")
    )
    steps = ", ".join(f"{step.seconds:.2f}" for step in info.steps) if comm.size > 1 else ""
    alone = None if arguments.bare else in_one_process(comm, D, matching, arguments)
    return min(times), (
        f"{D.n_rows:,}",
        f"{D.nnz:,}",
        steps,
        f"{levels:,}",
        f"{rounds:,}",
        f"{sent / 1e6:,.1f}",
        "" if alone is None else f"{alone:.2f}",
    )


def in_one_process(comm, D, matching, arguments):
    """The time of rank 0 with the whole matrix, and as many threads as there are ranks."""
    exchange = Exchange(comm)
    degrees, indices = exchange.gatherv(np.diff(D.indptr)), exchange.gatherv(D.indices)
    seconds = None
    if comm.rank == 0:
        indptr = np.concatenate([[0], np.cumsum(degrees)]).astype(indices.dtype)
        A = sp.csr_array((np.broadcast_to(np.int8(1), indices.size), indices, indptr), D.shape)
        seconds, rank = timed(lambda: sm.structural_rank(A, workers=comm.size), arguments.repeats)
        assert rank == matching.cardinality
    return wait_for(comm, seconds)


def wait_for(comm, thing):
    """What rank 0 has, for which the others wait without a load."""
    request = comm.Ibarrier() if comm.rank else None
    if comm.rank == 0:
        comm.Ibarrier().Wait()
    while request and not request.Test():
        time.sleep(0.01)
    return comm.bcast(thing)


def timed(call, repeats):
    """The least time of some calls, and the last result."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds), result


def real(comm, arguments):
    """Compare with published values; return how many matrices differ."""
    gathered.GATHERED = small_rest.SMALL = 0
    with open(arguments.folder / "index.csv", newline="") as file:
        index = {row["name"]: row for row in csv.DictReader(file)}
    names = arguments.names or [n for n in index if (arguments.folder / f"{n}.npz").exists()]
    wrong, begin = 0, time.perf_counter()
    for name in names:
        D = sm.read_distributed(arguments.folder / f"{name}.npz", comm)
        start = time.perf_counter()
        found = compare(D, index[name])
        seconds = time.perf_counter() - start
        wrong += bool(found)
        if comm.rank == 0 and (found or seconds > arguments.slow):
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


def main():
    """Parse the arguments, on every rank."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    adders = parser.add_subparsers(required=True)
    one = adders.add_parser("scale")
    names = [f + tail for f in rank_matrices.FAMILIES for tail in ("", "_scrambled")]
    one.add_argument("names", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    one.add_argument("--entries", type=int, default=4_000_000)
    one.add_argument("--ranks", type=int, nargs="+", help="in the place of 1, 2, 4 ...")
    one.add_argument("--weak", action="store_true", help="so many entries for each rank")
    one.add_argument("--method", default="auto")
    one.add_argument("--repeats", type=int, default=2)
    one.add_argument("--bare", action="store_true", help="no head, and no process with all")
    one.set_defaults(call=scale)
    other = adders.add_parser("real")
    other.add_argument("folder", type=Path)
    other.add_argument("names", nargs="*", metavar="NAME")
    other.add_argument("--slow", type=float, default=5.0, help="seconds worth a line")
    other.set_defaults(call=real)
    run_on_all_ranks(parser)


def run_on_all_ranks(parser):
    """Call what the arguments name on each rank; exit with status 1 if it counts errors."""
    comm = import_mpi().COMM_WORLD
    if comm.rank > 0:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    with abort_on_error(comm):
        arguments = parser.parse_args()
        sys.exit(1 if arguments.call(comm, arguments) else 0)


if __name__ == "__main__":
    main()
