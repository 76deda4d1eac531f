// Trimming: a vertex without arcs to unsettled ones is a strong component, which can be at the end
// of the block form; one without arcs from unsettled ones can be at its beginning (McLendon et al.,
// JPDC 65, 2005). Both are one search, in the matrix and in its transpose: its vertices are the
// matched rows of the one, which have arcs to what follows, or of the other.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "core/worklist.hpp"
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
          queue_(static_cast<std::size_t>(a.n_rows) + 1) {}

    // Trims what is not settled; settle(i, k) for the k-th row, from 0; returns how many.
    // Workspace: a byte and an index per row. Time: O(n_rows + n_cols + nnz).
    template <class Settle> Index trim(const Settle& settle) {
        count_arcs();
        std::size_t head = 0;
        for (std::size_t tail; head < (tail = queue_.size()) && !run_.stopped(); head = tail) {
            const auto level = static_cast<std::int64_t>(tail - head);
            const bool together = run_.team.size() > 1 && level >= limits_.trimmed_together;
            run_.team.loop(level, together ? limits_.trimmed_at_a_time : level,
                           [&](int rank, std::int64_t k, std::int64_t end) {
                               if (together) settle_each<true>(head + k, head + end, rank, settle);
                               else settle_each<false>(head + k, head + end, rank, settle);
                           });
        }
        return static_cast<Index>(head);
    }

  private:
    using Queue = Worklist<true, Index>;

    // Counts arcs to unsettled vertices but the own one, by all workers; queues rows without any.
    void count_arcs() {
        const Index many = limits_.many_arcs;
        run_.team.loop(a_.n_rows, limits_.at_a_time, [&](int rank, Index begin, Index end) {
            WorkCounter counter(run_, rank);
            typename Queue::Writer found(queue_);
            std::fill(&arcs_[begin], &arcs_[end], 0);
            each<Index>(settled_row_, false, begin, end, [&](Index i) {
                Index n = a_.degree(i) - 1;
                for (const Index j : a_.neighbours(i)) n -= settled_col_.test(j);
                arcs_[i] = static_cast<unsigned char>(std::clamp<Index>(n, 0, many));
                if (n <= 0) found.push(i);
                counter.add(n + 1);
            });
        });
    }

    // A part of a level, with other workers or alone.
    template <bool shared, class Settle>
    void settle_each(std::size_t k, std::size_t end, int rank, const Settle& settle) {
        WorkCounter counter(run_, rank);
        typename Queue::Writer found(queue_);
        for (; k < end; ++k) {
            PrefetchAhead<8>::mate_lists(t_, mate_, &queue_[0], k, end);
            const Index i = queue_[k], j = mate_[i];
            SPARSEMATCH_ASSERT(j != UNMATCHED<Index> && !settled_col_.test(j));
            settle(i, static_cast<Index>(k));
            shared ? settled_row_.set_shared(i) : settled_row_.set(i);
            shared ? settled_col_.set_shared(j) : settled_col_.set(j);
            if (!counter.add(t_.degree(j))) return;
            for (const Index other : t_.neighbours(j)) {
                const std::atomic_ref<unsigned char> arcs(arcs_[other]);
                const unsigned char before = arcs.load(std::memory_order_relaxed);
                if (before == 0 || before == limits_.many_arcs) continue;
                // a count neither comes to 0 twice nor becomes `many`
                if (!shared) arcs.store(before - 1, std::memory_order_relaxed);
                if (shared ? arcs.fetch_sub(1, std::memory_order_relaxed) == 1 : before == 1)
                    found.push(other);
            }
        }
    }

    const Csr<Index>&a_, &t_;
    const Index* mate_;
    Bitmap &settled_row_, &settled_col_;
    const BlockLimits& limits_;
    RunContext& run_;
    Buffer<unsigned char> arcs_;  // of each row
    Queue queue_;
};

}  // namespace sparsematch
