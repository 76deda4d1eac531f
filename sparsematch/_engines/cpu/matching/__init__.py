"""Initialisation heuristics, exact engines and the choice between them.

The core's table says which engines there are, what is known of each, and their options; the
heuristic that suits each stands here.
"""

from functools import partial

from sparsematch._engines.cpu.core.run_engine import ENGINES, run_engine
from sparsematch._engines.cpu.matching import auto
from sparsematch._engines.registry import Engine, register

register(
    Engine(
        name="auto",
        kind="exact",
        backend="numpy",
        summary=auto.SUMMARY,
        transpose="optional",
        multithreaded=True,
        improve=auto.improve,
    )
)
for _entry in ENGINES.values():
    register(
        Engine(
            **_entry._asdict(),
            backend="numpy",
            default_init="cheap" if _entry.kind == "exact" else "none",
            improve=partial(run_engine, _entry.name),
        )
    )
