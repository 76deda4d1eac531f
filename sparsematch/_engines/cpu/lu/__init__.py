"""LU factorisation block by block: symbolic analysis, ordering, factors and solves."""

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.lu import factorisation
from sparsematch._engines.operations import LuOps
from sparsematch._engines.registry import register_operations

register_operations(
    "numpy",
    LuOps(
        factors_of=factorisation.factors_of,
        new_factors=factorisation.new_factors,
        quick_analysis=factorisation.quick_analysis,
        value_norms=factorisation.value_norms,
        steady_diagonal=_core.steady_diagonal,
        is_canonical=_core.is_canonical,
        order_by_columns=_core.order_by_columns,
        equal_indices=factorisation.equal_indices,
        gather=_core.gather,
    ),
)
