"""Forks while other threads work, daemon threads at exit, refused threads, sub-interpreters."""

import os
import sys
import threading

import numpy as np
import pytest

from calls import in_a_new_process
from sparsematch._base import pieces
from sparsematch._base.lazy import lazy_attribute

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
no_sanitizer = pytest.mark.skipif(
    "san.so" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer holds locks of its own"
)


def output(code, *arguments):
    """Return what other Python prints; fail if it does not end, or not well."""
    process = in_a_new_process(code, *arguments)
    try:
        printed = process.communicate(timeout=120)[0]
    finally:
        process.kill()
    assert process.returncode == 0
    return printed


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
