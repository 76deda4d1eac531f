"""Factorisations of one matrix: plan, factors, external solvers, solves, refinement."""
