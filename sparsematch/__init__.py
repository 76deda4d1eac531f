"""Maximum transversals, structural rank and block triangular forms of sparse matrices.

>>> from scipy.sparse import csr_array
>>> import sparsematch
>>> A = csr_array([[1, 0, 1], [1, 0, 0], [0, 1, 1]])
>>> sparsematch.maximum_transversal(A)
Matching(3x3, cardinality 3)
>>> sparsematch.structural_rank(A)
3
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparsematch import csgraph as csgraph
    from sparsematch import plot as plot
    from sparsematch import solvers as solvers
    from sparsematch._api.block_form_check import is_block_form
    from sparsematch._api.check import is_matching, is_maximal, is_maximum, vertex_cover
    from sparsematch._api.coarse_parts import coarse_dulmage_mendelsohn
    from sparsematch._api.coarsening import coarsen, coarsening_hierarchy
    from sparsematch._api.decomposition import (
        block_triangular_form,
        connected_components,
        is_reducible,
    )
    from sparsematch._api.edge_file import match_edge_file, write_edge_file
    from sparsematch._api.engine_list import engines
    from sparsematch._api.explain import explain_singularity
    from sparsematch._api.general import approximate_matching, maximal_matching
    from sparsematch._api.graclus import graclus_cluster
    from sparsematch._api.over_ranks.redistribution import permute_and_redistribute
    from sparsematch._api.transversal import (
        is_structurally_singular,
        maximum_transversal,
        structural_rank,
    )
    from sparsematch._api.weighted import (
        bottleneck_transversal,
        is_optimal_transversal,
        maximum_product_transversal,
        maximum_sum_transversal,
    )
    from sparsematch._api.workers import get_workers, set_workers
    from sparsematch._io.distributed import read_distributed
    from sparsematch._io.errors import UnreadableFile
    from sparsematch._types.bipartite import BipartiteCSR
    from sparsematch._types.block_form import BlockForm
    from sparsematch._types.coarsening import CoarseLevel, Coarsening, CoarseningHierarchy
    from sparsematch._types.deficient_pieces import DeficientPiece, DeficientPieces
    from sparsematch._types.explanation import Explanation
    from sparsematch._types.graph_matching import GraphMatching
    from sparsematch._types.labels import CoarseParts, Components, VertexCover
    from sparsematch._types.matching import Matching
    from sparsematch._types.over_ranks.block_form import DistributedBlockForm
    from sparsematch._types.over_ranks.graph_matching import DistributedGraphMatching
    from sparsematch._types.over_ranks.matching import DistributedMatching
    from sparsematch._types.over_ranks.matrix import DistributedCSR
    from sparsematch._types.over_ranks.transversal import DistributedTransversal
    from sparsematch._types.run_info import RunInfo
    from sparsematch._types.weighted import WeightedTransversal

__version__ = "0.1.0"

__all__ = [
    "BipartiteCSR",
    "BlockForm",
    "CoarseLevel",
    "CoarseParts",
    "Coarsening",
    "CoarseningHierarchy",
    "Components",
    "DeficientPiece",
    "DeficientPieces",
    "DistributedBlockForm",
    "DistributedCSR",
    "DistributedGraphMatching",
    "DistributedMatching",
    "DistributedTransversal",
    "Explanation",
    "GraphMatching",
    "Matching",
    "RunInfo",
    "UnreadableFile",
    "VertexCover",
    "WeightedTransversal",
    "approximate_matching",
    "block_triangular_form",
    "bottleneck_transversal",
    "coarse_dulmage_mendelsohn",
    "coarsen",
    "coarsening_hierarchy",
    "connected_components",
    "engines",
    "explain_singularity",
    "get_workers",
    "graclus_cluster",
    "is_block_form",
    "is_matching",
    "is_maximal",
    "is_maximum",
    "is_optimal_transversal",
    "is_reducible",
    "is_structurally_singular",
    "match_edge_file",
    "maximal_matching",
    "maximum_product_transversal",
    "maximum_sum_transversal",
    "maximum_transversal",
    "permute_and_redistribute",
    "read_distributed",
    "set_workers",
    "structural_rank",
    "vertex_cover",
    "write_edge_file",
]

#: Where each name is; it is imported when first used, so that the command line starts at once.
_PLACES = {
    "BipartiteCSR": "_types.bipartite",
    "BlockForm": "_types.block_form",
    "CoarseLevel": "_types.coarsening",
    "CoarseParts": "_types.labels",
    "Coarsening": "_types.coarsening",
    "CoarseningHierarchy": "_types.coarsening",
    "Components": "_types.labels",
    "DeficientPiece": "_types.deficient_pieces",
    "DeficientPieces": "_types.deficient_pieces",
    "DistributedBlockForm": "_types.over_ranks.block_form",
    "DistributedCSR": "_types.over_ranks.matrix",
    "DistributedGraphMatching": "_types.over_ranks.graph_matching",
    "DistributedMatching": "_types.over_ranks.matching",
    "DistributedTransversal": "_types.over_ranks.transversal",
    "Explanation": "_types.explanation",
    "GraphMatching": "_types.graph_matching",
    "Matching": "_types.matching",
    "RunInfo": "_types.run_info",
    "UnreadableFile": "_io.errors",
    "VertexCover": "_types.labels",
    "WeightedTransversal": "_types.weighted",
    "approximate_matching": "_api.general",
    "block_triangular_form": "_api.decomposition",
    "bottleneck_transversal": "_api.weighted",
    "coarse_dulmage_mendelsohn": "_api.coarse_parts",
    "coarsen": "_api.coarsening",
    "coarsening_hierarchy": "_api.coarsening",
    "connected_components": "_api.decomposition",
    "engines": "_api.engine_list",
    "explain_singularity": "_api.explain",
    "get_workers": "_api.workers",
    "graclus_cluster": "_api.graclus",
    "is_block_form": "_api.block_form_check",
    "is_matching": "_api.check",
    "is_maximal": "_api.check",
    "is_maximum": "_api.check",
    "is_optimal_transversal": "_api.weighted",
    "is_reducible": "_api.decomposition",
    "is_structurally_singular": "_api.transversal",
    "match_edge_file": "_api.edge_file",
    "maximal_matching": "_api.general",
    "maximum_product_transversal": "_api.weighted",
    "maximum_sum_transversal": "_api.weighted",
    "maximum_transversal": "_api.transversal",
    "permute_and_redistribute": "_api.over_ranks.redistribution",
    "read_distributed": "_io.distributed",
    "set_workers": "_api.workers",
    "structural_rank": "_api.transversal",
    "vertex_cover": "_api.check",
    "write_edge_file": "_api.edge_file",
}
_SUBMODULES = frozenset({"csgraph", "plot", "solvers"})


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES, "__version__", "__doc__", "__name__", "__path__"})
