"""Rows and columns that are parallel but for rounding, against all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparsematch.solvers._parallel import parallel_pairs

TOLERANCE = 1e-10


def random_matrix(rng, dtype):
    """Make a matrix some rows of which are multiples of others, with and without noise."""
    m, n = rng.integers(1, 40, 2)
    A = rng.standard_normal((m, n)) * (rng.random((m, n)) < rng.random())
    if dtype is np.complex128:
        A = A * np.exp(2j * np.pi * rng.random((m, n)))
    A = np.round(A, 1) if rng.random() < 0.3 else A
    for _ in range(rng.integers(0, 30)):
        i, j = rng.integers(0, m, 2)
        noise = (
            rng.choice([1e-16, 1e-15, 1e-5, 1e-3]) * rng.standard_normal(n) * (rng.random() < 0.7)
        )
        phase = np.exp(2j * np.pi * rng.random()) if dtype is np.complex128 else rng.choice([-1, 1])
        A[i] = phase * 10.0 ** rng.integers(-9, 9) * A[j] * (1 + noise)
    units = 10.0 ** rng.integers(-5, 5, n)
    return A.astype(dtype) * units


@np.errstate(invalid="ignore")
def all_angles(A):
    """Return the angles between the lines of all pairs of rows, NaN for zero rows."""
    A = A.astype(np.clongdouble)
    A = np.where(A != 0, A / np.abs(A).max(axis=0), 0)
    A = A / np.abs(A).max(axis=1)[:, None]
    A = A / np.sqrt((np.abs(A) ** 2).sum(axis=1))[:, None]
    inner = A @ A.conj().T
    phase = np.where(inner != 0, inner / np.where(inner != 0, np.abs(inner), 1), 1)
    chord = np.sqrt((np.abs(A[:, None] - phase[:, :, None] * A[None]) ** 2).sum(axis=2))
    return (2 * np.arcsin(np.minimum(chord / 2, 1))).astype(float)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_every_pair_is_parallel_and_every_parallel_pair_is_accounted_for(dtype):
    rng = np.random.default_rng(5)
    n_pairs = 0
    for _ in range(100):
        A = random_matrix(rng, dtype)
        angles = all_angles(A)
        found = parallel_pairs(sp.csc_array(A), "rows", TOLERANCE)
        n_pairs += len(found)
        for pair in found:
            assert pair.first < pair.second
            assert abs(angles[pair.first, pair.second] - pair.angle) <= 5e-15 + 1e-7 * pair.angle
            first, second = A[[pair.first, pair.second]] / np.maximum(np.abs(A).max(axis=0), 1e-30)
            assert np.abs(second - pair.factor * first).max() <= 1e-4 * np.abs(second).max()
        assert [pair.angle for pair in found] == sorted(pair.angle for pair in found)
        listed = {pair[:2] for pair in found}
        parallel = angles <= TOLERANCE * (1 - 1e-9)
        for i, j in np.argwhere(np.triu(parallel, 1)).tolist():
            assert (i, j) in listed or (parallel[:i, i] & parallel[:i, j]).any()
        assert all(parallel[i, j] for i, j in listed)
        turned = parallel_pairs(sp.csc_array(A.T), "columns", TOLERANCE)
        assert {pair[:2] for pair in turned} == listed
    assert n_pairs > 250


def test_equal_rows_are_paired_with_the_first():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 50, 400)
    rows = rng.standard_normal((50, 20))[groups] * rng.choice([-3.0, 1e-200, 1e150], (400, 1))
    found = parallel_pairs(sp.csc_array(rows), "rows", 1e-12)
    _, first = np.unique(groups, return_index=True)
    expected = {(first[g], i) for i, g in enumerate(groups) if first[g] != i}
    assert {pair[:2] for pair in found} == expected


def test_units_of_columns_do_not_matter():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((30, 8)).repeat(2, axis=0) * (1 + 1e-16 * rng.standard_normal((60, 8)))
    plain = parallel_pairs(sp.csc_array(A), "rows", 1e-7)
    units = 2.0 ** rng.integers(-1000, 1000, 8)
    assert parallel_pairs(sp.csc_array(A * units), "rows", 1e-7) == plain
    assert {pair[:2] for pair in plain} == {(2 * k, 2 * k + 1) for k in range(30)}


def test_what_differs_by_more_than_rounding_is_left_out():
    rng = np.random.default_rng(2)
    A = rng.random((40, 6)).repeat(2, axis=0)
    A[1::2] *= 1 + 1e-5 * rng.standard_normal((40, 6))
    assert parallel_pairs(sp.csc_array(A), "rows", 0.1) == ()


def test_numbers_that_were_read_with_few_digits():
    """A cut that lies between such numbers, as halves do, separates what rounding moves."""
    rng = np.random.default_rng(6)
    for digits in (1, 2, 3):
        A = np.round(rng.uniform(-9, 9, (200, 5)), digits)
        rows = np.concatenate([A, A * 0.1, A / -3])
        found = parallel_pairs(sp.csc_array(rows), "rows", 1e-12)
        assert len(found) >= 400


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 3), (1, 1)])
def test_without_entries_there_are_none(shape):
    assert parallel_pairs(sp.csc_array(shape), "rows", 1.0) == ()
    assert parallel_pairs(sp.csc_array(shape), "columns", 1.0) == ()


def test_a_factor_beyond_the_range_of_doubles_is_cut_off():
    (pair,) = parallel_pairs(sp.csc_array([[2.0**-900, 0.0], [-(2.0**900), 0.0]]), "rows", 1e-8)
    assert pair == (0, 1, -np.finfo(float).max, 0.0)


def test_stored_zeros():
    A = sp.csc_array(np.ones((2, 3)))
    A.data[:] = [0.0, 1.0, 2.0, 2.0, 0.0, 0.0]
    assert parallel_pairs(A, "rows", 1e-8) == ()
