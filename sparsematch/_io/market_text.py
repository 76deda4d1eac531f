"""Whether text is Matrix Market, line by line, before any parser reads it.

SciPy's parser reads beyond a number that the end of the file cuts off, and stops in the middle of
``1.2.3`` or ``0x10`` without a word. So each line must match the grammar, and there must be as many
as the file states, before memory is allocated for them.

Boisvert, Pozo, Remington, The Matrix Market exchange formats (NISTIR 5935, 1996).
"""

import math
import re
from functools import cache
from typing import BinaryIO, NamedTuple

from sparsematch._io.errors import UnreadableFile

#: Numbers of an entry beside its place.
_NUMBERS = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "unsigned-integer": 1, "complex": 2}
_SYMMETRIES = "general", "symmetric", "skew-symmetric", "hermitian"

#: Bytes that are checked, or parsed, at a time: a few million take the interpreter's overhead per
#: piece below 1%, and bound the memory.
PIECE = 1 << 22

# Runs of characters are possessive, so that no line is tried twice. Groups within a line are not:
# Python up to 3.11.4 takes one that ends in the middle for whole (CPython issue 106052).
_INDEX = rb"\d++"
_SIZE = rb"0*\d{1,18}+"  # which 64 bits count
_INTEGER = rb"[-+]?\d++"
_REAL = rb"[-+]?(?:(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?|(?i:nan|inf(?:inity)?))"


class Header(NamedTuple):
    """What precedes the entries of a file."""

    #: The words of the first line, in lower case.
    layout: str
    field: str
    symmetry: str
    shape: tuple[int, int]  #: Rows and columns.
    #: Lines with an entry, as the file states, or as its shape needs in the layout ``array``.
    entries: int
    begin: int  #: Where the entries begin, in bytes.


def read_header(file: BinaryIO) -> Header:
    """Read the lines that precede the entries, or raise UnreadableFile."""
    words = file.readline(PIECE).decode("latin-1").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise UnreadableFile(
            "does not begin with %%MatrixMarket matrix, and three words for its layout, numbers "
            "and symmetry"
        )
    layout, field, symmetry = words[2:]
    for word, choices in (
        (layout, ("coordinate", "array")),
        (field, tuple(_NUMBERS)[layout == "array" :]),
        (symmetry, _SYMMETRIES),
    ):
        if word not in choices:
            raise UnreadableFile(f"begins with the word {word!r}, none of {', '.join(choices)}")
    line = file.readline(PIECE)
    while line and (line.startswith(b"%") or not line.strip()):
        line = file.readline(PIECE)
    n_sizes = 3 if layout == "coordinate" else 2
    if not re.fullmatch(rb"\s*" + rb"\s+".join([_SIZE] * n_sizes) + rb"\s*", line):
        names = "rows, columns" + " and entries" * (n_sizes == 3)
        raise UnreadableFile(f"has no line with {names}: the first that could be is {_shown(line)}")
    n_rows, n_cols, *stated = map(int, line.split())
    if symmetry != "general" and n_rows != n_cols:
        raise UnreadableFile(f"is {symmetry}, but has {n_rows} rows and {n_cols} columns")
    entries = n_rows * n_cols
    if stated:
        (entries,) = stated
    elif symmetry != "general":  # a triangle
        entries = math.comb(n_rows + (symmetry != "skew-symmetric"), 2)
    return Header(layout, field, symmetry, (n_rows, n_cols), entries, file.tell())


def check_text(file: BinaryIO) -> bool:
    """Check a whole file, or raise UnreadableFile; go back, and tell if its last line ends."""
    header, found, last = read_header(file), 0, b"\n"
    while text := file.read(PIECE):
        last = text + file.readline(PIECE)
        found += count_entries(header, last)
    check_number(header, found)
    file.seek(0)
    return last.endswith(b"\n")


def check_number(header: Header, found: int) -> None:
    """Raise UnreadableFile unless a file has as many entries as it states."""
    if found != header.entries:
        raise UnreadableFile(f"states {header.entries} entries, but has {found}")


def count_entries(header: Header, text: bytes) -> int:
    """Return how many entries lines have; UnreadableFile if one is neither that nor blank."""
    if not text.endswith(b"\n"):
        text += b"\n"
    while b"\n\n" in text:  # a file may unpack to gigabytes of blank lines
        text = text.replace(b"\n\n", b"\n")
    match = _lines(header.layout, header.field).match(text)
    end = match.end() if match else 0
    if end < len(text):
        numbers = _NUMBERS[header.field] + 2 * (header.layout == "coordinate")
        line = text[end : end + PIECE].partition(b"\n")[0]
        kinds = "1 number" if numbers == 1 else f"{numbers} numbers"
        raise UnreadableFile(
            f"has the line {_shown(line)}, but an entry of field {header.field} has {kinds}"
        )
    return text.count(b"\n") - len(re.findall(rb"\n[ \t\r]*+(?=\n)", b"\n" + text))


@cache
def _lines(layout: str, field: str) -> re.Pattern[bytes]:
    """Compile what matches any number of lines."""
    number = _INTEGER if field.endswith("integer") else _REAL
    tokens = [_INDEX] * (2 * (layout == "coordinate")) + [number] * _NUMBERS[field]
    return re.compile(rb"(?:[ \t]*+(?:" + rb"[ \t]++".join(tokens) + rb"[ \t\r]*+)?\r?\n)*+")


def _shown(line: bytes) -> str:
    text = line.strip().decode("latin-1")
    return repr(text if len(text) <= 60 else f"{text[:60]} ...")
