"""What `return_info` reports of block forms and weighted calls."""

import re
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch as sm

CALLS = {
    "form": sm.block_triangular_form,
    "product": sm.maximum_product_transversal,
    "sum": sm.maximum_sum_transversal,
    "bottleneck": sm.bottleneck_transversal,
    "weight": sm.maximum_weight_matching,
}
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "engines.rst"


def documented():
    """The engines, and the stages that the page of the reference lists."""
    (table,) = re.findall(r"\ncalls +stages\n=.*?\n(.*?)\n=", PAGE.read_text("utf-8"), re.DOTALL)
    return {e.name for e in sm.engines()} | {"diagonal"} | set(re.findall("``([^`]+)``", table))


def random(m, n, degree, seed):
    rng = np.random.default_rng(seed)
    A = sp.random_array((m, n), density=degree / n, rng=rng, format="csr")
    A.data = np.exp(3 * rng.normal(size=A.nnz))
    return A


def blocks(n):
    """Blocks of 3, coupled above."""
    A = sp.kron(sp.eye_array(n), np.ones((3, 3))) + sp.triu(random(3 * n, 3 * n, 1, 5))
    return sp.csr_array(A)


MATRICES = {
    "empty": sp.csr_array((0, 0)),
    "no_rows": sp.csr_array((0, 7)),
    "no_entries": sp.csr_array((4, 5)),
    "deficient": random(4000, 4000, 2, 1),
    "wide": random(500, 3000, 5, 2),
    "tall": random(9000, 1000, 4, 3),
    "blocks": blocks(3000),
    "random": random(9000, 9000, 5, 4),
}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("call", CALLS)
def test_stages_are_documented_and_do_not_overlap(call, name, workers):
    for A in (MATRICES[name], MATRICES[name].tocsc(), MATRICES[name].tocoo()):
        begin = time.perf_counter()
        found, info = CALLS[call](A, workers=workers, return_info=True)
        seconds = time.perf_counter() - begin
        assert info.cardinality == found.matching.cardinality
        assert info.workers <= workers
        assert info.steps[0].engine == "reading"
        assert all(step.seconds >= 0 for step in info.steps)
        assert 0 < info.seconds + info.transpose_seconds <= seconds
        assert {step.engine for step in info.steps} <= documented()
        assert all(step.engine in repr(info) for step in info.steps)
        if workers == 1:  # the same result, whether it is timed or not
            plain = CALLS[call](A)
            assert plain.matching == found.matching
            assert type(plain) is type(found)


@pytest.mark.parametrize(
    ("call", "name", "stages"),
    [
        ("form", "deficient", {"coarse parts", "depth-first search", "block permutation"}),
        ("product", "random", {"logarithms", "start", "searches", "scale factors"}),
        ("product", "tall", {"transposing", "start"}),
        ("product", "deficient", {"coarse parts", "copying", "joining"}),
        ("sum", "random", {"start", "searches", "objective"}),
        ("bottleneck", "deficient", {"covers", "matchings"}),
        ("weight", "random", {"reading", "start", "costs and duals"}),
    ],
)
def test_what_runs_is_named(call, name, stages):
    _, info = CALLS[call](MATRICES[name], return_info=True)
    assert stages <= {step.engine for step in info.steps}
    heads = repr(info).splitlines()[1].split()
    assert heads[:2] == ["engine", "ms"]
    assert ("pairs" in heads) == (call == "form"), "columns without anything are left out"


def test_capacities_and_rounded_values_have_stages():
    A = MATRICES["wide"]
    _, info = sm.maximum_weight_matching(A, capacities=2, return_info=True)
    assert "searches" in {step.engine for step in info.steps}
    _, info = sm.maximum_product_transversal(A, approximate=True, return_info=True)
    assert {"logarithms", "objective"} <= {step.engine for step in info.steps}


def test_a_form_from_a_matching_reports_only_what_it_ran():
    A = MATRICES["random"]
    _, info = sm.block_triangular_form(A, matching=sm.maximum_transversal(A), return_info=True)
    assert not any(step.augmentations for step in info.steps)
    assert info.method == "auto"


@pytest.mark.parametrize("call", [*CALLS.values(), sm.maximum_transversal])
def test_only_a_flag_asks_for_the_account(call):
    A = random(20, 20, 3, 1)
    for wrong in ("yes", 1, None):
        with pytest.raises(TypeError, match="return_info"):
            call(A, return_info=wrong)
    assert len(call(A, return_info=np.True_)) == 2
