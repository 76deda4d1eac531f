"""Sparse QR factorisation: R, and what Q does to right-hand sides."""

from sparsematch._engines.cpu.qr import factorisation
from sparsematch._engines.operations import QrOps
from sparsematch._engines.registry import register_operations

register_operations(
    "numpy",
    QrOps(
        factorise=factorisation.factorise,
        solve_upper=factorisation.solve_upper,
        solve_upper_sparse=factorisation.solve_upper_sparse,
    ),
)
