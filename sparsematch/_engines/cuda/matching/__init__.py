"""Initialisation heuristics, exact engines and the choice between them."""

from sparsematch._engines.cuda.core import compile
from sparsematch._engines.cuda.core.drivers import register_driver
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

register_driver("auto", "exact", auto, transpose="optional")
register_driver("cheap", "heuristic", cheap)
register_driver("min_degree", "heuristic", min_degree)
register_driver("karp_sipser", "heuristic", karp_sipser)
register_driver("ms_bfs", "exact", ms_bfs, default_init="cheap")
register_driver("one_block", "exact", one_block)
register_driver("apfb", "exact", apfb, default_init="cheap")
register_driver(
    "push_relabel", "exact", push_relabel, default_init="karp_sipser", transpose="required"
)

# the search for lists of other lengths
compile.expected.append(ms_bfs.modules)
