"""What the text of an explanation refuses."""

import pytest
import scipy.sparse as sp

import sparsematch as sm


@pytest.mark.parametrize("argument", ["max_pieces", "max_names"])
def test_counts_of_the_text_are_checked(argument):
    why = sm.explain_singularity(sp.csr_array((2, 2)))
    with pytest.raises(ValueError, match=f"{argument} is -1"):
        why.text(**{argument: -1})
    with pytest.raises(TypeError, match=f"{argument} must be an integer"):
        why.text(**{argument: 1.5})
