// Aggregates of coarsening: matched pairs, single vertices, those that join a pair of neighbours.
//
// Aggregates are numbered by the smaller vertex of their pair. A vertex that joins goes to the pair
// of its heaviest matched neighbour, so that the leaves of a star do not remain.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

template <class Value> double absolute(Value v) { return std::abs(v); }
inline double absolute(std::int64_t v) { return std::abs(static_cast<double>(v)); }

template <class Index> struct Aggregates {
    const Index* mate;
    Index count = 0;
    Buffer<Index> label;  // of each vertex, the aggregate
    Buffer<Index> first;  // of each aggregate, the smaller vertex of the pair, or the vertex alone
    // of each aggregate, the first vertex that joined, or -1; empty unless any may
    Buffer<Index> head;
    Buffer<Index> next;  // of each vertex that joined, the next one

    template <class Visit> void each_member(Index c, const Visit& visit) const {
        const Index v = first[c];
        visit(v);
        if (mate[v] != UNMATCHED<Index>) visit(mate[v]);
        if (head.size() == 0) return;
        for (Index w = head[c]; w >= 0; w = next[w]) visit(w);
    }
};

// The first vertex whose mate is out of range, itself, or not matched with it; -1: none.
template <class Index> Index wrong_mate(const Index* mate, Index n) {
    for (Index v = 0; v < n; ++v) {
        const Index m = mate[v];
        if (m == UNMATCHED<Index>) continue;
        if (m < 0 || m >= n || m == v || mate[m] != v) return v;
    }
    return -1;
}

// The matched neighbour of v with the largest sum of entries, the first of several; -1: none.
template <class Index, class Value>
Index heaviest_matched(const Csr<Index>& g, const Value* values, const Index* mate, Index v,
                       std::vector<std::pair<Index, Value>>& row) {
    row.clear();
    bool ascending = true;
    for (Index p = g.indptr[v]; p < g.indptr[v + 1]; ++p) {
        const Index u = g.indices[p];
        if (u == v || mate[u] == UNMATCHED<Index>) continue;
        ascending = ascending && (row.empty() || row.back().first < u);
        row.emplace_back(u, values[p]);
    }
    if (!ascending)
        std::stable_sort(row.begin(), row.end(),
                         [](auto& x, auto& y) { return x.first < y.first; });
    Index best = -1;
    double most = -1;
    for (std::size_t k = 0; k < row.size();) {
        const Index u = row[k].first;
        Value sum = row[k].second;
        while (++k < row.size() && row[k].first == u) sum += row[k].second;
        if (const double m = absolute(sum); m > most) best = u, most = m;
    }
    return best;
}

// Reads: g, values (if vertices join), mate. Time: O(n), and the lists of what joins.
template <class Index, class Value>
Aggregates<Index> make_aggregates(const Csr<Index>& g, const Value* values, const Index* mate,
                                  bool join, RunContext& run) {
    const Index n = g.n_rows;
    Aggregates<Index> out{mate, 0, Buffer<Index>(n), Buffer<Index>(n), {}, {}};
    if (join) {
        out.next = Buffer<Index>(n);
        // Meanwhile next[v] is the neighbour that v goes to.
        run.team.share_out(n, [&](int rank, Index begin, Index end) {
            WorkCounter counter(run, rank);
            std::vector<std::pair<Index, Value>> row;
            for (Index v = begin; v < end; ++v) {
                out.next[v] =
                    mate[v] == UNMATCHED<Index> ? heaviest_matched(g, values, mate, v, row) : -1;
                if (mate[v] == UNMATCHED<Index> && !counter.add(g.degree(v))) break;
            }
        });
        if (run.stopped()) return out;
    }
    for (Index v = 0; v < n; ++v) {
        const bool joins = join && out.next[v] >= 0;
        if (joins || (mate[v] != UNMATCHED<Index> && mate[v] < v)) continue;
        out.label[v] = out.count;
        if (mate[v] != UNMATCHED<Index>) out.label[mate[v]] = out.count;
        out.first[out.count++] = v;
    }
    if (!join) return out;
    out.head = Buffer<Index>(out.count, Index{-1});
    for (Index v = n; v-- > 0;) {
        if (out.next[v] < 0) continue;
        out.label[v] = out.label[out.next[v]];
        out.next[v] = std::exchange(out.head[out.label[v]], v);
    }
    return out;
}

}  // namespace sparsematch
