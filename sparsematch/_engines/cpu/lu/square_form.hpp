// The block form of a square matrix with a perfect matching, which comes by columns: what other
// packages call a row is a column here, and block lower triangular is block upper.
#pragma once

#include <numeric>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "decomposition/block_form_check.hpp"
#include "decomposition/block_permutation.hpp"
#include "decomposition/strong_components.hpp"

namespace sparsematch {

// A block form without horizontal and vertical parts: the permuted matrix is A[row_perm][:,
// col_perm], block k is its rows and columns starts[k]...starts[k + 1] - 1.
template <class Index> struct SquareForm {
    std::vector<Index> row_perm, col_perm, starts;
    Index n_blocks() const { return static_cast<Index>(starts.size()) - 1; }
};

// The strong components, rows ascending within each. a: the columns; col_of: the mate of each of
// the user's rows. Of no use if the run was stopped. Time: O(n + nnz).
template <class Index>
SquareForm<Index> form_of_matching(const Csr<Index>& a, const Index* col_of, RunContext& run) {
    const Index n = a.n_rows;
    const auto size = static_cast<std::size_t>(n);
    std::vector<Index> number(size);
    Buffer<Arcs<Index>> arcs(size);
    for (Index i = 0; i < n; ++i) arcs[i] = {a.indptr[col_of[i]], a.indptr[col_of[i] + 1]};
    Index lowest = n;  // numbers count down to here, sinks first
    StrongComponents<Index>(number.data(), arcs.data(), a.indices, size).find(0, n, lowest, run);
    const Index n_blocks = n - lowest;
    if (run.stopped()) return {};
    for (Index& k : number) k = n - k;
    SquareForm<Index> out{std::vector<Index>(size), std::vector<Index>(size),
                          std::vector<Index>(n_blocks + std::size_t{1})};
    sort_by_label(number.data(), n, n_blocks, out.row_perm.data(), out.starts.data(), run);
    for (std::size_t k = 0; k < size; ++k) out.col_perm[k] = col_of[out.row_perm[k]];
    return out;
}

// All in one block, whether or not there is a finer form; arguments as above. Time: O(n).
template <class Index> SquareForm<Index> one_block(const Csr<Index>& a, const Index* col_of) {
    const Index n = a.n_rows;
    SquareForm<Index> out{std::vector<Index>(n), std::vector<Index>(col_of, col_of + n), {0}};
    std::iota(out.row_perm.begin(), out.row_perm.end(), Index{0});
    if (n > 0) out.starts.push_back(n);
    return out;
}

// Whether a form is the block triangular form of a matrix, which comes by columns; its rows and
// columns are all matched. Time: O(n + nnz).
template <class Index>
bool is_certified(const Csr<Index>& a, const SquareForm<Index>& form, RunContext& run) {
    const Index n = a.n_rows, n_blocks = form.n_blocks();
    std::vector<Index> col_mate(n), row_mate(n), col_block(n), row_block(n);
    for (Index k = 0; k < n_blocks; ++k)
        for (Index c = form.starts[k]; c < form.starts[k + 1]; ++c) {
            const Index i = form.row_perm[c], j = form.col_perm[c];
            col_mate[j] = i, row_mate[i] = j;
            col_block[j] = row_block[i] = n_blocks - 1 - k;
        }
    const Matching<Index> m{col_mate.data(), row_mate.data()};
    return BlockFormCheck<Index>(a, m, col_block.data(), row_block.data(), n_blocks).holds(run);
}

}  // namespace sparsematch
