"""Broken index arrays, in every format, given to every public call: none may crash or hang.

What is asked of a call is an answer or an exception: a defect that it need not see may be ignored.
Each case is a process of its own, since one that writes past its memory may crash another later.
"""

import numpy as np

import broken
import sparsematch as sm
from broken import A, N
from harness import announce
from sparsematch import plot

HOW = {"isolated": True, "limit": 20}

WRONG = -(10**8), -5, -1, N, 10**8, 2**31 - 1  # as an index, or in place of a row's beginning
FORMATS = "csr", "csc", "bsr"


def changed(array, rng):
    """A copy with a wrong number somewhere, often at an end."""
    array = array.copy()
    place = rng.choice([0, array.size - 1, rng.integers(array.size)])
    array[place] = rng.choice(WRONG)
    return array


def compressed(rng):
    """A matrix of compressed rows, columns or blocks."""
    B = A.asformat(FORMATS[rng.integers(len(FORMATS))])
    if rng.random() < 0.3:
        B.indices, B.indptr = B.indices.astype(np.int64), B.indptr.astype(np.int64)
    return B


def wrong(rng):
    B, name = compressed(rng), rng.choice(["indices", "indptr"])
    setattr(B, name, changed(getattr(B, name), rng))
    return B


def cut(rng):
    B = compressed(rng)
    name = rng.choice(["indices", "indptr", "data"])
    array = getattr(B, name)
    setattr(B, name, array[: rng.integers(array.shape[0])])
    return B


def longer(rng):
    """Longer buffers than `indptr` says: that is legal, and the rest is not to be read."""
    B = compressed(rng)
    more = int(rng.integers(1, 10**5))
    B.indices = np.r_[B.indices, np.full(more, rng.choice(WRONG), B.indices.dtype)]
    B.data = np.r_[B.data, np.zeros((more, *B.data.shape[1:]))]
    return B


def known(rng):
    """One of those that tests have."""
    makers = [*broken.COMPRESSED.values(), *broken.OTHERS.values()]
    return makers[rng.integers(len(makers))]()


DEFECTS = wrong, wrong, cut, longer, known, known
CALLS = broken.CALLS | {
    "approximate product": lambda B: sm.maximum_product_transversal(B, approximate=True),
    "maximum_weight_matching": lambda B: sm.maximum_weight_matching(B, unmatched_cost=1),
    "spy_blocks": plot.spy_blocks,
    "spy_conflicts": plot.spy_conflicts,
}


def case(rng):
    defect, name = DEFECTS[rng.integers(len(DEFECTS))], list(CALLS)[rng.integers(len(CALLS))]
    B = defect(rng)
    announce(f"in {name}, {B.format} with {defect.__name__}")
    yield from answer(name, B) or ()


def answer(name, B):
    """Let the call answer or raise; only what Python itself cannot explain is a failure."""
    try:
        CALLS[name](B)
    except SystemError as error:
        return [f"{name}: SystemError: {error}"]
    except Exception:
        return None


def prepare():
    """Call all once: what is imported for them is not imported by each child again."""
    for call in CALLS.values():
        call(A)
