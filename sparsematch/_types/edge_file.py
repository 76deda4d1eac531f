"""A file of edges: where its records are and of what type.

The format is NumPy's own: a ``.npy`` file of one dimension; its fields: `u`, `v`, perhaps `weight`.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from sparsematch._base.errors import is_utf8, one_line_of

_INDEX, _WEIGHT = ("=i4", "=i8"), ("=f4", "=f8")
#: Edges that are read at a time.
_BATCH = 1 << 19
_EXPECTED = (
    "a .npy file of one dimension with the fields 'u' and 'v' (both int32 or both int64) and, if "
    "it has weights, 'weight' (float32 or float64)"
)


@dataclass(frozen=True, slots=True)
class EdgeFile:
    """Where the edges of a file are."""

    path: str
    offset: int  #: Where the first record begins, in bytes.
    n_edges: int  #: Number of records.
    record: np.dtype[Any]  #: With the fields ``u``, ``v`` and perhaps ``weight``.

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers of vertices, hence of the mates."""
        return self._field("u")[0]

    @property
    def weighted(self) -> bool:
        """Whether the edges have weights."""
        return "weight" in (self.record.names or ())

    @property
    def layout(self) -> tuple[int, ...]:
        """What the core's EdgeLayout has: bytes, but for the count; none of absent weights."""
        weight, place = self._field("weight") if self.weighted else (np.dtype("V0"), 0)
        places = self._field("u")[1], self._field("v")[1], place
        sizes = self.dtype.itemsize, weight.itemsize
        return self.offset, self.n_edges, self.record.itemsize, *places, *sizes

    def slices(self, begin: int, end: int) -> Iterator[tuple[NDArray[Any], ...]]:
        """Yield fields of some edges at a time, at least once, as that gives their types."""
        for first in range(begin, max(end, begin + 1), _BATCH):
            place = self.offset + first * self.record.itemsize
            edges = np.fromfile(self.path, self.record, min(_BATCH, end - first), offset=place)
            yield tuple(edges[name] for name in ("u", "v", *(["weight"] * self.weighted)))

    def n_vertices(self, begin: int, end: int) -> int:
        """Return one more than the largest vertex of some edges."""
        ends = (side for u, v, *_ in self.slices(begin, end) for side in (u, v))
        return self.in_range(1 + max(int(side.max(initial=-1)) for side in ends))

    def in_range(self, n_vertices: int) -> int:
        """Return a number of vertices; ValueError if it is beyond their type."""
        if n_vertices > (most := np.iinfo(self.dtype).max):
            text = f"n_vertices is {n_vertices}, but must be from 0 to {most}, for {self.dtype}"
            raise ValueError(text)
        return n_vertices

    def _field(self, name: str) -> tuple[np.dtype[Any], int]:
        assert self.record.fields is not None
        return self.record.fields[name][:2]


def as_edge_file(path: str | os.PathLike[str]) -> EdgeFile:
    """Read the header of a file of edges; ValueError if that is wrong, OSError if unreadable."""
    path = os.fspath(path)
    if isinstance(path, str) and not is_utf8(path):  # which the core cannot open
        raise ValueError(f"{path!r} is not UTF-8: give the file, or a link to it, another name")
    try:
        edges = npy.open_memmap(path, mode="r")
    except OSError:
        raise
    # NumPy evaluates the header as a literal of Python, which fails in many ways
    except Exception as error:
        raise ValueError(f"{path} is not {_EXPECTED}: {one_line_of(error)[:200]}") from None
    shape, record = edges.shape, edges.dtype
    fields = {name: field[0] for name, field in (record.fields or {}).items()}
    u, v, weight = fields.get("u"), fields.get("v"), fields.get("weight", "=f8")
    if len(shape) != 1 or u not in _INDEX or u != v or weight not in _WEIGHT:
        text = f"{path} holds an array of shape {shape} and dtype {record}, but must be {_EXPECTED}"
        raise ValueError(text)
    return EdgeFile(path, edges.offset, shape[0], record)
