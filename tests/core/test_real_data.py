"""Real matrices against published structural ranks and block counts, and other programs."""

import numpy as np
import pytest

import gpu_calls
import sparsematch as sm
import suitesparse
from calls import certify
from suitesparse import ROWS, load

LARGEST = {"reference": 3_000, "compiled": 100_000}  # entries up to which every engine is run
LARGEST_ON_GPU = np.inf if gpu_calls.HAS_GPU else 3_000  # and up to which those for a GPU are


@pytest.fixture(params=suitesparse.cases(), scope="module")
def name(request):
    return request.param


def test_rank_and_certificate(name):
    A = load(name)
    m = sm.maximum_transversal(A)
    certify(A, m, rank=int(ROWS[name]["sprank"]))


def test_blocks(name):
    """The sizes of the three coarse parts, and how many blocks there are."""
    A = load(name)
    form = sm.block_triangular_form(A)
    check_blocks(ROWS[name], form)
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
    if row["rows"] == row["cols"] == row["sprank"]:
        assert form.is_reducible == (form.n_blocks > 1)


def test_components(name):
    assert sm.connected_components(load(name)).n_components == int(ROWS[name]["bip_ncc"])


def test_every_engine(name):
    A = load(name)
    for engine in sm.engines("exact"):
        if A.nnz <= LARGEST.get(engine.name, LARGEST["compiled"]):
            assert sm.structural_rank(A, method=engine.name) == int(ROWS[name]["sprank"]), (
                engine.name
            )


@pytest.mark.kernels
def test_on_a_gpu(name):
    A, rank = load(name), int(ROWS[name]["sprank"])
    if A.nnz > LARGEST_ON_GPU:
        pytest.skip("too large for the stand-in of a GPU")
    B = gpu_calls.to_gpu(A)
    for engine in sm.engines("exact", backend="cupy"):
        m = sm.maximum_transversal(B, method=engine.name)
        assert m.cardinality == rank, engine.name
        assert sm.is_maximum(B, m), engine.name
    form = sm.block_triangular_form(B, matching=m, method=engine.name)
    check_blocks(ROWS[name], form)
    assert sm.is_block_form(B, form)
    assert sm.connected_components(B).n_components == int(ROWS[name]["bip_ncc"])
