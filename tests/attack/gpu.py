"""Matchings and block forms on a GPU, or its stand-in, against SciPy's.

The matrices of every_start.py, some of them many times as large: every engine after every
heuristic, with an option or none, in three formats, from five kinds of given matching, as it is and
as if no matrix were small. And block forms of coupled pieces, after each exact engine.
"""

import functools

import numpy as np

from harness import announce

MATCHINGS = 10  # of a matrix, for each block form
HOW = {"limit": 300}


@functools.cache
def modules():
    """What starts the driver, which no child could inherit."""
    import every_start
    import gpu_calls

    return every_start, gpu_calls, list(every_start.choices("cupy"))


def case(rng):
    import pytest

    every, gpu, choices = modules()
    with pytest.MonkeyPatch.context() as patch:
        if rng.integers(3):
            every.as_if_large(patch.setattr, *[[], [2]][rng.integers(2)])
        scale = int(rng.choice([1, 1, 1, 30] if gpu.HAS_GPU else [1, 1, 1, 1, 1, 1, 1, 10]))
        make = every.PATTERNS[rng.integers(len(every.PATTERNS))]
        A = make(rng, scale)
        rank = np.count_nonzero(every.maximum(A)[0] >= 0)
        for _ in range(MATCHINGS):
            how = choices[rng.integers(len(choices))]
            form, kind = rng.choice(every.FORMATS), rng.choice(every.GIVEN)
            announce(f"{make.__name__} {A.shape} {how} {form} {kind}")
            words = every.wrong(A, rank, how, str(form), str(kind), "cupy", rng)
            if words:
                yield f"{make.__name__} {words}"
        yield from block_form(every, gpu, rng, scale)


def block_form(every, gpu, rng, scale):
    """What is wrong with the block form of coupled pieces."""
    import sparsematch as sm
    from coupled_pieces import coupled, fault

    A, n_blocks = coupled(rng, (4 * scale, 30 * scale), (0.5, 0.5))
    method = str(rng.choice([engine.name for engine in sm.engines("exact", backend="cupy")]))
    form = str(rng.choice(every.FORMATS))
    announce(f"block form {A.shape} {method} {form}")
    B = gpu.to_gpu(every.as_format(A, form, rng))
    with gpu.one_call:
        given = sm.maximum_transversal(B, method=method) if rng.integers(3) == 0 else None
        found = gpu.form_on_host(sm.block_triangular_form(B, method=method, matching=given))
    if words := fault(A, found, n_blocks):
        yield f"block form {A.shape} {form} after {method}, given {given is not None}: {words}"
