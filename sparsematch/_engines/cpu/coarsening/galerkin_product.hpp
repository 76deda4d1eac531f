// The Galerkin product of an aggregation, P^T G P: rows and columns of an aggregate are added up.
//
// Gustavson (ACM TOMS 4, 1978): a row of the result is gathered through a marker of all columns.
// Rows are independent of each other; each is written where there is room for its longest form,
// then all are moved together. Sums are computed in the order of the fine rows, whatever the number
// of threads. Where G is symmetric (symmetry.hpp), so is the result, to the last bit.
#pragma once

#include <algorithm>

#include "coarsening/aggregates.hpp"
#include "coarsening/symmetry.hpp"

namespace sparsematch {

template <class Index, class Value> struct Coarse {
    Buffer<Index> indptr, indices;  // ascending, without repeats
    Buffer<Value> values;
};

template <class Index, class Value> class GalerkinProduct {
  public:
    GalerkinProduct(const Csr<Index>& g, const Value* values, const Aggregates<Index>& parts,
                    RunContext& run)
        : g_(g), values_(values), parts_(parts), run_(run), bound_(parts.count + 1),
          indices_(g.nnz()), sums_(g.nnz()) {}

    Coarse<Index, Value> make() {
        const Index longest = reserve();
        std::vector<Scratch> scratch;
        for (int rank = 0; rank < run_.team.size(); ++rank)
            scratch.emplace_back(parts_.count, longest);
        // Then each row follows the one before, and nothing has to be moved.
        const bool alone = run_.team.size() == 1;
        Buffer<Index> indptr(parts_.count + 1, Index{0});
        run_.team.loop(parts_.count, grain, [&](int rank, Index begin, Index end) {
            WorkCounter counter(run_, rank);
            typename Symmetry<Value>::Sums prints{};
            for (Index c = begin; c < end && counter.add(bound_[c + 1] - bound_[c]); ++c) {
                prefetch(c);
                const Index base = alone ? indptr[c] : bound_[c],
                            size = gather(c, base, scratch[rank], prints);
                indptr[c + 1] = alone ? base + size : size;
            }
            for (int k = 0; k < Symmetry<Value>::kinds; ++k)
                prints_[k].fetch_add(prints[k], std::memory_order_relaxed);
        });
        if (run_.stopped()) return {};
        Coarse<Index, Value> out;
        if (alone) out = {std::move(indptr), std::move(indices_), std::move(sums_)};
        else out = move_together(std::move(indptr));
        if constexpr (!std::is_integral_v<Value>) copy_upper(out);
        return out;
    }

  private:
    static constexpr std::int64_t grain = 512;  // aggregates that a worker claims at a time

    struct Scratch {
        Buffer<Index> marker;   // of each coarse column, its place
        Buffer<Index> columns;  // of the row, in the order of their places
        Buffer<Value> sums;
        Scratch(Index n, Index longest) : marker(n, Index{-1}), columns(longest), sums(longest) {}
    };

    // Where each row is written: its lists laid end to end. Returns a bound on their sizes.
    Index reserve() {
        run_.team.for_each(parts_.count, grain, [&](Index c) {
            Index size = 0;
            parts_.each_member(c, [&](Index v) { size += g_.degree(v); });
            bound_[c + 1] = size;
        });
        Index longest = 0;
        bound_[0] = 0;
        for (Index c = 0; c < parts_.count; ++c) {
            longest = std::max(longest, bound_[c + 1]);
            bound_[c + 1] += bound_[c];
        }
        return std::min(longest, parts_.count);
    }

    // Prefetches what the next rows will read (decision 0005).
    SPARSEMATCH_INLINE void prefetch(Index c) const {
        if (c + 8 < parts_.count) {
            const Index v = parts_.mate[parts_.first[c + 8]];
            if (v != UNMATCHED<Index>) SPARSEMATCH_PREFETCH(g_.indptr + v);
        }
        if (c + 5 < parts_.count) {
            const Index v = parts_.mate[parts_.first[c + 5]];
            if (v != UNMATCHED<Index>) {
                SPARSEMATCH_PREFETCH(g_.indices + g_.indptr[v]);
                SPARSEMATCH_PREFETCH(values_ + g_.indptr[v]);
            }
        }
        if (c + 2 < parts_.count) {
            const Index u = parts_.first[c + 2], v = parts_.mate[u];
            prefetch_labels(u);
            if (v != UNMATCHED<Index>) prefetch_labels(v);
        }
    }
    SPARSEMATCH_INLINE void prefetch_labels(Index u) const {
        const Index end = std::min(g_.indptr[u + 1], g_.indptr[u] + 32);
        for (Index p = g_.indptr[u]; p < end; ++p)
            SPARSEMATCH_PREFETCH(&parts_.label[g_.indices[p]]);
    }

    // Reads: g, labels. Writes: the own row. Places of rows done before are below `base`.
    Index gather(Index c, Index base, Scratch& s, typename Symmetry<Value>::Sums& prints) {
        Index size = 0;
        bool ascending = true;
        Value* sums = sums_.data() + base;
        Index* columns = s.columns.data();
        parts_.each_member(c, [&](Index u) {
            for (Index p = g_.indptr[u]; p < g_.indptr[u + 1]; ++p) {
                const Index v = g_.indices[p], d = parts_.label[v];
                if constexpr (!std::is_integral_v<Value>)
                    Symmetry<Value>::add(prints, u, v, values_[p]);
                if (const Index place = s.marker[d]; place >= base) {
                    sums[place - base] += values_[p];
                } else {
                    ascending = ascending && (size == 0 || columns[size - 1] < d);
                    s.marker[d] = base + size;
                    sums[size] = values_[p];
                    columns[size++] = d;
                }
            }
        });
        if (ascending) std::copy(columns, columns + size, indices_.data() + base);
        else sort(size, s, base, indices_.data() + base, sums);
        return size;
    }

    // Sorts columns, ascending, with their sums. Short rows by counting those before each: more
    // comparisons than a sort, but branch-free. In long rows a column's marker leads to its sum.
    static void sort(Index size, Scratch& s, Index base, Index* to, Value* sums) {
        const Index* columns = s.columns.data();
        std::copy(sums, sums + size, s.sums.data());
        if (size <= 64) {
            for (Index k = 0; k < size; ++k) {
                Index rank = 0;
                for (Index j = 0; j < size; ++j) rank += columns[j] < columns[k];
                to[rank] = columns[k];
                sums[rank] = s.sums[k];
            }
            return;
        }
        std::copy(columns, columns + size, to);
        std::sort(to, to + size);
        for (Index k = 0; k < size; ++k) sums[k] = s.sums[s.marker[to[k]] - base];
    }

    // Moves the rows to where no room is left between them. Reads: the size of row c at c + 1.
    Coarse<Index, Value> move_together(Buffer<Index> indptr) {
        for (Index c = 0; c < parts_.count; ++c) indptr[c + 1] += indptr[c];
        Coarse<Index, Value> out{
            {}, Buffer<Index>(indptr[parts_.count]), Buffer<Value>(indptr[parts_.count])};
        out.indptr = std::move(indptr);
        run_.team.for_each(parts_.count, grain, [&](Index c) {
            const Index to = out.indptr[c], size = out.indptr[c + 1] - to;
            std::copy_n(indices_.data() + bound_[c], size, out.indices.data() + to);
            std::copy_n(sums_.data() + bound_[c], size, out.values.data() + to);
        });
        return out;
    }

    // Makes the matrix symmetric again: reads the upper triangle, writes the lower one.
    void copy_upper(Coarse<Index, Value>& out) {
        typename Symmetry<Value>::Sums prints;
        for (int k = 0; k < 4; ++k) prints[k] = prints_[k].load(std::memory_order_relaxed);
        const auto kind = Symmetry<Value>::kind(prints);
        if (kind == Symmetry<Value>::none) return;
        // Row by row, the entries of an upper column come in the order in which the lower row has
        // them. Each thread scans all of them and writes to rows of its own.
        run_.team.share_out(parts_.count, [&](int rank, Index from, Index to) {
            WorkCounter counter(run_, rank);
            Index* next = bound_.data();  // in each row, where the next lower entry is
            std::copy(out.indptr.data() + from, out.indptr.data() + to, next + from);
            for (Index c = 0; c < to && counter.add(out.indptr[c + 1] - out.indptr[c]); ++c)
                for (Index p = out.indptr[c + 1]; p-- > out.indptr[c] && out.indices[p] > c;)
                    if (const Index d = out.indices[p]; d >= from && d < to)
                        out.values[next[d]++] = Symmetry<Value>::apply(kind, out.values[p]);
        });
    }

    const Csr<Index>& g_;
    const Value* values_;
    const Aggregates<Index>& parts_;
    RunContext& run_;
    // where each row begins among indices_ and sums_ if there are several threads
    Buffer<Index> bound_;
    Buffer<Index> indices_;  // rows, each with room for all entries of its fine rows
    Buffer<Value> sums_;
    std::atomic<std::uint64_t> prints_[4] = {};
};

// Reads: g, values. Workspace: as much as the graph, and a number for each aggregate and thread.
// Time: O(n + nnz log(longest row) / threads).
template <class Index, class Value>
Coarse<Index, Value> galerkin_product(const Csr<Index>& g, const Value* values,
                                      const Aggregates<Index>& parts, RunContext& run) {
    return GalerkinProduct<Index, Value>(g, values, parts, run).make();
}

}  // namespace sparsematch
