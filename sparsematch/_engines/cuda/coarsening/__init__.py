"""Aggregates from a matching, and the Galerkin product over them."""
