// The static minimum degree start: rows in order of ascending degree, each takes its free column of
// smallest degree.
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
#include "core/published_lists.hpp"
#include "core/run_context.hpp"
#include "matching/cheap.hpp"

namespace sparsematch {

// A column's key: its degree, capped so that one byte is enough, or `taken`. One look tells whether
// it is free and how good.
struct Key {
    static constexpr std::uint8_t cap = 254, taken = 255;
};

// One worker's account of the columns. Workers do not look at the same bytes, which they would keep
// taking from each other's caches: what others have taken they tell now and then, or it is seen
// when a claim fails. A byte that is written may be part of anything, a pointer too: the loops hold
// theirs themselves.
template <bool Threads, class Index>
class ColumnKeys {
  public:
    // Counts a share of the entries.
    void count(const Csr<Index>& a, Index begin, Index end) {
        count_ = Buffer<std::uint8_t>(a.n_cols, 0);
        std::uint8_t* const count = count_.data();
        const Index* const indices = a.indices;
        for (Index p = begin; p < end; ++p) {
            if (p + ahead < end) __builtin_prefetch(&count[indices[p + ahead]], 1);
            std::uint8_t& d = count[indices[p]];
            d += d < Key::cap;
        }
    }
    // Adds up what all have counted; columns that are matched are taken.
    void complete(const std::vector<ColumnKeys>& all, const Matching<Index>& m) {
        const std::size_t n = count_.size();
        if constexpr (Threads) {
            key_ = Buffer<std::uint8_t>(n);
            std::memcpy(key_.data(), all[0].count_.data(), n);
            for (std::size_t k = 1; k < all.size(); ++k) add(all[k].count_.data(), key_.data(), n);
        } else {
            std::swap(key_, count_);
        }
        std::uint8_t* const key = key_.data();
        const Index* const mate = m.col_mate;
        for (std::size_t j = 0; j < n; ++j)
            key[j] = mate[j] == UNMATCHED<Index> ? key[j] : Key::taken;
    }
    void take(Index j) { key_[j] = Key::taken; }
    void take(const Index* cols, std::size_t n) {
        std::uint8_t* const key = key_.data();
        for (std::size_t k = 0; k < n; ++k) {
            if (k + ahead < n) __builtin_prefetch(&key[cols[k + ahead]], 1);
            key[cols[k]] = Key::taken;
        }
    }

    // The free column of least degree in the list of row i, as far as is known here; of several,
    // the first in the matrix, if the list ascends. Key and column in one word: a minimum, where a
    // comparison that decides on both would be a branch. No key is below one, which is found early
    // in the lists that are long.
    Index best(const Csr<Index>& a, Index i, WorkCounter& counter) const {
        std::uint64_t least = nothing;
        Index p = a.indptr[i];
        for (const Index last = a.indptr[i + 1]; p < last && least >> shift > 1;)
            for (const Index stop = std::min(last - p, stretch) + p; p < stop; ++p) {
                const Index j = a.indices[p];
                least = std::min(least,
                                 std::uint64_t{key_[j]} << shift | static_cast<std::uint64_t>(j));
            }
        counter.add(p - a.indptr[i]);
        return least < nothing ? static_cast<Index>(least & ((std::uint64_t{1} << shift) - 1))
                               : UNMATCHED<Index>;
    }

  private:
    static constexpr Index ahead = 32, stretch = 32;  // entries
    static constexpr int shift = 56;                  // no column has a number as large
    static constexpr std::uint64_t nothing = std::uint64_t{Key::taken} << shift;

    static void add(const std::uint8_t* more, std::uint8_t* key, std::size_t n) {
        for (std::size_t j = 0; j < n; ++j) {
            const std::uint8_t sum = key[j] + more[j];
            key[j] = sum < more[j] || sum > Key::cap ? Key::cap : sum;
        }
    }

    Buffer<std::uint8_t> count_, key_;
};

// Rows sorted by degree, ascending; stable. Each worker counts, then places, the rows of its share.
template <class Index>
Buffer<Index> rows_by_degree(const Csr<Index>& a, ThreadTeam& team) {
    constexpr Index cap = 255;
    using Places = std::array<Index, cap + 1>;
    std::vector<Places> place(team.size(), Places{});
    const auto share = [&](int rank) {
        return static_cast<Index>(static_cast<std::int64_t>(a.n_rows) * rank / team.size());
    };
    team.each([&](int rank) {
        for (Index i = share(rank); i < share(rank + 1); ++i)
            ++place[rank][std::min(a.degree(i), cap)];
    });
    Index total = 0;
    for (Index d = 0; d <= cap; ++d)
        for (Places& of : place) total += std::exchange(of[d], total);
    Buffer<Index> order(a.n_rows);
    team.each([&](int rank) {
        for (Index i = share(rank); i < share(rank + 1); ++i)
            order[place[rank][std::min(a.degree(i), cap)]++] = i;
    });
    return order;
}

// Reads: the lists of free rows. Writes: both mates. Workspace: n_rows indices, and for each worker
// two bytes per column; with several workers as many indices again as there are pairs. Time:
// O(nnz).
template <bool Threads, class Index>
class MinDegree {
    static constexpr std::int64_t grain = 1 << 12;
    static constexpr int batch = Threads ? 16 : 1;

  public:
    MinDegree(const Csr<Index>& a, Matching<Index> m, RunContext& run)
        : a_(a), m_(m), run_(run), keys_(run.team.size()),
          taken_(Threads ? run.team.size() : 0, a.n_rows) {}

    void improve() {
        {
            const auto timer = run_.time("sort");
            order_ = rows_by_degree(a_, run_.team);
        }
        {
            const auto timer = run_.time("count");
            count();
        }
        const auto timer = run_.time("choose");
        run_.team.loop(a_.n_rows, grain, [&](int rank, std::int64_t begin, std::int64_t end) {
            WorkCounter counter(run_, rank);
            if constexpr (Threads)
                taken_.consume(
                    rank, [&](const Index* cols, std::size_t n) { keys_[rank].take(cols, n); });
            for (auto k = begin; k < end; k += batch)
                if (!choose(rank, k, std::min<std::int64_t>(k + batch, end), counter)) return;
            if constexpr (Threads) taken_.publish(rank);
        });
    }

  private:
    void count() {
        const auto share = [&](int rank) {
            return static_cast<Index>(static_cast<std::int64_t>(a_.nnz()) * rank /
                                      run_.team.size());
        };
        run_.team.each([&](int rank) { keys_[rank].count(a_, share(rank), share(rank + 1)); });
        run_.team.each([&](int rank) { keys_[rank].complete(keys_, m_); });
    }

    // Rows k to end of the order choose, then claim what they have chosen: the claims' misses
    // overlap.
    bool choose(int rank, std::int64_t k, std::int64_t end, WorkCounter& counter) {
        ColumnKeys<Threads, Index>& keys = keys_[rank];
        Index row[batch], col[batch];
        int n = 0;
        for (; k < end; ++k) {
            if (k + 32 < a_.n_rows) __builtin_prefetch(&a_.indptr[order_[k + 32]]);
            if (k + 16 < a_.n_rows) __builtin_prefetch(&a_.indices[a_.indptr[order_[k + 16]]]);
            const Index i = order_[k];
            if (m_.row_mate[i] != UNMATCHED<Index>) continue;
            const Index j = keys.best(a_, i, counter);
            if (j == UNMATCHED<Index>) continue;
            if constexpr (Threads) __builtin_prefetch(&m_.col_mate[j], 1);
            row[n] = i;
            col[n++] = j;
        }
        for (int c = 0; c < n; ++c) {
            Index j = col[c];
            // somebody was first: choose again
            while (j != UNMATCHED<Index> && !claim(row[c], j)) {
                keys.take(j);
                j = keys.best(a_, row[c], counter);
            }
            if (j == UNMATCHED<Index>) continue;
            keys.take(j);
            if constexpr (Threads) taken_.add(rank, j);
            m_.row_mate[row[c]] = j;
        }
        return !run_.stopped();
    }

    // Alone, what a worker takes to be free is.
    bool claim(Index i, Index j) const {
        if constexpr (Threads) return claim_column<true>(m_, i, j);
        m_.col_mate[j] = i;
        return true;
    }

    const Csr<Index>& a_;
    const Matching<Index> m_;
    RunContext& run_;
    std::vector<ColumnKeys<Threads, Index>> keys_;
    PublishedLists<Index> taken_;  // columns, where there are several workers
    Buffer<Index> order_;
};

template <class Index>
void min_degree(const Csr<Index>& a, const Csr<Index>*, Matching<Index> m, const NoOptions&,
                RunContext& run) {
    if (run.team.size() > 1) MinDegree<true, Index>(a, m, run).improve();
    else MinDegree<false, Index>(a, m, run).improve();
}

}  // namespace sparsematch
