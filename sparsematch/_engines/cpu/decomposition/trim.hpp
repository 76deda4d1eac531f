// Trimming: a vertex without arcs to unsettled ones is a strong component, which can be at the end
// of the block form; one without arcs from unsettled ones can be at the beginning (McLendon et al.,
// JPDC 65, 2005).
//
// The two ends do not depend on each other. With several workers one trims each end; what both come
// to is at the end, and so is all that follows it. One worker trims the end only: what that leaves
// more, depth-first search finds about as fast.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/limits.hpp"

namespace sparsematch {

// One end, described for the end of the form: the lists of `a` have what follows, those of `t` what
// is before. For the beginning all is flipped. Counts of arcs are kept in a byte: a row with more
// is left to others, and so is one whose own entry is repeated.
template <class Index>
class Trimming {
  public:
    Trimming(const Csr<Index>& a, const Csr<Index>& t, const Index* mate, const Bitmap& settled_row,
             const Bitmap& settled_col, const BlockLimits& limits)
        : a_(a), t_(t), mate_(mate), settled_row_(settled_row), settled_col_(settled_col),
          many_(limits.many_arcs), at_a_time_(limits.at_a_time), arcs_(a.n_rows, 0),
          queue_(static_cast<std::size_t>(a.n_rows) + 1) {}

    // Counts arcs to unsettled vertices but the own one. By all workers.
    void count_arcs(RunContext& run) {
        run.team.loop(a_.n_rows, at_a_time_, [&](int rank, std::int64_t begin, std::int64_t end) {
            WorkCounter counter(run, rank);
            each<Index>(settled_row_, false, begin, end, [&](Index i) {
                Index n = a_.degree(i) - 1;
                for (const Index j : a_.neighbours(i)) n -= settled_col_.test(j);
                arcs_[i] = std::clamp<Index>(n, 0, many_);
                counter.add(n + 1);
            });
        });
    }
    void start() {
        each(settled_row_, false, a_.n_rows, [&](Index i) {
            queue_[tail_] = i;
            tail_ += arcs_[i] == 0;
        });
    }

    // The rows trimmed so far, in an order in which they may follow each other.
    std::span<const Index> trimmed() const { return {queue_.data(), head_}; }
    bool is_done() const { return head_ == tail_; }
    // Trims over and over, until about `allowance` entries are read: settle(row, column).
    template <class Settle>
    void trim(std::int64_t allowance, RunContext& run, int rank, const Settle& settle) {
        WorkCounter counter(run, rank);
        for (; head_ < tail_ && allowance > 0; ++head_) {
            PrefetchAhead<8>::mate_lists(t_, mate_, queue_.data(), head_, tail_);
            const Index i = queue_[head_], j = mate_[i];
            settle(i, j);
            allowance -= t_.degree(j);
            if (!counter.add(t_.degree(j))) return;
            for (const Index k : t_.neighbours(j)) {
                const unsigned char before = arcs_[k], after = fewer(before);
                arcs_[k] = after;
                queue_[tail_] = k;
                tail_ += after < before && after == 0;
            }
        }
    }

  private:
    unsigned char fewer(unsigned char n) const { return n - ((n != 0) & (n != many_)); }

    const Csr<Index>&a_, &t_;
    const Index* mate_;
    const Bitmap &settled_row_, &settled_col_;
    const unsigned char many_;
    const std::int64_t at_a_time_;
    Buffer<unsigned char> arcs_;  // of each row
    Buffer<Index> queue_;
    std::size_t head_ = 0, tail_ = 0;
};

// Trims what is not settled. Writes the component of each row that it settles to its group: from
// `last` downwards at the end, from `first` upwards at the beginning. Workspace: a byte and an
// index per row, with several workers per column, too. Time: O(n_rows + n_cols + nnz).
template <class Index>
void trim_ends(const Csr<Index>& a, const Csr<Index>& t, Matching<Index> m, CoarseParts& parts,
               Index* group, Index& first, Index& last, const BlockLimits& limits,
               RunContext& run) {
    Trimming<Index> end(a, t, m.row_mate, parts.settled_row, parts.settled_col, limits);
    const auto settle_last = [&](Index i, Index j) {
        group[i] = last--;
        parts.settled_row.set(i);
        parts.settled_col.set(j);
    };
    end.count_arcs(run);
    if (run.team.size() == 1) {
        end.start();
        return end.trim(std::numeric_limits<std::int64_t>::max(), run, 0, settle_last);
    }
    Trimming<Index> beginning(t, a, m.col_mate, parts.settled_col, parts.settled_row, limits);
    beginning.count_arcs(run);
    run.team.both([&](int part, int) { part == 0 ? end.start() : beginning.start(); });
    while (!(end.is_done() && beginning.is_done()) && run.flush(0, 0))
        run.team.both([&](int part, int rank) {
            if (part == 0) end.trim(limits.turn, run, rank, settle_last);
            else beginning.trim(limits.turn, run, rank, [](Index, Index) {});
        });
    for (const Index j : beginning.trimmed()) {
        if (parts.settled_col.test(j)) continue;
        const Index i = m.col_mate[j];
        group[i] = first++;
        parts.settled_row.set(i);
        parts.settled_col.set(j);
    }
}

}  // namespace sparsematch
