"""The array types that flow, where they live, and the one number that means "no partner"."""

import functools
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sparsematch._base.errors import pip_install

_P = ParamSpec("_P")
_R = TypeVar("_R")

UNMATCHED = -1
#: Numbers sorted by NumPy, or added up by SciPy, in one call: 20 to 60 ms, in which Ctrl-C waits.
SORTED_AT_ONCE = 1 << 19
_SCALED_AT_ONCE = 1 << 16

#: int32 or int64, as the matrix came. On a GPU it is a CuPy array, which has the same methods.
IndexArray: TypeAlias = NDArray[np.signedinteger[Any]]
IndexPair: TypeAlias = tuple[IndexArray, IndexArray]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
FloatPair: TypeAlias = tuple[FloatArray, FloatArray]
#: Of any numbers.
Array: TypeAlias = NDArray[Any]


def namespace(array: Any) -> Any:
    """Return the module whose functions work on an array: numpy, or cupy, imported already."""
    return np if isinstance(array, np.ndarray) else sys.modules["cupy"]


def unmatched(n: int, like: Any) -> Any:
    """Return mates of `n` unmatched vertices, in the memory and of the type of an array."""
    # On a GPU their bytes are set, which spares CuPy the compilation of a kernel.
    if isinstance(like, np.ndarray):
        mates: Any = np.empty(n, like.dtype)
        mates.fill(UNMATCHED)
        return mates
    mates = advising(namespace(like).empty)(n, like.dtype)
    if n:
        mates.data.memset_async(0xFF, mates.nbytes)
    return mates


def on_gpu(thing: Any) -> bool:
    """Tell whether something is an array, or a sparse matrix of arrays, in the memory of a GPU."""
    if isinstance(thing, np.ndarray) or issparse(thing):
        return False
    sparse = sys.modules.get("cupyx.scipy.sparse")
    try:
        if hasattr(thing, "__cuda_array_interface__"):
            return True
    except RuntimeError:  # of a sparse tensor of PyTorch, wherever it is
        return False
    return sparse is not None and bool(sparse.issparse(thing))


def refuse_other_gpu(array: Any, name: str) -> None:
    """Raise ValueError unless an array on a GPU is on the current one."""
    here, there = namespace(array).cuda.runtime.getDevice(), array.device.id
    if here != there:
        raise ValueError(
            f"{name} is on GPU {there}, but the current one is {here}: call within "
            f"cupy.cuda.Device({there})"
        )


def scale_entries(values: Any, by_row: FloatArray, by_col: FloatArray) -> Any:
    """Return entries multiplied by the positive factors of their rows and columns."""
    # Also where one product of two of the three is beyond the range of doubles.
    return scale_by_parts(values, namespace(by_row).frexp(by_row), namespace(by_col).frexp(by_col))


def scale_by_parts(values: Any, by_row: tuple[Any, Any], by_col: tuple[Any, Any]) -> Any:
    """Return entries multiplied by factors given as mantissas and exponents of 2, in pieces."""
    (row, p), (col, q) = by_row, by_col
    xp = namespace(values)
    at_once = _SCALED_AT_ONCE if xp is np else max(values.size, 1)
    scaled = xp.empty(values.size, np.result_type(values.dtype, row.dtype))
    for begin in range(0, values.size, at_once):
        piece = slice(begin, begin + at_once)
        exponent = xp.minimum(p[piece] + q[piece] - 2, 2046)  # of zeros alone it may be larger
        half = exponent // 2  # neither of two such steps leads beyond where both lead
        one = xp.ones_like(row[piece])
        out = scaled[piece]
        out[:] = values[piece] * xp.ldexp(one, half.astype(np.int32))
        out *= 4 * row[piece] * col[piece]
        out *= xp.ldexp(one, (exponent - half).astype(np.int32))
    return scaled


def stable_order(keys: Any) -> Any:
    """Return the order that sorts numbers, equal ones as they come, as a stable argsort does."""
    # In pieces, between which Ctrl-C is noticed: NumPy takes a second for ten million.
    if namespace(keys) is not np or keys.size <= SORTED_AT_ONCE:
        return keys.argsort(kind="stable")
    sample = np.sort(keys[:: keys.size >> 14])
    limits = sample[np.linspace(0, sample.size - 1, 257)[1:-1].astype(int)]
    bucket = np.empty(keys.size, np.uint8)
    for begin in range(0, keys.size, SORTED_AT_ONCE):
        piece = slice(begin, begin + SORTED_AT_ONCE)
        bucket[piece] = np.searchsorted(limits, keys[piece], side="right")
    order = bucket.argsort(kind="stable")  # by radix: a pass
    end = 0
    for size in np.bincount(bucket).tolist():
        begin, end = end, end + size
        part = order[begin:end]
        order[begin:end] = part[keys[part].argsort(kind="stable")]
    return order


def n_set(flags: Any) -> int:
    """Return how many of some flags are set."""
    # CuPy compiles CUB to reduce flags, 4 s for each way; sums of 64-bit integers come with it.
    return int(np.count_nonzero(flags) if namespace(flags) is np else flags.astype(np.int64).sum())


def are_equal(one: Any, other: Any) -> bool:
    """Tell whether two arrays of the same memory are equal."""
    return one.shape == other.shape and not namespace(one).flatnonzero(one != other).size


def groups(*keys: Any) -> tuple[Any, Any]:
    """Return where each group of entries begins that are equal in all keys, and that of each."""
    xp = namespace(keys[0])
    begins = xp.zeros(keys[0].size, bool)
    begins[:1] = True
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    return xp.flatnonzero(begins), xp.cumsum(begins) - 1


def inverse(order: IndexArray) -> IndexArray:
    """Return the inverse of a permutation."""
    places = namespace(order).empty_like(order)
    places[order] = namespace(order).arange(order.size, dtype=order.dtype)
    return places


def import_cupy(reason: str = "device='cuda'") -> Any:
    """Import CuPy for what asks for a GPU (`reason`), or raise ImportError or RuntimeError."""
    try:
        import cupy
    except ImportError as error:
        raise ImportError(
            f"{reason} needs CuPy, which cannot be imported ({error}): "
            f"{pip_install('cupy-cuda12x')}, or cupy-cuda13x, by the CUDA version that nvidia-smi "
            "shows"
        ) from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(
            f"{reason} needs an NVIDIA GPU and its driver: {error}; nvidia-smi tells whether "
            "they are there"
        ) from error
    if not n_devices:
        text = f"{reason} needs an NVIDIA GPU, but CUDA_VISIBLE_DEVICES or the machine has none"
        raise RuntimeError(text)
    return cupy


def advising(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a function say more where the memory of a GPU does not suffice."""

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except MemoryError as error:
            if not getattr(error, "__notes__", ()) and type(error).__module__.startswith("cupy"):
                error.add_note(
                    "The memory of the GPU does not suffice; the matrix is as it was. CuPy keeps "
                    "freed memory: cupy.get_default_memory_pool().free_all_blocks() gives it "
                    "back. In host memory, A.get() can be solved."
                )
            raise

    return call
