"""What to expect of a linear system, against exact solutions and dense decompositions."""

import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import block_diag

from sparsematch.cli import main
from sparsematch.solvers import (
    BlockCondition,
    Diagnosis,
    Misscaled,
    Spectrum,
    diagnose,
    spsolve,
)

EPSILON = 2.0**-52
TWO = sp.csc_array(np.eye(2))


def grid(n, m):
    """Make the five-point Laplacian of a rectangle."""
    one, other = (
        sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(k, k)) for k in (n, m)
    )
    return sp.csc_array(sp.kron(one, sp.eye_array(m)) + sp.kron(sp.eye_array(n), other))


def solve_exactly(A, b):
    """Solve a small system of fractions."""
    n = len(b)
    rows = [[*row, right] for row, right in zip(A, b, strict=True)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * c for a, c in zip(rows[i], rows[k], strict=True)]
    x = [Fraction(0)] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def fractions(values, noise):
    """Return values as fractions, each changed by a share."""
    return [Fraction(v) * (1 + Fraction(e)) for v, e in zip(values.tolist(), noise, strict=True)]


def share(y, x):
    """Return the relative error of y."""
    if y == x:
        return 0.0
    return float((y - x) / x) if x else np.inf


def orthogonal(rng, n):
    return np.linalg.qr(rng.standard_normal((n, n)))[0]


def ill_conditioned(kind, n, rng):
    k = np.arange(n)
    if kind == "Hilbert":
        return 1 / (k[:, None] + k + 1)
    if kind == "Vandermonde":
        return np.vander(np.linspace(0.1, 1, n))
    if kind == "graded":
        return rng.standard_normal((n, n)) * 10.0 ** -(k[:, None] + k)
    if kind == "Kahan":
        return np.diag(0.9**k) @ (np.eye(n) - 0.4 * np.triu(np.ones((n, n)), 1))
    if kind == "planted":
        values = 10.0 ** -np.linspace(0, rng.integers(1, 14), n)
        return orthogonal(rng, n) * values @ orthogonal(rng, n)
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.35)
    A[k, rng.permutation(n)] = 10.0 ** rng.integers(-6, 2, n)
    return A


def test_digits_are_those_of_systems_with_rounded_data():
    rng = np.random.default_rng(0)
    off, kept = [], []
    for kind in ("Hilbert", "Vandermonde", "graded", "Kahan", "planted", "sparse"):
        for case in range(4):
            n = int(rng.integers(4, 8))
            A = ill_conditioned(kind, n, rng)
            while np.linalg.matrix_rank(A, 0) < n:  # of sparse ones
                A = ill_conditioned(kind, n, rng)
            if case % 2:
                A = A * 10.0 ** rng.integers(-8, 8, (n, 1)) * 10.0 ** rng.integers(-8, 8, n)
            b = A @ rng.standard_normal(n) if case < 2 else np.abs(A).max(axis=1)
            exact = solve_exactly([fractions(row, np.zeros(n)) for row in A], fractions(b, [0] * n))
            found = diagnose(sp.csc_array(A), b)
            own = [
                share(Fraction(v), x)
                for v, x in zip(spsolve(sp.csc_array(A), b).tolist(), exact, strict=True)
            ]
            squares = np.square(own)
            for _ in range(6):
                noise = EPSILON * rng.standard_normal((n + 1, n))
                other = solve_exactly(
                    [fractions(row, e) for row, e in zip(A, noise[:n], strict=True)],
                    fractions(b, noise[n]),
                )
                changes = [share(y, x) for x, y in zip(exact, other, strict=True)]
                squares += np.square(changes) / 6
            off.extend(found.digits - np.clip(-np.log10(np.sqrt(squares) + 1e-16), 0, 15.65))
            kept.extend(np.maximum(-np.log10(np.abs(own) + 1e-16), 0) - found.digits)
    assert np.mean(np.abs(off) <= 1) >= 0.95
    assert np.max(np.abs(off)) < 2
    assert np.mean(np.array(kept) >= -1) >= 0.99  # what a solution has


def test_elements_that_cannot_be_known_come_first():
    A = sp.csc_array(block_diag([[1.0, 1.0], [1.0, 1.0 + 1e-9]], np.eye(2)))
    found = diagnose(A, [1.0, 2.0, 3.0, 0.0], col_names=["p", "q", "r", "s"])
    assert set(found.fewest_digits[:2].tolist()) == {0, 1}
    assert np.round(found.digits).tolist() == [6, 6, 16, 16]
    assert "Ill-conditioned: expect less than 8 digits in 2 of 4 variables, 6 in" in str(found)
    assert ": p 6, q 6," in str(found) or ": q 6, p 6," in str(found)


def test_an_element_that_is_zero_but_for_rounding_is_no_reason_for_alarm():
    A = sp.csc_array([[1.0, 0.1, 0.3], [0.2, 1.0, 0.7], [0.5, 0.1, 1.0]])
    found = diagnose(A, A @ np.array([1.0, 0.0, 3.0]))
    assert found.vanishing.tolist() == [1]
    assert 1 not in found.fewest_digits
    assert str(found).startswith("Sound: expect at least 15 digits in every variable.")
    assert "zero but for rounding: column 1" in str(found)


@pytest.mark.parametrize("dtype", [float, complex])
def test_small_singular_values_of_large_matrices(dtype):
    rng = np.random.default_rng(3)
    A = sp.random_array((700, 700), density=0.004, rng=rng, data_sampler=rng.standard_normal)
    A = sp.csc_array(A + sp.eye_array(700)).astype(dtype)
    if dtype is complex:
        A.data *= np.exp(2j * np.pi * rng.random(A.nnz))
    units = 2.0 ** rng.integers(-300, 300, (2, 700))
    found = diagnose(sp.diags_array(units[0]) @ A @ sp.diags_array(units[1]))
    assert found.rank == 700
    assert not found.spectrum.exact
    # scaled by powers of two, as the matrix without units is, up to factors of 2
    plain = diagnose(A)
    assert np.allclose(found.spectrum.smallest, plain.spectrum.smallest, rtol=0.2)


def test_singular_values_of_a_grid():
    A = sp.csc_array(0.25 * grid(30, 20))  # which the scaling leaves as it is
    found = diagnose(A)
    exact = np.linalg.svd(A.toarray(), compute_uv=False)
    assert not found.spectrum.exact
    assert found.spectrum.smallest == pytest.approx(exact[-5:], rel=0.1)
    assert found.spectrum.largest == pytest.approx(exact[0], rel=0.1)


@pytest.mark.parametrize("n", [40, 600])
@pytest.mark.parametrize("share", [1e-6, 1e-12])
def test_a_planted_gap(n, share):
    rng = np.random.default_rng(n)
    A = sp.random_array((n, n), density=4 / n, rng=rng, data_sampler=rng.standard_normal)
    A = (A + 3 * sp.eye_array(n)).toarray()
    A[7] = A[3] + A[5]
    A[7, 7] += share
    A = sp.csc_array(A)
    found = diagnose(A)
    assert found.rank == n
    rank, ratio = found.gap
    assert rank == n - 1
    assert 1e-3 < ratio * share < 10
    why = found.explanation
    assert (why is not None and why.is_numerically_singular) == (share < 1e-10)
    if share < 1e-10:
        assert 7 in found.explanation.numbers.equations[0].indices
        assert str(found).startswith("Nearly singular")


def test_the_worst_blocks():
    good = [[2.0, 1.0], [1.0, 2.0]]
    blocks = [good, good, [[1.0, 1.0], [1.0, 1.0 + 1e-6]], good, np.eye(1)]
    A = block_diag(*blocks)
    A[0, 8] = 5.0
    A = sp.csc_array(A)
    found = diagnose(A)
    assert found.n_blocks == 5
    assert [block.rows.size for block in found.blocks] == [2, 2, 2, 2]
    worst = found.blocks[0]
    assert worst.exact
    assert worst.rows.tolist() == worst.cols.tolist() == [4, 5]
    assert worst.rcond == pytest.approx(1 / np.linalg.cond(blocks[2]), rel=0.5)
    assert 6 < worst.digits_lost < 7
    large = sp.block_diag([np.eye(3), grid(30, 20)], format="csc")
    (only,) = diagnose(large).blocks
    assert not only.exact
    condition = np.linalg.cond(grid(30, 20).toarray(), 1)
    assert 0.9 / condition <= only.rcond <= 4 / condition


def test_a_row_and_a_column_in_other_units_are_named():
    rng = np.random.default_rng(1)
    A = sp.random_array((60, 60), density=0.1, rng=rng, data_sampler=rng.standard_normal)
    A = sp.csc_array(A + 4 * sp.eye_array(60))
    assert diagnose(A).misscaled == ()
    units = np.ones((2, 60))
    units[0, 17], units[1, 31] = 1e9, 1e-7
    names = [f"e{i}" for i in range(60)]
    B = sp.csc_array(sp.diags_array(units[0]) @ A @ sp.diags_array(units[1]))
    found = diagnose(B, row_names=names)
    assert [(each.side, each.index) for each in found.misscaled] == [("rows", 17), ("columns", 31)]
    assert 0.01 < found.misscaled[0].factor * 1e9 < 100
    assert 0.01 < found.misscaled[1].factor * 1e-7 < 100
    assert found.rcond < 1e-3 * found.scaled_rcond
    assert "e17 (x " in str(found)
    assert found.digits[31] < 9  # of A @ ones: in these units its element is tiny
    assert "the fewer of two: b = A @ ones" in str(found)
    same = diagnose(B, B @ (1 / units[1]))
    assert same.digits == pytest.approx(diagnose(A, A @ np.ones(60)).digits, abs=1)


def test_singular_matrices():
    B = sp.csc_array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 1.0]])
    found = diagnose(B, row_names=["f", "g", "h"])
    assert (found.rank, found.is_singular, found.digits) == (2, True, None)
    assert found.explanation.numbers.equations[0].indices.tolist() == [0, 1]
    assert str(found).startswith("Singular: rank 2 of 3, see below.")
    assert "g is 2 * f" in str(found)
    structural = diagnose(sp.csc_array([[1.0, 1.0], [0.0, 0.0]]))
    assert (structural.rank, structural.spectrum) == (1, None)
    assert "Structurally singular" in str(structural)
    hidden = sp.csc_array(np.ones((2, 2)))
    hidden.data[:2] = 0.0
    found = diagnose(hidden)
    assert (found.stored_zeros, found.rank, found.n_entries) == (2, 1, 2)
    assert "2 stored zeros not counted" in str(found)
    nothing = diagnose(sp.csc_array((3, 3)))
    assert nothing.rank == 0
    rounding = 0.1 * np.arange(1.0, 10.0).reshape(3, 3)  # singular but for rounding
    assert diagnose(sp.csc_array(rounding)).rank == 2


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_anything(n):
    found = diagnose(sp.csc_array(np.eye(n)))
    assert (found.rank, found.is_singular, found.gap) == (n, False, (n, 1.0))
    assert found.digits.tolist() == [pytest.approx(15.65, abs=0.5)] * n
    assert found.text().splitlines()[0]


def test_what_is_in_a_diagnosis():
    found = diagnose(sp.csc_array(block_diag([[2.0, 1.0], [1.0, 2.0]], 3e9, 1.0)))
    assert isinstance(found, Diagnosis)
    assert isinstance(found.spectrum, Spectrum)
    assert all(isinstance(block, BlockCondition) for block in found.blocks)
    assert all(isinstance(each, Misscaled) for each in found.misscaled)
    assert repr(found) == "Diagnosis(4x4, rank 4, at least 15 digits)"
    assert repr(found.blocks) == "(BlockCondition(2x2, rcond 3e-01),)"


def test_the_same_numbers_every_time():
    A = grid(10, 10)
    assert (diagnose(A).digits == diagnose(A).digits).all()
    assert (diagnose(A, rng=1).digits != diagnose(A).digits).any()
    assert (diagnose(A, rng=np.random.default_rng(0)).digits == diagnose(A).digits).all()


def test_json_has_everything():
    A = sp.csc_array([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-13, 0.0], [0.0, 1.0, 1e9]])
    for found in (diagnose(A, row_names=list("abc")), diagnose(sp.csc_array(np.ones((2, 2))))):
        fields = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert fields["rank"] == found.rank
        assert len(fields["blocks"]) == len(found.blocks)
        assert fields["explanation"]["numbers"]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((np.eye(2),), TypeError, "A must be"),
        ((sp.csc_array((2, 3)),), ValueError, r"A must be square, but has shape \(2, 3\)"),
        ((sp.csc_array([[np.nan]]),), ValueError, r"A\[0, 0\] is nan"),
        ((TWO, [1.0]), ValueError, r"b has shape \(1,\)"),
        ((TWO, np.ones((2, 1))), ValueError, r"b has shape \(2, 1\)"),
        ((TWO, [1.0, np.inf]), ValueError, r"b\[1\] is inf"),
        ((TWO, ["a", "b"]), TypeError, "b must be an array of numbers"),
    ],
)
def test_bad_input(arguments, error, words):
    with pytest.raises(error, match=words):
        diagnose(*arguments)


def test_names_that_do_not_fit():
    with pytest.raises(ValueError, match="row_names has 1 name, but the matrix has 2 rows"):
        diagnose(TWO, row_names=["a"])
    with pytest.raises(ValueError, match="max_names"):
        diagnose(TWO).text(max_names=-1)


def test_on_the_command_line(tmp_path, capsys):
    good, bad, wide = (str(tmp_path / f"{name}.npz") for name in ("good", "bad", "wide"))
    sp.save_npz(good, grid(4, 4))
    sp.save_npz(bad, sp.csc_array([[1.0, 2.0], [2.0, 4.0]]))
    sp.save_npz(wide, sp.csc_array(np.ones((2, 3))))
    names = tmp_path / "rows.txt"
    names.write_text("mass\nheat\n")
    assert main(["diagnose", good, "--check"]) == 0
    assert capsys.readouterr().out.startswith("Sound: expect at least 14 digits")
    right = tmp_path / "b.txt"
    right.write_text("\n".join(map(str, grid(4, 4) @ np.ones(16))))
    assert main(["diagnose", good, "--rhs", str(right)]) == 0
    assert capsys.readouterr().out.startswith("Sound: expect at least 15 digits")
    right.write_text("1\nfew\n" + "1\n" * 14)
    assert main(["diagnose", good, "--rhs", str(right)]) == 3
    assert "b.txt: 'few' is no number" in capsys.readouterr().err
    right.write_text("1\n2\n")
    assert main(["diagnose", good, "--rhs", str(right)]) == 3
    assert main(["diagnose", bad, "--check", "--rows", str(names)]) == 1
    assert "heat is 2 * mass" in capsys.readouterr().out
    assert main(["diagnose", bad, "--json"]) == 0
    fields = json.loads(capsys.readouterr().out)
    assert (fields["command"], fields["rank"], fields["is_singular"]) == ("diagnose", 1, True)
    assert main(["diagnose", good, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["diagnose", wide]) == 4
    assert "A must be square" in capsys.readouterr().err


def test_the_scaling_that_suits_is_found():
    """By least squares of logarithms its reciprocal condition is 9e-12, by the transversal 0.1."""
    A = [[-1e-2, -1e-8, 1e-7, 0.0], [0.0, 1e-2, 1e7, 1e2], [-1e-5, 1e-2, 0.0, 0.0]]
    found = diagnose(sp.csc_array([*A, [-1e-6, -1e3, 0.0, 0.0]]))
    assert found.rank == 4
    assert found.scaled_rcond > 0.01
    assert found.explanation is None


def test_islands_that_a_weak_line_connects():
    """A power grid in two parts, grounded in one of them: alone, or by a line, the other floats."""
    line = np.array([[2.0, -1.0, 0.0], [-1.0, 3.0, -2.0], [0.0, -2.0, 3.0]])
    island = np.array([[5.0, -5.0, 0.0], [-5.0, 8.0, -3.0], [0.0, -3.0, 3.0]])
    for weak, rank, start in ((0.0, 5, "Singular: rank 5 of 6"), (2.0**-34, 6, "Nearly singular")):
        A = block_diag(line, island)
        A[2, 3] = A[3, 2] = -weak
        A[2, 2], A[3, 3] = A[2, 2] + weak, A[3, 3] + weak
        found = diagnose(sp.csc_array(A))
        assert found.rank == rank
        assert found.gap[0] == 5
        assert str(found).startswith(start)
        (free,) = found.explanation.numbers.variables
        assert free.indices.tolist() == [3, 4, 5]
        assert free.is_constant


def test_the_rank_of_a_large_matrix_is_exact_once_all_dependences_are_named():
    A = sp.diags_array([1.0, 3.0, 1.0], offsets=[-1, 0, 1], shape=(600, 600)).tolil()
    A[301] = A[300]
    found = diagnose(A.tocsc())
    assert found.spectrum is None
    assert str(found).startswith("Singular: rank 599 of 600, see below.")
    A[301] = 0
    assert str(diagnose(A.tocsc())).startswith("Singular: rank 599 of 600, see below.")


@pytest.mark.parametrize("large", [1e300, 5e307])
def test_large_values_have_all_their_digits(large):
    for A in (np.full((1, 1), large), np.diag([large, 1.0])):
        assert str(diagnose(sp.csc_array(A))).startswith("Sound: expect at least 15 digits")
