// Shortest augmenting paths, one free row after the other, as long as they are short.
//
// A search grows a tree of shortest paths from a free row, by Dijkstra's algorithm over reduced
// costs, to the nearest free column, and no further; then the duals of the tree move by what is
// missing to that distance, and the search augments along the path.
// Duff, Koster: On algorithms for permuting large entries to the diagonal of a sparse matrix (SIAM
// J. Matrix Anal. Appl. 22, 2001): sparse Dijkstra that stops early. Names: level_ is the distance
// of the row that is scanned (their lsp), best_ that of the nearest free column (lsap), near_ and
// heap_ hold the columns at level_ and beyond (Q1, Q2). With a radix heap searches take 0.6 to 0.9
// of the time they take with a binary one, whose comparisons are not predicted.
// A few long searches may cost more than all others together, and the order of the rows decides
// which are long. So a search that exceeds its limit is put off; those put off try again with a
// larger limit, when the others may have cleared their way.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "weighted/assignment_state.hpp"
#include "weighted/radix_heap.hpp"
#include "weighted/shared_search.hpp"

namespace sparsematch {

template <class Index> class PathSearch {
    enum class Result { matched, too_long, none };

  public:
    explicit PathSearch(AssignmentState<Index>& s) : s_(s), shared_(s) {}

    // Matches free rows, whatever each takes, until none is left or the work exceeds its budget, by
    // a pass over the matrix at most. False: the run was stopped, or a row cannot be matched.
    bool match_all(std::int64_t budget = unlimited) {
        const auto timer = s_.run.time("searches");
        const std::int64_t begin = s_.work;
        std::int64_t failed = 0;
        while (shared_.active() && s_.work - begin < budget)
            if (!shared_.round(std::min(budget - (s_.work - begin), s_.pass()), unlimited, failed))
                return false;
        for (; !s_.free.empty() && s_.work - begin < budget; s_.free.pop_back())
            if (search(s_.free.back(), unlimited) == Result::none) return false;
        return true;
    }

    // Matches free rows until none is left, the work exceeds its budget, or searches that exceed
    // their limits cost more than those that do not, and than a pass over the matrix. False: the
    // run was stopped, or a row cannot be matched. Time: within the budget, and one limit.
    bool match_free_rows(std::int64_t budget) {
        // The first limit is 256 rows, or two passes for all: on interior-point systems, meshes and
        // bases of 100,000 rows 64 rows cost 5 to 40% more. Each limit is 8 times the last.
        constexpr std::int64_t factor = 8;
        if (s_.free.empty()) return true;
        const auto n_free = static_cast<std::int64_t>(s_.free.size());
        const std::int64_t first = std::max(256 * s_.pass() / s_.a.n_rows, 2 * s_.pass() / n_free);
        const std::int64_t begin = s_.work;
        bool hard = false;
        for (std::int64_t limit = first; !hard && !s_.free.empty(); limit *= factor) {
            const std::int64_t start = s_.work;
            std::int64_t failed = 0;
            const auto is_hard = [&] {
                return s_.work - begin > budget || failed > s_.pass() + (s_.work - start - failed);
            };
            if (shared_.active() && !shared_.round(budget, limit, failed)) return false;
            hard = is_hard();
            std::size_t k = shared_.active() ? 0 : s_.free.size(), kept = k;
            while (k > 0 && !hard) {
                const Index i = s_.free[--k];
                const std::int64_t before = s_.work;
                const Result result = search(i, limit);
                if (result == Result::none) return false;
                if (result == Result::too_long) {
                    failed += s_.work - before;
                    s_.free[--kept] = i;
                }
                hard = is_hard();
            }
            s_.free.erase(s_.free.begin() + k, s_.free.begin() + kept);
        }
        return true;
    }

  private:
    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 2;

    Result search(Index source, std::int64_t limit) {
        level_ = 0, best_ = infinity, end_ = UNMATCHED<Index>;
        const Result result = grow(source, s_.work + limit);
        for (const Index j : touched_) {
            auto& col = s_.col[j];
            if (result == Result::matched && col.distance < best_) {
                col.v -= best_ - col.distance;
                s_.u[col.mate] += best_ - col.distance;
            }
            col.distance = infinity;
        }
        touched_.clear(), near_.clear(), heap_.clear();
        if (result == Result::matched) {
            s_.u[source] += best_;
            s_.augment(source, end_);
        }
        return result;
    }

    // Scans this row and those that follow from it, until the nearest free column is known.
    Result grow(Index source, std::int64_t limit) {
        for (Index i = source; i != UNMATCHED<Index> && best_ > level_; i = next()) {
            scan(i);
            if (!s_.scanned(i)) return Result::none;
            if (s_.work > limit) return Result::too_long;
        }
        return end_ == UNMATCHED<Index> ? Result::none : Result::matched;
    }

    // Columns beyond the nearest free one are not kept. What the loop reads is at hand: kept in
    // members, it would be read again after each entry.
    void scan(Index i) {
        const double level = level_, base = level - s_.u[i];
        const Index *const indptr = s_.a.indptr, *const indices = s_.a.indices;
        const double* const cost = s_.cost;
        auto* const cols = s_.col.data();
        double best = best_;
        for (Index p = indptr[i], end = indptr[i + 1]; p < end; ++p) {
            const Index j = indices[p];
            auto& col = cols[j];
            const double d = std::max(base + (cost[p] - col.v), level);  // rounding
            if (d >= std::min(best, col.distance)) continue;
            col.parent = i;
            if (col.mate == UNMATCHED<Index>) {
                best = best_ = d, end_ = j;
                if (d <= level) return;
                continue;
            }
            if (col.distance == infinity) touched_.push_back(j);
            col.distance = d;
            s_.prefetch(col.mate, UNMATCHED<Index>, UNMATCHED<Index>);
            if (d <= level) near_.push_back(j);
            else heap_.push(d, j);
        }
    }

    // The row of the nearest column that is not scanned yet and nearer than end_, if any.
    Index next() {
        if (near_.empty()) {
            const auto is_current = [this](const auto& e) {
                return e.key <= s_.col[e.j].distance && e.key < best_;
            };
            if (!heap_.advance(is_current)) return UNMATCHED<Index>;
            level_ = heap_.least()[0].key;
            // The first that came is scanned first: the other way round takes up to twice as long.
            const auto& least = heap_.least();
            for (auto e = least.rbegin(); e != least.rend(); ++e) near_.push_back(e->j);
        }
        const Index j = near_.back();
        near_.pop_back();
        if (!near_.empty()) fetch(near_.back());
        return s_.col[j].mate;
    }

    void fetch(Index j) const { s_.prefetch(UNMATCHED<Index>, s_.col[j].mate, UNMATCHED<Index>); }

    AssignmentState<Index>& s_;
    SharedSearch<Index> shared_;
    std::vector<Index> touched_, near_;
    RadixHeap<Index> heap_;
    double level_ = 0, best_ = 0;
    Index end_ = UNMATCHED<Index>;
};

}  // namespace sparsematch
