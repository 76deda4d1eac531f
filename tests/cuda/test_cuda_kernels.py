"""Every CUDA kernel compiles by NVRTC, which needs no driver; modules compile side by side."""

import contextlib
import ctypes
import re
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files as resources
from pathlib import Path

import numpy as np
import pytest

from sparsematch._engines.cuda.core import compile as cuda_compile
from sparsematch._engines.cuda.core import layout, nvrtc, thresholds
from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.nccl.matching import forest

FOLDER = Path(str(resources("sparsematch._engines.cuda")))
SOURCES = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.cu")
)

#: What the drivers pass to the compiler; where they have a choice, the first.
MACROS = {name: next(iter(of(np.dtype(np.int32)))) for name, of in cuda_compile.declared.items()}
MACROS |= {
    "graph/over_ranks/local_max_part": MACROS["graph/validate"],
    "matching/over_ranks/forest": {"LANES": 8, "LONG": forest.LONG, "THREADS": forest.THREADS},
    "matching/over_ranks/proposals": {"RARE": thresholds.RARE},
}

BOTH = pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])

#: What `ms_bfs` is compiled for, by the mean length of a list.
SHAPES = {"short": (4, 4), "mesh": (8, 8), "long": (16, 16), "skewed": (0, 8), "dense": (0, 32)}


@pytest.fixture(scope="module")
def library(nvrtc_library):
    return ctypes.CDLL(nvrtc_library)


def compile_text(library, name, architecture, dtype, **macros):
    """Return the compiler's status and what it says."""
    given = cuda_compile.options(np.dtype(dtype), **(MACROS.get(name, {}) | macros))
    # As CuPy has it: what is not marked otherwise, a lambda for one, is for the device.
    options = f"--gpu-architecture={architecture}", "-default-device", *given
    return compile_only(library, layout.source(name), options)


def compile_only(library, text, options=()):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    passed = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    status = library.nvrtcCompileProgram(program, len(options), passed)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return status, log.value.decode()


@BOTH
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lockstep", [0, 1])
def test_every_shape_of_the_search_compiles(library, lockstep, shape, dtype):
    width, lanes = SHAPES[shape]
    macros = {"LOCKSTEP": lockstep, "WIDTH": width, "LANES": lanes}
    assert compile_text(library, "matching/ms_bfs", "sm_90", dtype, **macros) == (0, "")


@pytest.mark.parametrize("weight", [0, 4, 8])
@pytest.mark.parametrize("name", ["graph/local_max", "graph/red_blue", "graph/validate"])
def test_every_type_of_weights_compiles(library, name, weight):
    for lanes, unroll, dtype in ((2, 2, np.int32), (4, 2, np.int64), (8, 4, np.int32)):
        macros = {"LANES": lanes, "UNROLL": unroll, "LONG": 32 * lanes, "PART": general.PART}
        assert compile_text(library, name, "sm_90", dtype, WEIGHT=weight, **macros) == (0, "")


def layouts(name, dtype):
    """The structs of a source that a driver can fill, as the host lays them out."""
    pattern = r"(?<!>\n)^struct (?:alignas.16. )?(\w+) {"  # no template
    for struct in re.findall(pattern, layout.source(name), re.M):
        with contextlib.suppress(TypeError):  # one with member functions
            yield struct, layout.layout(name, np.dtype(dtype), struct)


#: Whether the compiler tells where a field is.
OFFSETS = "struct S { int a, b; }; static_assert(__builtin_offsetof(S, b) == 4);"


@pytest.mark.parametrize(("architecture", "dtype"), [("sm_80", np.int64), ("sm_100", np.int32)])
@pytest.mark.parametrize("name", SOURCES)
def test_compiles_with_structs_as_a_driver_fills_them(
    library, name, architecture, dtype, monkeypatch
):
    """Their sizes; where each field is if the compiler has a word for it, as NVRTC 13.0 has not."""
    forms, claims = dict(layouts(name, dtype)), []
    for struct, form in forms.items():
        claims.append(f"static_assert(sizeof({struct}) == {form.itemsize});")
        if compile_only(library, OFFSETS)[0] == 0:
            for field, (_, offset, *_) in form.fields.items():
                claims.append(f"static_assert(__builtin_offsetof({struct}, {field}) == {offset});")
    text = layout.source(name) + "\n".join(claims)
    monkeypatch.setattr(layout, "source", lambda _: text)
    assert compile_text(library, name, architecture, dtype) == (0, "")
    assert any("sizeof(Csr)" in claim for claim in claims)


def test_a_struct_is_filled_by_its_fields():
    kernels = layout.Layouts()
    kernels.name, kernels.dtype = "matching/ms_bfs", np.dtype(np.int64)
    limits = {"narrow": 1, "stay": 2, "depth_eighths": 3, "graft": 4, "alone": 5}
    limits |= {"wide": 6, "allowance": 7, "own_levels": 8, "left": 9}
    assert kernels.struct("Limits", **limits).record.item() == (1, 2, 3, 4, 5, 6, 7, 8, 9)
    for wrong in (limits | {"few": 6}, {"narrow": 1}):
        with pytest.raises(TypeError, match="Limits has fields"):
            kernels.struct("Limits", **wrong)
    for name in ("Nothing", "InStep"):
        with pytest.raises(TypeError, match=r"struct|driver"):
            kernels.struct(name)


class Compiler:
    """NVRTC by the names that CuPy gives its functions; a launch is noted in place of a GPU.

    Two programs are compiled together, or none.
    """

    NVRTCError = ZeroDivisionError

    def __init__(self):
        self.launched, self._texts, self._together = [], {}, threading.Barrier(2, timeout=30)
        device = types.SimpleNamespace(id=0, compute_capability="90")
        self.cuda = types.SimpleNamespace(Device=lambda: device, nvrtc=self)

    def getVersion(self):
        return 13, 0

    def getSupportedArchs(self):
        return 75, 80, 90

    def createProgram(self, text, name, headers, include_names):
        self._texts[key := len(self._texts) + 1] = [text]
        return key

    def compileProgram(self, program, options):
        self._texts[program] += options
        self._together.wait()
        if "-DREFUSED=1" in options:
            raise self.NVRTCError

    def getProgramLog(self, program):
        return "nonsense"

    def getCUBIN(self, program):
        return "\n".join(self._texts[program]).encode()

    def getPTX(self, program):
        return b"text: " + self.getCUBIN(program)

    def destroyProgram(self, program):
        del self._texts[program]

    def RawModule(self, *, path, enable_cooperative_groups):
        return types.SimpleNamespace(
            get_function=lambda kernel: (
                lambda *given, **_: self.launched.append((Path(path).read_bytes(), kernel, *given))
            )
        )


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path / "cache"))
    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(nvrtc, "pool", lambda: pool)
        monkeypatch.setitem(sys.modules, "cupy", compiler := Compiler())
        yield compiler
    assert not compiler._texts


def kernels(**macros):
    return cuda_compile.Kernels("core/certificates", np.dtype(np.int32), **macros)


def test_modules_compile_side_by_side_once_and_are_kept(compiler, tmp_path, monkeypatch):
    for made in [kernels(A=1), kernels(A=2)]:
        made.launch("check", 600, 7)
    monkeypatch.setattr(compiler, "createProgram", None)  # not called again
    kernels(A=2).launch("check", 600, 7)
    one, two, again = compiler.launched
    assert one[1:] == ("check", (3,), (256,), (7,))
    assert two == again
    assert one[0].replace(b"A=1", b"A=2") == two[0]
    assert two[0].startswith(layout.source("core/certificates").encode())
    assert b"-arch=sm_90" in two[0]
    assert {file.suffix for file in (tmp_path / "cache").iterdir()} == {".cubin"}
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_refused_text_is_an_error_of_the_launch_with_the_compilers_words(compiler):
    made, refused = kernels(), kernels(REFUSED=1)
    made.ready()
    with pytest.raises(RuntimeError, match="nonsense"):
        refused.launch("check", 600, 7)


def test_a_gpu_that_the_compiler_does_not_know_gets_text_for_an_older_one(compiler, tmp_path):
    compiler.cuda.Device().compute_capability = "121"
    for made in [kernels(A=1), kernels(A=2)]:
        made.launch("check", 1)
    assert all(b"-arch=sm_90" in text and text[:5] == b"text:" for text, *_ in compiler.launched)
    assert {file.suffix for file in (tmp_path / "cache").iterdir()} == {".ptx"}


def test_binaries_are_beside_cupys(monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    assert nvrtc._folder() == tmp_path
    monkeypatch.delenv("CUPY_CACHE_DIR")
    assert nvrtc._folder().parts[-2:] == (".cupy", "kernel_cache")
