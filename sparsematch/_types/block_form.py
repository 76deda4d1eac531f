"""The block triangular form of a matrix: two permutations and where the blocks begin."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sparsematch._base.above import above
from sparsematch._base.arrays import UNMATCHED, IndexArray, IndexPair, are_equal, namespace, on_gpu
from sparsematch._base.docstrings import documented
from sparsematch._types import conventions
from sparsematch._types.bipartite import entry_places, list_of_each
from sparsematch._types.html import MOST_BOXES, picture_page
from sparsematch._types.matching import Matching
from sparsematch._types.mates import Ranked, frozen
from sparsematch._types.sparse_like import Sparse

#: Of blocks in notebooks: with more rows, as many, fewer than columns.
_COLOURS = {1: "#c85200", 0: "#5b6270", -1: "#0072b2"}


class Part(NamedTuple):
    """One of the three parts of the coarse decomposition.

    Attributes
    ----------
    rows, cols : ndarray of int32 or int64
        Rows and columns of the user's matrix, in the order of the block form.
    """

    rows: IndexArray
    cols: IndexArray

    def __repr__(self) -> str:
        return f"Part({self.rows.size}x{self.cols.size})"


class Blocks(Ranked):
    """What block forms have in common, of one process and over ranks."""

    __slots__ = ()

    n_blocks: Any

    @property
    def is_reducible(self) -> bool:
        """Whether there is more than one block."""
        return bool(self.n_blocks > 1)

    def __repr__(self) -> str:
        n_rows, n_cols = self.shape
        blocks = "1 block" if self.n_blocks == 1 else f"{self.n_blocks} blocks"
        rank = f"structural rank {self.structural_rank}"
        return f"{type(self).__name__}({n_rows}x{n_cols}, {blocks}, {rank})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlockForm(Blocks):
    """A block upper triangular form: the Dulmage-Mendelsohn decomposition, coarse and fine.

    With ``p, q = form.row_perm, form.col_perm`` the permuted matrix ``C = A[p][:, q]`` is::

        [ A11  A12  A13  A14 ]      [A11 A12]   horizontal part: more columns than rows
        [  0    0   A23  A24 ]      A23         square part, block upper triangular
        [  0    0    0   A34 ]      [A34; A44]  vertical part: more rows than columns
        [  0    0    0   A44 ]

    The columns of A11 are the unmatched columns, the rows of A44 the unmatched rows; A12, A23 and
    A34 are square, with matched entries all along their diagonals. The fields are those of MATLAB's
    ``[p, q, r, s, cc, rr] = dmperm(A)``, counted from 0, and unpack in that order.

    Attributes
    ----------
    row_perm, col_perm : ndarray, shapes (n_rows,), (n_cols,)
        The permutations p and q. All arrays have the index type of the matrix, int32 or int64, are
        where the matrix is, and read-only in host memory.
    row_blocks, col_blocks : ndarray, shape (n_blocks + 1,)
        The boundaries r and s: fine block k is ``C[r[k]:r[k + 1], s[k]:s[k + 1]]``. The horizontal
        part, if there is one, is the first block; the vertical part, if there is one, the last.
    coarse_cols, coarse_rows : ndarray, shape (5,)
        The boundaries cc and rr of the four block columns and block rows above. ``rr[3]`` is the
        structural rank.
    matching : Matching
        The maximum transversal on which the form is built.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sparsematch import block_triangular_form
    >>> A = csr_array([[1, 1, 1], [0, 1, 0], [1, 1, 1]])
    >>> form = block_triangular_form(A)
    >>> form
    BlockForm(3x3, 2 blocks, structural rank 3)
    >>> p, q, r, s, cc, rr = form
    >>> r.tolist()
    [0, 2, 3]
    """

    row_perm: IndexArray
    col_perm: IndexArray
    row_blocks: IndexArray
    col_blocks: IndexArray
    coarse_cols: IndexArray
    coarse_rows: IndexArray
    matching: Matching

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.row_perm.size, self.col_perm.size

    @property
    def n_blocks(self) -> int:
        """Number of fine blocks, a horizontal and a vertical part being one each."""
        return self.row_blocks.size - 1

    @property
    def structural_rank(self) -> int:
        """Cardinality of the matching."""
        return int(self.coarse_rows[3])

    @property
    def block_sizes(self) -> IndexArray:
        """Rows and columns of each fine block, shape (n_blocks, 2)."""
        xp = namespace(self.row_blocks)
        return xp.stack([xp.diff(self.row_blocks), xp.diff(self.col_blocks)], axis=1)

    @property
    def horizontal(self) -> Part:
        """The under-determined part: rows of A11 and A12, columns of A11 and A12."""
        return self._part(0, 1, 0, 2)

    @property
    def square(self) -> Part:
        """The well-determined part: rows and columns of A23."""
        return self._part(1, 2, 2, 3)

    @property
    def vertical(self) -> Part:
        """The over-determined part: rows of A34 and A44, columns of A34."""
        return self._part(2, 4, 3, 4)

    @property
    def block_labels(self) -> IndexPair:
        """The number of the fine block that each row, and each column, is in."""
        rows = block_of_each(self.row_perm, self.row_blocks)
        return rows, block_of_each(self.col_perm, self.col_blocks)

    def equations(self, k: int) -> IndexArray:
        """Return the rows of fine block `k`: a view; IndexError if there is none."""
        return self._members(self.row_perm, self.row_blocks, k)

    def unknowns(self, k: int) -> IndexArray:
        """Return the columns of fine block `k`: a view; IndexError if there is none."""
        return self._members(self.col_perm, self.col_blocks, k)

    @documented
    def needs(self, A: Sparse) -> Any:
        """Return which blocks need the solutions of which: the graph between the fine blocks.

        Block k can be solved once all in row k are: the last block first. What a block that cannot
        be solved takes with it are its descendants in the transposed graph.

        Parameters
        ----------
        {A_as_matched}

        Returns
        -------
        sparse array or matrix of bool, shape (n_blocks, n_blocks)
            CSR, strictly upper triangular: entry (k, m) is there if rows of block k have entries in
            columns of block m. Where `A` is.

        {raises_of_A}
            Also if `A` has an entry below the diagonal blocks.

        Examples
        --------
        The first and the third of four blocks fail with the third, which the first one needs:

        >>> from scipy.sparse import csr_array
        >>> from scipy.sparse.csgraph import breadth_first_order
        >>> from sparsematch import block_triangular_form
        >>> A = csr_array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
        >>> form = block_triangular_form(A)
        >>> needs = form.needs(A)
        >>> failing = int(form.block_labels[0][2])  # the block of equation 2
        >>> failed = breadth_first_order(needs.T, failing, return_predecessors=False)
        >>> sorted(int(i) for k in failed for i in form.equations(k))
        [0, 2]
        """
        given = above("checked_like")(A, self.shape, self.row_perm, "the block form")
        rows, cols = entry_places(above("read_entries")(given).graph)
        xp, n, (row_of, col_of) = namespace(self.row_perm), self.n_blocks, self.block_labels
        source, target = row_of[rows], col_of[cols]
        if xp.flatnonzero(source > target).size:
            raise ValueError("A has an entry below the diagonal blocks: the form is of another one")
        keys = xp.unique((source.astype(xp.int64) * n + target)[source < target])
        indptr = xp.searchsorted(keys, xp.arange(n + 1) * n)
        arrays = indptr, keys % max(n, 1), xp.ones(keys.size, bool)
        return above("compressed_matrix")("csr", (n, n), *arrays)

    @documented
    def permute(self, A: Sparse) -> Sparse:
        """Return ``A[p][:, q]`` in the format of `A`.

        Parameters
        ----------
        {A_as_matched}

        Returns
        -------
        sparse array or matrix, shape (n_rows, n_cols)
            A new matrix; with blocks of one entry if the format is BSR.

        {raises_of_A}
        """
        given = above("checked_like")(A, self.shape, self.row_perm, "the block form")
        compressed = given if given.format == "csc" else given.tocsr()
        permuted = compressed[self.row_perm][:, self.col_perm]
        # Larger blocks would be filled up with entries that are not in the matrix.
        return permuted.tobsr((1, 1)) if given.format == "bsr" else permuted.asformat(given.format)

    def to_pyomo(self) -> tuple[conventions.RowPartition, conventions.ColPartition]:
        """Return what Pyomo's ``dulmage_mendelsohn`` returns of a matrix.

        Named tuples of lists, for the rows and for the columns, with Pyomo's fields in its orders.
        Lists of the same name pair up to the matching, except those of the unmatched.
        """
        p, q, _, _, cc, rr = self
        under, square, over, free = (p[rr[k] : rr[k + 1]].tolist() for k in range(4))
        rows = conventions.RowPartition(free, over, under, square)
        free, under, square, over = (q[cc[k] : cc[k + 1]].tolist() for k in range(4))
        return rows, conventions.ColPartition(free, under, over, square)

    def to_pyomo_blocks(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return what Pyomo's ``block_triangularize`` does: a block **lower** triangular form.

        The rows and the columns of each block, the last block first. Of a matrix that is not
        square, or singular, Pyomo has no form, and raises ValueError or RuntimeError, as this does.
        """
        n_rows, n_cols = self.shape
        what = f"the matrix is {n_rows} x {n_cols} of structural rank {self.structural_rank}"
        if n_rows != n_cols:
            raise ValueError(f"{what}, but Pyomo's block form needs a square one")
        if self.structural_rank < n_rows:
            raise RuntimeError(f"{what}, but Pyomo's block form needs a perfect matching")
        bounds = self.row_blocks.tolist()
        blocks = [slice(bounds[k], bounds[k + 1]) for k in reversed(range(self.n_blocks))]
        rows, cols = ([p[b].tolist() for b in blocks] for p in (self.row_perm, self.col_perm))
        return rows, cols

    def to_matlab(self) -> tuple[IndexArray, ...]:
        """Return the arrays of MATLAB's ``[p, q, r, s, cc, rr] = dmperm(A)``, counted from 1."""
        return tuple(array + 1 for array in self)

    def to_casadi(self) -> tuple[Any, ...]:
        """Return what ``Sparsity.btf()`` of CasADi does: a block **lower** triangular form.

        It is this form in reverse order: the number of blocks, and as lists ``rowperm``,
        ``colperm``, ``rowblock``, ``colblock``, ``coarse_rowblock``, ``coarse_colblock``.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> from sparsematch import block_triangular_form
        >>> A = csr_array([[1, 1, 0], [0, 1, 1], [0, 1, 1]])
        >>> n_blocks, p, q, r, s, *coarse = block_triangular_form(A).to_casadi()
        >>> A.toarray()[p][:, q]
        array([[1, 1, 0],
               [1, 1, 0],
               [0, 1, 1]])
        """
        orders = (order[::-1].tolist() for order in (self.row_perm, self.col_perm))
        bounds = self.row_blocks, self.col_blocks, self.coarse_rows, self.coarse_cols
        sides = zip(2 * self.shape, bounds, strict=True)
        return self.n_blocks, *orders, *((n - ends[::-1]).tolist() for n, ends in sides)

    @classmethod
    def from_matlab(cls, p: Any, q: Any, r: Any, s: Any, cc: Any, rr: Any) -> "BlockForm":
        """Read the six arrays of MATLAB's ``dmperm``, counted from 1.

        Doubles with integer values will do, as rows or as columns. Indices are int64 then. Raises
        TypeError or ValueError if `p` or `q` is no permutation, or the boundaries do not fit.
        """
        p, q = conventions.permutation(p, "p"), conventions.permutation(q, "q")
        r, s = conventions.boundaries(r, "r", p.size), conventions.boundaries(s, "s", q.size)
        cc = conventions.boundaries(cc, "cc", q.size, 5)
        rr = conventions.boundaries(rr, "rr", p.size, 5)
        if r.size != s.size:
            raise ValueError(f"r has {r.size} elements and s {s.size}, but there must be as many")
        rank, other = int(rr[3]), q.size - int(cc[1])
        if rank != other:
            raise ValueError(f"rr tells a structural rank of {rank}, but cc one of {other}")
        return frozen(cls(p, q, r, s, cc, rr, Matching(*_mates(p, q, rank))))

    def _repr_html_(self) -> str:
        tops, lefts = (_on_host(ends).tolist() for ends in (self.row_blocks, self.col_blocks))
        sizes = _on_host(self.block_sizes)
        boxes = [
            (tops[k], lefts[k], *sizes[k].tolist(), _COLOURS[np.sign(sizes[k, 0] - sizes[k, 1])])
            for k in np.argsort(-sizes.max(axis=1, initial=0))[:MOST_BOXES].tolist()
        ]
        return picture_page(self.shape, self.structural_rank, boxes, f"{self.n_blocks:,} blocks")

    def __iter__(self) -> Iterator[IndexArray]:
        """Unpack in the order of MATLAB's dmperm: p, q, r, s, cc, rr."""
        yield from (self.row_perm, self.col_perm, self.row_blocks, self.col_blocks)
        yield from (self.coarse_cols, self.coarse_rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockForm) or on_gpu(other.row_perm) != on_gpu(self.row_perm):
            return NotImplemented
        return self.matching == other.matching and all(map(are_equal, self, other))

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def _members(self, perm: IndexArray, ends: IndexArray, k: int) -> IndexArray:
        k = range(self.n_blocks)[k]
        return perm[int(ends[k]) : int(ends[k + 1])]

    def _part(self, top: int, bottom: int, left: int, right: int) -> Part:
        rr, cc = self.coarse_rows.tolist(), self.coarse_cols.tolist()
        return Part(self.row_perm[rr[top] : rr[bottom]], self.col_perm[cc[left] : cc[right]])


def square_form(row_perm: IndexArray, col_perm: IndexArray, row_blocks: IndexArray) -> BlockForm:
    """Put together the block form of a square matrix whose rows and columns are all matched."""
    n, dtype = row_perm.size, row_perm.dtype
    coarse = np.array([0, 0, n, n, n], dtype), np.array([0, 0, 0, n, n], dtype)
    arrays = row_perm, col_perm, row_blocks, row_blocks.copy(), coarse[1], coarse[0]
    return frozen(BlockForm(*arrays, Matching(*_mates(row_perm, col_perm, n))))


def block_of_each(order: IndexArray, ends: IndexArray) -> IndexArray:
    """Return the block that each row is in, or each column, in whose order blocks end there."""
    of = namespace(order).empty_like(order)
    of[order] = list_of_each(ends, order.size)
    return of


class BlockLayout(NamedTuple):
    """The blocks of rows and columns, in host memory."""

    #: The block of each row and column, from 0 at the upper left.
    row_block: IndexArray
    col_block: IndexArray
    #: The matching on the diagonals.
    row_mate: IndexArray
    col_mate: IndexArray
    n_blocks: int  #: How many there are.


def block_layout(form: BlockForm) -> BlockLayout | None:
    """Return the layout of a block form; None if its arrays contradict each other."""
    mates = form.matching.row_mate, form.matching.col_mate
    p, q, r, s, cc, rr, *given = map(_on_host, (*form, *mates))
    are_indices = all(of.ndim == 1 and of.dtype.kind in "iu" for of in (p, q, r, s, cc, rr))
    if not (are_indices and _is_permutation(p) and _is_permutation(q)):
        return None
    ends = (r, p.size), (s, q.size), (rr, p.size), (cc, q.size)
    if not all(_are_boundaries(*end) for end in ends) or r.size != s.size:
        return None
    if not (cc.size == rr.size == 5 and _parts_fit(r, s, cc, rr)):
        return None
    p, q = p.astype(np.int64), q.astype(np.int64)
    blocks, mates = (block_of_each(p, r), block_of_each(q, s)), _mates(p, q, int(rr[3]))
    if not all(map(np.array_equal, mates, given)):
        return None
    return BlockLayout(*blocks, *mates, r.size - 1)


def _mates(p: IndexArray, q: IndexArray, rank: int) -> IndexPair:
    """Return the mates: the first rows have the last columns."""
    rows, cols = np.full(p.size, UNMATCHED, p.dtype), np.full(q.size, UNMATCHED, q.dtype)
    rows[p[:rank]], cols[q[q.size - rank :]] = q[q.size - rank :], p[:rank]
    return rows, cols


def _on_host(array: Any) -> Any:
    return array.get() if on_gpu(array) else np.asarray(array)


def _is_permutation(order: Any) -> bool:
    within = order.min(initial=0) >= 0 and order.max(initial=-1) < order.size
    return bool(within and np.bincount(order, minlength=order.size).max(initial=1) == 1)


def _are_boundaries(ends: Any, n: int) -> bool:
    return bool(ends.size and ends[0] == 0 and ends[-1] == n and np.all(ends[1:] >= ends[:-1]))


def _parts_fit(r: Any, s: Any, cc: Any, rr: Any) -> bool:
    """Tell whether A12, A23 and A34 are square, and the blocks are those of the three parts."""
    # The horizontal and vertical parts are one block each, if they are not empty.
    if not np.array_equal(np.diff(rr)[:3], np.diff(cc)[1:]):
        return False
    first, last = int(cc[2] > 0), r.size - 1 - int(rr[4] > rr[2])
    if first > last:
        return False
    rows, cols = r[first : last + 1] - rr[1], s[first : last + 1] - cc[2]
    bounded = rows[0] == cols[0] == 0 and rows[-1] == rr[2] - rr[1]
    return bool(bounded and np.array_equal(rows, cols) and np.all(np.diff(rows) > 0))
