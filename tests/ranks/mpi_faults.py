"""What goes wrong on one rank is raised on all, and what memory a rank needs; see mpi_checks.py."""

import tracemalloc
from functools import partial

import numpy as np
import scipy.sparse as sp

import sparsematch as sm
from rank_driver import PATCH, run_script
from sparsematch._engines.mpi.core import exchange, host, sides
from sparsematch._engines.mpi.matching import by_rank, forest
from sparsematch._engines.mpi.weighted import auction, duals
from sparsematch._io import UnreadableFile


def assert_raises_on_all(comm, kind, words, call):
    """The same error on every rank, which `call` makes on one."""
    try:
        call()
    except Exception as error:
        found = type(error), str(error)
    else:
        found = object, "no error"
    for there in comm.allgather(found):
        assert there == found, "ranks have different errors"
        assert issubclass(there[0], kind), there
        assert words in there[1], there


def block(comm, xp=np, *, with_values=True, **changes):
    """The arguments of a matrix with two rows on each rank, with some of them changed on one."""
    arguments = {
        "indptr": xp.asarray(np.array([0, 1, 2])),
        "indices": xp.asarray(np.array([0, 1])),
        "first_row": 2 * comm.rank,
        "shape": (2 * comm.size, 3),
        "values": xp.asarray(np.ones(2)) if with_values else None,
    }
    if comm.rank == comm.size - 1:
        arguments |= changes
    return lambda: sm.DistributedCSR(comm, **arguments)


def check_bad_blocks(comm, folder, xp=np):
    """A block that is wrong by itself, or does not go with the others."""
    last, n = comm.size - 1, 2 * comm.size
    front = f"rank {last}: "

    def put(*values):
        return xp.asarray(np.array(values))

    for kind, words, changes in (
        (ValueError, front + "A.indices[1] is 7, in own row 1, but", {"indices": put(0, 7)}),
        (ValueError, front + "A.indices[0] is -1", {"indices": put(-1, 1)}),
        (ValueError, front + "A.indptr decreases at own row 1: from 2", {"indptr": put(0, 2, 1)}),
        (ValueError, front + "A.indptr[0] is 1, but must be 0", {"indptr": put(1, 1, 2)}),
        (ValueError, front + "A.indptr[-1] is 2, but A.indices holds 1", {"indices": put(0)}),
        (TypeError, front + "indices must hold integers, not float64", {"indices": put(0.0, 1)}),
        (TypeError, front + "indptr must hold integers, not float64", {"indptr": put(0.0, 1, 2)}),
        (TypeError, "values are float64 on rank 0, but int8", {"values": xp.ones(2, np.int8)}),
        (TypeError, "values are float64 on rank 0, but none", {"values": None}),
        (ValueError, front + "values has shape (3,)", {"values": xp.ones(3)}),
        (ValueError, f"shape is ({n}, 3) on rank 0, but ({n}, 4)", {"shape": (n, 4)}),
        (TypeError, front + "shape must be a pair (rows, columns), not int", {"shape": n}),
        (ValueError, f"rows {n - 3}:{n - 2} are on rank {last - 1} too", {"first_row": n - 3}),
        (ValueError, f"rows {n - 2}:{n} are on no rank", {"first_row": n}),
        (ValueError, f"the ranks have {n - 1} rows", {"indptr": put(0, 2)}),
    ):
        assert_raises_on_all(comm, kind, words, block(comm, xp, **changes))
    if xp is not np:
        return
    A = np.eye(2) if comm.rank == last else sp.csr_array(np.eye(2))
    words = front + "A must be a sparse array or matrix of SciPy or CuPy, not numpy.ndarray"
    assert_raises_on_all(comm, TypeError, words, lambda: sm.DistributedCSR.from_local(comm, A))
    words = "mat must be a matrix of petsc4py, with getSize"
    assert_raises_on_all(comm, TypeError, words, lambda: sm.DistributedCSR.from_petsc(3))
    words = "comm must be a communicator of mpi4py"
    assert_raises_on_all(comm, TypeError, words, lambda: sm.DistributedCSR.from_local(3, A))


def check_bad_calls(comm, folder):
    """Arguments that are wrong, or different, on one rank."""
    D, last = block(comm)(), comm.rank == comm.size - 1
    front = f"rank {comm.size - 1}: "

    def call(**changes):
        return lambda: sm.maximum_transversal(D, **(changes if last else {}))

    assert_raises_on_all(comm, ValueError, front + "method is 'sort'", call(method="sort"))
    assert_raises_on_all(comm, ValueError, front + "rng is -1", call(rng=-1))
    words = "method must be the same on all ranks, but is 'auto' on rank 0 and 'ms_bfs' on rank"
    assert_raises_on_all(comm, ValueError, words, call(method="ms_bfs"))

    def view(matrix=D, **changes):
        return lambda: sm.view(matrix, **(changes if last else {}))

    assert_raises_on_all(comm, TypeError, front + "A is distributed", view(device="cuda"))
    assert_raises_on_all(comm, ValueError, front + "zeros is 'x', but must be ", view(zeros="x"))
    bare = block(comm, with_values=False)()
    assert_raises_on_all(comm, ValueError, front + "A has no values", view(bare, zeros="drop"))
    if comm.size > 1:
        words = "zeros must be the same on all ranks, but is 'keep' on rank 0 and 'drop' on rank"
        assert_raises_on_all(comm, ValueError, words, view(zeros="drop"))
    mates = sm.maximum_transversal(D)
    short = mates.row_mate[:1], mates.col_mate
    words = front + "initial is not a matching of this matrix: the mates of the rows of this rank"
    initial = short if last else mates
    assert_raises_on_all(
        comm, ValueError, words, lambda: sm.maximum_transversal(D, initial=initial)
    )
    for function in (sm.connected_components, sm.bottleneck_transversal, sm.explain_singularity):
        words = "but this is done in one process only"
        assert_raises_on_all(comm, TypeError, words, lambda call=function: call(D))


def check_wrong_matchings(comm, folder, xp=np, host=np.asarray):
    """Pairs that only one side has, or that are no entries."""
    D = block(comm, xp)()
    matching = sm.maximum_transversal(D)
    assert matching.cardinality == 2
    rows, cols = host(matching.row_mate), host(matching.col_mate)
    no_rows, no_cols = np.full_like(rows, -1), np.full_like(cols, -1)

    def put(*mates):
        return tuple(xp.asarray(mate.copy()) for mate in mates)

    assert sm.is_matching(D, put(rows, cols))
    for mates, words in (
        ((no_rows, cols), "is paired with row"),
        ((rows, no_cols), "is paired with column"),
    ):
        given = put(*mates)
        assert not sm.is_matching(D, given)
        assert_raises_on_all(comm, ValueError, words, lambda pair=given: sm.is_maximum(D, pair))
    empty = put(no_rows, no_cols)
    assert sm.is_matching(D, empty)
    assert not sm.is_maximal(D, empty)
    assert not sm.is_maximum(D, empty)
    words = "matching is not maximum"
    assert_raises_on_all(comm, ValueError, words, lambda: sm.vertex_cover(D, empty))
    # row 0 is matched to a column of the last rank that has no entry in it
    if comm.rank == 0:
        no_rows[0] = 2
    if 2 in D.own_cols:
        no_cols[2 - D.first_col] = 0
    words = "row 0 is paired with column 2, but A[0, 2] is not an entry"
    pair = put(no_rows, no_cols)
    assert_raises_on_all(comm, ValueError, words, lambda: sm.is_maximum(D, pair))


def check_bad_files(comm, folder):
    """Files that are missing, cut short, of another kind."""
    path = folder / "a.mtx"
    head = "%%MatrixMarket matrix coordinate real general\n"
    for text, words in (
        (head + "2 2 2\n1 1 1.0\n", "states 2 entries, but has 1"),
        (head + "2 2 1\n1 3 1.0\n", "has an entry in column 3, of 2 columns"),
        (head + "2 2 1\n1 x 1.0\n", "has the line '1 x 1.0'"),
        (head + "2 2 1\n1 1\n", "has the line '1 1', but an entry of field real has 3 numbers"),
        (head + "two 2 1\n", "has no line with rows, columns and entries"),
        (head.replace("coordinate", "array") + "2 2\n", "holds a dense array"),
        ("2 2 1\n", "does not begin with %%MatrixMarket"),
    ):
        if comm.rank == 0:
            path.write_text(text)
        comm.barrier()
        assert_raises_on_all(comm, UnreadableFile, words, lambda: sm.read_distributed(path, comm))
    other = path.with_suffix(".rb")
    if comm.rank == 0:
        path.rename(other)
    comm.barrier()
    for name, words in ((path, "there is no such file"), (other, "cannot be read in parts")):
        assert_raises_on_all(
            comm, UnreadableFile, words, lambda name=name: sm.read_distributed(name, comm)
        )


def as_if_very_large():
    """A matrix of these tests, which has 100,000 rows, in as many rounds and slices."""
    for module, name, value in (
        *((sides, "_LEAST_SLICE", 1 << 11), (forest, "_ANNOUNCED", 1 << 9)),
        (host, "GATHERED", 0),
        *((auction, "ROUNDS", 4), (duals, "ROUNDS", 4)),  # as much memory in a round as in many
    ):
        PATCH.setattr(module, name, value)


#: Numbers for each own row and column, beside four times the part of the matrix.
WORDS = 6


def check_memory(comm, folder):
    """A rank allocates at most 4 times its part of the matrix, and some words per own vertex.

    Arrays are traced where Python allocates them; compiled kernels have buffers of messages beside.
    """
    as_if_very_large()
    n, kernels = 100_000, [0]
    run_kernel = exchange.Exchange.run_until_quiescent

    def watch(self, kernel):
        steps = run_kernel(self, kernel)
        buffers = kernel.send_headers(), kernel.receive_headers(), kernel.send_buffer()
        size = sum(buffer.nbytes for buffer in (*buffers, kernel.receive_buffer()))
        kernels[0] = max(kernels[0], 2 * size)  # and the lists that these are packed from
        return steps

    import_all(comm)
    PATCH.setattr(exchange.Exchange, "run_until_quiescent", watch)
    tracemalloc.start()
    for degree, spread in ((3, n), (12, n), (12, 40), (40, n)):
        D = rows_of(comm, n, degree, spread)
        W = rows_of(comm, n, degree, spread, values=True)
        share = D.indices.nbytes + D.indptr.nbytes
        calls = [(call, share, D.dtype.itemsize) for call in calls_on(D)]
        # with values: of the matrix with its values, and a number has 8 bytes
        calls += [
            (call, share + W.values.nbytes, 8) for call in calls_with_values(W) if degree < 40
        ]
        for call, part, width in calls:
            kernels[0] = 0
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            call()
            used = tracemalloc.get_traced_memory()[1] - before + kernels[0]
            words = (used - 3 * part) / width / (len(D.own_rows) + len(D.own_cols))
            assert words <= WORDS, (degree, spread, used / part, words)
    tracemalloc.stop()


def import_all(comm):
    """Import what the calls import, as names and code are no array: a table of names has 2 MB."""
    D, W = (rows_of(comm, 100 * comm.size, 3, 50, values=values) for values in (False, True))
    for call in (*calls_on(D), *calls_with_values(W)):
        call()


def calls_on(D):
    """Everything that is done with a matrix over ranks."""
    matching = sm.maximum_transversal(D)
    yield lambda: sm.maximum_transversal(D)
    for init in ("cheap", "by_rank", "karp_sipser"):
        yield partial(sm.maximum_transversal, D, method="none", init=init)
    yield lambda: sm.maximum_transversal(D, method="ms_bfs", init="none")
    yield lambda: sm.coarse_dulmage_mendelsohn(D, matching=matching)
    yield lambda: sm.block_triangular_form(D, matching=matching)
    yield lambda: sm.is_maximum(D, matching)
    yield lambda: sm.permute_and_redistribute(D, matching)


def calls_with_values(W):
    """Everything that is done with its values."""
    yield lambda: sm.maximum_product_transversal(W)
    pairs = np.array(W.own_rows)
    pairs ^= 1  # there are evenly many on each rank
    yield lambda: sm.coarsen(W, pairs)


def rows_of(comm, n, degree, spread, values=False):
    """The rows of this rank, of n, with entries at random within a distance of the diagonal."""
    rng, n_own = np.random.default_rng(comm.rank), n // comm.size
    rows = np.repeat(np.arange(n_own) + comm.rank * n_own, degree)
    indices = ((rows + rng.integers(-spread, spread + 1, rows.size)) % n).astype(np.int32)
    numbers = np.exp(rng.normal(size=indices.size)) if values else None
    return sm.DistributedCSR(
        comm, np.arange(n_own + 1) * degree, indices, comm.rank * n_own, (n, n), numbers
    )


def check_no_array_of_global_length(comm, folder):
    """At no exchange is there an array with an element for every row or column."""
    as_if_very_large()
    n, rng = 40_000, np.random.default_rng(comm.rank)
    n_own = n // comm.size
    D = sm.DistributedCSR(
        comm, np.arange(n_own + 1), rng.integers(0, n, n_own), comm.rank * n_own, (n, n)
    )
    W = rows_of(comm, n, 1, n, values=True)
    largest, send = [0], exchange.Exchange._send

    def watch(self, *arguments):
        if self.rounds % 7 == 0:
            traces = tracemalloc.take_snapshot().traces
            largest[0] = max(largest[0], *(trace.size for trace in traces))
        return send(self, *arguments)

    import_all(comm)
    PATCH.setattr(exchange.Exchange, "_send", watch)
    tracemalloc.start()
    matching = sm.maximum_transversal(D)
    sm.block_triangular_form(D, matching=matching)
    sm.permute_and_redistribute(D, matching)
    assert sm.is_maximum(D, matching)
    sm.maximum_product_transversal(W)
    tracemalloc.stop()
    assert 0 < largest[0] < n * 4, largest


def break_alone(comm, module, name, error):
    """Have a function raise on the last rank, as the disk, the user or the system has it."""

    def fail(*_, **__):
        raise error

    if comm.rank == comm.size - 1:
        PATCH.setattr(module, name, fail)


def fail_alone(comm, folder, error=RuntimeError("the disk is on fire")):  # noqa: B008
    """One rank has an unexpected error, within an engine."""
    break_alone(comm, by_rank, "match_alone", error)
    sm.maximum_transversal(block(comm)(), init="by_rank", method="ms_bfs")


def interrupt_alone(comm, folder):
    """One rank is interrupted (Ctrl-C), the others wait for it."""
    fail_alone(comm, folder, KeyboardInterrupt())


def lack_memory_alone(comm, folder):
    """One rank has no memory for what another one sends it."""
    break_alone(comm, exchange, "_offsets", MemoryError("no memory for messages"))
    sm.maximum_transversal(rows_of(comm, 3000, 4, 3000), init="karp_sipser", method="ms_bfs")


def collective_calls(comm, folder, D, seed):
    """Every public call in which all ranks take part, by its name, on one matrix."""
    matching = sm.maximum_transversal(D, rng=seed)
    heavy = sm.maximum_product_transversal(D)
    edges = sm.maximal_matching(D, rng=seed)
    form = sm.block_triangular_form(D)
    path = folder / "eye.npz"
    if comm.rank == 0:
        sp.save_npz(path, sp.csr_array(np.eye(3)))
        sp.save_npz(path.with_name("wide.npz"), sp.csr_array(np.eye(3, 4)))
        np.save(path.with_suffix(".npy"), np.array([[0, 1]]))
    comm.barrier()
    one_argument = (
        *(sm.maximum_transversal, sm.structural_rank, sm.is_structurally_singular),
        *(sm.block_triangular_form, sm.is_reducible, sm.coarse_dulmage_mendelsohn),
        *(sm.maximum_product_transversal, sm.approximate_matching),
    )
    with_matching = sm.is_matching, sm.is_maximal, sm.is_maximum, sm.vertex_cover
    moved = sm.permute_and_redistribute
    return {
        **{call.__name__: partial(call, D) for call in one_argument},
        **{call.__name__: partial(call, D, matching) for call in with_matching},
        "a start": partial(sm.maximum_transversal, D, initial=matching),
        "permute_and_redistribute": partial(moved, D, matching),
        "the same with factors": partial(moved, D, heavy),
        "coarsen": partial(sm.coarsen, D, edges),
        "gather": matching.gather,
        "gather of edges": edges.gather,
        "gather of a form": form.gather,
        "construction": partial(sm.DistributedCSR, comm, *block_of(D), D.values),
        "from_local": partial(sm.DistributedCSR.from_local, comm, D.to_local()),
        "read_distributed": partial(sm.read_distributed, path, comm),
        "another file": partial(sm.read_distributed, path.with_name("wide.npz"), comm),
        "edges": partial(sm.read_distributed, path.with_suffix(".npy"), comm),
        "vertices": partial(sm.read_distributed, path, comm, n_vertices=3),
    }


def block_of(D):
    return D.indptr, D.indices, D.first_row, D.shape


def check_different_calls(comm, folder):
    """Ranks that are in different calls, or in one with different matrices, all raise."""
    own, n = np.arange(3) + 3 * comm.rank, 3 * comm.size
    D, other = (
        sm.DistributedCSR(comm, [0, 1, 2, 3], cols, own[0], (n, n), np.ones(3))
        for cols in (own, own[::-1])
    )
    calls, others = (
        collective_calls(comm, folder, matrix, seed) for seed, matrix in enumerate((D, other))
    )
    last, names = comm.rank == comm.size - 1, list(calls)
    for k, name in enumerate(names):
        for there in (names[k - 1], names[k - 7]):
            error = raised_by(calls[there if last else name])
            assert all(comm.allgather(error is not None)), (name, there)
            assert len(set(comm.allgather(str(error)))) == 1, (name, there)
    on_a_matrix = names[: names.index("construction")]
    for name in on_a_matrix:
        words = "all ranks must make the same calls, on the same objects"
        assert_raises_on_all(comm, RuntimeError, words, (others if last else calls)[name])


def raised_by(call):
    try:
        call()
    except Exception as error:
        return error


if __name__ == "__main__":
    run_script(globals())
