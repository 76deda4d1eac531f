"""Forks, memory limits, Ctrl-C and threads, at any moment of any call.

A child forked while other threads are in calls must be able to call; a call that has too little
memory raises MemoryError; one that is interrupted raises KeyboardInterrupt soon, and the next is
right; calls of several threads at once are right.
"""

import os
import resource
import signal
import threading
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

os.environ["SPARSEMATCH_CORES"] = "4"  # before the package asks how many there are

import sparsematch as sm
from harness import announce
from sparsematch import csgraph, solvers

HOW = {"isolated": True, "limit": 300}
LATE = 1.0  # seconds from Ctrl-C to its exception, on a machine that does other things as well
HANGS = 30  # seconds until a forked child is given up


def random(n, seed):
    rng = np.random.default_rng(seed)
    return sp.csr_array(sp.random_array((n, n), density=2.5 / n, rng=rng, format="csr"))


class Matrices:
    """A deficient matrix, a graph, a nonsingular matrix, a grid that is factorised, by size."""

    def __init__(self, n):
        self.A = random(n, n)
        self.G = sp.csr_array(abs(self.A) + abs(self.A.T))
        self.S = sp.csr_array(self.A + 5 * sp.eye_array(n))
        k = min(int(n**0.5), 200)
        line = sp.diags_array([np.ones(k - 1), np.ones(k - 1)], offsets=[-1, 1])
        eye = sp.eye_array(k)
        neighbours = sp.kron(line, eye) + sp.kron(eye, line)
        self.grid = sp.csc_array(4.5 * sp.eye_array(k * k) - neighbours)
        self.lu = solvers.splu(self.grid)
        self.matching = sm.maximum_transversal(self.A)


SMALL, LARGE = Matrices(2_000), Matrices(150_000)

#: Name: call of matrices and workers, returning what must be the same every time.
CALLS = {
    "maximum_transversal": lambda m, w: sm.maximum_transversal(m.A, workers=w).cardinality,
    **{
        name: lambda m, w, name=name: (
            sm.maximum_transversal(m.A, method=name, init="none", workers=w).cardinality
        )
        for name in ("hopcroft_karp", "pothen_fan", "push_relabel", "ms_bfs_graft")
    },
    "structural_rank": lambda m, w: sm.structural_rank(m.A, workers=w),
    "block_triangular_form": lambda m, w: sm.block_triangular_form(m.A, workers=w).n_blocks,
    "explain_singularity": lambda m, w: len(sm.explain_singularity(m.A, workers=w).overdetermined),
    "product": lambda m, w: round(sm.maximum_product_transversal(m.S, workers=w).objective, 6),
    "sum": lambda m, w: round(sm.maximum_sum_transversal(m.S, workers=w).objective, 6),
    "weight": lambda m, w: round(sm.maximum_weight_matching(m.S, workers=w).objective, 6),
    "bottleneck": lambda m, w: sm.bottleneck_transversal(m.S, workers=w).objective,
    **{
        name: lambda m, w, name=name: (
            sm.approximate_matching(m.G, method=name, workers=w, rng=1).cardinality
        )
        for name in ("local_max", "suitor", "gpa", "greedy")
    },
    "hierarchy": lambda m, w: sm.coarsening_hierarchy(m.G, workers=w, rng=1).sizes,
    "connected_components": lambda m, w: sm.connected_components(m.A).n_components,
    "vertex_cover": lambda m, w: sm.vertex_cover(m.A, m.matching).size,
    "splu": lambda m, w: solvers.splu(m.grid).n_blocks,
    "refactorise": lambda m, w: m.lu.analysis.factorise(m.grid).n_blocks,
    "solve": lambda m, w: bool(np.isfinite(m.lu.solve(np.ones((m.grid.shape[0], 40)))).all()),
    "csgraph": lambda m, w: int((csgraph.maximum_bipartite_matching(m.A) >= 0).sum()),
}
WANTED = {}


def pick(rng, matrices=SMALL):
    """The name of a call, the call itself, and what it must return."""
    name, workers = list(CALLS)[rng.integers(len(CALLS))], int(rng.choice([1, 2, 4]))
    return name, lambda: CALLS[name](matrices, workers), WANTED[name]


def forked(call, seconds):
    """Whether a forked child gets its answer: "hangs", or its exit status."""
    pid, end = os.fork(), time.monotonic() + seconds
    if pid == 0:
        signal.alarm(0)
        os._exit(call())
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "hangs"


def fork_under_load(rng):
    """Children are forked while two threads call."""
    stop = threading.Event()
    busy_name, busy, _ = pick(rng, LARGE)

    def work():
        while not stop.is_set():
            busy()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        name, call, want = pick(rng)
        announce(f"in a fork for {name} while threads are in {busy_name}")
        time.sleep(rng.uniform(0, 0.05))
        outcome = forked(lambda call=call, want=want: int(call() != want), HANGS)
        if outcome:
            yield f"{name} in a child forked while threads are in {busy_name}: {outcome}"
    stop.set()
    for thread in threads:
        thread.join()


def little_memory(rng):
    """A call has room for a random number of bytes."""
    matrices = SMALL if rng.random() < 0.5 else LARGE
    name, call, _ = pick(rng, matrices)
    room = int(10 ** rng.uniform(3.5, 8.2 if matrices is LARGE else 7.3))

    def limited():
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
        try:
            call()
        except MemoryError:
            return 0
        except Exception as error:
            os.write(1, f"  {type(error).__name__}: {str(error)[:100]}\n".encode())
            return 1
        return 0

    if outcome := forked(limited, HANGS):
        yield f"{name} with room for {room:,} bytes: {outcome}"


def interrupted(rng):
    """Ctrl-C during a call; then a call like it is right."""
    name, call, _ = pick(rng, LARGE)
    delay, sent, ended = float(rng.uniform(0.01, 0.5)), [], threading.Event()
    announce(f"in {name}, interrupted after {delay:.3f} s")

    def press():  # again where that was lost: else it would look like a call that hangs
        while not sent or not ended.wait(HANGS):
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, press)
    try:
        timer.start()
        while True:  # short ones again and again
            call()
    except KeyboardInterrupt:
        late = time.monotonic() - sent[0]
    ended.set()
    if late > LATE:
        yield f"{name}: KeyboardInterrupt {late:.1f} s late, of Ctrl-C number {len(sent)}"
    if (found := CALLS[name](SMALL, 2)) != WANTED[name]:
        yield f"{name} after an interrupt: {found}, not {WANTED[name]}"


def at_once(rng):
    """Calls of four threads."""
    picked = [[pick(rng) for _ in range(10)] for _ in range(4)]
    found = []

    def work(calls):
        for name, call, want in calls:
            answer = call()
            if answer != want:
                found.append(f"{name} beside three threads: {answer}, not {want}")

    announce("in calls of four threads")
    threads = [threading.Thread(target=work, args=(calls,)) for calls in picked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield from found


KINDS = fork_under_load, little_memory, little_memory, little_memory, interrupted, at_once


def case(rng):
    yield from KINDS[rng.integers(len(KINDS))](rng)


def prepare():
    WANTED.update({name: call(SMALL, 1) for name, call in CALLS.items()})
