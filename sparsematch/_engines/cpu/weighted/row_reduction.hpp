// Augmenting row reduction: a free row is matched to its best column, whose dual is lowered until
// the second best is as good; the row displaced is next.
//
// Jonker, Volgenant: A shortest augmenting path algorithm for dense and sparse linear assignment
// problems (Computing 38, 1987). It is an auction with increments of 0. Where best and second best
// are equal from the start, the row displaced waits for the next round.
#pragma once

#include <utility>
#include <vector>

#include "weighted/assignment_state.hpp"

namespace sparsematch {

// Returns the row that is free now, if any. strictly: the best column was better than the second.
template <class Index>
Index reduce_row(AssignmentState<Index>& s, Index i, bool& strictly) {
    auto [best, next, first, second] = s.offer(i, [&s](Index j) { return s.col[j].v; });
    strictly = first < second && next != UNMATCHED<Index>;
    if (!strictly && next != UNMATCHED<Index> && first == second &&
        s.col[best].mate != UNMATCHED<Index>)
        std::swap(best, next);
    auto& col = s.col[best];
    s.u[i] = strictly ? second : first;
    if (strictly) col.v -= second - first;
    else if (col.mate != UNMATCHED<Index>) return i;
    return s.displace(i, best);
}

// Three rounds over the free rows, within a budget. False: stopped.
template <class Index>
bool reduce_rows(AssignmentState<Index>& s, std::int64_t budget) {
    // Two rows that want one column displace each other until its dual has made up for what their
    // other columns lack: a long chain waits for the next round.
    constexpr int most_displaced = 16;
    const std::int64_t end = s.work + budget;
    std::vector<Index> waiting;
    for (int round = 0; round < 3 && !s.free.empty(); ++round) {
        waiting.clear();
        for (std::size_t k = 0; k < s.free.size(); ++k) {
            const auto ahead = [&](std::size_t n) {
                return k + n < s.free.size() ? s.free[k + n] : UNMATCHED<Index>;
            };
            s.prefetch(ahead(6), ahead(4), ahead(2));
            Index i = s.free[k];
            for (int n = 0; i != UNMATCHED<Index> && n < most_displaced && s.work < end; ++n) {
                bool strictly;
                const Index displaced = reduce_row(s, i, strictly);
                if (!s.scanned(i)) return false;
                if (displaced != UNMATCHED<Index> && !strictly) waiting.push_back(displaced);
                i = strictly ? displaced : UNMATCHED<Index>;
            }
            if (i != UNMATCHED<Index>) waiting.push_back(i);
        }
        s.free.swap(waiting);
    }
    return true;
}

}  // namespace sparsematch
