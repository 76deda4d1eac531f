// The block form of a square matrix in one go, for first factorisations: a perfect matching, and
// strong components by depth-first search, without what pays on large matrices only.
//
// Where the diagonal is no matching, a row with one column left is matched to that and comes last,
// then a column with one row left is matched to that and comes first, as bases of linear programs
// fall into triangles but for a nucleus: Suhl, Suhl, Computing sparse LU factorizations for
// large-scale linear programming bases (ORSA J. Comput. 2, 1990). The nucleus is matched by
// depth-first search with lookahead: Duff, On algorithms for obtaining a maximum transversal (ACM
// TOMS 7, 1981).
//
// The matrix comes by columns: what other packages call a row is a column here, and block lower
// triangular is block upper.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "decomposition/block_permutation.hpp"
#include "decomposition/strong_components.hpp"
#include "lu/square_form.hpp"
#include "matching/diagonal.hpp"

namespace sparsematch {

template <class Index>
class QuickForm {
  public:
    // columns: of a square matrix, each ascending without repeats.
    QuickForm(const Csr<Index>& columns, RunContext& run)
        : a_(columns), n_(columns.n_rows), run_(run), room_(8 * static_cast<std::size_t>(n_)),
          mate_(array(0)), col_mate_(array(1)) {}

    // Matches every column. Searches of the nucleus end after scanning `most_scanned` entries.
    // False: there is no perfect matching, or none was found within this limit. Time: O(nnz), and
    // the searches.
    bool match(std::int64_t most_scanned) {
        if (match_diagonal(a_, Matching<Index>{mate_, col_mate_})) return true;
        std::fill(mate_, mate_ + 2 * static_cast<std::size_t>(n_), UNMATCHED<Index>);
        return peel_rows() && peel_columns() && match_nucleus(most_scanned);
    }
    // The mates of the user's rows. False: not all are matched.
    bool adopt_matching(const Index* row_mate) {
        std::copy(row_mate, row_mate + n_, mate_);
        return !any_free(mate_, static_cast<std::size_t>(n_));
    }

    // The blocks, rows ascending within each. Time: O(n + nnz).
    SquareForm<Index> form() {
        const auto n = static_cast<std::size_t>(n_);
        Buffer<Arcs<Index>> arcs(n);
        Index* const number = array(2);
        for (Index i = 0; i < n_; ++i)
            number[i] = 0, arcs[i] = {a_.indptr[mate_[i]], a_.indptr[mate_[i] + 1]};
        const Index *const first = array(6), *const last = array(7);
        for (Index k = 0; k < n_first_; ++k) number[first[k]] = in_vertical<Index>;
        for (Index k = 0; k < n_last_; ++k) number[last[k]] = in_vertical<Index>;
        Index lowest = n_;  // numbers of components count down to here, sinks first
        StrongComponents<Index>(number, arcs.data(), a_.indices, n).find(n_, lowest, run_);
        if (run_.stopped()) return {};
        const Index n_blocks = n_first_ + n_ - lowest + n_last_;
        for (Index i = 0; i < n_; ++i) number[i] = n_first_ + n_ - number[i];
        for (Index k = 0; k < n_first_; ++k) number[first[k]] = k;
        for (Index k = 0; k < n_last_; ++k) number[last[k]] = n_blocks - 1 - k;
        SquareForm<Index> out{std::vector<Index>(n), std::vector<Index>(n),
                              std::vector<Index>(n_blocks + std::size_t{1})};
        sort_by_label(number, n_, n_blocks, out.row_perm.data(), out.starts.data(), run_);
        for (std::size_t k = 0; k < n; ++k) out.col_perm[k] = mate_[out.row_perm[k]];
        return out;
    }

  private:
    Index* array(std::size_t k) { return room_.data() + k * static_cast<std::size_t>(n_); }
    void match(Index i, Index j) { mate_[i] = j, col_mate_[j] = i; }

    // Reads and writes: left_, the columns that each row has left. False: two rows share their only
    // one, or a row has none.
    bool peel_rows() {
        Index *const only = array(3), *const rows = array(7);  // the columns left, combined by xor
        std::fill(left_, left_ + n_, Index{0}), std::fill(only, only + n_, Index{0});
        for (Index j = 0; j < n_; ++j)
            for (const Index i : a_.neighbours(j)) ++left_[i], only[i] ^= j;
        Index end = 0;
        for (Index i = 0; i < n_; ++i)
            if (left_[i] == 1) rows[end++] = i;
        for (; n_last_ < end; ++n_last_) {
            const Index i = rows[n_last_], j = only[i];
            if (left_[i] == 0) return false;
            match(i, j);
            for (const Index r : a_.neighbours(j))
                if (only[r] ^= j; --left_[r] == 1) rows[end++] = r;
        }
        return true;
    }
    // The columns left have entries in the rows left alone.
    bool peel_columns() {
        Index *const degree = array(3), *const columns = array(4), *const rows = array(6);
        Index end = 0, total = 0;
        for (Index j = 0; j < n_; ++j)
            if (col_mate_[j] == UNMATCHED<Index>)
                if ((degree[j] = a_.degree(j)) == 1) columns[end++] = j;
        if (end == 0) return true;
        Index* const start = array(5);  // of each row's columns
        for (Index i = 0; i < n_; ++i) start[i] = total, total += left_[i];
        Buffer<Index> by_rows(static_cast<std::size_t>(total));
        for (Index j = 0; j < n_; ++j)
            if (col_mate_[j] == UNMATCHED<Index>)
                for (const Index i : a_.neighbours(j)) by_rows[start[i]++] = j;
        for (; n_first_ < end; ++n_first_) {
            const Index j = columns[n_first_];
            if (degree[j] == 0) return false;
            const auto in_column = a_.neighbours(j);
            const Index i = *std::ranges::find_if(
                in_column, [&](Index r) { return mate_[r] == UNMATCHED<Index>; });
            match(i, j), rows[n_first_] = i;
            for (Index p = start[i] - left_[i]; p < start[i]; ++p)
                if (--degree[by_rows[p]] == 1) columns[end++] = by_rows[p];
        }
        return true;
    }

    // The first free row of each column, then searches from those that have found none, each column
    // visited once in a round; every other round scans the columns backwards.
    bool match_nucleus(std::int64_t most_scanned) {
        Index *const ahead = array(3), *const seen_in = array(4);
        std::vector<Index> open;
        for (Index j = 0; j < n_; ++j) {
            seen_in[j] = 0;
            if (col_mate_[j] != UNMATCHED<Index>) {  // nothing is to be found there
                seen_in[j] = std::numeric_limits<Index>::max();
                continue;
            }
            Index p = a_.indptr[j];
            while (p < a_.indptr[j + 1] && mate_[a_.indices[p]] != UNMATCHED<Index>) ++p;
            ahead[j] = p;
            if (p < a_.indptr[j + 1]) match(a_.indices[p], j);
            else open.push_back(j);
        }
        WorkCounter counter(run_);
        std::int64_t scanned = 0;
        for (Index round = 1; !open.empty(); ++round) {
            const auto before = scanned;
            const auto found =
                std::erase_if(open, [&](Index j) { return augment(j, round, scanned); });
            if (found == 0 || scanned > most_scanned || !counter.add(scanned - before))
                return false;
        }
        return true;
    }
    // Entries before ahead[j] are in matched rows.
    bool augment(Index root, Index round, std::int64_t& scanned) {
        Index *const ahead = array(3), *const seen_in = array(4), *const next = array(5),
                     *const path = array(2);
        Index depth = 0;
        path[0] = root, next[root] = 0, seen_in[root] = round;
        while (depth >= 0) {
            const Index j = path[depth], end = a_.indptr[j + 1], degree = a_.degree(j);
            const Index looked = ahead[j], visited = next[j];
            while (ahead[j] < end && mate_[a_.indices[ahead[j]]] != UNMATCHED<Index>) ++ahead[j];
            if (ahead[j] < end) return flip(a_.indices[ahead[j]], depth), true;
            Index child = UNMATCHED<Index>;
            while (next[j] < degree && child == UNMATCHED<Index>) {
                const Index t = ++next[j];
                const Index k = mate_[a_.indices[round % 2 ? end - degree + t - 1 : end - t]];
                if (seen_in[k] < round) child = k;
            }
            scanned += ahead[j] - looked + next[j] - visited;
            if (child == UNMATCHED<Index>) --depth;
            else path[++depth] = child, next[child] = 0, seen_in[child] = round;
        }
        return false;
    }
    void flip(Index i, Index depth) {
        for (const Index* const path = array(2); depth >= 0; --depth) {
            const Index j = path[depth], before = col_mate_[j];
            match(i, j);
            i = before;
        }
    }

    const Csr<Index>& a_;
    const Index n_;
    RunContext& run_;
    Buffer<Index> room_;
    // The column of each row, the row of each column; rows that come first, and last, in order.
    Index *const mate_, *const col_mate_, *const left_ = array(2);
    Index n_first_ = 0, n_last_ = 0;
};

}  // namespace sparsematch
