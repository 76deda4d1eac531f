"""sparsematch explain: what it prints, for people and for programs, and the files of names."""

import json

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import sparsematch
from sparsematch.cli import main

SINGULAR = sp.csr_array([[0, 1, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
ROWS, COLS = ["source A", "source B", "node", "naïve"], ["i", "v", "p", "q"]


@pytest.fixture
def folder(tmp_path):
    for name, matrix in (("singular", SINGULAR), ("full", sp.eye_array(3))):
        scipy.io.mmwrite(tmp_path / f"{name}.mtx", matrix)
    (tmp_path / "rows.txt").write_text("\n".join(ROWS) + "\n\n", encoding="utf-8")
    (tmp_path / "cols.txt").write_text("\n".join(COLS), encoding="utf-8")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.txt").write_text("")
    return tmp_path


def explain(folder, name, *options):
    return main(["explain", str(folder / f"{name}.mtx"), *map(str, options)])


def test_text(folder, capsys):
    names = "--row-names", folder / "rows.txt", "--col-names", folder / "cols.txt"
    assert explain(folder, "singular", *names) == 0
    out = capsys.readouterr().out
    assert "singular.mtx: 4 x 4, 6 entries" in out
    assert "equations: source A, source B\n" in out
    assert "variables: p, q\n" in out
    assert "counted from 0" not in out
    assert "explain " in out.splitlines()[-1]
    assert explain(folder, "full") == 0
    out = capsys.readouterr().out
    assert "Structurally nonsingular" in out
    assert "The values were not looked at: --numeric looks at them, too." in out


def test_json(folder, capsys):
    assert explain(folder, "singular", "--json", "--row-names", folder / "rows.txt") == 0
    fields = json.loads(capsys.readouterr().out)
    assert fields["command"] == "explain"
    assert fields["structural_rank"] == fields["cardinality"] == 3
    assert fields["structurally_singular"] is True
    (piece,) = fields["overdetermined"]["pieces"]
    assert piece["conflict_row_names"] == ROWS[:2]
    why = sparsematch.explain_singularity(SINGULAR)
    assert piece["conflict_cols"] == why.overdetermined[0].conflict.cols.tolist()
    assert set(fields["seconds"]) == {"read", "match", "explain", "total"}


def test_pieces(folder, capsys):
    path = folder / "none.mtx"
    scipy.io.mmwrite(path, sp.csr_array((9, 9)))
    pairs = sp.block_diag([sp.csr_array((3, 1)), *[np.ones((2, 1))] * 4])
    scipy.io.mmwrite(folder / "pairs.mtx", pairs)
    assert explain(folder, "pairs", "--pieces", 2) == 0
    out = capsys.readouterr().out
    assert "  1. 3 equations without variables: row 0, row 1, row 2\n" in out
    assert "  3. 2 equations with only 1 variable between them\n" in out
    assert "  4. " not in out
    assert "and 2 more pieces" in out
    assert explain(folder, "none", "--pieces", 5, "--json") == 0
    fields = json.loads(capsys.readouterr().out)
    assert len(fields["underdetermined"]["pieces"]) == 5
    with pytest.raises(SystemExit) as stop:
        explain(folder, "none", "--pieces", 0)
    assert stop.value.code == 2
    assert "0 is not 1 or more" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("absent.txt", "there is no such file"),
        ("cols.txt", "has 4 names, but the matrix has 3 rows"),
        ("bytes.txt", "cannot read it"),
        ("empty.txt", "the file is empty"),
    ],
)
def test_names_that_cannot_be_used(folder, names, words, capsys):
    assert explain(folder, "full", "--row-names", folder / names) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert names in captured.err


def test_what_has_no_entries_is_listed_together():
    A = sp.csr_array([[0, 1, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])
    why = sparsematch.explain_singularity(A)
    over, under = why.overdetermined, why.underdetermined
    assert (over.n_empty, over.empty.tolist(), len(over)) == (2, [1, 4], 3)
    assert (under.n_empty, under.empty.tolist(), len(under)) == (2, [0, 3], 2)
    assert "  1. 2 equations without variables: row 1, row 4\n" in str(why)
    assert "  2. 3 equations with only 2 variables between them\n" in str(why)
    words = "Under-determined: 2 variables in no equation: column 0, column 3"
    assert words in str(why)
    one = sparsematch.explain_singularity(sp.csr_array([[1, 1], [0, 0], [1, 1], [1, 1]]))
    assert "  1. 1 equation without variables: row 1\n" in str(one)
    assert one.to_dict()["overdetermined"]["n_empty"] == 1


FLOATING = sp.csr_array([[1.5, -1.5, 0.0], [-1.5, 3.5, -2.0], [0.0, -2.0, 2.0]])


@pytest.fixture
def numbers(tmp_path):
    zeros = FLOATING.copy()
    zeros[0, 0] = zeros[0, 1] = 0
    nan = FLOATING.copy()
    nan[1, 2] = np.nan
    for name, matrix in (("floating", FLOATING), ("zeros", zeros), ("nan", nan)):
        sp.save_npz(tmp_path / f"{name}.npz", matrix)
    (tmp_path / "rows.txt").write_text("at a\nat b\nat c\n")
    (tmp_path / "cols.txt").write_text("u_a\nu_b\nu_c\n")
    return tmp_path


def test_numbers(numbers, capsys):
    file, rows, cols = (str(numbers / name) for name in ("floating.npz", "rows.txt", "cols.txt"))
    options = ["--numeric", "--rows", rows, "--cols", cols]
    assert main(["explain", file, *options]) == 0
    out = capsys.readouterr().out
    assert "\n  at a + at b + at c = 0\n" in out
    assert "may all shift by one amount: u_a, u_b, u_c\n" in out
    assert main(["explain", file, *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["numbers"]
    assert found["dependent_equations"][0]["names"] == ["at a", "at b", "at c"]
    pytest.importorskip("matplotlib")
    assert main(["explain", file, *options, "--plot", str(numbers / "a.png")]) == 0
    assert (numbers / "a.png").stat().st_size > 5_000


def test_check_of_numbers(numbers, capsys):
    file = str(numbers / "floating.npz")
    assert main(["explain", file, "--check", "--quiet"]) == 0
    assert main(["explain", file, "--check", "--quiet", "--numeric"]) == 1
    assert capsys.readouterr() == ("", "")
    for wrong in ("0", "2", "small"):
        with pytest.raises(SystemExit) as stop:
            main(["explain", file, "--numeric", "--tolerance", wrong])
        assert stop.value.code == 2
        assert "argument --tolerance" in capsys.readouterr().err


def test_a_file_without_values(numbers, capsys):
    scipy.io.mmwrite(numbers / "pattern.mtx", FLOATING, field="pattern")
    assert main(["explain", str(numbers / "pattern.mtx"), "--numeric"]) == 0
    assert (
        "All values are 1, as are those of a file that holds a pattern" in capsys.readouterr().out
    )


def test_numbers_of_several_files(numbers, capsys):
    files = [str(numbers / f"{name}.npz") for name in ("floating", "nan", "zeros")]
    assert main(["explain", "--numeric", *files]) == 4
    captured = capsys.readouterr()
    first, second = captured.out.splitlines()
    assert first.endswith("structurally nonsingular, numerically SINGULAR, rank 2")
    assert "rank 2 of 3: structurally SINGULAR" in second
    assert "numerically" not in second
    assert "nan.npz: A[1, 2] is nan, but values must be finite" in captured.err
    assert main(["explain", "--numeric", "--check", files[0], files[2], "--json"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["stored_zeros"] for line in lines] == [0, 2]
    assert [line["numbers"]["rank"] for line in lines] == [2, 2]


def test_right_hand_sides_of_another_length(numbers, capsys):
    (numbers / "b.txt").write_text("1\n2\n")
    arguments = ["diagnose", str(numbers / "floating.npz"), "--rhs", str(numbers / "b.txt")]
    assert main(arguments) == 3
    assert "b.txt: has 2 numbers, but the matrix has 3 rows" in capsys.readouterr().err
