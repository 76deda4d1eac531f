"""What a source file says: its text with its headers, and its structs as the host sees them.

What a kernel gets by value is declared once, as a struct in the source: `layout` reads it there,
and `Layouts.struct` packs it by the names of its fields.
"""

import functools
import re
from importlib.resources import files
from typing import Any

import numpy as np

_INCLUDE = re.compile(r'^#include "([\w/]+\.cuh)"$', re.MULTILINE)
_STRUCT = r"^struct (?:alignas\(\d+\) )?{} {{(.*?)^}};"
_FIELD = re.compile(r"(?:const )?(\w+(?: long)?)(<\w+>)?(?=[\s*])\s*([\w\s*,\[\]]+)")
_DECLARATOR = re.compile(r"(\*?)\s*(\w+)(?:\[(\d+)\])?")
_TYPES = {"bool": "?", "int": "i4", "unsigned": "u4", "long long": "i8"}
_TYPES |= {"Wide": "u8", "double": "f8"}
POINTER = np.dtype(np.uintp, metadata={"pointer": True})


class Struct:
    """A struct to pass by value: a record, and its arrays, which stay alive as long as it does."""

    __slots__ = ("arrays", "record")

    def __init__(self, record: Any, arrays: tuple[Any, ...]) -> None:
        self.record, self.arrays = record, arrays

    def passed(self) -> Any:
        """Return it as CuPy takes it: an array of one item is passed by value."""
        # CuPy asks for its interface. One without fields tells it in a tenth of the time.
        return self.record.view((np.void, self.record.dtype.itemsize))


class Layouts:
    """The structs of one source file for one index type, as the host sees them."""

    name: str
    dtype: np.dtype[Any]

    def struct(self, name: str, *objects: Any, **fields: Any) -> Struct:
        """Return a struct of the source with these fields: arrays, None, scalars or structs."""
        # Those that are not given by name are attributes of the objects, of the first that has one.
        form = layout(self.name, self.dtype, name)
        kinds: Any = form.fields or {}
        for given in objects:
            missing = [key for key in kinds if key not in fields and hasattr(given, key)]
            fields |= {key: getattr(given, key) for key in missing}
        if fields.keys() != kinds.keys():
            raise TypeError(f"{self.name}: {name} has fields {form.names}, not {tuple(fields)}")
        values = tuple([_packed(kind, fields[field]) for field, (kind, *_) in kinds.items()])
        return Struct(np.array(values, form), tuple(fields.values()))

    def zeros(self, xp: Any, name: str) -> Any:
        """Return a struct of the source in device memory, all zero."""
        return xp.zeros(layout(self.name, self.dtype, name).itemsize, np.uint8)

    def read(self, name: str, memory: Any) -> Any:
        """Return what `zeros` made, as a record in host memory; waits for the device."""
        return self.record(name, memory.get())

    def record(self, name: str, copy: Any) -> Any:
        """Return a copy of what `zeros` made as a record."""
        return copy.view(layout(self.name, self.dtype, name))[0]


@functools.cache
def source(name: str) -> str:
    """Return the text of ``name.cu`` with its headers in place."""
    # Messages of the compiler still point into the files as they are.
    folder = files("sparsematch._engines.cuda")

    def header(match: re.Match[str]) -> str:
        after = match.string.count("\n", 0, match.end()) + 2
        text = (folder / match[1]).read_text().replace("#pragma once\n", "\n")
        return f'#line 1 "{match[1]}"\n{text}#line {after} "{name}.cu"'

    return f'#line 1 "{name}.cu"\n' + _INCLUDE.sub(header, (folder / f"{name}.cu").read_text())


@functools.cache
def layout(name: str, dtype: np.dtype[Any], struct: str) -> np.dtype[Any]:
    """Return a struct of a source or its headers as a NumPy type, laid out as the compiler does."""
    # Its fields are pointers, numbers, arrays of numbers, and structs of this kind.
    found = re.search(_STRUCT.format(struct), source(name), re.MULTILINE | re.DOTALL)
    if found is None:
        raise TypeError(f"{name} has no struct {struct}")
    fields: list[Any] = []
    for statement in re.sub(r"//.*", "", found[1]).split(";")[:-1]:
        match = _FIELD.fullmatch(statement.strip())
        if match is None:
            raise TypeError(f"{statement.strip()!r} is no field that a driver can fill")
        kind, template, declarators = match.groups()
        for star, field, size in _DECLARATOR.findall(declarators):
            if star or template:
                of = POINTER
            elif kind in _TYPES:
                of = np.dtype(_TYPES[kind])
            else:
                of = dtype if kind == "Index" else layout(name, dtype, kind)
            fields.append((field, of, (int(size),)) if size else (field, of))
    return np.dtype(fields, align=True)


def _packed(kind: np.dtype[Any], value: Any) -> Any:
    """Return what stands in a field: the address of an array, 0 for None; a number; a record."""
    if kind.metadata:
        return 0 if value is None else value.data.ptr
    return value.record[()] if isinstance(value, Struct) else value
