"""Matrix files: every format round trips; damaged ones are refused in a sentence."""

import bz2
import gzip
import io
import random
import struct
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import corruption
from hostile import LINES, MEMBERS, REAL
from sparsematch import UnreadableFile, read_distributed
from sparsematch._io import read_matrix, read_stream
from sparsematch.cli import main

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
    path = write(tmp_path, name)
    for matrix in (read_matrix(path), read_matrix(str(path))):
        assert matrix.format in ("csr", "csc")
        np.testing.assert_allclose(matrix.toarray(), A.toarray())


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
    assert "pickle" not in message
    assert not name.endswith("npz") or "is not a file written by scipy.sparse.save_npz" in message


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


BOTH = pytest.mark.parametrize(
    "read", [read_matrix, lambda path: read_distributed(path, None)], ids=["matrix", "ranks"]
)


def test_the_error_is_public_and_of_the_families_that_fit(tmp_path):
    assert issubclass(UnreadableFile, OSError)
    assert issubclass(UnreadableFile, ValueError)
    for read in (read_matrix, lambda path: read_distributed(path, None)):
        with pytest.raises(FileNotFoundError, match="there is no such file") as caught:
            read(tmp_path / "absent.mtx")
        assert isinstance(caught.value, UnreadableFile)


#: Headers and sizes that claim too much.
CLAIMS = (
    ("coordinate real general", "3 3 99999999999999"),
    ("coordinate real general", "-3 3 1"),
    ("coordinate real general", "99999999999999999999999 3 1"),
    ("coordinate real general", "3 3"),
    ("coordinate real symmetric", "3 2 1"),
    ("coordinate words general", "3 3 1"),
    ("coordinate real words", "3 3 1"),
    ("array pattern general", "1 1"),
    ("array real general", "100000 100000"),
    ("vector real general", "3 3 1"),
)
WRONG = [f"{REAL}3 3 2\n{lines}" for lines in LINES]
WRONG += [f"%%MatrixMarket matrix {kind}\n{sizes}\n1 1 1.0\n" for kind, sizes in CLAIMS]


@BOTH
@pytest.mark.parametrize("text", WRONG)
def test_what_is_none_of_the_format(tmp_path, text, read):
    path = tmp_path / "a.mtx"
    path.write_text(text)
    with pytest.raises(UnreadableFile, match=r"a\.mtx: "):
        read(path)


@BOTH
@pytest.mark.parametrize(
    "lines",
    [
        "1 2 1.5\n3 1 -2e0\n",
        "1 2 1.5\r\n3 1 -.2E1\r\n",
        "\n1 2 1.5\n \t\n\n3 1 -2.\n\n",
        "  1\t2   1.5  \n3 1 -2",
        "0001 2 15e-1\n3 1 -20.0000000000000000000000e-01",
    ],
)
def test_spellings_of_a_sound_matrix(tmp_path, lines, read):
    path = tmp_path / "a.mtx"
    path.write_bytes(f"{REAL}% words\n\n3 3 2\n{lines}".encode())
    A = read(path)
    A = A if sp.issparse(A) else A.to_local()
    np.testing.assert_array_equal(A.toarray(), [[0, 1.5, 0], [0, 0, 0], [-2, 0, 0]])


CSR = {
    "format": np.array("csr"),
    "shape": np.array([3, 3]),
    "data": np.ones(3),
    "indices": np.array([0, 1, 2], np.int32),
    "indptr": np.array([0, 1, 2, 3], np.int32),
}
BSR = {
    "format": np.array("bsr"),
    "shape": np.array([4, 4]),
    "data": np.ones((2, 2, 2)),
    "indices": np.array([0, 1]),
}
ARRAYS = {
    "arrays of another file": {"a": np.ones(1)},
    "other columns": CSR | {"format": np.array("csc"), "indptr": np.array([0, 2, 1, 3])},
    "rows of coordinates": CSR | {"format": np.array("coo"), "row": [0, 1, 9], "col": [0, 1, 2]},
    "blocks": BSR | {"indptr": np.array([0, 10**7, 2])},
    "a block too far": BSR | {"indptr": np.array([0, 1, 2]), "indices": np.array([0, 10**7])},
    "blocks of nothing": BSR | {"indptr": np.array([0, 1, 2]), "data": np.ones((2, 0, 2))},
} | {
    f"{name} {k}": CSR | {name: np.asanyarray(value)}
    for name in CSR
    for k, value in enumerate(MEMBERS[name])
}


@BOTH
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("arrays", ARRAYS)
def test_archives_of_other_arrays(tmp_path, arrays, compressed, read, capsys):
    path = tmp_path / "a.npz"
    (np.savez_compressed if compressed else np.savez)(path, **ARRAYS[arrays])
    with pytest.raises(UnreadableFile, match=r"a\.npz: "):
        read(path)
    assert main(["btf", str(path)]) == 3
    assert capsys.readouterr().err.count("\n") == 1


@BOTH
def test_an_array_that_claims_more_than_it_holds(tmp_path, read):
    """Beyond it in the file are other bytes, which are no values."""
    path = tmp_path / "a.npz"
    np.savez(path, **{name: array for name, array in CSR.items() if name != "data"})
    header = {"descr": "<f8", "fortran_order": False, "shape": (3,)}
    with zipfile.ZipFile(path, "a") as archive, archive.open("data.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, header)
    with pytest.raises(UnreadableFile, match=r"a\.npz: "):
        read(path)


def element(kind, data, order="<"):
    return struct.pack(f"{order}II", kind, len(data)) + data + bytes(-len(data) % 8)


def numbers(kind, code, values, order="<"):
    return element(kind, np.array(values, order + code).tobytes(), order)


def matlab(order="<", *, flags=5, size=4, indptr=(0, 2, 3), indices=(0, 3, 1), values=None):
    """A file that has one sparse matrix of two columns."""
    values = numbers(9, "f8", [1.5, 2, -3], order) if values is None else values
    parts = numbers(6, "u4", [flags, 3], order), numbers(5, "i4", [size, 2], order)
    parts += element(1, b"A", order), numbers(5, "i4", indices, order)
    parts += numbers(5, "i4", indptr, order), values
    version = struct.pack(f"{order}HH", 0x100, 0x4D49)
    return b"MATLAB 5.0".ljust(124) + version + element(14, b"".join(parts), order)


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_matlab_file_of_either_byte_order(order):
    A = read_stream(io.BytesIO(matlab(order)))
    np.testing.assert_array_equal(A.toarray(), [[1.5, 0], [0, -3], [0, 0], [2, 0]])


def test_logical_matrices_have_bytes_that_are_called_doubles():
    A = read_stream(io.BytesIO(matlab(flags=0x205, values=element(9, b"\1\1\0"))))
    np.testing.assert_array_equal(A.toarray(), [[1, 0], [0, 0], [0, 0], [1, 0]])


@pytest.mark.parametrize(
    "content",
    [
        matlab(indptr=(0, 2, 10**8)),
        matlab(indptr=(0, 2)),
        matlab(indptr=(0, 9, 3)),
        matlab(indices=(0, 10**8, 1)),
        matlab(indices=(0,)),
        matlab(size=-1),
        matlab(size=2),
        matlab(values=element(9, b"")),
        matlab(values=element(99, bytes(24))),
        matlab(flags=0x805),
        matlab(flags=6),
        matlab()[:-40],
        matlab()[:130],
        matlab().replace(struct.pack("<II", 9, 24), struct.pack("<II", 9, 2**31)),
    ],
)
def test_matlab_files_that_claim_too_much(content):
    with pytest.raises(UnreadableFile, match=r"standard input: .*[\w)]$"):
        read_stream(io.BytesIO(content))


@pytest.mark.parametrize("packed", [False, True])
def test_what_a_matlab_file_may_hold(packed):
    A = sp.random_array((7, 5), density=0.4, rng=np.random.default_rng(0), format="csc")
    whole = np.arange(6.0).reshape(2, 3)
    for variables, expected in (
        ({"S": A, "D": whole, "t": "text"}, A),
        ({"Z": A * 1j}, A * 1j),
        ({"D": whole}, whole),
        ({"U": np.array([[2**63]], np.uint64)}, np.array([[2**63]], np.uint64)),
        ({"st": {"b": 1, "A": A}}, A),
    ):
        stream = io.BytesIO()
        scipy.io.savemat(stream, variables, do_compression=packed)
        found = read_stream(io.BytesIO(stream.getvalue()))
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found.toarray(), sp.coo_array(expected).toarray())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", [".mtx", ".mat", ".npz"])
def test_small_corruptions(tmp_path, suffix):
    """tests/attack/files.py tries many more."""
    rng, sound = random.Random(4), corruption.samples()[suffix]
    for k in range(5 if suffix == ".mat" else 30):  # that starts a process for each
        path = tmp_path / f"a{suffix}"
        path.write_bytes(corruption.corrupted(sound[k % len(sound)], rng))
        corruption.read(path)


def test_a_header_of_edges_that_is_no_literal(tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"{" * 8999 + b"\n")
    with pytest.raises(UnreadableFile) as caught:
        read_distributed(path, None)
    assert "\n" not in str(caught.value)


def test_standard_input_that_is_closed(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    assert main(["rank", "-"]) == 3
    assert capsys.readouterr().err == "sparsematch: standard input: is closed\n"
