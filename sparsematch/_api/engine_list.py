"""The list of engines, as users see it."""

from __future__ import annotations  # readable names in help()

from sparsematch._base.errors import check_choice
from sparsematch._engines import registry
from sparsematch._types.run_info import EngineInfo, EngineList

_KINDS = ("exact", "heuristic", "approximate")


def engines(kind: str | None = None, *, backend: str | None = "numpy") -> tuple[EngineInfo, ...]:
    """List the engines that `method` and `init` can name.

    Parameters
    ----------
    kind : {"exact", "heuristic", "approximate"}, optional
        Those for the `method` of exact matchings, those for `init`, or those for the `method` of
        approximate matchings of general graphs. By default all.
    backend : {"numpy", "cupy", "mpi", "nccl"}, optional
        Those for matrices in host memory, on a GPU, distributed over ranks, or distributed over
        the GPUs of ranks; None: all. The list does not depend on what is installed.

    Returns
    -------
    tuple of EngineInfo
        Name, kind, back-end, summary, options with their defaults, and what each needs; it is shown
        as a table.

    Raises
    ------
    TypeError, ValueError
        If `kind` or `backend` is none of the choices.

    See Also
    --------
    maximum_transversal, approximate_matching

    Examples
    --------
    >>> from sparsematch import engines
    >>> [engine.name for engine in engines("heuristic")][:2]
    ['cheap', 'min_degree']
    >>> sorted({engine.backend for engine in engines(backend=None)})
    ['cupy', 'mpi', 'nccl', 'numpy']
    """
    if kind is not None:
        check_choice("kind", kind, _KINDS)
    if backend is not None:
        check_choice("backend", backend, registry.BACKENDS)
    return EngineList(registry.engines(backend, kind))
