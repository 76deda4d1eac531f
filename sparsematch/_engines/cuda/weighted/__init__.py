"""Transversals that maximise the product or the sum of the matched entries."""

from sparsematch._engines import weighted_proof
from sparsematch._engines.cuda.weighted import product_and_sum
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import register_operations

register_operations("cupy", WeightedOps, vars(product_and_sum), vars(weighted_proof))
