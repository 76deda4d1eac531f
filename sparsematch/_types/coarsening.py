"""The results of coarsening: a smaller matrix and the way back to the larger, or several."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sparsematch._base.above import above
from sparsematch._base.arrays import IndexArray, namespace
from sparsematch._base.errors import wrong_type
from sparsematch._types.matching import GraphMatching


class Coarsening(NamedTuple):
    """A matrix whose rows and columns were merged, and the operator that says how.

    Attributes
    ----------
    matrix : sparse array or matrix, shape (n_coarse, n_coarse)
        ``P.T @ G @ P``, indices ascending, without duplicates: entries between the same two
        aggregates are added up, those within one are on the diagonal. CSC if the fine matrix is,
        else CSR; an array if that is one.
    prolongation : sparse array or matrix, shape (n, n_coarse)
        P: a 1 in each row, in the column of the aggregate that the vertex is in. CSR.
    """

    matrix: Any
    prolongation: Any

    @property
    def aggregates(self) -> IndexArray:
        """The aggregate of each vertex: the coarse vertex that it became."""
        return self.prolongation.indices

    def __repr__(self) -> str:
        return f"Coarsening({self.prolongation.shape[0]} -> {self.prolongation.shape[1]} vertices)"


class CoarseLevel(NamedTuple):
    """One level of a hierarchy.

    Attributes
    ----------
    matrix : sparse array or matrix
        The matrix of the level.
    prolongation : sparse array or matrix, or None
        From the next coarser level to this one; None on the coarsest.
    matching : GraphMatching or None
        What was merged to make the next level; None on the coarsest.
    """

    matrix: Any
    prolongation: Any
    matching: GraphMatching | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoarseningHierarchy:
    """A matrix, coarsened again and again.

    Attributes
    ----------
    levels : tuple of CoarseLevel
        From the matrix that was given to the coarsest one. Each has ``matrix``, and, but for the
        last, ``prolongation`` and ``matching``.
    stopped_by : {"min_vertices", "max_levels", "max_ratio"}
        Why there is no further level: small enough; as many levels as were asked for; or the next
        one would hardly have been smaller.
    """

    levels: tuple[CoarseLevel, ...]
    stopped_by: str

    def __len__(self) -> int:
        """Return the number of levels."""
        return len(self.levels)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Vertices on each level."""
        return tuple(level.matrix.shape[0] for level in self.levels)

    def aggregates(self, level: int = -1) -> IndexArray:
        """Return the vertex of a level, -1 for the coarsest, that each of the finest is in."""
        level = self._index(level)
        if level == 0:
            G = self.levels[0].matrix
            array = G.row if G.format == "coo" else G.indptr
            return namespace(array).arange(G.shape[0], dtype=array.dtype)
        labels = self.levels[0].prolongation.indices
        for step in self.levels[1:level]:
            labels = step.prolongation.indices[labels]
        return labels

    def prolongation(self, level: int = -1) -> Any:
        """Return the operator from a level, -1 being the coarsest, to the finest one, in CSR.

        It is the product of those between them: a 1 in each row.
        """
        level = self._index(level)
        G = self.levels[0].matrix
        P = self.levels[0].prolongation if len(self) > 1 else above("checked")(G, "G").tocsr()
        return aggregation_operator(type(P), self.aggregates(level), self.sizes[level], P.dtype)

    def _index(self, level: Any) -> int:
        if isinstance(level, bool) or not isinstance(level, int | np.integer):
            raise wrong_type("level", level, "an integer")
        if not -len(self) <= level < len(self):
            raise ValueError(f"level is {level}, but there are {len(self)}, counted from 0")
        return int(level) % len(self)

    def __repr__(self) -> str:
        sizes = " -> ".join(map(str, self.sizes))
        return f"CoarseningHierarchy({sizes} vertices, stopped by {self.stopped_by})"


def type_of_products(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Return the type in which values are added up; TypeError if there is none."""
    if dtype.kind not in "biufc" or dtype.char in "egG":
        text = f"{name} must hold numbers in single or double precision or integers, not {dtype}"
        raise TypeError(text)
    if dtype.kind in "fc":
        return dtype
    return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)


def aggregation_operator(kind: Any, labels: Any, n_coarse: int, dtype: Any) -> Any:
    """Return the matrix with a 1 in each row, in the column of the label."""
    xp = namespace(labels)
    indptr = xp.arange(labels.size + 1, dtype=labels.dtype)
    return compressed(kind, (labels.size, n_coarse), xp.ones(labels.size, dtype), labels, indptr)


def compressed(kind: Any, shape: tuple[int, int], data: Any, indices: Any, indptr: Any) -> Any:
    """Return a matrix of these arrays, sorted and without duplicates, neither checked nor cast."""
    A = kind(shape, dtype=data.dtype)
    A.data, A.indices, A.indptr = data, indices, indptr
    A.has_canonical_format = True
    return A
