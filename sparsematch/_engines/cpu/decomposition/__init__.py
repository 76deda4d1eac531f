"""Dulmage-Mendelsohn decomposition, strong components and Hall violators."""
