"""The CUDA kernels without a GPU: the same text as threaded C++, on NumPy arrays.

``Kernels`` has the interface of the one in ``sparsematch._engines.cuda.core.compile`` and takes its
place in tests. A block is one thread here, started from Python: ctypes releases the lock while the
kernel runs.
"""

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

import numpy as np

from sparsematch._engines.cuda.core import compile as cuda_compile
from sparsematch._engines.cuda.core import layout

HERE = Path(__file__).parent
COMPILER = shutil.which(os.environ.get("CXX", "c++"))
THREADS = 4
SHARED = 232_448  # bytes of shared memory, as host.hpp has them


@functools.cache
def _by_value(form):
    """A struct of C that is laid out as a NumPy type."""
    return np.ctypeslib.as_ctypes_type(form)


@functools.cache
def build(name, dtype, macros=(), sanitize=""):
    """Compile the kernels of one source file to a shared library, and open it."""
    text = layout.source(name)
    common = ["-std=c++20", "-O1", "-g", "-fPIC", "-fvisibility=hidden", "-pthread", "-w"]
    common.append("-DSPARSEMATCH_HOST")
    if sanitize:
        common.append(f"-fsanitize={sanitize}")
    more = [o for o in cuda_compile.options(dtype, **dict(macros)) if not o.startswith("-std")]
    host = (HERE / "host.hpp").read_text()
    library = _path(f"{name.replace('/', '-')}.so", text + host, [*common, *more])
    if not library.exists():
        headers = _standard_headers(tuple(common), host)
        options = [*common, *more, "-shared", f"-I{HERE}", "-include", str(headers)]
        _compile([*options, "-x", "c++", "-"], library, text)
    return ctypes.CDLL(str(library))


@functools.cache
def _standard_headers(options, host):
    """Compile the standard headers, which take half the time of a kernel, once for all of them."""
    text = "".join(line for line in host.splitlines(True) if line.startswith("#include <"))
    header = _path("headers.hpp", text, options)
    compiled = header.with_name(header.name + ".gch")
    if not compiled.exists():
        header.write_text(text)
        _compile([*options, "-x", "c++-header", str(header)], compiled)
    return header


def _path(name, text, options):
    """Where that is kept which the compiler makes of a text with these options."""
    key = hashlib.sha256("\0".join([text, *options]).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"sparsematch-host-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{key}-{name}"


def _compile(arguments, path, text=None):
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    command = [COMPILER, *arguments, "-o", str(partial)]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    partial.replace(path)


class Kernels(layout.Layouts):
    """The kernels of one source file; every launch runs on a few threads."""

    def __init__(self, name, dtype, **macros):
        self.name, self.dtype = name, np.dtype(dtype)
        self._library = build(
            name, self.dtype, tuple(sorted(macros.items())), os.environ.get("SANITIZER", "")
        )

    def launch(self, kernel, n, *arguments, threads=256, shared_bytes=0):
        assert shared_bytes <= SHARED
        self._run(kernel, min(THREADS, max(n, 1)), arguments)

    def launch_resident(self, kernel, *arguments, threads=512, blocks_per_processor=1):
        self._run(kernel, THREADS, arguments)

    def _run(self, kernel, blocks, arguments):
        function = getattr(self._library, kernel)
        function.restype = None
        passed = [_argument(a) for a in arguments]
        self._library.host_launch(blocks)

        def block(k):
            self._library.host_enter(k)
            function(*passed)

        team = [threading.Thread(target=block, args=(k,)) for k in range(1, blocks)]
        for thread in team:
            thread.start()
        block(0)
        for thread in team:
            thread.join()


def _argument(value):
    """The argument of a kernel: as CuPy does, arrays as pointers, scalars and structs by value."""
    if isinstance(value, layout.Struct):
        return _by_value(value.record.dtype).from_buffer_copy(value.record.tobytes())
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    kinds = {"i4": ctypes.c_int, "i8": ctypes.c_longlong, "b1": ctypes.c_bool}
    kinds |= {"u4": ctypes.c_uint, "u8": ctypes.c_ulonglong}
    kinds |= {"f4": ctypes.c_float, "f8": ctypes.c_double}
    assert isinstance(value, np.generic), f"a scalar for a kernel needs a NumPy type: {value!r}"
    return kinds[value.dtype.str[1:]](value.item())
