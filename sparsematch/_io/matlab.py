"""Numeric variables of MATLAB files of version 5, which are what its versions 5 to 7 write.

SciPy's reader trusts sizes that the file states, and can end the process on a damaged one; here
each is checked against the bytes there are. What is neither a numeric matrix nor a structure, text
for instance, is named and left out.

MathWorks, MAT-file format (2015), chapter 1.
"""

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparsematch._io.errors import UnreadableFile

_HEADER = 128  # bytes that precede the variables

#: Types of data elements: numbers, and the two that hold others.
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_NUMBERS |= {12: "i8", 13: "u8"}
_BYTES, _MATRIX, _COMPRESSED = 2, 14, 15

#: Classes of matrices, and the type of the values of each that is dense.
_STRUCTURE, _SPARSE = 2, 5
_DENSE = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4"}
_DENSE |= {14: "i8", 15: "u8"}
_LOGICAL, _COMPLEX = 0x200, 0x800


class _Element(NamedTuple):
    """A data element: its type and its bytes."""

    kind: int
    data: memoryview


class _Elements:
    """The data elements of some bytes, in the byte order of the file."""

    def __init__(self, data: memoryview, order: str) -> None:
        self.data, self.order, self.at = data, order, 0

    def __iter__(self) -> Iterator[_Element]:
        while self.at < len(self.data):
            yield self.next()

    def next(self) -> _Element:
        """Read one, and the padding behind it."""
        kind, size = (int(x) for x in self._numbers(self.data[self.at :], "u4", 2))
        begin = self.at + 8
        if kind >> 16:  # a small one: its bytes stand in place of the size
            kind, size, begin = kind & 0xFFFF, kind >> 16, self.at + 4
        if size > (4 if begin < self.at + 8 else len(self.data) - begin):
            raise UnreadableFile("is not a MATLAB file, or cut short: an element ends beyond it")
        padded = size if kind == _COMPRESSED else -(-size // 8) * 8
        self.at = begin + padded if begin == self.at + 8 else self.at + 8
        return _Element(kind, self.data[begin : begin + size])

    def numbers(self, bytes_of: int = 0) -> NDArray[Any]:
        """Read one that holds numbers.

        MATLAB writes a byte for each entry of a sparse logical matrix, and calls it a double: if
        the element is no longer than `bytes_of`, it is bytes.
        """
        kind, data = self.next()
        if 0 < len(data) <= bytes_of:
            kind = _BYTES
        if kind not in _NUMBERS:
            raise UnreadableFile(f"has an element of type {kind} where numbers must be")
        return self._numbers(data, _NUMBERS[kind])

    def within(self, data: memoryview) -> "_Elements":
        """Return the elements of one that holds others."""
        return _Elements(data, self.order)

    def _numbers(self, data: memoryview, code: str, count: int = -1) -> NDArray[Any]:
        dtype = np.dtype(self.order + code)
        if len(data) < max(count, 0) * dtype.itemsize:
            raise UnreadableFile("is not a MATLAB file, or cut short")
        numbers = np.frombuffer(data, dtype, len(data) // dtype.itemsize if count < 0 else count)
        return numbers.astype(dtype.newbyteorder("="))


def read_variables(content: bytes) -> dict[str, Any]:
    """Return the variables by name: matrices, those in a field A of a structure, None for others.

    Raises UnreadableFile if the bytes are no such file, or inconsistent.
    """
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise UnreadableFile("is not a MATLAB file, or cut short")
    found = {}
    for element in _Elements(memoryview(content)[_HEADER:], order):
        if element.kind == _COMPRESSED:
            inner = memoryview(zlib.decompress(element.data))
            element = _Elements(inner, order).next()
        if element.kind == _MATRIX and len(element.data):
            name, value = _variable(_Elements(element.data, order), deeper=True)
            found[name] = value
    return {name: value for name, value in found.items() if name}


def _variable(elements: _Elements, *, deeper: bool) -> tuple[str, Any]:
    """Return the name and the value of a matrix, given what is in it."""
    flags = int((elements.numbers().tolist() or [0])[0])
    kind = flags & 0xFF
    if kind not in (_STRUCTURE, _SPARSE, *_DENSE):
        names = [e.data for e in elements if e.kind == 1][:1]
        return (_text(names[0]) if names else ""), None
    shape = tuple(elements.numbers().tolist())
    name = _text(elements.next().data)
    if kind == _STRUCTURE:
        return name, _field_a(elements) if deeper else None
    if len(shape) != 2 or min(shape) < 0:
        return name, None
    return name, _matrix(elements, kind, flags, shape)


def _matrix(elements: _Elements, kind: int, flags: int, shape: tuple[int, int]) -> Any:
    rows, starts = (elements.numbers() for _ in range(2)) if kind == _SPARSE else (None, None)
    values = elements.numbers(bytes_of=rows.size if rows is not None and flags & _LOGICAL else 0)
    if flags & _COMPLEX:
        imaginary = elements.numbers()
        if imaginary.size != values.size:
            raise UnreadableFile("has a matrix with more real parts than imaginary, or fewer")
        values = values + 1j * imaginary
    elif kind in _DENSE:
        values = values.astype(_DENSE[kind])
    if flags & _LOGICAL:
        values = values.astype(bool)
    if rows is not None and starts is not None:
        return _sparse(shape, starts, rows, values)
    if values.size != shape[0] * shape[1]:
        raise UnreadableFile(f"has {values.size} values for a matrix of shape {shape}")
    return values.reshape(shape, order="F")


def _sparse(shape: tuple[int, int], indptr: Any, indices: Any, values: Any) -> Any:
    """Return a matrix by columns; whether its arrays are consistent is checked by the caller."""
    matrix = sp.csc_array((0, 0), dtype=values.dtype)
    matrix._shape = shape
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, values
    return matrix


def _field_a(elements: _Elements) -> Any:
    """Return the matrix in the field A of a structure, the first if it is an array of them."""
    (width,), names = elements.numbers().tolist() or [0], bytes(elements.next().data)
    if width <= 0:
        return None
    for begin in range(0, len(names), width):
        element = elements.next()
        if _text(memoryview(names)[begin : begin + width]) == "A":
            inside = len(element.data) and element.kind == _MATRIX
            return _variable(elements.within(element.data), deeper=False)[1] if inside else None
    return None


def _text(data: memoryview) -> str:
    return bytes(data).partition(b"\0")[0].decode("latin-1")
