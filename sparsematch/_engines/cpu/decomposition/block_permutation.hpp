// From labels to permutations: counting sorts.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "core/transpose.hpp"

namespace sparsematch {

inline constexpr std::int64_t labels_at_a_time = 1 << 16;

// The same by many workers, who read and write more often: two gain nothing. What has a frequent
// label is listed apart, in order; the rest is the transpose of a matrix with one entry in a row,
// in which one label for many would be the work of one worker. Presumes at least 512 labels.
template <class Index> class SharedSort {
  public:
    SharedSort(const Index* label, Index n, Index n_labels, RunContext& run)
        : label_(label), n_(n), n_labels_(n_labels), run_(run) {
        // Labels that are looked at; as many of one make it frequent, for 16 workers. Not varied.
        constexpr Index samples = 512, often = samples / 16;
        SPARSEMATCH_ASSERT(n >= samples);
        std::array<Index, samples> seen;
        for (std::int64_t k = 0; k < samples; ++k) seen[k] = label[n * k / samples];
        std::sort(seen.begin(), seen.end());
        for (Index k = 0; k + often <= samples; ++k)
            if (seen[k] == seen[k + often - 1] &&
                (frequent_.empty() || frequent_.back() != seen[k]))
                frequent_.push_back(seen[k]);
    }

    void sort(Index* order, Index* starts) {
        const std::size_t n_kinds = frequent_.size() + 1;  // the last: the rest
        std::vector<std::vector<Index>> place(run_.team.size(), std::vector<Index>(n_kinds, 0));
        run_.team.share_out(n_, [&](int rank, Index begin, Index end) {
            for (Index v = begin; v < end; ++v) ++place[rank][kind(label_[v])];
        });
        std::vector<Index> size(n_kinds, 0);
        for (auto& places : place)
            for (std::size_t k = 0; k < n_kinds; ++k)
                places[k] = std::exchange(size[k], size[k] + places[k]);
        const Index rest = size.back();
        Buffer<Index> rows(rest), labels(rest), sorted(rest),
            one_each(static_cast<std::size_t>(rest) + 1);
        run_.team.share_out(n_, [&](int rank, Index begin, Index end) {
            for (Index v = begin; v < end; ++v) {
                if (kind(label_[v]) + 1 < n_kinds) continue;
                const Index to = place[rank].back()++;
                rows[to] = v, labels[to] = label_[v], one_each[to] = to;
            }
        });
        one_each[rest] = rest;
        transpose(Csr<Index>{rest, n_labels_, one_each.data(), labels.data()}, starts,
                  sorted.data(), run_);
        if (run_.stopped()) return;
        // between two frequent labels, all that is left moves by the same number of places
        Index before = 0;
        std::vector<Index> first(n_kinds);
        for (std::size_t k = 0; k < n_kinds; ++k) {
            const Index begin = k ? frequent_[k - 1] + 1 : 0,
                        last = k < frequent_.size() ? frequent_[k] : n_labels_;
            const Index from = k ? starts[begin] : 0, to = starts[last];
            run_.team.loop(to - from, labels_at_a_time, [&](int, Index p, Index end) {
                for (p += from, end += from; p < end; ++p) order[p + before] = rows[sorted[p]];
            });
            first[k] = to + before;
            if (before > 0)
                run_.team.loop(last + 1 - begin, labels_at_a_time, [&](int, Index l, Index end) {
                    for (l += begin, end += begin; l < end; ++l) starts[l] += before;
                });
            before += size[k];
        }
        run_.team.share_out(n_, [&](int rank, Index begin, Index end) {
            for (Index v = begin; v < end; ++v) {
                const std::size_t k = kind(label_[v]);
                if (k + 1 < n_kinds) order[first[k] + place[rank][k]++] = v;
            }
        });
    }

  private:
    std::size_t kind(Index label) const {
        return std::find(frequent_.begin(), frequent_.end(), label) - frequent_.begin();
    }

    const Index* const label_;
    const Index n_, n_labels_;
    RunContext& run_;
    std::vector<Index> frequent_;  // labels, ascending: at most 16
};

// Stable counting sort: order lists 0..n-1 by ascending label, labels in [0, n_labels).
template <class Index>
void sort_by_label(const Index* label, Index n, Index n_labels, Index* order, Index* starts,
                   RunContext& run) {
    if (run.team.size() > 2 && n > labels_at_a_time)
        return SharedSort<Index>(label, n, n_labels, run).sort(order, starts);
    std::fill(starts, starts + n_labels + 1, Index{0});
    for (Index v = 0; v < n; ++v) ++starts[label[v] + 1];
    for (Index k = 0; k < n_labels; ++k) starts[k + 1] += starts[k];
    for (Index v = 0; v < n; ++v) order[starts[label[v]]++] = v;
    for (Index k = n_labels; k > 0; --k) starts[k] = starts[k - 1];
    starts[0] = 0;
}

// The permutations of the block form: rows by ascending group, in ascending order within one, and
// columns beside their mates, after the free ones, whose places are left as they are. Groups are
// those of Blocks::components with n blocks; starts has n + 4 places. row_perm may be group itself
// if all rows are in one.
template <class Index>
void block_permutation(const Index* group, const Index* row_mate, Index n_rows, Index n_cols,
                       Index n, Index* row_perm, Index* col_perm, Index* starts, RunContext& run) {
    Index others = 0;
    for (Index i = 0; i < n_rows; ++i) others |= group[i] ^ group[0];
    if (n_rows > 0 && others == 0) {  // a common case, three times as fast as sorting
        const Index only = group[0];
        std::fill(starts, starts + only + 1, Index{0});
        std::fill(starts + only + 1, starts + n + 4, n_rows);
        std::iota(row_perm, row_perm + n_rows, Index{0});
        if (only < n + 2) std::copy(row_mate, row_mate + n_rows, col_perm + n_cols - n_rows);
        return;
    }
    sort_by_label(group, n_rows, n + 3, row_perm, starts, run);
    if (run.stopped()) return;
    const Index n_matched = starts[n + 2];
    Index* const cols = col_perm + n_cols - n_matched;
    run.team.loop(n_matched, labels_at_a_time, [&](int, Index begin, Index end) {
        for (Index k = begin; k < end; ++k) cols[k] = row_mate[row_perm[k]];
    });
}

}  // namespace sparsematch
