"""Matrix files: every format round trips; others are refused in a sentence that names the file."""

import bz2
import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from sparsematch._io import UnreadableFile, read_matrix

pytestmark = pytest.mark.wheel

_RNG = np.random.default_rng(3)
A = sp.csr_array(_RNG.standard_normal((12, 9)) * (_RNG.random((12, 9)) < 0.3))
NAMES = ["a.mtx", "a.mm", "A.MTX", "a.v2.mtx", "a.mtx.gz", "A.MTX.GZ", "a.mtx.bz2", "a.npz"]
NAMES += ["a.rua", "a.rra", "a.hb", "a.rb", "A.RUA", "a.rua.gz", "a.rb.bz2"]
BANNER = "%%MatrixMarket matrix coordinate real general\n"


def compress(path, module):
    packed = path.with_name(path.name + (".gz" if module is gzip else ".bz2"))
    packed.write_bytes(module.compress(path.read_bytes()))
    return packed


def write(folder, name):
    """Write A under `name`, in the format that the name says."""
    for suffix, module in ((".gz", gzip), (".bz2", bz2)):
        if name.lower().endswith(suffix):
            packed = compress(write(folder, name[: -len(suffix)]), module)
            return packed.rename(folder / name)
    path = folder / name
    if name.lower().endswith(("mtx", "mm")):
        with path.open("wb") as stream:
            scipy.io.mmwrite(stream, A)
    elif name.endswith("npz"):
        sp.save_npz(path, A)
    else:
        scipy.io.hb_write(path, A.tocsc())
    return path


@pytest.mark.parametrize("name", NAMES)
def test_round_trip(tmp_path, name):
    matrix = read_matrix(write(tmp_path, name))
    assert matrix.format in ("csr", "csc")
    assert matrix.shape == A.shape
    np.testing.assert_allclose(matrix.toarray(), A.toarray())


def test_path_may_be_a_string(tmp_path):
    assert read_matrix(str(write(tmp_path, "a.mtx"))).shape == A.shape


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_npz_in_every_format(tmp_path, form, kind):
    sp.save_npz(tmp_path / "a.npz", kind(A).asformat(form))
    matrix = read_matrix(tmp_path / "a.npz")
    assert matrix.format == (form if form in ("csr", "csc") else "csr")
    np.testing.assert_array_equal(matrix.toarray(), A.toarray())


def test_npz_keeps_explicit_zeros(tmp_path):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(([0.0], ([1], [1])), shape=(2, 2)))
    assert read_matrix(tmp_path / "a.npz").nnz == 1


@pytest.mark.parametrize(
    ("header", "lines", "expected"),
    [
        ("coordinate pattern general", "2 3 2\n1 1\n2 3", [[1, 0, 0], [0, 0, 1]]),
        ("coordinate integer symmetric", "2 2 2\n1 1 5\n2 1 7", [[5, 7], [7, 0]]),
        ("coordinate complex hermitian", "2 2 1\n2 1 0 1", [[0, -1j], [1j, 0]]),
        ("array real general", "2 2\n1\n0\n0\n2", [[1, 0], [0, 2]]),
        ("coordinate real general", "% none\n0 0 0", np.zeros((0, 0))),
        ("coordinate real general", "3 0 0", np.zeros((3, 0))),
    ],
)
def test_kinds_of_matrix_market(tmp_path, header, lines, expected):
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix {header}\n{lines}\n")
    matrix = read_matrix(path)
    np.testing.assert_array_equal(matrix.toarray(), expected)
    assert matrix.nnz == np.count_nonzero(expected)


MALFORMED = {
    "words.mtx": b"hello\n1 2 3\n",
    "binary.mtx": bytes(range(256)),
    "not_gzip.mtx.gz": b"text",
    "not_bzip.mtx.bz2": b"text",
    "cut.mtx.gz": gzip.compress(BANNER.encode() * 3)[:40],
    "text.npz": b"text",
    "words.rua": b"hello\n1 2 3\n",
    "binary.rua": bytes(range(256)),
    "headers.rua": b"a" * 80 + b"\n" + b"b" * 80 + b"\n",
    "not_gzip.rb.gz": b"text",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(MALFORMED[name])
    with pytest.raises(UnreadableFile) as caught:
        read_matrix(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert len(message) > len(f"{path}: cannot read it")
    assert "\n" not in message


@pytest.mark.parametrize("kept", [0.4, 0.7, 0.97])
def test_truncated_harwell_boeing(tmp_path, kept):
    path = write(tmp_path, "a.rua")
    text = path.read_text()
    path.write_text(text[: int(kept * len(text))])
    with pytest.raises(UnreadableFile, match="cannot read it"):
        read_matrix(path)


@pytest.mark.parametrize("kind", ["RSA", "PUA", "CUA", "RUE"])
def test_kinds_of_harwell_boeing_that_scipy_does_not_read(tmp_path, kind):
    path = write(tmp_path, "a.rua")
    path.write_text(path.read_text().replace("RUA", kind).replace("RRA", kind))
    with pytest.raises(UnreadableFile, match=r"supported.*use the matrix's Matrix Market file"):
        read_matrix(path)


def test_npz_is_never_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", format=b"csr", data=np.array([1, {}], dtype=object))
    with pytest.raises(UnreadableFile, match="is not a file written by scipy"):
        read_matrix(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.npz", "a.rua"])
def test_missing_directory_and_empty(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(UnreadableFile, match="there is no such file"):
        read_matrix(path)
    path.touch()
    with pytest.raises(UnreadableFile, match="the file is empty"):
        read_matrix(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UnreadableFile, match="is a directory"):
        read_matrix(path)


@pytest.mark.parametrize(
    "name", ["a.txt", "a", "a.gz", "a.npz.gz", "mtx", "a.mtx.zip", "a.rux", "a.mat.gz"]
)
def test_unrecognised_extension(tmp_path, name):
    (tmp_path / name).write_text(BANNER)
    words = "unrecognised file extension; a matrix file is Matrix Market"
    with pytest.raises(UnreadableFile, match=words):
        read_matrix(tmp_path / name)
