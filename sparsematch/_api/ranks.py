"""Where a call goes whose matrix is distributed over ranks; no other meets a file of theirs."""

import sys
from importlib import import_module
from typing import Any


def over_ranks(A: Any, module: str) -> Any:
    """Return the module of `_api.over_ranks` for a matrix over ranks; None of any other."""
    # There is no such matrix before its class has been imported.
    matrix = sys.modules.get("sparsematch._types.over_ranks.matrix")
    if matrix is None or not isinstance(A, matrix.DistributedCSR):
        return None
    return import_module(f"sparsematch._api.over_ranks.{module}")
