"""``sparsematch warm-up``: compile the kernels for the GPU ahead of the first call."""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

from sparsematch._engines.operations import DeviceCompilerOps
from sparsematch._engines.registry import operations
from sparsematch._types.arrays import import_cupy
from sparsematch.cli.outputs import CannotProduce

__all__ = ["add"]


def add(adders: Any, add_command: Callable[..., argparse.ArgumentParser]) -> None:
    """Declare the command."""
    add_command(
        adders, "warm-up", warm_up, "compile the kernels for the GPU ahead of the first call"
    )


def warm_up(_: argparse.Namespace) -> int:
    """Compile everything for the current GPU, and say how long it took."""
    try:
        cupy = import_cupy("warm-up")
    except (ImportError, RuntimeError) as error:
        raise CannotProduce(str(error)) from error
    begin, device = time.perf_counter(), cupy.cuda.Device().compute_capability
    shown = sys.stderr.isatty()

    def tell(name: str, done: int, of: int) -> None:
        if shown:
            print(f"\r{done} of {of}: {name:40s}", end="", file=sys.stderr, flush=True)

    count = operations(DeviceCompilerOps, "cupy").compile_all(tell)
    if shown:
        print("\r" + " " * 60, end="\r", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - begin
    print(f"{count} modules for compute capability {device} are in the cache ({seconds:.1f} s)")
    return 0
