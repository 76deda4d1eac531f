// Whether factors are so small beside their matrix that no solution by them can lose more than some
// two digits, whatever the right-hand side: then solutions need no measuring.
//
// What is computed solves (A + E) x = b with |E| <= 3 c u |L| |U|, c the terms of the longest inner
// product. So with h the largest quotient of the sums of a column of |L| |U| and of one of |A|, the
// residual is at most 3 c u h times |A| |x| in the 1-norm; in practice below u h, as errors of
// different signs cancel. Columns are compared one by one, so units of unknowns do not count. Those
// of equations do, so sums are made of the scaled blocks and of the user's matrix: the first
// protects rows of small entries, the second is what a normwise error of the user's system is.
// Blocks of one row need no sums: the residual of a row is some roundings of its own terms.
//
// Higham, Accuracy and Stability of Numerical Algorithms (2nd ed., 2002), Theorem 9.4; Higham,
// Mary, A new approach to probabilistic rounding error analysis (SISC 41, 2019) for the constant.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "lu/gilbert_peierls.hpp"
#include "lu/pivot_checks.hpp"

namespace sparsematch {

template <class Index, class Value>
class FactorSizes {
  public:
    // Of |L| |U| beside |A|, up to which factors are small. On 90 real matrices, normwise errors
    // were below 3e-15 up to here, as SuperLU's by partial pivoting were; above, up to 1e-12.
    static constexpr double limit = 128;

    // columns: the matrix that was factorised, of which a are the values.
    FactorSizes(const BlockLU<Index, Value>& lu, const Csr<Index>& columns, const Value* a)
        : lu_(lu), columns_(columns), a_(a), l_(lu.size()), unit_(lu.size()) {}

    // False, too, where a block was left to an external solver. Time: O(nnz + entries of L, U).
    bool are_small() {
        for (Index k = 0; k < lu_.plan.n_blocks(); ++k)
            if (lu_.plan.external[k] > 0 || (lu_.plan.size(k) > 1 && !are_small_in(k)))
                return false;
        return true;
    }

  private:
    // Sums of absolute values of a column: of rows as they were scaled, and as the user's.
    struct Sums {
        double scaled = 0, users = 0;

        void add(double size, const Sums& weight) {
            scaled += size * weight.scaled, users += size * weight.users;
        }
    };

    bool are_small_in(Index k) {
        const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
        for (Index c = first; c < end; ++c) unit_[c] = {1, 1 / lu_.pivot_row_factor[c]};
        for (Index c = first; c < end; ++c) {
            Sums below = unit_[c], factors;
            for (auto p = lu_.l_start[c]; p < lu_.l_start[c + 1]; ++p)
                below.add(magnitude(lu_.l[p]), unit_[lu_.l_row[p]]);
            l_[c] = below;
            factors.add(magnitude(lu_.pivot[c]), below);
            for (auto p = lu_.u_start[c]; p < lu_.u_end[c]; ++p)
                factors.add(magnitude(lu_.u[p]), l_[lu_.u_row[p]]);
            const Sums whole = column(c);
            if (!(factors.scaled <= limit * whole.scaled && factors.users <= limit * whole.users))
                return false;
        }
        return true;
    }
    Sums column(Index c) const {
        Sums out;
        for (auto p = lu_.plan.inner_start[c]; p < lu_.plan.inner_start[c + 1]; ++p)
            out.scaled += magnitude(lu_.equilibration.inner[p]);
        const Index j = lu_.plan.col_perm[c];
        for (Index p = columns_.indptr[j]; p < columns_.indptr[j + 1]; ++p)
            out.users += magnitude(a_[p]);
        out.users *= lu_.equilibration.col_factor[c];
        return out;
    }

    const BlockLU<Index, Value>& lu_;
    const Csr<Index>& columns_;
    const Value* a_;
    std::vector<Sums> l_, unit_;
};

}  // namespace sparsematch
