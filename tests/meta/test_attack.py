"""What runs the attacks (tests/attack) finds wrong answers, exceptions, crashes and hangs."""

import os
import signal
import time

import pytest

if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)

from harness import announce, attack

# Python's own, about forking with threads
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def always_wrong(rng):
    yield f"drew {rng.integers(1000)}"


def of_five_kinds(rng):
    kind = rng.integers(5)
    announce(f"in kind {kind}")
    if kind == 0:
        yield "wrong"
    elif kind == 1:
        raise RuntimeError("unexpected")
    elif kind == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == 3:
        time.sleep(60)


@pytest.mark.parametrize("isolated", [False, True])
def test_each_way_to_fail_is_one_failure(isolated, capfd):
    found = set()
    for k in range(12):
        counts = attack(of_five_kinds, 7, 0, k, isolated=isolated, limit=0.3)
        said = capfd.readouterr().out
        assert counts == (1, said.count(f"seed 7 case {k}: "))
        found.add(said.partition(": ")[2].partition(":")[0].strip())
    assert found == {
        "",
        "wrong",
        "RuntimeError at test_attack.py",
        "died by SIGKILL in kind 2",
        "no answer within 0.3 s in kind 3",
    }


def test_cases_are_the_same_again(capfd):
    tried, failed = attack(always_wrong, 3, 0.2)
    first = capfd.readouterr().out.splitlines()
    assert tried == failed > len(first) == 10
    assert attack(always_wrong, 3, 0, 4, isolated=True) == (1, 1)
    assert capfd.readouterr().out.splitlines() == [first[4]]
