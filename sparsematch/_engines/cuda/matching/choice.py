"""Which steps `auto` runs on a GPU: an ordered table of rules, and one pure function over it.

`choose` reads features and runs nothing; it needs neither a GPU nor CuPy. What is expensive to
measure is measured when a rule reads it. `auto.py` measures, and runs the steps.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from sparsematch._engines.cuda.core import thresholds
from sparsematch._engines.cuda.core.host_fallback import Work
from sparsematch._engines.registry import Matched


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The constants of the choice; families are forty generators of `benchmarks/regret.py --gpu`.

    What a byte copied takes, and how wide a level counts as one, stands in `core/host_fallback.py`.
    """

    #: Stored rows for each stored column from which on the matrix is transposed: the search starts
    #: from every free row, and most of those of a tall matrix have no path. No figures were kept.
    tall: float = 1.2

    #: Mean square of the lengths of the lists, in squares of their mean, from which on hubs have
    #: most of the entries; and the share of lists of one entry above which these hubs have leaves.
    #: Kronecker graph of 46M entries: 4.6 ms without row singletons, 2.1 to 2.8 after them. Few
    #: matrices tell: it and power laws have leaves, a skewed matrix of 1e9 entries has none.
    hubs: int = 20
    leaves: float = 0.02

    #: Share of the lists that have one entry above which `karp_sipser` goes first, and the range of
    #: the mean length (entries) in which it may. 4M rows, three random entries each: 9.9 to 8.6 ms.
    #: Below (roads) all starts come out alike, above it loses (R-MAT graph: 10.7 to 14.1 ms).
    pendant: float = 0.12
    sparse: float = 2.75
    denser: int = 4

    #: Ratio of the sides from which on nearly all vertices of the smaller one find a free partner,
    #: whatever goes first. By `cheap` in place of `min_degree`: 0.42 to 0.83 (five families).
    lopsided: float = 2.0

    #: As over several GPUs.
    long: int = thresholds.LONG
    uneven: float = thresholds.UNEVEN

    #: Lists that begin, or end, in the same column as another, up to which they follow an order.
    #: Path, comb, hidden triangle and strip of the families have so few, others thousands.
    max_shared: int = 64

    #: Stored rows below which the host is never used: leaving so few would save nothing.
    small: int = 2048

    #: Mean length (entries) up to which a search is thin.
    thin: float = 2.1

    #: Levels of a phase that one block may take before the host gets the rest, also if it is thin.
    #: Families of 2,048 to 8,192 rows: 150 and 30 suit the device, others took 250, 320 or more.
    deep: int = 192
    deep_thin: int = 64

    #: Levels that the search may take before the host gets the matrix. Families, 2^18 rows in four
    #: orders: searches that suit the device took up to 0.11 of the host's time, the others 4.5 and
    #: more. Random matrices of a few ten thousand rows take up to 900 levels; with two entries a
    #: row or fewer 190, and the host a quarter of the time for an entry. In order, first fit leaves
    #: it hardly anything to do (1.5 to 10 ns an entry), but strips suit the device all the same.
    search: Work = field(default=Work(2e-6, 60e-9, 0.2, 1024))
    thin_search: Work = field(default=Work(2e-6, 15e-9, 0.2, 256))
    thin_in_order: Work = field(default=Work(2e-6, 1.5e-9, 0.2, 256))


POLICY = Policy()


class ListFeatures(NamedTuple):
    """Features of the lists of the stored rows, or of the transpose's."""

    n: int  #: How many lists there are.
    single: float  #: The share of them that have one entry.
    #: The mean square of the lengths over that of equal ones; random ones: up to 1 + 1 / mean.
    skew: float
    linked: int  #: Rows of slots that long lists need beside their first, in `ms_bfs`.
    has_diagonal: bool  #: Whether the matrix is square and its diagonal has no zero.
    #: Whether the pattern is symmetric; False, unknown, if it `has_diagonal` or `hubs_with_leaves`.
    symmetric: bool
    #: Whether hubs have most of the entries, and many lists one, which is mostly with a hub.
    hubs_with_leaves: bool
    #: How many lists begin, or end, in the same stored column as another; beyond ``max_shared``
    #: they are not counted.
    first_shared: int
    last_shared: int
    in_order: bool  #: Whether the lists follow an order of the stored columns: few ends are shared.


@dataclass(frozen=True, kw_only=True)
class Features:
    """What the choice reads."""

    #: Stored rows, stored columns, entries.
    n_major: int
    n_minor: int
    nnz: int
    fits_one_block: bool  #: Whether all of it fits into the shared memory of a block.
    matched: Matched  #: What may be matched already.
    host: bool  #: Whether the host may be used.
    copied_bytes: int  #: What would be copied there.
    #: The features of the lists; if its argument is true, of those of the transpose. Measured by
    #: the first call, and not before.
    lists: Callable[[bool], ListFeatures]


class Step(NamedTuple):
    """A step, by its name in `RULES`, and why it is run."""

    name: str
    reason: str


@dataclass(frozen=True)
class Choice:
    """What is run."""

    steps: tuple[Step, ...]  #: One after the other.
    host: bool  #: Whether what is deep may be left to the host, by block forms as well.
    #: Levels of the search (in `one_block`: of a phase) before the host gets the rest; None: all.
    levels: int | None


#: What a rule presumes of the matching, in words.
_PRESUMED = {
    Matched.NOTHING: "nothing is matched yet, and ",
    Matched.REPLACEABLE: "no matching was given, and ",
    Matched.GIVEN: "",
}


class Rule(NamedTuple):
    """A row of the table."""

    step: str  #: What is run.
    guard: Callable[[Features, Policy], bool]  #: Whether it is, given the features.
    when: str  #: The same in words, with the names of constants in braces.
    #: What comes after it: the ``"next rule"``, the ``"search"`` by `ms_bfs`, or the ``"end"``.
    then: str
    takes: Matched = Matched.GIVEN  #: The most that may be matched when it runs.

    def reason(self, policy: Policy) -> str:
        """Return when the step is run, with the constants of a policy."""
        return _PRESUMED[self.takes] + self.when.format(**vars(policy))


def are_long(nnz: int, n: int, policy: Policy) -> bool:
    """Tell whether n lists are long on average."""
    return nnz >= policy.long * n


def may_have_pendants(nnz: int, n: int, policy: Policy) -> bool:
    """Tell whether n lists are so short on average that many of one entry are a sign."""
    return policy.sparse * n <= nnz < policy.denser * n


def _is_tall(f: Features, p: Policy) -> bool:
    return f.n_major > p.tall * f.n_minor


def _lists(f: Features, p: Policy) -> ListFeatures:
    return f.lists(_is_tall(f, p))


def _have_pendants(f: Features, p: Policy) -> bool:
    lists = _lists(f, p)
    return may_have_pendants(f.nnz, lists.n, p) and lists.single > p.pendant


def _suit_min_degree(f: Features, p: Policy) -> bool:
    lists = _lists(f, p)
    if max(f.n_major, f.n_minor) >= p.lopsided * min(f.n_major, f.n_minor):
        return False
    return are_long(f.nnz, lists.n, p) and lists.skew > p.uneven and not lists.hubs_with_leaves


#: The first rule whose guard holds is followed, and the next ones as far as `then` says so.
RULES = (
    Rule(
        "one_block",
        lambda f, p: f.fits_one_block,
        "all of it fits into the shared memory of a block",
        "end",
    ),
    Rule("transpose", _is_tall, "more than {tall} times as many rows as columns", "next rule"),
    Rule(
        "diagonal",
        lambda f, p: _lists(f, p).has_diagonal,
        "the diagonal has no zero",
        "end",
        Matched.REPLACEABLE,
    ),
    Rule(
        "first_ends",
        lambda f, p: not _lists(f, p).first_shared,
        "no two rows begin in the same column",
        "end",
        Matched.NOTHING,
    ),
    Rule(
        "last_ends",
        lambda f, p: not _lists(f, p).last_shared,
        "no two rows end in the same column",
        "end",
        Matched.NOTHING,
    ),
    Rule(
        "row_singletons",
        lambda f, p: _lists(f, p).hubs_with_leaves,
        "hubs have leaves: the mean square of the lengths is {hubs} times the square of the mean "
        "or more, and more than {leaves:.0%} of the rows have one entry",
        "next rule",
        Matched.NOTHING,
    ),
    Rule(
        "karp_sipser",
        lambda f, p: _lists(f, p).symmetric,
        "the pattern is symmetric",
        "search",
        Matched.NOTHING,
    ),
    Rule(
        "karp_sipser",
        _have_pendants,
        "rows have {sparse} to {denser} entries on average, and more than {pendant:.0%} have one",
        "search",
    ),
    Rule(
        "min_degree",
        _suit_min_degree,
        "rows have {long} entries or more on average, the mean square is more than {uneven} times "
        "the square of the mean, no hubs have leaves, and no side is {lopsided:g} times the other",
        "search",
    ),
    Rule("cheap", lambda f, p: True, "no other rule holds", "search"),
)


def choose(features: Features, policy: Policy = POLICY) -> Choice:
    """Return what is run on a matrix with these features. Runs nothing."""
    steps, then, matched = [], "next rule", features.matched
    for rule in RULES:
        if then == "next rule" and matched <= rule.takes and rule.guard(features, policy):
            steps.append(Step(rule.step, rule.reason(policy)))
            then = rule.then
            if rule.step != "transpose":
                matched = max(matched, Matched.REPLACEABLE)
    host = features.host and features.n_major >= policy.small
    if then == "search":
        steps.append(Step("ms_bfs", ""))
    searches = steps[-1].name in ("one_block", "ms_bfs")
    return Choice(tuple(steps), host, _levels(features, policy) if host and searches else None)


def _levels(f: Features, p: Policy) -> int:
    """Return how many levels are done before the host gets the rest."""
    is_thin = f.nnz <= p.thin * f.n_major
    if f.fits_one_block:
        return p.deep_thin if is_thin else p.deep
    if not is_thin:
        return p.search.levels(f.copied_bytes, f.nnz)
    work = p.thin_in_order if _lists(f, p).in_order else p.thin_search
    return work.levels(f.copied_bytes, f.nnz)
