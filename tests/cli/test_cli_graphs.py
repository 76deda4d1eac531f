"""The commands for general graphs: coarsen and match-edges."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch
from graphs import random_graph
from sparsematch.cli import main

G = random_graph(3000, 8, seed=61)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    sp.save_npz(folder / "graph.npz", G)
    sp.save_npz(folder / "one_sided.npz", sp.csr_array(sp.triu(G)))
    sparsematch.edge_files.write_edge_file(folder / "edges.npy", G)
    np.save(folder / "wrong.npy", np.ones(3))
    record = [("u", "i4"), ("v", "i4"), ("weight", "f8")]
    np.save(folder / "nan.npy", np.array([(0, 1, np.nan)], record))
    return folder


def run(folder, command, file, options):
    return main([command, str(folder / file), *options.split()])


def test_coarsen(folder, capsys, tmp_path):
    out = str(tmp_path / "levels.npz")
    assert run(folder, "coarsen", "graph.npz", f"--min-vertices 200 --workers 2 --save {out}") == 0
    text = capsys.readouterr().out
    h = sparsematch.coarsening_hierarchy(G, min_vertices=200)
    assert f"{h.sizes[1]:,} vertices" in text
    assert out in text
    saved = np.load(out)
    assert saved["vertices"].tolist() == list(h.sizes)
    assert np.array_equal(saved["aggregates"][-1], h.aggregates())
    assert run(folder, "coarsen", "graph.npz", "--max-levels 2 --method greedy --json") == 0
    fields = json.loads(capsys.readouterr().out)
    assert (fields["vertices"], fields["stopped_by"]) == (list(h.sizes[:2]), "max_levels")
    assert fields["pairs"] == [h.levels[0].matching.cardinality]


def test_coarsen_what_is_not_symmetric(folder, capsys):
    assert run(folder, "coarsen", "one_sided.npz", "") == 4
    said = capsys.readouterr().err
    assert "must be symmetric" in said
    assert "; --symmetrize takes the larger" in said
    assert run(folder, "coarsen", "one_sided.npz", "--symmetrize --unweighted --quiet") == 0
    assert capsys.readouterr().out == ""


def test_match_edges(folder, capsys, tmp_path):
    out = tmp_path / "mates.npy"
    options = f"--vertices 3000 --save {out} --scratch {tmp_path}"
    assert run(folder, "match-edges", "edges.npy", options) == 0
    text = capsys.readouterr().out
    m = sparsematch.approximate_matching(G)
    assert f"3,000 vertices, {G.nnz // 2:,} edges" in text
    assert f"{m.cardinality:,}, " in text
    assert np.array_equal(np.load(out), m.mate)
    assert run(folder, "match-edges", "edges.npy", "--unweighted --seed 3 --json") == 0
    fields, m = json.loads(capsys.readouterr().out), sparsematch.maximal_matching(G, rng=3)
    assert fields["weight"] == fields["cardinality"] == m.cardinality


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["absent.npy"], 3, "there is no such file"),
        (["wrong.npy"], 3, "'u' and 'v'"),
        (["nan.npy"], 3, "weighs nan"),
        (["edges.npy", "--vertices", "5"], 3, "the vertices are 0 to 4"),
        (["edges.npy", "--save", "absent/mates.npy"], 4, "the folder does not exist"),
        (["edges.npy", "--scratch", "absent"], 4, "No such file"),
    ],
)
def test_match_edges_that_fail(folder, capsys, monkeypatch, argv, status, words):
    monkeypatch.chdir(folder)
    assert main(["match-edges", *argv]) == status
    assert words in capsys.readouterr().err
