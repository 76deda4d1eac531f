"""What calls cost a GPU, counted on the stand-in: memory, launches, waits, modules to compile."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import gpu_calls
import sparsematch as sm
from calls import grid, random_matrix, scrambled
from cuda_host import meter
from gpu_calls import HAS_GPU, one_call, to_gpu
from sparsematch._engines.cuda.core import compile as cuda_compile
from sparsematch._engines.cuda.matching import one_block
from sparsematch._engines.cuda.matching.choice import POLICY
from strategies import with_index_type
from test_hard_cases import band

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.skipif(HAS_GPU, reason="counts are those of the stand-in"),
]

ON_DEVICE = {"host": False}


def mesh(n, reach):
    """Each vertex with the next ones, without a diagonal, numbered at random."""
    return scrambled(band(n, reach), 3)


def power_law(n):
    rng = np.random.default_rng(5)
    d = np.minimum((rng.pareto(1.5, n) + 1).astype(int), n // 50)
    rows = np.repeat(np.arange(n), d)
    return sp.csr_array((np.ones(rows.size), (rows, rng.permutation(rows))), shape=(n, n))


N = 1 << 14
#: Patterns, and how many times the memory of their index arrays a transversal and a block form may
#: take, the matching included.
FACTORS = {
    "chain": (lambda: mesh(N, 1), 3.9, 3.9),
    "random_2": (lambda: random_matrix(N, N, 2, seed=1), 4.1, 4.1),
    "power_law": (lambda: power_law(N), 4.1, 4.1),
    "random_3": (lambda: random_matrix(N, N, 3, seed=2), 3.5, 3.5),
    "tall": (lambda: random_matrix(2 * N, N, 3, seed=4), 3.6, 3.6),
    "wide": (lambda: random_matrix(N, 2 * N, 6, seed=4), 3.0, 3.0),
    "mesh_4": (lambda: mesh(N, 2), 3.2, 3.2),
    "grid": (lambda: scrambled(grid(128), 1), 3.2, 3.5),
    "mesh_6": (lambda: mesh(N, 3), 2.4, 2.7),
    "random_6": (lambda: random_matrix(N, N, 6, seed=6), 2.6, 2.6),
    "random_16": (lambda: random_matrix(N // 2, N // 2, 16, seed=7), 1.0, 2.4),
    "random_40": (lambda: random_matrix(N // 4, N // 4, 40, seed=8), 1.0, 2.4),
}


@pytest.mark.parametrize("name", FACTORS)
def test_memory(name):
    make, of_transversal, of_form = FACTORS[name]
    A = sp.csr_array(make())
    B, unit = to_gpu(A), meter.csr_bytes(A)
    with one_call:
        with meter.counting() as transversal:
            sm.maximum_transversal(B, options=ON_DEVICE)
        with meter.counting() as form:
            sm.block_triangular_form(B, options=ON_DEVICE)
    assert 0.1 < transversal.peak / unit < of_transversal
    assert transversal.peak <= 1.01 * form.peak
    assert form.peak / unit < of_form


def test_a_search_that_finds_no_memory_reads_lists_in_place(monkeypatch):
    """Without rows of slots it needs half; the result is the same."""
    from sparsematch._engines.cuda.matching.ms_bfs import Search

    A, widths = random_matrix(5000, 5000, 3, seed=9), []

    def slots(self, linked):
        widths.append(self._macros["WIDTH"])
        raise gpu_calls.OutOfMemoryError

    monkeypatch.setattr(Search, "_slots", slots)
    with one_call:
        m = sm.maximum_transversal(to_gpu(A), method="ms_bfs").get()
    assert widths == [4]
    assert m.cardinality == sm.structural_rank(A)


@pytest.mark.parametrize("n", [100, 1000, 9000])
def test_a_small_matrix_is_solved_in_one_launch(n):
    A = to_gpu(random_matrix(n, n, 3, seed=n))
    with one_call, meter.counting() as counted:
        sm.maximum_transversal(A)
    assert counted.launches == {"core/certificates:check": 1, "matching/one_block:one_block": 1}
    # for the check; for the end, where the host might get the rest
    assert counted.waits.total() == 1 + (n >= POLICY.small)
    assert counted.allocations == 1  # both mates
    assert counted.cupys.total() == 0


def test_a_transversal_needs_no_kernel_of_cupy():
    """Each would be compiled on its first use."""
    for A in (random_matrix(15_000, 15_000, 3, seed=1), random_matrix(5000, 5000, 20, seed=1)):
        with one_call, meter.counting() as counted:
            sm.maximum_transversal(to_gpu(A))
        assert counted.cupys.total() == 0
        assert counted.waits.total() <= 4


def test_a_block_form_needs_no_kernel_of_cupy_that_is_compiled():
    compiled_ahead = {"argsort", "cumsum", "fill"}  # the last: with zeros
    with one_call, meter.counting() as counted:
        sm.block_triangular_form(to_gpu(scrambled(grid(70), 1)), options=ON_DEVICE)
    assert {name for name, count in counted.cupys.items() if count} <= compiled_ahead


# ---- modules


def test_every_source_is_compiled_ahead():
    names = {name for name, _, _ in cuda_compile.modules()}
    folder = Path(str(files("sparsematch._engines.cuda")))
    assert names == {f"{file.parent.name}/{file.stem}" for file in folder.glob("*/*.cu")}


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_what_calls_load_is_compiled_ahead(monkeypatch, dtype):
    known = [(name, t, frozenset(m.items())) for name, t, m in cuda_compile.modules()]
    assert len(known) == len(set(known))
    loaded, load = set(), cuda_compile.load

    def spy(name, dtype, **macros):
        loaded.add((name, dtype, frozenset(macros.items())))
        return load(name, dtype, **macros)

    monkeypatch.setattr(cuda_compile, "load", spy)
    monkeypatch.setattr(one_block, "fits", lambda _: False)
    with one_call:
        for mean in (2, 5, 12, 20, 40):
            A = to_gpu(with_index_type(random_matrix(3000, 3000, mean, seed=mean), dtype))
            form = sm.block_triangular_form(A, options=ON_DEVICE)
            sm.vertex_cover(A, form.matching)
            for method in ("apfb", "push_relabel", "one_block"):
                sm.maximum_transversal(A, method=method)
            sm.approximate_matching(A, symmetrize=True)
            sm.maximal_matching(A, method="red_blue", symmetrize=True)
        sm.connected_components(A)
    assert len(loaded) > 25
    assert loaded <= set(known)


def test_warm_up_compiles_everything_and_says_so(monkeypatch, capsys):
    from sparsematch.cli import main

    made, ranks = [], []

    class Module:
        def __init__(self, *how, **macros):
            self.how = how, tuple(macros.items())

        def ready(self):
            made.append(self.how)

    compiled = cuda_compile.load
    monkeypatch.setattr(cuda_compile, "load", Module)
    call = sm.maximum_product_transversal

    def called(view):
        with monkeypatch.context() as patch:
            patch.setattr(cuda_compile, "load", compiled)
            ranks.append(call(view).matching.cardinality)

    monkeypatch.setattr(sm, "maximum_product_transversal", called)
    with one_call:
        assert main(["warm-up"]) == 0
    assert ranks == [8, 6]
    assert len(set(made)) == len(made) == len(cuda_compile.modules())
    assert f"{len(made)} modules for compute capability 90" in capsys.readouterr().out
