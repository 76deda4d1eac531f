// Trimming: a vertex without arcs to unsettled ones is a strong component, which can be at the
// end of the block form (McLendon et al., JPDC 65, 2005).
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "decomposition/coarse_parts.hpp"

namespace sparsematch {

// Counts of arcs are kept in a byte: a row with more is left to others, and so is one whose own
// entry is repeated.
template <class Index>
class Trimming {
  public:
    Trimming(const Csr<Index>& a, const Csr<Index>& t, Matching<Index> m, CoarseParts& parts,
             RunContext& run)
        : a_(a), t_(t), m_(m), parts_(parts), counter_(run), arcs_(a.n_rows, 0) {}

    // Settles such vertices over and over. Writes: their component, counting down, to the group of
    // the row. Workspace: a byte and an index per row. Time: O(n_rows + n_cols + nnz).
    void trim(Index* group, Index& component) {
        count_arcs();
        Buffer<Index> queue(static_cast<std::size_t>(a_.n_rows) + 1);
        std::size_t tail = 0;
        each(parts_.settled_row, false, a_.n_rows, [&](Index i) {
            queue[tail] = i;
            tail += arcs_[i] == 0;
        });
        for (std::size_t head = 0; head < tail; ++head) {
            PrefetchAhead<8>::mate_lists(t_, m_.row_mate, queue.data(), head, tail);
            const Index i = queue[head], j = m_.row_mate[i];
            if (!counter_.add(t_.degree(j))) return;
            group[i] = component--;
            parts_.settled_row.set(i);
            parts_.settled_col.set(j);
            for (const Index k : t_.neighbours(j)) {
                const unsigned char before = arcs_[k], after = fewer(before);
                arcs_[k] = after;
                queue[tail] = k;
                tail += after < before && after == 0;
            }
        }
    }

  private:
    static constexpr unsigned char many = 255;
    static unsigned char fewer(unsigned char n) { return n - ((n != 0) & (n != many)); }

    // Arcs to unsettled vertices but the own one: counted where they are, or where few are settled,
    // those to settled ones subtracted.
    void count_arcs() {
        const bool few_settled =
            parts_.settled_col.count() < static_cast<std::size_t>(a_.n_cols) / 4;
        each(parts_.settled_row, false, a_.n_rows, [&](Index i) {
            Index n = a_.degree(i) - 1;
            if (!few_settled)
                for (const Index j : a_.neighbours(i)) n -= parts_.settled_col.test(j);
            arcs_[i] = std::clamp<Index>(n, 0, many);
            counter_.add(n + 1);
        });
        if (few_settled)
            each(parts_.settled_col, true, a_.n_cols, [&](Index j) {
                for (const Index i : t_.neighbours(j)) arcs_[i] = fewer(arcs_[i]);
                counter_.add(t_.degree(j));
            });
    }

    const Csr<Index>&a_, &t_;
    Matching<Index> m_;
    CoarseParts& parts_;
    WorkCounter counter_;
    Buffer<unsigned char> arcs_;  // of each row
};

}  // namespace sparsematch
