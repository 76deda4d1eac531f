"""Ctrl-C during a long call raises KeyboardInterrupt, and the interpreter goes on working."""

import contextlib
import queue
import signal
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
import scipy
import scipy.sparse as sp

import sparsematch as sm
from calls import grid, in_a_new_process, random_matrix, run_python, scrambled
from sparsematch._base.arrays import stable_order
from sparsematch._engines.cpu import _core
from sparsematch._numerics.foreign_calls import pivots, qr, svd
from sparsematch.solvers import lstsq

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process"),
    # Python warns of a file that was being opened, as that of the memory left is.
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
]

# Each line that the child prints is answered by a signal a moment later, while the engine works.
CHILD = """
import sparsematch as sm
from calls import grid, scrambled

A, small = scrambled(grid(2000), seed=199), grid(4)
exact = sm.engines("exact")
for name, workers in [(e.name, n) for e in exact for n in (1, 2)[: 1 + e.multithreaded]]:
    sm.structural_rank(small, method=name)
    try:
        print(f"working: {name} with {workers}", flush=True)
        sm.maximum_transversal(A, method=name, init="none", workers=workers)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    else:
        print("finished", flush=True)
    assert sm.structural_rank(small, method=name, workers=workers) == 16
G = grid(2000)
for engine in sm.engines("approximate"):
    try:
        print(f"working: {engine.name}", flush=True)
        while True:
            sm.maximal_matching(G, method=engine.name, workers=2)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    assert sm.maximal_matching(small, method=engine.name).cardinality >= 4
matching = sm.maximum_transversal(A)
try:
    print("working: block form", flush=True)
    for _ in range(100):
        sm.block_triangular_form(A, matching=matching)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert sm.block_triangular_form(small).n_blocks == 2
print("done", flush=True)
"""


@pytest.fixture
def child():
    """The process that makes the calls, and the lines that it prints."""
    process = in_a_new_process(CHILD)
    lines = queue.SimpleQueue()
    reader = threading.Thread(target=lambda: [lines.put(line.strip()) for line in process.stdout])
    reader.start()
    yield process, lines
    process.kill()
    process.wait()
    reader.join()
    process.stdout.close()


def test_every_exact_and_approximate_engine_and_the_block_form(child):
    process, lines = child
    seen = set()
    while (line := lines.get(timeout=60)) != "done":
        assert line.startswith("working: ")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert (line, lines.get(timeout=60)) == (line, "interrupted")
        seen.add(line)
    assert process.wait(timeout=60) == 0
    assert len(seen) >= 15


FIRST = """
import signal
import numpy as np
from scipy.sparse import csc_array, diags_array
from sparsematch.solvers import splu

n = 200_000
order = np.random.default_rng(0).permutation(n)
A = csc_array(diags_array([-1.0, -1, 8, -1, -1], offsets=[-3, -1, 0, 1, 3], shape=(n, n)))
A = csc_array(A[order][:, order])
A.sort_indices()
inside = []
signal.signal(signal.SIGALRM, lambda _, frame: inside.append(frame.f_code.co_name))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
splu(A)
signal.setitimer(signal.ITIMER_REAL, 0)
print(inside.count("begin") >= 3)
"""


def test_signals_are_handled_while_the_first_matrix_of_a_process_is_factorised():
    """A handler runs several times in one call of the core, not only when it returns."""
    done = run_python("-P", "-c", FIRST)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


@contextlib.contextmanager
def alarms(handler, first, again=0.0):
    """Handle a signal after some seconds, perhaps again and again."""
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, first, again)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def handled_during(call):
    """How often a handler of signals ran while one was pending all the time."""
    count = []
    with alarms(lambda *_: count.append(1), 0.002, 0.002):
        count.clear()
        call()
        return len(count)


def test_long_passes_poll():
    """Without a poll, a handler runs once before such a pass and once after it."""
    rng, n = np.random.default_rng(1), 1 << 21
    indices = rng.integers(0, n, 4 * n, dtype=np.int32)
    arrays = np.arange(0, 4 * n + 1, 4, dtype=np.int32), indices
    lists = np.empty(n + 1, np.int32), np.empty(4 * n, np.int32)
    labels = np.empty(n, np.int32), np.empty(n, np.int32)
    for call in (
        partial(_core.transpose, (n, *arrays), *lists, 1),
        partial(_core.connected_components, (n, *arrays), *labels),
        partial(stable_order, indices),
    ):
        assert handled_during(call) >= 3
    assert np.array_equal(stable_order(indices), indices.argsort(kind="stable"))


def test_searches_poll():
    """They poll every 20 ms, and each takes more than five times as long."""
    small, large = (scrambled(grid(n), seed=199) for n in (350, 700))
    calls = {
        name: partial(sm.maximum_transversal, large, method=name, init="none")
        for name in ("pothen_fan", "push_relabel", "single_source_bfs", "ms_bfs_graft")
    }
    calls["hopcroft_karp"] = partial(
        sm.maximum_transversal, small, method="hopcroft_karp", init="none"
    )
    B = random_matrix(20_000, 20_000, 8, seed=31) + sp.eye_array(20_000)
    B.data = np.random.default_rng(37).integers(1, 5, B.nnz).astype(float)
    calls["weights"] = partial(sm.maximum_product_transversal, B)
    C = random_matrix(300, 300, 6, seed=41)
    values = np.exp(np.random.default_rng(43).normal(0, 3, (1000, C.nnz)))
    calls["batch"] = partial(sm.analyse_transversal(C).maximum_products, values)
    D = random_matrix(2500, 2000, 4, seed=47)
    calls["QR"] = partial(lstsq, D, np.ones(2500))
    handled = {name: handled_during(call) for name, call in calls.items()}
    assert min(handled.values()) >= 3, handled


def test_signals_are_handled_while_lapack_works():
    rng = np.random.default_rng(61)
    calls = {
        "SVD": partial(svd, rng.standard_normal((50, 100, 100))),
        "QR": partial(qr, rng.standard_normal((20_000, 64))),
    }
    if tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18):  # which holds the GIL
        calls["QR with pivots"] = partial(pivots, rng.standard_normal((400, 1000)))
    handled = {name: handled_during(call) for name, call in calls.items()}
    assert min(handled.values()) >= 6, handled


LEFT = """
import signal
import numpy as np
from sparsematch._numerics.foreign_calls import svd

x = np.random.default_rng(61).standard_normal((1000, 100, 100))
signal.signal(signal.SIGALRM, signal.default_int_handler)
for _ in range(2):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        svd(x)
    except KeyboardInterrupt:
        print("left")
assert svd(np.eye(3))[1].tolist() == [1, 1, 1]
"""


def test_a_process_ends_in_order_though_a_call_was_left():
    done = run_python("-P", "-c", LEFT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\nleft\n", "")


def test_qr_is_stopped_wherever_it_is():
    """In the order of columns, too, of which nothing is to be read then."""
    A = sp.vstack([random_matrix(40_000, 30_000, 2, seed=59), sp.eye_array(30_000)], format="csr")

    for delay in np.linspace(0.02, 0.2, 8):
        with alarms(signal.default_int_handler, delay), pytest.raises(KeyboardInterrupt):
            lstsq(A, np.ones(70_000))


@pytest.mark.parametrize("workers", [1, 3])
def test_ctrl_c_stops_a_batch_in_one_call_of_the_core(workers, monkeypatch):
    monkeypatch.setenv("SPARSEMATCH_CORES", "4")
    C = random_matrix(300, 300, 6, seed=41) + sp.eye_array(300)
    values = np.exp(np.random.default_rng(43).normal(0, 3, (2000, C.nnz)))
    analysis = sm.analyse_transversal(C)

    with alarms(signal.default_int_handler, 0.05), pytest.raises(KeyboardInterrupt):
        analysis.maximum_products(values, workers=workers)
    assert analysis.maximum_products(values[:5]).cardinality.tolist() == [300] * 5


def test_a_handler_may_make_calls_of_its_own():
    """Also while a call has threads, between its steps and within them."""
    large, small = (random_matrix(n, n, 3, seed=n) for n in (200_000, 30_000))
    expected = [sm.structural_rank(A, workers=1) for A in (large, small)]
    handled = []

    def handler(*_):
        handled.append(sm.structural_rank(small, workers=2))
        signal.setitimer(signal.ITIMER_REAL, 0.02)  # not meanwhile, again and again

    with alarms(handler, 0.002):
        found = {sm.block_triangular_form(large, workers=2).matching.cardinality for _ in range(8)}
    assert found == {expected[0]}
    assert len(handled) >= 3
    assert set(handled) == {expected[1]}
