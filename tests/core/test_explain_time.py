"""Explanations take the time of a few products of the same matrix, in whatever order it comes."""

from time import process_time
from timeit import repeat

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm
from calls import scrambled


def scrambled_chains(length, n_links):
    """Chains of a million rows with a row too many each, one or several of them to a piece."""
    size = (1 << 20) // (length + 1)
    rows, cols = np.arange(size * (length + 1)), np.arange(size * length)
    upper = cols + cols // length  # the upper row of each column
    links = np.random.default_rng(5).integers(0, [[rows.size], [cols.size]], (2, n_links))
    places = np.r_[upper, upper + 1, links[0]], np.r_[cols, cols, links[1]]
    A = sp.csr_array((np.ones(places[0].size), places), shape=(rows.size, cols.size))
    return scrambled(A, seed=7)


def scrambled_tree(n=1 << 21):
    """A binary tree without its diagonal: a third of the rows are free, in two pieces."""
    child = np.arange(1, n)
    parent = (child - 1) // 2
    places = np.r_[child, parent], np.r_[parent, child]
    return scrambled(sp.csr_array((np.ones(2 * (n - 1)), places), shape=(n, n)), seed=2)


@pytest.mark.large
@pytest.mark.parametrize(("length", "n_links"), [(1000, 0), (30_000, 17)])
def test_scrambled_chains_take_the_time_of_few_products(length, n_links):
    """Each row lies elsewhere in memory; a search that waits for each takes seventy products."""
    takes_few_products(scrambled_chains(length, n_links))


@pytest.mark.large
def test_scrambled_trees_take_the_time_of_few_products():
    """To exchange every free row for a better one takes as long again as all the rest."""
    takes_few_products(scrambled_tree())


def takes_few_products(A):
    m, x = sm.maximum_transversal(A), np.ones(A.shape[1])
    for _ in range(5):  # others may fill the caches meanwhile
        product = min(repeat(lambda: A @ x, timer=process_time, number=1, repeat=9))
        explain = min(
            repeat(
                lambda: sm.explain_singularity(A, matching=m),
                timer=process_time,
                number=1,
                repeat=3,
            )
        )
        if explain < 50 * product:
            return
    pytest.fail(f"{explain / product:.0f} products")
