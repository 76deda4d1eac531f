"""The commands for general graphs: coarsen and match-edges."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch
from graphs import random_graph
from sparsematch.cli import main
from sparsematch.cli.progress import Progress

G = random_graph(3000, 8, seed=61)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    sp.save_npz(folder / "graph.npz", G)
    sp.save_npz(folder / "one_sided.npz", sp.csr_array(sp.triu(G)))
    sparsematch.write_edge_file(folder / "edges.npy", G)
    np.save(folder / "wrong.npy", np.ones(3))
    np.save(
        folder / "nan.npy", np.array([(0, 1, np.nan)], [("u", "i4"), ("v", "i4"), ("weight", "f8")])
    )
    return folder


def test_coarsen(folder, capsys, tmp_path):
    out = str(tmp_path / "levels.npz")
    assert (
        main(
            [
                "coarsen",
                str(folder / "graph.npz"),
                "--min-vertices",
                "200",
                "--workers",
                "2",
                "--save",
                out,
            ]
        )
        == 0
    )
    text = capsys.readouterr().out
    h = sparsematch.coarsening_hierarchy(G, min_vertices=200)
    assert f"{h.sizes[1]:,} vertices" in text
    assert out in text
    saved = np.load(out)
    assert saved["vertices"].tolist() == list(h.sizes)
    assert np.array_equal(saved["aggregates"][-1], h.aggregates())
    assert (
        main(
            [
                "coarsen",
                str(folder / "graph.npz"),
                "--max-levels",
                "2",
                "--method",
                "greedy",
                "--json",
            ]
        )
        == 0
    )
    fields = json.loads(capsys.readouterr().out)
    assert (fields["vertices"], fields["stopped_by"]) == (list(h.sizes[:2]), "max_levels")
    assert fields["pairs"] == [h.levels[0].matching.cardinality]


def test_coarsen_what_is_not_symmetric(folder, capsys):
    file = str(folder / "one_sided.npz")
    assert main(["coarsen", file]) == 4
    said = capsys.readouterr().err
    assert "must be symmetric" in said
    assert "; --symmetrize takes the larger" in said
    assert main(["coarsen", file, "--symmetrize", "--unweighted", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_match_edges(folder, capsys, tmp_path):
    file, out = str(folder / "edges.npy"), str(tmp_path / "mates.npy")
    assert (
        main(["match-edges", file, "--vertices", "3000", "--save", out, "--scratch", str(tmp_path)])
        == 0
    )
    text = capsys.readouterr().out
    m = sparsematch.approximate_matching(G)
    assert f"3,000 vertices, {G.nnz // 2:,} edges" in text
    assert f"{m.cardinality:,}, " in text
    assert np.array_equal(np.load(out), m.mate)
    assert main(["match-edges", file, "--unweighted", "--seed", "3", "--json"]) == 0
    fields = json.loads(capsys.readouterr().out)
    assert (
        fields["weight"]
        == fields["cardinality"]
        == sparsematch.maximal_matching(G, rng=3).cardinality
    )


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


def test_progress_says_what_is_going_on_now():
    """Words that are made when the line is written."""

    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    import time

    terminal, state = Terminal(), ["first"]
    with Progress(terminal).step("work", lambda: state[0]):
        time.sleep(0.6)
        state[0] = "second"
        time.sleep(0.4)
    assert terminal.text.index("first ...") < terminal.text.index("second ...")
