"""Transversals that maximise the product or the smallest of the matched entries."""
