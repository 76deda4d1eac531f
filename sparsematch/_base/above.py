"""What lower layers ask of higher ones, by name, as the registry asks back-ends.

A method of a type has a matrix read by `_input`; an error of the solvers is explained by `_api`.
Nobody else may import upwards, and nothing else: this is all that they know of each other.
"""

from importlib import import_module
from typing import Any

#: Where each function is; its module is imported when it is first asked for.
ABOVE = {
    "of_arrays": "sparsematch._input.bipartite",
    "read_entries": "sparsematch._input.bipartite",
    "compressed_matrix": "sparsematch._input.assembled",
    "checked": "sparsematch._input.matrix",
    "checked_like": "sparsematch._input.matrix",
    "explain_singularity": "sparsematch._api.explain",
    "numerical_defects": "sparsematch._blame.defects",
    "numerical_rank": "sparsematch._blame.rectangular",
}


def above(function: str) -> Any:
    """Return a function of a higher layer."""
    return getattr(import_module(ABOVE[function]), function)
