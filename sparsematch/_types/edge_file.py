"""A file of edges: where its records are and of what type, and how one is written.

The format is NumPy's own: a ``.npy`` file of one dimension with the fields `u`, `v` and, if it has
weights, `weight`.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy

_INDEX, _WEIGHT = (
    (np.dtype(np.int32), np.dtype(np.int64)),
    (np.dtype(np.float32), np.dtype(np.float64)),
)
_EXPECTED = (
    "a .npy file of one dimension with the fields 'u' and 'v' (both int32 or both int64) and, if "
    "it has weights, "
    "'weight' (float32 or float64), as write_edge_file makes it"
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
    def layout(self) -> dict[str, int]:
        """What the core reads: in bytes but for the count; without weights, theirs have none."""
        weight, place = self._field("weight") if self.weighted else (np.dtype("V0"), 0)
        return {
            "offset": self.offset,
            "count": self.n_edges,
            "size": self.record.itemsize,
            "u": self._field("u")[1],
            "v": self._field("v")[1],
            "weight": place,
            "index_bytes": self.dtype.itemsize,
            "weight_bytes": weight.itemsize,
        }

    def _field(self, name: str) -> tuple[np.dtype[Any], int]:
        assert self.record.fields is not None
        dtype, offset, *_ = self.record.fields[name]
        return dtype, offset


class EdgeReport(NamedTuple):
    """What the pass over a file of edges reports; the mates are written elsewhere."""

    weight: float  #: That of the matching; the number of pairs, if weights do not count.
    #: Edges read in all rounds together, and written to scratch files.
    scanned: int
    written: int
    #: Of each round: vertices matched by its end, edges with both ends free at its beginning.
    matched: tuple[int, ...]
    live_edges: tuple[int, ...]


def as_edge_file(path: str | os.PathLike[str]) -> EdgeFile:
    """Read the header of a file of edges.

    Raises ValueError if it is no such file, or shorter than its header says; OSError if it cannot
    be opened.
    """
    path = os.fspath(path)
    if isinstance(path, str) and not _is_utf8(path):  # which the core cannot open
        raise ValueError(f"{path!r} is not UTF-8: give the file, or a link to it, another name")
    with open(path, "rb") as stream:
        try:
            version = npy.read_magic(stream)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, record = read(stream)
        # NumPy evaluates the header as a literal of Python, which fails in many ways
        except Exception as error:
            text = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"{path} is not {_EXPECTED}: {text[:200]}") from None
        offset = stream.tell()
    fields: Mapping[str, Any] = record.fields or {}
    index = [fields[name][0] for name in ("u", "v") if name in fields]
    weight = [fields["weight"][0]] if "weight" in fields else []
    right = (
        len(index) == 2
        and index[0] == index[1]
        and index[0] in _INDEX
        and all(w in _WEIGHT for w in weight)
    )
    if len(shape) != 1 or shape[0] < 0 or not right or record.hasobject:
        raise ValueError(
            f"{path} holds an array of shape {shape} and dtype {record}, but must be {_EXPECTED}"
        )
    size = Path(path).stat().st_size
    if size < offset + shape[0] * record.itemsize:
        raise ValueError(
            f"{path} has {size} bytes, but {shape[0]} edges need "
            f"{offset + shape[0] * record.itemsize}"
        )
    return EdgeFile(path, offset, shape[0], record)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_chunks(path: str, chunks: Iterator[tuple[Any, ...]]) -> int:
    """Write a file of edges, chunk by chunk, of the types of the first one; return their number."""
    count, record = 0, None
    with open(path, "wb") as stream:
        for k, chunk in enumerate(chunks):
            arrays = _read_chunk(chunk, k)
            if record is None:
                record = record_of(arrays)
                _write_header(stream, record, 0)
            if len(arrays) != len(record.names or ()):
                raise ValueError(
                    f"chunk {k} of edges has {len(arrays)} arrays, but the first has "
                    f"{len(record.names or ())}"
                )
            edges = np.empty(arrays[0].size, record)
            for name, array in zip(record.names or (), arrays, strict=True):
                if name != "weight" and array.size and array.max() > np.iinfo(record["u"]).max:
                    raise ValueError(
                        f"chunk {k} of edges has vertex {array.max()}, too large for {record['u']}"
                    )
                edges[name] = _weights(array, record["weight"], k) if name == "weight" else array
            edges.tofile(stream)
            count += edges.size
        if record is None:
            record = np.dtype([("u", np.int32), ("v", np.int32)])
        stream.seek(0)
        _write_header(stream, record, count)
    return count


def record_of(arrays: list[Any]) -> np.dtype[Any]:
    """Return the smallest record for such arrays without loss; integer weights are doubles."""
    index = (
        np.int32
        if all(a.dtype.itemsize < 4 or a.dtype == np.int32 for a in arrays[:2])
        else np.int64
    )
    fields: list[Any] = [("u", index), ("v", index)]
    if len(arrays) == 3:
        fields.append(("weight", np.float32 if arrays[2].dtype == np.float32 else np.float64))
    return np.dtype(fields)


def _weights(array: Any, dtype: np.dtype[Any], k: int) -> Any:
    """Convert weights to the file's type; refuse those that it cannot hold."""
    with np.errstate(over="ignore"):
        converted = array.astype(dtype)
    if array.dtype.kind in "iu":
        bits = np.finfo(dtype).nmant + 1
        wrong = np.zeros(array.size, bool)
        if array.dtype.itemsize * 8 > bits:  # else the bound is no number of that type
            wrong = (array > 2**bits) | (array < -(2**bits))
        fault = f"but in {dtype} integers are exact up to 2**{bits} only"
    else:
        wrong, fault = np.isinf(converted) & np.isfinite(array), f"too large for {dtype}"
    if wrong.any():
        raise ValueError(f"chunk {k} of edges has the weight {array[wrong][0]}, {fault}")
    return converted


def _write_header(stream: Any, record: np.dtype[Any], count: int) -> None:
    """Write the header; NumPy pads it for a larger count, so its length stays the same."""
    npy.write_array_header_1_0(
        stream, {"descr": npy.dtype_to_descr(record), "fortran_order": False, "shape": (count,)}
    )


def _read_chunk(chunk: Any, k: int) -> list[Any]:
    if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
        raise TypeError(
            f"chunk {k} of edges must be (u, v) or (u, v, weight), not {type(chunk).__name__}"
        )
    arrays = [np.asarray(array) for array in chunk]
    for name, array, kinds in zip(("u", "v", "weight"), arrays, ("iu", "iu", "biuf"), strict=False):
        if array.ndim != 1 or array.size != arrays[0].size:
            raise ValueError(
                f"{name} of chunk {k} has shape {array.shape}, but u has {arrays[0].shape}"
            )
        if array.dtype.kind not in kinds and array.size:
            raise TypeError(
                f"{name} of chunk {k} must hold {'numbers' if name == 'weight' else 'integers'}, "
                f"not {array.dtype}"
            )
        if name != "weight" and array.size and array.min() < 0:
            raise ValueError(
                f"{name} of chunk {k} has vertex {array.min()}, but vertices are counted from 0"
            )
    return arrays
