// Transversals with the largest product, or of least cost, of many matrices with one pattern.
//
// Each of many is matched by one thread, from its own costs and the same given matching and duals
// (initial_duals.hpp): so results depend neither on the number of threads nor on which was first.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "weighted/entry_values.hpp"
#include "weighted/least_cost_matching.hpp"
#include "weighted/scale_factors.hpp"

namespace sparsematch {

// What is written of a matrix, by stored rows and columns. Scales are null where none are wanted.
template <class Index> struct ProductResult {
    Matching<Index> mates;
    double *u, *v, *row_scale, *col_scale;
    bool flipped;  // see ScaleFactors

    // What stands some rows and columns further on: that of another matrix.
    ProductResult after(std::int64_t rows, std::int64_t cols) const {
        ProductResult to = *this;
        to.mates.row_mate += rows, to.mates.col_mate += cols, to.u += rows, to.v += cols;
        if (row_scale) to.row_scale += rows, to.col_scale += cols;
        return to;
    }
};

// The costs of values, by all workers. Time: O(nnz).
template <class Index>
Buffer<double> product_costs(const Csr<Index>& a, const double* value, RunContext& run) {
    const auto timer = run.time("logarithms");
    Buffer<double> cost(a.nnz());
    run.team.loop(a.nnz(), 1 << 16, [&](int, std::size_t begin, std::size_t end) {
        write_costs(value + begin, &cost[begin], end - begin);
    });
    return cost;
}

// Returns the sum of the logarithms, and whether all factors are in the range of doubles.
// Time: that of LeastCostMatching.
template <class Index>
std::pair<double, bool> largest_product(const Csr<Index>& a, const double* value,
                                        const double* cost, const ProductResult<Index>& to,
                                        const AssignmentPolicy& policy, bool warm,
                                        RunContext& run) {
    LeastCostMatching<Index>(a, cost, to.mates, to.u, to.v, policy, run).solve(warm);
    const auto timer = run.time(to.row_scale ? "scale factors" : "objective");
    Buffer<Index> place(a.n_rows);
    if (run.stopped() || !matched_entries(a, to.mates.row_mate, place.data(), run))
        return {0, true};
    const double objective = 0.0 - sum_at(cost, place.data(), a.n_rows);  // no negative zero
    if (!to.row_scale) return {objective, true};
    ScaleFactors f{to.u, to.v, to.row_scale, to.col_scale, to.flipped};
    if (f.flipped) std::swap(f.row_dual, f.col_dual), std::swap(f.row_scale, f.col_scale);
    return {objective, write_factors(a, value, place.data(), f, run)};
}

// Arrays of all matrices, one after the other: n_rows, n_cols, or one number for each.
template <class Index> struct ProductBatch {
    const double* value;  // n_values for each matrix: as many as entries if in order
    std::int64_t n_values;
    const std::int64_t* order;  // which of these each entry of the pattern has; or null: in order
    ProductResult<Index> to;    // where the first begins
    double* objective;          // sum of logarithms, or of costs
    bool* in_range;             // whether all factors are
    const Index* first_mates;   // of rows, and duals of columns, to begin with; or null
    const double* first_v;
    bool auction_first;
    bool costs;  // values are costs, infinite ones no entries; else they are not finite
};

template <class Index> class ProductBatchSearch {
  public:
    ProductBatchSearch(const Csr<Index>& a, const ProductBatch<Index>& batch, RunContext& run)
        : a_(a), batch_(batch), run_(run), policy_{.auction_first = batch.auction_first},
          workspaces_(run.team.size()) {}

    // Writes the results of n matrices. Returns the first that has a value that is not finite, or n
    // if there is none; the results of others after it may be missing. Workspace: for each thread
    // a double an entry, another and an index where some are zero, and that of LeastCostMatching.
    std::int64_t solve(std::int64_t n) {
        std::atomic<std::int64_t> bad{n};
        run_.team.loop(n, 1, [&](int rank, std::int64_t begin, std::int64_t end) {
            auto& space = workspaces_[rank];
            if (!space) space = std::make_unique<Workspace>(a_, run_, rank);
            for (std::int64_t k = begin; k < end && k < bad && !run_.stopped(); ++k) {
                const double* value = batch_.value + k * batch_.n_values;
                if (!(batch_.costs ? space->read_costs(value, batch_.order, a_)
                                   : space->read(value, batch_.order, a_))) {
                    std::int64_t first = bad;
                    while (k < first && !bad.compare_exchange_weak(first, k)) {
                    }
                } else {
                    solve_one(*space, k);
                }
                run_.flush(a_.nnz(), rank);
            }
        });
        return bad;
    }

    // Passes over the pattern that were made so far, for all matrices.
    double passes() const {
        std::int64_t edges = 0;
        for (const auto& space : workspaces_) edges += space ? space->run.edges() : 0;
        return static_cast<double>(edges) / std::max<double>(1, a_.nnz() + a_.n_rows);
    }

  private:
    // What one thread needs for one matrix after the other.
    struct Workspace : LoneRun {
        Workspace(const Csr<Index>& a, RunContext& outer, int rank)
            : LoneRun(outer, rank), cost(a.nnz()) {}

        // The costs of values, and the pattern of what is not zero. False: one is not finite.
        bool read(const double* given, const std::int64_t* order, const Csr<Index>& a) {
            const auto nnz = static_cast<std::size_t>(a.nnz());
            value = given;
            if (order) {
                value = room(nnz);
                for (std::size_t p = 0; p < nnz; ++p) kept[p] = given[order[p]];
            }
            const auto found = read_values(value, 0, nnz);
            if (!(found.largest < infinity)) return false;
            pattern = a;
            if (found.least == 0) {
                double* to = room(nnz);
                leave_out(a, value, to, 0);
                value = to;
            }
            write_costs(value, cost.data(), static_cast<std::size_t>(pattern.nnz()));
            return true;
        }

        // Costs, and the pattern of finite ones. False: NaN, or one too large for finite duals.
        bool read_costs(const double* value, const std::int64_t* order, const Csr<Index>& a) {
            bool good = true, all = true;
            for (Index p = 0; p < a.nnz(); ++p) {
                const double c = cost[p] = value[order ? order[p] : p];
                good &= c == infinity || std::abs(c) < 0x1p900;
                all &= c != infinity;
            }
            pattern = a;
            if (good && !all) leave_out(a, cost.data(), cost.data(), infinity);
            return good;
        }

        // For values in another order, or without those that are left out.
        double* room(std::size_t nnz) {
            if (kept.size() < nnz) kept = Buffer<double>(nnz);
            return kept.data();
        }

        void leave_out(const Csr<Index>& a, const double* from, double* to, double absent) {
            if (indptr.size() == 0)
                indptr = Buffer<Index>(static_cast<std::size_t>(a.n_rows) + 1),
                indices = Buffer<Index>(a.nnz());
            Index n = indptr[0] = 0;
            for (Index i = 0; i < a.n_rows; ++i) {
                for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
                    indices[n] = a.indices[p], to[n] = from[p];  // no branch: any may be absent
                    n += to[n] != absent;
                }
                indptr[i + 1] = n;
            }
            pattern = {a.n_rows, a.n_cols, indptr.data(), indices.data()};
        }

        Csr<Index> pattern{};
        const double* value = nullptr;  // of the pattern
        Buffer<double> cost, kept;
        Buffer<Index> indptr, indices;  // and kept: made when the first entry is left out
    };

    void solve_one(Workspace& space, std::int64_t k) {
        const Csr<Index>& a = space.pattern;
        const auto to = batch_.to.after(k * a.n_rows, k * a.n_cols);
        const bool warm = batch_.first_v != nullptr;
        if (warm) {
            std::copy_n(batch_.first_mates, a.n_rows, to.mates.row_mate);
            std::copy_n(batch_.first_v, a.n_cols, to.v);
        }
        const auto [objective, in_range] =
            largest_product(a, space.value, space.cost.data(), to, policy_, warm, space.run);
        batch_.objective[k] = batch_.costs ? 0.0 - objective : objective;
        if (to.row_scale) batch_.in_range[k] = in_range;
    }

    const Csr<Index>& a_;
    const ProductBatch<Index> batch_;
    RunContext& run_;
    const AssignmentPolicy policy_;
    std::vector<std::unique_ptr<Workspace>> workspaces_;
};

}  // namespace sparsematch
