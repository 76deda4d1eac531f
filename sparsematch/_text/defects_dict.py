"""What makes a matrix numerically singular, in numbers, strings, lists and dicts, as for JSON."""

from collections.abc import Sequence
from typing import Any

from sparsematch._text.name_lists import Names
from sparsematch._types.singularity import (
    Dependence,
    NumericalDefects,
    SingularBlock,
)


def defects_dict(
    found: NumericalDefects, rows: Names, cols: Names, most: int | None
) -> dict[str, Any]:
    """Return all of it, of each list `most` at most; names only if they are given."""
    replaced, fixed = found.one_choice
    return {
        "rank": found.rank,
        "singular": found.is_singular,
        "complete": found.is_complete,
        "tolerance": float(found.tolerance),
        "n_dependent_equations": len(found.equations),
        "n_free_variables": len(found.variables),
        "n_blocks": len(found.blocks),
        "dependent_equations": dependences_list(found.equations[:most], rows),
        "free_variables": dependences_list(found.variables[:most], cols),
        "near_equations": dependences_list(found.near_equations[:most], rows),
        "near_variables": dependences_list(found.near_variables[:most], cols),
        "one_choice": {"rows": replaced[:most].tolist(), "cols": fixed[:most].tolist()},
        "blocks": [_block(block, rows, cols) for block in found.blocks[:most]],
    }


def dependences_list(dependences: Sequence[Dependence], names: Names) -> list[dict[str, Any]]:
    """Return dependences, with names if they are given."""
    return [
        {
            "indices": each.indices.tolist(),
            "coefficients": [_plain(value) for value in each.coefficients.tolist()],
            "residual": float(each.residual),
            **_named(names, each.indices.tolist()),
        }
        for each in dependences
    ]


def _block(block: SingularBlock, rows: Names, cols: Names) -> dict[str, Any]:
    return {
        "number": int(block.number),
        "rows": block.rows.tolist(),
        "cols": block.cols.tolist(),
        "deficiency": block.deficiency,
        "rcond": float(block.rcond),
        "digits_lost": round(block.digits_lost, 1),
        "dependent_equations": dependences_list(block.equations, rows),
        "free_variables": dependences_list(block.variables, cols),
    }


def _named(names: Names, members: list[int]) -> dict[str, list[str]]:
    return {} if names.given is None else {"names": [names.given[k] for k in members]}


def _plain(value: Any) -> float | list[float]:
    """Return a number, or of a complex one its real and imaginary part."""
    return [value.real, value.imag] if isinstance(value, complex) else float(value)
