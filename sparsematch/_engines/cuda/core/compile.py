"""CUDA sources compiled on first use, and launched on the current stream.

One module per `.cu` file, index type and set of macros. `load` starts the compiler in a thread of
its own and returns at once, so that the modules of a call compile side by side where it loads them
before it launches the first; a launch waits for its module. Binaries are kept in CuPy's folder on
disk under a key made of the text and the options; headers found by the compiler would not be part
of it, so the text has them in place of its includes.

What a kernel gets by value is declared once, as a struct in the source (see `layout`). Constants
that a driver and its kernels share stand in the driver and reach the compiler as macros.
"""

import functools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from sparsematch._engines.cuda.core import nvrtc
from sparsematch._engines.cuda.core.layout import Layouts, passed, source

INDEX = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
#: What CuPy adds to the options: the same numbers come out of either way.
_AS_CUPY = "-default-device", "-ftz=true"
#: Cores of a machine that has some to spare.
SPARE_CORES = 8
#: Bytes of shared memory that every block may have.
_SHARED_ALWAYS = 48 << 10
#: A source file and its macros.
Module = tuple[str, dict[str, int]]
#: What later calls are likely to need, for an index type, as packages register it: the
#: likeliest modules first.
expected: list[Callable[[np.dtype[Any]], Iterable[Module]]] = []


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

    def _compile(self, device: Any) -> "Future[Path] | None":
        """Start the compiler for the architecture of a device; None: CuPy has to compile."""
        capability = int(device.compute_capability)
        if capability not in self._files:
            job = _submit(self._cupy, self._code, self._options, capability)
            if job is None:
                return None
            self._files[capability] = job
        return self._files[capability]

    def ready(self) -> None:
        """Wait until the compiler is done; raise what went wrong."""
        device = self._cupy.cuda.Device()
        if file := self._compile(device):
            file.result()
        else:
            self._module(device, False).compile()

    def _function(self, kernel: str, resident: bool) -> Any:
        """Return a kernel on the current device.

        Kernels that wait for each other are in a module of their own: CuPy launches all kernels of
        one of these as if they did.
        """
        device = self._cupy.cuda.Device()
        key = device.id, kernel
        if key not in self._functions:
            self._functions[key] = self._module(device, resident).get_function(kernel)
        return self._functions[key]

    def _module(self, device: Any, resident: bool) -> Any:
        """Return what the compiler has made; what CuPy makes, where no file can be written."""
        file = self._compile(device)
        if file is not None:
            with suppress(OSError):
                return self._cupy.RawModule(
                    path=str(file.result()), enable_cooperative_groups=resident
                )
        return self._cupy.RawModule(
            code=self._code, options=self._options, enable_cooperative_groups=resident
        )

    def launch(
        self, kernel: str, n: int, *arguments: Any, threads: int = 256, shared_bytes: int = 0
    ) -> None:
        """Start a kernel with one thread per item, n in all, as far as the grid goes.

        Kernels stride over the rest. Blocks may have up to `shared_room` bytes of shared memory.
        """
        blocks = max(1, min(-(-n // threads), 65_536))
        function = self._function(kernel, False)
        if shared_bytes > _SHARED_ALWAYS and function not in self._roomy:
            function.max_dynamic_shared_size_bytes = shared_room()
            self._roomy.add(function)
        function((blocks,), (threads,), passed(arguments), shared_mem=shared_bytes)

    def launch_resident(
        self, kernel: str, *arguments: Any, threads: int = 512, blocks_per_processor: int = 1
    ) -> None:
        """Start a kernel whose blocks are on the device together, so that they may wait."""
        blocks = _attribute(self._cupy.cuda.Device().id, "MultiProcessorCount")
        blocks *= blocks_per_processor
        self._function(kernel, True)((blocks,), (threads,), passed(arguments))


@functools.cache
def _attribute(device: int, name: str) -> int:
    import cupy

    return int(cupy.cuda.Device(device).attributes[name])


def shared_room() -> int:
    """Return the bytes of shared memory that a launch on the current device may ask for.

    1 KiB is left for what kernels declare by themselves.
    """
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


@functools.cache
def load_ahead(dtype: np.dtype[Any]) -> None:
    """Start the compiler for what later calls are likely to need: see `expected`.

    Only where there are cores to spare: once on a machine, as binaries are kept.
    """
    if (os.cpu_count() or 1) < SPARE_CORES:
        return
    import cupy

    capability = int(cupy.cuda.Device().compute_capability)
    for modules in expected:
        for name, macros in modules(dtype):
            _submit(cupy, source(name), options(dtype, **macros), capability, ahead=True)


def _submit(
    cupy: Any, code: str, given: tuple[str, ...], capability: int, *, ahead: bool = False
) -> "Future[Path] | None":
    """Start the compiler for an architecture; None: CuPy has to compile."""
    compiler = nvrtc.loaded_compiler(cupy.cuda.nvrtc.getVersion()[0])
    if compiler is None or capability not in compiler.architectures():
        return None
    given = *given, *_AS_CUPY
    return nvrtc.submit(compiler, nvrtc.cache_folder(), code, given, capability, ahead=ahead)


def options(dtype: np.dtype[Any], **macros: int) -> tuple[str, ...]:
    """Return the options of the compiler: the language and the macros."""
    return (
        "-std=c++17",
        f"-DIndex={INDEX[dtype]}",
        *(f"-D{key}={value}" for key, value in sorted(macros.items())),
    )
