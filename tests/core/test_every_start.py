"""Every engine after every heuristic, from every kind of given matching, with every option."""

import itertools

import numpy as np
import pytest

from every_start import FORMATS, GIVEN, PATTERNS, as_if_large, choices, maximum, wrong

#: Where `auto` goes another way; others do not ask.
SIZES = "small", "large", "deep"
#: Where one matrix of each pattern is matched, else one.
MANY = "large", "auto"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("backend", ["numpy", pytest.param("cupy", marks=pytest.mark.kernels)])
def test_every_choice_of_engines_finds_as_many_pairs_as_scipy(backend, size, monkeypatch):
    if size != "small":
        as_if_large(monkeypatch.setattr, 2 if size == "deep" else None)
    rng = np.random.default_rng([SIZES.index(size), 71])
    matrices = [make(rng) for make in PATTERNS * 4]
    ranks = [np.count_nonzero(maximum(A)[0] >= 0) for A in matrices]
    found = []
    for c, how in enumerate(choices(backend)):
        if size != "large" and how[0] != "auto":
            continue
        for (g, kind), (f, form) in itertools.product(enumerate(GIVEN), enumerate(FORMATS)):
            first, n = 7 * c + g + 2 * f, len(PATTERNS) if (size, how[0]) == MANY else 1
            some = (np.arange(first, first + n) % len(matrices)).tolist()
            found += [wrong(matrices[k], ranks[k], how, form, kind, backend, rng) for k in some]
    assert len(found) >= 9 * len(GIVEN) * len(FORMATS)
    assert not [words for words in found if words]
