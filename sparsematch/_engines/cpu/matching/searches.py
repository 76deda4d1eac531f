"""The exact algorithms that `auto` takes: each with an allowance, by what the last one has told.

A step that goes over its allowance keeps what it has matched.
"""

from sparsematch._engines.cpu.matching.steps import Steps, nothing_settled
from sparsematch._types.matching import Matching

#: Allowances of single-source searches, in units of the entries of the matrix: they give up where
#: half of it would not suffice for those that are left, and at last where all of it is used up.
#: Less for what Karp-Sipser leaves: those rows are far apart. More for several workers.
PROBE, NEAR_PROBE, SEARCH = 1.0, 0.06, 4.0
CORE_SEARCH, SHARED_SEARCH = 1.0, 8.0

#: Allowances of other algorithms, in the same unit.
LEVELS, DESCENTS, MESH_PUSHES, JOINT_SEARCH, SHARED_TREES = 2.0, 1.0, 3.0, 2.0, 4.0

#: In the same unit, what searches may cost, those that fail included, before a transpose is built
#: for them: it costs some eight times as much.
UNTRANSPOSED = 1 / 8

#: A forest that grows from all free vertices needs many of them: this share of the smaller side.
JOINT_SHARE = 1 / 256

#: Where single-source searches would cost more than so many passes even if the last of them cost no
#: more than those that are done, they visit the same vertices again and again. To say so takes
#: searches that have scanned such a share of the entries.
SAME_VERTICES, SAMPLE = 4.0, 1 / 32

#: A forest is the better search where a path costs such a share of the entries.
WIDE_SEARCH = 1 / 400

#: Where a smaller share of the searches has found a path, most free vertices have none. Fewer
#: searches do not tell.
FOUND_SHARE, FEW_SEARCHES = 0.4, 32

#: Fewer paths do not tell what one costs.
FEW_PATHS = 8

#: Where searches that succeed scan fewer entries than those of so many majors, most paths are the
#: shortest there can be. If more than this share of the vertices may still be matched, a phase of
#: Hopcroft-Karp matches most of them.
SHORT_PATH, MANY_SHARE = 3.6, 1 / 8

#: Where fewer than this share of the majors are free, searches are tried before all else: on a
#: circuit with 24 free rows of 30,024 they scan 190 entries, where pushing scans 137,832.
FEW_LEFT_SHARE = 1 / 1024

#: From this mean degree on a depth-first search has a choice at each step.
BRANCHING_DEGREE = 4.0

#: So many rows or fewer are searched for to the end; the second with four workers or more, with
#: which pushing leaves 64, and those that have no path: these cost a pass together, at most.
LAST_ROWS, SHARED_LAST_ROWS = 8, 128


class Searches(Steps):
    """What may come after an initialisation; each returns whether the matching is maximum."""

    def search_from_each(self, passes: float, why: str) -> bool:
        """Search from one free vertex after the other; if that costs too much, perhaps from all."""
        return self.search_from_one_side(passes, why) or self.search_from_all()

    def search_from_one_side(self, passes: float, why: str) -> bool:
        """Search from one free vertex after the other; without a transpose if that suffices."""
        if not self.peeled and min(self.free()) <= SEARCH:
            why = "few are left: a search costs a pass at most, and needs no transpose"
            return self.search("single_source_bfs", SEARCH, why, sides="one")
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
        if not self.has_found_paths or self.run.steps[-1].edges < SAMPLE * self.graph.nnz:
            return False
        if self.cost_of_the_rest() <= SAME_VERTICES:
            return False
        if self.cost_of_a_path() < WIDE_SEARCH * self.graph.nnz:
            return False
        if self.may_match() < JOINT_SHARE * min(self.graph.shape):
            return False
        why = "each search visits what the others have visited; one forest visits it once"
        return self.search("ms_bfs_graft", JOINT_SEARCH, why)

    def share_failed_trees(self) -> bool:
        """Search from all free vertices at once, if most searches have failed."""
        last = self.run.steps[-1]
        if last.engine != "single_source_bfs" or last.phases < FEW_SEARCHES:
            return False
        if last.augmentations >= FOUND_SHARE * last.phases:
            return False
        why = "most rows that are free have no path: one forest visits their trees once"
        return self.search("ms_bfs_graft", SHARED_TREES, why)

    @property
    def has_found_paths(self) -> bool:
        """Whether the last step tells what a path costs."""
        last = self.run.steps[-1]
        return last.engine == "single_source_bfs" and last.augmentations > 0

    def use_short_paths(self) -> bool:
        """Match many free vertices in a phase, if most paths are the shortest there can be."""
        graph = self.graph
        if not self.has_found_paths:
            return False
        if self.cost_of_a_path() > SHORT_PATH * graph.nnz / graph.n_major:
            return False
        why = "many vertices are free, and most paths are the shortest there can be"
        return self.search("hopcroft_karp", LEVELS, why)

    def use_numbering(self, near: bool) -> bool:
        """Where the numbering is good, free columns are near free rows."""
        if not near or not self.features.ordered or self.cost_of_the_rest() > LEVELS:
            return False
        if self.run.steps[-1].augmentations < FEW_PATHS:
            return False
        why = "few rows are free, and the numbering is good: few levels"
        return self.search("hopcroft_karp", LEVELS, why)

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

    def search_for_few(self) -> bool:
        """Search briefly: few free rows may have short paths, whatever the pattern looks like."""
        if self.graph.n_major - self.rank > FEW_LEFT_SHARE * self.graph.n_major:
            return False
        why = "hardly any row is free: do brief searches match these"
        return self.search("single_source_bfs", NEAR_PROBE, why, sides="one")

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

    def finish(self) -> bool:
        """Push and relabel."""
        return self.search("push_relabel", 0, "many searches at once, whatever the graph")

    def try_degrees(self, why: str) -> bool:
        """Replace the matching by that of the least degrees if that is larger."""
        trial = Matching.start(self.graph)
        step = self.take("min_degree", trial, why)
        if step.cardinality > self.rank:
            self.adopt(trial, step.cardinality, nothing_settled(self.graph))
        return self.rank == min(self.graph.shape)
