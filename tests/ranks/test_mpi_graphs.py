"""General graphs over MPI ranks: the checks of mpi_*.py under mpiexec, and the command line."""

import json

import numpy as np
import pytest

import mpi_coarsening_checks
import mpi_graph_checks
import sparsematch as sm
from graphs import random_graph
from rank_driver import (
    assert_one_rank_ends_all,
    checks_of,
    command_line,
    needs_mpi,
    over_ranks,
)

#: Checks of what goes wrong, and of memory, on other numbers of ranks.
APART = {"check_bad_graphs", "check_memory"}
OTHERS = [name for name in checks_of(mpi_graph_checks) if name not in APART]


@needs_mpi
@over_ranks(
    (mpi_graph_checks, (1, 2, 3, 4), *OTHERS),
    (mpi_graph_checks, (2, 3), "check_bad_graphs"),
    (mpi_graph_checks, (4,), "check_memory"),
    (mpi_coarsening_checks, (1, 2, 3, 4)),
)
def test_over_ranks(check, assert_passes):
    assert_passes(check)


@needs_mpi
@pytest.mark.parametrize(
    ("what", "words", "status"),
    [("fail_alone", "the disk is on fire", 1), ("interrupt_alone", "interrupted", 130)],
)
def test_a_rank_that_fails_ends_all(what, words, status, tmp_path):
    assert_one_rank_ends_all("mpi_graph_checks.py", tmp_path, what, words, status)


@pytest.fixture(scope="module")
def edge_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "edges.npy"
    sm.edge_files.write_edge_file(path, random_graph(500, 6, seed=7))
    return path


@needs_mpi
@pytest.mark.parametrize("unweighted", [False, True])
def test_command_line_match_edges(edge_file, tmp_path, unweighted):
    saved = tmp_path / "mates.npy"
    options = ["--seed", "3", *(["--unweighted"] if unweighted else [])]
    done = command_line(3, "match-edges", edge_file, "--json", "--save", saved, *options)
    assert (done.returncode, done.stderr) == (0, "")
    fields = json.loads(done.stdout)
    expected = sm.edge_files.match_edge_file(edge_file, weights=not unweighted, rng=3)
    assert np.array_equal(np.load(saved), expected.mate)
    assert fields["ranks"] == 3
    assert fields["exchanges"] > 0
    assert fields["n_vertices"] == expected.mate.size
    assert fields["n_edges"] == expected.info.steps[0].live_edges[0]
    assert fields["cardinality"] == expected.cardinality
    assert fields["weight"] == pytest.approx(expected.weight, rel=1e-12)


@needs_mpi
def test_command_line_prints_once(edge_file):
    done = command_line(2, "match-edges", edge_file, "--vertices", "600")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("600 vertices") == 1
    assert "exchanges between 2 ranks" in done.stdout


@needs_mpi
@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["none.npy"], 3, "none.npy: there is no such file"),
        (["--vertices", "5"], 3, "but the vertices are 0 to 4"),
        (["--scratch", "."], 2, "--scratch is for one process"),
        (["--save", "none/a.npy"], 4, "the folder does not exist"),
    ],
)
def test_command_line_refuses(edge_file, arguments, status, words):
    file = [] if arguments[0].endswith(".npy") else [edge_file]
    done = command_line(2, "match-edges", *file, *arguments)
    assert done.returncode == status
    assert done.stdout == ""
    assert done.stderr.count(words) == 1, done.stderr


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
