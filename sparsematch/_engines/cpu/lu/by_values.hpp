// What a planner asks of the values of a block: how large its diagonal is, which diagonal has the
// largest product, which orders elimination by values finds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "lu/equilibration.hpp"
#include "lu/markowitz.hpp"
#include "lu/pivot_checks.hpp"
#include "weighted/assignment.hpp"

namespace sparsematch {

// A block by columns: rows counted within it, and where its values are.
template <class Index> struct BlockColumns {
    Index n;
    const Index *start, *row;
    const std::int64_t* place;
};

template <class Index> class BlockValues {
  public:
    virtual ~BlockValues() = default;
    virtual bool is_complex() const = 0;
    // Writes: of each column, its diagonal entry over its largest, rows scaled. Returns the share
    // of rows, or of columns if that is less, whose diagonal entry is less than the sum of the
    // others: where none is, no pivot moves. Time: O(nnz).
    virtual double measure(const BlockColumns<Index>& block, double* share) const = 0;
    // Writes: the row that each column has in the transversal with the largest product; by its
    // duals the exponents of rows that make its entries the largest of their columns. False: none
    // without zeros. Time: that of Assignment.
    virtual bool match(const BlockColumns<Index>& block, Index* row_of, int* exponent) const = 0;
    // Writes: what Markowitz::run does; rows scaled by these exponents, or their largest entries.
    virtual bool order(const BlockColumns<Index>& block, const int* exponent, double work,
                       Index* rows, Index* cols, double* stored) const = 0;
};

template <class Index, class Value> class ValuesOf final : public BlockValues<Index> {
  public:
    ValuesOf(const Value* values, RunContext& run) : values_(values), run_(run) {}

    bool is_complex() const override { return !std::is_same_v<Value, double>; }

    double measure(const BlockColumns<Index>& b, double* share) const override {
        const std::vector<double> factor = row_factors(b, [](Value v) { return magnitude(v); });
        std::vector<double> excess(static_cast<std::size_t>(b.n), 0);  // of rows: others less it
        Index loose_cols = 0, loose_rows = 0;
        for (Index c = 0; c < b.n; ++c) {
            double best = 0, diagonal = 0, sum = 0;
            for (Index p = b.start[c]; p < b.start[c + 1]; ++p) {
                const Index r = b.row[p];
                const double v = magnitude(values_[b.place[p]]);
                best = std::max(best, v / factor[r]);
                if (r == c) diagonal = v, excess[r] -= v;
                else sum += v, excess[r] += v;
            }
            share[c] = best > 0 ? diagonal / factor[c] / best : 0;
            loose_cols += diagonal < nearly * sum;
        }
        for (Index r = 0; r < b.n; ++r) loose_rows += excess[r] > (1 - nearly) * factor[r];
        return static_cast<double>(std::min(loose_rows, loose_cols)) / b.n;
    }

    bool match(const BlockColumns<Index>& b, Index* row_of, int* exponent) const override {
        std::vector<Index> start(1), row, col_of(static_cast<std::size_t>(b.n));
        std::vector<double> cost, u(col_of.size()), v(col_of.size());
        for (Index c = 0; c < b.n; ++c) {
            for (Index p = b.start[c]; p < b.start[c + 1]; ++p)
                if (const double size = std::abs(values_[b.place[p]]); size > 0)
                    row.push_back(b.row[p]), cost.push_back(-std::log(size));
            start.push_back(static_cast<Index>(row.size()));
        }
        const Csr<Index> columns{b.n, b.n, start.data(), row.data()};
        if (!solve_assignment(columns, cost.data(), u.data(), {row_of, col_of.data()}, v.data(), {},
                              run_))
            return false;
        for (Index r = 0; r < b.n; ++r)
            exponent[r] = static_cast<int>(
                std::clamp(std::rint(v[r] / std::log(2.0)), -1.0 * no_seed, no_seed - 1.0));
        return true;
    }

    bool order(const BlockColumns<Index>& b, const int* exponent, double work, Index* rows,
               Index* cols, double* stored) const override {
        const Index nnz = b.start[b.n];
        const auto factor = row_factors(b, [](Value v) { return largest_part(v); });
        std::vector<Value> scaled(static_cast<std::size_t>(nnz));
        for (Index p = 0; p < nnz; ++p) {
            const Index r = b.row[p];
            scaled[p] = values_[b.place[p]] *
                        shared_factor(exponent ? exponent[r] : -exponent_of(factor[r]));
        }
        WorkCounter counter(run_);
        return Markowitz<Index, Value>().run(b.n, b.start, b.row, scaled.data(),
                                             {work, static_cast<double>(nnz)}, rows, cols, stored,
                                             counter);
    }

  private:
    static constexpr double nearly = 1 - 1e-6;  // sums of rows that are zero are rounded
    // The largest entry of each row; 1 where it is zero.
    template <class Size>
    std::vector<double> row_factors(const BlockColumns<Index>& b, const Size& size) const {
        std::vector<double> most(static_cast<std::size_t>(b.n), 0);
        for (Index p = 0; p < b.start[b.n]; ++p)
            most[b.row[p]] = std::max(most[b.row[p]], size(values_[b.place[p]]));
        for (double& m : most) m = m > 0 ? m : 1;
        return most;
    }

    const Value* values_;
    RunContext& run_;
};

// By the duals of the transversal of the largest product, exponents of the rows of a block; none if
// it has no such transversal without zeros. Values: of the matrix, or of the diagonal blocks alone.
template <class Index, class Value>
std::vector<int> product_exponents(const BlockPlan<Index>& plan, Index k, const Value* values,
                                   bool of_matrix, RunContext& run) {
    const Index first = plan.starts[k], end = plan.starts[k + 1];
    const auto from = plan.inner_start[first];
    std::vector<Index> start, row_of(end - first);
    std::vector<std::int64_t> place;
    for (Index c = first; c <= end; ++c) start.push_back(plan.inner_start[c] - from);
    for (Index c = first; c < end; ++c)
        plan.each_inner(c, [&](Index p, Index in) { place.push_back(of_matrix ? in : p); });
    std::vector<int> out(row_of.size());
    const BlockColumns<Index> block{end - first, start.data(), plan.inner_row.data() + from,
                                    place.data()};
    if (!ValuesOf<Index, Value>(values, run).match(block, row_of.data(), out.data())) out.clear();
    return out;
}

}  // namespace sparsematch
