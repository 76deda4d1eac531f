"""Initialisation heuristics, exact engines and the choice between them."""
