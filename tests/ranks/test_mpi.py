"""Matrices over MPI ranks: the checks of mpi_*.py under mpiexec, and the command line."""

import json
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_rank_checks
import mpi_block_checks
import mpi_checks
import mpi_faults
import mpi_graph_checks
import mpi_weighted_checks
import sparsematch as sm
import suitesparse
from calls import run_python
from gpu_calls import MISSING
from graphs import random_graph
from rank_driver import HERE, checks_of, command_line, needs_mpi, over_ranks, start
from sparsematch._engines import registry
from sparsematch._engines.mpi.core.exchange import import_mpi
from sparsematch._engines.mpi.matching import auto as mpi_auto
from sparsematch._engines.registry import Run
from sparsematch._types.over_ranks.matching import DistributedMatching

#: Checks of the memory of a rank, which take large matrices, and others on some numbers of ranks.
APART = {"check_no_array_of_global_length", "check_memory", "check_different_calls"}
APART |= {"check_bad_graphs"}
needs_kernels = pytest.mark.skipif(bool(MISSING), reason=str(MISSING))


def others(module):
    return [name for name in checks_of(module) if name not in APART]


@needs_mpi
@over_ranks(
    (mpi_checks, (1, 2, 3, 4)),
    (mpi_block_checks, (1, 2, 3)),
    (mpi_weighted_checks, (1, 2, 3)),
    (mpi_faults, (2, 3), *others(mpi_faults)),
    (mpi_faults, (4,), "check_no_array_of_global_length", "check_memory"),
    (mpi_faults, (3,), "check_different_calls"),
    (mpi_graph_checks, (1, 2, 3, 4), *others(mpi_graph_checks)),
    (mpi_graph_checks, (2, 3), "check_bad_graphs"),
    (mpi_graph_checks, (4,), "check_memory"),
)
def test_over_ranks(check, assert_passes):
    assert_passes(check)


@needs_mpi
@needs_kernels
@over_ranks((gpu_rank_checks, (1, 3)))
def test_over_gpus(check, assert_passes):
    """Of each rank one, or the stand-in for it."""
    assert_passes(check)


@needs_mpi
@pytest.mark.parametrize(
    ("script", "what", "words", "status"),
    [
        ("mpi_faults.py", "fail_alone", "the disk is on fire", 1),
        ("mpi_faults.py", "lack_memory_alone", "no memory for messages", 1),
        ("mpi_faults.py", "interrupt_alone", "interrupted", 130),
        ("mpi_graph_checks.py", "fail_alone", "the disk is on fire", 1),
        pytest.param(
            "gpu_rank_checks.py", "fail_alone", "device is on fire", 1, marks=needs_kernels
        ),
    ],
)
def test_a_rank_that_fails_ends_all(script, what, words, status, tmp_path):
    """The last of three ranks fails in an engine."""
    done = start(3, HERE / script, tmp_path, what)
    assert done.returncode == status
    assert "rank 2 ends all ranks: " in done.stderr
    assert words in done.stderr
    assert "passed" not in done.stdout


@pytest.fixture(scope="module")
def matrix_file(tmp_path_factory):
    """A singular matrix with all three coarse parts."""
    A = sp.random_array((60, 50), density=0.03, rng=np.random.default_rng(1))
    path = tmp_path_factory.mktemp("files") / "matrix.npz"
    sp.save_npz(path, A.tocsr())
    return path, A.tocsr()


@needs_mpi
def test_command_line_rank(matrix_file):
    """Rank 0 alone prints."""
    path, A = matrix_file
    rank = sm.structural_rank(A)
    done = command_line(3, "rank", path, path, "--check")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all(f"structural rank {rank} of 50" in line for line in lines)
    one = command_line(2, "rank", path)
    assert one.returncode == 0
    assert "on each of 2 ranks" in one.stdout


@needs_mpi
def test_command_line_match(matrix_file, tmp_path):
    path, A = matrix_file
    saved = tmp_path / "mates.npz"
    done = command_line(2, "match", path, "--json", "--save", saved)
    assert (done.returncode, done.stderr) == (0, "")
    fields, arrays = json.loads(done.stdout), np.load(saved)
    assert fields["ranks"] == 2
    assert fields["exchanges"] > 0
    assert sm.is_maximum(A, (arrays["row_mate"], arrays["col_mate"]))
    p = sm.Matching(arrays["row_mate"], arrays["col_mate"]).as_permutation()
    assert np.array_equal(arrays["permutation"], p)
    assert np.count_nonzero(A[p][:50].diagonal()) == fields["structural_rank"]


@needs_mpi
def test_command_line_btf(matrix_file, tmp_path):
    """The fields of one process, but for what ranks are; permutations only if they are wanted."""
    path, A = matrix_file
    saved = tmp_path / "form.npz"
    fields = json.loads(command_line(3, "btf", path, "--json", "--save", saved).stdout)
    one = json.loads(command_line(1, "btf", path, "--json").stdout)
    apart = {"seconds", "stages", "engines", "method", "init", "saved"}
    assert one.keys() - fields.keys() <= apart
    for name in one.keys() - apart:
        assert fields[name] == one[name], name
    arrays = np.load(saved)
    B = A[arrays["row_perm"]][:, arrays["col_perm"]].tocoo()
    ends = arrays["row_blocks"], arrays["col_blocks"]
    row_block, col_block = (
        np.searchsorted(side, at, side="right")
        for side, at in zip(ends, (B.row, B.col), strict=True)
    )
    assert np.all(row_block <= col_block)
    assert len(ends[0]) - 1 == fields["n_blocks"] == sm.block_triangular_form(A).n_blocks
    text = command_line(2, "btf", path).stdout
    assert "over-determined" in text
    assert f"block form        {fields['n_blocks']} blocks" in text


@needs_mpi
@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ("rank none.npz", 3, "none.npz: there is no such file"),
        ("explain none.npz", 2, "explain is done in one process, but there are 2 ranks"),
        ("rank -", 2, "standard input, which 2 ranks cannot share"),
        ("btf none.npz --plot a.png", 2, "--plot needs the whole matrix"),
        ("match none.npz --save none/a.npz", 4, "the folder does not exist"),
        ("rank", 2, "the following arguments are required: FILE"),
    ],
)
def test_command_line_refuses(arguments, status, words):
    done = command_line(2, *arguments.split())
    assert done.returncode == status
    assert done.stdout == ""
    assert done.stderr.count(words) == 1, done.stderr


#: Square, all three coarse parts, tall, wide; and one whose first turn unmatches columns in the
#: second.
SELECTION = ["west0479", "494_bus", "lp_25fv47", "celegansneural", "illc1033", "LISWET4_A"]
SELECTION += ["lp_scorpion", "basis_d2q06c", "QPCBOEI1_A", "GD06_theory"]


@needs_mpi
@pytest.mark.parametrize("n_ranks", [2, 3])
def test_real_matrices(n_ranks, tmp_path):
    """Against published values; benchmarks/ranks.py does all of a folder."""
    names = [name for name in SELECTION if suitesparse.find(name)]
    suitesparse.copy(names, tmp_path)
    program = HERE.parents[1] / "benchmarks" / "ranks.py"
    done = start(n_ranks, program, "real", tmp_path, *names)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert f"{len(names)} of {len(names)} right on {n_ranks} ranks" in done.stdout


def test_without_mpi4py(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(ImportError, match="pip install mpi4py mpich brings it, with an MPI"):
        import_mpi()


def test_command_line_without_mpi4py(matrix_file):
    """A launcher says that there are several ranks, but nothing is there to join them."""
    code = (
        "import sys; sys.modules['mpi4py'] = None; from sparsematch.cli import main;"
        f"sys.exit(main(['rank', {str(matrix_file[0])!r}]))"
    )
    done = run_python("-c", code, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"})
    assert done.returncode == 4
    assert "several ranks need mpi4py" in done.stderr


def test_one_process_needs_no_mpi():
    """Without a communicator a matrix is whole, and nothing is imported."""
    code = (
        "import sys, numpy as np, scipy.sparse as sp, sparsematch as sm;"
        "A = sm.DistributedCSR.from_local(None, sp.csr_array(np.eye(3)[::-1]));"
        "m = sm.maximum_transversal(A, method='ms_bfs');"
        "assert sm.is_maximum(A, m) and m.is_perfect;"
        "assert m.perm_r().tolist() == [2, 1, 0];"
        "assert m.to_matlab().tolist() == [3, 2, 1] and m.to_pyomo() == {0: 2, 1: 1, 2: 0};"
        "assert sm.permute_and_redistribute(A, m).to_local().diagonal().all();"
        "assert 'mpi4py' not in sys.modules"
    )
    done = run_python("-c", code)
    assert (done.returncode, done.stderr) == (0, "")


def test_one_rank_counts_entries_beyond_the_type_of_its_indices(monkeypatch):
    """The boundaries of rows then need 64 bits, though columns do not."""
    A = sm.DistributedCSR(None, [0, 1], np.zeros(1, np.int32), 0, (1, 1))
    matching = DistributedMatching.start(A)
    object.__setattr__(A, "nnz", 2**31)
    seen = []
    engine = SimpleNamespace(improve=lambda *given: seen.extend(given))
    monkeypatch.setattr(registry, "select", lambda *_, **__: engine)
    mpi_auto.improve(A, matching, Run())
    graph, mates, _ = seen
    assert graph.indptr.dtype == graph.indices.dtype == mates.row_mate.dtype == np.int64
    assert matching.row_mate.dtype == np.int32


ONE = sp.csr_array(np.eye(1))


def test_types():
    A = sm.DistributedCSR.from_local(None, sp.csr_array(np.eye(2)))
    assert isinstance(sm.maximum_transversal(A), sm.DistributedMatching)
    parts = sm.coarse_dulmage_mendelsohn(A)
    assert isinstance(parts, sm.CoarseParts)
    assert parts.sizes == ((0, 0), (2, 2), (0, 0))
    assert isinstance(sm.block_triangular_form(A), sm.DistributedBlockForm)
    assert isinstance(sm.maximum_product_transversal(A), sm.DistributedTransversal)
    bare = sm.DistributedCSR(None, [0, 1], [0], 0, (1, 1))
    with pytest.raises(TypeError, match="A has no values, which are the weights"):
        sm.maximum_product_transversal(bare)
    with pytest.raises(ValueError, match="A has no values, which the factors"):
        sm.permute_and_redistribute(
            bare, sm.maximum_product_transversal(sm.DistributedCSR.from_local(None, ONE))
        )
    infinite = sm.DistributedCSR.from_local(None, np.inf * ONE)
    with pytest.raises(ValueError, match=r"A\[0, 0\] is inf, which is not finite"):
        sm.maximum_product_transversal(infinite)
    with pytest.raises(TypeError, match="A must be a DistributedCSR"):
        sm.permute_and_redistribute(sp.csr_array(np.eye(2)), [0, 1])


def test_the_only_file_that_calls_mpi():
    """Elsewhere no method of a communicator is called, but the one that agreeing needs."""
    calls = [f".{name}(" for name in ("Alltoallv", "Allreduce", "Allgatherv", "Bcast", "Barrier")]
    calls += [f"comm.{name}(" for name in ("allgather", "bcast", "barrier", "allreduce", "Abort")]
    package = HERE.parents[1] / "sparsematch"
    found = {
        (path.name, call)
        for path in package.rglob("*.py")
        for call in calls
        if call in path.read_text(encoding="utf-8") and path.name != "exchange.py"
    }
    assert found == {("agreement.py", "comm.allgather(")}


def graph_of_one_process():
    return sm.DistributedCSR.from_local(None, random_graph(80, 5, seed=11))


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("weights", [True, False])
def test_threads_of_a_rank(workers, weights):
    """Each has blocks of 2048 vertices of its own."""
    G = random_graph(30_000, 6, seed=13)
    D = sm.DistributedCSR.from_local(None, G)
    matching = sm.approximate_matching(D, weights=weights, workers=workers)
    assert matching.gather() == sm.approximate_matching(G, weights=weights)


def test_a_communicator_of_none_is_one_process():
    """The same result, without MPI; the engines that there are."""
    G, D = random_graph(80, 5, seed=11), graph_of_one_process()
    matching = sm.approximate_matching(D)
    assert matching.gather() == sm.approximate_matching(G)
    assert np.array_equal(matching.as_permutation(), sm.approximate_matching(G).as_permutation())
    assert repr(matching).startswith("DistributedGraphMatching(80 vertices, cardinality ")
    assert isinstance(sm.maximal_matching(D), sm.DistributedGraphMatching)
    names = {engine.name: engine for engine in sm.engines("approximate", backend="mpi")}
    assert set(names) == {"auto", "local_max"}
    assert names["local_max"].guarantee == 0.5
    assert names["local_max"].multithreaded


def test_what_is_done_in_one_process_only():
    D = graph_of_one_process()
    with pytest.raises(TypeError, match="distributed over ranks, but this is done in one"):
        sm.coarsening_hierarchy(D, min_vertices=2)
    with pytest.raises(ValueError, match="join_unmatched is True, but over ranks"):
        sm.coarsen(D, sm.approximate_matching(D), join_unmatched=True)


def test_more_entries_than_an_index_type_counts(monkeypatch):
    """Where a rank has more than 2**31 entries, ranks go on with int64; mates have their type."""
    monkeypatch.setattr("sparsematch._api.over_ranks.general.INT32_MAX", 10)
    G, D = random_graph(80, 5, seed=11), graph_of_one_process()
    assert D.dtype == np.int32
    matching = sm.approximate_matching(D)
    assert matching.mate.dtype == np.int32
    assert matching.gather() == sm.approximate_matching(G)
