"""Matching engines for general graphs."""
