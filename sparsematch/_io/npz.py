"""Files of `scipy.sparse.save_npz`: their headers, slices of their arrays, or all."""

import io
import math
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse

from sparsematch._base.arrays import Array
from sparsematch._io.errors import UnreadableFile, check_places
from sparsematch._types.over_ranks.matrix import balanced

#: Entries of a batch, and bytes that are unpacked at a time.
_BATCH, _PIECE = 1 << 20, 1 << 22

#: Of the header that precedes a member: its length, and where it says how long the rest is.
_LOCAL_HEADER, _LENGTHS_AT = 30, 26


class _Member(NamedTuple):
    """An array in the archive; `offset` is where its data begin in a file, None if packed."""

    name: str
    dtype: np.dtype[Any]
    size: int
    offset: int | None
    n_dims: int


class SparseArchive:
    """A sparse matrix in an archive of arrays, whose headers are read and checked."""

    def __init__(self, source: Path | BinaryIO) -> None:
        self.source = source
        if not zipfile.is_zipfile(source):
            raise UnreadableFile(
                "is not a file written by scipy.sparse.save_npz; write it again with that, or as "
                "Matrix Market (.mtx)"
            )
        with zipfile.ZipFile(source) as archive:
            members = [_member(source, archive, info) for info in archive.infolist()]
        self.members = {member.name: member for member in members}
        if "format" not in self.members:
            raise UnreadableFile(
                "holds arrays, but no matrix: write that with scipy.sparse.save_npz (what --save "
                "writes is the result for a matrix)"
            )
        for name in ("data", "indices", "indptr", "row", "col", "coords", "offsets"):
            if name in self.members:
                self._array(name)
        kind = self.slice("format", 0, self._array("format").size).tolist()
        kind = kind[0] if len(kind) == 1 else kind
        self.format = kind.decode() if isinstance(kind, bytes) else str(kind)
        sides = self.slice("shape", 0, self._array("shape").size).tolist()
        if len(sides) != 2 or min(sides) < 0:
            raise UnreadableFile(f"has a matrix of shape {tuple(sides)}, which must be two sides")
        self.shape = sides[0], sides[1]

    def check_parts(self) -> None:
        """Raise unless it can be read in parts: of such a format, its arrays as long as it has."""
        if self.format not in ("csr", "csc", "coo"):
            raise UnreadableFile(
                f"holds a matrix in the format {self.format!r}; save it as CSR: "
                "save_npz(path, A.tocsr())"
            )
        is_coo = self.format == "coo"
        names = ("row", "col", "data") if is_coo else ("indptr", "indices", "data")
        arrays = [self._array(name) for name in names]
        for name, array in zip(names, arrays, strict=True):
            if array.n_dims > 1:
                raise UnreadableFile(f"has an array {name} of {array.n_dims} dimensions")
        sizes = [array.size for array in arrays]
        n_major = self.shape[self.format == "csc"]
        if not is_coo and sizes[0] != n_major + 1:
            raise UnreadableFile(
                f"has {sizes[0]} elements in indptr, but a matrix of shape {self.shape} in the "
                f"format {self.format} needs {n_major + 1}"
            )
        if len({*(sizes if is_coo else sizes[1:])}) > 1:
            text = f"has arrays {', '.join(names)} of {', '.join(map(str, sizes))} elements"
            raise UnreadableFile(text)

    def _array(self, name: str) -> _Member:
        """Return an array, whose values are of the kind that its name says."""
        if name not in self.members:
            raise UnreadableFile(f"has no array {name!r}")
        member = self.members[name]
        if member.dtype.kind not in {"format": "SU", "data": "biufc"}.get(name, "iu"):
            raise UnreadableFile(f"has an array {name} of the type {member.dtype}")
        return member

    def slice(self, name: str, begin: int, end: int) -> Array:
        """Return elements ``begin:end`` of an array."""
        member = self._array(name)
        if not 0 <= begin <= end <= member.size:
            raise UnreadableFile(f"{name} has {member.size} elements, not {end}")
        if begin == end:
            return np.empty(0, member.dtype)
        if member.offset is None:
            return self._unpack(member, begin, end)
        assert isinstance(self.source, Path)
        at = member.offset + begin * member.dtype.itemsize
        return np.array(np.memmap(self.source, member.dtype, "r", at, (end - begin,)))

    def pointers(self, first: int, last: int) -> Array:
        """Return elements ``first:last + 1`` of ``indptr``, which ascend from 0."""
        indptr = self.slice("indptr", first, last + 1)
        if (first == 0 and indptr[0] != 0) or (indptr[1:] < indptr[:-1]).any():
            raise UnreadableFile("has an indptr that does not ascend from 0")
        return indptr

    def batches(self, rank: int, size: int) -> Iterator[tuple[Array, ...]]:
        """Yield rows, columns and values of the part of a rank, some entries at a time."""
        is_coo = self.format == "coo"
        n = self._array("data").size if is_coo else self.shape[1]
        first, last = balanced(n, size)[rank : rank + 2].tolist()
        indptr = np.array([first, last]) if is_coo else self.pointers(first, last)
        for begin in range(int(indptr[0]), int(indptr[-1]), _BATCH):
            end = min(begin + _BATCH, int(indptr[-1]))
            rows = self.slice("row" if is_coo else "indices", begin, end)
            if is_coo:
                cols = self.slice("col", begin, end)
            else:
                cols = np.searchsorted(indptr, np.arange(begin, end), side="right") - 1 + first
                cols = cols.astype(rows.dtype, copy=False)
            check_places(rows, cols, self.shape)
            yield rows, cols, self.slice("data", begin, end)

    def _unpack(self, member: _Member, begin: int, end: int) -> Array:
        """Read a compressed array from its beginning, and keep a part."""
        width = member.dtype.itemsize
        with zipfile.ZipFile(self.source) as archive, archive.open(f"{member.name}.npy") as stream:
            _read_header(stream)  # type: ignore[arg-type]
            stream.seek(begin * width, io.SEEK_CUR)
            result = np.empty(end - begin, member.dtype)
            view, done = result.view(np.uint8), 0
            while size := stream.readinto(view[done : done + _PIECE]):  # type: ignore[attr-defined]
                done += size
        if done < view.size:
            raise UnreadableFile(f"{member.name} is cut short")
        return result


def read_npz(source: Path | BinaryIO) -> Any:
    """Read what `scipy.sparse.save_npz` wrote."""
    if isinstance(source, Path):  # NumPy leaves a damaged file open
        with source.open("rb") as stream:
            return read_npz(stream)
    SparseArchive(source)  # SciPy would cut index arrays of floats
    source.seek(0)
    return scipy.sparse.load_npz(source)


def _member(source: Path | BinaryIO, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    with archive.open(info) as stream:
        shape, dtype = _read_header(stream)  # type: ignore[arg-type]
        header = stream.tell()
    size, name = math.prod(shape), info.filename.removesuffix(".npy")
    if size < 0 or header + size * dtype.itemsize != info.file_size:
        raise UnreadableFile(
            f"has an array {name} of {info.file_size} bytes, whose header claims {size} elements "
            f"of {dtype}"
        )
    offset = None
    if isinstance(source, Path) and info.compress_type == zipfile.ZIP_STORED:
        with source.open("rb") as file:
            file.seek(info.header_offset + _LENGTHS_AT)
            lengths = struct.unpack("<HH", file.read(4))
        offset = info.header_offset + _LOCAL_HEADER + sum(lengths) + header
        if offset + size * dtype.itemsize > source.stat().st_size:
            raise UnreadableFile(f"is cut short: {name} ends beyond it")
    return _Member(name, dtype, size, offset, len(shape))


def _read_header(stream: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read what precedes the data of an array: its shape and type."""
    npy = np.lib.format
    version = npy.read_magic(stream)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise UnreadableFile(f"has an array in version {version} of NumPy's format")
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise UnreadableFile("is not a file written by scipy.sparse.save_npz")
    return shape, dtype
