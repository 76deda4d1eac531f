"""Data types, passed from layer to layer: frozen dataclasses and tuples, no algorithms.

Imports numpy and scipy.sparse only.
"""
