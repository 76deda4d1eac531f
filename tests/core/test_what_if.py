"""Roles of entries, candidates and what if, against brute force and exact ranks."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import structural_rank as scipy_rank

import sparsematch
from exact_ranks import exact_rank
from sparsematch import candidates, entry_roles, explain_singularity, view, what_if

pytestmark = pytest.mark.wheel


def rank(dense):
    dense = np.asarray(dense)
    return scipy_rank(sp.csr_array(dense)) if dense.size else 0


def roles_by_rank(dense):
    """An entry is in all maximum matchings if without it, in some if with it, the rank is less."""
    full, roles = rank(dense), np.zeros(dense.shape, int)
    for i, j in zip(*np.nonzero(dense), strict=True):
        without = dense.copy()
        without[i, j] = 0
        rest = np.delete(np.delete(dense, i, 0), j, 1)
        roles[i, j] = 2 if rank(without) < full else int(rank(rest) == full - 1)
    return roles


def some_patterns():
    for m, n in ((1, 1), (2, 2), (2, 3), (3, 2), (3, 3)):
        for bits in itertools.product((0, 1), repeat=m * n):
            yield np.reshape(bits, (m, n))
    rng = np.random.default_rng(0)
    for _ in range(400):
        m, n = rng.integers(1, 8, 2)
        pattern = (rng.random((m, n)) < rng.choice([0.15, 0.3, 0.5])).astype(int)
        if rng.random() < 0.4 and m > 2:  # coupled pieces, in natural order
            pattern[m // 2 :, : n // 2] = 0
        yield pattern


def test_roles_of_all_entries():
    for dense in some_patterns():
        expected = roles_by_rank(dense)
        for form in (sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array):
            A = form(dense)
            rows, cols = (A.tocsr() if A.format == "lil" else A).tocoo().coords
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
                roles = entry_roles(A)
            assert roles.dtype == np.int8
            assert np.array_equal(roles, expected[rows, cols])


def test_roles_of_repeated_and_of_zero_entries():
    A = sp.coo_array(([1.0, 2.0, 0.0, 3.0], ([0, 0, 0, 1], [0, 0, 1, 1])), shape=(2, 2))
    assert entry_roles(A).tolist() == [2, 2, 0, 2]
    assert entry_roles(A.tocsr(copy=True)).tolist() == [2, 0, 2]
    assert entry_roles(view(A.tocsr(), zeros="drop")).tolist() == [2, 2]
    assert entry_roles(sp.csr_array((0, 3))).size == 0


def test_roles_with_a_given_matching():
    A = sp.csr_array([[1, 1], [1, 1]])
    assert entry_roles(A, matching=[1, 0]).tolist() == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="matching is not a matching"):
        entry_roles(A, matching=[2, 0])
    with pytest.raises(TypeError, match="A must be"):
        entry_roles([[1, 2], [3, 4]])


def test_candidates_by_pattern_are_each_and_no_other():
    for dense in some_patterns():
        found = candidates(explain_singularity(sp.csr_array(dense)))
        full = rank(dense)
        drop = [i for i in range(len(dense)) if rank(np.delete(dense, i, 0)) == full]
        unit = np.eye(dense.shape[1], dtype=int)
        fix = [j for j in range(dense.shape[1]) if rank(np.vstack([dense, unit[[j]]])) == full + 1]
        assert found.drop.tolist() == drop
        assert found.fix.tolist() == fix


def singular_matrices(count):
    """Small square matrices of full structural rank with a dependence of their values."""
    rng = np.random.default_rng(1)
    while count:
        n = int(rng.integers(3, 8))
        dense = rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < 0.7)
        times = rng.integers(-2, 3, n - 1)
        dense[-1] = times @ dense[:-1]
        if rank(dense) == n and np.abs(dense).max() < 50:
            count -= 1
            yield dense


def test_candidates_by_values_are_each_and_no_other():
    for dense in singular_matrices(150):
        n, full = len(dense), exact_rank(dense)
        found = candidates(explain_singularity(sp.csr_array(dense), numeric=True))
        drop = {i for i in range(n) if exact_rank(np.delete(dense, i, 0)) == full}
        unit = np.eye(n, dtype=int)
        fix = {j for j in range(n) if exact_rank(np.vstack([dense, unit[[j]]])) == full + 1}
        assert set(found.drop.tolist()) == drop
        assert set(found.fix.tolist()) == fix


def test_candidates_are_sorted_by_coefficient_and_family():
    A = sp.csr_array(
        [[1.0, 2.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0], [2.0, 9.0, 5.0, 0.0], [0, 0, 0, 1]]
    )
    names = ["in[1]", "out", "in[2]", "level"]
    why = explain_singularity(A, numeric=True)  # 2 row 0 + 5 row 1 - row 2
    assert candidates(why).drop.tolist() == [1, 0, 2]
    assert candidates(explain_singularity(A, names, numeric=True)).drop.tolist() == [1, 0, 2]
    why = explain_singularity(A, ["in[1]", "in[2]", "in[3]", "level"], numeric=True)
    assert candidates(why).drop.tolist() == [1, 0, 2]
    assert isinstance(candidates(why), sparsematch.Candidates)
    assert repr(candidates(why)) == "Candidates(3 to fix, 3 to drop)"
    with pytest.raises(TypeError, match="why must be an Explanation"):
        candidates(A)


def parts(why):
    pieces = [(p.side, p.rows.tolist(), p.cols.tolist()) for p in why.pieces]
    return why.shape, why.structural_rank, sorted(pieces), why.row_names, why.col_names


def test_what_if_equals_a_fresh_explanation():
    rng = np.random.default_rng(2)
    for dense in some_patterns():
        (m, n), form = dense.shape, rng.choice([sp.csr_array, sp.csc_array, sp.coo_array])
        A = form(dense)
        why = explain_singularity(A)
        drop = rng.choice(m, int(rng.integers(0, m + 1)), replace=False)
        fix = rng.choice(n, int(rng.integers(0, n + 1)), replace=False)
        rows, cols = np.delete(np.arange(m), drop), np.delete(np.arange(n), fix)
        fresh = explain_singularity(
            sp.csr_array(dense[rows][:, cols]),
            [f"row {i}" for i in rows] if drop.size else None,
            [f"column {j}" for j in cols] if fix.size else None,
        )
        for matching in (None, why.matching, why.matching.row_mate):
            left = what_if(A, fix=fix, drop=drop, matching=matching)
            assert parts(left) == parts(fresh)


def test_what_if_with_values():
    dense = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 3.0, 1.0]])
    A, names = sp.csr_array(dense), ["mass", "heat", "sum"]
    why = explain_singularity(A, names, numeric=True)
    assert why.is_numerically_singular
    for i, j in itertools.product(candidates(why).drop, candidates(why).fix):
        left = what_if(A, fix=[j], drop=[i], row_names=names, numeric=True, matching=why.matching)
        assert left.is_numerically_singular is False
        assert left.row_names == tuple(np.delete(names, i))
    assert what_if(view(A, zeros="drop"), numeric=True).is_numerically_singular


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"drop": [3]}, ValueError, "drop has 3, but must be between 0 and 2"),
        ({"fix": [-1]}, ValueError, "fix has -1, but must be between 0 and 2"),
        ({"fix": [0.5]}, TypeError, "fix must hold integers, not float64"),
        ({"drop": np.ones(3, bool)}, TypeError, "drop must hold integers, not bool"),
        ({"row_names": ["a"]}, ValueError, "row_names has 1 name"),
        ({"matching": [0]}, ValueError, "matching is not a matching"),
    ],
)
def test_wrong_arguments(given, error, message):
    with pytest.raises(error, match=message):
        what_if(sp.csr_array(np.eye(3)), **given)


def test_blocks_and_what_they_need():
    for dense in some_patterns():
        A = sp.csr_array(dense)
        form = sparsematch.block_triangular_form(A)
        needs = form.needs(A).toarray()
        for k, m in itertools.product(range(form.n_blocks), repeat=2):
            there = dense[np.ix_(form.equations(k), form.unknowns(m))].any()
            assert needs[k, m] == (there and k != m)
        assert not np.tril(needs).any()
        together = [i for k in range(form.n_blocks) for i in form.equations(k).tolist()]
        assert together == form.row_perm.tolist()
        with pytest.raises(IndexError):
            form.unknowns(form.n_blocks)


def test_what_blocks_need_of_another_matrix():
    form = sparsematch.block_triangular_form(sp.csr_array([[1, 1], [0, 1]]))
    needs = form.needs(sp.csc_matrix([[1, 1], [0, 1]]))
    assert needs.dtype == bool
    assert needs.toarray().tolist() == [[False, True], [False, False]]
    with pytest.raises(ValueError, match="below the diagonal blocks"):
        form.needs(sp.csr_array([[1, 1], [1, 1]]))
    with pytest.raises(ValueError, match="shape"):
        form.needs(sp.csr_array([[1, 1]]))


def test_candidates_by_the_values_where_the_pattern_is_singular_too():
    rng = np.random.default_rng(3)
    singular = 0
    for _ in range(400):
        n = rng.integers(2, 5)
        dense = rng.integers(-1, 2, (n, n)) * (rng.random((n, n)) < 0.6)
        why = explain_singularity(sp.csr_array(dense.astype(float)), numeric=True)
        singular += why.is_singular
        full = exact_rank(dense)
        keep = [k for k in range(n) if exact_rank(np.delete(dense, k, 0)) == full]
        fix = [
            k for k in range(n) if exact_rank(np.vstack([dense, np.eye(n, dtype=int)[k]])) > full
        ]
        found = candidates(why)
        assert sorted(found.drop.tolist()) == (keep if full < n else [])
        assert sorted(found.fix.tolist()) == fix
    assert singular > 50


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("numeric", [False, True])
def test_arrays_may_be_longer_than_the_entries(layout, numeric):
    """SciPy's own conversions write beyond their arrays then."""
    A = sp.random_array((40, 30), density=0.1, format=layout, random_state=1)
    B = A.copy()
    B.indices = np.append(B.indices, np.full(7, 2**31 - 1, B.indices.dtype))
    B.data = np.append(B.data, np.full(7, np.nan))
    asked = {"fix": [0], "drop": [1], "numeric": numeric}
    assert str(what_if(B, **asked)) == str(what_if(A, **asked))
