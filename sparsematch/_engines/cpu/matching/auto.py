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
from sparsematch._engines.cpu.matching import searches
from sparsematch._engines.cpu.matching.steps import head, nothing_settled
from sparsematch._engines.cpu.ordering import features
from sparsematch._engines.registry import Run
from sparsematch._types.arrays import fill_unmatched
from sparsematch._types.bipartite import BipartiteCSR
from sparsematch._types.matching import Matching
from sparsematch._types.run_info import StepInfo

SUMMARY = "Takes cheap steps first; what each of them leaves decides which one is next."

#: A matrix of fewer entries is solved before its features could be found.
SMALL_ENTRIES = 1 << 14

#: One of so many parts of the majors is matched first. Where more than this share of it finds no
#: free minor, the order of the majors is no help.
HEAD, HEAD_SHARE = 3, 0.001

#: Where fewer than this share of the majors are free after the cheap initialisation, the numbering
#: of the matrix has done the work.
NEAR_PERFECT_SHARE = 1 / 32

#: Where more than this share of the vertices may still be matched, another initialisation pays.
START_AGAIN_SHARE = 0.06

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


class Course(searches.Searches):
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
        near = self.graph.n_major - self.rank < NEAR_PERFECT_SHARE * self.graph.n_major
        if self.is_brief_with_look_ahead(near) and self.look_ahead():
            return True
        if not self.features.ordered and self.search_for_few():
            return True
        if self.is_scrambled_mesh:
            return (
                self.push_through_mesh()
                or self.search_for_the_last()
                or self.peel()
                or self.finish()
            )
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
            return self.search("single_source_bfs", searches.SEARCH, why)
        why = "a probe: what does a search cost, and does it find anything"
        return self.search_from_one_side(searches.NEAR_PROBE if near else searches.PROBE, why)

    @property
    def many_are_free(self) -> bool:
        """Whether so many are free that hardly any initialisation would leave as many."""
        signs, graph = self.features, self.graph
        if signs.forest or signs.degrees.are_skewed:
            return False
        if any(step.engine == "single_source_bfs" for step in self.run.steps):
            return False
        free = min(graph.n_major - signs.degrees.empty, graph.n_minor) - self.rank
        return free > searches.MANY_SHARE * min(graph.shape)

    def is_brief_with_look_ahead(self, near: bool) -> bool:
        """Whether most depth-first searches are brief, beside a pass over all entries."""
        signs = self.features
        if signs.has_very_long_lists:
            return True
        return signs.has_long_lists and not near and not self.is_scrambled_mesh

    @property
    def is_scrambled_mesh(self) -> bool:
        """Whether free columns are near each row, and the numbering does not say where."""
        signs = self.features
        return not signs.ordered and signs.like_a_mesh

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
        if well_numbered and may_match <= searches.MANY_SHARE * smaller:
            return False
        why = (
            f"{may_match / smaller:.0%} may still be matched, and the order of the rows is no help"
        )
        return self.try_degrees(why)

    def search_to_the_end(self) -> bool:
        """Search from one free vertex after the other, if that is likely to suffice."""
        if self.many_are_free:
            why = "many are free: are most paths the shortest there can be"
            if self.search_from_each(searches.NEAR_PROBE, why) or self.use_short_paths():
                return True
        why = "paths are likely to be short enough to search for one after the other"
        return self.search_from_each(self.allowance, why) or self.share_failed_trees()

    def peel(self) -> bool:
        """Match vertices of degree one, from the empty matching, as far as that goes.

        That costs what it solves: it ends at once where there are hardly any. Where much may still
        be matched, and Karp-Sipser is likely to leave a small core, as on no mesh, it picks, too.
        Its matching is adopted if it solves much of the graph.
        """
        majors = self.features.degrees
        if self.run.warm or self.peeled or majors.mean > features.PEELING_DEGREE:
            return False
        minors = features.degree_statistics(transpose(self.graph, self.run))
        ones, smaller = max(majors.ones, minors.ones), min(self.graph.shape)
        much_is_left = self.may_match() > PICKS_SHARE * smaller
        with_picks = (
            majors.mean <= features.CORE_DEGREE and much_is_left and not self.is_scrambled_mesh
        )
        if not ones:
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
