"""A sparse matrix in blocks of rows, one block per rank of an MPI communicator.

This is the layout of PETSc's MATMPIAIJ and of SuperLU_DIST's SLU_NR_loc: each rank has consecutive
rows, whole, in the order of the ranks, with column numbers of the whole matrix. A rank may have no
row. Columns are owned by ranks too, as equal blocks, for what is known of a column: its mate, its
label. Nothing of the size of the whole matrix is on one rank.
"""

import copy
import itertools
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from sparsematch._base.above import above
from sparsematch._base.arrays import Array, IndexArray, namespace, on_gpu, refuse_other_gpu
from sparsematch._base.compressed import INT32_MAX, check_compressed
from sparsematch._base.errors import check_count, wrong_type
from sparsematch._types.over_ranks import agreement

_constructions = itertools.count(1)
#: Where arrays are, by whether they are on a GPU, as messages have it.
_WHERE = "in host memory", "on a GPU"


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class DistributedCSR:
    """A sparse matrix in blocks of rows, one block per rank.

    All public functions that take one are collective: every rank of `comm` calls them, with its own
    part of the same matrix. The constructor is collective too. Arrays are not copied where their
    type fits; do not change them afterwards.

    Arrays of CuPy stay on the GPU of each rank, and so do the results: several GPUs then work
    together, one for each rank. This is *experimental*.

    Parameters
    ----------
    comm : mpi4py communicator or None
        Whose ranks share the matrix, such as ``MPI.COMM_WORLD``; None: one process, without MPI.
    indptr : array of integers, shape (own rows + 1,)
        Where the entries of each own row begin, from 0 on. In host memory on all ranks, or on the
        current GPU of each.
    indices : array of integers
        The columns of the entries in the whole matrix. Unsorted and duplicate indices are legal.
    first_row : int
        The number of the first own row within the whole matrix.
    shape : (int, int)
        Rows and columns of the whole matrix.
    values : array, optional
        One for each of `indices`.

    Attributes
    ----------
    comm, indptr, indices, values
        As given, indptr in int64; indices in int32 where the numbers of all rows and columns fit.
        Mates have the same type.
    first_row, first_col : int
        The first own row, and the first own column.
    row_starts, col_starts : ndarray of int64, shape (ranks + 1,)
        Where the rows and columns of each rank begin.
    n_rows, n_cols, nnz : int
        The shape and the stored entries of the whole matrix; `local_nnz` counts the own ones.
    backend : str
        Where the arrays live: ``"mpi"`` for host memory, ``"nccl"`` for the GPUs of the ranks.
    largest_nnz : int
        The largest number of entries that a rank has.
    serial : int
        The number of this matrix, the same on all ranks, by which they notice that one of them
        passes another one.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong type, a block inconsistent, or an index out of range; the
        ranks disagree on the shape, or on the type of the values or where they are; or their rows
        are not consecutive. On all ranks, with the message of the first that found something.

    See Also
    --------
    read_distributed : From a file, each rank its part.
    maximum_transversal, structural_rank : What can be done with it.

    Examples
    --------
    On a single process; with MPI, `comm` is a communicator, and each rank has its own rows:

    >>> from sparsematch import DistributedCSR, structural_rank
    >>> A = DistributedCSR(None, [0, 1, 3], [1, 0, 1], first_row=0, shape=(2, 2))
    >>> A
    DistributedCSR(2x2, 3 entries, rows 0:2 on rank 0 of 1)
    >>> structural_rank(A)
    2
    """

    comm: Any
    n_rows: int
    n_cols: int
    indptr: IndexArray
    indices: IndexArray
    values: Array | None
    backend: str
    first_row: int
    first_col: int
    row_starts: IndexArray
    col_starts: IndexArray
    nnz: int
    largest_nnz: int
    serial: int

    def __init__(
        self,
        comm: Any,
        indptr: Any,
        indices: Any,
        first_row: int,
        shape: tuple[int, int],
        values: Any = None,
    ) -> None:
        agreement.check_communicator(comm)
        parts: list[Any] = []

        def check() -> _BlockFields:
            whole = _read_shape(shape)
            check_count("first_row", first_row)
            parts[:] = _read_block(indptr, indices, values, *whole)
            local, _, given = parts
            kind = "none" if given is None else str(given.dtype)
            sizes = int(first_row), local.size - 1, int(local[-1])
            return _BlockFields(whole, *sizes, kind, _WHERE[on_gpu(local)], next(_constructions))

        blocks = agreement.collect(comm, "DistributedCSR", check)
        _check_together(blocks)
        ends = [block.first_row + block.n_rows for block in blocks]
        n_rows, n_cols = blocks[0].shape
        col_starts = balanced(n_cols, len(blocks))
        backend = "nccl" if on_gpu(parts[0]) else "mpi"
        firsts = int(first_row), int(col_starts[agreement.rank_of(comm)])
        starts = np.array([0, *ends], np.int64), col_starts
        sizes = [block.nnz for block in blocks]
        totals = sum(sizes), max(sizes), blocks[0].serial
        fields = comm, n_rows, n_cols, *parts, backend, *firsts, *starts, *totals
        for name, value in zip(self.__dataclass_fields__, fields, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def from_local(cls, comm: Any, A: Any, n_cols: int | None = None) -> "DistributedCSR":
        """Make one of a SciPy matrix per rank: the own rows, with all columns. Collective.

        Parameters
        ----------
        comm : mpi4py communicator or None
            Whose ranks share the matrix.
        A : sparse array or matrix, shape (own rows, n_cols)
            The rows of this rank, of SciPy or of cupyx.scipy.sparse. Those of rank 0 come first,
            then those of rank 1, and so on. CSR is not copied.
        n_cols : int, optional
            Columns of the whole matrix; by default those of `A`.

        Returns
        -------
        DistributedCSR
            With the values of `A`.

        Raises
        ------
        TypeError, ValueError
            As the constructor, on all ranks.
        """
        agreement.check_communicator(comm)
        found: list[Any] = []

        def convert() -> tuple[int, int]:
            block = above("checked")(A, "A").tocsr()
            found.append(block)
            return block.shape[0], block.shape[1] if n_cols is None else n_cols

        sizes = agreement.collect(comm, "DistributedCSR.from_local", convert)
        first = [0, *np.cumsum([n_rows for n_rows, _ in sizes]).tolist()]
        (block,), rank = found, agreement.rank_of(comm)
        nnz = int(block.indptr[-1])
        arrays = block.indptr, block.indices[:nnz]
        return cls(comm, *arrays, first[rank], (first[-1], sizes[rank][1]), block.data[:nnz])

    @classmethod
    def from_petsc(cls, mat: Any) -> "DistributedCSR":
        """Make one of a matrix of petsc4py, or of an object with the same methods. Collective.

        It is to be assembled, of type AIJ. Used are ``comm``, ``getSize``, ``getOwnershipRange``
        and ``getValuesCSR``; TypeError if it has not these, else errors are as the constructor's.
        """
        needed = "getSize", "getOwnershipRange", "getValuesCSR", "comm"
        if missing := [name for name in needed if not hasattr(mat, name)]:
            raise wrong_type("mat", mat, f"a matrix of petsc4py, with {', '.join(missing)}")
        comm = mat.comm.tompi4py() if hasattr(mat.comm, "tompi4py") else mat.comm
        indptr, indices, values = mat.getValuesCSR()
        return cls(comm, indptr, indices, mat.getOwnershipRange()[0], mat.getSize(), values)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the whole matrix."""
        return self.n_rows, self.n_cols

    @property
    def rank(self) -> int:
        """The number of this process."""
        return agreement.rank_of(self.comm)

    @property
    def n_ranks(self) -> int:
        """How many share the matrix."""
        return self.row_starts.size - 1

    @property
    def own_rows(self) -> range:
        """The rows of this rank."""
        return range(self.first_row, self.first_row + self.indptr.size - 1)

    @property
    def own_cols(self) -> range:
        """The columns of this rank."""
        return range(self.first_col, int(self.col_starts[self.rank + 1]))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the indices, hence of the mates."""
        return self.indices.dtype

    @property
    def local_nnz(self) -> int:
        """Stored entries of the own rows."""
        return int(self.indptr[-1])

    def to_local(self) -> Any:
        """Return the own rows as a SciPy matrix in host memory, shape (own rows, n_cols).

        Its values are ones where there are none.
        """
        A = self.get()
        values = np.ones(A.local_nnz) if A.values is None else A.values
        return sp.csr_array((values, A.indices, A.indptr), shape=(len(A.own_rows), A.n_cols))

    def get(self) -> "DistributedCSR":
        """Return the matrix in host memory: itself, or a copy of one on GPUs. Not collective."""
        if self.backend != "nccl":
            return self
        here = copy.copy(self)
        for name in ("indptr", "indices", "values"):
            array: Any = getattr(self, name)
            object.__setattr__(here, name, None if array is None else array.get())
        object.__setattr__(here, "backend", "mpi")
        return here

    def __repr__(self) -> str:
        own = self.own_rows
        rows = f"rows {own.start}:{own.stop} on rank {self.rank} of {self.n_ranks}"
        return f"DistributedCSR({self.n_rows}x{self.n_cols}, {self.nnz} entries, {rows})"


#: A matrix over ranks, in overloads beside `Local`.
OverRanks = TypeVar("OverRanks", bound=DistributedCSR)


def balanced(n: int, n_ranks: int) -> IndexArray:
    """Return where each of `n_ranks` nearly equal blocks of ``range(n)`` begins, and the end."""
    return np.array([n * rank // n_ranks for rank in range(n_ranks + 1)], np.int64)


def agreed(A: DistributedCSR, call: str, **same: Any) -> AbstractContextManager[None]:
    """Raise on all ranks what one finds wrong within the block. Collective."""
    # All ranks must be in the same call, with the same matrix, and with the same values of `same`.
    return agreement.agreeing(A.comm, call_on(A, call), **same)


def call_on(A: DistributedCSR, call: str) -> str:
    """Return how ranks that agree on a call on a matrix name it."""
    return f"{call} on matrix {A.serial} ({A.n_rows}x{A.n_cols})"


class _BlockFields(NamedTuple):
    """What the ranks have to agree on."""

    shape: tuple[int, int]
    first_row: int
    n_rows: int
    nnz: int
    values: str
    memory: str
    serial: int


#: Fields that all ranks have alike: what they are, what must be, what is raised where it is not.
_SAME = (
    ("memory", "the arrays are", "they must be in the same kind of memory", TypeError),
    ("shape", "shape is", "it is that of the whole matrix", ValueError),
    ("values", "values are", "they must have one type", TypeError),
)


def _read_shape(shape: Any) -> tuple[int, int]:
    """Return the rows and columns of the whole matrix."""
    if not isinstance(shape, tuple | list) or len(shape) != 2:
        raise wrong_type("shape", shape, "a pair (rows, columns)")
    for name, size in zip(("shape[0]", "shape[1]"), shape, strict=True):
        check_count(name, size)
    return int(shape[0]), int(shape[1])


def _read_block(
    indptr: Any, indices: Any, values: Any, n_rows: int, n_cols: int
) -> tuple[IndexArray, IndexArray, Array | None]:
    """Return the arrays of a rank in their types, checked where they are."""
    gpu = on_gpu(indptr)
    indptr, indices = _integers(indptr, "indptr", gpu), _integers(indices, "indices", gpu)
    xp = namespace(indptr)
    if not indptr.size:
        raise ValueError("indptr is empty, but begins with 0 where there is no row")
    indptr = xp.ascontiguousarray(indptr.astype(np.int64, copy=False))
    nnz = int(indptr[-1])
    given = indices if indices.dtype == np.int32 else indices.astype(np.int64, copy=False)
    check_compressed(indptr, given, (indptr.size - 1, n_cols), "A", major="own row")
    if indices.size != nnz:
        raise ValueError(f"indices has {indices.size} elements, but indptr ends with {nnz}")
    if values is not None:
        _check_place(values, "values", gpu)
        values = xp.asarray(values)
        if values.shape != (nnz,):
            raise ValueError(f"values has shape {values.shape}, but there are {nnz} entries")
    dtype = np.dtype(np.int32 if max(n_rows, n_cols) <= INT32_MAX else np.int64)
    return indptr, xp.ascontiguousarray(indices.astype(dtype, copy=False)), values


def _check_place(array: Any, name: str, gpu: bool) -> None:
    """Raise unless an array is where `indptr` is, which is on the current GPU or on none."""
    if on_gpu(array) != gpu:
        raise TypeError(f"{name} is {_WHERE[not gpu]}, but indptr is {_WHERE[gpu]}")
    if gpu:
        refuse_other_gpu(array, name)


def _integers(array: Any, name: str, gpu: bool) -> Array:
    _check_place(array, name, gpu)
    array = array if gpu else np.asarray(array)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must hold integers, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    return array


def _check_together(blocks: list[_BlockFields]) -> None:
    """Raise, on all ranks alike, unless the blocks make up one matrix."""
    end = 0
    for rank, block in enumerate(blocks):
        for name, what, rule, error in _SAME:
            first, there = getattr(blocks[0], name), getattr(block, name)
            if there != first:
                raise error(f"{what} {first} on rank 0, but {there} on rank {rank}: {rule}")
        if block.first_row != end:
            what = f"rows {end}:{block.first_row} are on no rank"
            if block.first_row < end:
                what = f"rows {block.first_row}:{end} are on rank {rank - 1} too"
            raise ValueError(
                f"rank {rank} begins with row {block.first_row}, but the ranks before it end with "
                f"row {end}: {what}"
            )
        end += block.n_rows
    if end != blocks[0].shape[0]:
        raise ValueError(f"the ranks have {end} rows, but shape is {blocks[0].shape}")
