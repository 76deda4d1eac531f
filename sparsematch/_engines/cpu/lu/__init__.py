"""LU factorisation block by block: symbolic analysis, ordering, factors and solves."""
