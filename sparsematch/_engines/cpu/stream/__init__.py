"""Matching of edge files that do not fit in memory."""

from sparsematch._engines.cpu.stream import edge_file
from sparsematch._engines.operations import StreamOps
from sparsematch._engines.registry import register_operations

register_operations("numpy", StreamOps(match_edges=edge_file.match_edges))
