"""How much memory is left, where the system says so."""

import math
import re
from contextlib import suppress
from pathlib import Path

#: Linux ends a process that takes more than the machine has, or its control group (of containers:
#: version 2) may have, without an error that could be handled.
_MACHINE, _GROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")

#: Bytes that are there, without a look: that takes 0.1 ms, as long as a small factorisation.
_LITTLE = 1e8


def available_bytes(needed: float) -> float:
    """Return the bytes that can still be taken; infinity if not known, or `needed` are few."""
    left = math.inf
    if needed <= _LITTLE:
        return left
    with suppress(OSError):
        fields = dict(re.findall(r"^(\w+): +(\d+) kB$", _MACHINE.read_text(), re.MULTILINE))
        if "MemAvailable" in fields:
            left = 1024.0 * (int(fields["MemAvailable"]) + int(fields.get("SwapFree", 0)))
    with suppress(OSError, ValueError):
        limit = int((_GROUP / "memory.max").read_text())  # ValueError: "max"
        used = re.findall(r"^anon (\d+)$", (_GROUP / "memory.stat").read_text(), re.MULTILINE)
        left = min(left, float(limit - sum(map(int, used))))
    return left
