"""Stand-ins for arrays and sparse matrices of other libraries, which need not be installed."""

import numpy as np


class Foreign:
    """An array that is reached by DLPack only; on a GPU if what it holds is."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        if isinstance(self.array, np.ndarray):
            return self.array.__dlpack_device__()
        return 2, 0

    def __dlpack__(self, **how):
        known = hasattr(self.array, "__dlpack__")  # a stand-in for CuPy has none
        return self.array.__dlpack__(**how) if known else self.array


class Layout:
    """Printed as PyTorch prints it."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"torch.{self.name}"


class SparseTensor:
    """A sparse tensor that shares the arrays of a matrix of SciPy or CuPy."""

    def __init__(self, A, layout=None):
        self.A, self.shape = A, A.shape
        self.layout = Layout(layout or f"sparse_{A.format}")

    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("Unimplemented backend SparseCsrCPU")

    def _of(self, forms, field):
        if self.layout.name not in [f"sparse_{form}" for form in forms]:
            raise RuntimeError(f"expected sparse {forms} tensor layout but got {self.layout.name}")
        return Foreign(getattr(self.A, field))

    def detach(self):
        return self

    def crow_indices(self):
        return self._of(("csr", "bsr"), "indptr")

    def col_indices(self):
        return self._of(("csr", "bsr"), "indices")

    def ccol_indices(self):
        return self._of(("csc", "bsc"), "indptr")

    def row_indices(self):
        return self._of(("csc", "bsc"), "indices")

    def values(self):
        if self.layout.name == "sparse_bsc":
            return Foreign(self.A.data.transpose(0, 2, 1))
        return Foreign(self.A.data)

    def _indices(self):
        return Foreign(np.stack(self.A.coords))

    def coalesce(self):
        return self

    def to_sparse_csr(self):
        return SparseTensor(self.A.tocsr())


def block_columns(A, shape):
    """A tensor of blocks by columns: its arrays are those of the transposed matrix by rows."""
    tensor = SparseTensor(A.T.tobsr(shape[::-1]), "sparse_bsc")
    tensor.shape = A.shape
    return tensor


class Bcoo:
    """An array BCOO of JAX, with `padding` entries that are none."""

    n_batch = n_dense = 0

    def __init__(self, A, padding=0):
        A, self.shape = A.tocoo(), A.shape
        indices = np.stack(A.coords, axis=1)
        self.indices = Foreign(np.vstack([indices, np.tile(A.shape, (padding, 1))]))
        self.data = Foreign(np.append(A.data, np.zeros(padding, A.dtype)))


class Bcsr:
    """An array BCSR of JAX."""

    n_batch = n_dense = 0

    def __init__(self, A, padding=0):
        A, self.shape = A.tocsr(), A.shape
        self.indptr = Foreign(A.indptr)
        self.indices = Foreign(np.append(A.indices, np.full(padding, A.shape[1])))
        self.data = Foreign(np.append(A.data, np.zeros(padding, A.dtype)))


class Spmatrix:
    """A matrix of cvxopt, whose parts are matrices of one column."""

    typecode = "d"

    def __init__(self, A):
        A, self.size = A.tocsc(), A.shape
        A.sum_duplicates()
        parts = A.indptr.astype(np.int64), A.indices.astype(np.int64), A.data
        self.CCS = tuple(part[:, np.newaxis] for part in parts)


class Sparsity:
    """A pattern of CasADi."""

    def __init__(self, A):
        A, self.shape = A.tocsc(), A.shape
        A.sum_duplicates()
        self.A = A

    def colind(self):
        return self.A.indptr.tolist()

    def row(self):
        return self.A.indices.tolist()

    def is_dense(self):
        return False


class DM(Sparsity):
    """A matrix of CasADi."""

    def sparsity(self):
        return Sparsity(self.A)

    def nonzeros(self):
        return self.A.data.tolist()


class SX(DM):
    """A symbolic one."""
