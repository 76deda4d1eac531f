// The transpose of a pattern, by a counting sort: in two passes unless what it writes is cached.
//
// One pass over a large matrix whose numbering says nothing would write to random addresses. There
// the first of two distributes the entries to buckets of consecutive columns, each small enough for
// the second-level cache, and the second sorts each bucket by column. Between the passes the rows
// of the entries of a bucket are stored where its indices will be.
// Invariant: all passes are stable, so the indices of each list ascend, for any number of threads.
//
// Reads: the pattern. Writes: indptr (n_cols + 1) and indices (nnz) of the transpose. Workspace: an
// index per column; or a bucket per thread, and an index per entry. Time: O(nnz + n_rows + n_cols).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

template <class Index> class Transposer {
    static constexpr std::int64_t bucket_entries = 1 << 13;  // entries of a bucket, on average
    // the cache lines being written fit in the first level
    static constexpr std::int64_t max_buckets = 512;
    static constexpr int shift = 40;
    static constexpr Index ahead = 16;  // entries of a bucket

  public:
    Transposer(const Csr<Index>& a, Index* indptr, Index* indices, RunContext& run)
        : run_(run), team_(run.team), a_(a), indptr_(indptr), indices_(indices), cols_(a.nnz()) {
        choose_buckets(std::clamp<std::int64_t>(a.nnz() / bucket_entries, 1, max_buckets));
        for (int rank = 0; rank <= team_.size(); ++rank)
            first_row_.push_back(first_row_of(a_, rank, team_.size()));
    }

    void run() {
        touch_pages();
        if (!count() || !distribute()) return;
        sort_buckets();
        indptr_[a_.n_cols] = a_.nnz();
    }

  private:
    // ---- buckets

    // Their width is odd: with columns of equal length, buckets of a power of two would all begin
    // in the same set of the cache.
    void choose_buckets(std::int64_t wanted) {
        const auto width =
            (static_cast<std::uint64_t>(std::max<Index>(a_.n_cols, 1)) - 1) / wanted | 1;
        factor_ = (std::uint64_t{1} << shift) / width;
        n_buckets_ = a_.n_cols > 0 ? bucket(a_.n_cols - 1) + 1 : 0;
        first_col_.resize(n_buckets_ + 1);
        for (Index b = 0; b <= n_buckets_; ++b) {
            const std::uint64_t first =
                ((static_cast<std::uint64_t>(b) << shift) + factor_ - 1) / factor_;
            first_col_[b] = static_cast<Index>(std::min<std::uint64_t>(first, a_.n_cols));
        }
    }
    // The column divided by the width, nearly.
    Index bucket(Index j) const { return static_cast<Index>(j * factor_ >> shift); }

    // ---- the two passes

    // The result is fresh memory: of threads that fault on a page together, each would clear one.
    void touch_pages() {
        if (team_.size() == 1) return;
        constexpr Index page = 4096 / sizeof(Index);  // indices in the smallest page
        team_.loop(a_.nnz(), 1 << 19, [&](int, Index begin, Index end) {
            for (; begin < end; begin += page) indices_[begin] = 0;
        });
    }

    // place_[rank][b]: where this thread's first entry of bucket b goes.
    bool count() {
        place_.assign(team_.size(), std::vector<Index>(n_buckets_, 0));
        team_.each([&](int rank) {
            const Index* const ends = a_.indptr;
            WorkCounter(run_, rank)
                .pieces(ends[first_row_[rank]], ends[first_row_[rank + 1]],
                        [&](Index begin, Index end) {
                            for (Index p = begin; p < end; ++p)
                                ++place_[rank][bucket(a_.indices[p])];
                        });
        });
        if (run_.stopped()) return false;
        Index total = 0;
        for (Index b = 0; b < n_buckets_; ++b) {
            begin_.push_back(total);
            for (auto& place : place_) total += std::exchange(place[b], total);
        }
        begin_.push_back(total);
        return true;
    }

    bool distribute() {
        team_.each([&](int rank) {
            WorkCounter counter(run_, rank);
            Index* const place = place_[rank].data();
            const Index* const first_col = first_col_.data();
            for (Index i = first_row_[rank]; i < first_row_[rank + 1]; ++i) {
                for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
                    const Index j = a_.indices[p], b = bucket(j), to = place[b]++;
                    // more streams than a hardware prefetcher follows
                    SPARSEMATCH_PREFETCH(&indices_[to + ahead], 1);
                    SPARSEMATCH_PREFETCH(&cols_[to + ahead], 1);
                    indices_[to] = i;
                    cols_[to] = j - first_col[b];
                }
                if (!counter.add(a_.degree(i))) return;
            }
        });
        return !run_.stopped();
    }

    // What the sort of a bucket by pieces needs: a copy of its rows, and of each piece where its
    // next entry of each column goes.
    struct Workspace {
        Buffer<Index> rows;
        std::vector<std::vector<Index>> place;
    };

    // Each by one worker; by all where hubs fill it with more than one's share of all entries.
    void sort_buckets() {
        const Index share = a_.nnz() / team_.size();
        const auto size = [&](Index b) { return begin_[b + 1] - begin_[b]; };
        std::atomic<Index> next{0};
        team_.each([&](int rank) {
            WorkCounter counter(run_, rank);
            Workspace own;
            for (Index b; (b = next++) < n_buckets_;) {
                if (size(b) > share) continue;
                sort(b, 1, own, [](const auto& body) { body(0); });
                if (!counter.add(size(b))) return;
            }
        });
        Workspace shared;
        for (Index b = 0; b < n_buckets_ && run_.flush(0, 0); ++b)
            if (size(b) > share)
                sort(b, team_.size(), shared, [&](const auto& body) { team_.each(body); });
    }

    // Sorts the entries of bucket b by column, from a copy, in pieces: each(body) runs body(piece).
    template <class Each> void sort(Index b, int pieces, Workspace& w, const Each& each) {
        const Index begin = begin_[b], width = first_col_[b + 1] - first_col_[b];
        const std::int64_t n = begin_[b + 1] - begin;
        const auto first = [&](int piece) { return static_cast<Index>(n * piece / pieces); };
        const Index* const cols = cols_.data() + begin;
        if (static_cast<std::int64_t>(w.rows.size()) < n) w.rows = Buffer<Index>(n);
        w.place.resize(pieces);
        each([&](int piece) {
            w.place[piece].assign(width, 0);
            for (Index p = first(piece); p < first(piece + 1); ++p) {
                w.rows[p] = indices_[begin + p];
                ++w.place[piece][cols[p]];
            }
        });
        Index total = begin;
        for (Index k = 0; k < width; ++k) {
            indptr_[first_col_[b] + k] = total;
            for (auto& place : w.place) total += std::exchange(place[k], total);
        }
        each([&](int piece) {
            Index* const place = w.place[piece].data();
            for (Index p = first(piece); p < first(piece + 1); ++p)
                indices_[place[cols[p]]++] = w.rows[p];
        });
    }

    RunContext& run_;
    ThreadTeam& team_;
    const Csr<Index>& a_;
    Index *indptr_, *indices_;
    Buffer<Index> cols_;        // of the entries, within their buckets
    std::uint64_t factor_ = 0;  // 2^shift over the width of a bucket
    Index n_buckets_ = 0;
    std::vector<Index> first_col_, first_row_, begin_;
    std::vector<std::vector<Index>> place_;
};

// Whether neighbouring rows begin in neighbouring columns, by a sample.
template <class Index> bool begins_near_its_neighbour(const Csr<Index>& a) {
    constexpr std::int64_t n_samples = 256;
    constexpr Index apart = 8;  // rows: the unknowns of a point begin in the same column
    if (a.n_rows <= apart) return true;
    std::int64_t pairs = 0, near = 0;
    for (std::int64_t k = 0; k < n_samples; ++k) {
        const auto i = static_cast<Index>((a.n_rows - apart - 1) * k / n_samples),
                   other = i + apart;
        if (a.degree(i) == 0 || a.degree(other) == 0) continue;
        ++pairs;
        near += std::abs(a.neighbours(i)[0] - a.neighbours(other)[0]) <= a.n_cols / 64;
    }
    return 4 * near > 3 * pairs;
}

// Whether the lines that a single pass writes to are in the cache.
template <class Index> bool writes_to_cache(const Csr<Index>& a) {
    constexpr std::int64_t line = 64, cache = 1 << 23;  // bytes
    const auto bytes = static_cast<std::int64_t>(sizeof(Index)) * a.nnz();
    return std::min(bytes, line * a.n_cols) <= cache || begins_near_its_neighbour(a);
}

// In a single pass.
template <class Index>
void transpose_directly(const Csr<Index>& a, Index* indptr, Index* indices, RunContext& run) {
    constexpr Index ahead = 16;  // entries
    const Index n = a.nnz();
    WorkCounter counter(run);
    Buffer<Index> place(a.n_cols, 0);
    const bool counted = counter.pieces(Index{0}, n, [&](Index begin, Index end) {
        for (Index p = begin; p < end; ++p) ++place[a.indices[p]];
    });
    if (!counted) return;
    Index total = 0;
    for (Index j = 0; j < a.n_cols; ++j) {
        indptr[j] = total;
        total += std::exchange(place[j], total);
    }
    indptr[a.n_cols] = total;
    for (Index i = 0; i < a.n_rows && counter.add(a.degree(i)); ++i)
        for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
            if (n - p > 2 * ahead) {
                SPARSEMATCH_PREFETCH(&place[a.indices[p + 2 * ahead]], 1);
                SPARSEMATCH_PREFETCH(&indices[place[a.indices[p + ahead]]], 1);
            }
            indices[place[a.indices[p]]++] = i;
        }
}

template <class Index>
void transpose(const Csr<Index>& a, Index* indptr, Index* indices, RunContext& run) {
    if (run.team.size() <= 2 && writes_to_cache(a)) transpose_directly(a, indptr, indices, run);
    else Transposer<Index>(a, indptr, indices, run).run();
}

// A transpose with lists of its own, built as a step of the run.
template <class Index> class BuiltTranspose {
    Buffer<Index> indptr_, indices_;

  public:
    BuiltTranspose(const Csr<Index>& a, RunContext& run)
        : indptr_(static_cast<std::size_t>(a.n_cols) + 1), indices_(a.nnz()),
          lists{a.n_cols, a.n_rows, indptr_.data(), indices_.data()} {
        const auto timer = run.time("transpose");
        transpose(a, indptr_.data(), indices_.data(), run);
    }
    const Csr<Index> lists;
};

}  // namespace sparsematch
