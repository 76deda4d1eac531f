"""Small matrices of any shape and rank, in any units, and their ranks by exact arithmetic."""

import numpy as np

PRIME = 2147483629  # 1 modulo 4, so that -1 has a root; products of residues are int64
ROOT = next(r for a in (2, 3, 5, 7) if (r := pow(a, PRIME // 4, PRIME)) ** 2 % PRIME == PRIME - 1)


def exact_rank(A):
    """The rank of a matrix of integers, or Gaussian ones, modulo a prime."""
    A = np.asarray(A)
    D = (A.real.astype(np.int64) + A.imag.astype(np.int64) * ROOT) % PRIME
    rank = 0
    for j in range(D.shape[1]):
        (below,) = np.nonzero(D[rank:, j])
        if not below.size:
            continue
        D[[rank, rank + below[0]]] = D[[rank + below[0], rank]]
        pivot = D[rank] * pow(int(D[rank, j]), -1, PRIME) % PRIME
        rest = D[rank + 1 :]
        rest -= rest[:, j, np.newaxis] * pivot % PRIME
        rest %= PRIME
        rank += 1
    return rank


def integers(rng):
    """Thin, of low rank, with rows or columns that depend on others, or edges of a graph."""
    m, n = rng.integers(1, 13, 2)
    M = rng.integers(-5, 6, (m, n)) * (rng.random((m, n)) < rng.choice([0.15, 0.3, 0.5, 0.9]))
    match rng.integers(5):
        case 0:
            k = rng.integers(0, min(m, n) + 1)
            M = rng.integers(-2, 3, (m, k)) @ rng.integers(-2, 3, (k, n))
        case 1:
            i, j, k = rng.integers(m, size=3)
            M[i] = M[j] + rng.integers(-2, 3) * M[k]
        case 2:
            i, j, k = rng.integers(n, size=3)
            M[:, i] = 3 * M[:, j] - M[:, k]
        case 3:
            M = np.zeros((m, n), int)
            tail, head = rng.integers(m, size=(2, n))
            M[tail, np.arange(n)] += 1
            M[head, np.arange(n)] -= 1
    return M


def in_units(M, rng):
    """Other units of rows and columns; a quarter is complex."""
    orders = rng.choice([0, 6, 12]) / 2
    rows, cols = (10.0 ** rng.uniform(-orders, orders, k) for k in M.shape)
    A = M * rows[:, np.newaxis] * cols
    return A * np.exp(1j * rng.uniform(0, 6, M.shape[1])) if rng.random() < 0.25 else A
