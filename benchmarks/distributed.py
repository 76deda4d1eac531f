"""Maximum matchings over MPI ranks: times, exchanges, and real matrices against published ranks.

    mpiexec -n 4 python benchmarks/distributed.py scale mesh sparse_random --rows 1_000_000
    mpiexec -n 4 python benchmarks/distributed.py real FOLDER [NAME ...]

`scale` prints a line of a table for each matrix: start it with 1, 2, 4 ... ranks. `--weak` makes it
as many rows for each rank. Beside it is one process that has the whole matrix, with as many threads
as there are ranks; on one rank, `auto` is that process. `real` reads every `.npz` of a folder that
has the published values in `index.csv`, and compares structural rank, certificate and coarse parts;
the exit status is 1 if anything differs. Small matrices are not gathered on one rank then, so that
all of the search is tried.
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path

import numpy as np

import matrices
import sparsematch as sm
from sparsematch._engines.mpi.core.exchange import finishing, import_mpi
from sparsematch._engines.mpi.matching import gathered

HEAD = """\
| matrix | rows | entries | ranks | seconds | levels | rounds | MB sent | one process, threads |
|---|---|---|---|---|---|---|---|---|"""


def scale(comm, arguments):
    """Time the search on generated matrices."""
    rows = arguments.rows * (comm.size if arguments.weak else 1)
    if comm.rank == 0 and not arguments.bare:
        print(HEAD)
    for name in arguments.names:
        A = matrices.FAMILIES[name](np.random.default_rng(2016), rows)
        if arguments.scrambled:
            A = matrices.scrambled(A, np.random.default_rng(2017))
        begin, end = (A.shape[0] * (comm.rank + k) // comm.size for k in (0, 1))
        D = sm.DistributedCSR.from_local(comm, A[begin:end])
        alone = None
        if comm.rank == 0:
            alone = timed(lambda A=A: sm.structural_rank(A, workers=comm.size), arguments.repeats)
        alone = wait_for(comm, alone)
        del A
        comm.barrier()
        seconds, (matching, info) = timed(
            lambda D=D: sm.maximum_transversal(D, method=arguments.method, return_info=True),
            arguments.repeats,
        )
        assert matching.cardinality == alone[1]
        assert sm.is_maximum(D, matching)
        if comm.rank == 0:
            report(name, D, comm.size, seconds, info, alone[0])


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


def report(name, D, size, seconds, info, alone):
    levels, rounds, sent = (
        sum(getattr(step, what) for step in info.steps)
        for what in ("levels", "rounds", "bytes_sent")
    )
    cells = [
        f"`{name}`",
        f"{D.n_rows:,}",
        f"{D.nnz:,}",
        str(size),
        f"{seconds:.2f}",
        f"{levels:,}",
        f"{rounds:,}",
        f"{sent / 1e6:,.1f}",
        f"{alone:.2f}",
    ]
    print("| " + " | ".join(cells) + " |", flush=True)


def real(comm, arguments):
    """Compare with published values; return how many matrices differ."""
    gathered.GATHERED = 0
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
    return ""


def main():
    """Parse the arguments, on every rank."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    adders = parser.add_subparsers(required=True)
    one = adders.add_parser("scale")
    one.add_argument("names", nargs="+", choices=list(matrices.FAMILIES), metavar="NAME")
    one.add_argument("--rows", type=int, default=500_000)
    one.add_argument("--weak", action="store_true", help="so many rows for each rank")
    one.add_argument("--scrambled", action="store_true", help="rows and columns in random order")
    one.add_argument("--method", default="auto")
    one.add_argument("--repeats", type=int, default=2)
    one.add_argument("--bare", action="store_true", help="no head of the table")
    one.set_defaults(call=scale)
    other = adders.add_parser("real")
    other.add_argument("folder", type=Path)
    other.add_argument("names", nargs="*", metavar="NAME")
    other.add_argument("--slow", type=float, default=5.0, help="seconds worth a line")
    other.set_defaults(call=real)
    comm = import_mpi().COMM_WORLD
    if comm.rank > 0:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    with finishing(comm):
        arguments = parser.parse_args()
        sys.exit(1 if arguments.call(comm, arguments) else 0)


if __name__ == "__main__":
    main()
