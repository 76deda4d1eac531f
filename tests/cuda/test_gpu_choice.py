"""What `auto` chooses on a GPU, from plain features: neither a GPU nor CuPy is needed.

`python tests/cuda/test_gpu_choice.py` prints the tables of docs/algorithms/auto.md.
"""

import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from sparsematch._engines.cuda.matching.choice import (
    POLICY,
    RULES,
    Features,
    ListFeatures,
    Policy,
    choose,
)
from sparsematch._engines.registry import Matched

PAGE = Path(__file__).resolve().parents[2] / "docs" / "algorithms" / "auto.md"
BEGIN, END = "<!-- written by tests/cuda/test_gpu_choice.py -->\n", "<!-- to here -->\n"

#: A random matrix, of five entries a row and a million rows.
N, NNZ = 1_000_000, 5_000_000
NOT = dict.fromkeys(("has_diagonal", "symmetric", "hubs_with_leaves", "in_order"), False)
PLAIN = ListFeatures(n=N, single=0.03, skew=1.2, linked=0, first_shared=80, last_shared=80, **NOT)
LEAVES = {"skew": 30.0, "single": 0.05, "hubs_with_leaves": True}


def features(seen=None, **changes):
    plain = {"n_major": N, "n_minor": N, "nnz": NNZ, "copied_bytes": 4 * (N + 1 + NNZ)}
    plain |= {"fits_one_block": False, "matched": Matched.NOTHING, "host": True}
    lists = lambda transposed: PLAIN._replace(**(seen or {}))
    return Features(**(plain | {"lists": lists} | changes))


def names(choice):
    return " ".join(step.name for step in choice.steps)


def never(transposed):
    raise AssertionError("features of the lists were measured, though no rule needs them")


CASES = {
    "cheap ms_bfs": [
        features(),
        features({"skew": 9.0}),  # uneven, but short
        features({"skew": 1.5}, nnz=8 * N),  # not more than that
        features(LEAVES, nnz=8 * N, matched=Matched.GIVEN),
        features({"single": 0.5}),
        features({"single": 0.12}, nnz=3 * N),
        features({"single": 0.2}, nnz=4 * N),
        features({"has_diagonal": True}, matched=Matched.GIVEN),
        features({"first_shared": 0}, matched=Matched.GIVEN),
        features({"symmetric": True}, matched=Matched.GIVEN),
        features(n_minor=N * 10 // 12 + 1),
    ],
    "min_degree ms_bfs": [
        features({"skew": 1.51}, nnz=8 * N),
        features({"skew": 30.0}, nnz=20 * N, matched=Matched.GIVEN),
    ],
    "karp_sipser ms_bfs": [
        features({"symmetric": True}),
        features({"symmetric": True, "skew": 9.0}, nnz=20 * N),
        features({"single": 0.13}, nnz=3 * N),
        features({"single": 0.13}, nnz=2.75 * N, matched=Matched.GIVEN),
    ],
    "diagonal": [
        features({"has_diagonal": True}),
        features({"has_diagonal": True, "first_shared": 0} | LEAVES),
    ],
    "first_ends": [features({"first_shared": 0}), features({"first_shared": 0, "last_shared": 0})],
    "last_ends": [features({"last_shared": 0, "symmetric": True})],
    "row_singletons cheap ms_bfs": [features(LEAVES), features(LEAVES, nnz=20 * N)],
    "row_singletons karp_sipser ms_bfs": [features(LEAVES | {"single": 0.13}, nnz=3 * N)],
    "transpose cheap ms_bfs": [features(n_minor=N * 10 // 12), features(n_minor=0)],
    "transpose diagonal": [features({"has_diagonal": True}, n_minor=N // 2)],
    "one_block": [
        features(fits_one_block=True, lists=never),
        features(fits_one_block=True, lists=never, matched=Matched.GIVEN, n_major=9000, n_minor=10),
    ],
}


GIVEN = [(steps, given) for steps, cases in CASES.items() for given in cases]


@pytest.mark.parametrize(("steps", "given"), GIVEN)
def test_steps(steps, given):
    assert names(choose(given)) == steps


def test_every_rule_is_followed_by_some_features():
    followed = {(step.name, step.reason) for _, given in GIVEN for step in choose(given).steps}
    assert {(rule.step, rule.reason(POLICY)) for rule in RULES} <= followed


def test_the_lists_of_the_transpose_count_where_that_is_searched():
    """With two thirds of the rows, mean lengths are larger; with a quarter, all find a partner."""
    asked = []

    def lists(transposed):
        asked.append(transposed)
        return PLAIN._replace(skew=2.0, n=n_minor if transposed else N)

    for n_minor, start in (2 * N // 3, "min_degree"), (N // 4, "cheap"):
        tall = features(n_minor=n_minor, nnz=6 * N, lists=lists)
        assert names(choose(tall)) == f"transpose {start} ms_bfs"
    assert names(choose(features(lists=lists, matched=Matched.GIVEN))) == "cheap ms_bfs"
    assert set(asked) == {True, False}
    assert asked == sorted(asked, reverse=True)


def test_levels_before_the_host_gets_the_rest():
    def levels(mean, in_order=False, **changes):
        return choose(features({"in_order": in_order}, nnz=int(mean * N), **changes)).levels

    assert levels(5) == levels(5, in_order=True) == POLICY.search.levels(4 * (N + 1 + NNZ), NNZ)
    assert levels(5) > levels(2) > levels(2, in_order=True) >= POLICY.thin_in_order.least
    assert levels(5) > levels(5, copied_bytes=0)
    assert levels(5, host=False) is levels(5, n_major=2047, n_minor=2047) is None
    assert levels(5, fits_one_block=True) == POLICY.deep
    assert levels(2, fits_one_block=True) == POLICY.deep_thin
    assert levels(2, fits_one_block=True, host=False) is None


def test_the_host_may_get_a_block_form_of_what_is_matched_at_once():
    choice = choose(features({"has_diagonal": True}))
    assert choice.host
    assert choice.levels is None


def test_another_policy_chooses_otherwise():
    assert names(choose(features({"skew": 1.6}), replace(POLICY, long=5))) == "min_degree ms_bfs"
    tall = choose(features(n_minor=N - 1), replace(POLICY, tall=1))
    assert names(tall) == "transpose cheap ms_bfs"
    assert not choose(features({"symmetric": True}), replace(POLICY, small=2 * N)).host


def test_no_constant_stands_outside_the_policy():
    assert len(fields(Policy)) <= 20
    with pytest.raises(AttributeError):
        POLICY.tall = 2.0


PROGRAM = """
import sys; sys.modules["cupy"] = None
from sparsematch._engines.cuda.matching.choice import Features, choose
given = {"n_major": 9, "n_minor": 9, "nnz": 9, "host": True, "copied_bytes": 76, "lists": None}
print(choose(Features(**given, fits_one_block=True, matched=0)).steps[0].name)
"""


def test_neither_a_gpu_nor_cupy_is_needed():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "one_block\n", done.stderr


def render(policy=POLICY):
    """Return the tables of the page."""
    lines = ["| step | when | then |", "|---|---|---|"]
    lines += [f"| {_step(r.step)} | {r.reason(policy)} | {r.then} |" for r in RULES]
    lines += ["", "| search | until the host gets the rest |", "|---|---|"]
    lines.append(f"| of fewer than {policy.small:,} rows | never |")
    thin = f"up to {policy.thin} entries a row"
    deep = f"{policy.deep} levels of a phase; {policy.deep_thin} with {thin}"
    lines.append(f"| {_step('one_block')} | {deep} |")
    for kind, work in (
        ("", policy.search),
        (f", {thin}", policy.thin_search),
        (f", {thin}, up to {policy.max_shared} ends shared", policy.thin_in_order),
    ):
        limit = f"{work.share:.0%} of the time of copies and {work.entry * 1e9:g} ns an entry"
        lines.append(f"| {_step('ms_bfs')}{kind} | {limit}, {work.least:,} levels at least |")
    return "\n".join(lines) + "\n"


def _step(name):
    has_page = (PAGE.parent / f"{name}.md").exists()
    return f"[`{name}`]({name}.md)" if has_page else name.replace("_", " ")


def test_the_page_has_the_tables_of_the_code():
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    assert text.split(BEGIN)[1].split(END)[0] == render()


if __name__ == "__main__":
    sys.stdout.write(render())
