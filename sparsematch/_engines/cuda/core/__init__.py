"""Compilation, device primitives, transpose, alternating searches, certificates."""
