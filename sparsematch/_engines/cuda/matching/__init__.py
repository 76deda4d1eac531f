"""Initialisation heuristics, exact engines and the choice between them."""

from sparsematch._engines.cuda.matching import (
    apfb,
    auto,
    cheap,
    karp_sipser,
    min_degree,
    ms_bfs,
    one_block,
    push_relabel,
)
from sparsematch._engines.registry import register_module

register_module("auto", "exact", "cupy", auto, transpose="optional")
register_module("cheap", "heuristic", "cupy", cheap)
register_module("min_degree", "heuristic", "cupy", min_degree)
register_module("karp_sipser", "heuristic", "cupy", karp_sipser)
register_module("ms_bfs", "exact", "cupy", ms_bfs, default_init="cheap")
register_module("one_block", "exact", "cupy", one_block)
register_module("apfb", "exact", "cupy", apfb, default_init="cheap")
register_module(
    "push_relabel", "exact", "cupy", push_relabel, default_init="karp_sipser", transpose="required"
)
