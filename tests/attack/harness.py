"""Runs the cases of an attack, each from a seed of its own, in a child that may crash or hang.

Case k of a seed is the same on every run, whatever the machine. Needs `fork`.
"""

import faulthandler
import mmap
import os
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np

SHOWN = 10  # failures that are printed; all are counted
NEXT, TRIED, FAILED = range(3)  # places of the numbers that parent and child share
_words = mmap.mmap(-1, 256)  # what a case is about to do, shared as well


def announce(words):
    """Say what comes next, for the report if it ends the process."""
    _words[:] = words.encode()[:256].ljust(256)


def attack(case, seed, seconds, only=None, *, isolated=False, limit=60):
    """Call ``case(rng)`` for case after case; return how many were tried, and how many failures.

    A case yields a sentence for each failure. One that raises, dies by a signal or takes more than
    `limit` seconds has failed, too. `isolated`: in a child of its own, as memory may be corrupted.
    """
    shared = np.frombuffer(mmap.mmap(-1, 3 * 8), np.int64)
    shared[NEXT] = only or 0
    end = time.monotonic() + seconds
    while time.monotonic() < end or shared[TRIED] == 0:
        sys.stdout.flush()
        if (pid := os.fork()) == 0:
            run_cases(case, seed, shared, limit, time.monotonic() if isolated else end)
        _, status, used = os.wait4(pid, 0)
        if status:
            cpu = f"{used.ru_utime + used.ru_stime:.0f} s of a core"  # hardly any: it slept
            report(shared, seed, f"{died(status, limit)} {_words[:].decode().rstrip()}: {cpu}")
        shared[NEXT] += 1
        if only is not None:
            break
    return int(shared[TRIED]), int(shared[FAILED])


def run_cases(case, seed, shared, limit, end):
    """Run at least one case, and others until the end; never return."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    while True:
        k = int(shared[NEXT])
        shared[TRIED] += 1
        signal.setitimer(signal.ITIMER_REAL, limit)
        faulthandler.dump_traceback_later(0.9 * limit)  # says where it hangs
        announce("")
        try:
            for words in case(np.random.default_rng([seed, k])):
                report(shared, seed, words)
        except BaseException as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            report(shared, seed, f"{type(error).__name__} at {place}: {str(error)[:200]}")
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        if time.monotonic() >= end:
            sys.stdout.flush()
            os._exit(0)
        shared[NEXT] += 1


def report(shared, seed, words):
    """Count a failure, and print the first ones."""
    shared[FAILED] += 1
    if shared[FAILED] <= SHOWN:
        print(f"  seed {seed} case {shared[NEXT]}: {' '.join(words.split())}", flush=True)


def died(status, limit):
    """Word how a child ended."""
    if not os.WIFSIGNALED(status):
        return f"ended the process with status {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    if number == signal.SIGALRM:
        return f"no answer within {limit} s"
    return f"died by {signal.Signals(number).name}"
