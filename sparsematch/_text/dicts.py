"""Results in numbers, strings, lists and dicts, as for JSON."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsematch._text.name_lists import Names
from sparsematch._types.numerical_rank import NumericalRank
from sparsematch._types.singularity import Dependence, NumericalDefects, SingularBlock


def plain(value: Any) -> Any:
    """Return what is in a value, of a dataclass or named tuple by its fields."""
    # Of a complex number the two parts are a list.
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if names := getattr(value, "__dataclass_fields__", None) or getattr(value, "_fields", None):
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray):
        is_complex = np.iscomplexobj(value)
        return (np.stack([value.real, value.imag], -1) if is_complex else value).tolist()
    return [plain(each) for each in value] if isinstance(value, tuple) else value


def numbers_dict(
    found: NumericalDefects | NumericalRank, rows: Names, cols: Names, most: int | None
) -> dict[str, Any]:
    """Return all of it, of each list `most` at most; names only if they are given."""
    both: dict[str, Any] = {
        "rank": found.rank,
        "singular": found.is_singular,
        "complete": found.is_complete,
        "tolerance": float(found.tolerance),
        **_sides(found.equations[:most], found.variables[:most], rows, cols),
    }
    if isinstance(found, NumericalRank):
        lists = "basis_rows", "basis_cols", "redundant_rows", "critical_rows", "undetermined_cols"
        arrays = {name: plain(getattr(found, name)) for name in lists}
        return both | {"settled": found.is_settled} | arrays
    replaced, fixed = found.one_choice
    return both | {
        "n_dependent_equations": len(found.equations),
        "n_free_variables": len(found.variables),
        "n_blocks": len(found.blocks),
        "near_equations": _dependences(found.near_equations[:most], rows),
        "near_variables": _dependences(found.near_variables[:most], cols),
        "one_choice": {"rows": replaced[:most].tolist(), "cols": fixed[:most].tolist()},
        "blocks": [_block(block, rows, cols) for block in found.blocks[:most]],
    }


def _sides(equations: Any, variables: Any, rows: Names, cols: Names) -> dict[str, Any]:
    return {
        "dependent_equations": _dependences(equations, rows),
        "free_variables": _dependences(variables, cols),
    }


def _dependences(dependences: Sequence[Dependence], names: Names) -> list[dict[str, Any]]:
    """Return dependences, with names if they are given."""
    return [
        {
            "indices": each.indices.tolist(),
            "coefficients": plain(each.coefficients),
            "residual": float(each.residual),
            **({"names": [names.of(k) for k in each.indices.tolist()]} if names.given else {}),
        }
        for each in dependences
    ]


def _block(block: SingularBlock, rows: Names, cols: Names) -> dict[str, Any]:
    own = "number", "rows", "cols", "deficiency", "rcond"
    found = {name: plain(getattr(block, name)) for name in own}
    found["digits_lost"] = round(block.digits_lost, 1)
    return found | _sides(block.equations, block.variables, rows, cols)
