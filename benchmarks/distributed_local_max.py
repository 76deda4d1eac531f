"""Local max over MPI ranks: times, exchanges, and whether the matching is that of one process.

    mpiexec -n 4 python benchmarks/distributed_local_max.py scale delaunay random_4 --vertices 1e6
    mpiexec -n 4 python benchmarks/distributed_local_max.py real FOLDER [NAME ...]

`scale` prints a line of a table for each generated graph (graphs.py): start it with 1, 2, 4 ...
ranks. `--weak` makes it as many vertices for each rank. Beside it is the engine `local_max` in one
process, with one thread and with as many as there are ranks. `real` reads every square `.npz` of a
folder, symmetrized. The exit status is 1 if a matching differs.
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import graphs
import sparsematch as sm
from distributed import run_on_all_ranks, timed, wait_for

HEAD = """\
| graph | vertices | edges | ranks | seconds | rounds | MB sent | one thread | threads | identical |
|---|---|---|---|---|---|---|---|---|---|"""


def scale(comm, arguments):
    """Time generated graphs; return how many matchings differ."""
    n = int(arguments.vertices) * (comm.size if arguments.weak else 1)
    if comm.rank == 0 and not arguments.bare:
        print(HEAD)
    wrong = 0
    for name in arguments.names:
        G = graphs.build(name, n, arguments.weights)
        begin, end = (G.shape[0] * (comm.rank + k) // comm.size for k in (0, 1))
        D = sm.DistributedCSR.from_local(comm, G[begin:end])
        alone = None
        if comm.rank == 0:
            alone = [
                timed(lambda k=k, G=G: sm.approximate_matching(G, workers=k), arguments.repeats)
                for k in (1, comm.size)
            ]
            expected = alone[0][1].mate
        wait_for(comm, None)
        del G
        comm.barrier()
        seconds, matching = timed(lambda D=D: sm.approximate_matching(D), arguments.repeats)
        parts = comm.gather(matching.mate)
        if comm.rank == 0:
            identical = np.array_equal(np.concatenate(parts), expected)
            wrong += not identical
            report(name, D, comm.size, seconds, matching, [t for t, _ in alone], identical)
    return comm.bcast(wrong)


def report(name, D, size, seconds, matching, alone, identical):
    (step,) = matching.info.steps
    cells = [
        f"`{name}`",
        f"{D.n_rows:,}",
        f"{D.nnz // 2:,}",
        str(size),
        f"{seconds:.3f}",
        str(step.phases),
        f"{step.bytes_sent / 1e6:,.1f}",
        *(f"{t:.3f}" for t in alone),
        "yes" if identical else "NO",
    ]
    print("| " + " | ".join(cells) + " |", flush=True)


def real(comm, arguments):
    """Match real matrices; return how many matchings differ."""
    paths = sorted(arguments.folder.glob("*.npz"))
    done = wrong = 0
    for path in paths:
        if arguments.names and path.stem not in arguments.names:
            continue
        A = sp.load_npz(path)
        if A.shape[0] != A.shape[1]:
            continue
        D = sm.read_distributed(path, comm)
        for weights in (True, False):
            how = {"symmetrize": True, "weights": weights}
            parts = comm.gather(sm.approximate_matching(D, **how).mate)
            if comm.rank == 0:
                expected = sm.approximate_matching(A, **how).mate
                done, same = done + 1, np.array_equal(np.concatenate(parts), expected)
                wrong += not same
                if not same:
                    print(f"{path.stem}: differs", flush=True)
    if comm.rank == 0:
        print(f"{done - wrong} of {done} identical on {comm.size} ranks")
    return comm.bcast(wrong)


def main():
    """Parse the arguments, on every rank."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    adders = parser.add_subparsers(required=True)
    one = adders.add_parser("scale")
    one.add_argument("names", nargs="+", choices=graphs.NAMES, metavar="NAME")
    one.add_argument("--vertices", type=float, default=5e5)
    one.add_argument("--weights", choices=("random", "length", "unit"), default="random")
    one.add_argument("--weak", action="store_true", help="so many vertices for each rank")
    one.add_argument("--repeats", type=int, default=3)
    one.add_argument("--bare", action="store_true", help="no head of the table")
    one.set_defaults(call=scale)
    other = adders.add_parser("real")
    other.add_argument("folder", type=Path)
    other.add_argument("names", nargs="*", metavar="NAME")
    other.set_defaults(call=real)
    run_on_all_ranks(parser)


if __name__ == "__main__":
    main()
