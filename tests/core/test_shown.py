"""What notebooks show of results, and what is logged of a run."""

import logging
import xml.etree.ElementTree as xml

import numpy as np
import pytest
import scipy.sparse as sp

import sparsematch
from sparsematch import solvers

PATTERN = sp.csr_array([[1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1]])


def shown(result):
    """The parsed HTML: a picture's boxes, and the lines beside it."""
    page = xml.fromstring(result._repr_html_())
    return list(page.iter("rect")), list(page[1].itertext())


def test_a_block_form():
    form = sparsematch.block_triangular_form(PATTERN)
    boxes, lines = shown(form)
    assert len(boxes) == form.n_blocks == 2
    assert lines == ["2 blocks", "4 x 4", "2 matched", "2 rows, 2 columns unmatched"]
    assert len({box.get("fill") for box in boxes}) == 2


def test_a_matching():
    boxes, lines = shown(sparsematch.maximum_transversal(PATTERN))
    assert len(boxes) == 2
    assert lines == ["matching", "4 x 4", "2 matched", "2 rows, 2 columns unmatched"]


@pytest.mark.parametrize("n", [0, 1, 100_000])
def test_pictures_are_small_whatever_the_matrix(n):
    A = sp.eye_array(n, format="csr")
    for result in (sparsematch.maximum_transversal(A), sparsematch.block_triangular_form(A)):
        boxes, _ = shown(result)
        assert len(boxes) == min(n, len(boxes))
        assert len(result._repr_html_()) < 50_000


def test_texts_are_escaped():
    why = sparsematch.explain_singularity(PATTERN, ["a<b", "c&d", "e", "f"])
    page = xml.fromstring(why._repr_html_())
    assert page.tag == "pre"
    assert page.text == str(why)
    found = solvers.diagnose(sp.eye_array(3, format="csc"))
    assert xml.fromstring(found._repr_html_()).text == str(found)


def test_steps_are_logged(caplog):
    A = sp.random_array((300, 300), density=0.01, rng=np.random.default_rng(1), format="csr")
    with caplog.at_level(logging.DEBUG, "sparsematch"):
        _, info = sparsematch.maximum_transversal(A, return_info=True)
    assert len(caplog.records) == len(info.steps)
    for record, step in zip(caplog.records, info.steps, strict=True):
        assert record.levelno == logging.DEBUG
        assert record.getMessage().startswith(f"{step.engine}: {step.cardinality} pairs, ")
