"""To and from the layouts of Pyomo and MATLAB."""

from itertools import chain

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import sparsematch as sm
from calls import random_matrix
from gallery import GALLERY
from strategies import matrices


@given(matrices())
def test_matlab_and_back(A):
    form, matching = sm.block_triangular_form(A), sm.maximum_transversal(A)
    ones = form.to_matlab()
    assert [array.min(initial=1) for array in ones] == [1] * 6
    assert all(np.array_equal(one - 1, own) for one, own in zip(ones, form, strict=True))
    doubles = [array.astype(float).reshape(-1, 1) for array in ones]
    assert sm.BlockForm.from_matlab(*doubles) == form
    p = matching.to_matlab()
    assert p.shape == (A.shape[1],)
    assert np.array_equal(np.flatnonzero(p), np.flatnonzero(matching.col_mate >= 0))
    assert sm.Matching.from_matlab(p, A.shape[0]) == matching


@given(matrices())
def test_pyomo_and_back(A):
    form, matching = sm.block_triangular_form(A), sm.maximum_transversal(A)
    assert sm.Matching.from_pyomo(matching.to_pyomo(), A.shape) == matching
    rows, cols = form.to_pyomo()
    assert rows._fields == ("unmatched", "overconstrained", "underconstrained", "square")
    assert cols._fields == ("unmatched", "underconstrained", "overconstrained", "square")
    assert sorted(chain(*rows)) == list(range(A.shape[0]))
    assert sorted(chain(*cols)) == list(range(A.shape[1]))
    assert sm.Matching.from_pyomo((rows, cols), A.shape) == form.matching


@given(matrices())
def test_pyomos_blocks_are_lower_triangular(A):
    form = sm.block_triangular_form(A)
    if not A.shape[0] == A.shape[1] == form.structural_rank:
        square = A.shape[0] == A.shape[1]
        words = "needs a perfect matching" if square else "needs a square one"
        with pytest.raises(RuntimeError if square else ValueError, match=words):
            form.to_pyomo_blocks()
        return
    row_blocks, col_blocks = form.to_pyomo_blocks()
    assert [len(block) for block in row_blocks] == [len(block) for block in col_blocks]
    row_at = {i: k for k, block in enumerate(row_blocks) for i in block}
    col_at = {j: k for k, block in enumerate(col_blocks) for j in block}
    entries = zip(*map(np.ndarray.tolist, sp.coo_array(A).coords), strict=True)
    assert all(row_at[i] >= col_at[j] for i, j in entries)


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_same_as_pyomo():
    """Pyomo's own functions on the same matrices: the same parts, blocks of the same sizes."""
    reason = "compares with Pyomo: pip install pyomo networkx"
    pytest.importorskip("networkx", reason=reason)
    triangularize, coarse, matching = (
        pytest.importorskip(f"pyomo.contrib.incidence_analysis.{name}", reason=reason)
        for name in ("triangularize", "dulmage_mendelsohn", "matching")
    )
    for seed in range(6):
        A = random_matrix(40, 36 + 2 * seed, 2, seed)
        A = sp.coo_array((A + A.astype(float)).tocsr())
        A.sum_duplicates()
        theirs, ours = coarse.dulmage_mendelsohn(A), sm.block_triangular_form(A).to_pyomo()
        kinds = "overconstrained", "underconstrained", "square"
        for part, own, free_with in zip(theirs, ours, kinds[:2], strict=True):
            assert part._fields == own._fields
            for field in kinds:
                names = [field] + ["unmatched"] * (field == free_with)
                one, other = ({i for name in names for i in getattr(p, name)} for p in (part, own))
                assert one == other
        assert sm.is_maximum(A, sm.Matching.from_pyomo(matching.maximum_matching(A), A.shape))
    for name in ("fine_blocks", "even_cycle", "triangular", "identity"):
        A = sp.coo_array(GALLERY[name]())
        theirs = triangularize.block_triangularize(A)
        ours = sm.block_triangular_form(A).to_pyomo_blocks()
        for part, own in zip(theirs, ours, strict=True):
            assert {frozenset(block) for block in part} == {frozenset(block) for block in own}
    for wrong, error in ((sp.coo_array((2, 3)), ValueError), (sp.coo_array((2, 2)), RuntimeError)):
        with pytest.raises(error):
            triangularize.block_triangularize(wrong)
        with pytest.raises(error):
            sm.block_triangular_form(wrong).to_pyomo_blocks()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"p": [1, 1, 3, 4, 5]}, ValueError, "p is not a permutation of the numbers from 1 to 5"),
        ({"q": [0, 1, 2, 3, 4]}, ValueError, "q has the element 0, but counts from 1"),
        ({"q": ["a"] * 5}, TypeError, "q must be made of integers from 1"),
        ({"q": [1.5, 2, 3, 4, 5]}, TypeError, "q must be made of integers from 1"),
        ({"r": [1, 3]}, ValueError, "r must ascend from 1 to 6"),
        ({"s": [1, 6]}, ValueError, "r has 6 elements and s 2"),
        ({"rr": [1, 6]}, ValueError, "rr has 2 elements, but must have 5"),
        ({"rr": [1, 1, 1, 5, 6]}, ValueError, "rr tells a structural rank of 4, but cc one of 5"),
    ],
)
def test_wrong_dmperm(change, error, words):
    arrays = dict(zip(("p", "q", "r", "s", "cc", "rr"), GALLERY_FORM.to_matlab(), strict=True))
    with pytest.raises(error, match=words):
        sm.BlockForm.from_matlab(**(arrays | change))


GALLERY_FORM = sm.block_triangular_form(GALLERY["identity"]())


MATLAB, PYOMO = sm.Matching.from_matlab, sm.Matching.from_pyomo


@pytest.mark.parametrize(
    ("read", "given", "shape", "error", "words"),
    [
        (MATLAB, [1, 4], 3, ValueError, "p has the element 4, but there are 3 rows"),
        (MATLAB, [2, 0, 2], 3, ValueError, "p has an element twice"),
        (MATLAB, [-1], 3, ValueError, "p has the element -1, but counts from 0"),
        (PYOMO, [1, 2], (3, 3), TypeError, "given must be a dict from rows to columns"),
        (PYOMO, {0: 5}, (3, 3), ValueError, "given pairs column 5, but there are 3"),
        (PYOMO, {0: 1, 1: 1}, (3, 3), ValueError, "row 0 is paired with column 1, but row 1"),
        (PYOMO, {"a": 1}, (3, 3), TypeError, "given must be made of integers"),
    ],
)
def test_wrong_matchings(read, given, shape, error, words):
    with pytest.raises(error, match=words):
        read(given, shape)
