"""Collectives over the ranks: the only file that imports mpi4py and calls MPI for arrays.

An `Exchange` wraps the communicator of a matrix for one run, and counts what is sent. Every method
is collective, and named after the call of MPI that it makes. There is no barrier: a rank goes on
as soon as its own part has arrived.

An engine runs in ``with abort_on_error(comm):``, so that an error that no rank foresaw (no memory,
Ctrl-C) ends all ranks, since the others would wait for ever. Errors that a caller can make are
found before, and agreed on: `sparsematch._types.over_ranks.agreement`.

Where there is one rank, MPI is not called at all.
"""

import itertools
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sparsematch._base.arrays import Array, IndexArray, namespace
from sparsematch._base.errors import pip_install
from sparsematch._engines.rank_operations import on_rank
from sparsematch._types.over_ranks.agreement import rank_of, size_of

_INTERRUPTED, _FAILED = 130, 1
#: Wait before all ranks are aborted; seconds; a launcher loses output that it has not forwarded.
_FORWARDING = 0.2
#: Flags of a header: see over_ranks/message_buffers.hpp.
_BUSY, _LONG = 1, 4
_INDEX_TYPES = np.dtype(np.int32), np.dtype(np.int64)


def import_mpi() -> Any:
    """Import mpi4py's MPI, or say what to install."""
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError(
            f"several ranks need mpi4py, which cannot be imported ({error}): "
            f"{pip_install('mpi4py', 'mpich')} brings it, with an MPI library"
        ) from error
    return MPI


@contextmanager
def abort_on_error(comm: Any) -> Iterator[None]:
    """End all ranks if one of them raises: what it would have sent, the others wait for."""
    try:
        yield
    except BaseException as error:
        if size_of(comm) == 1 or isinstance(error, SystemExit) or getattr(error, "agreed", False):
            raise
        interrupted = isinstance(error, KeyboardInterrupt)
        text = "interrupted\n" if interrupted else traceback.format_exc()
        # what a program has put in the place of standard error may lead nowhere
        print(f"rank {rank_of(comm)} ends all ranks: {text}", file=sys.__stderr__, flush=True)
        time.sleep(_FORWARDING)
        comm.Abort(_INTERRUPTED if interrupted else _FAILED)
        raise


class Exchange:
    """The exchanges of one run over the ranks of a communicator.

    `comm` is a communicator of mpi4py, or None: one process. `xp` is the namespace of the arrays.
    """

    __slots__ = ("bytes_sent", "carrier", "comm", "rank", "rounds", "size", "xp")

    def __init__(self, comm: Any, xp: Any = np) -> None:
        self.comm, self.rank, self.size, self.xp = comm, rank_of(comm), size_of(comm), xp
        self.rounds = 0  #: Exchanges of arrays so far.
        self.bytes_sent = 0  #: Bytes that this rank has sent to others in them.
        self.carrier = ""  #: Which library carries the arrays, if there is a choice.

    def allreduce(self, *numbers: float, op: str = "SUM") -> list[Any]:
        """Return the sums, or largest (`op`: ``"MAX"``) or smallest (``"MIN"``), of all ranks."""
        values = np.array(numbers)
        if self.size > 1:
            self.comm.Allreduce(values.copy(), values, op=getattr(import_mpi(), op))
        return values.tolist()

    def any(self, flag: bool) -> bool:
        """Tell whether the flag is set on some rank."""
        return bool(self.allreduce(int(flag), op="MAX")[0])

    def allgather(self, thing: Any) -> list[Any]:
        """Return the small objects of all ranks, of any kind, in their order."""
        return [thing] if self.size == 1 else list(self.comm.allgather(thing))

    def allgather_numbers(self, numbers: Sequence[Any]) -> IndexArray:
        """Return the integers of each rank, shape (ranks, numbers)."""
        mine = np.array(numbers, np.int64)
        everyone = np.tile(mine, (self.size, 1))
        if self.size > 1:
            self.comm.Allgather(mine, everyone)
        return everyone

    def first(self, found: Any) -> Any:
        """Return what the first rank that has something other than None has."""
        return next((thing for thing in self.allgather(found) if thing is not None), None)

    def alltoallv(self, starts: IndexArray, keys: Array, *columns: Array) -> tuple[Array, ...]:
        """Send each key, and the elements that go with it, to the owner of the key."""
        # `starts`: where each rank's keys begin, int64, shape (size + 1,). Keys: any order, maybe
        # repeated. Returns keys and columns that arrived, by ascending sender, in the order sent.
        if self.size == 1:
            return keys, *columns
        order, counts = self._by_owner(starts, keys)
        return self._send([keys, *columns], order, counts, self._receive_counts(counts))

    def query(self, starts: IndexArray, keys: Array, answer: Callable[[Array], Array]) -> Array:
        """Return for each key what its owner answers: two exchanges."""
        # `answer` maps an array of keys of this rank, numbered within the whole, to one as long.
        if self.size == 1:
            return answer(keys)
        order, counts = self._by_owner(starts, keys)
        back = self._receive_counts(counts)
        (requests,) = self._send([keys], order, counts, back)
        (answers,) = self._send([answer(requests)], None, back, counts)
        result = self.xp.empty_like(answers)
        result[order] = answers
        return result

    def lookup(self, starts: IndexArray, keys: Array, table: Array) -> Array:
        """Return for each key its element of the owner's table: two exchanges."""
        return self.query(starts, keys, lambda own: table[own - int(starts[self.rank])])

    def starts_of(self, n: Any) -> IndexArray:
        """Return where the elements of each rank begin, given how many are own, and all end."""
        return np.concatenate([[0], np.cumsum(self.allgather_numbers([n]))])

    def run_until_quiescent(self, kernel: Any) -> int:
        """Step a kernel, and exchange its messages, until no rank has work; return the steps."""
        # A kernel is what a rank does alone between two exchanges. Its messages to another rank are
        # packed into an array of indices: a short one stands in a header of fixed length, a long
        # one follows (`over_ranks/message_buffers.hpp`). One collective call a step, and one more
        # where messages are long. Every rank learns whether one is busy: all end together.
        steps, quiet = 0, False
        while True:
            kernel.step(quiet)
            steps += 1
            out, back = kernel.send_headers(), kernel.receive_headers()
            if self.size == 1:
                back[:] = out
            else:
                self._count(out.nbytes - out.nbytes // self.size)
                self.comm.Alltoall(out, back)
            flags = kernel.read_headers()
            if not flags:
                return steps
            if flags & _LONG and self.size > 1:
                out, back = kernel.send_counts(), kernel.receive_counts()
                buffers = kernel.send_buffer(), kernel.receive_buffer()
                self._alltoallv(buffers[0], (out, _offsets(out)), buffers[1], back)
            quiet = not flags & _BUSY

    def gatherv(self, array: Any, sizes: Array | None = None) -> Any:
        """Return the arrays of all ranks, of `sizes` if known, on rank 0; None on the others."""
        if self.size == 1:
            return array
        sizes = self.allgather_numbers([array.size])[:, 0] if sizes is None else sizes
        counts = np.where(np.arange(self.size), 0, array.size)
        whole = self.alltoallv_parts(array, counts, sizes * (self.rank == 0))
        return None if self.rank else whole

    def scatterv(self, starts: IndexArray, whole: Any, dtype: Any) -> Any:
        """Return the own part of an array that rank 0 has."""
        if self.size == 1:
            return whole
        counts, arriving = np.diff(starts), np.zeros(self.size, np.int64)
        arriving[0] = counts[self.rank]
        whole = self.xp.empty(0, dtype) if self.rank else whole
        return self.alltoallv_parts(whole, counts * (self.rank == 0), arriving)

    def allgatherv(self, array: Any) -> Any:
        """Return the arrays of all ranks, in their order, on every one."""
        if self.size == 1:
            return array
        counts, sizes = np.full(self.size, array.size), self.allgather_numbers([array.size])[:, 0]
        return self.alltoallv_parts(array, counts, sizes, np.zeros_like(counts))

    def alltoallv_parts(
        self, array: Any, counts: Array, arriving: Array, begin: Array | None = None
    ) -> Any:
        """Send to each rank its `counts` elements of an array; return those that arrive."""
        # The parts follow each other, unless `begin` says where each begins.
        back = self.xp.empty(int(arriving.sum()), array.dtype)
        if self.size > 1:
            begin = _offsets(counts) if begin is None else begin
            array = self.xp.ascontiguousarray(array)
            self._alltoallv(array, (counts, begin), back, arriving)
        return back

    def _by_owner(self, starts: IndexArray, keys: Array) -> tuple[Array, Array]:
        """Return the stable order of keys by owner, and how many go to each."""
        keys = np.ascontiguousarray(keys, None if keys.dtype in _INDEX_TYPES else np.int64)
        order, counts = np.empty(keys.size, np.int64), np.empty(self.size, np.int64)
        on_rank().owner_order((starts, 0), keys, keys.size, order, counts)
        return order, counts

    def _receive_counts(self, counts: Array) -> Array:
        received = np.empty_like(counts)
        self.comm.Alltoall(counts, received)
        return received

    def _send(
        self, columns: Sequence[Array], order: Array | None, counts: Array, received: Array
    ) -> tuple[Array, ...]:
        """Exchange columns of equal length; neighbours of one type go together."""
        out: list[Array] = []
        n, total = int(counts.sum()), int(received.sum())
        for dtype, group in itertools.groupby(columns, key=lambda column: column.dtype):
            alike = list(group)
            width = len(alike)
            packed = self.xp.empty((n, width), dtype)
            for k, column in enumerate(alike):
                packed[:, k] = column if order is None else column[order]
            arrived, sent = self.xp.empty((total, width), dtype), counts * width
            self._alltoallv(packed, (sent, _offsets(sent)), arrived, received * width)
            out += [arrived[:, k] for k in range(width)]
        return tuple(out)

    def _alltoallv(self, out: Any, parts: tuple[Array, Array], back: Any, arriving: Array) -> None:
        """Send parts of an array, of some lengths from some places on; receive them by sender."""
        self._count(int(parts[0].sum() - parts[0][self.rank]) * out.itemsize)
        self.comm.Alltoallv([out, parts], [back, (arriving, _offsets(arriving))])

    def _count(self, n_bytes: int) -> None:
        self.rounds += 1
        self.bytes_sent += n_bytes


#: What carries arrays, by where they live: the back-end for GPUs adds its own.
carriers: dict[str, type[Exchange]] = {"numpy": Exchange}


def exchange_of(comm: Any, like: Any) -> Any:
    """Return the exchange of a run over a communicator, for arrays that live where one does."""
    xp = namespace(like)
    return carriers["numpy" if xp is np else "cupy"](comm, xp)


def _offsets(counts: Array) -> Array:
    return np.cumsum(counts) - counts
