"""LU factorisation block by block: symbolic analysis, ordering, factors and solves."""

from sparsematch._engines.cpu.lu import block_lu
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import register_operations

register_operations(
    "numpy",
    LuOps(
        block_plan=block_lu.block_plan,
        block_lu=block_lu.block_lu,
        quick_analysis=block_lu.quick_analysis,
        value_norms=block_lu.value_norms,
        steady_diagonal=block_lu.steady_diagonal,
        is_canonical=block_lu.is_canonical,
        equal_indices=block_lu.equal_indices,
        gather=block_lu.gather,
        solve=block_lu.solve,
    ),
)
