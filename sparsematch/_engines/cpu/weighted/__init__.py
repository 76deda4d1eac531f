"""Transversals that maximise the product or the smallest of the matched entries."""

from sparsematch._engines import weighted_proof
from sparsematch._engines.cpu.weighted import (
    least_cost,
    maximum_weight,
    product_batch,
    scaled_columns,
    symmetric,
    transversals,
)
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import register_operations

_OWN = transversals, least_cost, product_batch, scaled_columns, maximum_weight, symmetric
register_operations("numpy", WeightedOps, vars(weighted_proof), *map(vars, _OWN))
