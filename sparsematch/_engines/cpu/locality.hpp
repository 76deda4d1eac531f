// Renumbering for locality: rows and columns in breadth-first order, so that neighbours in the graph are neighbours in memory.
//
// A mesh whose rows come in random order costs a search a cache miss per entry, and a greedy start on it leaves free rows
// far from free columns. Numbered by breadth-first search (the idea of Cuthill and McKee, 1969) both problems go, for a few
// passes over the edges. It does nothing for graphs without locality, where a few steps reach everything: `depth` tells.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// Asks for both ends of a list: most are shorter than two lines of the cache.
template <class Index>
void prefetch_list(const Csr<Index>& lists, Index v) {
    __builtin_prefetch(&lists.indices[lists.indptr[v]]);
    __builtin_prefetch(&lists.indices[lists.indptr[v + 1] - 1]);
}

template <class Index>
class BreadthFirst {
  public:
    BreadthFirst(const Csr<Index>& a, const Csr<Index>& transposed) : a_(a), t_(transposed), row_seen_(a.n_rows), col_seen_(a.n_cols) {}

    // One search from `root`, whose visits are appended to the lists. Threads: each thread calls it with lists of its own,
    // the regions meet where they meet. Stops when `enough` rows are listed. Returns the number of levels.
    template <bool Threads>
    Index search(Index root, std::vector<Index>& rows, std::vector<Index>& cols, std::size_t enough, Meter& meter) {
        if (!row_seen_.claim<Threads>(root)) return 0;
        std::size_t row_begin = rows.size(), col_begin = cols.size();
        Index levels = 0;
        for (rows.push_back(root); row_begin < rows.size() && rows.size() < enough; ++levels) {
            const std::size_t row_end = rows.size();
            if (!step<Threads>(a_, rows, row_begin, row_end, col_seen_, cols, meter)) break;
            const std::size_t col_end = cols.size();
            if (!step<Threads>(t_, cols, col_begin, col_end, row_seen_, rows, meter)) break;
            row_begin = row_end, col_begin = col_end;
        }
        return levels;
    }
    bool seen_row(Index i) const { return row_seen_.test(i); }
    bool seen_col(Index j) const { return col_seen_.test(j); }

  private:
    // Appends to `to` the unseen neighbours of from[begin..end).
    template <bool Threads>
    static bool step(const Csr<Index>& lists, const std::vector<Index>& from, std::size_t begin, std::size_t end, Bitmap& seen,
                     std::vector<Index>& to, Meter& meter) {
        for (std::size_t k = begin; k < end; ++k) {
            if (k + 16 < end) __builtin_prefetch(&lists.indptr[from[k + 16]]);
            if (k + 8 < end) prefetch_list(lists, from[k + 8]);
            const Index first = lists.indptr[from[k]], last = lists.indptr[from[k] + 1];
            for (Index p = first; p < last; ++p)
                if (seen.claim<Threads>(lists.indices[p])) to.push_back(lists.indices[p]);
            if (!meter.charge(last - first)) return false;
        }
        return true;
    }

    const Csr<Index>&a_, &t_;
    Bitmap row_seen_, col_seen_;
};

// How many levels it takes from some row until `rows` rows are seen: the median of three searches. Few: no locality.
template <class Index>
Index depth(const Csr<Index>& a, const Csr<Index>& transposed, std::size_t rows, Run& run) {
    Meter meter(run);
    Index levels[3] = {};
    for (int k = 0; k < 3 && a.n_rows > 0; ++k) {
        std::vector<Index> seen_rows, seen_cols;
        BreadthFirst<Index> search(a, transposed);
        levels[k] = search.template search<false>(static_cast<Index>(hash(k + 7) % a.n_rows), seen_rows, seen_cols, rows, meter);
    }
    std::sort(levels, levels + 3);
    return levels[1];
}

// Reads: both orientations. Writes: row_order, col_order: permutations that list the vertices in the new order. With
// several workers each starts in a row of its own. Workspace: as much again. Time: O(nnz).
template <bool Threads, class Index>
void breadth_first_order(const Csr<Index>& a, const Csr<Index>& transposed, Index* row_order, Index* col_order, Run& run) {
    BreadthFirst<Index> search(a, transposed);
    const int n_lanes = run.team.size();
    std::vector<std::vector<Index>> rows(n_lanes), cols(n_lanes);
    run.team.each([&](int rank) {
        Meter meter(run, rank);
        const auto begin = static_cast<Index>(static_cast<std::int64_t>(a.n_rows) * rank / n_lanes);
        for (Index k = 0; k < a.n_rows && !run.stopped(); ++k) {
            const Index root = k < a.n_rows - begin ? begin + k : k - (a.n_rows - begin);
            if (!search.seen_row(root))
                search.template search<Threads>(root, rows[rank], cols[rank], std::numeric_limits<std::size_t>::max(), meter);
        }
    });
    for (int rank = 0; rank < n_lanes; ++rank) {
        row_order = std::copy(rows[rank].begin(), rows[rank].end(), row_order);
        col_order = std::copy(cols[rank].begin(), cols[rank].end(), col_order);
    }
    for (Index j = 0; j < a.n_cols; ++j)  // empty columns
        if (!search.seen_col(j)) *col_order++ = j;
}

// Row i of a becomes row row_place[i], column col_order[k] column k. The entries are dealt out column by column of the
// transpose, so that each list comes out in ascending order (with several workers, nearly): a start that takes the first
// free column then sweeps through the matrix instead of hopping.
template <bool Threads, class Index>
void renumber(Team& team, const Csr<Index>& a, const Csr<Index>& transposed, const Index* row_place, const Index* col_order,
              Index* indptr, Index* indices) {
    constexpr std::int64_t grain = 1 << 13;
    const Csr<Index>& t = transposed;
    // indptr[k + 1] is the cursor of list k, which ends up where the list ends.
    team.loop(a.n_rows, grain, [&](int, std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i) indptr[row_place[i] + 1] = a.degree(static_cast<Index>(i));
    });
    Index total = indptr[0] = 0;
    for (Index k = 0; k < a.n_rows; ++k) total += std::exchange(indptr[k + 1], total);
    team.loop(a.n_cols, grain, [&](int, std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) {
            if (k + 16 < end) __builtin_prefetch(&t.indptr[col_order[k + 16]]);
            if (k + 8 < end) prefetch_list(t, col_order[k + 8]);
            const Index j = col_order[k];
            for (Index p = t.indptr[j]; p < t.indptr[j + 1]; ++p) {
                Index& cursor = indptr[row_place[t.indices[p]] + 1];
                if constexpr (Threads) indices[std::atomic_ref(cursor).fetch_add(1, std::memory_order_relaxed)] = static_cast<Index>(k);
                else indices[cursor++] = static_cast<Index>(k);
            }
        }
    });
}

// Turns a permutation into its inverse.
template <class Index>
void invert(Team& team, const Index* order, Index n, Index* place) {
    team.loop(n, 1 << 14, [&](int, std::int64_t begin, std::int64_t end) {
        for (auto k = begin; k < end; ++k) place[order[k]] = static_cast<Index>(k);
    });
}

// Carries a matching into the renumbering: the inverse of restore.
template <class Index>
void carry(Team& team, Index n_rows, Index n_cols, const Index* row_place, const Index* col_order, const Index* row_mate,
           Matching<Index> to) {
    Buffer<Index> col_place(n_cols);
    invert(team, col_order, n_cols, col_place.data());
    team.loop(n_rows, 1 << 13, [&](int, std::int64_t begin, std::int64_t end) {
        for (auto i = begin; i < end; ++i)
            if (row_mate[i] != UNMATCHED<Index>) to.match(row_place[i], col_place[row_mate[i]]);
    });
}

// Carries a matching of the renumbered matrix back.
template <class Index>
void restore(Team& team, Index n_rows, const Index* row_place, const Index* col_order, const Index* row_mate, Matching<Index> m) {
    team.loop(n_rows, 1 << 13, [&](int, std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<Index>(begin); i < end; ++i) {
            const Index k = row_mate[row_place[i]];
            if (k != UNMATCHED<Index>) m.match(i, col_order[k]);
        }
    });
}

}  // namespace sparsematch
