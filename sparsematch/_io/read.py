"""Which reader reads a file, and its errors in one sentence."""

import bz2
import contextlib
import gzip
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import scipy.sparse

from sparsematch._base.errors import is_an_interrupt, one_line_of
from sparsematch._input.scipy import check_sparse
from sparsematch._io.errors import MissingFile, UnreadableFile
from sparsematch._io.formats import FORMATS, Reader, read_archive, reader_of, sniff

_Opener = Callable[..., Any]
_OPENERS: dict[str, _Opener] = {".gz": gzip.open, ".bz2": bz2.open}
_PACKED = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress}


def read_matrix(path: str | os.PathLike[str]) -> Any:
    """Read a sparse matrix from a file whose extension says what it is, as in `FORMATS`."""
    # It is CSR or CSC, as SciPy reads it, its structure checked.
    path = Path(path)
    check_is_file(path)
    reader, opener = _reader_of(path)
    unpacked = contextlib.nullcontext(path)
    with in_one_sentence(str(path)), opener(path, "rb") if opener else unpacked as source:
        return _as_compressed(reader(source))


def read_stream(stream: BinaryIO) -> Any:
    """Read a sparse matrix from a stream, whose first bytes say what it is; see `read_matrix`."""
    with in_one_sentence("standard input"):
        text = stream.read()
        for magic, unpack in _PACKED.items():
            if text.startswith(magic):
                text = unpack(text)
        if not text:
            raise UnreadableFile("is empty")
        return _as_compressed(sniff(text[:512])(io.BytesIO(text)))


def read_names(path: str | os.PathLike[str], size: int, noun: str, what: str = "name") -> list[str]:
    """Read the names of all rows or all columns, one per line, blanks around them removed."""
    # There must be `size` of them; `noun` says in messages what has them, in the plural, and `what`
    # what they are. Empty lines are empty names, but those left over at the end do not count.
    path = Path(path)
    check_is_file(path)
    with in_one_sentence(str(path)):
        names = [name.strip() for name in path.read_text(encoding="utf-8-sig").splitlines()]
        while len(names) > size and not names[-1]:
            names.pop()
        if len(names) != size:
            held = f"{len(names):,} {what}{'s' * (len(names) != 1)}"
            raise UnreadableFile(
                f"has {held}, but the matrix has {size:,} {noun}: there must be one a line for each"
            )
    return names


def check_is_file(path: Path) -> None:
    """Raise UnreadableFile if there is nothing to be read."""
    if path.is_dir():
        raise UnreadableFile(f"{path}: is a directory, not a file; give the files in it by name")
    if not path.exists():
        raise MissingFile(f"{path}: there is no such file")
    if path.is_file() and path.stat().st_size == 0:
        raise UnreadableFile(f"{path}: the file is empty")


@contextlib.contextmanager
def in_one_sentence(name: str) -> Iterator[None]:
    """Turn every error into an `UnreadableFile` that names the file."""
    try:
        yield
    except PermissionError:
        raise UnreadableFile(f"{name}: no permission to read the file") from None
    except MemoryError:
        text = f"{name}: the sizes that the file states do not fit in memory"
        raise UnreadableFile(text) from None
    except UnreadableFile as error:
        raise UnreadableFile(f"{name}: {error}") from None
    # SciPy's readers raise many types on malformed text: none may reach the user raw
    except Exception as error:
        if is_an_interrupt(error):
            raise KeyboardInterrupt from None
        raise UnreadableFile(f"{name}: cannot read it: {one_line_of(error)}") from error


def _reader_of(path: Path) -> tuple[Reader, _Opener | None]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if "".join(suffixes).endswith((".tgz", ".tar", ".tar.gz", ".tar.bz2")):
        return read_archive, None
    opener = _OPENERS.get(suffixes[-1]) if suffixes else None
    kind = "".join(suffixes[-2:-1] if opener else suffixes[-1:])
    reader = reader_of(kind)
    if reader is None or (opener and kind in (".npz", ".mat")):
        raise UnreadableFile(f"{path}: unrecognised file extension; a matrix file is {FORMATS}")
    return reader, opener


def _as_compressed(matrix: Any) -> Any:
    """Convert to CSR unless it is compressed; a dense array has an entry where it is not zero."""
    if len(matrix.shape) != 2:
        raise UnreadableFile(f"holds an array of shape {matrix.shape}, not a matrix")
    if matrix.dtype.kind not in "biufc":
        raise UnreadableFile(f"holds values of the type {matrix.dtype}, not numbers")
    if scipy.sparse.issparse(matrix):
        matrix = check_sparse(matrix, "the matrix")
    if not scipy.sparse.issparse(matrix) or matrix.format not in ("csr", "csc"):
        matrix = scipy.sparse.csr_array(matrix)
    return matrix
