"""NVRTC called so that modules compile side by side, and binaries on disk beside CuPy's.

CuPy holds the interpreter's lock while NVRTC compiles. Called through ctypes the same library
compiles in several threads at once, as many as there are modules.
"""

import ctypes
import functools
import hashlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

#: Threads that compile, at most.
_MOST_THREADS = 16


class CompileError(RuntimeError):
    """What the compiler says of a kernel that it refuses."""


class Compiler:
    """A library of NVRTC: turns the text of a source file into a binary for an architecture.

    `library` is its name or path; of one that is loaded already, the name suffices.
    """

    def __init__(self, library: str) -> None:
        self._nvrtc = ctypes.CDLL(library)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def architectures(self) -> list[int]:
        """Return the compute capabilities that it knows, such as 90."""
        count = ctypes.c_int()
        self._nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        known = (ctypes.c_int * count.value)()
        self._nvrtc.nvrtcGetSupportedArchs(known)
        return list(known)

    def compile(self, text: str, options: tuple[str, ...]) -> bytes:
        """Return the binary; other threads run meanwhile.

        Raises CompileError with the compiler's messages.
        """
        program = ctypes.c_void_p()
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        create, destroy = self._nvrtc.nvrtcCreateProgram, self._nvrtc.nvrtcDestroyProgram
        create(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None)
        try:
            if self._nvrtc.nvrtcCompileProgram(program, len(options), given):
                raise CompileError(self._read(program, "ProgramLog").decode().rstrip("\0"))
            return self._read(program, "CUBIN")
        finally:
            destroy(ctypes.byref(program))

    def _read(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(self._nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        memory = ctypes.create_string_buffer(size.value)
        getattr(self._nvrtc, f"nvrtcGet{what}")(program, memory)
        return memory.raw


@functools.cache
def loaded_compiler(major: int) -> Compiler | None:
    """Return the library of this version that is loaded already; None if its name is not known."""
    with suppress(OSError, AttributeError):
        if sys.platform == "linux":
            return Compiler(f"libnvrtc.so.{major}")
    return None


@functools.cache
def pool() -> ThreadPoolExecutor:
    """Return the threads that compile."""
    return ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS), "sparsematch-nvrtc")


def binary_file(
    compiler: Compiler, folder: Path, text: str, options: tuple[str, ...], capability: int
) -> Path:
    """Return the file of a binary, compiled where there is none.

    The name is made of all that the binary depends on, and a file appears complete or not at all.
    Raises OSError if the folder cannot be written; CompileError if the compiler refuses the text.
    """
    options = (*options, f"-arch=sm_{capability}")
    key = "\0".join([compiler.version, *options, text])
    file = folder / f"sparsematch-{hashlib.sha256(key.encode()).hexdigest()[:32]}.cubin"
    if not file.exists():
        binary = compiler.compile(text, options)
        folder.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}.tmp")
        partial.write_bytes(binary)
        partial.replace(file)
    return file


def cache_folder() -> Path:
    """Return the folder where CuPy keeps its binaries, by the rule that it documents."""
    return Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / ".cupy" / "kernel_cache")
