"""Every CUDA kernel compiles by NVRTC, which needs no driver; the compiler called without CuPy."""

import contextlib
import ctypes
import re
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
    limits |= {"wide": 6, "allowance": 7, "own_levels": 8, "paths": 9}
    assert kernels.struct("Limits", **limits).record.item() == (1, 2, 3, 4, 5, 6, 7, 8, 9)
    for wrong in (limits | {"few": 6}, {"narrow": 1}):
        with pytest.raises(TypeError, match="Limits has fields"):
            kernels.struct("Limits", **wrong)
    for name in ("Nothing", "InStep"):
        with pytest.raises(TypeError, match=r"struct|driver"):
            kernels.struct(name)


OPTIONS = (*cuda_compile.options(np.dtype(np.int32)), "-default-device")


@pytest.fixture(scope="module")
def compiler(nvrtc_library):
    return nvrtc.Compiler(nvrtc_library)


def test_it_says_what_it_is(compiler):
    assert re.fullmatch(r"\d+\.\d+", compiler.version)
    assert 90 in compiler.architectures()


def test_a_binary_is_made_once_and_kept(compiler, tmp_path, monkeypatch):
    text, folder = layout.source("core/certificates"), tmp_path / "cache"
    file = nvrtc.binary_file(compiler, folder, text, OPTIONS, 90)
    binary = file.read_bytes()
    assert binary.startswith(b"\x7fELF")
    assert b"check" in binary
    monkeypatch.setattr(compiler, "compile", None)  # not called again
    assert nvrtc.binary_file(compiler, folder, text, OPTIONS, 90) == file
    assert [path.name for path in folder.iterdir()] == [file.name]


def test_the_name_of_a_file_tells_what_it_depends_on(compiler, tmp_path):
    text = 'extern "C" __global__ void f() {}'
    cases = [(text, OPTIONS, 90), (text + " ", OPTIONS, 90), (text, OPTIONS[1:], 90)]
    cases.append((text, OPTIONS, 80))
    made = {nvrtc.binary_file(compiler, tmp_path, *case) for case in cases}
    assert len(made) == 4


def test_a_refused_text_is_an_error_with_the_compilers_words(compiler):
    with pytest.raises(nvrtc.CompileError, match="nonsense"):
        compiler.compile("nonsense", ("-arch=sm_90",))


def test_many_threads_compile(compiler, tmp_path):
    texts = [f'extern "C" __global__ void f{k}() {{}}' for k in range(12)]

    def make(text):
        return nvrtc.binary_file(compiler, tmp_path, text, OPTIONS, 90)

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(make, texts * 2))
    assert len(set(made)) == 12
    for k, file in enumerate(made[:12]):
        assert f"f{k}".encode() in file.read_bytes()


def test_binaries_are_beside_cupys(monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    assert nvrtc.cache_folder() == tmp_path
    monkeypatch.delenv("CUPY_CACHE_DIR")
    assert nvrtc.cache_folder().parts[-2:] == (".cupy", "kernel_cache")
