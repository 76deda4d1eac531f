"""Matrix files: Matrix Market, SciPy ``.npz`` and Harwell-Boeing, all through SciPy's own readers.

`read_matrix` answers a CSR or CSC matrix whose structure has been checked, or raises
`UnreadableFile` with one sentence that a person can act on. `read_names` reads what its rows or
columns are called. Files of edges are another matter (`sparsematch._types.edge_file`).
"""

import bz2
import gzip
import inspect
import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scipy.io
import scipy.sparse

__all__ = ["FORMATS", "UnreadableFile", "read_matrix", "read_names"]

FORMATS = (
    "Matrix Market (.mtx, .mm), SciPy (.npz), Harwell-Boeing and Rutherford-Boeing (.hb, .rb, .rua "
    "and the like); "
    "the text formats also compressed (.gz, .bz2)"
)

_Opener = Callable[..., Any]
_OPENERS: dict[str, _Opener] = {".gz": gzip.open, ".bz2": bz2.open}
_HARWELL_BOEING = re.compile(r"\.(hb|rb|[rcpi][suhzr][ae])")  # .rua: Real, Unsymmetric, Assembled


class UnreadableFile(Exception):
    """A matrix file is missing, unrecognised or malformed; the message says which."""


def read_matrix(path: str | os.PathLike[str]) -> Any:
    """Read a sparse matrix from a file.

    Parameters
    ----------
    path : str or path-like
        The file extension says what the file is: ``.mtx`` or ``.mm`` (Matrix Market), ``.npz``
        (`scipy.sparse.save_npz`), ``.hb``, ``.rb`` or a Harwell-Boeing type such as ``.rua``. The
        text formats may be compressed: ``.mtx.gz``, ``.rua.bz2``.

    Returns
    -------
    csr or csc matrix or array
        As SciPy reads it (``.npz`` and Harwell-Boeing keep their format, all else becomes CSR),
        structure checked.

    Raises
    ------
    UnreadableFile
        The file is missing, has an unrecognised extension, or is malformed.

    Examples
    --------
    >>> from sparsematch._io import read_matrix
    >>> read_matrix("absent.mtx")
    Traceback (most recent call last):
    ...
    sparsematch._io.UnreadableFile: absent.mtx: there is no such file
    """
    path = Path(path)
    reader, opener = _reader_of(path)
    _check_is_file(path)
    try:
        return _as_compressed(reader(path, opener))
    except PermissionError:
        raise UnreadableFile(f"{path}: no permission to read the file") from None
    except MemoryError:
        raise UnreadableFile(
            f"{path}: the sizes that the file states do not fit in memory"
        ) from None
    except UnreadableFile as error:
        raise UnreadableFile(f"{path}: {error}") from None
    # SciPy's readers raise many types on malformed text: none may reach the user raw
    except Exception as error:
        if _is_an_interrupt(error):
            raise KeyboardInterrupt from None
        raise UnreadableFile(f"{path}: {_reason(error)}") from error


def read_names(path: str | os.PathLike[str], size: int, noun: str) -> list[str]:
    """Read the names of all rows or all columns, one per line, blanks around them removed.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8.
    size : int
        How many names there must be.
    noun : str
        What has these names, in the plural.

    Returns
    -------
    list of str
        Empty lines are empty names, but those left over at the end do not count.

    Raises
    ------
    UnreadableFile
        The file is missing, is no text, or has another number of names.
    """
    path = Path(path)
    _check_is_file(path)
    try:
        names = [name.strip() for name in path.read_text(encoding="utf-8-sig").splitlines()]
    except PermissionError:
        raise UnreadableFile(f"{path}: no permission to read the file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path}: {_reason(error)}") from None
    while len(names) > size and not names[-1]:
        names.pop()
    if len(names) != size:
        raise UnreadableFile(f"{path}: has {len(names)} names, but the matrix has {size} {noun}")
    return names


def _reader_of(path: Path) -> tuple[Callable[[Path, _Opener | None], Any], _Opener | None]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    opener = _OPENERS.get(suffixes[-1]) if suffixes else None
    kind = "".join(suffixes[-2:-1] if opener else suffixes[-1:])
    if kind in (".mtx", ".mm"):
        return _read_matrix_market, opener
    if _HARWELL_BOEING.fullmatch(kind):
        return _read_harwell_boeing, opener
    if kind == ".npz" and opener is None:
        return _read_npz, None
    raise UnreadableFile(f"{path}: unrecognised file extension; a matrix file is {FORMATS}")


def _is_an_interrupt(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is behind an error: an interrupted import fails with another one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _check_is_file(path: Path) -> None:
    if path.is_dir():
        raise UnreadableFile(f"{path}: is a directory, not a file")
    if not path.exists():
        raise UnreadableFile(f"{path}: there is no such file")
    if path.is_file() and path.stat().st_size == 0:
        raise UnreadableFile(f"{path}: the file is empty")


def _call_reader(reader: Callable[..., Any], source: Any) -> Any:
    """Read as sparse arrays where the reader has a choice; its default depends on the version."""
    choice = {"spmatrix": False} if "spmatrix" in inspect.signature(reader).parameters else {}
    return reader(source, **choice)


def _read_matrix_market(path: Path, opener: _Opener | None) -> Any:
    if opener is None:
        return _call_reader(scipy.io.mmread, path)
    with opener(path, "rb") as stream:
        return _call_reader(scipy.io.mmread, stream)


def _read_harwell_boeing(path: Path, opener: _Opener | None) -> Any:
    with (opener or open)(path, "rt", encoding="latin-1") as stream, warnings.catch_warnings():
        # how numpy reports numbers that it could not parse
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return _call_reader(scipy.io.hb_read, stream)
        except (ValueError, DeprecationWarning) as error:
            raise UnreadableFile(
                f"{_reason(error)}. (SciPy reads assembled, real or integer, unsymmetric "
                "Harwell-Boeing files with "
                "blanks between the numbers; for other types use the matrix's Matrix Market file)"
            ) from error


def _read_npz(path: Path, _opener: _Opener | None) -> Any:
    try:
        return scipy.sparse.load_npz(path)
    except (KeyError, TypeError):
        raise UnreadableFile("is not a file written by scipy.sparse.save_npz") from None


def _as_compressed(matrix: Any) -> Any:
    """Convert to CSR unless it is compressed; a dense array has an entry where it is not zero."""
    if len(matrix.shape) != 2:
        raise UnreadableFile(f"holds an array of shape {matrix.shape}, not a matrix")
    if not scipy.sparse.issparse(matrix) or matrix.format not in ("csr", "csc"):
        matrix = scipy.sparse.csr_array(matrix)
    matrix.check_format(full_check=True)
    return matrix


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())  # one line, whatever the reader said
    return f"cannot read it: {text or type(error).__name__}"
