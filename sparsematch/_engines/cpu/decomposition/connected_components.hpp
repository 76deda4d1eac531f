// Weakly connected components: rows and columns joined by entries.
#pragma once

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "core/union_find.hpp"

namespace sparsematch {

// Labels ascend with the first row, then column, of a component. Returns how many; nearly linear.
template <class Index>
Index connected_components(const Csr<Index>& a, Index* row_label, Index* col_label,
                           RunContext& run) {
    WorkCounter counter(run);
    const std::size_t n_rows = a.n_rows;
    UnionFind<std::size_t> sets(n_rows + a.n_cols);
    for (Index i = 0; i < a.n_rows && counter.add(1 + a.degree(i)); ++i)
        for (const Index j : a.neighbours(i)) sets.unite(i, n_rows + j);
    Index n = 0;
    const auto label = [&](std::size_t v) -> Index& {
        return v < n_rows ? row_label[v] : col_label[v - n_rows];
    };
    for (std::size_t v = 0; v < sets.size() && counter.add(1); ++v) {  // the root comes first
        const std::size_t root = sets.find(v);
        label(v) = root == v ? n++ : label(root);
    }
    return n;
}

}  // namespace sparsematch
