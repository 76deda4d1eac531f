// Static minimum degree: rows by ascending degree, each with its free column of least degree.
//
// Duff, Kaya, Ucar (ACM TOMS 38, 2011), section 3.3, in its static form: degrees are those of the
// matrix, never updated, so that two passes over the edges are all it costs.
// Invariant: the matching is valid throughout and maximal at the end.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/prefetch.hpp"
#include "core/published_lists.hpp"
#include "core/run_context.hpp"
#include "matching/cheap.hpp"

namespace sparsematch {

// One worker's copy of the columns' keys: a byte each, the degree, capped, or `matched`. What the
// others have matched comes in published lists (decision 0005), or is seen when a claim fails.
// Pointers are local in loops: a byte that is written may alias anything.
template <bool Threads, class Index> class ColumnKeys {
    using Key = std::uint8_t;
    static constexpr Key max_degree = 254, matched = 255;

  public:
    // Counts a share of the entries.
    void count(const Csr<Index>& a, Index begin, Index end) {
        key_ = Buffer<Key>(a.n_cols, 0);
        Key* const key = key_.data();
        const Index* const indices = a.indices;
        for (Index p = begin; p < end; ++p) {
            if (p + ahead < end) SPARSEMATCH_PREFETCH(&key[indices[p + ahead]], 1);
            Key& d = key[indices[p]];
            d += d < max_degree;
        }
    }
    // Adds to the first worker's what others have counted of columns, marking the matched.
    static void complete(std::vector<ColumnKeys>& all, const Matching<Index>& m, Index begin,
                         Index end) {
        Key* const key = all[0].key_.data();
        for (std::size_t k = 1; k < all.size(); ++k) add(all[k].key_.data(), key, begin, end);
        const Index* const mate = m.col_mate;
        for (Index j = begin; j < end; ++j) key[j] = mate[j] == UNMATCHED<Index> ? key[j] : matched;
    }
    void copy(const ColumnKeys& other) { std::memcpy(key_.data(), other.key_.data(), key_.size()); }
    void mark_matched(Index j) { key_[j] = matched; }
    void mark_matched(const Index* cols, std::size_t n) {
        Key* const key = key_.data();
        for (std::size_t k = 0; k < n; ++k) {
            if (k + ahead < n) SPARSEMATCH_PREFETCH(&key[cols[k + ahead]], 1);
            key[cols[k]] = matched;
        }
    }

    // The free column of least degree in the list of row i, as far as known here; of several, the
    // first in the matrix, if the list ascends. Packed keys (decision 0005); a degree of one, found
    // early in long lists, ends the scan.
    Index best(const Csr<Index>& a, Index i, std::int64_t& edges) const {
        std::uint64_t least = pack(matched, 0);
        Index p = a.indptr[i];
        for (const Index last = a.indptr[i + 1]; p < last && key_of(least) > 1;)
            for (const Index stop = std::min(last - p, stretch) + p; p < stop; ++p)
                least = std::min(least, pack(key_[a.indices[p]], a.indices[p]));
        edges += p - a.indptr[i];
        return key_of(least) < matched ? column_of(least) : UNMATCHED<Index>;
    }

  private:
    static constexpr Index ahead = 32, stretch = 32;  // entries
    static constexpr int shift = 56;                  // no column has a number as large
    static std::uint64_t pack(Key key, Index j) {
        return std::uint64_t{key} << shift | static_cast<std::uint64_t>(j);
    }
    static Key key_of(std::uint64_t packed) { return static_cast<Key>(packed >> shift); }
    static Index column_of(std::uint64_t packed) {
        return static_cast<Index>(packed & ((std::uint64_t{1} << shift) - 1));
    }

    static void add(const Key* more, Key* key, Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            const Key sum = key[j] + more[j];
            key[j] = sum < more[j] || sum > max_degree ? max_degree : sum;
        }
    }

    Buffer<Key> key_;
};

// Rows sorted by degree, ascending, those above the cap as one class; stable. Each worker counts,
// then places, the rows of its share.
template <class Index> Buffer<Index> rows_by_degree(const Csr<Index>& a, ThreadTeam& team) {
    constexpr Index cap = 255;  // degree above which rows are one class
    using Places = std::array<Index, cap + 1>;
    std::vector<Places> place(team.size(), Places{});
    // visit(row, its place) in ascending order.
    const auto each_row = [&](const auto& visit) {
        team.share_out(a.n_rows, [&](int rank, Index begin, Index end) {
            for (Index i = begin; i < end; ++i) visit(i, place[rank][std::min(a.degree(i), cap)]);
        });
    };
    each_row([](Index, Index& counter) { ++counter; });
    Index total = 0;
    for (Index d = 0; d <= cap; ++d)
        for (Places& of : place) total += std::exchange(of[d], total);
    Buffer<Index> order(a.n_rows);
    each_row([&](Index i, Index& counter) { order[counter++] = i; });
    return order;
}

// Reads: the lists of free rows. Writes: both mates. Workspace: n_rows indices, and for each worker
// a byte per column; with several workers an index more for each pair. Time: O(nnz).
template <bool Threads, class Index> class MinDegree {
    static constexpr std::int64_t grain = 1 << 12;  // rows that a worker claims at a time
    static constexpr int batch = 16;  // rows whose edges are counted, or columns claimed, together

  public:
    MinDegree(const Csr<Index>& a, Matching<Index> m, RunContext& run)
        : a_(a), m_(m), run_(run), keys_(run.team.size()),
          matched_(Threads ? run.team.size() : 0, a.n_rows) {}

    void improve() {
        sort();
        count();
        const auto timer = run_.time("choose");
        run_.team.loop(a_.n_rows, grain, [&](int rank, std::int64_t begin, std::int64_t end) {
            WorkCounter counter(run_, rank);
            if constexpr (Threads)
                matched_.consume(rank, [&](const Index* cols, std::size_t n) {
                    keys_[rank].mark_matched(cols, n);
                });
            choose(rank, begin, end, counter);
            if constexpr (Threads) matched_.publish(rank);
        });
    }

  private:
    void sort() {
        const auto timer = run_.time("sort");
        order_ = rows_by_degree(a_, run_.team);
    }
    void count() {
        const auto timer = run_.time("count");
        run_.team.share_out(
            a_.nnz(), [&](int rank, Index begin, Index end) { keys_[rank].count(a_, begin, end); });
        run_.team.share_out(a_.n_cols, [&](int, Index begin, Index end) {
            keys_[0].complete(keys_, m_, begin, end);
        });
        run_.team.each([&](int rank) {
            if (rank > 0) keys_[rank].copy(keys_[0]);
        });
    }

    // Rows k to end of the order choose and claim; of several workers', a batch chooses first: the
    // cache misses of its claims overlap.
    void choose(int rank, std::int64_t k, std::int64_t end, WorkCounter& counter) {
        ColumnKeys<Threads, Index>& keys = keys_[rank];
        const Csr<Index> a = a_;
        const Matching<Index> m = m_;
        const Index* const order = order_.data();
        std::int64_t edges = 0;
        const auto match = [&](Index i, Index j) SPARSEMATCH_INLINE {
            for (; j != UNMATCHED<Index> && !claim(i, j); j = keys.best(a, i, edges))
                keys.mark_matched(j);  // another worker was first
            if (j == UNMATCHED<Index>) return;
            keys.mark_matched(j);
            if constexpr (Threads) matched_.add(rank, j);
            m.row_mate[i] = j;
        };
        for (int n = 0; k < end && counter.add(edges); n = 0) {
            Index row[batch], col[batch];
            edges = 0;
            for (const auto stop = std::min(k + batch, end); k < stop; ++k) {
                PrefetchAhead<16>::lists(a, order, k, std::int64_t{a.n_rows});
                const Index i = order[k];
                if (m.row_mate[i] != UNMATCHED<Index>) continue;
                const Index j = keys.best(a, i, edges);
                if (j == UNMATCHED<Index>) continue;
                if constexpr (Threads) {
                    SPARSEMATCH_PREFETCH(&m.col_mate[j], 1);
                    row[n] = i;
                    col[n++] = j;
                } else {
                    match(i, j);
                }
            }
            for (int c = 0; c < n; ++c) match(row[c], col[c]);
        }
        counter.add(edges);
    }

    // One worker alone knows which columns are free.
    bool claim(Index i, Index j) const {
        if constexpr (Threads) return claim_column<true>(m_, i, j);
        m_.col_mate[j] = i;
        return true;
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    RunContext& run_;
    std::vector<ColumnKeys<Threads, Index>> keys_;
    PublishedLists<Index> matched_;  // columns, where there are several workers
    Buffer<Index> order_;
};

template <class Index>
void min_degree(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const NoOptions&,
                RunContext& run) {
    if (run.team.size() > 1) MinDegree<true, Index>(a, m, run).improve();
    else MinDegree<false, Index>(a, m, run).improve();
}

}  // namespace sparsematch
