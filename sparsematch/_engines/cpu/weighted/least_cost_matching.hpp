// A maximum matching of least cost of any matrix, and duals that prove it.
//
// An assignment matches every row. That is the whole problem where the rows, or the columns, can
// all be matched. Elsewhere the vertical part of the Dulmage-Mendelsohn decomposition and the rest
// make two such problems of it: a maximum matching pairs all columns of the vertical part with rows
// of it, and all other rows with other columns. The duals of the rest are then shifted against
// those of the vertical part, until entries that couple the two are feasible, and unmatched rows
// and columns have the largest duals of their side.
// Dulmage, Mendelsohn: Coverings of bipartite graphs (Can. J. Math. 10, 1958).
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/certificates.hpp"
#include "core/csr.hpp"
#include "matching/ms_bfs_graft.hpp"
#include "weighted/assignment.hpp"

namespace sparsematch {

// The entries of some rows and columns, renumbered, with their costs and what is found for them.
template <class Index> struct AssignmentPart {
    std::vector<Index> rows, cols;  // of the whole, by ascending number
    Buffer<Index> indptr, indices, row_mate, col_mate;
    Buffer<double> cost, u, v;

    // Every row is matched; as columns of the part if the part is transposed.
    bool solve(bool transposed, const AssignmentPolicy& policy, RunContext& run) {
        row_mate = Buffer<Index>(rows.size()), col_mate = Buffer<Index>(cols.size());
        u = Buffer<double>(rows.size()), v = Buffer<double>(cols.size());
        Matching<Index> m{row_mate.data(), col_mate.data()};
        double *first = u.data(), *second = v.data();
        if (transposed) m = m.flipped(), std::swap(first, second);
        const Csr<Index> a{static_cast<Index>(transposed ? cols.size() : rows.size()),
                           static_cast<Index>(transposed ? rows.size() : cols.size()),
                           indptr.data(), indices.data()};
        return solve_assignment(a, cost.data(), first, m, second, policy, run);
    }
};

// The chosen rows of a matrix, of them the entries in columns that have a number; by columns if
// transposed. Time: O(n_rows + their entries).
template <class Index>
void copy_entries(const Csr<Index>& a, const double* cost, const Index* number, bool transposed,
                  AssignmentPart<Index>& part, RunContext& run) {
    const auto timer = run.time(transposed ? "transposing" : "copying");
    Buffer<Index>& indptr = part.indptr;
    indptr = Buffer<Index>((transposed ? part.cols : part.rows).size() + 1, 0);
    const auto each_entry = [&](const auto& use) {
        for (std::size_t k = 0; k < part.rows.size(); ++k) {
            const auto i = static_cast<Index>(k);
            for (Index p = a.indptr[part.rows[k]]; p < a.indptr[part.rows[k] + 1]; ++p)
                if (const Index j = number[a.indices[p]]; j != UNMATCHED<Index>)
                    transposed ? use(j, i, p) : use(i, j, p);
        }
    };
    each_entry([&](Index i, Index, Index) { ++indptr[i + 1]; });
    std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
    const auto nnz = static_cast<std::size_t>(indptr.end()[-1]);
    part.indices = Buffer<Index>(nnz), part.cost = Buffer<double>(nnz);
    each_entry([&](Index i, Index j, Index p) {
        part.indices[indptr[i]] = j;
        part.cost[indptr[i]++] = cost[p];
    });
    std::copy_backward(indptr.begin(), indptr.end() - 1, indptr.end());
    indptr[0] = 0;
}

template <class Index> class LeastCostMatching {
  public:
    LeastCostMatching(const Csr<Index>& a, const double* cost, Matching<Index> m, double* u,
                      double* v, const AssignmentPolicy& policy, RunContext& run)
        : a_(a), cost_(cost), m_(m), u_(u), v_(v), policy_(policy), run_(run) {}

    // Writes mates and duals: u + v is at most the cost of an entry, and that of matched ones; no
    // dual is above that of an unmatched row or column. False: stopped. Time and workspace: those
    // of Assignment, and a copy of the matrix if there are more rows than columns, or neither all
    // rows nor all columns can be matched. warm: the mates of rows and v hold those of a matrix
    // with similar costs, to begin with where both sides can be matched; none need be right.
    bool solve(bool warm) {
        if (!solve_whole(warm) && !run_.stopped() && !solve_parts()) return false;
        balance();
        return !run_.stopped();
    }

  private:
    using Part = AssignmentPart<Index>;

    // False if the smaller side cannot be matched; the matching is valid all the same.
    bool solve_whole(bool warm) {
        if (a_.n_rows <= a_.n_cols)
            return solve_assignment(a_, cost_, u_, m_, v_, policy_, run_, warm);
        Part whole;
        for (Index i = 0; i < a_.n_rows; ++i) whole.rows.push_back(i);
        for (Index j = 0; j < a_.n_cols; ++j) whole.cols.push_back(j);
        copy_entries(a_, cost_, whole.cols.data(), true, whole, run_);
        const bool found = whole.solve(true, policy_, run_);
        write(whole);
        return found;
    }

    bool solve_parts() {
        Bitmap row_below(a_.n_rows), col_below(a_.n_cols);
        {
            const auto timer = run_.time("coarse parts");
            ms_bfs_graft<Index>(a_, nullptr, m_, {}, run_);
            if (run_.stopped() || !reach_from_free(a_, m_, row_below, col_below, run_))
                return false;
        }
        Buffer<Index> number(a_.n_cols);
        for (const bool below : {false, true}) {
            Part part;
            for (Index i = 0; i < a_.n_rows; ++i)
                if (row_below.test(i) == below) part.rows.push_back(i);
            for (Index j = 0; j < a_.n_cols; ++j) {
                const bool chosen = col_below.test(j) == below;
                number[j] = chosen ? static_cast<Index>(part.cols.size()) : UNMATCHED<Index>;
                if (chosen) part.cols.push_back(j);
            }
            copy_entries(a_, cost_, number.data(), below, part, run_);
            if (!part.solve(below, policy_, run_)) return false;
            write(part);
        }
        join(row_below, col_below);
        return true;
    }

    void write(const Part& part) {
        const auto whole = [](const std::vector<Index>& of, Index k) {
            return k == UNMATCHED<Index> ? k : of[k];
        };
        for (std::size_t k = 0; k < part.rows.size(); ++k) {
            m_.row_mate[part.rows[k]] = whole(part.cols, part.row_mate[k]);
            u_[part.rows[k]] = part.u[k];
        }
        for (std::size_t k = 0; k < part.cols.size(); ++k) {
            m_.col_mate[part.cols[k]] = whole(part.rows, part.col_mate[k]);
            v_[part.cols[k]] = part.v[k];
        }
    }

    // Shifts the duals of the rest, whose columns may be unmatched, against those of the vertical
    // part, whose rows may be.
    void join(const Bitmap& row_below, const Bitmap& col_below) {
        const auto timer = run_.time("joining");
        double shift = 0, row_most = -infinity, col_most = -infinity, free_row = infinity,
               free_col = infinity;
        for (Index i = 0; i < a_.n_rows; ++i) {
            if (m_.row_mate[i] == UNMATCHED<Index>) free_row = std::min(free_row, u_[i]);
            if (row_below.test(i)) continue;
            row_most = std::max(row_most, u_[i]);
            for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p)
                if (const Index j = a_.indices[p]; col_below.test(j))
                    shift = std::max(shift, u_[i] + v_[j] - cost_[p]);
        }
        for (Index j = 0; j < a_.n_cols; ++j) {
            if (m_.col_mate[j] == UNMATCHED<Index>) free_col = std::min(free_col, v_[j]);
            if (col_below.test(j)) col_most = std::max(col_most, v_[j]);
        }
        shift = std::max({shift, row_most - free_row, col_most - free_col});
        move(
            shift, [&](Index i) { return !row_below.test(i); },
            [&](Index j) { return !col_below.test(j); });
    }

    // Duals of both sides around one value: nothing else depends on it. Whole duals stay whole.
    void balance() {
        if (a_.n_rows == 0 || a_.n_cols == 0) return;
        const auto middle = [](const double* x, Index n) {  // twice it; minmax_element branches
            double least = x[0], most = x[0];
            for (Index k = 1; k < n; ++k)
                least = std::min(least, x[k]), most = std::max(most, x[k]);
            return most + least;
        };
        const double shift = std::nearbyint((middle(u_, a_.n_rows) - middle(v_, a_.n_cols)) / 4);
        const auto all = [](Index) { return true; };
        move(shift, all, all);
    }

    template <class OfRow, class OfCol>
    void move(double shift, const OfRow& of_row, const OfCol& of_col) {
        for (Index i = 0; i < a_.n_rows; ++i) u_[i] -= of_row(i) ? shift : 0;
        for (Index j = 0; j < a_.n_cols; ++j) v_[j] += of_col(j) ? shift : 0;
    }

    const Csr<Index>& a_;
    const double* cost_;
    Matching<Index> m_;
    double *u_, *v_;
    const AssignmentPolicy policy_;
    RunContext& run_;
};

}  // namespace sparsematch
