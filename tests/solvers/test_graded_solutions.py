"""Solutions whose elements differ by orders of magnitude, and those near the ends of the range."""

import numpy as np
import pytest
import scipy.sparse as sp

from graded_systems import TRANSPOSED, backward_error, case
from sparsematch import linalg, solvers

SMALL = np.array([[2.0, -3, -2, 0], [4, 3, -1, 0], [-3, 0, 5, -1], [-3, 0, 3, 10]])  # condition 6


@pytest.mark.parametrize("trans", TRANSPOSED)
@pytest.mark.parametrize("unit", [1, 1j])
def test_a_small_element_keeps_its_digits_after_easy_solutions(trans, unit):
    """Each solution is measured, also by factors that are small beside their matrix."""
    lu = solvers.splu(sp.csc_array(SMALL * unit))
    for again in range(2):
        D = TRANSPOSED[trans](SMALL * (1 + again))
        x = np.array([1.0, 2**36 + 1, 3, 2])
        b = D @ x  # exact
        factor = np.conj(unit) if trans == "H" else unit
        for _ in range(2):
            lu.solve(np.ones(4), trans)
        for right in (b, np.stack([np.ones(4), b, b[::-1]], axis=1)):
            y = lu.solve(right * factor, trans)
            for found, of in zip(y.reshape(4, -1).T, right.reshape(4, -1).T, strict=True):
                assert not found.imag.any()
                assert backward_error(D, found.real, of) < 1e-13
        lu.refactorise(sp.csc_array(2 * SMALL * unit))


def test_terms_that_are_tiny_in_a_block_only_keep_their_digits():
    """Those of the first row, whose block sees b - 21 = 0 and elements of 0 or noise."""
    D = np.array([[1.0, 0, 3, -6, 7], [2, 7, -6, 5, 0], [0, 0, 3, -5, 0], [5, 1, -2, -9, 0]])
    D = np.vstack([D, [0, 0, 0, 0, 3]])
    b = D @ [0, 2**30 + 1, 0, 0, 3]  # exact
    for M, trans in ((D, "N"), (D.T, "T")):
        assert backward_error(D, solvers.splu(sp.csc_array(M)).solve(b, trans), b) < 1e-13


@pytest.mark.parametrize(
    "rest",
    [
        [[3 - 1j, 0, 1 - 1j], [1 - 4j, -4 + 1j, -4 - 1j]],
        [[1 - 4j, 0, -2 - 3j], [-4 - 1j, -4 - 4j, 4 - 1j]],
    ],
)
def test_complex_terms_are_not_taken_for_tiny(rest):
    """Those of the first row are, if sizes are |Re| + |Im|, twice too large in products of two."""
    D = np.array([[1 + 1j, 1, 0], *rest])
    b = D @ [1, 1, 3e12 * (1 + 1j)]  # exact
    assert backward_error(D, solvers.splu(sp.csc_array(D)).solve(b), b) < 1e-13


def test_units_of_rows_and_columns_share_a_scaling():
    """A product of an entry and the factor of its row alone vanishes: 1e-170 times 1e-170."""
    A, b = sp.csc_array([[1e170, -1e-170], [1e170, 1e-170]]), np.ones(2)
    for x in (solvers.splu(A).solve(b), linalg.spsolve(A, b), linalg.spsolve(A.tocsr(), b)):
        np.testing.assert_allclose(x, [1e-170, 0], rtol=1e-15)


@pytest.mark.parametrize("trans", ["N", "T"])
def test_what_vanishes_in_one_block_is_seen_beside_another(trans):
    """The right-hand side of the second block is in range, but not times the factor of its rows."""
    D = np.array([[1.0, 0, 0], [0, 2e80, 1e-220], [0, 1e80, 3e-220]])
    if trans == "T":
        D = D.T.copy()
    lu = solvers.splu(sp.csc_array(D))
    for _ in range(3):
        x = lu.solve(np.array([1.0, 1e-250, 1e-250]), trans)
    np.testing.assert_allclose(x, [1, 0, 2e-31], rtol=1e-14)


@pytest.mark.parametrize(("trans", "upper", "lower"), [("N", 1e150, 1e-230), ("T", 1e50, 1e130)])
def test_what_overflows_between_blocks_does_not_if_the_solution_is_in_range(trans, upper, lower):
    """Two blocks and what couples them: its entry, scaled by rows, is beyond the range."""
    block = np.array([[2.0, 1.0], [1.0, 3.0]])
    D = np.block([[1e-300 * block, 1e80 * block[::-1]], [np.zeros((2, 2)), block]])
    D = TRANSPOSED[trans](D)
    b = D @ np.array([upper, 2 * upper, 3 * lower, 5 * lower])
    lu = solvers.splu(sp.csc_array(TRANSPOSED[trans](D)))
    for _ in range(3):
        assert backward_error(D, lu.solve(b, trans), b) < 1e-13


@pytest.mark.filterwarnings("ignore")
def test_no_digits_are_lost_in_silence():
    """Of small integers and structured patterns, in all units; tests/attack tries more."""
    with np.errstate(all="ignore"):
        assert not [words for k in range(60) for words in case(np.random.default_rng([3, k]))]
