"""Registration of drivers: modules with SUMMARY, `improve` and perhaps OPTIONS."""

from types import ModuleType
from typing import Any

from sparsematch._engines.registry import Engine, register
from sparsematch._types.arrays import advising


def register_driver(
    name: str, kind: str, module: ModuleType, *, backend: str = "cupy", **fields: Any
) -> None:
    """Register the engine of a driver; `fields` are those of `Engine`."""
    register(
        Engine(
            name=name,
            kind=kind,
            backend=backend,
            summary=module.SUMMARY,
            options=getattr(module, "OPTIONS", {}),
            improve=advising(module.improve),
            **fields,
        )
    )
