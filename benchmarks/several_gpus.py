"""Matching over several GPUs, one process each: times, certificates, and one GPU beside them.

    mpiexec -n 2 python benchmarks/several_gpus.py latency
    mpiexec -n 2 python benchmarks/several_gpus.py skewed --rows 33554432 --mean 30
    mpiexec -n 2 python benchmarks/several_gpus.py uniform --rows 500000000 --mean 30 --no-single
    mpiexec -n 2 python benchmarks/several_gpus.py local_max --rows 4000000 --mean 12

Every rank uses the GPU of its number on its machine, and generates its rows there
(device_matrices.py). Rank 0 prints one line of JSON for each result, times in seconds:

- `latency`: medians of a barrier and of small collectives, each with a wait for the device.
- `skewed`, `uniform`: the median of `--repeats` calls of `maximum_transversal` after one that
  compiles, from the call to the last rank's return. Certified by a vertex cover of the same size,
  of which all entries are checked here, without the engines. Then one GPU alone on the same
  matrix, by `auto` for one GPU, unless `--no-single`.
- `local_max`: the same of `approximate_matching`, and whether the mates are the same.

What takes longer than `--limit` seconds ends all ranks, with the place where each was. The exit
status is 1 if something is wrong.
"""

import argparse
import cProfile
import faulthandler
import json
import pstats
import sys
import time

import numpy as np

import device_matrices
import sparsematch as sm
from sparsematch._engines.mpi.core.exchange import abort_on_error, import_mpi
from sparsematch._engines.nccl.core.exchange import Exchange
from sparsematch._engines.nccl.matching import gathered


def own_gpu(comm, xp):
    """Use the GPU of this rank's number among those of its machine."""
    local = comm.Split_type(import_mpi().COMM_TYPE_SHARED)
    count = xp.cuda.runtime.getDeviceCount()
    if hasattr(xp.cuda.Device(0), "use"):
        xp.cuda.Device(local.rank % count).use()
    return local.size <= count


def print_line(comm, **facts):
    if comm.rank == 0:
        print(json.dumps(facts), flush=True)


def finish(xp):
    """Wait for the device."""
    xp.cuda.get_current_stream().synchronize()


def timed(comm, xp, call, repeats):
    """The result of a call by all ranks, its times, and that of the first."""
    times = []
    for _ in range(1 + repeats):
        result = None  # its memory is used again
        comm.barrier()
        begin = time.perf_counter()
        result = call()
        finish(xp)
        comm.barrier()
        times.append(time.perf_counter() - begin)
    return result, times[1:], times[0]


def latency(comm, xp, arguments):
    """Small collectives."""
    exchange = Exchange(comm, xp)
    one = xp.zeros(1, np.int64)
    others = [one] * comm.size
    arriving = [1] * comm.size
    big = xp.zeros(1 << 26, np.int32)

    def to_all():
        exchange.alltoallv(others, arriving)
        finish(xp)

    def sum_up(array=one):
        exchange.allreduce_array(array, "SUM")
        finish(xp)

    calls = {
        "mpi_barrier": comm.barrier,
        "mpi_allgather_of_8_numbers": lambda: exchange.allgather_numbers([0] * 8),
        "device_wait": lambda: finish(xp),
        "all_to_all_of_8_bytes": to_all,
        "all_reduce_of_8_bytes": sum_up,
        "all_reduce_of_256_MiB": lambda: sum_up(big),
    }
    for name, call in calls.items():
        times = []
        for _ in range(5 if "MiB" in name else 300):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        median = max(comm.allgather(float(np.median(times[2:]))))
        print_line(comm, what=name, carrier=exchange.carrier, microseconds=round(median * 1e6, 1))
    return True


def match(comm, xp, arguments):
    """A maximum matching over all GPUs, certified, and by one."""
    make = getattr(device_matrices, arguments.what)
    n, size = arguments.rows, comm.size
    begin, end = (n * (comm.rank + k) // size for k in (0, 1))
    start = time.perf_counter()
    arrays = make(xp, n, arguments.mean, begin, end, arguments.seed)
    D = sm.DistributedCSR(comm, *arrays, begin, (n, n))
    finish(xp)
    facts = {"what": arguments.what, "rows": n, "entries": D.nnz, "ranks": size}
    print_line(comm, **facts, made_in=round(time.perf_counter() - start, 2))
    how = {"method": "auto", "return_info": True}
    (matching, info), times, first = timed(
        comm, xp, lambda: sm.maximum_transversal(D, **how), arguments.repeats
    )
    seconds, rank = float(np.median(times)), matching.cardinality
    report = {"seconds": round(seconds, 4), "first": round(first, 2), "structural_rank": rank}
    print_line(comm, **facts, **report, times=[round(t, 4) for t in times])
    for step in info.steps:
        names = ("engine", "seconds", "phases", "levels", "edges", "rounds", "bytes_sent")
        names += ("augmentations", "path_edges", "cardinality", "carrier")
        print_line(comm, **{name: getattr(step, name) for name in names})
    if arguments.profile:
        profile(comm, lambda: sm.maximum_transversal(D))
    used = comm.allgather(memory(xp))
    start = time.perf_counter()
    proven = certified(comm, xp, D, matching)
    print_line(
        comm, certified=proven, in_seconds=round(time.perf_counter() - start, 2), GB_per_gpu=used
    )
    if arguments.single:
        del D, arrays, matching
        same, alone = by_one(comm, xp, make, arguments, rank)
        proven = proven and same
        print_line(
            comm, **facts, one_gpu=round(alone, 4), several=round(seconds, 4), same_rank=same,
            speedup=round(alone / seconds, 2),
        )  # fmt: skip
    return proven


def memory(xp):
    """Bytes that CuPy's pool has taken from the device so far, in GB."""
    pool = getattr(xp, "get_default_memory_pool", None)
    return round(pool().total_bytes() / 1e9, 2) if pool else 0.0


def certified(comm, xp, D, matching):
    """Whether a vertex cover proves the matching maximum: as many vertices, and all entries."""
    rows, cols = sm.vertex_cover(D, matching)
    n_cover = sum(comm.allgather(int(rows.size + cols.size)))
    covered = xp.zeros(D.n_cols, np.uint8)
    covered[cols] = 1
    Exchange(comm, xp).allreduce_array(covered, "SUM")  # a column has one owner
    in_cover = xp.zeros(len(D.own_rows), bool)
    in_cover[rows - D.first_row] = True
    wrong, n = 0, in_cover.size
    step = max(1, device_matrices.SLICE * n // max(D.local_nnz, 1))
    for first in range(0, n, step):
        bounds = D.indptr[first : first + step + 1]
        low, high = int(bounds[0]), int(bounds[-1])
        sums = xp.zeros(high - low + 1, np.int64)
        sums[1:] = xp.cumsum(covered[D.indices[low:high]] == 0)
        bare = sums[bounds[1:] - low] - sums[bounds[:-1] - low]
        wrong += int(bare[~in_cover[first : first + step]].sum())
    return n_cover == matching.cardinality and sum(comm.allgather(wrong)) == 0


def by_one(comm, xp, make, arguments, rank):
    """Whether rank 0 alone finds the same number of pairs, and its time; the others wait."""
    n, found = arguments.rows, None
    free_memory(xp)
    if comm.rank == 0:
        indptr, indices = make(xp, n, arguments.mean, 0, n, arguments.seed)
        A = sm.BipartiteCSR.from_arrays(indptr.astype(np.int32), indices, (n, n))
        del indptr, indices
        times = []
        for _ in range(1 + arguments.repeats):
            begin = time.perf_counter()
            alone = sm.maximum_transversal(A).cardinality
            times.append(time.perf_counter() - begin)
        found = alone == rank, float(np.median(times[1:]))
    return comm.bcast(found)


def free_memory(xp):
    if hasattr(xp, "get_default_memory_pool"):
        xp.get_default_memory_pool().free_all_blocks()


def local_max(comm, xp, arguments):
    """A heavy matching over all GPUs and by one."""
    n, size = arguments.rows, comm.size
    begin, end = (n * (comm.rank + k) // size for k in (0, 1))
    make = device_matrices.circulant
    indptr, indices, weights = make(xp, n, arguments.mean, begin, end, arguments.seed)
    D = sm.DistributedCSR(comm, indptr, indices, begin, (n, n), weights)
    matching, times, first = timed(comm, xp, lambda: sm.approximate_matching(D), arguments.repeats)
    mate, seconds = matching.gather().get().mate, float(np.median(times))
    (step,) = matching.info.steps
    facts = {"what": "local_max", "vertices": n, "entries": D.nnz, "ranks": size}
    facts |= {"seconds": round(seconds, 4), "first": round(first, 2), "rounds": step.phases}
    print_line(comm, **facts, engine_seconds=step.seconds, weight=matching.weight)
    same = None
    if comm.rank == 0 and arguments.single:
        del D
        same, alone = one_local_max(xp, make(xp, n, arguments.mean, 0, n, arguments.seed), n, mate,
                                    arguments.repeats)  # fmt: skip
        print_line(comm, one_gpu=round(alone, 4), several=round(seconds, 4), same_mates=same)
    return comm.bcast(same) is not False


def one_local_max(xp, arrays, n, mate, repeats):
    """Whether one process finds the same mates, and its time."""
    G = sm.DistributedCSR(None, *arrays[:2], 0, (n, n), arrays[2])
    times = []
    for _ in range(1 + repeats):
        begin = time.perf_counter()
        alone = sm.approximate_matching(G)
        finish(xp)
        times.append(time.perf_counter() - begin)
    return bool(np.array_equal(alone.mate.get(), mate)), float(np.median(times[1:]))


def profile(comm, call):
    """Where the host of rank 0 spends its time."""
    profiler = cProfile.Profile()
    profiler.runcall(call)
    if comm.rank == 0:
        pstats.Stats(profiler, stream=sys.stdout).sort_stats("tottime").print_stats(25)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["latency", "skewed", "uniform", "local_max"])
    parser.add_argument("--rows", type=int, default=1 << 20)
    parser.add_argument("--mean", type=int, default=30, help="entries a row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=240, help="seconds")
    parser.add_argument("--no-single", dest="single", action="store_false")
    parser.add_argument("--together", action="store_true", help="gather no small matrix")
    parser.add_argument("--profile", action="store_true", help="of the host of rank 0")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    faulthandler.dump_traceback_later(arguments.limit, exit=True)
    comm = import_mpi().COMM_WORLD
    import cupy

    if arguments.together:
        gathered.GATHERED = 0
    with abort_on_error(comm):
        if not own_gpu(comm, cupy) and comm.rank == 0:
            print("ranks share GPUs: arrays go through host memory", file=sys.stderr)
        calls = {"latency": latency, "local_max": local_max}
        right = calls.get(arguments.what, match)(comm, cupy, arguments)
    faulthandler.cancel_dump_traceback_later()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
