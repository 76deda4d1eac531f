"""Matching of edge files that do not fit in memory."""
