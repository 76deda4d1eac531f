"""Matching of edges in a file: the same as in memory, with memory for the vertices alone."""

import os
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib import format as npy

import sparsematch as sm
from calls import in_a_new_process
from graphs import edges_of, graph, graphs, random_graph, save_edges
from sparsematch import edge_files

pytestmark = [pytest.mark.asan, pytest.mark.wheel]

RECORDS = [
    np.dtype([("u", i), ("v", i), ("weight", w)][: 3 if w else 2])
    for i in ("i4", "i8")
    for w in (None, "f4", "f8")
]


def save(path, edges, record=RECORDS[2]):
    """A file of these tuples."""
    np.save(path, np.array([tuple(e) for e in edges], record))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("edges") / "edges.npy"


def test_the_same_matching_as_in_memory(file):
    """Edges in any order and direction, repeated; weights of the file's type, which may count."""

    @given(st.data(), graphs(), st.sampled_from(RECORDS), st.integers(0, 3), st.booleans())
    def holds(data, G, record, rng, weights):
        weighted = weights and "weight" in record.names
        edges = [(u, v, np.float32(w)) for (u, v), w in edges_of(G).items()]
        share = lambda: np.float32(data.draw(st.floats(-1, 1, width=32)))
        lighter = [(v, u, w * share()) for u, v, w in edges]
        loops = [(v, v, np.nan) for v in range(G.shape[0])]
        listed = data.draw(st.permutations(edges + lighter + loops))
        save(file, [e[: len(record.names)] for e in listed], record)
        n_vertices = data.draw(st.sampled_from([None, G.shape[0]]))
        m = edge_files.match_edge_file(file, rng=rng, n_vertices=n_vertices, weights=weights)
        whole = graph(G.shape[0], [e[:2] for e in edges], [e[2] for e in edges])
        expected = sm.approximate_matching(whole, rng=rng, weights=weighted)
        assert m.mate.dtype == record["u"]
        assert m.mate.tolist() == expected.mate.tolist()
        assert m.weight == expected.weight

    holds()


def save_graph(path, G):
    """A file of the upper triangle of a matrix without repeats; how many edges there are."""
    upper = sp.triu(G, 1, "coo")
    save_edges(path, upper.row, upper.col, upper.data)
    return upper.nnz


def test_large_enough_for_several_chunks_and_scratch_files(file, tmp_path):
    G = random_graph(200_000, 64, seed=41)
    assert save_graph(file, G) > 6_000_000 // 2
    expected = sm.approximate_matching(G, rng=1, return_info=True)
    m = edge_files.match_edge_file(file, rng=1, scratch=tmp_path)
    assert m == expected
    assert m.weight == expected.weight
    (step,) = m.info.steps
    assert step.matched[-1] == 2 * m.cardinality == 2 * step.cardinality
    assert step.live_edges[0] == len(np.load(file, mmap_mode="r"))
    assert len(step.live_edges) == len(step.matched) == step.phases
    assert step.edges <= 4 * step.live_edges[0]
    assert list(tmp_path.iterdir()) == []


def test_no_edges(file):
    save(file, [])
    assert edge_files.match_edge_file(file).mate.size == 0
    assert edge_files.match_edge_file(file, n_vertices=3).mate.tolist() == [-1] * 3


def test_records_with_padding_between_the_fields(file):
    formats = {"names": ["v", "x", "u", "weight"], "formats": ["i4", "u1", "i4", "f4"]}
    record = np.dtype(formats | {"offsets": [2, 6, 9, 20]})
    save(file, [(1, 7, 0, 2.0), (2, 7, 1, 3.0)], record)
    assert edge_files.match_edge_file(file).mate.tolist() == [-1, 2, 1]


def fields(**types):
    return np.dtype(list(types.items()))


@pytest.mark.parametrize(
    ("edges", "record", "how", "words"),
    [
        ([(0, 5, 1.0)], RECORDS[2], {"n_vertices": 5}, r"\(0, 5\), but the vertices are 0 to 4"),
        ([(0, 1, 1.0), (-1, 1, 1.0)], RECORDS[2], {}, r"edge 1 of .* is \(-1, 1\)"),
        ([(0, 1, 1.0), (1, 2, np.nan)], RECORDS[1], {}, r"edge 1 of .*, \(1, 2\), weighs nan"),
        ([(2, 1, -np.inf)], RECORDS[5], {}, r"edge 0 of .*, \(2, 1\), weighs -inf"),
        ([(0, 1)], fields(u="u4", v="u4"), {}, "'u' and 'v' .both int32 or both int64."),
        ([(0, 1)], fields(u="i4", v="i8"), {}, "both int32"),
        ([(0, 1)], fields(u=">i4", v=">i4"), {}, "both int32"),
        ([(0, 1)], fields(a="i4", b="i4"), {}, "both int32"),
        ([(0, 1, 3)], fields(u="i4", v="i4", weight="i4"), {}, "float32 or float64"),
        ([(0, 1)], RECORDS[0], {"n_vertices": 2**31}, "n_vertices is 2147483648"),
        ([(0, 2**63 - 1)], RECORDS[3], {}, "n_vertices is 9223372036854775808"),
        ([(0, 1)], RECORDS[0], {"n_vertices": -1}, "n_vertices is -1"),
        ([(0, 1)], RECORDS[0], {"n_vertices": 1.5}, "n_vertices must be an integer"),
        ([(0, 1)], RECORDS[0], {"weights": 1}, "weights must be True or False"),
        ([(0, 1)], RECORDS[0], {"rng": -1}, "rng is -1"),
    ],
)
def test_bad_files_and_arguments(file, edges, record, how, words):
    with pytest.raises(TypeError if "must be" in words else ValueError, match=words):
        edge_files.match_edge_file(save(file, edges, record), **how)


def test_ranks_refuse_a_vertex_that_leaves_no_count(file):
    save(file, [(0, 2**63 - 1)], RECORDS[3])
    with pytest.raises(ValueError, match="n_vertices is 9223372036854775808"):
        sm.read_distributed(file, None)


def test_weights_that_do_not_count_are_not_read(file):
    save(file, [(0, 1, np.nan)])
    assert edge_files.match_edge_file(file, weights=False).weight == 1


def test_files_that_are_none(file, tmp_path):
    with pytest.raises(FileNotFoundError):
        edge_files.match_edge_file(tmp_path / "absent.npy")
    file.write_bytes(b"%%MatrixMarket matrix")
    with pytest.raises(ValueError, match=r"is not a \.npy file of one dimension"):
        edge_files.match_edge_file(file)
    np.save(file, np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"shape \(3, 2\)"):
        edge_files.match_edge_file(file)
    save(file, [(0, 1, 1.0)] * 100)
    os.truncate(file, file.stat().st_size - 8)
    with pytest.raises(ValueError, match=r"is not a \.npy file"):  # cut short
        edge_files.match_edge_file(file)
    save(file, [(0, 1, 1.0)])
    with pytest.raises(FileNotFoundError):
        edge_files.match_edge_file(file, scratch=tmp_path / "absent")
    with pytest.raises(ValueError, match="is not UTF-8"):
        edge_files.match_edge_file(tmp_path / "\udcff.npy")


#: Peak of the process before and after the call, in bytes: Linux reports it, and resets it on
#: request.
MEMORY = """
import sys
from sparsematch import edge_files

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))

edge_files.match_edge_file(sys.argv[1], n_vertices=1 << 18)  # what is loaded and allocated once
before = peak()
edge_files.match_edge_file(sys.argv[2], n_vertices=1 << 18)
print(peak() - before)
"""


@pytest.mark.large
@pytest.mark.skipif(
    not os.path.exists("/proc/self/status"),
    reason="only Linux reports the peak of a process's memory",
)
def test_memory_does_not_grow_with_the_edges(tmp_path):
    """A file of 160 MB after one of 16 MB: buffers may grow, the edges are not held."""
    rng, n = np.random.default_rng(53), 1 << 18
    for name, chunks in (("small", 1), ("large", 10)):
        edges = npy.open_memmap(tmp_path / name, "w+", RECORDS[2], (chunks * 10**6,))
        for part in np.split(edges, chunks):
            part["u"], part["v"] = rng.integers(n, size=(2, 10**6), dtype=np.int32)
            part["weight"] = rng.random(10**6)
    process = in_a_new_process(MEMORY, str(tmp_path / "small"), str(tmp_path / "large"))
    grown = int(process.communicate(timeout=120)[0])
    assert grown < 100e6
    assert (tmp_path / "large").stat().st_size == pytest.approx(160e6, rel=0.01)


CTRL_C = """
import sys
from sparsematch import edge_files

edge_files.match_edge_file(sys.argv[1], n_vertices=10)  # what is loaded once
print("working", flush=True)
try:
    edge_files.match_edge_file(sys.argv[2], n_vertices=200_000, scratch=sys.argv[3])
    print("done")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.large
@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process")
def test_ctrl_c(file, tmp_path):
    import signal

    scratch, small = tmp_path / "scratch", save(tmp_path / "small.npy", [(0, 1, 1.0)])
    scratch.mkdir()
    save_graph(file, random_graph(200_000, 60, seed=59))
    process = in_a_new_process(CTRL_C, str(small), str(file), str(scratch))
    assert process.stdout.readline() == "working\n"
    while not list(scratch.iterdir()):  # not while it makes its folder
        time.sleep(0.001)
    time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.wait(timeout=60) == 0
    process.stdout.close()
    assert list(scratch.iterdir()) == []
