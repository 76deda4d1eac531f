"""A stand-in for CuPy where there is no GPU.

NumPy behind arrays that, like CuPy's, do not turn into NumPy's.

It has what the package and its tests use, and is as strict: an array is copied to the host by `get`
only, functions of NumPy refuse it, a 0-d result stays an array. What CuPy cannot do besides, only a
GPU shows. Reductions for which it would compile CUB, 4 s each, are refused as well.
"""

import operator
import sys
import types
import warnings

import numpy as np
import scipy.sparse

MODULES = ("cupy", "cupy.cuda", "cupy.cuda.runtime", "cupyx", "cupyx.scipy", "cupyx.scipy.sparse")
MODULES = (*MODULES, "cupyx.scipy.sparse.linalg")


class CUDARuntimeError(RuntimeError):
    pass


class Stream:
    """The only stream: what was launched is done already."""

    ptr = 0

    def synchronize(self):
        pass


class Event:
    """What was launched before it is done already."""

    def __init__(self, disable_timing=False):
        pass

    def record(self):
        pass

    def synchronize(self):
        pass


class PinnedMemory(np.ndarray):
    """Bytes that both sides reach."""

    ptr = property(lambda self: self.ctypes.data)


class Pointer:
    """Where the memory of an array begins."""

    def __init__(self, array):
        self.array, self.ptr = array, array.ctypes.data

    def memset_async(self, value, size):
        assert self.array.flags.c_contiguous
        self.array.view(np.uint8).ravel()[:size] = value


class ndarray:
    """An array on a device that is not there."""

    __array_priority__ = 100

    def __init__(self, array):
        self.host = np.asarray(array)

    __cuda_array_interface__ = property(lambda self: self.host.__array_interface__)
    data = property(lambda self: Pointer(self.host))
    device = property(lambda self: types.SimpleNamespace(id=0))
    shape = property(lambda self: self.host.shape)
    dtype = property(lambda self: self.host.dtype)
    ndim = property(lambda self: self.host.ndim)
    size = property(lambda self: self.host.size)
    nbytes = property(lambda self: self.host.nbytes)
    T = property(lambda self: wrap(self.host.T))
    real = property(lambda self: wrap(self.host.real))
    imag = property(lambda self: wrap(self.host.imag))

    def get(self, out=None, blocking=True):
        if out is None:
            return self.host.copy()
        assert not blocking
        out[...] = self.host
        return out

    def set(self, array):
        assert type(array) is np.ndarray
        assert (array.shape, array.dtype) == (self.shape, self.dtype)
        self.host[...] = array

    def item(self):
        return self.host.item()

    def tolist(self):
        return self.host.tolist()

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or any(isinstance(x, np.ndarray) and x.ndim for x in inputs):
            return NotImplemented
        return wrap(ufunc(*map(unwrap, inputs), **{k: unwrap(v) for k, v in kwargs.items()}))

    def __array_function__(self, function, kinds, args, kwargs):
        return call(function, *args, **kwargs)

    def __getitem__(self, key):
        return wrap(self.host[unwrap(key)])

    def __setitem__(self, key, value):
        refuse_host_arrays(value)
        self.host[unwrap(key)] = unwrap(value)

    def __len__(self):
        return len(self.host)

    def __iter__(self):
        return (wrap(x) for x in self.host)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        method = getattr(self.host, name)
        return lambda *args, **kwargs: call(method, *args, **kwargs)


def _convert(to):
    return lambda self: to(self.host)


def _operate(name):
    function = getattr(np.ndarray, name)

    def method(self, *others):
        refuse_host_arrays(*others)
        result = function(self.host, *map(unwrap, others))
        return result if result is NotImplemented else wrap(result)

    return method


for _name, _to in (("int", int), ("bool", bool), ("float", float), ("index", operator.index)):
    setattr(ndarray, f"__{_name}__", _convert(_to))
_BINARY = "add", "sub", "mul", "floordiv", "truediv", "mod", "lshift", "rshift", "and", "or", "xor"
for _name in _BINARY:
    for _kind in ("", "r", "i"):
        setattr(ndarray, f"__{_kind}{_name}__", _operate(f"__{_kind}{_name}__"))
for _name in ["eq", "ne", "lt", "le", "gt", "ge", "neg", "invert", "abs"]:
    setattr(ndarray, f"__{_name}__", _operate(f"__{_name}__"))


def refuse_host_arrays(*values):
    for value in values:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError(f"Unsupported type {type(value)}")


def unwrap(value):
    if isinstance(value, ndarray):
        return value.host
    if isinstance(value, tuple | list):
        return type(value)(unwrap(x) for x in value)
    return value


def wrap(value):
    if isinstance(value, np.ndarray | np.generic):
        array = ndarray.__new__(ndarray)
        array.host = value if isinstance(value, np.ndarray) else np.asarray(value)
        return array
    return tuple(wrap(x) for x in value) if isinstance(value, tuple) else value


def refuse_compiled_reductions(function, args):
    """Refuse what counts or compares flags: of other numbers CuPy brings sums and maxima along."""
    name, of = getattr(function, "__name__", ""), getattr(function, "__self__", None)
    of = unwrap(args[0]) if of is None and args else of
    compiled = name in ("all", "any", "array_equal", "count_nonzero")
    if getattr(of, "dtype", np.dtype(float)).kind == "b":
        compiled |= name in ("max", "min", "argmax", "argmin", "sum", "prod", "mean")
    assert not compiled, f"CuPy would compile CUB for {name}, which takes 4 s"


def call(function, *args, **kwargs):
    """Call the function on the arrays behind; an array of NumPy among the arguments is refused."""
    refuse_compiled_reductions(function, args)
    for value in (*args, *kwargs.values()):
        refuse_host_arrays(*(value if isinstance(value, tuple | list) else (value,)))
    return wrap(function(*unwrap(args), **{k: unwrap(v) for k, v in kwargs.items()}))


def asarray(value, dtype=None):
    same = isinstance(value, ndarray) and dtype in (None, value.dtype)
    return value if same else ndarray(np.array(unwrap(value), dtype))


def _function(name):
    """A function of cupy, or a type, by the name that it has in numpy."""
    function = getattr(np, name)
    if isinstance(function, type) or not callable(function):
        return function
    return lambda *args, **kwargs: call(function, *args, **kwargs)


class spmatrix:
    """A matrix of cupyx.scipy.sparse in one of the three formats."""

    ndim = 2

    def __init__(self, form, shape, **arrays):
        self.format, self.shape = form, tuple(shape)
        self.__dict__.update(arrays)

    nnz = property(lambda self: self.data.size)
    dtype = property(lambda self: self.data.dtype)
    T = property(lambda self: on_device(self.get().T))

    def get(self):
        coo = self.format == "coo"
        places = [x.get() for x in ((self.row, self.col) if coo else (self.indices, self.indptr))]
        arrays = (self.data.get(), tuple(places)) if coo else (self.data.get(), *places)
        return getattr(scipy.sparse, f"{self.format}_matrix")(arrays, shape=self.shape)

    def tocsr(self):
        return on_device(self.get().tocsr())

    def asformat(self, form):
        return on_device(self.get().asformat(form))

    def copy(self):
        return on_device(self.get())

    def _in_place(self, name):
        A = self.get()
        getattr(A, name)()
        self.__dict__.update(on_device(A).__dict__)

    def sum_duplicates(self):
        self._in_place("sum_duplicates")

    def sort_indices(self):
        self._in_place("sort_indices")

    def diagonal(self):
        return ndarray(self.get().diagonal())

    def __matmul__(self, x):
        refuse_host_arrays(x)
        return ndarray(self.get() @ x.host)

    def __getitem__(self, key):
        return on_device(self.get()[unwrap(key)])


def on_device(A):
    """The matrix of SciPy as one of cupyx.scipy.sparse."""
    fields = ("row", "col") if A.format == "coo" else ("indices", "indptr")
    places = {f: ndarray(np.array(getattr(A, f))) for f in fields}
    return spmatrix(A.format, A.shape, data=ndarray(A.data), **places)


def _linalg(module):
    """The solvers of cupyx.scipy.sparse.linalg that are called here, as strict about arguments."""
    from scipy.sparse import linalg

    def on_host(A, b=None):
        if not isinstance(A, spmatrix) or A.format != "csr" or A.dtype.char not in "fdFD":
            raise TypeError("A must be a CSR matrix of floating point numbers")
        if b is not None and not isinstance(b, ndarray):
            raise TypeError("b must be cupy.ndarray")
        if min(A.shape) == 0:
            raise ValueError("invalid dimensions")
        return A.get()

    def spsolve(A, b):
        dense = on_host(A, b).toarray()
        if np.linalg.matrix_rank(dense) < len(dense):
            warnings.warn("A is not positive definite or near singular", stacklevel=2)
            return ndarray(np.full_like(b.host, np.nan))
        return ndarray(np.linalg.solve(dense, b.host.astype(A.dtype)))

    def spsolve_triangular(A, b, lower=True):
        return ndarray(linalg.spsolve_triangular(on_host(A, b), b.host, lower=lower))

    class SuperLU:
        def __init__(self, lu):
            self.lu = lu

        def solve(self, b, trans="N"):
            return ndarray(self.lu.solve(b.host, trans))

    module.spsolve, module.spsolve_triangular = spsolve, spsolve_triangular
    module.splu = lambda A: SuperLU(linalg.splu(on_host(A).tocsc()))


def install():
    """Put the modules where the package looks for them; return cupy."""
    modules = {name: types.ModuleType(name) for name in MODULES}
    for name, module in modules.items():
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(modules[parent], last, module)
    cupy = modules["cupy"]
    cupy.generic = type("generic", (), {})
    cupy.ndarray, cupy.asarray, cupy.__getattr__ = ndarray, asarray, _function
    cupy.from_dlpack = lambda tensor: tensor.__dlpack__()
    cupy.cuda.runtime.getDevice = lambda: 0
    known = {"MaxSharedMemoryPerBlockOptin": 232_448, "L2CacheSize": 50 << 20}
    device = types.SimpleNamespace(id=0, compute_capability="90", attributes=known)
    cupy.cuda.Device = lambda *_: device
    cupy.cuda.runtime.getDeviceCount = lambda: 1
    pool = types.SimpleNamespace(
        free_bytes=lambda: 0, total_bytes=lambda: 0, free_all_blocks=lambda: None
    )
    cupy.get_default_memory_pool = lambda: pool
    cupy.cuda.runtime.memGetInfo = lambda: (1 << 33, 1 << 34)
    cupy.cuda.get_current_stream, cupy.cuda.Event = Stream, Event
    cupy.cuda.alloc_pinned_memory = lambda size: np.empty(size, np.uint8).view(PinnedMemory)
    cupy.cuda.runtime.CUDARuntimeError = CUDARuntimeError
    modules["cupyx.scipy.sparse"].issparse = lambda thing: isinstance(thing, spmatrix)
    modules["cupyx.scipy.sparse"].spmatrix = spmatrix
    for form in ("csr", "csc"):
        make = lambda shape, dtype, form=form: on_device(
            scipy.sparse.csr_matrix(shape, dtype=dtype).asformat(form)
        )
        setattr(modules["cupyx.scipy.sparse"], f"{form}_matrix", make)
    _linalg(modules["cupyx.scipy.sparse.linalg"])
    sys.modules.update(modules)
    return cupy
