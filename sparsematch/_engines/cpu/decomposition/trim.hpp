// Trimming: a vertex without arcs to unsettled ones is a strong component, which can be at the end
// of the block form; one without arcs from unsettled ones can be at its beginning (McLendon et al.,
// JPDC 65, 2005). Both are one search, in the matrix and in its transpose: its vertices are the
// matched rows of the one, which have arcs to what follows, or of the other.
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "decomposition/limits.hpp"

namespace sparsematch {

// The lists of `a` have what follows, those of `t` what is before. Counts of arcs are kept in a
// byte: a row with more is left to others, and so is one whose own entry is repeated. Presumes that
// rows which are not settled have mates, which are not settled either.
template <class Index> class Trimming {
  public:
    Trimming(const Csr<Index>& a, const Csr<Index>& t, const Index* mate, Bitmap& settled_row,
             Bitmap& settled_col, const BlockLimits& limits, RunContext& run)
        : a_(a), t_(t), mate_(mate), settled_row_(settled_row), settled_col_(settled_col),
          limits_(limits), run_(run), arcs_(a.n_rows),
          queue_(static_cast<std::size_t>(a.n_rows) + 1), found_(run.team.size()) {}

    // Trims what is not settled; settle(i, k) for the k-th row, from 0; returns how many.
    // Workspace: a byte and an index per row. Time: O(n_rows + n_cols + nnz).
    template <class Settle> Index trim(const Settle& settle) {
        count_arcs();
        WorkCounter counter(run_);
        while (head_ < tail_ && !run_.stopped()) {
            const std::size_t end = tail_;
            if (run_.team.size() > 1 && end - head_ >= limits_.trimmed_together) {
                level(settle);
                continue;
            }
            for (; head_ < end; ++head_) {
                PrefetchAhead<8>::mate_lists(t_, mate_, queue_.data(), head_, tail_);
                const Index i = queue_[head_], j = mate_[i];
                SPARSEMATCH_ASSERT(j != UNMATCHED<Index> && !settled_col_.test(j));
                settle(i, static_cast<Index>(head_));
                settled_row_.set(i);
                settled_col_.set(j);
                if (!counter.add(t_.degree(j))) break;
                for (const Index k : t_.neighbours(j)) {
                    const unsigned char before = arcs_[k], after = before - counts(before);
                    arcs_[k] = after;
                    queue_[tail_] = k;
                    tail_ += after < before && after == 0;
                }
            }
        }
        return static_cast<Index>(head_);
    }

  private:
    bool counts(unsigned char n) const { return n != 0 && n != limits_.many_arcs; }

    // Counts arcs to unsettled vertices but the own one, by all workers; queues rows without any.
    void count_arcs() {
        const Index many = limits_.many_arcs;
        run_.team.loop(a_.n_rows, limits_.at_a_time, [&](int rank, Index begin, Index end) {
            WorkCounter counter(run_, rank);
            std::fill(&arcs_[begin], &arcs_[end], 0);
            each<Index>(settled_row_, false, begin, end, [&](Index i) {
                Index n = a_.degree(i) - 1;
                for (const Index j : a_.neighbours(i)) n -= settled_col_.test(j);
                arcs_[i] = static_cast<unsigned char>(std::clamp<Index>(n, 0, many));
                counter.add(n + 1);
            });
        });
        each(settled_row_, false, a_.n_rows, [&](Index i) {
            queue_[tail_] = i;
            tail_ += arcs_[i] == 0;
        });
    }

    // The whole frontier, by all workers, each with a list of its own of what it finds.
    template <class Settle> void level(const Settle& settle) {
        const std::size_t first = head_, last = tail_;
        run_.team.loop(last - first, limits_.trimmed_at_a_time, [&](int rank, Index k, Index end) {
            WorkCounter counter(run_, rank);
            std::vector<Index> found = std::move(found_[rank]);
            for (; k < end; ++k) {
                PrefetchAhead<8>::mate_lists(t_, mate_, queue_.data(), first + k, last);
                const Index i = queue_[first + k], j = mate_[i];
                SPARSEMATCH_ASSERT(j != UNMATCHED<Index> && !settled_col_.test(j));
                settle(i, static_cast<Index>(first) + k);
                settled_row_.set_shared(i);
                settled_col_.set_shared(j);
                counter.add(t_.degree(j));
                for (const Index other : t_.neighbours(j)) {
                    const std::atomic_ref<unsigned char> arcs(arcs_[other]);
                    // a count neither comes to 0 twice nor becomes `many`
                    if (counts(arcs.load(std::memory_order_relaxed)) &&
                        arcs.fetch_sub(1, std::memory_order_relaxed) == 1)
                        found.push_back(other);
                }
            }
            found_[rank] = std::move(found);
        });
        head_ = last;
        for (std::vector<Index>& found : found_) {
            std::copy(found.begin(), found.end(), &queue_[tail_]);
            tail_ += found.size();
            found.clear();
        }
    }

    const Csr<Index>&a_, &t_;
    const Index* mate_;
    Bitmap &settled_row_, &settled_col_;
    const BlockLimits& limits_;
    RunContext& run_;
    Buffer<unsigned char> arcs_;  // of each row
    Buffer<Index> queue_;
    std::vector<std::vector<Index>> found_;  // by each worker
    std::size_t head_ = 0, tail_ = 0;
};

}  // namespace sparsematch
