"""Fetching matrices of the SuiteSparse collection, from mirrors that are made of a shipped one."""

import http.server
import tarfile
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import sparsematch as sm
import suitesparse

NAME = "west0479"


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    """A folder as the collection has it: with another matrix beside the one that is meant."""
    folder = tmp_path_factory.mktemp("mirror")
    matrix = suitesparse.SHIPPED[NAME]
    (folder / "HB").mkdir()
    with tarfile.open(folder / "HB" / f"{NAME}.tar.gz", "w:gz") as archive:
        archive.add(suitesparse.ROOT / "LICENSE", f"{NAME}/{NAME}_b.mtx")
        archive.add(matrix, f"{NAME}/{NAME}.mtx")
    return folder


class InParts(http.server.SimpleHTTPRequestHandler):
    """Sends what is asked for from a position on, or as much as `cut` bytes of a whole file."""

    cut = None

    def do_GET(self):
        data = Path(self.translate_path(self.path)).read_bytes()
        begin = int(self.headers.get("Range", "bytes=0-")[6:-1])
        self.send_response(416 if begin >= len(data) else 206 if begin else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        self.wfile.write(data[begin : None if begin else self.cut])

    def log_message(self, *_):
        pass


@pytest.fixture
def serve(mirror):
    """The address of the mirror, where whole files are cut off."""
    servers = []

    def start(cut):
        handler = type("Handler", (InParts,), {"cut": cut})
        server = http.server.HTTPServer(("127.0.0.1", 0), partial(handler, directory=mirror))
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_matrix_is_stored(mirror, tmp_path):
    suitesparse.fetch(NAME, tmp_path / "new", mirror.as_uri())
    assert [path.name for path in (tmp_path / "new").iterdir()] == [f"{NAME}.npz"]
    A = suitesparse.sp.load_npz(tmp_path / "new" / f"{NAME}.npz")
    B = scipy.io.mmread(suitesparse.SHIPPED[NAME], spmatrix=False)
    assert (suitesparse.sp.csc_array(B) != A).nnz == 0
    assert sm.structural_rank(A) == int(suitesparse.TABLE[NAME]["sprank"])


@pytest.mark.parametrize("cut", [1000, None])
def test_what_was_cut_off_is_continued(cut, serve, mirror, tmp_path):
    """Also where only the last step was: the whole archive is there already."""
    source, part = serve(cut), tmp_path / f"{NAME}.tar.gz.part"
    if cut:
        with pytest.raises(
            suitesparse.FetchError, match=r"cut off after 1000 of .* run this again"
        ):
            suitesparse.fetch(NAME, tmp_path, source)
        assert part.stat().st_size == cut
    else:
        part.write_bytes((mirror / "HB" / f"{NAME}.tar.gz").read_bytes())
    suitesparse.fetch(NAME, tmp_path, source)
    assert [path.name for path in tmp_path.iterdir()] == [f"{NAME}.npz"]


def test_another_pattern_is_refused(mirror, tmp_path, monkeypatch):
    monkeypatch.setitem(suitesparse.TABLE[NAME], "sha256", "0" * 64)
    with pytest.raises(suitesparse.FetchError, match=r"SHA-256 9a8d17\w+, expected 0000"):
        suitesparse.fetch(NAME, tmp_path, mirror.as_uri())
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_archive_is_refused(tmp_path):
    folder = tmp_path / "HB"
    folder.mkdir()
    (folder / f"{NAME}.tar.gz").write_bytes(b"<html>")
    with pytest.raises(suitesparse.FetchError, match=f"has no matrix {NAME}/{NAME}.mtx"):
        suitesparse.fetch(NAME, tmp_path / "new", tmp_path.as_uri())
    assert list((tmp_path / "new").iterdir()) == []


def test_the_command(mirror, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(suitesparse, "FETCHED", tmp_path)
    assert suitesparse.main([NAME, "494_bus", "--source", mirror.as_uri()]) == 1
    said = capsys.readouterr()
    assert said.out == f"{NAME}: in {tmp_path}\n"
    assert said.err.startswith(f"{mirror.as_uri()}/HB/494_bus.tar.gz: ")
    assert suitesparse.main([NAME]) == 0  # is there already
    with pytest.raises(SystemExit):
        suitesparse.main(["494_buss"])
    assert "'494_buss' is none of 494_bus, arc130" in capsys.readouterr().err


def test_the_checksum_is_of_the_pattern_alone():
    A = suitesparse.load(NAME)
    shuffled = suitesparse.sp.coo_array(A)
    order = np.random.default_rng(3).permutation(A.nnz)
    coords = tuple(np.append(c[order], 0) for c in shuffled.coords)
    B = suitesparse.sp.coo_array((np.append(np.ones(A.nnz), 0), coords), shape=A.shape)
    assert suitesparse.pattern_digest(B) == suitesparse.TABLE[NAME]["sha256"]
