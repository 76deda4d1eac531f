"""CUDA sources compiled on first use, and launched on the current stream.

One module per `.cu` file, index type and set of macros, which its driver declares. `load` starts
the compiler in a thread of its own and returns at once, so that the modules of a call compile side
by side; a launch waits for its module. Binaries are kept in CuPy's folder under a key made of the
options and the text, which has its headers in place. What a kernel gets by value is a struct of the
source (see `layout`); constants that it shares with its driver reach the compiler as macros.
"""

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import nvrtc
from sparsematch._engines.cuda.core.layout import Layouts, Struct, source

INDEX: dict[np.dtype[Any], str] = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
#: Threads of a block of a kernel that stays on the device, unless its driver says otherwise.
THREADS = 512
#: Threads of a launch that fills a GPU: over lists whose lengths the device alone knows, and where
#: each block adds to the same numbers, which takes 20 ns.
FILLING = 1 << 18
#: Bytes of shared memory that every block may have.
_SHARED_ALWAYS = 48 << 10
#: The source files that drivers have declared, and the macros of their variants for an index type.
declared: dict[str, Callable[[np.dtype[Any]], Iterable[dict[str, int]]]] = {}


class Kernels(Layouts):
    """The kernels of one source file, for one index type; compiled in the background."""

    def __init__(self, name: str, dtype: np.dtype[Any], **macros: int) -> None:
        import cupy

        self.name, self.dtype, self._cupy = name, dtype, cupy
        self._code, self._options = source(name), options(dtype, **macros)
        self._files: dict[int, Future[Path]] = {}
        self._functions: dict[tuple[int, str], Any] = {}
        self._roomy: set[Any] = set()  # functions that may have more shared memory than all may
        self._compile(cupy.cuda.Device())

    def _compile(self, device: Any) -> "Future[Path]":
        """Start the compiler for the architecture of a device."""
        capability = int(device.compute_capability)
        if capability not in self._files:
            self._files[capability] = nvrtc.pool().submit(
                nvrtc.binary_file, self._cupy.cuda.nvrtc, self._code, self._options, capability
            )
        return self._files[capability]

    def ready(self) -> None:
        """Wait until the compiler is done; raise what went wrong."""
        self._compile(self._cupy.cuda.Device()).result()

    def _function(self, kernel: str, resident: bool) -> Any:
        """Return a kernel on the current device."""
        # Kernels that wait for each other have a module of their own: CuPy launches all of it so.
        device = self._cupy.cuda.Device()
        key = device.id, kernel
        if key not in self._functions:
            module = self._cupy.RawModule(
                path=str(self._compile(device).result()), enable_cooperative_groups=resident
            )
            self._functions[key] = module.get_function(kernel)
        return self._functions[key]

    def launch(
        self, kernel: str, n: int, *arguments: Any, threads: int = 256, shared_bytes: int = 0
    ) -> None:
        """Start a kernel with one thread per item, n in all, as far as the grid goes."""
        # Kernels stride over the rest. Blocks may have up to `shared_room` bytes of shared memory.
        blocks = max(1, min(-(-n // threads), 65_536))
        function = self._function(kernel, False)
        if shared_bytes > _SHARED_ALWAYS and function not in self._roomy:
            function.max_dynamic_shared_size_bytes = shared_room()
            self._roomy.add(function)
        function((blocks,), (threads,), _passed(arguments), shared_mem=shared_bytes)

    def launch_resident(
        self, kernel: str, *arguments: Any, threads: int = THREADS, blocks_per_processor: int = 1
    ) -> None:
        """Start a kernel whose blocks are on the device together, so that they may wait."""
        blocks = _attribute(self._cupy.cuda.Device().id, "MultiProcessorCount")
        blocks *= blocks_per_processor
        self._function(kernel, True)((blocks,), (threads,), _passed(arguments))


def _passed(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments as CuPy takes them."""
    return tuple([a.passed() if isinstance(a, Struct) else a for a in arguments])


@functools.cache
def _attribute(device: int, name: str) -> int:
    import cupy

    return int(cupy.cuda.Device(device).attributes[name])


def shared_room() -> int:
    """Return the bytes of shared memory that a launch on the current device may ask for."""
    # 1 KiB is left for what kernels declare by themselves.
    import cupy

    return _attribute(cupy.cuda.Device().id, "MaxSharedMemoryPerBlockOptin") - 1024


def second_level_cache() -> int:
    """Return the bytes of the second-level cache of the current device."""
    import cupy

    return _attribute(cupy.cuda.Device().id, "L2CacheSize")


@functools.cache
def load(name: str, dtype: np.dtype[Any], **macros: int) -> Kernels:
    """Return the kernels of ``<package>/<stem>.cu``, being compiled; -D macros by their names."""
    return Kernels(name, dtype, **macros)


def declare(name: str, **macros: int) -> Callable[[np.dtype[Any]], Kernels]:
    """Declare a source file with its macros; return what loads it for an index type."""
    declared[name] = lambda _: [macros]
    return lambda dtype: load(name, dtype, **macros)


def modules() -> list[tuple[str, np.dtype[Any], dict[str, int]]]:
    """Return name, index type and macros of every module that is declared."""
    return [
        (name, dtype, macros)
        for name, variants in declared.items()
        for dtype in INDEX
        for macros in variants(dtype)
    ]


def compile_all() -> int:
    """Compile what is not in the cache; return how many modules there are."""
    waiting = [load(name, dtype, **macros) for name, dtype, macros in modules()]
    for kernels in waiting:
        kernels.ready()
    return len(waiting)


def options(dtype: np.dtype[Any], **macros: int) -> tuple[str, ...]:
    """Return the options of the compiler: the language and the macros."""
    return (
        "-std=c++17",
        f"-DIndex={INDEX[dtype]}",
        *(f"-D{key}={value}" for key, value in sorted(macros.items())),
    )
