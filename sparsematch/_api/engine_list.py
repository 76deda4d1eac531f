"""The list of engines, as users see it."""

from sparsematch._engines import registry
from sparsematch._types.errors import unknown_choice
from sparsematch._types.run_info import EngineInfo


def engines(kind: str | None = None) -> tuple[EngineInfo, ...]:
    """List the engines that `method` and `init` can name.

    Parameters
    ----------
    kind : {"exact", "heuristic"}, optional
        Those for `method`, or those for `init`. By default all.

    Returns
    -------
    tuple of EngineInfo
        Name, kind, back-end, summary, options with their defaults, and what each needs.

    Raises
    ------
    TypeError, ValueError
        If `kind` is none of the choices.

    See Also
    --------
    maximum_transversal

    Examples
    --------
    >>> from sparsematch import engines
    >>> [engine.name for engine in engines("heuristic")]
    ['cheap', 'min_degree', 'karp_sipser']
    """
    if kind not in (None, "exact", "heuristic"):
        raise unknown_choice("kind", kind, ("exact", "heuristic"))
    return registry.engines(kind=kind)
