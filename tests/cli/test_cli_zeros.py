"""Stored zeros on the command line: how many there are, --drop-zeros."""

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from sparsematch import plot
from sparsematch.cli import main

#: In the corner, a zero that makes one block of three; at the end, one that hides the rank 2.
CORNER = sp.coo_array(([1.0, 2, 3, 4, 5, 0], ([0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 0])))
HIDDEN = sp.coo_array(([1.0, 2, 3, 0], ([0, 1, 1, 2], [0, 0, 1, 2])))
NONE = sp.csr_array(np.eye(3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zeros")
    for name, matrix in {"corner": CORNER, "hidden": HIDDEN, "none": NONE}.items():
        scipy.io.mmwrite(folder / f"{name}.mtx", matrix)
    return folder


def run(capsys, *argv):
    assert main([*map(str, argv)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


@pytest.mark.parametrize("command", ["rank", "match", "btf", "explain"])
def test_keys(folder, capsys, command):
    for name, rank, without in (("corner", 3, 3), ("hidden", 3, 2), ("none", 3, 3)):
        file, n_zeros = folder / f"{name}.mtx", int(name != "none")
        kept = json.loads(run(capsys, command, "--json", file))
        found = kept["n_entries"], kept["stored_zeros"], kept["explicit_zeros"]
        assert found == ({"corner": 6, "hidden": 4, "none": 3}[name], n_zeros, "keep")
        dropped = json.loads(run(capsys, command, "--json", "--drop-zeros", file))
        assert (kept["structural_rank"], dropped["structural_rank"]) == (rank, without)
        found = dropped["n_entries"], dropped["stored_zeros"], dropped["explicit_zeros"]
        assert found == (kept["n_entries"], n_zeros, "drop")
        if command == "btf":
            blocks = {"corner": (1, 3), "hidden": (3, 4), "none": (3, 3)}[name]
            assert (kept["n_blocks"], dropped["n_blocks"]) == blocks


def test_texts(folder, capsys):
    corner, hidden, none = (folder / f"{name}.mtx" for name in ("corner", "hidden", "none"))
    assert "  stored zeros      1 of 4 entries\n" in run(capsys, "rank", hidden)
    out = run(capsys, "btf", corner, "--drop-zeros")
    assert "  stored zeros      1 of 6 entries dropped\n" in out
    assert "stored zero" not in run(capsys, "btf", none) + run(capsys, "rank", none)
    first, second = run(capsys, "btf", corner, none).splitlines()
    assert first.endswith("1 block, 1 stored zero")
    assert "stored zero" not in second
    assert "1 stored zero dropped" in run(capsys, "rank", "--drop-zeros", hidden, none)
    assert "nonsingular, 1 stored zero\n" in run(capsys, "explain", hidden, corner)


def test_explain_without_zeros(folder, capsys):
    hidden = folder / "hidden.mtx"
    assert "row 2" not in run(capsys, "explain", hidden)
    assert "without variables: row 2\n" in run(capsys, "explain", hidden, "--drop-zeros")


def test_check_and_pictures_are_without_zeros(folder, capsys, monkeypatch, tmp_path):
    hidden = str(folder / "hidden.mtx")
    assert main(["rank", "--check", "--quiet", hidden]) == 0
    assert main(["rank", "--check", "--quiet", "--drop-zeros", hidden]) == 1
    drawn = []
    for name in ("spy_blocks", "spy_conflicts"):
        monkeypatch.setattr(plot, name, lambda A, *_, **__: drawn.append(A.nnz) or Picture())
    monkeypatch.setattr(plot, "check_picture", lambda _: None)
    for command in ("btf", "explain"):
        for option in ("--quiet", "--drop-zeros"):
            run(capsys, command, hidden, option, "--plot", tmp_path / "a.png")
    assert drawn == [4, 3, 4, 3]


class Picture:
    def savefig(self, stream, **_):
        stream.write(b"drawn")


def test_entries_that_cancel_are_zero(tmp_path, capsys):
    A = sp.csr_array((1, 1))
    A.indptr, A.indices, A.data = np.int32([0, 2]), np.int32([0, 0]), np.array([1.0, -1.0])
    sp.save_npz(tmp_path / "a.npz", A)
    fields = json.loads(run(capsys, "rank", "--json", tmp_path / "a.npz"))
    assert (fields["stored_zeros"], fields["structural_rank"]) == (1, 1)
    fields = json.loads(run(capsys, "rank", "--json", "--drop-zeros", tmp_path / "a.npz"))
    assert fields["structural_rank"] == 0


def test_values_that_are_no_numbers(tmp_path, capsys):
    arrays = {"indptr": np.int32([0, 1, 2]), "indices": np.int32([0, 1]), "shape": (2, 2)}
    np.savez(tmp_path / "a.npz", **arrays, data=np.array(["a", "b"]), format=b"csr")
    main(["rank", str(tmp_path / "a.npz")])
    assert "Traceback" not in capsys.readouterr().err
    assert main(["rank", "--drop-zeros", str(tmp_path / "a.npz")]) == 3


@pytest.mark.parametrize("option", ["--drop-zeros", "--numeric"])
def test_what_zeros_say_is_not_said_of_all_values(folder, capsys, option):
    out = run(capsys, "explain", option, folder / "hidden.mtx")
    assert "rank 2 at most, whatever the other values.\n1 stored zero dropped." in out
