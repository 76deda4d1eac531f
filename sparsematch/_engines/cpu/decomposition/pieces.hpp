// Pieces of the graph with blocks of their own. Vertices and arcs: see large_components.hpp.
//
// Of the order: where no arc leads back over a place between two columns, or none leads on, no
// block has columns on both sides. Systems that were put together part by part have such places.
// Of any order: components that no entry joins, several together. And what some vertices reach.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "core/union_find.hpp"
#include "decomposition/block_permutation.hpp"
#include "decomposition/limits.hpp"

namespace sparsematch {

// A piece has the columns at the places between two bounds, one after the other or the other way
// round. Places are those of an order or, without one, columns.
template <class Index> struct Pieces {
    std::vector<Index> bounds;
    Buffer<Index> order;
    Index operator[](Index place) const { return order.size() == 0 ? place : order[place]; }
};

// What some vertices reach: little of all, so that there is hardly a large component; or more, but
// few vertices at a time, so that neither prefetching nor more workers help.
struct Reach {
    bool little = false, narrow = false;
};

// Of vertices spread over the order. Time: O(n_cols / 64), and a search of `little` vertices.
template <class Index>
Reach reach_of_some(const Csr<Index>& a, Matching<Index> m, const BlockLimits& limits) {
    if (a.n_cols < limits.reaching) return {};
    Bitmap seen(a.n_cols);
    std::vector<Index> list;
    const auto reach = [&](Index j) {
        if (seen.claim<false>(j)) list.push_back(j);
    };
    for (std::int64_t k = 0; k < limits.some; ++k) {
        const std::size_t first = list.size();
        reach(static_cast<Index>((2 * k + 1) * a.n_cols / (2 * limits.some)));
        for (std::size_t head = first, levels = 1; head < list.size(); ++levels)
            for (const std::size_t end = list.size(); head < end; ++head) {
                const Index i = m.col_mate[list[head]];
                if (i == UNMATCHED<Index>) continue;
                for (const Index j : a.neighbours(i)) reach(j);
                if (list.size() > limits.little)
                    return {false, list.size() - first < limits.narrow * levels};
            }
    }
    return {true, false};
}

// Of the heads of some columns' arcs; the first place among the columns over which none of these
// leads back, and the last over which none leads on.
template <class Index> struct Places {
    Index least, greatest, first, last;

    Places(const Csr<Index>& a, Matching<Index> m, Index begin, Index end, WorkCounter&& counter)
        : least(a.n_cols), greatest(0), first(begin), last(begin) {
        for (Index j = begin; j < end; ++j) {
            Index low = j;
            if (const Index i = m.col_mate[j]; i != UNMATCHED<Index>) {
                for (const Index k : a.neighbours(i)) {
                    low = std::min(low, k);
                    greatest = std::max(greatest, k);
                }
                counter.add(a.degree(i));
            }
            least = std::min(least, low);
            greatest = std::max(greatest, j);
            first = low < first ? j + 1 : first;
            last = greatest == j ? j + 1 : last;
        }
    }
};

// Writes the bounds of pieces of at most `longest` columns, those of the columns among them, so
// that arcs lead to later pieces: descending where they lead to earlier columns. False if there are
// none. At most one place is looked for in as many columns as have `work` entries and columns.
// Time: O(n_cols + nnz); less where the first columns have no place.
template <class Index>
bool pieces_of_order(const Csr<Index>& a, Matching<Index> m, std::int64_t longest,
                     std::int64_t work, std::vector<Index>& bounds, RunContext& run) {
    const std::int64_t all = std::int64_t{a.nnz()} + a.n_cols,
                       width = std::max<std::int64_t>(a.n_cols * work / std::max(all, work), 1);
    const Places<Index> none(a, m, 0, 0, WorkCounter(run));
    std::vector<Places<Index>> places((a.n_cols + width - 1) / width, none);
    std::atomic<bool> found = false;
    const auto look = [&](std::int64_t from, std::int64_t to) {
        run.team.loop(to - from, width, [&](int rank, Index begin, Index end) {
            if (run.stopped()) return;
            begin += from, end += from;
            const Places<Index> of(a, m, begin, end, WorkCounter(run, rank));
            if ((of.first > 0 && of.first < end) || of.last > begin) found = true;
            places[begin / width] = of;
        });
    };
    const auto some = std::min<std::int64_t>((longest / width + 1) * width, a.n_cols);
    look(0, some);
    if (!found) return false;
    look(some, a.n_cols);

    std::vector<Index> on{a.n_cols}, back{0};
    Index least = a.n_cols, greatest = 0;
    for (auto of = places.rbegin(); of != places.rend(); ++of) {
        if (of->first > 0 && of->first <= least && of->first < on.back()) on.push_back(of->first);
        least = std::min(least, of->least);
    }
    for (const auto& of : places) {
        if (of.last > std::max(greatest, back.back()) && of.last < a.n_cols)
            back.push_back(of.last);
        greatest = std::max(greatest, of.greatest);
    }
    on.push_back(0);
    back.push_back(a.n_cols);
    for (const auto* const all_bounds : {&on, &back}) {
        bounds.assign(all_bounds->rbegin(), all_bounds->rend());
        const auto too_long = [&](Index p, Index q) { return std::abs(q - p) > longest; };
        if (std::ranges::adjacent_find(bounds, too_long) == bounds.end()) return true;
    }
    return false;
}

// Writes pieces of at most `longest` columns, of one component or of several with `least` columns.
// False if there are none. Workspace: seven indices per column. Time: nearly O(n_cols + nnz).
template <class Index>
bool pieces_of_components(const Csr<Index>& a, Matching<Index> m, std::int64_t longest,
                          std::int64_t least, Pieces<Index>& pieces, RunContext& run) {
    const Index n = a.n_cols;
    UnionFind<Index> sets(n);
    run.team.loop(n, least, [&](int rank, Index j, Index end) {
        WorkCounter counter(run, rank);
        for (; j < end; ++j) {
            const Index i = m.col_mate[j];
            if (i == UNMATCHED<Index>) continue;
            Index root = j;
            for (const Index k : a.neighbours(i)) root = sets.unite(root, k);
            if (!counter.add(a.degree(i))) return;
        }
    });
    if (run.stopped()) return false;
    Buffer<Index> root(n), starts(static_cast<std::size_t>(n) + 1);
    run.team.for_each(n, least, [&](Index j) { root[j] = sets.find(j); });
    pieces.order = Buffer<Index>(n);
    sort_by_label(root.data(), n, n, pieces.order.data(), starts.data(), run);
    pieces.bounds = {0};
    for (Index k = 1; k <= n; ++k) {
        if (starts[k] - starts[k - 1] > longest) return false;
        if (starts[k] - pieces.bounds.back() >= least || k == n) pieces.bounds.push_back(starts[k]);
    }
    return true;
}

}  // namespace sparsematch
