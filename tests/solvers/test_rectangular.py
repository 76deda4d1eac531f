"""What numbers say of matrices that are not square, against exact ranks modulo a prime."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from rectangular import case
from sparsematch import NumericalRank, candidates, explain_singularity


def explain(A, rows=None, cols=None):
    return explain_singularity(sp.csr_array(A), rows, cols, numeric=True)


@pytest.mark.parametrize("part", range(10))
def test_ranks_roles_and_null_spaces_are_exact(part):
    """Of all the small matrices that tests/attack has."""
    seeds = range(30 * part, 30 * part + 30)
    assert not [words for k in seeds for words in case(np.random.default_rng([1, k]))]


def test_constraints_of_an_optimisation():
    A = [[1.0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [1, 1, 1, 1, 0], [0, 0, 0, 1, 1]]
    text = str(explain(A, ["balance 1", "balance 2", "total", "purity"], list("abcde")))
    assert text.startswith("Numerically rank deficient: 4 equations, 5 variables, but rank 3 wi")
    assert "balance 1 + balance 2 - total = 0\n  to do: drop one of these" in text
    assert "Critical: 1 equation, not to be dropped: purity" in text


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
    assert "Critical: 1 equation, not to be dropped: reference" in text
    assert "3 variables without a reference may all shift by one amount: th4, th5, th6\n" in text
    assert "2 variables in no equation: th7, th8" in text
    assert "to do: drop" not in text


def test_constraints_of_a_plane_loop_in_space():
    """Four joints with parallel axes: three constraints are empty, and all three may be dropped."""
    x, y = np.array([[0, 0, 1.5, 2], [0, 1, 1.7, 0]])
    zero, one = np.zeros(4), np.ones(4)
    names = [f"{kind} {axis}" for kind in ("close", "turn") for axis in "xyz"]
    text = str(explain(np.array([-y, x, zero, zero, zero, one]), names))
    assert "but rank 3 with" in text
    assert "Empty: 3 equations without variables: close z, turn x, turn y\n" in text
    assert "Redundant" not in text
    assert "Critical: 3 equations, not to be dropped: close x, close y, turn z\n" in text


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
    json.dumps(why.to_dict())
    assert isinstance(why.numbers, NumericalRank)
    assert not why.is_numerically_singular
    assert str(why).startswith("Full rank with these values: 2 equations, 3 variables, rank 2.")
    assert repr(why.numbers) == "NumericalRank(2x3, rank 2)"
    assert why.numbers.undetermined_cols.tolist() == [0, 1, 2]
