"""Damaged files: one sentence in an `UnreadableFile`, no crash, no traceback, no wrong matrix."""

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


@BOTH
@pytest.mark.parametrize("lines", LINES)
def test_lines_that_are_none_of_the_format(tmp_path, lines, read):
    path = tmp_path / "a.mtx"
    path.write_text(f"{REAL}3 3 2\n{lines}")
    with pytest.raises(UnreadableFile, match=r"a\.mtx: "):
        read(path)


@pytest.mark.parametrize(
    ("header", "sizes"),
    [
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
    ],
)
def test_headers_that_claim_too_much(tmp_path, header, sizes):
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix {header}\n{sizes}\n1 1 1.0\n")
    with pytest.raises(UnreadableFile, match=r"a\.mtx: "):
        read_matrix(path)


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
    with pytest.raises(UnreadableFile, match="standard input: "):
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


def test_a_file_that_ends_scipys_reader():
    content = matlab(values=element(99, bytes(24)))  # a type of which it knows nothing
    with pytest.raises(UnreadableFile, match=r"standard input: (is damaged: SciPy|cannot read it)"):
        read_stream(io.BytesIO(content))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", [".mtx", ".mat", ".npz"])
def test_small_corruptions(tmp_path, suffix):
    """tests/attack/files.py tries many more."""
    rng, sound = random.Random(4), corruption.samples()[suffix]
    for k in range(5 if suffix == ".mat" else 30):  # that starts a process for each
        path = tmp_path / f"a{suffix}"
        path.write_bytes(corruption.corrupted(sound[k % len(sound)], rng))
        corruption.read(path)


def test_a_header_of_edges_that_is_no_literal(tmp_path, capsys):
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", 9000) + b"{" * 8999 + b"\n")
    assert main(["match-edges", str(path)]) == 3
    assert capsys.readouterr().err.count("\n") == 1


def test_standard_input_that_is_closed(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", None)
    assert main(["rank", "-"]) == 3
    assert capsys.readouterr().err == "sparsematch: standard input: is closed\n"
