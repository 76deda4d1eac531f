"""Binaries of CUDA modules: compiled side by side, and kept on disk beside CuPy's.

CuPy lets go of the interpreter's lock while NVRTC compiles, so that threads do, as many as there
are modules. It would compile an empty file for each set of options by itself, 20 ms a module.
"""

import functools
import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

#: Threads that compile, at most.
_MOST_THREADS = 16
#: What CuPy adds to the options: the same numbers come out of either way.
_AS_CUPY = "-default-device", "-ftz=true"


@functools.cache
def pool() -> ThreadPoolExecutor:
    """Return the threads that compile."""
    return ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS), "sparsematch-nvrtc")


def binary_file(nvrtc: Any, text: str, options: tuple[str, ...], capability: int) -> Path:
    """Return the file of a binary, compiled by CuPy's `nvrtc` where there is none."""
    # For a GPU that the compiler does not know it is text for an older one. The name is made of all
    # that it depends on, and a file appears complete or not at all. Raises RuntimeError with the
    # compiler's words if it refuses the source.
    known = max(arch for arch in nvrtc.getSupportedArchs() if arch <= capability)
    kind = "cubin" if known == capability else "ptx"
    options = (*options, *_AS_CUPY, f"-arch=sm_{known}")
    key = "\0".join([str(nvrtc.getVersion()), *options, text])
    file = _folder() / f"sparsematch-{hashlib.sha256(key.encode()).hexdigest()[:32]}.{kind}"
    if not file.exists():
        binary = _compile(nvrtc, text, options, nvrtc.getCUBIN if kind == "cubin" else nvrtc.getPTX)
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}.tmp")
        partial.write_bytes(binary)
        partial.replace(file)
    return file


def _compile(
    nvrtc: Any, text: str, options: tuple[str, ...], read: Callable[[int], bytes]
) -> bytes:
    program = nvrtc.createProgram(text, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(program, options)
        return read(program)
    except nvrtc.NVRTCError as error:
        raise RuntimeError(nvrtc.getProgramLog(program)) from error
    finally:
        nvrtc.destroyProgram(program)


def _folder() -> Path:
    """Return the folder where CuPy keeps its binaries, by the rule that it documents."""
    return Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / ".cupy" / "kernel_cache")
