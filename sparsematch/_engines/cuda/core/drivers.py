"""Registration of drivers: modules that say what they are by SUMMARY, OPTIONS and `improve`."""

from types import ModuleType
from typing import Any

from sparsematch._engines.registry import Engine, register
from sparsematch._types.arrays import advising


def register_driver(name: str, kind: str, module: ModuleType, **facts: Any) -> None:
    """Register the engine of a driver; `facts` replace defaults of the fields of `Engine`."""
    register(
        Engine(
            name=name,
            kind=kind,
            backend="cupy",
            summary=module.SUMMARY,
            options=module.OPTIONS,
            improve=advising(module.improve),
            **facts,
        )
    )
