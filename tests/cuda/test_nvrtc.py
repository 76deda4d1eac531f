"""The compiler called without CuPy: binaries, messages, threads, files."""

import functools
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gpu_calls
from sparsematch._engines.cuda.core import compile as cuda_compile
from sparsematch._engines.cuda.core import layout, nvrtc

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
