"""The command line: its output for people and for programs, the files it writes, graphs."""

import io
import json
import re
import threading
import time

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import sparsematch
from calls import CORES
from sparsematch.cli import main
from sparsematch.cli.progress import Progress

RNG = np.random.default_rng(11)
FULL = sp.csr_array((RNG.random((30, 30)) < 0.08) + np.eye(30)[RNG.permutation(30)])
SINGULAR = sp.csr_array([[0, 1, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
WIDE = sp.csr_array([[0, 1, 1, 0, 1], [1, 0, 0, 1, 0]])
EMPTY = sp.csr_array((3, 3))
MATRICES = {"full": FULL, "singular": SINGULAR, "wide": WIDE, "tall": sp.csr_array(WIDE.T)}
MATRICES |= {"empty": EMPTY, "hollow": sp.csr_array([[0, 1, 0], [0, 0, 0], [0, 0, 1]])}
#: Of a block form.
ARRAYS = "row_perm", "col_perm", "row_blocks", "col_blocks", "coarse_rows", "coarse_cols"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matrices")
    for name, matrix in MATRICES.items():
        scipy.io.mmwrite(folder / f"{name}.mtx", matrix)
        sp.save_npz(folder / f"{name}.npz", matrix)
    return folder


@pytest.fixture(params=MATRICES)
def named(request, folder):
    """The name of a matrix, its file, and the matrix."""
    return request.param, str(folder / f"{request.param}.mtx"), MATRICES[request.param]


def run_json(capsys, *argv):
    status = main([*argv, "--json"])
    captured = capsys.readouterr()
    assert captured.err == ""
    return status, json.loads(captured.out)


def test_rank_json(named, capsys):
    _, file, A = named
    status, fields = run_json(capsys, "rank", file)
    rank = int(sparsematch.structural_rank(A))
    assert status == 0
    assert fields["command"] == "rank"
    assert fields["sparsematch"] == sparsematch.__version__
    assert fields["file"] == file
    assert (fields["n_rows"], fields["n_cols"], fields["n_entries"]) == (*A.shape, A.nnz)
    assert fields["structural_rank"] == fields["cardinality"] == rank
    assert fields["structurally_singular"] is sparsematch.is_structurally_singular(A)
    assert set(fields["seconds"]) == {"read", "match", "total"}
    assert fields["workers"] == 1


def test_match_json(named, capsys, tmp_path):
    _, file, A = named
    _, fields = run_json(capsys, "match", file, "--arrays", "--save", str(tmp_path / "out.npz"))
    with np.load(tmp_path / "out.npz") as saved:
        assert set(saved) == {"shape", "row_mate", "col_mate", "permutation"}
        assert tuple(saved["shape"]) == A.shape
        assert all(saved[name].tolist() == fields[name] for name in set(saved) - {"shape"})
    row_mate, col_mate = np.array(fields["row_mate"], int), np.array(fields["col_mate"], int)
    assert sparsematch.is_maximum(A, (row_mate, col_mate))
    assert fields["unmatched_rows"] == np.count_nonzero(row_mate < 0)
    assert fields["unmatched_cols"] == np.count_nonzero(col_mate < 0)
    assert sorted(fields["permutation"]) == list(range(A.shape[0]))


def test_btf_json(named, capsys, tmp_path):
    _, file, A = named
    _, fields = run_json(capsys, "btf", file, "--arrays", "--save", str(tmp_path / "out.npz"))
    form = sparsematch.block_triangular_form(A)
    assert fields["n_blocks"] == form.n_blocks
    assert fields["reducible"] is form.is_reducible
    with np.load(tmp_path / "out.npz") as saved:
        for name in ARRAYS:
            np.testing.assert_array_equal(fields[name], getattr(form, name))
            np.testing.assert_array_equal(saved[name], getattr(form, name))
        assert sparsematch.is_maximum(A, (saved["row_mate"], saved["col_mate"]))
    blocks = [[r, c] for r, c, count in fields["block_sizes"] for _ in range(count)]
    sizes = np.stack([np.diff(form.row_blocks), np.diff(form.col_blocks)], axis=1)
    assert sorted(blocks) == sorted(sizes.tolist())
    for part in ("horizontal", "square", "vertical"):
        assert fields[part] == [side.size for side in getattr(form, part)]
    rectangular = sum(any(fields[part]) for part in ("horizontal", "vertical"))
    assert fields["n_square_blocks"] == form.n_blocks - rectangular
    assert set(fields["seconds"]) == {"read", "match", "blocks", "total"}


def test_summaries_are_for_people(folder, capsys):
    assert main(["btf", str(folder / "singular.mtx")]) == 0
    out = capsys.readouterr().out
    assert "4 x 4, 6 entries" in out
    assert "3 of 4: structurally SINGULAR, short by 1" in out
    assert "2 columns with entries in 1 row only: 1 too many" in out
    assert "2 rows with entries in 1 column only: 1 too many" in out
    assert main(["rank", str(folder / "full.npz")]) == 0
    out = capsys.readouterr().out
    assert "30 of 30: structurally nonsingular" in out
    assert "ms, match " in out
    assert main(["match", str(folder / "wide.mtx")]) == 0
    out = capsys.readouterr().out
    assert "2 of 2: full" in out


@pytest.mark.parametrize(
    ("A", "words"),
    [
        (sp.csr_array((0, 0)), "0 blocks: the matrix is empty"),
        (sp.csr_array((3, 0)), "1 block, rectangular"),
        (sp.csr_array((0, 3)), "1 block, rectangular"),
        (sp.csr_array([[1, 1, 0, 0], [0, 0, 1, 1]]), "1 block, rectangular"),
        (sp.csr_array([[1, 1], [1, 1]]), "1 block: irreducible"),
    ],
)
def test_only_a_square_block_is_called_irreducible(A, words, capsys, tmp_path):
    sp.save_npz(tmp_path / "A.npz", A)
    assert main(["btf", str(tmp_path / "A.npz")]) == 0
    assert f"block form        {words}\n" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["rank", "match", "btf", "explain"])
def test_check_and_quiet(command, folder, capsys):
    for name, status in (("full", 0), ("singular", 1), ("wide", 0), ("empty", 1)):
        assert main([command, "--check", "--quiet", str(folder / f"{name}.mtx")]) == status
        assert main([command, "--quiet", str(folder / f"{name}.mtx")]) == 0
    assert capsys.readouterr() == ("", "")


def test_plot(folder, tmp_path):
    pytest.importorskip("matplotlib")
    for name, magic in (("a.png", b"\x89PNG"), ("b.pdf", b"%PDF")):
        call = ["btf", str(folder / "full.mtx"), "--quiet", "--plot", str(tmp_path / name)]
        assert main(call) == 0
        assert (tmp_path / name).read_bytes().startswith(magic)


@pytest.mark.parametrize("kind", ["exact", "heuristic"])
def test_every_engine_can_be_chosen(kind, folder, capsys):
    option = "--method" if kind == "exact" else "--init"
    for name in {engine.name for engine in sparsematch.engines(kind)}:
        status, fields = run_json(capsys, "rank", str(folder / "full.mtx"), option, name)
        assert (status, fields["structural_rank"]) == (0, 30)
        if name != "auto":
            assert name in (fields["method"], fields["init"])


def test_heuristic_alone_claims_no_rank(capsys, tmp_path):
    path = tmp_path / "a.npz"
    sp.save_npz(path, EMPTY)
    status, fields = run_json(capsys, "match", str(path), "--method", "none", "--init", "cheap")
    assert fields["structural_rank"] is None
    assert fields["structurally_singular"] is None
    assert status == 0
    assert main(["match", str(path), "--method", "none", "--init", "cheap"]) == 0
    assert "at least 0 (only a maximal matching" in capsys.readouterr().out


def test_workers_and_seed(folder, capsys):
    _, fields = run_json(capsys, "btf", str(folder / "full.mtx"), "--workers", "2", "--seed", "3")
    assert fields["workers"] == 2
    _, fields = run_json(capsys, "btf", str(folder / "full.mtx"), "--workers", "-1")
    assert fields["workers"] == CORES


class Terminal(io.StringIO):
    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def isatty(self):
        return True

    def flush(self):
        self.written.set()


def test_progress_on_a_terminal():
    """A step that runs until the line is there, however busy the machine."""
    stream = Terminal()
    progress = Progress(stream)
    with progress.step("match", "matching"):
        assert stream.written.wait(250)
    shown = stream.getvalue()
    assert re.match(r"\rmatching \.\.\. \d+\.\d s", shown)
    assert shown.endswith("\r")
    assert shown.rstrip("\r").endswith(" ")
    assert progress.seconds["match"] >= 0.5


@pytest.mark.parametrize(
    ("stream", "quiet", "seconds"),
    [(io.StringIO(), False, 0.6), (Terminal(), True, 0.6), (Terminal(), False, 0)],
)
def test_no_progress(stream, quiet, seconds):
    with Progress(stream, quiet).step("match", "matching"):
        time.sleep(seconds)
    assert stream.getvalue() == ""
