"""What a call would cost a GPU, counted on the stand-in.

Device memory in use, launches of our kernels, kernels of CuPy's own, and waits for the device.
"""

import contextlib
import weakref
from collections import Counter

import numpy as np

from cuda_host import cupy_on_host, emulator

_GRANULE = 512  # bytes, of CuPy's pool
_VIEWS = {"reshape", "ravel", "view", "transpose", "squeeze"}
_NO_KERNEL = {"empty", "empty_like", "zeros", "zeros_like", "asarray", "ascontiguousarray"}
_WAITS = ("get", "item", "tolist", "__int__", "__bool__", "__float__", "__index__")
_OF_ARRAYS = (*_WAITS, "__init__", "__getitem__", "__setitem__")
#: What is counted of arrays, of the stand-in, of kernels, of the stream.
_COUNTED = _OF_ARRAYS, ("wrap", "call"), ("_run",), ("synchronize",), ("synchronize",)


class Meter:
    """Counts while it is the current one.

    `peak` is the most memory in use at a time, beside what was there at the beginning; `launches`,
    `cupys` and `waits` are Counters by name.
    """

    def __init__(self):
        self.live, self.peak, self.allocations = 0, 0, 0
        self.launches, self.cupys, self.waits = Counter(), Counter(), Counter()
        self._known = {}

    def allocated(self, array):
        """Count a new array, and its end; a view is none."""
        if array.base is not None or id(array) in self._known:
            return
        size = -(-array.nbytes // _GRANULE) * _GRANULE
        self.live, self.allocations = self.live + size, self.allocations + 1
        self.peak = max(self.peak, self.live)
        self._known[id(array)] = weakref.finalize(array, self._freed, id(array), size)

    def known(self, *values):
        """Learn of arrays that were there before."""
        for value in values:
            if isinstance(value, tuple | list):
                self.known(*value)
            elif isinstance(value, cupy_on_host.ndarray):
                self.known(value.host)
            elif isinstance(value, np.ndarray) and id(value) not in self._known:
                key = id(value)
                self._known[key] = weakref.finalize(value, self._freed, key, 0)

    def _freed(self, key, size):
        del self._known[key]
        self.live -= size


@contextlib.contextmanager
def counting():
    """Count what is done on the stand-in within the block."""
    meter = Meter()
    kinds = cupy_on_host.ndarray, cupy_on_host, emulator.Kernels, cupy_on_host.Stream
    kinds += (cupy_on_host.Event,)
    kept = [
        {name: getattr(kind, name) for name in names}
        for kind, names in zip(kinds, _COUNTED, strict=True)
    ]
    _replace(kinds, _counted(meter, kept))
    try:
        yield meter
    finally:
        _replace(kinds, kept)


def _replace(kinds, methods):
    for kind, own in zip(kinds, methods, strict=True):
        for name, method in own.items():
            setattr(kind, name, method)


def _counted(meter, kept):
    """The methods that count, and then do what those that are kept did."""

    def wrap(value):
        result = kept[1]["wrap"](value)
        if isinstance(result, cupy_on_host.ndarray):
            meter.allocated(result.host)
        return result

    def call(function, *args, **kwargs):
        name = getattr(function, "__name__", "")
        meter.known(getattr(function, "__self__", None), *args, *kwargs.values())
        result = kept[1]["call"](function, *args, **kwargs)
        same = isinstance(result, cupy_on_host.ndarray) and result.host is getattr(
            function, "__self__", None
        )
        if name not in _VIEWS | _NO_KERNEL and not same:
            meter.cupys[name] += 1
        return result

    def waiting(name, of=0):
        def method(self, *args, **kwargs):
            meter.waits[name] += kwargs.get("blocking", True)
            return kept[of][name](self, *args, **kwargs)

        return method

    def create(self, array):
        kept[0]["__init__"](self, array)
        meter.allocated(self.host)

    def get_item(self, key):
        meter.cupys["take"] += isinstance(key, cupy_on_host.ndarray)
        return kept[0]["__getitem__"](self, key)

    def set_item(self, key, value):
        meter.cupys["put"] += 1
        kept[0]["__setitem__"](self, key, value)

    def run(self, kernel, blocks, arguments):
        meter.launches[f"{self.name}:{kernel}"] += 1
        kept[2]["_run"](self, kernel, blocks, arguments)

    return (
        {name: waiting(name) for name in _WAITS}
        | {"__init__": create, "__getitem__": get_item, "__setitem__": set_item},
        {"wrap": wrap, "call": call},
        {"_run": run},
        {"synchronize": waiting("synchronize", 3)},
        {"synchronize": waiting("synchronize", 4)},
    )


def csr_bytes(A):
    """Bytes of the index arrays of a matrix."""
    return np.asarray(A.indptr).nbytes + np.asarray(A.indices).nbytes
