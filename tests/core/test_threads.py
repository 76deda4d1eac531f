"""Many calls at once, from threads and forks; refused threads, exits, how many cores there are."""

import os
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import oracle
import sparsematch as sm
from calls import (
    SANITIZED,
    few,
    grid,
    in_a_new_process,
    random_matrix,
    scrambled,
    solve,
    ticks_during,
)
from graphs import random_graph
from sparsematch._api import cores
from sparsematch._base import pieces
from sparsematch._base.lazy import lazy_attribute

pytestmark = [pytest.mark.tsan, pytest.mark.wheel]

MATRICES = [
    random_matrix(400, 380, 3, seed=173),
    random_matrix(300, 500, 1.5, seed=179),
    scrambled(grid(20), seed=181),
]
RANKS = [oracle.rank(A) for A in MATRICES]

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
no_sanitizer = pytest.mark.skipif(
    SANITIZED,
    reason="a sanitizer holds locks of its own, and needs all the addresses",
)


def at_once(tasks, threads=8):
    """Run the functions in threads that start together; return their results in order."""
    start = threading.Barrier(threads)
    with ThreadPoolExecutor(threads, initializer=start.wait) as pool:
        return list(pool.map(lambda task: task(), tasks))


def output(code, *arguments):
    """Return what other Python prints; fail if it does not end, or not well."""
    process = in_a_new_process(code, *arguments)
    try:
        printed = process.communicate(timeout=120)[0]
    finally:
        process.kill()
    assert process.returncode == 0
    return printed


@pytest.mark.every_backend
def test_many_calls_on_the_same_matrix(engine):
    """The matrix is shared, each call has its own matching."""
    tasks = [lambda k=k: solve(MATRICES[k % 3], engine, workers=1 + k % 2)[0] for k in range(24)]
    for k, m in enumerate(at_once(tasks)):
        oracle.assert_maximal(MATRICES[k % 3], m.row_mate, m.col_mate)
        if engine.kind == "exact":
            assert m.cardinality == RANKS[k % 3]


def test_many_calls_on_the_same_graph(approximate):
    G = random_graph(2000, 6, seed=179)
    expected = sm.approximate_matching(G, method=approximate.name)
    call = partial(sm.approximate_matching, G, method=approximate.name)
    tasks = [partial(call, workers=1 + k % 3) for k in range(12)]
    assert all(m == expected for m in at_once(tasks))


def test_all_public_functions_together():
    expected = [
        (sm.block_triangular_form(A).n_blocks, sm.connected_components(A).n_components)
        for A in MATRICES
    ]
    matchings = [sm.maximum_transversal(A) for A in MATRICES]

    def everything(k):
        A, m = MATRICES[k], matchings[k]
        assert sm.structural_rank(A, workers=2) == RANKS[k]
        assert sm.is_maximum(A, m)
        assert sm.vertex_cover(A, m).size == RANKS[k]
        assert sm.block_triangular_form(A, matching=m).n_blocks == expected[k][0]
        return sm.connected_components(A).n_components

    found = at_once([lambda k=k: everything(k % 3) for k in range(48)])
    assert found == [expected[k % 3][1] for k in range(48)]


def test_the_number_of_workers_belongs_to_a_thread():
    """What one thread sets, another does not see."""
    both_inside = threading.Barrier(2)

    def inside(n):
        with sm.set_workers(n):
            both_inside.wait(timeout=30)
            seen = sm.get_workers()
            both_inside.wait(timeout=30)
        return seen

    assert at_once([lambda: inside(2), lambda: inside(5)], threads=2) == [2, 5]
    with sm.set_workers(3):
        assert at_once([sm.get_workers], threads=1) == [1]


@pytest.mark.large
def test_the_interpreter_runs_while_an_engine_does():
    """A call lets go of the interpreter: another thread gets on with its work meanwhile."""
    A = scrambled(grid(1000), seed=191)
    call = partial(sm.maximum_transversal, A, method="single_source_bfs", init="none")
    assert ticks_during(call) >= 5


@pytest.mark.parametrize("order", ["natural", "scrambled"])
def test_few_rows_are_searched_for_by_all_workers(order):
    """Those that lost their partners find others, or are found to have none."""
    A = grid(60) if order == "natural" else scrambled(grid(60), seed=5)
    A = sp.csr_array(sp.vstack([A, A[:1]]))  # a row too many
    maximum, rng = sm.maximum_transversal(A), np.random.default_rng(199)
    for lost, workers in few((0, 2), (0, 4), (1, 4)):
        known = np.asarray(maximum.row_mate).copy()
        known[rng.choice(np.flatnonzero(known >= 0), lost, replace=False)] = -1
        found = sm.maximum_transversal(
            A, method="single_source_bfs", initial=known, workers=workers
        )
        assert found.cardinality == maximum.cardinality
        assert sm.is_maximum(A, found)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_no_thread_is_left_running(engine):
    before = len(os.listdir("/proc/self/task"))
    for workers in (2, 4):
        solve(MATRICES[0], engine, workers=workers)
    # the system may list a thread for a moment after it was joined
    deadline = time.monotonic() + 10
    while len(os.listdir("/proc/self/task")) > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/task")) <= before


@can_fork
@pytest.mark.skipif(
    "libtsan" in os.environ.get("LD_PRELOAD", ""), reason="ThreadSanitizer follows no fork"
)
# Python's own, about forking with threads
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_can_call(exact):
    """After calls with several workers, a child of fork makes such calls too."""
    solve(MATRICES[0], exact, workers=4)
    child = os.fork()
    if child == 0:
        m, _ = solve(MATRICES[0], exact, workers=4)
        os._exit(0 if m.cardinality == RANKS[0] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is that of Linux")
@no_sanitizer
def test_threads_that_cannot_be_had():
    """Where the system refuses threads, a call uses fewer or raises; it does not crash."""
    code = """
import os
import resource
import sparsematch as sm
from calls import grid, in_a_new_process
os.environ["SPARSEMATCH_CORES"] = "1024"
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    print(sm.structural_rank(grid(4), workers=1024))
except (MemoryError, RuntimeError):
    print(sm.structural_rank(grid(4), workers=1))
"""
    assert output(code) == "16\n"


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python cannot do without the GIL"
)
def test_the_core_leaves_the_gil_off():
    """Python turns it on for a module that does not declare itself safe."""
    code = "import sys, sparsematch._engines.cpu; print(sys._is_gil_enabled())"
    assert output(code) == "False\n"


#: Large enough for every loop to be cut into pieces: components of all sizes, most of them forced
#: or trimmed at either end; coarse parts, of which one may be much larger; a single component.
LARGE = {
    "many components": lambda: scrambled(
        random_matrix(60_000, 60_000, 1.1, seed=211) + sp.eye_array(60_000), seed=263
    ),
    "coarse parts": lambda: random_matrix(60_000, 61_000, 3, seed=223),
    "horizontal": lambda: random_matrix(40_000, 70_000, 2, seed=227),
    "vertical": lambda: random_matrix(70_000, 40_000, 2, seed=229),
    "mesh": lambda: scrambled(grid(240), seed=233),
    # rows enough for a sort by all workers, of few frequent labels and of many others
    "large parts": lambda: random_matrix(120_000, 115_000, 2, seed=281),
    "a large component": lambda: scrambled(
        sp.block_diag(
            [grid(250), random_matrix(40_000, 40_000, 1.1, seed=283) + sp.eye_array(40_000)]
        ),
        seed=293,
    ),
}


#: The other way round: by sanitizers, which take minutes for it, one will do.
CSC = pytest.param("csc", marks=pytest.mark.large)


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("layout", ["csr", CSC])
def test_blocks_by_any_number_of_workers(name, layout):
    """The same rows together, no entry below the blocks; from one matching, and from none."""
    A = LARGE[name]().asformat(layout)
    start = sm.maximum_transversal(A)
    expected = oracle.canonical(sm.block_triangular_form(A, matching=start))
    for workers in few(2, 3, 8):
        form = sm.block_triangular_form(A, matching=start, workers=workers)
        assert oracle.canonical(form) == expected
        assert sm.is_block_form(A, form)
        assert oracle.canonical(sm.block_triangular_form(A, workers=workers)) == expected
        blocks = oracle.block_labels(form)
        rows, cols = A.tocoo().coords
        assert np.all(blocks[0][rows] <= blocks[1][cols])


@pytest.mark.parametrize("shape", [(26_000, 26_000), (30_000, 40_000), (40_000, 30_000)])
@pytest.mark.parametrize("layout", ["csr", CSC])
def test_weighted_results_by_any_number_of_workers(shape, layout):
    """Proved, and of one objective; pairs and duals of ties are those found first."""
    A = random_matrix(*shape, 6, seed=239).astype(float)
    A.data = np.round(np.random.default_rng(241).uniform(1, 9, A.nnz))  # many ties
    A.data[np.random.default_rng(251).random(A.nnz) < 0.1] = 0
    A = A.asformat(layout)
    for function in few(sm.maximum_sum_transversal, sm.maximum_product_transversal):
        alone = function(A)
        for workers in few(2, 5):
            together = function(A, workers=workers)
            assert together.objective == pytest.approx(alone.objective, rel=1e-13)
            assert sm.is_optimal_transversal(A, together, workers=workers)
            assert not sm.is_optimal_transversal(2 * A, together, workers=workers)
    A.data -= 4  # signed
    alone = sm.maximum_weight_matching(A, unmatched_cost=0.5)
    together = sm.maximum_weight_matching(A, unmatched_cost=0.5, workers=3)
    assert together.objective == alone.objective
    assert sm.is_optimal_matching(A, together, workers=3, tolerance=0)
    best = sm.bottleneck_transversal(A, workers=3)
    assert best.objective == sm.bottleneck_transversal(A).objective
    assert sm.is_optimal_transversal(A, best, workers=3)


@can_fork
@no_sanitizer
def test_forks_while_threads_are_in_a_call():
    """A signal ends a child that waits for what only threads of its parent could release."""
    code = """
import os, signal, threading, warnings
os.environ["SPARSEMATCH_CORES"] = "4"
import sparsematch as sm
from calls import random_matrix
warnings.simplefilter("ignore")
A = random_matrix(8000, 8000, 2.5, seed=1)
rank = sm.structural_rank(A)
stop = threading.Event()
def work():
    while not stop.is_set():
        sm.maximum_transversal(A, workers=4)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
failed = 0
for workers in [1, 4] * 15:
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(sm.structural_rank(A, workers=workers) != rank)
    failed += os.waitpid(child, 0)[1] != 0
    if failed:
        break
stop.set()
print(failed)
"""
    assert output(code) == "0\n"


@can_fork
@no_sanitizer
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_lazy_attribute_holds_no_lock():
    begun, go_on = threading.Event(), threading.Event()

    class Waiting:
        @lazy_attribute
        def value(self):
            if os.getpid() == parent:
                begun.set()
                go_on.wait(60)
            return 7

    parent, waiting = os.getpid(), Waiting()
    thread = threading.Thread(target=lambda: waiting.value)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        import signal

        signal.alarm(20)
        os._exit(Waiting().value)
    go_on.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert waiting.__dict__ == {"value": 7}
    assert isinstance(Waiting.value, lazy_attribute)


@no_sanitizer
@pytest.mark.parametrize(
    "call", ["maximum_transversal", "block_triangular_form", "maximum_product_transversal"]
)
def test_daemon_threads_in_a_call_at_exit(call):
    """Python ends them where they next ask for its lock; the process ends as it should."""
    code = """
import os, sys, threading, time
os.environ["SPARSEMATCH_CORES"] = "4"
import sparsematch as sm
from calls import random_matrix
begun = threading.Semaphore(0)
A = random_matrix(4000, 4000, 3, seed=1) if "product" in sys.argv[1] else random_matrix(
    60000, 60000, 3, seed=1
)
def work():
    while True:
        begun.release()
        getattr(sm, sys.argv[1])(A, workers=4)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
for _ in range(2):
    begun.acquire()
time.sleep(0.1)
"""
    assert output(code, call) == ""


def test_where_threads_are_refused_the_caller_does_all_pieces(monkeypatch):
    def work(begin, end):
        done.append(threading.get_ident())
        return values[begin:end].sum()

    values, done, asked = np.arange(1 << 19), [], []

    def refuse(function, arguments):
        asked.append(function)
        raise asked_for[len(asked) % 2]("can't start new thread")

    asked_for = RuntimeError, MemoryError
    expected = pieces.in_pieces(work, values.size, 4)
    monkeypatch.setattr(pieces, "start_new_thread", refuse)
    for _ in range(2):
        done.clear()
        assert pieces.in_pieces(work, values.size, 4) == expected
        assert done == [threading.get_ident()] * 4
    assert len(asked) == 2
    assert len(expected) == 4
    assert sum(expected) == values.sum()


def test_what_a_piece_raises_is_raised_once_all_have_ended():
    ended = []

    def work(begin, end):
        if begin == 0:
            raise ZeroDivisionError("of the first piece")
        ended.append(begin)

    with pytest.raises(ZeroDivisionError, match="of the first piece"):
        pieces.in_pieces(work, 1 << 19, 4)
    assert len(ended) == 3


@no_sanitizer
@pytest.mark.skipif(
    sys.implementation.name != "cpython", reason="sub-interpreters are made by CPython's module"
)
def test_a_sub_interpreter_is_refused():
    """It would wait for ever in the first call."""
    code = """
try:
    import _interpreters as interpreters
    other = interpreters.create("legacy")
except ImportError:
    import _xxsubinterpreters as interpreters
    other = interpreters.create(isolated=False)  # which may start processes, as SciPy 1.15 does
interpreters.run_string(other, '''
import scipy.sparse as sp, sparsematch
for _ in range(2):
    try:
        sparsematch.structural_rank(sp.eye_array(3, format="csr"))
    except ImportError as error:
        print(str(error)[:50], flush=True)
''')
"""
    refused = "sparsematch cannot be used in a sub-interpreter: i\n"
    assert output(code) == refused * 2


UNLIMITED = 1 << 20


def tree(root, groups, files):
    """Write /proc/self/cgroup, and files below /sys/fs/cgroup."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, text in files.items():
        file = root / "sys/fs/cgroup" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def cfs(folder, quota, period="100000\n"):
    """The files of a group of the first version."""
    return {f"{folder}/cpu.cfs_quota_us": quota, f"{folder}/cpu.cfs_period_us": period}


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "10000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "max 100000\n"}, UNLIMITED),
        ("0::/\n", {}, UNLIMITED),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000", "a/b/cpu.max": "max 100000"}, 3),
        ("0::/a/b\n", {"a/cpu.max": "300000 100000", "a/b/cpu.max": "100000 50000"}, 2),
        ("0::/../../a\n", {"cpu.max": "400000 100000"}, 4),
        (
            "4:memory:/m\n3:cpu,cpuacct:/docker/x\n1:name=systemd:/\n0::/\n",
            cfs("cpu,cpuacct/docker/x", "250000\n") | cfs("cpu,cpuacct", "-1\n"),
            3,
        ),
        ("3:cpuset:/\n2:cpu:/docker/not-to-be-seen-within\n", cfs("cpu", "100000", "50000"), 2),
        ("2:cpu:/\n", cfs("cpu", "-1"), UNLIMITED),
        ("0::/\n", {"cpu.max": "100000 0\n"}, UNLIMITED),
        ("0::/\n", {"cpu.max": "what is this\n"}, UNLIMITED),
        ("nothing of the kind\n", {"cpu.max": "100000 100000"}, UNLIMITED),
        ("", {}, UNLIMITED),
    ],
)
def test_quota_of_control_groups(tmp_path, groups, files, expected):
    assert cores.quota_in_cores(tmp_path) == UNLIMITED
    assert cores.quota_in_cores(tree(tmp_path, groups, files)) == expected


@pytest.fixture
def real_cores(monkeypatch):
    """What the system says, in place of what conftest.py does."""
    monkeypatch.delenv(cores.VARIABLE)
    return monkeypatch


def workers_of_a_call(**how):
    A = random_matrix(50, 50, 3, seed=257)
    return sm.maximum_transversal(A, return_info=True, **how)[1].workers


def test_the_smaller_of_affinity_and_quota(real_cores):
    real_cores.setattr(cores, "_affinity", lambda: 6)
    for quota, expected in ((2, 2), (9, 6), (UNLIMITED, 6)):
        real_cores.setattr(cores, "_own_quota", lambda quota=quota: quota)
        assert cores.usable_cores() == expected
        assert workers_of_a_call(workers=-1) == expected
        assert workers_of_a_call(workers=1000) == expected
        assert workers_of_a_call(workers=1) == 1
        with sm.set_workers(-1):
            assert sm.get_workers() == workers_of_a_call() == expected
        with sm.set_workers(50):
            assert sm.get_workers() == 50
            assert workers_of_a_call() == expected


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="this system does not bind a process to a core"
)
def test_one_core_is_one_worker(real_cores):
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert workers_of_a_call(workers=16) == workers_of_a_call(workers=-1) == 1
    finally:
        os.sched_setaffinity(0, before)


def test_the_variable_says_how_many(monkeypatch):
    monkeypatch.setenv(cores.VARIABLE, "3")
    assert cores.usable_cores() == workers_of_a_call(workers=-1) == 3
    for text in ("", "0", "many", "-2"):
        monkeypatch.setenv(cores.VARIABLE, text)
        assert 1 <= cores.usable_cores() <= (os.cpu_count() or 1)
