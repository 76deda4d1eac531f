"""Paragraphs that the docstrings of several public functions share, written once."""

import re
from typing import Any, TypeVar

_Documented = TypeVar("_Documented")

_PARAGRAPHS = """
A : sparse array or matrix, shape (n_rows, n_cols)
    Only its pattern counts, every stored entry of it; `view` leaves out zeros, or copies it to a
    GPU.

A_over_ranks
A : sparse array or matrix, or DistributedCSR, shape (n_rows, n_cols)
    Only its pattern counts, every stored entry of it; `view` leaves out zeros, or copies it to a
    GPU. A `DistributedCSR` is processed by all its ranks, each of which calls this.

A_of_numbers
A : sparse array or matrix, shape (n_rows, n_cols)
    Of real or complex numbers; of these, the absolute value counts. Entries in the same place are
    added up, and zeros, explicit or from such a sum, are no candidates. It is not modified.

matching : Matching, (row_mate, col_mate) or row_mate
    A matching of `A`: the mates of rows and columns, or of the rows alone; -1 means unmatched.

initial_matching
matching : Matching, (row_mate, col_mate) or row_mate, optional
    A matching of `A` to start from. One that is maximum already is kept.

method : str, optional
    The engine that finds the matching: ``"auto"``, or a name from ``engines("exact")``.

workers : int, optional
    Number of threads, -1 for all cores. By default that of `set_workers`, which is 1; a matrix on
    a GPU may use all cores of the host by default, where a search is faster there.

return_info : bool, optional
    Whether to return the stages that ran, too, and the time of each.

info : RunInfo
    Only if `return_info` is set.

start : result of this call, or (row_dual, col_dual), optional
    That of similar values, such as those of the step before, or duals from elsewhere. It makes the
    search shorter, and the result is as exact as without; where several are best it may be another
    one. It is used where the matrix is square and all rows can be matched, unless too many of its
    pairs are no longer best for their rows.

scaling : bool, optional
    Whether to compute the factors of rows and columns.

triangle : {None, "lower", "upper"}, optional
    Which triangle counts, whatever is stored in the other one. By default both are stored, and must
    be equal in magnitude, to the last bit.

A_as_matched
A : sparse array or matrix, shape (n_rows, n_cols)
    The matrix that this is the result of, or another one of its shape; it is not modified.

raises_of_A
Raises
------
TypeError, ValueError
    If `A` is not sparse, of another shape or in other memory, or its arrays are inconsistent.

tolerance : float, optional
    By how much costs (logarithms, weights, or absolute values for a sum) may differ from what the
    duals say. By default a few thousand roundings of the largest of them.

raises_of_patterns
Raises
------
TypeError
    If `A` is not a sparse matrix, or an argument is of the wrong type, or on a GPU where `A` is
    not.
ValueError
    If the index arrays of `A` are inconsistent, a matching is not one of `A`, naming the first
    wrong pair, or another argument is none of the choices.

raises_of_numbers
Raises
------
TypeError
    If `A` is not a sparse matrix of numbers, or an argument is of the wrong type.
ValueError
    If the index arrays of `A` are inconsistent, an entry is NaN or infinite, naming the first, or
    an argument is out of range.

batch
values : array of numbers, shape (k, nnz)
    The values of each matrix, in the order of ``A.data``; CuPy arrays where the matrix is.
b : array of numbers, shape (k, n) or (n,)
    A right-hand side for each, or one for all.
trans : {"N", "T", "H"}, optional
    Solve with the matrices, their transposes, or their conjugate transposes.
singular : {"raise", "nan"}, optional
    What becomes of a matrix without a solution: an error, or NaN for that item.

raises_of_batches
Raises
------
TypeError, ValueError
    If an argument is of the wrong type or shape, or none of the choices.
NotFiniteError, SingularMatrixError
    If a matrix is not finite or singular, unless `singular` is ``"nan"``. It says which items.

raises_of_proofs
Raises
------
TypeError
    If an argument is of the wrong type.
ValueError
    If `A` is refused by what returned the result, or has another shape, or an argument is out of
    range.
"""

_LINE = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)


def _by_name() -> dict[str, str]:
    """Name each paragraph by its parameter, or by a line of its own where it has no parameter."""
    found = {}
    for text in _PARAGRAPHS.strip().split("\n\n"):
        head, _, rest = text.partition("\n")
        name, is_parameter, _ = head.partition(" : ")
        found[name] = text if is_parameter else rest
    return found


_SHARED = _by_name()


def documented(described: _Documented) -> _Documented:
    """Put shared paragraphs in the place of lines such as ``{workers}`` of a docstring."""
    text: Any = described.__doc__
    if text:  # there is none under python -OO
        described.__doc__ = _LINE.sub(_indented, text)
    return described


def _indented(line: re.Match[str]) -> str:
    indent, name = line.groups()
    return indent + _SHARED[name].replace("\n", "\n" + indent)
