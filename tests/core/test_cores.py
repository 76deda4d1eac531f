"""How many cores a process may use, and that no call starts more threads than that."""

import os

import pytest

import sparsematch as sm
from calls import random_matrix
from sparsematch._api import cores

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
    assert cores.quota_in_cores(tree(tmp_path, groups, files)) == expected


def test_no_control_groups(tmp_path):
    assert cores.quota_in_cores(tmp_path) == UNLIMITED


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
