// The transpose of a pattern, by a counting sort in two rounds.
//
// Written straight to their places, the entries of a large matrix hit memory at random. So they are first dealt into buckets
// of neighbouring columns, which are small enough for the second-level cache, and then sorted by column within each bucket.
// Stable: the indices within a list of the result ascend, for any number of workers.
//
// Reads: the pattern. Writes: indptr (n_cols + 1) and indices (nnz) of the transpose. Workspace: an index per entry. Time: O(nnz).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.hpp"
#include "team.hpp"

namespace sparsematch {

template <class Index>
class Transposer {
    static constexpr std::int64_t bucket_entries = 1 << 13;
    static constexpr std::int64_t most_buckets = 512;  // the lines that are being written fit in the first-level cache
    static constexpr int shift = 40;
    static constexpr Index ahead = 16;  // entries of a bucket

  public:
    Transposer(Team& team, const Csr<Index>& a, Index* indptr, Index* indices)
        : team_(team), a_(a), indptr_(indptr), indices_(indices), col_(a.nnz()) {
        const auto wanted = std::clamp<std::int64_t>(a.nnz() / bucket_entries, 1, most_buckets);
        const auto width = (static_cast<std::uint64_t>(a.n_cols) + wanted - 1) / wanted | 1;
        factor_ = (std::uint64_t{1} << shift) / width;
        n_buckets_ = a.n_cols > 0 ? bucket(a.n_cols - 1) + 1 : 0;
    }

    void run() {
        split_rows();
        touch();
        count();
        deal();
        team_.each([&](int rank) {
            std::vector<Index> rows, place;
            for (Index b = rank; b < n_buckets_; b += team_.size()) sort(b, rows, place);
        });
        indptr_[a_.n_cols] = a_.nnz();
    }

  private:
    // Columns divided by the width of a bucket, which is an odd number: where all columns are as long, buckets of a power of two
    // begin in the same set of the cache, and are written in step.
    Index bucket(Index j) const { return static_cast<Index>(j * factor_ >> shift); }
    Index first_col(Index b) const {
        const std::uint64_t first = ((static_cast<std::uint64_t>(b) << shift) + factor_ - 1) / factor_;
        return static_cast<Index>(std::min<std::uint64_t>(first, a_.n_cols));
    }

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

    // Both arrays are fresh, most likely. Workers who write to the same page of it first would each have one cleared.
    void touch() {
        constexpr Index page = 4096 / sizeof(Index);
        team_.loop(a_.nnz(), 1 << 19, [&](int, Index begin, Index end) {
            for (; begin < end; begin += page) indices_[begin] = col_[begin] = 0;
        });
    }

    // place_[rank][b]: where the worker's first entry of bucket b goes.
    void count() {
        place_.assign(team_.size(), std::vector<Index>(n_buckets_, 0));
        team_.each([&](int rank) {
            for (Index p = a_.indptr[first_row_[rank]]; p < a_.indptr[first_row_[rank + 1]]; ++p)
                ++place_[rank][bucket(a_.indices[p])];
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
                    const Index j = a_.indices[p], to = place[bucket(j)]++;
                    __builtin_prefetch(&indices_[to + ahead], 1);  // no hardware follows that many streams
                    __builtin_prefetch(&col_[to + ahead], 1);
                    indices_[to] = i;
                    col_[to] = j;
                }
        });
    }

    // Sorts the entries of bucket b by column, in place by way of a copy of its rows.
    void sort(Index b, std::vector<Index>& rows, std::vector<Index>& place) {
        const Index begin = begin_[b], end = begin_[b + 1];
        const Index first_col = this->first_col(b), n = this->first_col(b + 1) - first_col;
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
    std::uint64_t factor_;  // 2^shift over the width
    Index n_buckets_;
    std::vector<Index> first_row_, begin_;
    std::vector<std::vector<Index>> place_;
};

template <class Index>
void transpose(Team& team, const Csr<Index>& a, Index* indptr, Index* indices) {
    Transposer<Index>(team, a, indptr, indices).run();
}

}  // namespace sparsematch
