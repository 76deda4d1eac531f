"""Readable Python: the truth on small inputs, against which every other engine is tested."""

from sparsematch._engines.reference.augment import improve
from sparsematch._engines.registry import Engine, register

register(
    Engine(
        name="reference",
        kind="exact",
        backend="numpy",
        summary="Readable Python, one breadth-first search per row; the oracle of the tests.",
        improve=improve,
    )
)
