"""maximum_transversal, structural_rank, is_structurally_singular, and their Matching."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import oracle
import sparsematch as sm
from calls import CORES, random_matrix, solve
from gallery import GALLERY
from strategies import partial_matching

pytestmark = [pytest.mark.tsan, pytest.mark.wheel]


def test_gallery(matrix):
    m = sm.maximum_transversal(matrix)
    oracle.assert_maximum(matrix, m.row_mate, m.col_mate)
    assert isinstance(m, sm.Matching)
    assert m.shape == matrix.shape
    assert m.cardinality == oracle.rank(matrix)
    assert m.is_perfect == (matrix.shape == (m.cardinality,) * 2)
    for alone in (m, m.row_mate):  # the columns of the rows
        assert sm.is_matching(matrix, alone)
        assert sm.is_maximum(matrix, alone)
    rows, cols = m.pairs()
    assert len(rows) == len(cols) == m.cardinality
    assert np.array_equal(m.row_mate[rows], cols)
    assert np.array_equal(rows, np.flatnonzero(m.row_mate != -1))
    assert sm.structural_rank(matrix) == m.cardinality
    assert sm.is_structurally_singular(matrix) is (m.cardinality < min(matrix.shape))


def test_no_method_keeps_the_start():
    A = GALLERY["greedy_trap"]()
    assert sm.maximum_transversal(A, method="none", init="cheap").cardinality == 8
    assert sm.maximum_transversal(A, init="cheap").cardinality == 9
    assert sm.maximum_transversal(A, method="none", init="none").cardinality == 0


@pytest.mark.parametrize("how", ["matching", "pair", "rows", "list"])
def test_forms_of_an_initial_matching(how, matrix):
    row_mate, col_mate = partial_matching(matrix, np.random.default_rng(61))
    keep = partial(sm.maximum_transversal, matrix, method="none", init="none")
    start = {"pair": (row_mate, col_mate), "rows": row_mate, "list": row_mate.tolist()}
    start = start[how] if how in start else keep(initial=row_mate)
    kept = keep(initial=start)
    assert np.array_equal(kept.row_mate, row_mate)
    assert np.array_equal(kept.col_mate, col_mate)
    m = sm.maximum_transversal(matrix, initial=start)
    assert m.cardinality == oracle.rank(matrix)


def test_result_is_a_read_only_copy():
    A = GALLERY["even_cycle"]()
    row_mate = sm.maximum_transversal(A).row_mate.copy()
    m = sm.maximum_transversal(A, initial=row_mate)
    assert not np.shares_memory(m.row_mate, row_mate)
    for mates in (m.row_mate, m.col_mate):
        with pytest.raises(ValueError, match="read-only"):
            mates[0] = -1


def test_rng():
    """An integer, a generator or nothing; what is random follows it."""
    A = random_matrix(80, 80, 8, seed=71)
    how = {"method": "none", "init": "cheap", "options": {"random": True}}

    def mates(rng):
        return sm.maximum_transversal(A, rng=rng, **how).row_mate.tolist()

    assert mates(5) == mates(5) != mates(3)
    assert mates(None) == mates(None)
    assert mates(np.random.default_rng(5)) == mates(np.random.default_rng(5))
    generator = np.random.default_rng(5)
    assert mates(generator) != mates(generator), "a generator moves on"


def test_workers_come_from_the_argument_or_from_the_context():
    A = random_matrix(80, 80, 3, seed=73)

    def used(**how):
        return sm.maximum_transversal(A, return_info=True, **how)[1].workers

    assert sm.get_workers() == 1
    assert used() == 1
    assert used(workers=3) == 3
    with sm.set_workers(2):
        assert sm.get_workers() == 2
        assert used() == 2
        assert used(workers=1) == 1
        with sm.set_workers(4):
            assert used() == 4
        assert sm.get_workers() == 2
    assert sm.get_workers() == 1
    assert used(workers=-1) == CORES
    with pytest.raises(RuntimeError, match="on purpose"), sm.set_workers(2):
        raise RuntimeError("on purpose")
    assert sm.get_workers() == 1


def test_report_of_the_whole_call():
    A = GALLERY["many_traps"]()
    m, info = sm.maximum_transversal(A, method="hopcroft_karp", init="cheap", return_info=True)
    assert isinstance(info, sm.RunInfo)
    assert (info.method, info.init) == ("hopcroft_karp", "cheap")
    assert [step.engine for step in info.steps] == ["cheap", "hopcroft_karp"]
    assert info.cardinality == m.cardinality == 12
    assert info.steps[1].augmentations == 6, "one path for each trap"
    assert info.steps[1].path_edges == 6 * 3, "each of them three entries long"
    assert info.steps[1].phases >= 1
    assert all(step.seconds > 0 for step in info.steps)


def test_details_add_up(compiled):
    """The parts take no longer than the step; the frontier has a width for each level."""
    _, info = solve(random_matrix(20000, 20000, 3, seed=79), compiled)
    step = info.steps[-1]
    assert 0 < sum(step.seconds_by_step.values()) <= step.seconds * 1.01 + 1e-3
    assert all(seconds > 0 for seconds in step.seconds_by_step.values())
    assert len(step.frontier) == (step.levels if step.engine == "ms_bfs_graft" else 0)
    assert all(width > 0 for width in step.frontier)


def test_permutation_puts_the_matching_on_the_diagonal(matrix):
    m = sm.maximum_transversal(matrix)
    p = m.as_permutation()
    assert sorted(p.tolist()) == list(range(matrix.shape[0])), "a permutation of the rows"
    cols = [j for j in range(min(matrix.shape)) if m.col_mate[j] != -1]
    assert all(p[j] == m.col_mate[j] for j in cols)
    if matrix.shape[0] == matrix.shape[1]:
        # free places get the free rows in order
        assert np.array_equal(p[m.col_mate == -1], np.flatnonzero(m.row_mate == -1))
        i, j = oracle.entries(sp.csr_array(matrix)[p])
        assert np.unique(i[i == j]).size >= m.cardinality


def test_matchings_compare_by_their_pairs():
    A = GALLERY["identity"]()
    first, second = sm.maximum_transversal(A), sm.maximum_transversal(A)
    assert first == second
    assert first != sm.maximum_transversal(A, method="none", init="none")
    assert first != sm.maximum_transversal(GALLERY["antidiagonal"]())
    assert first != "a matching"
    assert repr(first) == "Matching(5x5, cardinality 5)"


def test_engines_lists_what_is_registered():
    everything = sm.engines()
    assert {e.kind for e in everything} == {"approximate", "exact", "heuristic"}
    in_order = sorted(everything, key=lambda e: e.kind)
    kinds = "approximate", "exact", "heuristic"
    assert [engine for kind in kinds for engine in sm.engines(kind)] == in_order
    assert all(e.summary and e.backend == "numpy" for e in everything)
