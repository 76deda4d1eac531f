"""What arguments may be, for type checkers; `engines` lists what a back-end offers."""

from typing import Literal, TypedDict

#: Those of the core, in host memory.
_Core = Literal["hopcroft_karp", "pothen_fan", "push_relabel", "single_source_bfs", "ms_bfs_graft"]
ExactMethod = Literal["auto", _Core, "reference", "ms_bfs", "one_block", "apfb"]
Heuristic = Literal["auto", "none", "cheap", "min_degree", "karp_sipser", "by_rank"]
ApproximateMethod = Literal["auto", "greedy", "hem", "gpa", "suitor", "red_blue", "local_max"]

Cardinality = Literal["any", "maximum"]
Triangle = Literal["lower", "upper"]
Zeros = Literal["keep", "drop"]
Pivoting = Literal["auto", "structure", "product"]
Solver = Literal["auto", "superlu", "umfpack", "pardiso", "mumps"]
Side = Literal["N", "T", "H"]


class Settings(TypedDict, total=False):
    """Arguments of a call that do not determine the type of its result, for overloads."""

    workers: int | None
