"""Real matrices against published structural ranks and block counts, and other programs."""

import csv
import functools
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import sparsematch as sm
from calls import certify

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
ABSENT = "-2"  # what the published index says where a value is not known
LARGEST = {"reference": 3_000, "compiled": 100_000}  # entries up to which every engine is run
LARGEST_ON_GPU = np.inf if gpu_calls.HAS_GPU else 3_000  # and up to which those for a GPU are

if not (DATA / "index.csv").exists():
    pytest.skip(f"the real matrices are not here: {DATA} does not exist", allow_module_level=True)


def read(name):
    with open(DATA / name, newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


INDEX, PUBLISHED = read("index.csv"), read("reference.csv")


NAMES = [name for name in INDEX if (DATA / f"{name}.npz").exists()]


@functools.lru_cache(maxsize=2)
def load(name):
    """One matrix; the tests of a matrix follow each other."""
    return sp.load_npz(DATA / f"{name}.npz")


@pytest.fixture(params=NAMES, scope="module")
def name(request):
    return request.param


def test_all_of_them_are_here():
    assert len(NAMES) >= 348


def test_rank_and_certificate(name):
    A = load(name)
    m = sm.maximum_transversal(A)
    certify(A, m, rank=int(INDEX[name]["sprank"]))


def test_blocks(name):
    """The sizes of the three coarse parts, and how many blocks there are."""
    A = load(name)
    form = sm.block_triangular_form(A)
    check_blocks(INDEX[name], form)
    assert sm.is_block_form(A, form)


def check_blocks(row, form):
    horizontal, square, vertical = form.horizontal, form.square, form.vertical
    assert f"{horizontal.rows.size}x{horizontal.cols.size}" == row["dm_hr"]
    assert f"{vertical.rows.size}x{vertical.cols.size}" == row["dm_vr"]
    assert square.rows.size == square.cols.size == int(row["dm_sq"])
    first = int(horizontal.cols.size > 0)
    inner = gpu_calls.host(form.block_sizes)[first : form.n_blocks - (vertical.rows.size > 0)]
    assert len(inner) == int(row["dm_sq_nblocks"])
    assert np.all(inner[:, 0] == inner[:, 1])
    assert inner.max(initial=0) == int(row["dm_sq_maxblock"])
    assert form.n_blocks == int(row["dm_nblocks"])
    if row["square"] == row["full_sprank"] == "1":
        assert form.is_reducible == bool(int(row["reducible"]))


def test_components(name):
    assert sm.connected_components(load(name)).n_components == int(INDEX[name]["bip_ncc"])


def test_every_engine(name):
    A = load(name)
    for engine in sm.engines("exact"):
        if A.nnz <= LARGEST.get(engine.name, LARGEST["compiled"]):
            assert sm.structural_rank(A, method=engine.name) == int(INDEX[name]["sprank"]), (
                engine.name
            )


@pytest.mark.kernels
def test_on_a_gpu(name):
    A, rank = load(name), int(INDEX[name]["sprank"])
    if A.nnz > LARGEST_ON_GPU:
        pytest.skip("too large for the stand-in of a GPU")
    B = gpu_calls.to_gpu(A)
    for engine in sm.engines("exact", backend="cupy"):
        m = sm.maximum_transversal(B, method=engine.name)
        assert m.cardinality == rank, engine.name
        assert sm.is_maximum(B, m), engine.name
    form = sm.block_triangular_form(B, matching=m, method=engine.name)
    check_blocks(INDEX[name], form)
    assert sm.is_block_form(B, form)
    assert sm.connected_components(B).n_components == int(INDEX[name]["bip_ncc"])


@pytest.mark.parametrize(
    "name", [name for name in PUBLISHED if PUBLISHED[name]["match"] == "exact"]
)
def test_published(name):
    """What the index of the SuiteSparse collection says of the same matrix."""
    row, A = PUBLISHED[name], load(name)
    if row["sprank"] != ABSENT:
        assert sm.structural_rank(A) == int(row["sprank"])
    if row["nblocks"] != ABSENT:
        assert sm.block_triangular_form(A).n_blocks == int(row["nblocks"])
