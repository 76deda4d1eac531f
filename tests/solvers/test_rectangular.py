"""What numbers say of matrices that are not square, against exact ranks modulo a prime."""

import json
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from exact_ranks import exact_rank, in_units, integers
from sparsematch import NumericalRank, candidates, explain_singularity


def explain(A, rows=None, cols=None):
    return explain_singularity(sp.csr_array(A), rows, cols, numeric=True)


@pytest.mark.parametrize("seed", range(300))
def test_ranks_and_roles_are_exact(seed):
    rng = np.random.default_rng([1, seed])
    M = integers(rng)
    if M.shape[0] == M.shape[1]:
        M = M[1:]
    if 0 in M.shape:
        return
    why, rank = explain(in_units(M, rng)), exact_rank(M)
    found = why.numbers
    assert (found.rank, found.is_settled, found.is_complete) == (rank, True, True)
    assert exact_rank(M[found.basis_rows]) == exact_rank(M[:, found.basis_cols]) == rank
    assert found.basis_rows.size == found.basis_cols.size == rank
    for i in range(M.shape[0]):
        assert (exact_rank(np.delete(M, i, 0)) == rank) == (i in found.redundant_rows)
    for j in range(M.shape[1]):
        is_free = exact_rank(np.delete(M, j, 1)) == rank
        assert is_free == (j in found.undetermined_cols)
    for dependences, exact in ((found.equations, M), (found.variables, M.T)):
        vectors = np.zeros((len(dependences), exact.shape[0]), complex)
        for vector, one in zip(vectors, dependences, strict=True):
            assert exact_rank(exact[one.indices]) == one.size - 1
            vector[one.indices] = one.coefficients / np.abs(one.coefficients)
        patterns = exact_rank(exact) + len(dependences)
        assert patterns == exact.shape[0]
        assert all(a.size <= b.size for a, b in pairwise(dependences))
    json.dumps(why.to_dict())
    assert str(why)


@pytest.mark.parametrize("seed", range(20))
def test_dependences_are_independent_of_each_other(seed):
    rng = np.random.default_rng([2, seed])
    M = integers(rng)[:, :-1]
    if M.shape[1] in (0, M.shape[0]):
        return
    for found in (explain(M).numbers.equations, explain(M).numbers.variables):
        size = max((one.indices.max() for one in found), default=0) + 1
        vectors = np.zeros((len(found), size))
        for vector, one in zip(vectors, found, strict=True):
            vector[one.indices] = one.coefficients
        assert not found or np.linalg.matrix_rank(vectors) == len(found)


def test_constraints_of_an_optimisation():
    A = [[1.0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 1, 1, 0], [0, 0, 0, 1, 1]]
    text = str(explain(A, ["balance 1", "balance 2", "total", "purity"], list("abcde")))
    assert text.startswith("Rank deficient: 4 equations, 5 variables, but rank 3 with these values")
    assert "balance 1 + balance 2 - total = 0\n  to do: drop one of these" in text
    assert "Critical: 1 equation: purity\n" in text


def test_regression_with_a_constant_and_two_sets_of_dummies():
    rng = np.random.default_rng(1)
    g, h = rng.integers(0, 10, 1000), rng.integers(0, 20, 1000)
    A = np.hstack([np.ones((1000, 1)), np.eye(10)[g], np.eye(20)[h]])
    names = ["const", *(f"g{i}" for i in range(10)), *(f"h{i}" for i in range(20))]
    why = explain(A, None, names)
    found = why.numbers
    assert (found.rank, found.redundant_rows.size) == (29, 1000)
    assert [one.size for one in found.variables] == [11, 21]
    assert all(
        abs(one.coefficients[1:] + one.coefficients[0]).max() < 1e-12 for one in found.variables
    )
    text = str(why)
    assert text.index("Free: 31 variables") < text.index("Dependent: 1,000 equations")
    assert "drop one" not in text
    assert not found.is_complete  # of the rows a hundred are listed
    assert len(found.equations) == 100


def test_totals_of_reactions():
    names = ["E", "S", "ES", "P", "ATP", "ADP", "AMP"]
    reactions = [[-1, -1, 1, 0, 0, 0, 0], [1, 0, -1, 1, 0, 0, 0], [0, 0, 0, 0, -1, 1, 0]]
    reactions += [[0, 0, 0, 0, -1, 2, -1], [0, 1, 0, -1, -1, 1, 0]]
    found = explain(np.array(reactions, float).T, names).numbers
    assert found.rank == 4
    assert [one.indices.tolist() for one in found.equations] == [[0, 2], [1, 2, 3], [4, 5, 6]]
    assert all((one.coefficients == 1).all() for one in found.equations)


def test_measured_flows_of_a_grid_of_two_islands():
    flows = {"1-2": "12", "2-3": "23", "1-3": "13", "2-1": "12", "reference": "1"}
    flows |= {"4-5": "45", "5-6": "56", "4-6": "46", "6-5": "56"}
    H, rng = np.zeros((9, 8)), np.random.default_rng(0)
    for i, ends in enumerate(flows.values()):
        H[i, int(ends[0]) - 1] = b = rng.uniform(3, 20)
        if len(ends) > 1:
            H[i, int(ends[1]) - 1] = -b
    why = explain(H, list(flows), [f"th{k}" for k in range(1, 9)])
    assert why.numbers.rank == 5
    assert why.numbers.critical_rows.tolist() == [4]
    assert set(candidates(why).drop.tolist()) == set(range(9)) - {4}
    assert set(candidates(why).fix.tolist()) == {3, 4, 5, 6, 7}
    text = str(why)
    assert "Critical: 1 equation: reference\n  without any one of these the rank is less" in text
    assert "3 variables without a reference: all may shift by one amount" in text
    assert "variables: th4, th5, th6" in text
    assert "2 variables in no equation: th7, th8" in text
    assert "to do: drop" not in text


def test_noise_and_what_is_near_the_tolerance():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((6, 9))
    A[4] = A[0] - 2 * A[1] + 1e-12 * rng.standard_normal(9)
    why = explain(A)
    assert why.numbers.is_settled
    assert str(why).startswith("Nearly rank deficient: 6 equations, 9 variables, but rank 5 to 1")
    assert [one.indices.tolist() for one in why.numbers.equations] == [[0, 1, 4]]
    A[4] = A[0] - 2 * A[1] + 3e-10 * rng.standard_normal(9)
    why = explain(A)
    assert not why.numbers.is_settled
    assert "The rank is not clear: " in str(why)


def test_full_rank():
    why = explain([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    assert isinstance(why.numbers, NumericalRank)
    assert not why.is_numerically_singular
    assert str(why).startswith("Full rank with these values: 2 equations, 3 variables, rank 2.")
    assert repr(why.numbers) == "NumericalRank(2x3, rank 2)"
    assert why.numbers.undetermined_cols.tolist() == [0, 1, 2]
