// The transpose of a pattern, by a counting sort in two rounds.
//
// Written straight to their places, the entries of a large matrix hit memory at random. So they are first dealt into buckets
// of neighbouring columns, which are small enough for the second-level cache, and then sorted by column within each bucket.
// Stable: the indices within a list of the result ascend, for any number of workers.
//
// Reads: the pattern. Writes: indptr (n_cols + 1) and indices (nnz) of the transpose. Workspace: an index per entry. Time: O(nnz).
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "csr.hpp"
#include "team.hpp"

namespace sparsematch {

template <class Index>
class Transposer {
    static constexpr std::int64_t bucket_entries = 1 << 15;
    static constexpr std::int64_t most_buckets = 256;

  public:
    Transposer(Team& team, const Csr<Index>& a, Index* indptr, Index* indices)
        : team_(team), a_(a), indptr_(indptr), indices_(indices), col_(a.nnz()) {
        const auto wanted = std::clamp<std::int64_t>(a.nnz() / bucket_entries, 1, most_buckets);
        const auto width = std::max<std::uint64_t>(1, (static_cast<std::uint64_t>(a.n_cols) + wanted - 1) / wanted);
        shift_ = std::bit_width(width - 1);
        n_buckets_ = static_cast<Index>((static_cast<std::uint64_t>(a.n_cols) + (std::uint64_t{1} << shift_) - 1) >> shift_);
    }

    void run() {
        split_rows();
        count();
        deal();
        team_.each([&](int rank) {
            std::vector<Index> rows, place;
            for (Index b = rank; b < n_buckets_; b += team_.size()) sort(b, rows, place);
        });
        indptr_[a_.n_cols] = a_.nnz();
    }

  private:
    // One run of rows for each worker, with about as many entries.
    void split_rows() {
        const int n = team_.size();
        for (int rank = 0; rank <= n; ++rank) {
            const Index goal = static_cast<Index>(static_cast<std::int64_t>(a_.nnz()) / n * rank);
            first_row_.push_back(
                rank == n ? a_.n_rows
                          : static_cast<Index>(std::lower_bound(a_.indptr, a_.indptr + a_.n_rows, goal) - a_.indptr));
        }
        first_row_[0] = 0;
    }

    // place_[rank][b]: where the worker's first entry of bucket b goes.
    void count() {
        place_.assign(team_.size(), std::vector<Index>(n_buckets_, 0));
        team_.each([&](int rank) {
            for (Index p = a_.indptr[first_row_[rank]]; p < a_.indptr[first_row_[rank + 1]]; ++p)
                ++place_[rank][a_.indices[p] >> shift_];
        });
        Index total = 0;
        for (Index b = 0; b < n_buckets_; ++b) {
            begin_.push_back(total);
            for (auto& place : place_) total += std::exchange(place[b], total);
        }
        begin_.push_back(total);
    }

    // Rows go to indices_, which has room for them, columns beside them.
    void deal() {
        team_.each([&](int rank) {
            Index* place = place_[rank].data();
            for (Index i = first_row_[rank]; i < first_row_[rank + 1]; ++i)
                for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
                    const Index j = a_.indices[p], to = place[j >> shift_]++;
                    indices_[to] = i;
                    col_[to] = j;
                }
        });
    }

    // Sorts the entries of bucket b by column, in place by way of a copy of its rows.
    void sort(Index b, std::vector<Index>& rows, std::vector<Index>& place) {
        const Index begin = begin_[b], end = begin_[b + 1];
        const Index first_col = b << shift_;
        const auto n = static_cast<Index>(std::min<std::int64_t>(std::int64_t{1} << shift_, a_.n_cols - first_col));
        place.assign(n, 0);
        for (Index p = begin; p < end; ++p) ++place[col_[p] - first_col];
        Index total = begin;
        for (Index k = 0; k < n; ++k) {
            indptr_[first_col + k] = total;
            total += std::exchange(place[k], total);
        }
        rows.assign(indices_ + begin, indices_ + end);
        for (Index p = begin; p < end; ++p) indices_[place[col_[p] - first_col]++] = rows[p - begin];
    }

    Team& team_;
    const Csr<Index>& a_;
    Index *indptr_, *indices_;
    Buffer<Index> col_;
    int shift_;
    Index n_buckets_;
    std::vector<Index> first_row_, begin_;
    std::vector<std::vector<Index>> place_;
};

template <class Index>
void transpose(Team& team, const Csr<Index>& a, Index* indptr, Index* indices) {
    Transposer<Index>(team, a, indptr, indices).run();
}

}  // namespace sparsematch
