"""Arrays and sparse tensors with the methods of PyTorch's, which need not be installed."""

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

    def _of(self, form, field):
        if self.layout.name != f"sparse_{form}":
            raise RuntimeError(f"expected sparse {form} tensor layout but got {self.layout.name}")
        return Foreign(getattr(self.A, field))

    def detach(self):
        return self

    def crow_indices(self):
        return self._of("csr", "indptr")

    def col_indices(self):
        return self._of("csr", "indices")

    def ccol_indices(self):
        return self._of("csc", "indptr")

    def row_indices(self):
        return self._of("csc", "indices")

    def values(self):
        return Foreign(self.A.data)

    def _indices(self):
        return Foreign(np.stack(self.A.coords))

    def coalesce(self):
        return self

    def to_sparse_csr(self):
        return SparseTensor(self.A.tocsr())
