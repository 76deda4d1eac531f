"""What flows between the layers: frozen dataclasses and tuples, no algorithms.

Imports numpy and scipy.sparse only.
"""
