"""Collectives over GPUs: arrays by NCCL; small numbers, and what NCCL cannot carry, by MPI.

An `Exchange` is that of the back-end for ranks, with arrays of CuPy, and two more collectives. NCCL
needs a GPU for each rank, and CuPy with its library. Where one of the two is missing, arrays are
copied to the host, and MPI carries them: slower, with the same results. The communicator of NCCL is
made by the first exchange over a communicator of MPI, and kept with it.
"""

import functools
import platform
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, IndexArray
from sparsematch._engines.mpi.core.exchange import Exchange as ExchangeOfRanks
from sparsematch._engines.mpi.core.exchange import carriers, import_mpi


@functools.cache
def _import_nccl() -> Any:
    """Import what CuPy has of NCCL, or None; it is no attribute before that."""
    try:
        from cupy.cuda import nccl

        return nccl if getattr(nccl, "available", False) and nccl.get_version() else None
    except (ImportError, RuntimeError):
        return None


class Exchange(ExchangeOfRanks):
    """The exchanges of one run over the GPUs of a communicator; `carrier` is "NCCL" or "MPI".

    `comm` is a communicator of mpi4py, or None: one process, and no carrier. `xp` is CuPy.
    """

    __slots__ = ("_link",)

    def __init__(self, comm: Any, xp: Any) -> None:
        super().__init__(comm, xp)
        self._link = None
        if self.size > 1:
            self._link = _connected(comm, xp)
            self.carrier = "MPI" if self._link is None else "NCCL"

    def allgather_others(self, array: Any, sizes: Array | None = None) -> Any:
        """Send an array to all other ranks; return theirs, of these sizes or its own, as one."""
        counts = np.full(self.size, array.size)
        arriving = np.array(counts if sizes is None else sizes, np.int64)
        counts[self.rank] = arriving[self.rank] = 0
        return self.alltoallv_parts(array, counts, arriving, np.zeros_like(counts))

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
        stream = self.xp.cuda.get_current_stream().ptr
        kinds = _kind(nccl, array), getattr(nccl, f"NCCL_{op}")
        self._link.allReduce(place, place, array.size, *kinds, stream)

    def _by_owner(self, starts: IndexArray, keys: Any) -> tuple[Any, Array]:
        owner = self.xp.searchsorted(self.xp.asarray(starts), keys, side="right") - 1
        counts = self.xp.bincount(owner, minlength=self.size).get()
        return self.xp.argsort(owner, kind="stable"), counts.astype(np.int64)

    def _alltoallv(self, out: Any, parts: tuple[Array, Array], back: Any, arriving: Array) -> None:
        out, into = out.reshape(-1), back.reshape(-1)
        if self._link is None:
            own = np.concatenate([out[b : b + n].get() for n, b in zip(*parts, strict=True)])
            there = np.empty(into.size, into.dtype)
            super()._alltoallv(own, (parts[0], np.cumsum(parts[0]) - parts[0]), there, arriving)
            into.set(there)
            return
        self._count(int(parts[0].sum() - parts[0][self.rank]) * out.itemsize)
        nccl, stream = _import_nccl(), self.xp.cuda.get_current_stream().ptr
        link: Any = self._link
        ends = np.cumsum(arriving).tolist()
        nccl.groupStart()
        for rank, (n, begin) in enumerate(zip(*(part.tolist() for part in parts), strict=True)):
            sent, received = out[begin : begin + n], into[ends[rank] - arriving[rank] : ends[rank]]
            if rank == self.rank:
                received[:] = sent
                continue
            if sent.size:
                link.send(sent.data.ptr, sent.size, _kind(nccl, sent), rank, stream)
            if received.size:
                link.recv(received.data.ptr, received.size, _kind(nccl, received), rank, stream)
        nccl.groupEnd()


carriers["cupy"] = Exchange


def _kind(nccl: Any, array: Any) -> int:
    """Return what NCCL calls the type of an array."""
    kinds = {"i4": "INT32", "i8": "INT64", "u4": "UINT32", "u8": "UINT64", "f4": "FLOAT32"}
    kinds |= {"f8": "FLOAT64", "u1": "UINT8", "i1": "INT8", "b1": "UINT8"}
    return int(getattr(nccl, f"NCCL_{kinds[array.dtype.str[1:]]}"))


@functools.cache
def _key() -> int:
    """Return the key of the attribute of a communicator that holds NCCL's and its GPU."""
    return int(import_mpi().Comm.Create_keyval())


def _connected(comm: Any, xp: Any) -> Any:
    """Return NCCL's communicator, made on first use; None if MPI carries the arrays."""
    device = int(xp.cuda.runtime.getDevice())
    mine: tuple[Any, int] | None = comm.Get_attr(_key())
    mine = mine if mine is not None and mine[1] == device else None
    gpu = None
    if _import_nccl() is not None:  # which GPU of which machine
        gpu = platform.node(), str(xp.cuda.runtime.deviceGetPCIBusId(device))
    everyone = comm.allgather((mine is not None, gpu))
    if not all(made for made, _ in everyone):
        places = [place for _, place in everyone]
        mine = None, device  # MPI carries
        if None not in places and len(set(places)) == len(places):
            nccl = _import_nccl()
            name = comm.bcast(nccl.get_unique_id() if comm.rank == 0 else None)
            mine = nccl.NcclCommunicator(comm.size, name, comm.rank), device
        comm.Set_attr(_key(), mine)
    assert mine is not None
    return mine[0]
