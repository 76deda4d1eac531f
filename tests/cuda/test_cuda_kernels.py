"""Every CUDA kernel compiles by NVRTC, which needs no driver; the compiler called without CuPy."""

import contextlib
import ctypes
import functools
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files as resources
from pathlib import Path

import numpy as np
import pytest

import gpu_calls
from sparsematch._engines.cuda.core import (
    alternating_bfs,
    layout,
    nvrtc,
    running_sum,
    thresholds,
    transpose,
)
from sparsematch._engines.cuda.core import compile as cuda_compile
from sparsematch._engines.cuda.decomposition import connected_components as components
from sparsematch._engines.cuda.decomposition import multi_pivot, strong_components
from sparsematch._engines.cuda.graph import local_max
from sparsematch._engines.cuda.graph import rounds as general
from sparsematch._engines.cuda.matching import apfb, karp_sipser, ms_bfs, start_common
from sparsematch._engines.cuda.matching.choice import POLICY
from sparsematch._engines.cuda.weighted import auction
from sparsematch._engines.nccl.matching import cheap, forest

FOLDER = Path(str(resources("sparsematch._engines.cuda")))
SOURCES = sorted(
    path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.cu")
)

#: What the drivers pass to the compiler.
SEARCH = {name: getattr(ms_bfs, name) for name in ("PART", "ROOM", "LINKED")}
SEARCH |= {"LOCKSTEP": 0, "UNROLL": 2, "THREADS": 512, "BLOCKS": 2}
LISTS = {"WEIGHT": 8, "LANES": 8, "UNROLL": 2, "LONG": 256, "PART": general.PART}
MACROS = {
    "core/alternating_bfs": {"HUB": alternating_bfs.HUB},
    "core/running_sum": {"THREADS": running_sum.THREADS},
    "core/transpose": {"LONG": transpose.LONG},
    "decomposition/connected_components": {"FIRST": components.FIRST, "LONG": components.LONG},
    "decomposition/multi_pivot": {"ROOTS": multi_pivot.ROOTS},
    "decomposition/strong_components": {"THREADS": strong_components.THREADS},
    "graph/over_ranks/local_max_part": LISTS,
    "graph/local_max": LISTS | {"NARROW": local_max.NARROW},
    "graph/red_blue": LISTS,
    "graph/validate": LISTS,
    "matching/apfb": apfb.MACROS,
    "matching/cheap": {"STRETCH": start_common.STRETCH},
    "matching/graph_karp_sipser": karp_sipser.MACROS,
    "matching/features": {"MAX_SHARED": POLICY.max_shared},
    "matching/karp_sipser": {"STRETCH": start_common.STRETCH},
    "matching/min_degree": {"STRETCH": start_common.STRETCH, "RARE": thresholds.RARE},
    "matching/ms_bfs": SEARCH | {"WIDTH": 0, "LANES": 8},
    "matching/ms_bfs_setup": {"WIDTH": 8, "LANES": 8, "LINKED": ms_bfs.LINKED},
    "matching/over_ranks/forest": {"LANES": 8, "LONG": forest.LONG, "THREADS": forest.THREADS},
    "matching/over_ranks/min_degree": {"RARE": thresholds.RARE},
    "matching/over_ranks/proposals": {"TRIES": cheap.TRIES},
    "matching/push_relabel": apfb.MACROS,
    "weighted/auction": {"NARROW": auction.NARROW},
    "weighted/primal_dual": {"NARROW": auction.NARROW},
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
    text, folder = layout.source("core/check"), tmp_path / "cache"
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


@pytest.mark.parametrize("cores", [2, 16])
def test_other_modules_are_compiled_ahead_where_cores_are_to_spare(monkeypatch, cores):
    made = []
    monkeypatch.setattr(cuda_compile.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(cuda_compile, "_submit", lambda *job, ahead: made.append((*job, ahead)))
    gpu_calls.load_ahead.__wrapped__(np.dtype(np.int64))
    _, texts, options, capabilities, ahead = zip(*made, strict=True) if made else [[]] * 5
    if cores == 2:
        assert made == []
        return
    assert set(capabilities) == {90 if not gpu_calls.HAS_GPU else capabilities[0]}
    assert all(ahead)
    assert all("-DIndex=long long" in given for given in options)
    heads = [re.match('#line 1 "(.*).cu"', text)[1] for text in texts]
    assert heads[0] == "decomposition/small_components"  # a block form, then other lists
    assert heads.count("matching/ms_bfs") == 5


class Slow:
    """A compiler that waits for leave, and notes what it was asked for in which order."""

    version = "1.0"

    def __init__(self):
        self.leave, self.asked, self.begun = threading.Event(), [], threading.Event()

    def compile(self, text, options):
        self.asked.append(text)
        self.begun.set()
        if text.startswith("ahead"):
            assert self.leave.wait(20)
        return text.encode()


def test_what_a_call_needs_does_not_wait_for_what_is_compiled_ahead(tmp_path, monkeypatch):
    """It leaves the queue of those when a call has come to need it."""
    monkeypatch.setattr(nvrtc.os, "cpu_count", lambda: 2)
    pool = functools.cache(nvrtc._pool.__wrapped__)
    monkeypatch.setattr(nvrtc, "_pool", pool)
    slow = Slow()

    def submit(text, ahead):
        return nvrtc.submit(slow, tmp_path, text, (), 90, ahead=ahead)

    first = submit("ahead 0", True)  # its thread is the only one
    assert slow.begun.wait(20)
    waiting = [submit(text, True) for text in ("variant", "ahead 1")]
    try:
        wanted = [submit(text, False) for text in ("wanted", "variant", "variant")]
        assert [file.result(20).read_text() for file in wanted] == ["wanted", "variant", "variant"]
        assert wanted[1] is wanted[2]
        assert not first.done()
        assert waiting[0].cancelled()
        assert submit("ahead 0", False) is first  # begun: it is waited for
    finally:
        slow.leave.set()
    assert waiting[1].result(20).read_text() == "ahead 1"
    assert sorted(slow.asked) == ["ahead 0", "ahead 1", "variant", "wanted"]
    for ahead in (True, False):
        pool(ahead).shutdown()


def test_binaries_are_beside_cupys(monkeypatch, tmp_path):
    monkeypatch.setenv("CUPY_CACHE_DIR", str(tmp_path))
    assert nvrtc.cache_folder() == tmp_path
    monkeypatch.delenv("CUPY_CACHE_DIR")
    assert nvrtc.cache_folder().parts[-2:] == (".cupy", "kernel_cache")
