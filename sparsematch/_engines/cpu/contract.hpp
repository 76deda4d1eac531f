// The Galerkin product of an aggregation, P^T G P: rows and columns of the same aggregate are added up.
//
// Gustavson (ACM TOMS 4, 1978): a row of the result is gathered through a marker of all columns. Rows are independent of each
// other; each is written where it fits in any case, then all are moved together. Sums are taken in the order of the fine rows,
// whatever the number of threads. Where G is symmetric (mirror.hpp), so is the result, to the last bit.
#pragma once

#include <algorithm>

#include "aggregates.hpp"
#include "mirror.hpp"

namespace sparsematch {

template <class Index, class Value>
struct Coarse {
    Buffer<Index> indptr, indices;  // ascending, without repeats
    Buffer<Value> values;
};

template <class Index, class Value>
class Contraction {
  public:
    Contraction(const Csr<Index>& g, const Value* values, const Aggregates<Index>& parts, Run& run)
        : g_(g), values_(values), parts_(parts), run_(run), bound_(parts.count + 1), size_(parts.count), indices_(g.nnz()),
          sums_(g.nnz()) {}

    Coarse<Index, Value> make() {
        const Index longest = reserve();
        std::vector<Scratch> scratch;
        for (int rank = 0; rank < run_.team.size(); ++rank) scratch.emplace_back(parts_.count, longest);
        run_.team.loop(parts_.count, grain, [&](int rank, Index begin, Index end) {
            Meter meter(run_, rank);
            typename Mirror<Value>::Sums prints{};
            for (Index c = begin; c < end && meter.charge(bound_[c + 1] - bound_[c]); ++c) gather(c, scratch[rank], prints);
            for (int k = 0; k < Mirror<Value>::kinds; ++k) prints_[k].fetch_add(prints[k], std::memory_order_relaxed);
        });
        if (run_.stopped()) return {};
        auto out = move_together();
        if constexpr (!std::is_integral_v<Value>) mirror(out);
        return out;
    }

  private:
    static constexpr std::int64_t grain = 512;

    struct Scratch {
        Buffer<Index> marker;   // of each coarse column, its place
        Buffer<Index> columns;  // of the row, in the order of their places
        Buffer<Value> sums;
        Scratch(Index n, Index longest) : marker(n, Index{-1}), columns(longest), sums(longest) {}
    };

    // Where each row is written: its lists laid end to end. Returns the size of the longest row at most.
    Index reserve() {
        run_.team.loop(parts_.count, grain, [&](int, Index begin, Index end) {
            for (Index c = begin; c < end; ++c) {
                Index size = 0;
                parts_.each_member(c, [&](Index v) { size += g_.degree(v); });
                bound_[c + 1] = size;
            }
        });
        Index longest = 0;
        bound_[0] = 0;
        for (Index c = 0; c < parts_.count; ++c) {
            longest = std::max(longest, bound_[c + 1]);
            bound_[c + 1] += bound_[c];
        }
        return std::min(longest, parts_.count);
    }

    // Reads: g, labels. Writes: the own row. Places of rows that a thread has done before are smaller than `base`.
    void gather(Index c, Scratch& s, typename Mirror<Value>::Sums& prints) {
        const Index base = bound_[c];
        Index size = 0;
        bool ascending = true;
        Value* sums = sums_.data() + base;
        Index* columns = s.columns.data();
        parts_.each_member(c, [&](Index u) {
            for (Index p = g_.indptr[u]; p < g_.indptr[u + 1]; ++p) {
                const Index v = g_.indices[p], d = parts_.label[v];
                if constexpr (!std::is_integral_v<Value>) Mirror<Value>::add(prints, u, v, values_[p]);
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
        size_[c] = size;
        if (!ascending) sort(columns, sums, size, s, base);
        std::copy(columns, columns + size, indices_.data() + base);
    }

    // Puts columns in ascending order, and their sums with them: the markers still tell where each sum stands.
    static void sort(Index* columns, Value* sums, Index size, Scratch& s, Index base) {
        std::sort(columns, columns + size);
        std::copy(sums, sums + size, s.sums.data());
        for (Index k = 0; k < size; ++k) sums[k] = s.sums[s.marker[columns[k]] - base];
    }

    // Writes: the rows, without what was left between them.
    Coarse<Index, Value> move_together() {
        Coarse<Index, Value> out{Buffer<Index>(parts_.count + 1), {}, {}};
        out.indptr[0] = 0;
        for (Index c = 0; c < parts_.count; ++c) out.indptr[c + 1] = out.indptr[c] + size_[c];
        out.indices = Buffer<Index>(out.indptr[parts_.count]);
        out.values = Buffer<Value>(out.indptr[parts_.count]);
        run_.team.loop(parts_.count, grain, [&](int, Index begin, Index end) {
            for (Index c = begin; c < end; ++c) {
                std::copy_n(indices_.data() + bound_[c], size_[c], out.indices.data() + out.indptr[c]);
                std::copy_n(sums_.data() + bound_[c], size_[c], out.values.data() + out.indptr[c]);
            }
        });
        return out;
    }

    // Makes the lower triangle that of a symmetric matrix again. Reads the upper triangle, writes the lower one.
    void mirror(Coarse<Index, Value>& out) {
        typename Mirror<Value>::Sums prints;
        for (int k = 0; k < 4; ++k) prints[k] = prints_[k].load(std::memory_order_relaxed);
        const auto kind = Mirror<Value>::kind(prints);
        if (kind == Mirror<Value>::none) return;
        const Index* columns = out.indices.data();
        run_.team.loop(parts_.count, grain, [&](int rank, Index begin, Index end) {
            Meter meter(run_, rank);
            for (Index c = begin; c < end && meter.charge(size_[c]); ++c) {
                for (Index p = out.indptr[c]; p < out.indptr[c + 1] && columns[p] < c; ++p) {
                    const Index d = columns[p], *stop = columns + out.indptr[d + 1];
                    const Index* q = std::lower_bound(columns + out.indptr[d], stop, c);
                    if (q < stop && *q == c) out.values[p] = Mirror<Value>::apply(kind, out.values[q - columns]);
                }
            }
        });
    }

    const Csr<Index>& g_;
    const Value* values_;
    const Aggregates<Index>& parts_;
    Run& run_;
    Buffer<Index> bound_;  // where each row begins among indices_ and sums_
    Buffer<Index> size_;   // its entries
    Buffer<Index> indices_;
    Buffer<Value> sums_;
    std::atomic<std::uint64_t> prints_[4] = {};
};

// Reads: g, values. Workspace: as much as the graph, and a number for each aggregate and thread.
// Time: O(n + nnz log(longest row) / threads).
template <class Index, class Value>
Coarse<Index, Value> contract(const Csr<Index>& g, const Value* values, const Aggregates<Index>& parts, Run& run) {
    return Contraction<Index, Value>(g, values, parts, run).make();
}

}  // namespace sparsematch
