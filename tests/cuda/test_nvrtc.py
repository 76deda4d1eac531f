"""The compiler called without CuPy: binaries, messages, threads, files."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

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
