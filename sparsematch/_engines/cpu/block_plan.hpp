// A matrix in block upper triangular form, cut into what is factorised (the diagonal blocks) and what is only multiplied with
// (the entries above them), with the place in the user's values that each entry comes from: new values need no search.
//
// The outline is KLU's: Davis, Palamadai Natarajan, Algorithm 907: KLU, a direct sparse solver for circuit simulation problems
// (ACM TOMS 37, 2010). Here each diagonal block is judged: one that a factorisation without supernodes would be slow on is left
// to a solver from outside, with its rows and columns in the user's order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.hpp"
#include "degree_ordering.hpp"

namespace sparsematch {

template <class Index>
struct BlockPlan {
    // A block that exceeds one of the first two is left to others.
    struct Limits {
        double work_per_entry;  // multiplications per entry of L + U
        double fill;            // entries of L + U per entry of the block
        Index always_inside;    // a block with at most this many rows is not judged
    };

    Index n = 0;
    std::vector<Index> starts;              // block k is rows and columns starts[k]...starts[k + 1]
    std::vector<Index> row_perm, col_perm;  // the permuted matrix is A[row_perm][:, col_perm]
    std::vector<char> outside;              // blocks that somebody else factorises
    // Column j of the diagonal blocks: rows (counted within the block) and places in the values; the same above the blocks,
    // rows counted within the matrix.
    std::vector<std::int64_t> inner_start, upper_start;
    std::vector<Index> inner_row, inner_from, upper_row, upper_from;
    std::vector<double> most;  // entries of L + U up to a column of a block: beyond, too many pivots have left their places

    std::int64_t foreseen = 0;  // entries of L of all blocks that are factorised here, if pivots stay

    Index n_blocks() const { return static_cast<Index>(starts.size()) - 1; }
    Index size(Index k) const { return starts[k + 1] - starts[k]; }
};

template <class Index>
class Planner {
  public:
    // a: the columns of a square matrix (its transpose as a Csr); the other arguments: a block form of it without horizontal and
    // vertical parts; forced: blocks to be left to others. Time: O(n + nnz), and the orderings.
    Planner(const Csr<Index>& a, const Index* row_perm, const Index* col_perm, Index n_blocks, const Index* starts,
            const bool* forced, typename BlockPlan<Index>::Limits limits)
        : a_(a), forced_(forced), limits_(limits), place_(static_cast<std::size_t>(a.n_rows)) {
        plan_.n = a.n_rows;
        plan_.row_perm.assign(row_perm, row_perm + a.n_rows);
        plan_.col_perm.assign(col_perm, col_perm + a.n_rows);
        plan_.starts.assign(starts, starts + n_blocks + 1);
        plan_.outside.assign(static_cast<std::size_t>(n_blocks), 0);
        plan_.most.resize(static_cast<std::size_t>(a.n_rows));
    }

    BlockPlan<Index> make() {
        locate();
        for (Index k = 0; k < plan_.n_blocks(); ++k)
            if (plan_.size(k) > 1) arrange(k);
        locate();
        cut();
        return std::move(plan_);
    }

  private:
    void locate() {
        for (Index k = 0; k < plan_.n; ++k) place_[plan_.row_perm[k]] = k;
    }

    // Orders the rows and columns of one block, or leaves it to others.
    void arrange(Index k) {
        const Index first = plan_.starts[k], m = plan_.size(k);
        const std::int64_t entries = symmetrise(first, m);
        EliminationCost cost;
        order_.resize(static_cast<std::size_t>(m));
        const bool must = m <= limits_.always_inside;
        const double most = must ? 1e300 : limits_.fill * static_cast<double>(entries) / 2;
        const double work = must ? 1e300 : limits_.work_per_entry;
        bool light = !forced_[k] && ordering_.run(m, start_, adjacency_, most, work, order_.data(), cost);
        const double filled = 2 * cost.entries + static_cast<double>(m);
        light = light && (must || 2 * cost.work <= limits_.work_per_entry * filled);
        plan_.outside[k] = !light;
        if (light) {
            // A heavy block has less to lose by going elsewhere.
            const double share = 2 * cost.work > 0.35 * limits_.work_per_entry * filled ? 1.2 : 1.6;
            double* ahead = plan_.most.data() + first;
            ordering_.accumulate(ahead);
            plan_.foreseen += static_cast<std::int64_t>(cost.entries);
            for (Index c = 0; c < m; ++c) ahead[c] = 1000 + share * (2 * ahead[c] + static_cast<double>(c + 1));
            reorder(plan_.row_perm.data() + first);
            reorder(plan_.col_perm.data() + first);
        } else {
            std::sort(plan_.row_perm.begin() + first, plan_.row_perm.begin() + first + m);
            std::sort(plan_.col_perm.begin() + first, plan_.col_perm.begin() + first + m);
        }
    }
    void reorder(Index* piece) {
        old_.assign(piece, piece + order_.size());
        for (std::size_t t = 0; t < order_.size(); ++t) piece[t] = old_[order_[t]];
    }

    // The pattern of B + B^T without its diagonal, for the block B that begins there. Returns the entries of B.
    std::int64_t symmetrise(Index first, Index m) {
        const auto size = static_cast<std::size_t>(m);
        start_.assign(size + 1, 0);
        std::int64_t entries = 0;
        auto each = [&](auto&& visit) {
            for (Index c = 0; c < m; ++c) {
                const Index j = plan_.col_perm[first + c];
                for (Index p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p)
                    if (const Index r = place_[a_.indices[p]] - first; r >= 0) visit(r, c);
            }
        };
        each([&](Index r, Index c) {
            ++entries;
            if (r != c) ++start_[r + 1], ++start_[c + 1];
        });
        for (std::size_t i = 0; i < size; ++i) start_[i + 1] += start_[i];
        adjacency_.resize(static_cast<std::size_t>(start_[size]));
        fill_.assign(start_.begin(), start_.end() - 1);
        each([&](Index r, Index c) {
            if (r != c) adjacency_[fill_[r]++] = c, adjacency_[fill_[c]++] = r;
        });
        seen_.assign(size, -1);
        std::int64_t to = 0;
        for (Index i = 0; i < m; ++i) {
            const std::int64_t from = start_[i];
            start_[i] = to;
            for (std::int64_t p = from; p < fill_[i]; ++p)
                if (const Index j = adjacency_[p]; seen_[j] != i) seen_[j] = i, adjacency_[to++] = j;
        }
        start_[size] = to;
        return entries;
    }

    // Sorts the entries into those of diagonal blocks and those above.
    void cut() {
        const auto size = static_cast<std::size_t>(plan_.n), nnz = static_cast<std::size_t>(a_.nnz());
        plan_.inner_start.resize(size + 1), plan_.upper_start.resize(size + 1);
        plan_.inner_row.reserve(nnz), plan_.inner_from.reserve(nnz);
        for (Index k = 0; k < plan_.n_blocks(); ++k) {
            const Index first = plan_.starts[k];
            for (Index c = first; c < plan_.starts[k + 1]; ++c) {
                plan_.inner_start[c] = static_cast<std::int64_t>(plan_.inner_row.size());
                plan_.upper_start[c] = static_cast<std::int64_t>(plan_.upper_row.size());
                const Index j = plan_.col_perm[c];
                for (Index p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p) {
                    const Index r = place_[a_.indices[p]];
                    if (r >= first) plan_.inner_row.push_back(r - first), plan_.inner_from.push_back(p);
                    else plan_.upper_row.push_back(r), plan_.upper_from.push_back(p);
                }
            }
        }
        plan_.inner_start[size] = static_cast<std::int64_t>(plan_.inner_row.size());
        plan_.upper_start[size] = static_cast<std::int64_t>(plan_.upper_row.size());
    }

    const Csr<Index>& a_;
    const bool* forced_;
    const typename BlockPlan<Index>::Limits limits_;
    BlockPlan<Index> plan_;
    DegreeOrdering<Index> ordering_;
    std::vector<Index> place_, order_, old_, adjacency_, seen_;
    std::vector<std::int64_t> start_, fill_;
};

}  // namespace sparsematch
