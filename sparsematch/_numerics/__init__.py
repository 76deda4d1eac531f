"""Numerical analysis that solvers share, one of each, for NumPy's arrays and CuPy's."""
