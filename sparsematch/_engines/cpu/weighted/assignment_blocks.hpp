// An assignment by the blocks of its pattern.
//
// Entries between the diagonal blocks of the block triangular form are in no matching of all rows:
// without them each block is a smaller assignment. They still bind the duals: adding a potential to
// the row duals of a block, and taking it from the column duals, changes no reduced cost within it,
// and an entry from block g to a later h is feasible if the potential of h is that of g at least,
// and what the entry exceeds its duals by. So potentials are longest paths from block to block,
// found in one pass in the form's order. In a wide matrix the horizontal part is the first block,
// and potentials also keep duals of other columns at most those of its free ones.
// Duff, Koster: On algorithms for permuting large entries to the diagonal of a sparse matrix (SIAM
// J. Matrix Anal. Appl. 22, 2001), section 5: block triangular forms first. Pothen, Fan: Computing
// the block triangular form of a sparse matrix (ACM TOMS 16, 1990).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "decomposition/block_permutation.hpp"
#include "decomposition/dulmage_mendelsohn.hpp"
#include "weighted/assignment_state.hpp"

namespace sparsematch {

template <class Index> class AssignmentBlocks {
  public:
    // The blocks of the state's matrix, all rows of which are matched by m, along any entries.
    // Time and workspace: O(n_rows + n_cols + nnz).
    AssignmentBlocks(AssignmentState<Index>& s, Matching<Index> m) : s_(s), group_(s.a.n_rows) {
        SPARSEMATCH_ASSERT(!any_free(m.row_mate, s.a.n_rows));
        const Index n_square = block_labels<Index>(s.a, nullptr, m, group_.data(), s.run);
        if (s.run.stopped()) return;
        last_ = n_square;
        list(m);
    }

    // Whether the largest has at most half of the rows: else what is left is as hard as the whole.
    bool worthwhile() const {
        Index most = 0;
        for (Index g = 0; g <= last_; ++g)
            most = std::max<Index>(most, row_start_[g + 1] - row_start_[g]);
        return most <= s_.a.n_rows / 2;
    }

    // solve(block) matches all rows of a block, whose state begins as the whole one was. Leaves
    // the matching and duals of the whole. Blocks are solved side by side, but those that leave too
    // few others for that, by all workers one after the other. False: the run was stopped.
    template <class Solve> bool solve(const Solve& solve) {
        const Index first = s_.wide() ? 0 : 1;
        // rows: half of a worker's share; not varied
        const auto large = static_cast<Index>(s_.a.n_rows / (2 * s_.run.team.size()));
        const auto is_large = [&](Index g) { return s_.shared && n_rows_of(g) > large; };
        std::vector<std::unique_ptr<Worker>> workers(s_.run.team.size());
        std::atomic<bool> done{true};
        const auto worker_of = [&](int rank) -> Worker& {
            if (!workers[rank]) workers[rank] = std::make_unique<Worker>(s_.run, rank);
            return *workers[rank];
        };
        s_.run.team.even_loop(last_ + 1 - first, 1, 64, [&](int rank, Index begin, Index end) {
            Worker& own = worker_of(rank);
            for (Index g = first + begin; g < first + end && done; ++g)
                if (!is_large(g) && !solve_block(g, own, own.run, solve)) done = false;
        });
        for (Index g = first; g <= last_ && done; ++g)
            if (is_large(g) && !solve_block(g, worker_of(0), s_.run, solve)) done = false;
        for (const auto& worker : workers) {
            if (!worker) continue;
            s_.work += worker->work;
            for (const auto& [i, j] : worker->matched) s_.match(i, j);
        }
        s_.free.clear();
        return done && shift();
    }

  private:
    // Row i is in block group_[i]: 0 for the horizontal part, then one after the other. Columns
    // have the block of their row, free ones are in the horizontal part.
    void list(Matching<Index> m) {
        const Index n_rows = s_.a.n_rows, n_cols = s_.a.n_cols;
        rows_ = Buffer<Index>(n_rows), cols_ = Buffer<Index>(n_cols);
        col_group_ = Buffer<Index>(n_cols), number_ = Buffer<Index>(n_cols);
        row_start_.resize(last_ + 2), col_start_.resize(last_ + 2);
        for (Index j = 0; j < n_cols; ++j) {
            const Index i = m.col_mate[j];
            col_group_[j] = i == UNMATCHED<Index> ? 0 : group_[i];
        }
        const Index n = last_ + 1;
        sort_by_label(group_.data(), n_rows, n, rows_.data(), row_start_.data(), s_.run);
        sort_by_label(col_group_.data(), n_cols, n, cols_.data(), col_start_.data(), s_.run);
        for (Index k = 0; k < n_cols; ++k) number_[cols_[k]] = k - col_start_[col_group_[cols_[k]]];
    }

    Index n_rows_of(Index g) const { return row_start_[g + 1] - row_start_[g]; }

    // What a worker copies of a block, and the pairs of all of its blocks.
    struct Worker : LoneRun {
        using LoneRun::LoneRun;
        WorkCounter counter{this->run};
        std::vector<Index> indptr, indices;
        std::vector<double> cost, u;
        std::vector<std::pair<Index, Index>> matched;
        std::int64_t work = 0;
    };

    // Copies the entries within a block, has it solved, and writes what was found.
    template <class Solve>
    bool solve_block(Index g, Worker& own, RunContext& run, const Solve& solve) {
        const Index* rows = &rows_[row_start_[g]];
        const Index* cols = &cols_[col_start_[g]];
        const Index n_rows = n_rows_of(g), n_cols = col_start_[g + 1] - col_start_[g];
        own.indptr.assign(1, 0), own.indices.clear(), own.cost.clear(), own.u.clear();
        for (Index k = 0; k < n_rows; ++k) {
            const Index i = rows[k];
            for (Index p = s_.a.indptr[i]; p < s_.a.indptr[i + 1]; ++p)
                if (const Index j = s_.a.indices[p]; col_group_[j] == g)
                    own.indices.push_back(number_[j]), own.cost.push_back(s_.cost[p]);
            own.indptr.push_back(static_cast<Index>(own.indices.size()));
            own.u.push_back(s_.u[i]);
            if (!own.counter.add(s_.a.degree(i) + 1)) return false;
        }
        SPARSEMATCH_ASSERT(n_rows <= n_cols);
        if (n_rows == 1 && n_cols == 1) {  // a column without entries is a block without rows
            s_.u[*rows] = *std::min_element(own.cost.begin(), own.cost.end()) - s_.col[*cols].v;
            own.matched.push_back({*rows, *cols});
            return true;
        }
        const Csr<Index> a{n_rows, n_cols, own.indptr.data(), own.indices.data()};
        AssignmentState<Index> block(a, own.cost.data(), own.u.data(), run);
        for (Index k = 0; k < n_cols; ++k) block.col[k].v = s_.col[cols[k]].v;
        for (Index k = 0; k < n_rows; ++k) {
            const Index j = s_.col_of[rows[k]];
            if (j != UNMATCHED<Index> && col_group_[j] == g) block.match(k, number_[j]);
            else block.free.push_back(k);
        }
        if (!block.free.empty() && !solve(block)) return false;
        for (Index k = 0; k < n_rows; ++k) s_.u[rows[k]] = own.u[k];
        for (Index k = 0; k < n_cols; ++k) {
            s_.col[cols[k]].v = block.col[k].v;
            s_.col[cols[k]].mate = UNMATCHED<Index>;
        }
        for (Index k = 0; k < n_rows; ++k) {
            SPARSEMATCH_ASSERT(block.col_of[k] != UNMATCHED<Index>);
            own.matched.push_back({rows[k], cols[block.col_of[k]]});
        }
        own.work += block.work;
        return true;
    }

    // The potentials. Time: O(n_rows + n_cols + nnz).
    bool shift() {
        std::vector<double> potential(last_ + 1, 0.0);
        if (s_.wide()) {
            double most = -infinity;  // free columns have the largest dual of the first block
            for (Index k = 0; k < col_start_[1]; ++k) most = std::max(most, s_.col[cols_[k]].v);
            for (Index k = col_start_[1]; k < s_.a.n_cols; ++k) {
                double& least = potential[col_group_[cols_[k]]];
                least = std::max(least, s_.col[cols_[k]].v - most);
            }
        }
        for (Index k = 0; k < s_.a.n_rows; ++k) {
            const Index i = rows_[k], g = group_[i];
            s_.u[i] += potential[g];
            for (Index p = s_.a.indptr[i]; p < s_.a.indptr[i + 1]; ++p) {
                const Index j = s_.a.indices[p], h = col_group_[j];
                if (h == g) continue;
                potential[h] = std::max(potential[h], s_.u[i] + s_.col[j].v - s_.cost[p]);
            }
            if (!s_.scanned(i)) return false;
        }
        for (Index j = 0; j < s_.a.n_cols; ++j) s_.col[j].v -= potential[col_group_[j]];
        return true;
    }

    AssignmentState<Index>& s_;
    Buffer<Index> group_, col_group_, rows_, cols_, number_;  // number_: of a column in its block
    std::vector<Index> row_start_, col_start_;
    Index last_ = 0;  // block
};

}  // namespace sparsematch
