"""CUDA sources compiled on first use, and launched on the current stream.

One module per `.cu` file, index type and set of macros. CuPy keeps compiled modules on disk under a
key made of the text and the options; headers found by the compiler would not be part of it, so the
text has them in place of its includes.
"""

import functools
import re
from importlib.resources import files
from typing import Any

import numpy as np

INDEX = {np.dtype(np.int32): "int", np.dtype(np.int64): "long long"}
_INCLUDE = re.compile(r'^#include "([\w/]+\.cuh)"$', re.MULTILINE)


class Kernels:
    """The kernels of one source file, compiled for one index type on the current device."""

    def __init__(self, name: str, dtype: np.dtype[Any], **macros: int) -> None:
        import cupy

        self._cupy = cupy
        self._code, self._options = source(name), options(dtype, **macros)

    @functools.cached_property
    def _free(self) -> Any:
        return self._cupy.RawModule(code=self._code, options=self._options)

    @functools.cached_property
    def _resident(
        self,
        # another module: CuPy launches all kernels of one of these as if they waited for each other
    ) -> Any:
        return self._cupy.RawModule(
            code=self._code, options=self._options, enable_cooperative_groups=True
        )

    def launch(self, kernel: str, n: int, *arguments: Any, threads: int = 256) -> None:
        """Start a kernel with one thread per item, n in all, as far as the grid goes; kernels stride over the rest."""
        blocks = max(1, min(-(-n // threads), 65_536))
        self._free.get_function(kernel)((blocks,), (threads,), arguments)

    def launch_resident(
        self, kernel: str, *arguments: Any, threads: int = 512, blocks_per_processor: int = 1
    ) -> None:
        """Start a kernel whose blocks are all on the device at the same time, so that they may wait for each other."""
        blocks = _processors(self._cupy.cuda.Device().id) * blocks_per_processor
        self._resident.get_function(kernel)((blocks,), (threads,), arguments)


@functools.cache
def _processors(device: int) -> int:
    import cupy

    return int(cupy.cuda.Device(device).attributes["MultiProcessorCount"])


@functools.cache
def load(name: str, dtype: np.dtype[Any], **macros: int) -> Kernels:
    """Compile ``<package>/<stem>.cu`` for an index type, the first time in this process; -D macros with their values."""
    return Kernels(name, dtype, **macros)


def options(dtype: np.dtype[Any], **macros: int) -> tuple[str, ...]:
    """Return what the compiler is told: the language and the macros."""
    return (
        "-std=c++17",
        f"-DIndex={INDEX[dtype]}",
        *(f"-D{key}={value}" for key, value in sorted(macros.items())),
    )


def source(name: str) -> str:
    """Return the text of ``name.cu`` with its headers in place; messages still point into the files as they are."""
    folder = files("sparsematch._engines.cuda")

    def header(match: re.Match[str]) -> str:
        after = match.string.count("\n", 0, match.end()) + 2
        text = (folder / match[1]).read_text().replace("#pragma once\n", "\n")
        return f'#line 1 "{match[1]}"\n{text}#line {after} "{name}.cu"'

    return f'#line 1 "{name}.cu"\n' + _INCLUDE.sub(header, (folder / f"{name}.cu").read_text())
