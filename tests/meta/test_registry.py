"""What back-ends register."""

import pytest

from sparsematch._engines import operations as concepts
from sparsematch._engines.registry import Engine, operations, read_options, register, select


def test_host_memory_has_every_operation():
    for concept in vars(concepts).values():
        name = getattr(concept, "__name__", "")
        # those of devices alone, and of several ranks alone
        if name.endswith("Ops") and not name.startswith(("Device", "Distribut")):
            offered = operations(concept, "numpy")
            missing = concept()
            assert all(
                getattr(offered, name) is not getattr(missing, name)
                for name in concept.__dataclass_fields__
                # which follow from the blocks, or are of several ranks alone
                if name != "coarse_parts" and not name.startswith("distributed")
            )


def test_an_operation_that_a_back_end_does_not_have():
    with pytest.raises(TypeError, match="in host memory only"):
        operations(concepts.WeightedOps, "cupy").least_cost(None, None)
    with pytest.raises(TypeError, match="in host memory only"):
        operations(concepts.DecompositionOps, "cupy").hall_violators(None, None, None, True)


def test_engines_do_not_replace_each_other():
    with pytest.raises(ValueError, match="registered already"):
        register(Engine(name="cheap", kind="heuristic", backend="numpy", summary="", improve=print))


@pytest.mark.parametrize("backend", ["numpy", "cupy"])
def test_a_range_comes_with_its_engine(backend):
    red_blue = select("red_blue", backend, "approximate", argument="method")
    assert read_options({"p": 0.5}, red_blue) == {"p": 0.5}
    with pytest.raises(ValueError, match=r"options\['p'\] is 0.999, but must be between 0.01"):
        read_options({"p": 0.999}, red_blue)


def test_a_number_without_a_range_is_positive_and_finite():
    push_relabel = select("push_relabel", "numpy", "exact", argument="method")
    assert read_options({"k": 1e9}, push_relabel) == {"k": 1e9}
    for value in (0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="positive and finite"):
            read_options({"k": value}, push_relabel)
