"""The default engine: an initialisation by the signs of the matrix, then by what is left.

Every exact algorithm but the last has an allowance of entries to scan, and a search from single
vertices ends as soon as those done so far show that the others cost too much. So a wrong guess
costs a few passes, and never the matching it has found: the next step goes on from there.
docs/algorithms/auto.md has the figures behind each sign; benchmarks/regret.py measures them anew.
"""

from time import perf_counter

from sparsematch._engines.cpu import _core
from sparsematch._engines.cpu.core.csr import csr, mates
from sparsematch._engines.cpu.core.run_engine import transpose
from sparsematch._engines.cpu.matching.steps import Steps, head, nothing_settled
from sparsematch._engines.cpu.ordering.features import (
    CORE_DEGREE,
    PEELING_SHARE,
    degree_statistics,
)
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import fill_unmatched
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Takes cheap steps first; what each of them leaves decides which one is next."

#: A matrix of fewer entries is solved before its features could be found.
SMALL_ENTRIES = 1 << 14

#: Allowances of single-source searches, in units of the entries of the matrix: they give up where
#: half of it would not suffice for those that are left, and at last where all of it is used up.
#: Less for what Karp-Sipser leaves: those rows are far apart. More for several workers.
PROBE, NEAR_PROBE, SEARCH = 1.0, 0.06, 4.0
CORE_SEARCH, SHARED_SEARCH = 1.0, 8.0

#: Allowances of other algorithms, in the same unit.
LEVELS, NEAR_LEVELS, DESCENTS, MESH_PUSHES, JOINT_SEARCH = 2.0, 1.0, 1.0, 3.0, 2.0

#: In the same unit, what searches may cost, those that fail included, before a transpose is built
#: for them: it costs some eight times as much.
UNTRANSPOSED = 1 / 8

#: A forest that grows from all free vertices needs many of them: this share of the smaller side.
JOINT_SHARE = 1 / 256

#: Where single-source searches would cost more than so many passes even if the last of them cost no
#: more than those that are done, they visit the same vertices again and again. To say so takes
#: searches that have scanned such a share of the entries.
SAME_VERTICES, SAMPLE = 4.0, 1 / 32

#: Where searches that succeed scan fewer entries than those of so many majors, most paths are the
#: shortest there can be. If more than this share of the vertices may still be matched, a phase of
#: Hopcroft-Karp matches most of them.
SHORT_PATH, MANY_SHARE = 3.6, 1 / 8

#: One of so many parts of the majors is matched first. Where more than this share of it finds no
#: free minor, the order of the majors is no help.
HEAD, HEAD_SHARE = 3, 0.001

#: Where fewer than this share of the majors are free after the cheap initialisation, the numbering
#: of the matrix has done the work.
NEAR_PERFECT_SHARE = 1 / 32

#: Where more than this share of the vertices may still be matched, another initialisation pays.
START_AGAIN_SHARE = 0.06

#: The numbering has done so if the searches that are left cost fewer passes, should none cost more
#: than those that are done.
FEW_LEVELS = 0.4

#: From this mean degree on a depth-first search has a choice at each step.
BRANCHING_DEGREE = 4.0

#: So many rows or fewer pushing leaves to searches; the second with four workers or more.
LAST_ROWS, SHARED_LAST_ROWS = 8, 64

#: Of fewer majors the order does not matter.
FEW_SHARE = 0.1

#: Where fewer than this share of the vertices may still be matched, the picks of Karp-Sipser would
#: miss as many.
PICKS_SHARE = 1 / 64

#: Peeling has solved much of the matrix if it matches this share of what was matched before it.
PEELED_SHARE = 0.5


def improve(graph: BipartiteCSR, matching: Matching, run: Run) -> None:
    """Make the matching maximum.

    Reads: the graph. Writes: both mates. Workspace: a byte a vertex; at times the transpose or a
    second matching. Time: that of the engines it runs.
    """
    if graph.n_rows == graph.n_cols and not run.warm and _match_diagonal(graph, matching, run):
        return
    Course(graph, matching, run).solve()


def _match_diagonal(graph: BipartiteCSR, matching: Matching, run: Run) -> bool:
    """Match along the diagonal if it has no zero; otherwise the scan ends at the first one."""
    begin = perf_counter()
    found = _core.match_diagonal(csr(graph), mates(graph, matching))
    if found:
        seconds, why = perf_counter() - begin, "the diagonal has no zero"
        run.steps.append(
            StepInfo("diagonal", seconds, edges=graph.nnz, cardinality=graph.n_rows, reason=why)
        )
    return found


class Course(Steps):
    """Which steps one call takes: `solve` and what it calls."""

    def solve(self) -> bool:
        """Take cheap steps, then those that the signs call for, then the one that always ends."""
        graph, signs = self.graph, self.features
        if graph.nnz < SMALL_ENTRIES:
            return (
                self.start("cheap", "one pass; often all there is to do", workers=1)
                or self.search("single_source_bfs", 4, "a small matrix")
                or self.finish()
            )
        suited = (
            self.run.warm
            or signs.lopsided
            or signs.has_long_lists
            or signs.ordered
            or signs.ascending
        )
        if suited or self.order_helps() or signs.like_a_mesh:
            started = self.start_cheaply(suited)
        elif signs.may_peel:
            started = self.start_by_peeling()
        else:
            started = self.start_by_degrees()
        return started or self.search_to_the_end() or self.peel() or self.finish()

    def order_helps(self) -> bool:
        """Start with the first majors: where some of them find none free, the others will not."""
        part, matching = head(self.graph, self.matching, self.graph.n_major // HEAD)
        why = f"up to 1/{HEAD} of the rows: do any find no free column"
        step = self.take("cheap", matching, why, part, options={"patience": HEAD_SHARE})
        return not step.exhausted

    def start_by_degrees(self) -> bool:
        """Take the free minor of least degree of each major, from the empty matching."""
        self.unmatch()
        return self.start("min_degree", "the order of the rows says nothing; degrees do")

    def start_by_peeling(self) -> bool:
        """Match vertices as they come down to degree one, from the empty matching."""
        self.unmatch()
        why = "the order of the rows says nothing; vertices of degree one lead through much of it"
        step = self.take("karp_sipser", self.matching, why, settled=self.settled, keep_forced=True)
        self.rank, self.peeled = step.cardinality, True
        return self.rank == min(self.graph.shape)

    def unmatch(self) -> None:
        """Go back to the empty matching."""
        fill_unmatched(self.matching.row_mate)
        fill_unmatched(self.matching.col_mate)

    def start_cheaply(self, suited: bool) -> bool:
        """Take the first free column of each row; see how good that is."""
        # Where the parts of two workers meet, a sweep through a well numbered matrix leaves free
        # rows far from free columns.
        workers = 1 if self.features.ordered else None
        if self.start("cheap", "one pass; often all there is to do", workers=workers):
            return True
        if self.features.has_long_lists and self.look_ahead():
            return True
        if self.is_scrambled_mesh:
            return self.push_through_mesh() or self.search_for_the_last() or self.finish()
        near = self.graph.n_major - self.rank < NEAR_PERFECT_SHARE * self.graph.n_major
        if not near and not (suited or self.features.like_a_mesh):
            return self.start_by_degrees()
        if self.use_depth(near):
            return True
        if not self.features.ordered and not self.may_start_again:
            return False
        return (
            self.probe(near)
            or self.start_again()
            or self.search_from_all()
            or self.use_numbering(near)
        )

    def probe(self, near: bool) -> bool:
        """Search briefly: what is solved so needs nothing else; otherwise see what is left."""
        if self.features.forest and not self.may_start_again:
            why = "no more entries than vertices: few paths to choose from"
            return self.search("single_source_bfs", SEARCH, why)
        why = "a probe: what does a search cost, and does it find anything"
        return self.search_from_one_side(NEAR_PROBE if near else PROBE, why)

    def search_from_each(self, passes: float, why: str) -> bool:
        """Search from one free vertex after the other; if that costs too much, perhaps from all."""
        return self.search_from_one_side(passes, why) or self.search_from_all()

    def search_from_one_side(self, passes: float, why: str) -> bool:
        """Search from one free vertex after the other; without a transpose if that suffices."""
        if self.search_untransposed(passes) or self.replace_by_degrees():
            return True
        return self.search("single_source_bfs", passes, why)

    def search_untransposed(self, passes: float) -> bool:
        """Search briefly from the majors where fewer minors are free: without a transpose."""
        if self.run.transposed or not self.minors_are_fewer:
            return False
        why = "before a transpose is built: are few searches enough"
        return self.search("single_source_bfs", min(passes, UNTRANSPOSED), why, sides="one")

    def replace_by_degrees(self) -> bool:
        """Start again where far fewer minors are free, and searches from majors do not fail."""
        last, signs = self.run.steps[-1], self.features
        if self.run.transposed or not (signs.lopsided and self.minors_are_fewer) or self.run.warm:
            return False
        if last.engine != "single_source_bfs" or 2 * last.augmentations < last.phases:
            return False
        return self.try_degrees("few are free, and have paths: degrees cost less than a transpose")

    def search_from_all(self) -> bool:
        """Search from all free vertices at once, if the single-source searches say that it pays."""
        last = self.run.steps[-1]
        if last.engine != "single_source_bfs" or not last.augmentations:
            return False
        if last.edges < SAMPLE * self.graph.nnz or self.cost_of_the_rest() <= SAME_VERTICES:
            return False
        if self.may_match() < JOINT_SHARE * min(self.graph.shape):
            return False
        why = "each search visits what the others have visited; one forest visits it once"
        return self.search("ms_bfs_graft", JOINT_SEARCH, why)

    def use_short_paths(self) -> bool:
        """Match many free vertices in a phase, if most paths are the shortest there can be."""
        last, graph = self.run.steps[-1], self.graph
        if last.engine != "single_source_bfs" or not last.augmentations:
            return False
        if self.cost_of_a_path() > SHORT_PATH * graph.nnz / graph.n_major:
            return False
        why = "many vertices are free, and most paths are the shortest there can be"
        return self.search("hopcroft_karp", LEVELS, why)

    def use_numbering(self, near: bool) -> bool:
        """Where the numbering is good, free columns are near free rows."""
        if not near or not self.features.ordered or self.cost_of_the_rest() > FEW_LEVELS:
            return False
        why = "few rows are free, and the numbering is good: few levels"
        return self.search("hopcroft_karp", NEAR_LEVELS, why)

    def use_depth(self, near: bool) -> bool:
        """Search depth first in a well numbered mesh: paths are short."""
        signs = self.features
        if near or not signs.ordered or not signs.even or signs.degrees.mean < BRANCHING_DEGREE:
            return False
        return self.search("pothen_fan", DESCENTS, "a well numbered mesh: paths are short")

    def look_ahead(self) -> bool:
        """Search depth first in long lists, each of which looks at few of its entries."""
        why = "long lists: a look-ahead finds a free column in most, and a pass is much work"
        return self.search("pothen_fan", DESCENTS, why)

    @property
    def many_are_free(self) -> bool:
        """Whether so many are free that hardly any initialisation would leave as many."""
        signs, graph = self.features, self.graph
        if signs.forest or signs.degrees.are_skewed:
            return False
        if any(step.engine == "single_source_bfs" for step in self.run.steps):
            return False
        free = min(graph.n_major - signs.degrees.empty, graph.n_minor) - self.rank
        return free > MANY_SHARE * min(graph.shape)

    @property
    def is_scrambled_mesh(self) -> bool:
        """Whether free columns are near each row, and the numbering does not say where."""
        signs = self.features
        return not signs.ordered and signs.like_a_mesh

    def push_through_mesh(self) -> bool:
        """Let labels that rise by pushes lead to the free columns nearby."""
        why = "a scrambled mesh: a free column is near, and labels lead to it"
        return self.search("push_relabel", MESH_PUSHES, why, sides="one")

    def search_for_the_last(self) -> bool:
        """Search from the rows that pushing has left; of few each costs a pass at most."""
        left = self.free()[0] - self.features.degrees.empty
        why = "few rows are left: a search reads ahead, where a push waits for memory"
        few = left <= (SHARED_LAST_ROWS if self.run.workers >= 4 else LAST_ROWS)
        return self.search("single_source_bfs", 0 if few else self.allowance, why)

    @property
    def allowance(self) -> float:
        """What a search from one free vertex after the other may cost."""
        if self.run.workers > 1:
            return SHARED_SEARCH
        return CORE_SEARCH if self.peeled else SEARCH

    @property
    def may_start_again(self) -> bool:
        """Whether another initialisation may be better."""
        signs = self.features
        if self.run.warm or signs.lopsided or signs.ascending:
            return False
        return signs.has_loose_ends or not signs.even

    def start_again(self) -> bool:
        """Replace the matching by that of a better initialisation if much is left to match."""
        may_match, smaller = self.may_match(), min(self.graph.shape)
        if may_match <= START_AGAIN_SHARE * smaller or not self.may_start_again:
            return False
        well_numbered = self.features.ordered and self.features.even
        if well_numbered and may_match <= MANY_SHARE * smaller:
            return False
        why = (
            f"{may_match / smaller:.0%} may still be matched, and the order of the rows is no help"
        )
        return self.try_degrees(why)

    def try_degrees(self, why: str) -> bool:
        """Replace the matching by that of the least degrees if that is larger."""
        trial = Matching.start(self.graph)
        step = self.take("min_degree", trial, why)
        if step.cardinality > self.rank:
            self.adopt(trial, step.cardinality, nothing_settled(self.graph))
        return self.rank == min(self.graph.shape)

    def search_to_the_end(self) -> bool:
        """Search from one free vertex after the other, if that is likely to suffice."""
        if self.many_are_free:
            why = "many are free: are most paths the shortest there can be"
            if self.search_from_each(NEAR_PROBE, why) or self.use_short_paths():
                return True
        why = "paths are likely to be short enough to search for one after the other"
        return self.search_from_each(self.allowance, why)

    def peel(self) -> bool:
        """Match vertices of degree one, from the empty matching, as far as that goes.

        That costs what it solves: it ends at once where there are hardly any. Where much may still
        be matched, and Karp-Sipser is likely to leave a small core, it picks, too. Its matching is
        adopted if it solves much of the graph.
        """
        if self.run.warm or self.peeled or self.is_scrambled_mesh:
            return False
        minors, majors = degree_statistics(transpose(self.graph, self.run)), self.features.degrees
        smaller = min(self.graph.shape)
        with_picks = majors.mean <= CORE_DEGREE and self.may_match() > PICKS_SHARE * smaller
        ones = max(majors.ones, minors.ones)
        if not ones or not with_picks and ones < PEELING_SHARE:
            return False
        trial, settled = Matching.start(self.graph), nothing_settled(self.graph)
        forced = self.run.forced
        step = self.take(
            "karp_sipser",
            trial,
            "searches go everywhere: does peeling vertices of degree one leave a small core",
            settled=settled,
            keep_forced=True,
            options={"degree_one_only": not with_picks},
        )
        if step.cardinality < (1.0 if with_picks else PEELED_SHARE) * self.rank:
            self.run.forced = forced
            return False
        self.adopt(trial, step.cardinality, settled)
        self.peeled = True
        few = self.free()[0] < FEW_SHARE * self.graph.n_major
        if not with_picks and self.start("cheap" if few else "min_degree", "what peeling has left"):
            return True
        why = "the core that peeling has left"
        return self.rank == smaller or self.search("single_source_bfs", self.allowance, why)

    def finish(self) -> bool:
        """Push and relabel."""
        return self.search("push_relabel", 0, "many searches at once, whatever the graph")
