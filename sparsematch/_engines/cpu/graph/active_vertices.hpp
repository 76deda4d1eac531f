// The vertices that are still active in an engine that works in rounds: a list in ascending order,
// cut into blocks of as many consecutive vertices. A block is swept by one thread, which alone
// writes what belongs to its vertices, bits included.
#pragma once

#include "graph/graph.hpp"

namespace sparsematch {

template <class Index> class ActiveVertices {
  public:
    ActiveVertices(Index n, RunContext& run)
        : run_(run), vertex_(n), size_((n + block - 1) / block, block), left_(n) {
        if (n > 0) size_[size_.size() - 1] = n - first_of(size_.size() - 1);
    }

    std::int64_t size() const { return left_; }
    void clear() { left_ = 0; }

    // Calls filter(v, counter) for each vertex in the list, in which those remain for which it
    // returned true. Returns false when the run was stopped: the list is then of no use. Threads:
    // filter writes what belongs to v only. prefetch(v) is called some time before.
    template <class Filter, class Prefetch>
    bool sweep(const Filter& filter, const Prefetch& prefetch) {
        std::atomic<std::int64_t> left{0};
        const std::int64_t blocks = size_.size();
        run_.team.loop(blocks, left_ < few ? blocks : 1,
                       [&](int rank, std::int64_t begin, std::int64_t end) {
                           WorkCounter counter(run_, rank);
                           std::int64_t kept = 0;
                           for (std::int64_t b = begin; b < end && !run_.stopped(); ++b)
                               kept += sweep_block(b, filter, prefetch, counter);
                           left.fetch_add(kept, std::memory_order_relaxed);
                       });
        left_ = left.load(std::memory_order_relaxed);
        full_ = false;
        return !run_.stopped();
    }

    template <class Filter> bool sweep(const Filter& filter) {
        return sweep(filter, [](Index) {});
    }

    // Calls visit(v) for each vertex in the list, of one thread.
    template <class Visit> void each(const Visit& visit) const {
        for (std::size_t b = 0; b < size_.size(); ++b)
            for (Index k = 0; k < size_[b]; ++k)
                visit(full_ ? first_of(b) + k : vertex_[first_of(b) + k]);
    }

    // Begins the account of a round, if one is wanted, with the edges that have both ends in the
    // list; matched: vertices that are not. They are not counted as work of the engine.
    void report_round(const Graph<Index>& g, const Bitmap& matched) {
        if (!run_.detailed) return;
        std::int64_t edges = 0, seen = 0;
        each([&](Index v) {
            for (Index p = g.indptr[v]; p < g.indptr[v + 1]; ++p)
                edges += g.indices[p] > v && !matched.test(g.indices[p]);
            if ((seen += g.degree(v)) > 1 << 16 && run_.flush(0, 0)) seen = 0;
        });
        run_.stats.rounds.push_back({0, edges});
    }

  private:
    static constexpr Index block = 2048;  // a multiple of 64: no word of a bitmap has two owners
    static constexpr std::int64_t few = 4096;  // vertices up to which one worker is faster
    static constexpr Index ahead = 6;          // vertices prefetched

    Index first_of(std::int64_t b) const { return static_cast<Index>(b * block); }

    template <class Filter, class Prefetch>
    Index sweep_block(std::int64_t b, const Filter& filter, const Prefetch& prefetch,
                      WorkCounter& counter) {
        const bool full = full_;
        const Index first = first_of(b), n = size_[b];
        Index* const list = vertex_.data() + first;
        Index kept = 0;
        for (Index k = 0; k < n; ++k) {
            const Index v = full ? first + k : list[k];
            if (!full && k + ahead < n) prefetch(list[k + ahead]);
            list[kept] = v;
            kept += filter(v, counter);
        }
        return size_[b] = kept;
    }

    RunContext& run_;
    // the list of a block begins where its first vertex would be if all were in it
    Buffer<Index> vertex_;
    Buffer<Index> size_;
    bool full_ = true;  // all vertices are in the list, which is not written yet
    std::int64_t left_;
};

}  // namespace sparsematch
