"""A reader for each format, all of SciPy; each reads a path or a stream of bytes."""

import inspect
import io
import os
import re
import tarfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import scipy.io
import scipy.sparse

from sparsematch._base.errors import is_utf8, one_line_of
from sparsematch._io.errors import UnreadableFile
from sparsematch._io.market_text import check_text
from sparsematch._io.matlab import as_npz
from sparsematch._io.npz import read_npz
from sparsematch._types.upstream_warnings import NO_NUMBER, upstream_warnings_raised

FORMATS = (
    "Matrix Market (.mtx, .mm), SciPy (.npz), MATLAB (.mat), Harwell-Boeing and Rutherford-Boeing "
    "(.hb, .rb, .rua and the like), the text formats also compressed (.gz, .bz2); SuiteSparse "
    "archives (.tar.gz); -: standard input"
)
Source = Path | BinaryIO
Reader = Callable[[Source], Any]

_HARWELL_BOEING = re.compile(r"\.(hb|rb|[rcpi][suhzr][ae])")  # .rua: Real, Unsymmetric, Assembled


def reader_of(extension: str) -> Reader | None:
    """Return the reader for a file extension in lower case, or None."""
    if _HARWELL_BOEING.fullmatch(extension):
        return read_harwell_boeing
    if extension in (".mtx", ".mm"):
        return read_matrix_market
    return {".npz": read_npz, ".mat": read_matlab}.get(extension)


def sniff(head: bytes) -> Reader:
    """Return the reader for a file that begins with these bytes."""
    if head.startswith(b"PK"):
        return read_npz
    if head.startswith(b"MATLAB"):
        return read_matlab
    if head[:14].lower() == b"%%matrixmarket":
        return read_matrix_market
    if head[257:262] == b"ustar":
        return read_archive
    raise UnreadableFile(
        "is none of Matrix Market (a first line that begins with %%MatrixMarket), .npz, .mat and "
        ".tar.gz, which are recognised by their first bytes; give other files by name"
    )


def read_matrix_market(source: Source) -> Any:
    """Read Matrix Market, coordinates or a dense array."""
    with source.open("rb") if isinstance(source, Path) else nullcontext(source) as stream:
        if not check_text(stream):  # SciPy's parser goes on beyond blanks at the end
            return call_reader(scipy.io.mmread, io.BytesIO(stream.read() + b"\n"))
        # SciPy's reader is faster with a name, but opens none that is not UTF-8
        by_name = isinstance(source, Path) and is_utf8(os.fspath(source))
        return call_reader(scipy.io.mmread, source if by_name else stream)


def read_harwell_boeing(source: Source) -> Any:
    """Read an assembled, real or integer, unsymmetric Harwell-Boeing file."""
    stream = source.open("rb") if isinstance(source, Path) else source
    with io.TextIOWrapper(stream, encoding="latin-1") as text:
        try:
            with upstream_warnings_raised(DeprecationWarning, NO_NUMBER):
                return call_reader(scipy.io.hb_read, text)
        except (ValueError, DeprecationWarning) as error:
            raise UnreadableFile(
                f"cannot read it: {one_line_of(error)}. (SciPy reads assembled, real or integer, "
                "unsymmetric Harwell-Boeing files with blanks between the numbers; for other types "
                "use the matrix's Matrix Market file)"
            ) from error


def read_matlab(source: Source) -> Any:
    """Read the sparse matrix of a MATLAB file, in a field A of a structure too (SuiteSparse)."""
    content = source.read_bytes() if isinstance(source, Path) else source.read()
    if content[124:128] in (b"\x00\x02IM", b"\x02\x00MI"):
        raise UnreadableFile(
            "is of MATLAB's version 7.3, which is not read: save it with "
            "save('name.mat', 'A', '-v7')"
        )
    try:
        return read_npz(io.BytesIO(as_npz(content)))
    except ValueError as error:
        raise UnreadableFile(str(error)) from None


def read_archive(source: Source) -> Any:
    """Read the matrix of a SuiteSparse archive: `name/name.mtx` in `name.tar.gz`."""
    stem: str | None = None
    how: dict[str, Any] = {"fileobj": source}
    if isinstance(source, Path):
        stem, how = source.name.lower().split(".tar")[0].removesuffix(".tgz"), {"name": source}
    with tarfile.open(**how) as archive:
        members = [m for m in archive if m.isfile() and m.name.lower().endswith(".mtx")]
        places = {m: PurePosixPath(m.name.lower()) for m in members}
        named = [m for m, place in places.items() if place.stem in (stem, place.parent.name)]
        chosen = members if len(members) == 1 else named
        if len(chosen) != 1:
            names = ", ".join(member.name for member in members)
            many = f"holds {names}, and which is the matrix cannot be told"
            raise UnreadableFile(f"{many if members else 'holds no .mtx file'}: unpack it")
        stream = archive.extractfile(chosen[0])
        assert stream is not None  # a member that is a file
        return read_matrix_market(io.BytesIO(stream.read()))


def call_reader(reader: Callable[..., Any], source: Any) -> Any:
    """Ask for sparse arrays where the reader has a choice; its default depends on the version."""
    choice = {"spmatrix": False} if "spmatrix" in inspect.signature(reader).parameters else {}
    return reader(source, **choice)
