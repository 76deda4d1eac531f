"""What the duals of a weighted result prove, of a matrix of any library."""

from dataclasses import replace
from typing import Any

from sparsematch._api.check import matching_of
from sparsematch._engines.operations import WeightedOps
from sparsematch._engines.registry import operations
from sparsematch._input.mates import copied
from sparsematch._input.weighted import as_signed, as_weighted
from sparsematch._types.weighted import SignedCSR, WeightedMatching, WeightedTransversal
from sparsematch._types.weighted_proof import Proof, as_matching, has_its_factors


def proved(
    A: Any,
    given: WeightedTransversal | WeightedMatching,
    tolerance: float | None,
    threads: int,
    name: str,
) -> tuple[SignedCSR, WeightedMatching, Proof] | None:
    """Return the weights, the result as a matching, and its proof; None if it has none."""
    # Not of a bottleneck. Raises ValueError if `A` has another shape.
    duals = given.row_dual, given.col_dual
    if isinstance(given, WeightedTransversal):
        weighted = as_weighted(A, threads=threads)
        sides = duals, (given.row_scale, given.col_scale)
        matching = matching_of(weighted.graph, given, name, *sides, threads=threads)
        if matching is None or not has_its_factors(given):
            return None
        signed, found = as_matching(weighted, replace(given, matching=matching))
    else:
        signed = as_signed(A, threads=threads)
        sides = duals, (given.row_unmatched_cost, given.col_unmatched_cost)
        how: Any = {"is_maximum": given.maximum_cardinality, "threads": threads}
        if given.capacities is not None:
            how = {"is_maximum": False, "read": copied}  # prove does the rest
        matching = matching_of(signed.graph, given, name, *sides, (None, given.capacities), **how)
        if matching is None:
            return None
        found = replace(given, matching=matching)
    proof = operations(WeightedOps, signed.graph.backend).prove(signed, found, tolerance)
    return None if proof is None else (signed, found, proof)
