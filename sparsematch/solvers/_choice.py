"""Which kernels the core may choose from for a block, and which library is behind each."""

import functools
import importlib.util
from typing import Any

#: Libraries by the names of kernels (cost.hpp of the core), and the modules that offer them.
_MODULES = {
    "umfpack": ("scikits.umfpack", "kvxopt"),
    "pardiso": ("pypardiso",),
    "mumps": ("mumps",),
}


@functools.cache
def installed() -> dict[str, Any]:
    """Return what a policy has in place of its defaults: the kernels that are installed.

    Time, the first time: a look for each module, which is not imported unless it is chosen.
    """
    found = [name for name, modules in _MODULES.items() if any(map(_is_there, modules))]
    return {"available": found} if found else {}


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
