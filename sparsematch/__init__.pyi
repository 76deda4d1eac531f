from sparsematch import csgraph as csgraph
from sparsematch import edge_files as edge_files
from sparsematch import graclus as graclus
from sparsematch import linalg as linalg
from sparsematch import plot as plot
from sparsematch import solvers as solvers
from sparsematch._api.check import is_block_form as is_block_form
from sparsematch._api.check import is_matching as is_matching
from sparsematch._api.check import is_maximal as is_maximal
from sparsematch._api.check import is_maximum as is_maximum
from sparsematch._api.check import vertex_cover as vertex_cover
from sparsematch._api.coarsening import coarsen as coarsen
from sparsematch._api.coarsening import coarsening_hierarchy as coarsening_hierarchy
from sparsematch._api.decomposition import block_triangular_form as block_triangular_form
from sparsematch._api.decomposition import coarse_dulmage_mendelsohn as coarse_dulmage_mendelsohn
from sparsematch._api.decomposition import connected_components as connected_components
from sparsematch._api.decomposition import is_reducible as is_reducible
from sparsematch._api.engine_list import engines as engines
from sparsematch._api.entry_roles import entry_roles as entry_roles
from sparsematch._api.explain import explain_singularity as explain_singularity
from sparsematch._api.general import approximate_matching as approximate_matching
from sparsematch._api.general import maximal_matching as maximal_matching
from sparsematch._api.over_ranks.redistribution import (
    permute_and_redistribute as permute_and_redistribute,
)
from sparsematch._api.symmetric import is_symmetric_transversal as is_symmetric_transversal
from sparsematch._api.symmetric import (
    symmetric_product_transversal as symmetric_product_transversal,
)
from sparsematch._api.transversal import is_structurally_singular as is_structurally_singular
from sparsematch._api.transversal import maximum_transversal as maximum_transversal
from sparsematch._api.transversal import structural_rank as structural_rank
from sparsematch._api.transversal_analysis import TransversalAnalysis as TransversalAnalysis
from sparsematch._api.transversal_analysis import analyse_transversal as analyse_transversal
from sparsematch._api.view import view as view
from sparsematch._api.weighted import bottleneck_transversal as bottleneck_transversal
from sparsematch._api.weighted import is_optimal_matching as is_optimal_matching
from sparsematch._api.weighted import is_optimal_transversal as is_optimal_transversal
from sparsematch._api.weighted import maximum_product_transversal as maximum_product_transversal
from sparsematch._api.weighted import maximum_sum_transversal as maximum_sum_transversal
from sparsematch._api.weighted import maximum_weight_matching as maximum_weight_matching
from sparsematch._api.what_if import Candidates as Candidates
from sparsematch._api.what_if import candidates as candidates
from sparsematch._api.what_if import what_if as what_if
from sparsematch._api.workers import get_workers as get_workers
from sparsematch._api.workers import set_workers as set_workers
from sparsematch._io.distributed import read_distributed as read_distributed
from sparsematch._io.errors import UnreadableFile as UnreadableFile
from sparsematch._text.explanation import Explanation as Explanation
from sparsematch._types.bipartite import BipartiteCSR as BipartiteCSR
from sparsematch._types.block_form import BlockForm as BlockForm
from sparsematch._types.coarsening import CoarseLevel as CoarseLevel
from sparsematch._types.coarsening import Coarsening as Coarsening
from sparsematch._types.coarsening import CoarseningHierarchy as CoarseningHierarchy
from sparsematch._types.deficient_pieces import DeficientPiece as DeficientPiece
from sparsematch._types.deficient_pieces import DeficientPieces as DeficientPieces
from sparsematch._types.labels import CoarseParts as CoarseParts
from sparsematch._types.labels import Components as Components
from sparsematch._types.labels import VertexCover as VertexCover
from sparsematch._types.matching import GraphMatching as GraphMatching
from sparsematch._types.matching import Matching as Matching
from sparsematch._types.numerical_rank import NumericalRank as NumericalRank
from sparsematch._types.over_ranks.block_form import DistributedBlockForm as DistributedBlockForm
from sparsematch._types.over_ranks.matching import (
    DistributedGraphMatching as DistributedGraphMatching,
)
from sparsematch._types.over_ranks.matching import DistributedMatching as DistributedMatching
from sparsematch._types.over_ranks.matching import DistributedTransversal as DistributedTransversal
from sparsematch._types.over_ranks.matrix import DistributedCSR as DistributedCSR
from sparsematch._types.run_info import RunInfo as RunInfo
from sparsematch._types.singularity import Dependence as Dependence
from sparsematch._types.singularity import NumericalDefects as NumericalDefects
from sparsematch._types.singularity import SingularBlock as SingularBlock
from sparsematch._types.symmetric import SymmetricTransversal as SymmetricTransversal
from sparsematch._types.transversal_batch import LeastCostBatch as LeastCostBatch
from sparsematch._types.transversal_batch import TransversalBatch as TransversalBatch
from sparsematch._types.weighted import WeightedMatching as WeightedMatching
from sparsematch._types.weighted import WeightedTransversal as WeightedTransversal

__version__: str
