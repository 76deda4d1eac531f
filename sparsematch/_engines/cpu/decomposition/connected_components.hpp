// Weakly connected components: rows and columns joined by entries, and units for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

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

// Exponents beyond any of a quotient of doubles, and of what there is not.
constexpr int far = 5000, beyond = 3 * far;
// The middle of the exponents of each component, 0 where it has none.
struct Middle {
    explicit Middle(std::size_t n) : high(n, -beyond), low(n, beyond) {}
    void add(std::size_t label, int e) {
        if (e <= -far || e >= far) return;
        high[label] = std::max(high[label], e), low[label] = std::min(low[label], e);
    }
    int of(std::size_t label) const { return (high[label] + low[label]) >> 1; }
    std::vector<int> high, low;
};

// Reads the exponents of A, by columns, and of right-hand sides, by rows, `beyond` where they are
// zero. Writes the component of each row and column, the exponent of the unit of each column's
// entries, and those of the elements of b and of x. Time: O(nnz) for each right-hand side.
template <class Index>
void component_units(const Csr<Index>& a, const int* size, const int* of_b, std::int64_t width,
                     Index* row_label, Index* col_label, int* unit, int* unit_of_b, int* unit_of_x,
                     RunContext& run) {
    WorkCounter counter(run);
    const Index n = connected_components(a, col_label, row_label, run);
    const auto each_entry = [&](const auto& visit) {
        for (Index j = 0; j < a.n_rows && counter.add(1 + a.degree(j)); ++j)
            for (auto p = a.indptr[j]; p < a.indptr[j + 1]; ++p) visit(a.indices[p], j, size[p]);
    };
    const auto raise = [](int& most, int e) { most = std::max(most, e); };
    std::vector<int> in_row(a.n_cols, -beyond), in_col(a.n_rows, -beyond);
    each_entry([&](Index i, Index j, int e) { raise(in_row[i], e), raise(in_col[j], e); });
    Middle of_entries(n);
    for (Index i = 0; i < a.n_cols; ++i) of_entries.add(row_label[i], in_row[i]);
    for (Index j = 0; j < a.n_rows; ++j) of_entries.add(col_label[j], in_col[j]);
    for (Index j = 0; j < a.n_rows; ++j) unit[j] = of_entries.of(col_label[j]);
    for (std::int64_t k = 0; k < width; ++k) {
        // unless terms cancel, none is larger than the element of b
        std::vector<int> at_most(a.n_rows, beyond), term(n, -beyond), known(a.n_cols, -beyond);
        each_entry([&](Index i, Index j, int e) {
            at_most[j] = std::min(at_most[j], of_b[i * width + k] - e);
        });
        // columns that meet zeros of b only: with terms as large as others of a row, which cancel
        each_entry([&](Index i, Index j, int e) {
            if (at_most[j] < far) raise(known[i], at_most[j] + e);
        });
        auto beside = at_most;
        each_entry([&](Index i, Index j, int e) {
            if (at_most[j] >= far && known[i] > -far) beside[j] = std::min(beside[j], known[i] - e);
        });
        for (Index j = 0; j < a.n_rows; ++j)
            if (beside[j] < far) raise(term[col_label[j]], beside[j] + in_col[j]);
        Middle of_x(n);  // or with terms as large as others of the component
        for (Index j = 0; j < a.n_rows; ++j)
            of_x.add(col_label[j], beside[j] < far ? beside[j] : term[col_label[j]] - in_col[j]);
        for (Index i = 0; i < a.n_cols; ++i)
            unit_of_b[i * width + k] = of_x.of(row_label[i]) + of_entries.of(row_label[i]);
        // where b is zero x is, too, and not what rounding errors of other components leave there
        for (Index j = 0; j < a.n_rows; ++j)
            unit_of_x[j * width + k] = term[col_label[j]] > -far ? of_x.of(col_label[j]) : -far;
    }
}

}  // namespace sparsematch
