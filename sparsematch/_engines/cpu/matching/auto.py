"""The default engine: a table of stages, of which each runs where its guard holds.

What a stage has matched is kept, and all but the last have an allowance of entries to scan, so a
wrong guess costs a few passes. Guards read features of the matrix, each a part of a pass at most,
and project the remaining searches from those that are done. All decisions stand here;
docs/algorithms/auto.md shows the table, and benchmarks/regret.py measures what is lost by it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparsematch._base.arrays import UNMATCHED, BoolArray
from sparsematch._base.lazy import lazy_attribute
from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import Settings, csr, mates
from sparsematch._engines.cpu.core.run_engine import ENGINES, HostByProducts, run_engine, transpose
from sparsematch._engines.cpu.ordering import features
from sparsematch._engines.registry import Matched, Run, steps_are_logged
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

if TYPE_CHECKING:
    from sparsematch._engines.cpu._core import DegreeStatistics, OrderFeatures

SUMMARY = "A table of stages; what each of them leaves decides which one is next."


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Every constant of the choice.

    A pass is as many entries as the matrix has. Rows are the compressed dimension: the columns of a
    CSC matrix. *Varied* is the evidence: the time with other values over the time with this one, a
    geometric mean over 160 matrices (forty families in four orders, 2^18 rows, one worker), and in
    brackets the worst matrix if above two.
    """

    #: Entries below which a matrix is solved before its features could be found: they take some 50
    #: microseconds, as long as such a call.
    small: int = 1 << 14

    #: Entries below which the stages of a small matrix take it, too, unless chains lead through
    #: what they leave. Without: 0.77 (126 matrices, 2^12 to 2^14 rows; 0.45 of 71 real ones).
    short: int = 1 << 16

    #: Entries scanned in the time of a search where degrees vary, in no order: whether a start by
    #: degrees pays in a small matrix. Varied, 150, 300: 1.00; none: 1.10 (343, 2^9 to 2^13 rows).
    by_search: float = 200.0

    #: Distance of the middle entries of neighbouring rows, over that of any two rows, below which
    #: the numbering is good: 0.0 in a band, 1 where it is random. Varied, 0.02 and 0.1: 1.00, 1.00.
    near: float = 0.05

    #: Ratio of the sides from which on nearly all vertices of the smaller one find a free partner.
    #: Varied, 1.5 and 3: 0.99, 0.99.
    lopsided: float = 2.0

    #: Variance of the degrees over their mean below which they are even: 0 in grids, 1 at random.
    #: Varied, 0.25 and 1: 1.01 (2.3), 1.05 (3.6).
    even: float = 0.5

    #: Mean degree from which on uneven degrees may be those of a mesh, and number of rows with
    #: which one of its rows shares two columns: 4 in a grid, hardly any at random. Without both,
    #: random points in space, scrambled, take 2.9 times as long; the families 0.99.
    local_degree: float = 8.0
    shared_pairs: float = 0.25

    #: Share of the rows with one entry from which on leaves decide: no mesh, and least degrees
    #: first. Varied, 0.1 and 0.5: 1.02 (2.1), 1.00.
    leaves: float = 0.25

    #: Entries for each vertex up to which a matrix is chains with few branches. None: 1.00 (2.9).
    thin: float = 1.2

    #: Share of the columns with one entry from which on chains of forced pairs lead through much of
    #: the matrix, and the mean degree up to which Karp-Sipser leaves little behind them. Varied,
    #: 0.01 and 0.04: 1.01 (2.2), 1.00; 4 and 9: 1.03 (3.5), 1.00.
    chains: float = 0.02
    sparse: float = 6.0

    #: Share of the rows that may find no free column before `cheap` gives up: with d random entries
    #: a row after (patience (d + 1))^(1 / (d + 1)) of them. Varied, 0.0001 and 0.001: 0.99, 0.99.
    patience: float = 1 / 3000

    #: Share of the rows below which the free ones are few, and searched for before all else; of the
    #: smaller side, that may be matched, above which picks of Karp-Sipser miss fewer (varied, 1/256
    #: and 1/16: 0.99, 1.01 (2.8)). 1/1024: 1.00 (120 matrices, 2^15 rows), but circuits of 5,000
    #: to 20,000 rows, of which 24 are free, take 1.4 to 2.1 times as long.
    few: float = 1 / 64

    #: Share of the smaller side that may still be matched above which another initialisation pays,
    #: or a phase from all free vertices at once. Varied, 1/16 and 1/4: 1.00, 1.00 (4.0). Surplus of
    #: columns, times branches of a path at a row, from which on paths are short: 0.58 of the time.
    many: float = 1 / 8

    #: Allowances, in passes: of searches that are a test; of pushes, and of searches from one
    #: vertex after the other, for each of few workers; of searches from all free vertices at once,
    #: and of those for short paths. Varied, 1/32 and 1/8: 1.00, 1.00; 2 and 8: 1.01 (2.7), 1.02
    #: (2.1); 1 and 4: 1.00, 1.00; 2: 1.01 (2.6).
    brief: float = 1 / 16
    search: float = 4.0
    joint: float = 2.0
    shallow: float = 1.0

    #: Workers from which on searches from all free vertices at once replace those one by one. Four
    #: workers that search one by one take 0.83 of the time (32 matrices of a million rows).
    many_workers: int = 8

    @lazy_attribute
    def of_small(self) -> tuple[float, ...]:
        """What the core reads of it for small matrices: its `SmallPolicy`."""
        passes = self.shallow, self.joint, self.search
        chains = self.many, self.leaves, self.thin, self.chains, self.sparse
        degrees = self.near, self.even, self.by_search
        return self.small, self.short, self.few, *passes, *chains, *degrees


POLICY = Policy()

_FROM_EITHER_SIDE = "single_source_bfs", "pothen_fan", "push_relabel"


def nothing_finished(graph: BipartiteCSR) -> tuple[BoolArray, BoolArray]:
    """Return flags that are all false."""
    return np.zeros(graph.n_major, bool), np.zeros(graph.n_minor, bool)


class Features:
    """Features of a matrix that guards read, each computed when it is first needed."""

    def __init__(self, graph: BipartiteCSR, policy: Policy, workers: int) -> None:
        self.graph, self.policy, self.workers = graph, policy, workers

    @lazy_attribute
    def order(self) -> "OrderFeatures":
        """What the order of the rows is like."""
        return features.order_features(self.graph)

    @property
    def numbered(self) -> bool:
        """Whether neighbouring rows have neighbouring columns."""
        return self.order.are_near(self.policy.near)

    @property
    def lopsided(self) -> bool:
        """Whether nearly all vertices of the smaller side find a partner, as the other has more."""
        return max(self.graph.shape) >= self.policy.lopsided * min(self.graph.shape)

    @lazy_attribute
    def rows(self) -> "DegreeStatistics":
        """The degrees of the rows."""
        return features.degree_statistics(self.graph, self.workers)

    @lazy_attribute
    def columns(self) -> "DegreeStatistics":
        """The degrees of the columns, by a sample."""
        return features.minor_statistics(self.graph, self.workers)

    @property
    def has_leaves(self) -> bool:
        """Whether many rows have one entry, as in trees."""
        return self.rows.ones >= self.policy.leaves

    @property
    def is_thin(self) -> bool:
        """Whether there are hardly more entries than vertices."""
        return self.graph.nnz <= self.policy.thin * sum(self.graph.shape)

    @property
    def has_surplus(self) -> bool:
        """Whether enough columns are more than rows, and rows long enough, for short searches."""
        rows = self.rows.n - self.rows.empty
        branches = self.graph.nnz - 2 * rows  # of paths: d - 2 at a row of d
        if branches <= 0 or self.graph.n_minor <= rows:
            return False
        columns = self.graph.n_minor * (1 - self.columns.empty / self.columns.n)  # with entries
        return (columns - rows) * branches > self.policy.many * rows**2

    @lazy_attribute
    def mesh(self) -> bool:
        """Whether free columns are likely to be near each free row."""
        graph, policy = self.graph, self.policy
        if graph.n_rows != graph.n_cols or self.has_leaves or self.is_thin:
            return False
        if self.rows.variation < policy.even and self.columns.variation < policy.even:
            return True
        return self.rows.mean >= policy.local_degree and features.has_locality(
            graph, policy.shared_pairs, self.workers
        )

    @lazy_attribute
    def chains(self) -> bool:
        """Whether pairs that are forced, one by the other, lead through much of the matrix."""
        # Rows of degree one come first in `min_degree`, too; columns do not.
        policy = self.policy
        if self.rows.mean > policy.sparse or self.has_leaves:
            return False
        thin = self.is_thin and self.rows.ones < policy.chains
        return (thin or self.columns.ones >= policy.chains) and not self.has_surplus


class Progress:
    """What is known of a call by now: guards read it."""

    def __init__(
        self,
        graph: BipartiteCSR,
        matching: Matching,
        run: Run,
        policy: Policy,
        before: HostByProducts | None = None,
    ) -> None:
        self.graph, self.matching, self.run, self.policy = graph, matching, run, policy
        #: Those of the stages that are done; trees that failed are finished.
        self.by_products = before or HostByProducts()
        self.features = Features(graph, policy, run.workers)
        self.rank = 0  #: Pairs in the matching.
        #: The heuristic that has made it; ``"peeling"``: Karp-Sipser without picks, ``"core"``:
        #: also a maximal matching of what that has left.
        self.start = ""
        #: Whether that has given up, and still leaves more than few rows free: another replaces it.
        self.gave_up = False
        self.pushed = False  #: Whether rows were pushed through a mesh.
        #: The last searches from one vertex after the other that began with this start.
        self.search: StepInfo | None = None
        self.proved = False  #: That no augmenting path is left.
        #: Free rows and columns that are not finished, once they were counted since the last stage.
        self._unfinished: tuple[int, int] | None = None

    @property
    def is_maximum(self) -> bool:
        """Whether the matching is known to be maximum."""
        return self.proved or self.rank == min(self.graph.shape)

    @property
    def has_core(self) -> bool:
        """Whether Karp-Sipser has made the matching: only its core is left."""
        return self.start in ("karp_sipser", "peeling", "core")

    @property
    def has_few_free(self) -> bool:
        """Whether few rows are free."""
        return self.graph.n_major - self.rank <= self.policy.few * self.graph.n_major

    @property
    def many_workers(self) -> bool:
        """Whether there are enough for searches from all free vertices at once."""
        return self.run.workers >= self.policy.many_workers

    def free(self) -> tuple[int, int]:
        """Count the rows and columns that are free and may be needed, as far as that is known."""
        finished = self.by_products.finished
        if not self.has_core or not finished:
            return self.graph.n_major - self.rank, self.graph.n_minor - self.rank
        if self._unfinished is None:
            given = zip(mates(self.graph, self.matching), finished, strict=True)
            workers = self.run.workers
            rows, columns = (_core.count_free(len(m), m, done, workers) for m, done in given)
            self._unfinished = rows, columns
        return self._unfinished

    def may_match(self) -> float:
        """Estimate how many pairs are missing: as large a share of the free as searches found."""
        last, bound = self.search, min(self.free())
        if last is None or not last.phases:
            return bound
        untried = max(self.free())
        if not self.has_core:  # else those that have failed are finished
            untried += last.augmentations - last.phases - self.features.rows.empty
        return min(bound, untried * last.augmentations / last.phases)

    def may_match_more_than(self, share: float) -> bool:
        """Whether more than this share of the smaller side may still be matched."""
        return self.may_match() > share * min(self.graph.shape)

    def run_stage(self, stage: "Stage") -> None:
        """Run the engine of a stage; keep what it leaves."""
        if stage.engine == "diagonal":
            self._match_diagonal(stage)
        elif stage.restart:
            self._restart(stage)
        else:
            self._improve(stage)
        self._unfinished = None

    def _match_diagonal(self, stage: "Stage") -> None:
        begin = perf_counter()
        given = csr(self.graph), mates(self.graph, self.matching)
        if _core.match_diagonal(*given, self.run.workers):
            self.rank = self.graph.n_rows
            how: Any = {"edges": self.graph.nnz, "cardinality": self.rank, "reason": stage.reason}
            self.run.steps.append(StepInfo("diagonal", perf_counter() - begin, **how))

    def _restart(self, stage: "Stage") -> None:
        """Run a heuristic from the empty matching; adopt that if it is larger."""
        trial, rank = self.matching, self.rank
        if self.gave_up:
            trial.row_mate.fill(UNMATCHED)
            trial.col_mate.fill(UNMATCHED)
            rank = 0
        else:
            trial = Matching.start(self.graph)
        flags = nothing_finished(self.graph) if stage.engine == "karp_sipser" else None
        given = self.graph, trial, self.run, replace(self.by_products, finished=flags)
        how: Any = {"options": dict(stage.options), "reason": stage.reason}
        step, found = run_engine(stage.engine, *given, **how)
        if step.cardinality < rank:
            self.by_products.transposed = found.transposed
            return
        if trial is not self.matching:
            self.matching.row_mate[:] = trial.row_mate
            self.matching.col_mate[:] = trial.col_mate
        self.rank, self.start = step.cardinality, stage.starts
        self.gave_up = self.pushed = False
        self.search, self.by_products = None, found

    def _improve(self, stage: "Stage") -> None:
        """Run an engine on the matching at hand."""
        # the options of the run are of the engines it names
        more: dict[str, Any] = {"options": dict(stage.options), "reason": stage.reason}
        single = stage.engine == "single_source_bfs"
        passes = getattr(self.policy, stage.allowance) if stage.allowance else 0.0
        brief = stage.engine in ("cheap", "single_source_bfs") and self.features.numbered
        if stage.options or brief:
            # One is done before two have started; where the parts of two meet, `cheap` leaves free
            # rows far from free columns; and several claim columns on each other's short paths,
            # which are searched again (CONT-200_kkt: 13 ms by two workers, 1.8 by one).
            more["workers"] = 1
        if single:
            passes = self._passes_of_searches(passes, more.get("workers", self.run.workers))
            self.by_products.finished = self.by_products.finished or nothing_finished(self.graph)
            more["options"] = {"short_first": self.features.numbered}
        if stage.engine == "cheap" and stage.allowance:
            more["options"], passes = {"patience": passes}, 0.0
        if stage.one_sided:
            more["sides"] = "one"
        elif stage.engine in _FROM_EITHER_SIDE and np.greater(*self.free()):
            more["sides"] = "exchanged"  # as fewer columns are free than rows
        more["edge_limit"] = ceil(passes * self.graph.nnz)
        given = self.graph, self.matching, self.run, self.by_products
        step, self.by_products = run_engine(stage.engine, *given, **more)
        self.rank = step.cardinality
        self.pushed |= stage.one_sided and stage.engine == "push_relabel"
        if start := stage.starts:
            self.start, self.gave_up = start, step.exhausted
        else:
            self.proved = not step.exhausted
            self.gave_up &= not self.has_few_free
        if single:
            self.search = step

    def _passes_of_searches(self, passes: float, workers: int) -> float:
        """Return the allowance of searches from one vertex after the other; 0: to the end."""
        # A search costs a pass at most, so as many rows as passes need no limit. What one searches
        # alone while many wait has the share of one of `many_workers`: more are hardly faster.
        passes *= 1 if self.many_workers else workers
        left = self.graph.n_major - self.rank - self.features.rows.empty
        share = min(1.0, workers / self.policy.many_workers) if self.many_workers else 1.0
        return share * passes if left > passes else 0.0


Guard = Callable[[Progress], bool]


class Stage(NamedTuple):
    """A row of the table."""

    engine: str  #: An engine of the core, or ``"diagonal"``.
    guard: Guard  #: Tells whether it runs now; its docstring is the table's text.
    reason: str  #: Why, for `StepInfo.reason`.
    allowance: str = ""  #: The field of `Policy` that is its allowance; none: it runs to its end.
    start: str = ""  #: What `Progress.start` becomes where that is not the name of a heuristic.
    restart: bool = False  #: It begins from the empty matching; its own is adopted if larger.
    one_sided: bool = False  #: It does without a transpose.
    options: Mapping[str, bool] = MappingProxyType({})  #: Of the engine.

    @property
    def starts(self) -> str:
        """What `Progress.start` becomes; none: it is no heuristic."""
        is_heuristic = self.engine in ENGINES and ENGINES[self.engine]["kind"] == "heuristic"
        return self.start or self.engine * is_heuristic

    @property
    def takes(self) -> Matched:
        """The most that may be matched when it runs: what is given is not replaced."""
        replaces = self.restart or self.engine == "diagonal"
        return Matched.REPLACEABLE if replaces else Matched.GIVEN


def short_paths(guard: Guard, reason: str) -> Stage:
    """Return a stage of searches for short paths, which ends where a sample has few of them."""
    return Stage("pothen_fan", guard, reason, "shallow", options={"deepening": True})


def suits_cheap(p: Progress) -> bool:
    """Tell whether the numbering is good, degrees ascend, or it is lopsided, or warm."""
    f = p.features
    return p.run.warm or f.lopsided or f.numbered or f.order.ascending


def went_far(p: Progress) -> bool:
    """Tell whether it has given up far later than at random; few workers, and no empty row."""
    rows = p.features.rows
    if not p.gave_up or p.many_workers or rows.empty:
        return False
    at_random = (p.policy.patience * (rows.mean + 1)) ** (1 / (rows.mean + 1))
    return p.rank > (1 + at_random) / 2 * p.graph.n_minor


def chains_lead(p: Progress) -> bool:
    """Tell whether likewise, and chains lead through it, or workers are many and rows short."""
    f = p.features
    has_short_rows = p.many_workers and f.rows.mean <= p.policy.sparse
    return p.gave_up and (has_short_rows or f.chains)


def few_are_free(p: Progress) -> bool:
    """Tell whether `cheap` has left few rows free, and the numbering is not good."""
    return p.start == "cheap" and not p.features.numbered and p.has_few_free


def much_is_left(p: Progress) -> bool:
    """Tell whether much may still be matched after `cheap`, in no order that helps."""
    f = p.features
    if p.start != "cheap" or p.pushed:
        return False
    return not (f.lopsided or f.order.ascending) and p.may_match_more_than(p.policy.many)


def many_are_free(p: Progress) -> bool:
    """Tell whether `cheap` has left many free, with more entries than vertices."""
    graph, f = p.graph, p.features
    if p.start != "cheap" or p.many_workers or p.pushed or graph.nnz <= sum(graph.shape):
        return False
    free = min(graph.n_major - f.rows.empty, graph.n_minor) - p.rank
    return free > p.policy.many * min(graph.shape)


def may_search(p: Progress) -> bool:
    """Tell whether there are few workers, or a good numbering and little left; not after pushes."""
    if p.pushed or not p.many_workers:
        return not p.pushed
    return p.features.numbered and not (p.has_core or p.may_match_more_than(p.policy.many))


def may_peel(p: Progress) -> bool:
    """Tell whether Karp-Sipser was not adopted, and a vertex has degree one."""
    if p.has_core:
        return False
    # What follows needs the transpose, whatever it tells.
    transposed = p.by_products.transposed = p.by_products.transposed or transpose(p.graph, p.run)
    columns = features.degree_statistics(transposed, p.run.workers)
    return p.features.rows.ones > 0 or columns.ones > 0


def may_pick(p: Progress) -> bool:
    """Tell whether likewise, rows are short, and more may be matched than picks miss."""
    if p.has_core or p.pushed or p.features.rows.mean > p.policy.sparse:
        return False
    return p.may_match_more_than(p.policy.few) and may_peel(p)


def when(words: str, holds: Guard) -> Guard:
    """Return a guard of one expression; the words are the table's text."""
    holds.__doc__ = f"Tell whether {words}."
    return holds


is_square = when("the matrix is square", lambda p: p.graph.n_rows == p.graph.n_cols)
always = when("anything is left", lambda _: True)
has_no_start = when("no start has been made", lambda p: not p.start)
is_scrambled_mesh = when("that gave up on a mesh", lambda p: p.gave_up and p.features.mesh)
has_given_up = when("it has given up, and none of these ran", lambda p: p.gave_up)
on_scrambled_mesh = when(
    "`cheap` went first on a mesh whose numbering is not good",
    lambda p: p.start == "cheap" and not p.features.numbered and p.features.mesh,
)
was_pushed = when("that has left some rows", lambda p: p.pushed)
may_search_jointly = when(
    "there are many workers; not after pushes", lambda p: p.many_workers and not p.pushed
)
starts_again_at_once = when(
    "there are many workers, and much may be matched after `cheap`, in no order",
    lambda p: p.many_workers and much_is_left(p),
)
may_start_again = when(
    "likewise with few workers: searches go first", lambda p: not p.many_workers and much_is_left(p)
)
few_are_left = when(
    "the few that are left have a pass each within the allowance",
    lambda p: not p.has_core and not p.pushed and min(p.free()) <= p.policy.search,
)
has_restarted = when(
    "there is a new start since", lambda p: not p.many_workers and p.search is None and not p.pushed
)
has_peeled = when("that was adopted: its core has no start", lambda p: p.start == "peeling")
has_many_workers = when("there are many workers", lambda p: p.many_workers)

STAGES = (
    Stage("diagonal", is_square, "the diagonal has no zero"),
    Stage("cheap", suits_cheap, "one pass; often all there is to do"),
    Stage("cheap", has_no_start, "does the order of the rows help after all", "patience"),
    short_paths(went_far, "the order helps most rows: do short paths match the others"),
    Stage("cheap", is_scrambled_mesh, "free columns are near, whatever the order"),
    Stage(
        "karp_sipser", chains_lead, "vertices of degree one lead through much of it", restart=True
    ),
    Stage("min_degree", has_given_up, "the order is no help; degrees are", restart=True),
    Stage(
        "single_source_bfs",
        few_are_free,
        "do brief searches match the few",
        "brief",
        one_sided=True,
    ),
    Stage(
        "push_relabel", on_scrambled_mesh, "labels lead to near columns", "search", one_sided=True
    ),
    Stage("single_source_bfs", was_pushed, "few are left, far from free columns", "search"),
    short_paths(many_are_free, "many are free: do short paths match most of them"),
    Stage("single_source_bfs", few_are_left, "it needs no transpose", "search", one_sided=True),
    Stage("min_degree", starts_again_at_once, "a start by many workers costs little", restart=True),
    Stage("single_source_bfs", may_search, "paths are likely to be short enough", "search"),
    Stage("pothen_fan", may_search_jointly, "all workers search, depth first", "joint"),
    Stage("ms_bfs_graft", has_many_workers, "one forest for all workers", "search"),
    Stage("min_degree", may_start_again, "degrees may match more than the order", restart=True),
    Stage("single_source_bfs", has_restarted, "a better start leaves fewer paths", "search"),
    Stage("karp_sipser", may_pick, "does Karp-Sipser leave a small core", restart=True),
    Stage(
        "karp_sipser",
        may_peel,
        "do forced pairs leave a small core",
        start="peeling",
        restart=True,
        options={"degree_one_only": True},
    ),
    Stage("min_degree", has_peeled, "what forced pairs have left", start="core"),
    Stage("single_source_bfs", has_restarted, "the core that Karp-Sipser has left", "search"),
    Stage("push_relabel", always, "many searches at once, whatever the graph"),
)


def improve(
    graph: BipartiteCSR,
    matching: Matching,
    run: Run,
    before: HostByProducts | None = None,
    policy: Policy | None = None,
) -> HostByProducts | None:
    """Make the matching maximum."""
    # Reads: the graph. Writes: both mates. Workspace: a byte a vertex; at times the transpose or a
    # second matching. Time: that of the engines it runs.
    policy = policy or POLICY
    how = policy, not run.warm, (0, run.detailed or steps_are_logged(), run.seed)
    if not run.handed_over and (found := match_small(graph, matching, *how)):
        _, is_maximum, seconds, steps = found
        run.transposes_built += seconds > 0
        run.transpose_seconds += seconds
        for step in steps:
            run.steps.append(StepInfo._make(step))
        if is_maximum:
            return before
        for mate in mates(graph, matching):
            mate.fill(UNMATCHED)
    progress = Progress(graph, matching, run, policy, before)
    with _core.KeptTeam():
        for stage in STAGES:
            if run.matched <= stage.takes and stage.guard(progress):
                progress.run_stage(stage)
                if progress.is_maximum:
                    break
    progress.by_products.finished = None
    return progress.by_products


def match_small(
    pattern: tuple[Any, ...],
    matching: Matching,
    policy: Policy = POLICY,
    from_empty: bool = True,
    settings: Settings = (0, False, 0),
) -> Any:
    """Match a small matrix in one call of the core: see `MatchingOps`."""
    pair = matching.row_mate, matching.col_mate
    return _core.match_small(pattern, *pair, from_empty, policy.of_small, settings)
