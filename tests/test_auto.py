"""The choice that `auto` makes: what it does with the matching it has when it changes course."""

import numpy as np
import pytest

import sparsematch as sm
from calls import certify, grid, random_matrix, scrambled


@pytest.mark.parametrize(
    ("shape", "degree", "better"),
    [((20_000, 26_000), 2, "karp_sipser"), ((20_000, 20_000), 18, "min_degree")],
)
def test_a_better_initialisation_starts_from_the_empty_matching(shape, degree, better):
    """What the cheap one has matched is cleared: extended, it would be smaller."""
    A = random_matrix(*shape, degree, 9)
    m, info = sm.maximum_transversal(A, return_info=True)
    certify(A, m)
    assert [step.engine for step in info.steps[:2]] == ["cheap", better]
    cheap = sm.maximum_transversal(A, method="none", init="cheap")
    alone, extended = (
        sm.maximum_transversal(A, method="none", init=better, initial=initial).cardinality
        for initial in (None, cheap)
    )
    assert info.steps[1].cardinality == alone > extended


@pytest.mark.parametrize("by_columns", [False, True])
def test_a_warm_start_goes_into_the_copy_of_a_scrambled_mesh(by_columns):
    """Augmenting paths keep every matched row matched, so the rows given are in the result."""
    A = scrambled(grid(150)[:, :-3000], 21)
    maximum = sm.maximum_transversal(A)
    assert not maximum.is_perfect
    row_mate = maximum.row_mate.copy()
    row_mate[np.random.default_rng(22).random(row_mate.size) < 0.5] = -1
    given = sm.maximum_transversal(A, method="none", init="none", initial=row_mate)
    m, info = sm.maximum_transversal(
        A.tocsc() if by_columns else A, initial=given, return_info=True
    )
    certify(A, m)
    assert [step.engine for step in info.steps[:3]] == ["cheap", "cheap", "pothen_fan"]
    assert info.transposes_built >= 1
    assert (m.row_mate[given.row_mate >= 0] >= 0).all()
    assert (m.col_mate[given.col_mate >= 0] >= 0).all()
