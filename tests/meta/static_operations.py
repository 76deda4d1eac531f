"""Write a module in which mypy finds functions of back-ends that are not as `operations` has them.

``python tests/meta/static_operations.py FILE``, then ``mypy FILE``: `tox -e types` does both.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

from sparsematch._engines import operations, registry

#: What the parameters of generic concepts are, by back-end.
_WHOLE = "BipartiteCSR", "Matching", "Graph"
_PART = "DistributedCSR", "DistributedMatching", "GraphPart"
_TYPES = {"numpy": _WHOLE, "cupy": _WHOLE, "mpi": _PART, "nccl": _PART}
_IMPORTS = """
from sparsematch._engines.distributed_operations import *
from sparsematch._engines.operations import *
from sparsematch._engines.rank_operations import *
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.graph import Graph
from sparsematch._types.matching import Matching
from sparsematch._types.over_ranks.graph_part import GraphPart
from sparsematch._types.over_ranks.matching import DistributedMatching
from sparsematch._types.over_ranks.matrix import DistributedCSR
"""


def lines() -> Iterator[str]:
    """Yield an assignment for each function in Python that a back-end offers."""
    yield _IMPORTS
    for backend in registry.BACKENDS:
        registry.engines(backend)
    for (concept, backend), offered in registry._operations.items():
        matrix, mates, lists = _TYPES[backend]
        parameters = {"CertificateOps": f"[{matrix}, {mates}]", "GraphOps": f"[{lists}]"}
        place = f"{concept.__name__.lower()}_{backend}"
        yield f"{place} = {concept.__name__}{parameters.get(concept.__name__, '')}()"
        for name in concept.__annotations__:
            function = inspect.unwrap(vars(offered)[name])
            module = function.__module__
            if function is not operations.host_only and not module.endswith("_core"):
                yield f"import {module}\n{place}.{name} = {module}.{function.__name__}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text("\n".join(lines()) + "\n")
