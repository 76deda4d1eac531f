"""What arguments may be, for type checkers; `engines` lists what a back-end offers."""

from typing import Any, Literal, Protocol

ExactMethod = Literal[
    "auto",
    "hopcroft_karp",
    "pothen_fan",
    "push_relabel",
    "single_source_bfs",
    "ms_bfs_graft",
    "reference",
    "ms_bfs",
    "one_block",
    "apfb",
]
Heuristic = Literal["auto", "none", "cheap", "min_degree", "karp_sipser", "by_rank"]
ApproximateMethod = Literal["auto", "greedy", "hem", "gpa", "suitor", "red_blue", "local_max"]

Pivoting = Literal["auto", "structure", "product"]
Solver = Literal["auto", "superlu", "umfpack", "pardiso", "klu"]
Side = Literal["N", "T", "H"]


class SparseMatrix(Protocol):
    """A sparse matrix of any library.

    The libraries share no more than this: it tells a matrix from a list, and the call refuses what
    is dense. SciPy without stubs has it of no type that a checker could find out.
    """

    @property
    def shape(self) -> Any:
        """Rows and columns."""
        ...


class DeviceMatrix(SparseMatrix, Protocol):
    """A sparse matrix of ``cupyx.scipy.sparse``."""

    def get(self, stream: Any = None) -> Any:
        """Copy it to host memory."""
        ...
