"""Fetching matrices of the SuiteSparse collection, from mirrors that are made of a shipped one."""

import tarfile

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


def test_a_matrix_is_stored(mirror, tmp_path):
    suitesparse.fetch(NAME, tmp_path / "new", mirror.as_uri())
    assert [path.name for path in (tmp_path / "new").iterdir()] == [f"{NAME}.npz"]
    A = suitesparse.sp.load_npz(tmp_path / "new" / f"{NAME}.npz")
    B = scipy.io.mmread(suitesparse.SHIPPED[NAME], spmatrix=False)
    assert (suitesparse.sp.csc_array(B) != A).nnz == 0
    assert sm.structural_rank(A) == int(suitesparse.TABLE[NAME]["sprank"])


def test_another_pattern_is_refused(mirror, tmp_path, monkeypatch):
    monkeypatch.setitem(suitesparse.TABLE[NAME], "sha256", "0" * 64)
    with pytest.raises(suitesparse.FetchError, match=r"SHA-256 9a8d17\w+, expected 0000"):
        suitesparse.fetch(NAME, tmp_path, mirror.as_uri())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"<html>", None], ids=["a page", "cut off"])
def test_what_is_no_archive_is_refused(content, mirror, tmp_path):
    folder = tmp_path / "HB"
    folder.mkdir()
    whole = (mirror / "HB" / f"{NAME}.tar.gz").read_bytes()
    (folder / f"{NAME}.tar.gz").write_bytes(content or whole[:-4000])
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
