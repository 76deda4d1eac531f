"""Transversals that maximise the product or the sum of the matched entries."""

from sparsematch._engines import weighted_proof
from sparsematch._engines.cuda.weighted import product_and_sum
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import register_operations

register_operations(
    "cupy",
    WeightedOps(
        maximum_product=product_and_sum.maximum_product,
        maximum_sum=product_and_sum.maximum_sum,
        prove=weighted_proof.prove,
    ),
)
