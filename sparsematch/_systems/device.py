"""Systems whose matrix is on a GPU: analysed, permuted and solved there."""

import itertools
from functools import partial
from typing import Any

import numpy as np

from sparsematch._api.decomposition import block_form
from sparsematch._base.arrays import are_equal, namespace, on_gpu
from sparsematch._base.docstrings import documented
from sparsematch._base.errors import check_choice, warn, wrong_type
from sparsematch._base.tolerances import GOOD_ERROR, POOR_ERROR
from sparsematch._input.bipartite import as_bipartite
from sparsematch._input.foreign import from_other_library
from sparsematch._input.matrix import checked
from sparsematch._numerics.backward_error import normwise
from sparsematch._numerics.refinement import refine
from sparsematch._systems.batch import Refused, finish, read_batch
from sparsematch._systems.checks import PIVOTING, check_right_hand_side, check_square
from sparsematch._systems.device_batch import UniformBatch, numbered
from sparsematch._systems.device_solvers import CudssFactor, DeviceFactor, find_device_solver
from sparsematch._systems.errors import (
    NO_FACTORS,
    IllConditionedWarning,
    NotFiniteError,
    SingularMatrixError,
)
from sparsematch._systems.external import Singular as NoPivot
from sparsematch._systems.like_scipy import Singular
from sparsematch._types.block_form import BlockForm
from sparsematch._types.choices import Pivoting, Side
from sparsematch._types.sparse_like import SparseLike


class DeviceLU:
    """A sparse factorisation on a GPU, of what the block triangular form leaves to be factorised.

    The permuted matrix is cut at the first and behind the last diagonal block of more than one
    entry. What lies between is handed to a solver for GPUs as a whole; the blocks of one entry
    before and behind are solved by substitution, and what stands above is multiplied with. Values
    and right-hand sides stay on the GPU. `splu` makes one of a matrix of ``cupyx.scipy.sparse``.

    The arguments of `splu` mean for it: a `matching` is of CuPy arrays. ``pivoting="product"``, the
    default with cuDSS, has that put the transversal of largest product on the diagonal of what it
    factorises; ``"structure"`` switches that off: for a `matching` of large entries, as cuDSS
    pivots within small blocks only. The other solvers have pivots of their own, or need none.
    ``solver="cudss"`` needs nvmath-python 1.0; it is the default where that is installed.
    ``"cusolver"``, the default elsewhere, comes with CuPy: a QR factorisation for each right-hand
    side. ``"superlu"`` copies the matrix to host memory, is factorised there by SciPy, and copies
    the factors back.

    Attributes
    ----------
    form : BlockForm
        The block triangular form, of CuPy arrays.
    shape : tuple of int
        The shape of the matrix.
    dtype : dtype
        float64 or complex128.
    n_factorised : int
        Rows of what was left to the solver.

    See Also
    --------
    splu : What makes one. Nothing is copied to explain that a matrix is singular.
    BlockTriangularLU : For matrices in host memory.

    Examples
    --------
    >>> import cupy, cupyx.scipy.sparse  # doctest: +SKIP
    >>> from sparsematch.solvers import splu
    >>> A = cupyx.scipy.sparse.csr_matrix(cupy.array([[0.0, 2.0], [4.0, 1.0]]))  # doctest: +SKIP
    >>> splu(A).solve(cupy.array([2.0, 5.0]))  # doctest: +SKIP
    array([1., 1.])
    """

    def __init__(self) -> None:
        raise TypeError("call splu to make a DeviceLU")

    @classmethod
    def _of(cls, A: SparseLike, matching: Any, pivoting: Pivoting, solver: Any) -> "DeviceLU":
        lu = cls.__new__(cls)
        lu._begin(A, matching, pivoting, solver)
        return lu

    def _begin(self, A: SparseLike, matching: Any, pivoting: Pivoting, solver: Any) -> None:
        check_choice("pivoting", pivoting, PIVOTING)
        self._make = find_device_solver(solver)
        self._product = None if pivoting == "auto" else pivoting == "product"
        matrix = _canonical(A)
        given = from_other_library(A)
        found, self._given = _canonical(numbered(given)), given.nnz
        #: Which value is which of the canonical form; None if entries are repeated.
        self._order = found.data.astype("int64") - 1 if found.nnz == given.nnz else None
        self.form: BlockForm = block_form(as_bipartite(matrix), matching)[0]
        if self.form.structural_rank < matrix.shape[0]:
            raise _structurally_singular(self.form)
        self._pattern = matrix.indptr, matrix.indices
        self.shape: tuple[int, int] = matrix.shape
        self._cut(matrix)
        self._factor: DeviceFactor | None = None
        self._kind: Any = None
        self._batches: dict[str, UniformBatch] = {}
        self._A, self._absolute = matrix, matrix.copy()
        self._factorise(matrix.data)

    def refactorise(self, A: Any) -> None:
        """Factorise a matrix with the same pattern, without matching and block search.

        cuDSS does not order it again either. All of it stays on the GPU; the host reads three
        numbers, at once: both norms, and how many blocks of one entry are zero.

        Parameters
        ----------
        A : cupyx.scipy.sparse matrix, shape (n, n), or cupy.ndarray, shape (nnz,)
            With the same entries, explicit zeros included. Or just the values, in the order of
            ``A.data``, which spares the comparison of patterns.

        Raises
        ------
        TypeError, ValueError, SingularMatrixError
            As when it was made, or if its pattern is another one. After an error there is nothing
            to solve with until one succeeds.
        """
        self._failed = True
        self._factorise(self._new_values(A))

    def solve(self, b: Any, trans: Side = "N") -> Any:
        """Solve a linear system.

        Parameters
        ----------
        b : cupy.ndarray, shape (n,) or (n, k)
            One right-hand side, or k of them as columns, which are solved one after the other.
        trans : {"N", "T", "H"}, optional
            Solve with A, its transpose, or its conjugate transpose.

        Returns
        -------
        cupy.ndarray, shape of `b`
            The solution, of float64 or complex128.

        Raises
        ------
        TypeError
            If `b` is not a CuPy array of numbers.
        ValueError
            If `b` is of another length, or `trans` is none of the choices.
        SingularMatrixError
            If the solver finds only now that `A` is numerically singular.
        RuntimeError
            If the last factorisation has failed.

        Warns
        -----
        IllConditionedWarning
            If a backward error remains above 1e-9.

        Notes
        -----
        Every solution is measured, and refined where its normwise backward error is above 1e-15
        and as long as that halves it: solvers for GPUs pivot within small blocks only, or perturb.
        """
        import cupy

        if self._failed:
            raise RuntimeError(NO_FACTORS)
        if not isinstance(b, cupy.ndarray):
            expected = "a CuPy array like those of A; cupy.asarray copies arrays to the GPU"
            raise wrong_type("b", b, expected)
        check_right_hand_side(b, self.shape[0], trans)
        if b.ndim == 2:
            columns = [self.solve(b[:, k], trans) for k in range(b.shape[1])]
            kind = cupy.result_type(self.dtype, b.dtype)
            return cupy.stack(columns, axis=1) if columns else cupy.empty(b.shape, kind)
        if b.dtype.kind == "c" and self.dtype.kind != "c":
            return self.solve(b.real.copy(), trans) + 1j * self.solve(b.imag.copy(), trans)
        if trans == "H":
            return self.solve(b.conj(), "T").conj()
        return self._solve_checked(b.astype(self.dtype), trans)

    @documented
    def solve_batch(
        self, values: Any, b: Any, trans: Side = "N", *, singular: Singular = "raise"
    ) -> Any:
        """Factorise many matrices with this pattern, and solve a system with each, in one call.

        Parameters
        ----------
        {batch}

        Returns
        -------
        cupy.ndarray, shape (k, n)
            The solutions, each measured and refined as by `solve`, with its warnings.

        {raises_of_batches}

        See Also
        --------
        BlockTriangularLU.solve_batch : The same in host memory.

        Notes
        -----
        cuDSS factorises and solves all together. It has no matching then, so rows are in the order
        and units of the largest product here (`pivoting`): let this be a typical matrix. What has
        an error above 1e-9 is solved by itself, as all are by other solvers. The analysis is kept
        for calls with as many items; this factorisation stays as it is.
        """
        import cupy

        for name, array in (("values", values), ("b", b)):
            if not isinstance(array, cupy.ndarray):
                raise wrong_type(name, array, "a CuPy array; cupy.asarray copies to the GPU")
        right, kind = read_batch(cupy, values, b, (self._given, self.shape[0]), trans, singular)
        if trans == "H":
            return self.solve_batch(values.conj(), b, "T", singular=singular)
        ordered = values[:, self._places()]
        items, x = list(range(len(values))), cupy.empty(right.shape, kind)
        if items and self._make is CudssFactor:
            batch = self._batches.get(trans)
            if batch is None or batch.size != (len(items), kind):
                own = self._A, self.form.matching, self._product is not False
                self._batches[trans] = batch = UniformBatch(*own, trans, len(items), kind)
            x, errors = batch.solve(ordered.astype(kind), right.astype(kind))
            poor = ~(errors <= POOR_ERROR) & (cupy.isfinite(right).astype(float).mean(axis=1) == 1)
            items = cupy.flatnonzero(poor).tolist()
        return finish(x, self._solve_each(items, ordered, right, trans, x), singular)

    def _solve_each(self, items: list[int], values: Any, b: Any, trans: Side, x: Any) -> Refused:
        """Write the solutions of some items, one after the other; return the errors of others."""
        refused, failed, own = Refused(), self._failed, self._A.data.copy()
        try:
            for i in items:
                try:
                    self._refuse_infinite(values[i])
                    self._factorise(values[i])
                    x[i] = self.solve(b[i], trans)
                except (NotFiniteError, SingularMatrixError) as error:
                    refused[i] = error
        finally:
            if items and not failed:
                self._factorise(own)
            self._failed = failed
        return refused

    def _refuse_infinite(self, values: Any) -> None:
        (wrong,) = (~np.isfinite(values)).nonzero()
        if wrong.size:
            p, (indptr, indices) = int(wrong[0]), self._pattern
            row, col = int((indptr <= p).nonzero()[0][-1]), int(indices[p])
            text = f"A[{row}, {col}] is {values[p].item()}, but values must be finite"
            raise NotFiniteError(text, row, col)

    def __repr__(self) -> str:
        n, blocks = self.shape[0], self.form.n_blocks
        text = f"{n}x{n}, " + ("1 block" if blocks == 1 else f"{blocks} blocks")
        return f"DeviceLU({text}, {self.n_factorised} rows factorised by {self._make.__name__})"

    def _cut(self, A: Any) -> None:
        """Cut the permuted matrix into six parts: three diagonal ones, and those above them."""
        n = self.shape[0]
        permuted = self.form.permute(numbered(A))
        starts = self.form.row_blocks
        (large,) = (starts[1:] - starts[:-1] > 1).nonzero()
        first, last = (int(starts[large[0]]), int(starts[large[-1] + 1])) if large.size else (n, n)
        self._bounds = first, last
        self.n_factorised: int = last - first
        ends = [0, first, last, n]
        #: The parts, and the place of each of their entries in the user's values.
        self._parts: dict[tuple[int, int], Any] = {}
        self._values_of: dict[tuple[int, int], Any] = {}
        # CuPy knows no matrices without rows
        sides = [k for k in range(3) if ends[k] < ends[k + 1]]
        for i, j in itertools.combinations_with_replacement(sides, 2):
            part = permuted[ends[i] : ends[i + 1]][:, ends[j] : ends[j + 1]].tocsr()
            if part.nnz:
                part.sort_indices()
                if max(part.nnz, n) < 2**31:  # the solvers know no other
                    part.indices = part.indices.astype("int32")
                    part.indptr = part.indptr.astype("int32")
                self._parts[i, j], self._values_of[i, j] = part, part.data.astype("int64") - 1

    def _new_values(self, A: Any) -> Any:
        """Return values in the order of the pattern, of a matrix or in the order of its data."""
        if not hasattr(A, "format") and on_gpu(A) and getattr(A, "ndim", 0) == 1:
            if A.shape != (self._given,):
                raise ValueError(
                    f"there are values of shape {A.shape} for a matrix with {self._given} entries"
                )
            if A.dtype.kind not in "biufc":
                raise wrong_type("A", A, f"an array of numbers, not of {A.dtype}")
            return A[self._places()]
        A = _canonical(A)
        arrays = zip((A.indptr, A.indices), self._pattern, strict=True)
        same = A.shape == self.shape and A.nnz == self._pattern[1].size
        if not (same and all(are_equal(now, then) for now, then in arrays)):
            text = "A has another pattern than the matrix that was analysed: factorise it by itself"
            raise ValueError(text)
        return A.data

    def _places(self) -> Any:
        if self._order is None:
            text = "there are values for a matrix with several entries in the same place"
            raise ValueError(f"{text}: A.sum_duplicates() joins them")
        return self._order

    def _factorise(self, values: Any) -> None:
        """Factorise values in the order of the pattern."""
        values = values.astype("complex128" if values.dtype.kind == "c" else "float64", copy=False)
        self.dtype: np.dtype[Any] = values.dtype
        for where, part in self._parts.items():
            part.data = values[self._values_of[where]]
        self._A.data, self._absolute.data = values.copy(), abs(values)
        self._measure()
        try:
            if self.n_factorised and (self._factor is None or self._kind != self.dtype):
                self._factor = self._make(self._parts[1, 1], self._product)
                self._kind = self.dtype
            elif self._factor:
                self._factor.refactorise(self._parts[1, 1])
        except NoPivot:
            raise self._singular() from None
        self._failed = False

    def _measure(self) -> None:
        """Read the norms; raise SingularMatrixError if a block of one entry is zero."""
        xp = namespace(self._A.data)
        ones = xp.ones(self.shape[0])
        numbers = [(self._absolute @ ones).max(), (self._absolute.T @ ones).max()]
        outer = [(k, begin) for k, begin in ((0, 0), (2, self._bounds[1])) if (k, k) in self._parts]
        zeros = [self._parts[k, k].diagonal() == 0 for k, _ in outer]
        numbers += [flags.astype("float64").sum() for flags in zeros]
        row_norm, col_norm, *counts = xp.stack(numbers).tolist()
        self._norms: tuple[float, float] = row_norm, col_norm
        for (_, begin), flags, count in zip(outer, zeros, counts, strict=True):
            if not count:
                continue
            k = begin + int(flags.nonzero()[0][0])
            rows, cols = self.form.row_perm[k : k + 1], self.form.col_perm[k : k + 1]
            where = f"row {int(rows[0])}; column {int(cols[0])}"
            text = f"numerically singular: a block of one entry ({where}) is 0"
            raise SingularMatrixError(text, rows, cols)

    def _solve_checked(self, b: Any, trans: str) -> Any:
        """Solve and refine; refuse what solves nothing, and warn of what solves badly."""
        x = self._solve_one(b, trans)
        if not bool(abs(b).max() < np.inf):
            return x
        A, norm = (self._A, self._norms[0]) if trans == "N" else (self._A.T, self._norms[1])
        measure = lambda x: (normwise(r := b - A @ x, x, b, norm), r)
        correct = partial(self._solve_one, trans=trans)
        x, errors, residual = refine(x, measure, correct, good=GOOD_ERROR)
        if not bool(abs(residual).max() <= 0.1 * abs(b).max()):  # NaN neither
            raise self._singular()
        if (error := float(errors)) > POOR_ERROR:
            text = f"solved with a backward error of {error:.0e} after refinement"
            why = "the matrix is too ill-conditioned, or pivots were perturbed"
            warn(IllConditionedWarning, f"{text}: {why}")
        return x

    def _solve_one(self, b: Any, trans: str) -> Any:
        xp = namespace(b)
        gather, scatter = (self.form.row_perm, self.form.col_perm)[:: 1 if trans == "N" else -1]
        first, last = self._bounds
        permuted = b[gather]
        x = [permuted[:first], permuted[first:last], permuted[last:]]
        for i in (2, 1, 0) if trans == "N" else (0, 1, 2):
            for j in range(i + 1, 3) if trans == "N" else range(i):
                part = self._parts.get((i, j) if trans == "N" else (j, i))
                if part is not None:
                    x[i] = x[i] - (part if trans == "N" else part.T) @ x[j]
            if x[i].size:
                x[i] = self._solve_part(i, x[i], trans)
        out = xp.empty_like(b)
        out[scatter] = xp.concatenate(x)
        return out

    def _solve_part(self, i: int, b: Any, trans: str) -> Any:
        if i == 1:
            assert self._factor is not None
            try:
                return self._factor.solve(b.copy(), trans)
            except NoPivot:
                raise self._singular() from None
        from cupyx.scipy.sparse.linalg import spsolve_triangular

        part = self._parts[i, i] if trans == "N" else self._parts[i, i].T.tocsr()
        return spsolve_triangular(part, b, lower=trans != "N")

    def _singular(self) -> SingularMatrixError:
        first, last = self._bounds
        rows, cols = self.form.row_perm[first:last], self.form.col_perm[first:last]
        text = f"numerically singular: the {last - first} rows factorised"
        if self._product is False:
            text += ", or only without other pivots (pivoting='structure')"
        return SingularMatrixError(text, rows, cols)


def _canonical(A: Any) -> Any:
    """Return a copy in CSR, sorted and without duplicates, of a square matrix on a GPU."""
    A = from_other_library(A)
    if not on_gpu(A) or not hasattr(A, "format"):
        raise wrong_type("A", A, "a sparse matrix of CuPy")
    check_square(A.shape)
    A = checked(A, "A")
    A = A.copy() if A.format == "csr" else A.tocsr()
    A.sum_duplicates()
    return A


def _structurally_singular(form: BlockForm) -> SingularMatrixError:
    """Name rows and columns of the over-determined part; more would need host memory."""
    n, rank = form.shape[0], form.structural_rank
    rows, cols = form.vertical
    text = (
        f"structurally singular: {n} rows and columns, but rank {rank} at most, whatever the "
        f"values. {rows.size} rows have entries in {cols.size} columns only. "
        "sparsematch.explain_singularity(A.get()), which copies the matrix to host memory, "
        "says which"
    )
    return SingularMatrixError(text, rows, cols)
