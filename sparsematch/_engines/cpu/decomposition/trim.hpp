// Trimming: a vertex without arcs to unsettled ones is a strong component, which can be at the end
// of the block form (McLendon et al., JPDC 65, 2005). Those that can be at the beginning, without
// arcs from unsettled ones, are left to depth-first search, which finds them about as fast.
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/limits.hpp"

namespace sparsematch {

// The lists of `a` have what follows, those of `t` what is before. Counts of arcs are kept in a
// byte: a row with more is left to others, and so is one whose own entry is repeated.
template <class Index>
class Trimming {
  public:
    Trimming(const Csr<Index>& a, const Csr<Index>& t, const Index* mate, CoarseParts& parts,
             const BlockLimits& limits)
        : a_(a), t_(t), mate_(mate), parts_(parts), many_(limits.many_arcs),
          at_a_time_(limits.at_a_time), arcs_(a.n_rows, 0) {}

    // Trims what is not settled. Writes the component of each row that it settles to its group,
    // from `last` downwards. Workspace: a byte and an index per row. Time: O(n_rows + n_cols +
    // nnz).
    void trim(Index* group, Index& last, RunContext& run) {
        count_arcs(run);
        Buffer<Index> queue(static_cast<std::size_t>(a_.n_rows) + 1);
        std::size_t tail = 0;
        each(parts_.settled_row, false, a_.n_rows, [&](Index i) {
            queue[tail] = i;
            tail += arcs_[i] == 0;
        });
        WorkCounter counter(run);
        for (std::size_t head = 0; head < tail; ++head) {
            PrefetchAhead<8>::mate_lists(t_, mate_, queue.data(), head, tail);
            const Index i = queue[head], j = mate_[i];
            group[i] = last--;
            parts_.settled_row.set(i);
            parts_.settled_col.set(j);
            if (!counter.add(t_.degree(j))) return;
            for (const Index k : t_.neighbours(j)) {
                const unsigned char before = arcs_[k], after = fewer(before);
                arcs_[k] = after;
                queue[tail] = k;
                tail += after < before && after == 0;
            }
        }
    }

  private:
    // Counts arcs to unsettled vertices but the own one. By all workers.
    void count_arcs(RunContext& run) {
        run.team.loop(a_.n_rows, at_a_time_, [&](int rank, std::int64_t begin, std::int64_t end) {
            WorkCounter counter(run, rank);
            each<Index>(parts_.settled_row, false, begin, end, [&](Index i) {
                Index n = a_.degree(i) - 1;
                for (const Index j : a_.neighbours(i)) n -= parts_.settled_col.test(j);
                arcs_[i] = std::clamp<Index>(n, 0, many_);
                counter.add(n + 1);
            });
        });
    }
    unsigned char fewer(unsigned char n) const { return n - ((n != 0) & (n != many_)); }

    const Csr<Index>&a_, &t_;
    const Index* mate_;
    CoarseParts& parts_;
    const unsigned char many_;
    const std::int64_t at_a_time_;
    Buffer<unsigned char> arcs_;  // of each row
};

}  // namespace sparsematch
