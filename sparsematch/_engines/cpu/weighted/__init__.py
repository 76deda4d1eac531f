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

register_operations(
    "numpy",
    WeightedOps(
        read_values=transversals.read_values,
        least_cost=least_cost.least_cost,
        maximum_product=transversals.maximum_product,
        product_batch=product_batch.write_products,
        product_diagonal=scaled_columns.product_diagonal,
        scale_columns=scaled_columns.scale_columns,
        central_duals=product_batch.central_duals,
        maximum_sum=transversals.maximum_sum,
        bottleneck=transversals.bottleneck,
        maximum_weight=maximum_weight.maximum_weight,
        prove=weighted_proof.prove,
        is_bottleneck=transversals.is_bottleneck,
        symmetric_product=symmetric.symmetric_product,
        symmetric_diagonal=symmetric.symmetric_diagonal,
        is_symmetric=symmetric.is_symmetric,
    ),
)
