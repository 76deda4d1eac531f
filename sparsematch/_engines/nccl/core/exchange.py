"""Collectives over GPUs: arrays by NCCL; small numbers, and what NCCL cannot carry, by MPI.

An `Exchange` wraps the communicator of a matrix for one run, and counts what is sent. Every method
is collective, and named after the call of MPI that does the same; those for small values are of the
back-end for ranks.

- ``allgather_numbers(numbers)``: a few integers of the host of each rank, on every rank.
- ``alltoallv(parts, counts)``: an array for each other rank; those that arrive, by sender.
- ``allgather_others(array, counts)``: the arrays of all other ranks, likewise.
- ``allgatherv(whole, starts)``: an array of which each rank has its part becomes whole on all.
- ``gatherv(array)``, ``scatterv(starts, whole, dtype)``: arrays in the order of the ranks, to rank
  0, and from there.
- ``allreduce_array(array, op)``: in place, element by element.

NCCL needs a GPU for each rank, and CuPy with its library. Where one of the two is missing, arrays
are copied to the host, and MPI carries them: slower, with the same results. The communicator of
NCCL is made by the first exchange over a communicator of MPI, and kept with it.
"""

import functools
import itertools
import platform
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsematch._engines.mpi.core.exchange import Collectives, import_mpi

_Array = NDArray[Any]


@functools.cache
def _import_nccl() -> Any:
    """Import what CuPy has of NCCL, or None; it is no attribute before that."""
    try:
        from cupy.cuda import nccl

        return nccl if getattr(nccl, "available", False) and nccl.get_version() else None
    except (ImportError, RuntimeError):
        return None


class _Link(NamedTuple):
    """A communicator of NCCL (None: MPI carries), and the GPU on which it was made."""

    nccl: Any
    device: int


class Exchange(Collectives):
    """The exchanges of one run over the GPUs of a communicator; `carrier` is "NCCL" or "MPI".

    `comm` is a communicator of mpi4py, or None: one process, and no carrier. `xp` is CuPy.
    """

    __slots__ = ("_link", "_xp")

    def __init__(self, comm: Any, xp: Any) -> None:
        super().__init__(comm)
        self._link, self._xp = None, xp
        if self.size > 1:
            self._link = _connected(comm, xp)
            self.carrier = "MPI" if self._link is None else "NCCL"

    def allgather_numbers(self, numbers: Sequence[int]) -> NDArray[np.int64]:
        """Return the numbers of each rank, shape (ranks, numbers)."""
        mine = np.array(numbers, np.int64)
        if self.size == 1:
            return mine[None]
        everyone = np.empty((self.size, mine.size), np.int64)
        self.comm.Allgather(mine, everyone)
        return everyone

    def alltoallv(self, parts: Sequence[Any], counts: Sequence[int]) -> Any:
        """Send an array to each other rank; return those that arrive, in one array.

        The parts are of one type and one dimension; `counts` says how many elements come from each
        rank. What concerns this rank is not read.
        """
        dtype = parts[self.rank - 1].dtype
        counts = [0 if r == self.rank else int(n) for r, n in enumerate(counts)]
        starts = [0, *np.cumsum(counts).tolist()]
        whole = self._xp.empty(starts[-1], dtype)
        self._exchange(parts, [whole[a:b] for a, b in itertools.pairwise(starts)])
        return whole

    def allgather_others(self, array: Any, counts: Sequence[int]) -> Any:
        """Send an array to all other ranks; return theirs, of the given sizes, in one array."""
        return self.alltoallv([array] * self.size, counts)

    def allgatherv(self, whole: Any, starts: Any) -> None:
        """Fill an array of which each rank has the elements from its start on."""
        if self.size == 1:
            return
        parts = [whole[a:b] for a, b in itertools.pairwise(starts.tolist())]
        self._exchange([parts[self.rank]] * self.size, parts)

    def gatherv(self, array: Any, sizes: Sequence[int] | None = None) -> Any:
        """Return the arrays of all ranks, in their order, on rank 0; None on the others.

        `sizes` are their lengths, if they are known.
        """
        if self.size == 1:
            return array
        sizes = self.allgather_numbers([array.size])[:, 0].tolist() if sizes is None else sizes
        if self.rank:
            self.alltoallv([array, *[array[:0]] * (self.size - 1)], [0] * self.size)
            return None
        arrived = self.alltoallv([array[:0]] * self.size, sizes)
        return self._xp.concatenate([array, arrived])

    def scatterv(self, starts: Any, whole: Any, dtype: Any) -> Any:
        """Return the own part of an array that rank 0 has."""
        if self.size == 1:
            return whole
        if self.rank:
            arriving = [int(starts[self.rank + 1] - starts[self.rank]), *[0] * (self.size - 1)]
            return self.alltoallv([self._xp.empty(0, dtype)] * self.size, arriving)
        parts = [whole[begin:end] for begin, end in itertools.pairwise(starts.tolist())]
        self.alltoallv(parts, [0] * self.size)
        return parts[0]

    def _exchange(self, parts: Sequence[Any], incoming: Sequence[Any]) -> None:
        if self.size == 1:
            return
        self._count(sum(p.nbytes for r, p in enumerate(parts) if r != self.rank))
        (self._by_mpi if self._link is None else self._by_nccl)(parts, incoming)

    def allreduce_array(self, array: Any, op: str) -> None:
        """Replace an array by the sum (``"SUM"``) or least (``"MIN"``) of those of all ranks."""
        if self.size == 1 or not array.size:
            return
        self._count(array.nbytes * (self.size - 1) // self.size * 2)
        if self._link is None:
            mine = array.get()
            self.comm.Allreduce(mine.copy(), mine, op=getattr(import_mpi(), op))
            array.set(mine)
            return
        nccl, place = _import_nccl(), array.data.ptr
        stream = self._xp.cuda.get_current_stream().ptr
        kinds = _kind(nccl, array), getattr(nccl, f"NCCL_{op}")
        self._link.allReduce(place, place, array.size, *kinds, stream)

    def _by_nccl(self, parts: Sequence[Any], incoming: Sequence[Any]) -> None:
        nccl, stream = _import_nccl(), self._xp.cuda.get_current_stream().ptr
        link: Any = self._link
        nccl.groupStart()
        for rank in range(self.size):
            out, back = parts[rank], incoming[rank]
            if rank != self.rank and out.size:
                link.send(out.data.ptr, out.size, _kind(nccl, out), rank, stream)
            if rank != self.rank and back.size:
                link.recv(back.data.ptr, back.size, _kind(nccl, back), rank, stream)
        nccl.groupEnd()

    def _by_mpi(self, parts: Sequence[Any], incoming: Sequence[Any]) -> None:
        others = [rank for rank in range(self.size) if rank != self.rank]
        dtype = parts[others[0]].dtype
        out = np.concatenate([parts[rank].get() for rank in others])
        counts, sizes = np.zeros((2, self.size), np.int64)
        counts[others] = [parts[rank].size for rank in others]
        sizes[others] = [incoming[rank].size for rank in others]
        ends, back = np.cumsum(sizes), np.empty(int(sizes.sum()), dtype)
        self.comm.Alltoallv(
            [out, (counts, np.cumsum(counts) - counts)], [back, (sizes, ends - sizes)]
        )
        for rank in others:
            if sizes[rank]:
                incoming[rank].set(back[ends[rank] - sizes[rank] : ends[rank]])


def _kind(nccl: Any, array: Any) -> int:
    """Return what NCCL calls the type of an array."""
    kinds = {"i4": "INT32", "i8": "INT64", "u4": "UINT32", "u8": "UINT64", "f4": "FLOAT32"}
    kinds |= {"f8": "FLOAT64", "u1": "UINT8", "i1": "INT8", "b1": "UINT8"}
    return int(getattr(nccl, f"NCCL_{kinds[array.dtype.str[1:]]}"))


@functools.cache
def _key() -> int:
    """Return the key of the attribute of a communicator that holds the link."""
    return int(import_mpi().Comm.Create_keyval())


def _connected(comm: Any, xp: Any) -> Any:
    """Return NCCL's communicator, made on first use; None if MPI carries the arrays."""
    device = int(xp.cuda.runtime.getDevice())
    known: _Link | None = comm.Get_attr(_key())
    mine = known if known is not None and known.device == device else None
    everyone = comm.allgather((mine is not None, _gpu(xp, device)))
    if not all(made for made, _ in everyone):
        places = [gpu for _, gpu in everyone]
        mine = _Link(None, device)
        if None not in places and len(set(places)) == len(places):
            mine = _Link(_connect(comm), device)
        comm.Set_attr(_key(), mine)
    assert mine is not None
    return mine.nccl


def _connect(comm: Any) -> Any:
    nccl = _import_nccl()
    name = comm.bcast(nccl.get_unique_id() if comm.rank == 0 else None)
    return nccl.NcclCommunicator(comm.size, name, comm.rank)


def _gpu(xp: Any, device: int) -> tuple[str, str] | None:
    """Return which GPU of which machine this is, or None if CuPy has no NCCL."""
    if _import_nccl() is None:
        return None
    return platform.node(), str(xp.cuda.runtime.deviceGetPCIBusId(device))
