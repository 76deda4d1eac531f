"""One measurement in a process of its own, with a time limit: what `compare.py` is made of.

Run as a command it is the child: it loads one matrix, measures one thing, and prints a line of
JSON. `measure` is the parent's side. The clock of the limit starts when the child has loaded
everything and begins the measured call; like the times it counts processor time for one worker.
"""

import json
import math
import signal
import statistics
import subprocess
import sys
import time

#: Seconds that calls may have taken before another is made. A first call that takes longer counts
#: itself: what it warms up is milliseconds.
ENOUGH = 0.5
#: How many times as long as the limit the clock on the wall may take, on a machine that is shared.
PATIENCE = 20


def child(what, path, workers, repeats, limit):
    """Measure `what` on the matrix in the file and return the figures."""
    import numpy as np
    import scipy.sparse as sp

    A = sp.load_npz(path)
    clock = time.thread_time if workers == 1 else time.perf_counter
    call, check = {"transversal": transversal, "blocks": blocks, "scipy": scipy}[what](A, workers)
    x = np.ones(A.shape[1], np.float32)
    unit, _ = median(lambda: A @ x, clock, 7)
    print("ready", flush=True)
    if workers == 1:
        stop_after(limit)
    seconds, result = median(call, clock, repeats)
    return {"unit": unit, "seconds": seconds, "cardinality": check(result)}


def stop_after(seconds):
    """Have the system end this process after so many more seconds of processor time."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock alone
        return
    end = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 5))


def median(call, clock, repeats):
    """Return the median time of the calls after one that warms up, and the last result.

    They are as many as wanted, or as fit into half a second. A slow first one is the only one.
    """
    seconds = []
    while len(seconds) <= repeats and sum(seconds) <= ENOUGH:
        start = clock()
        result = call()
        seconds.append(clock() - start)
    return statistics.median(seconds[1:] or seconds), result


def transversal(A, workers):
    """`maximum_transversal` as a user calls it: checks of the matrix and transposes included."""
    import sparsematch

    def check(matching):
        if not sparsematch.is_maximum(A, matching):
            raise AssertionError("the matching is not maximum")
        return matching.cardinality

    return lambda: sparsematch.maximum_transversal(A, workers=workers), check


def blocks(A, workers):
    """`block_triangular_form`, the matching included."""
    import sparsematch

    def check(form):
        if not sparsematch.is_maximum(A, form.matching):
            raise AssertionError("the matching is not maximum")
        if below_the_blocks(form.permute(A).tocoo(), form):
            raise AssertionError("the permuted matrix is not block triangular")
        return form.matching.cardinality

    return lambda: sparsematch.block_triangular_form(A, workers=workers), check


def below_the_blocks(C, form):
    """Count the entries below the diagonal blocks."""
    import numpy as np

    row_block = np.searchsorted(form.row_blocks[1:], C.row, side="right")
    col_block = np.searchsorted(form.col_blocks[1:], C.col, side="right")
    return int((row_block > col_block).sum())


def scipy(A, workers):
    """SciPy's function, from the same CSR matrix."""
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return lambda: maximum_bipartite_matching(A, perm_type="column"), lambda mates: int(
        (mates >= 0).sum()
    )


def measure(what, path, *, workers=1, repeats=3, limit=20.0):
    """Return the figures of a child, or None when it did not finish within the limit."""
    command = [sys.executable, __file__, what, path, *map(str, (workers, repeats, limit))]
    wall = limit * PATIENCE if workers == 1 else limit
    return run_child(command, f"{what} failed on {path}", wall)


def run_child(command, failure, limit):
    """Run a program that prints a line when it is ready and then its JSON; None: out of time."""
    # Unbuffered, so that reading the first line consumes nothing of the second.
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    ) as process:
        process.stdout.readline()
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None
    if process.returncode < 0 and process.returncode == -signal.SIGXCPU:
        return None
    if process.returncode:
        raise RuntimeError(f"{failure}:\n{err.decode()}")
    return json.loads(out)


if __name__ == "__main__":
    what, path, workers, repeats, limit = sys.argv[1:]
    print(json.dumps(child(what, path, int(workers), int(repeats), float(limit))))
