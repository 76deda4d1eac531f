"""How many cores this process may use: its affinity, and the CPU quota of its control groups.

A container with half of a machine sees all cores of it, but the kernel stops its threads for the
rest of a period once their quota is used up. More threads than cores wait for each other.
"""

import functools
import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

#: Environment variable with a number of cores to believe in, whatever the system says.
VARIABLE = "SPARSEMATCH_CORES"


def usable_cores() -> int:
    """Return how many cores this process may use, at least 1; the quota is read only once."""
    told = os.environ.get(VARIABLE, "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    return max(1, min(_affinity(), _own_quota()))


def _affinity() -> int:
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        return os.process_cpu_count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@functools.cache
def _own_quota() -> int:
    return quota_in_cores(Path("/"))


def quota_in_cores(root: Path) -> int:
    """Return the least quota of the control groups of this process in whole cores, rounded up."""
    # A group's holds for all in it. Read are version 2 (``cpu.max``) and 1 (``cpu.cfs_quota_us``)
    # of the kernel's interface, under `root`. Without a quota: more than any machine has.
    try:
        groups = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        groups = []
    quotas = [quota for line in groups for quota in _quotas(root / "sys/fs/cgroup", line)]
    return math.ceil(min(quotas, default=1 << 20))


def _quotas(mount: Path, line: str) -> Iterator[float]:
    """Yield the quotas of one line of /proc/self/cgroup: ``hierarchy:controllers:path``."""
    controllers, _, path = line.partition(":")[2].partition(":")
    if not path.startswith("/"):
        return
    parts = PurePosixPath(path).parts[1:]
    if ".." in parts:  # a group outside the process's own view of the tree
        parts = ()
    if not controllers:
        names, tops = ["cpu.max"], (mount, mount / "unified")
    elif "cpu" in controllers.split(","):
        names = ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        tops = mount / controllers, mount / "cpu"
    else:
        return
    for top in tops:
        for depth in range(len(parts) + 1):
            yield from _quota([top.joinpath(*parts[:depth], name) for name in names])


def _quota(files: list[Path]) -> Iterator[float]:
    """Yield the quota over the period that is in one file, or in two; nothing if there is none."""
    try:
        quota, period = " ".join(file.read_text(encoding="ascii") for file in files).split()
        cores = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return  # no such file, or "max" in place of the quota
    if cores > 0:  # version 1 says -1 where there is none
        yield cores
