"""Dulmage-Mendelsohn decomposition and strong components."""
