// Pivots of a symmetric matrix from a transversal of it, and what is needed around that.
//
// I. S. Duff, S. Pralet: Strategies for scaling and pivoting for sparse symmetric indefinite
// problems (SIAM J. Matrix Anal. Appl. 27, 2005). Read as arcs from rows to columns, a transversal
// is a set of cycles and, where it is deficient, paths. By symmetry every arc may be turned round:
// members of a cycle that follow each other make a 2 x 2 pivot, scaled to 1 off the diagonal.
//
// Invariant: the matching stays maximum, with the same sum of weights. A path has an even number of
// arcs, since an odd one would be augmenting; its pairs, turned both ways, cover all its members
// but one, as rows and as columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// The position of the first entry without one of the same weight across the diagonal, or UNMATCHED.
// Reads: rows sorted, no entry repeated. Writes: the weights on the diagonal, 0 where there is no
// entry. Workspace: an index a row. Time: O(n + nnz).
template <class Index>
Index unsymmetric_entry(const Csr<Index>& a, const double* weight, double* diagonal,
                        RunContext& run) {
    // Rows are passed in ascending order, so the entries of row j left of the diagonal are met in
    // their order: next[j] is the one that is due.
    std::vector<Index> next(a.indptr, a.indptr + a.n_rows);
    WorkCounter counter(run);
    for (Index i = 0; i < a.n_rows && counter.add(1 + a.degree(i)); ++i) {
        const Index end = a.indptr[i + 1];
        Index p = next[i];
        diagonal[i] = 0;
        if (p < end && a.indices[p] < i) return p;
        if (p < end && a.indices[p] == i) diagonal[i] = weight[p++];
        for (; p < end; ++p) {
            const Index j = a.indices[p], q = next[j]++;
            const Index met = q < a.indptr[j + 1] ? a.indices[q] : a.n_rows;
            if (met < i) return q;
            if (met > i || weight[q] != weight[p]) return p;
        }
    }
    return UNMATCHED<Index>;
}

// The largest entry of each row when scaled on both sides, 0 in an empty one. Time: O(n + nnz).
template <class Index>
void largest_scaled(const Csr<Index>& a, const double* weight, const double* scale, double* largest,
                    RunContext& run) {
    run.team.loop(a.n_rows, 1 << 14, [&](int rank, Index first, Index last) {
        WorkCounter counter(run, rank);
        for (Index i = first; i < last && counter.add(1 + a.degree(i)); ++i) {
            double most = 0;
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
                // The smaller factor first: no product in between is beyond the range of doubles.
                const auto [low, high] = std::minmax(scale[i], scale[a.indices[p]]);
                most = std::max(most, weight[p] * low * high);
            }
            largest[i] = most;
        }
    });
}

// Corrects the roundings in the factors of pivots that are matched: their scaled entries become 1.
// Reads: the weights on the diagonal. Time: O(n log(largest degree)).
template <class Index>
void make_pivots_ones(const Csr<Index>& a, const double* weight, const double* diagonal,
                      const Index* row_mate, const Index* partner, double* scale, RunContext& run) {
    WorkCounter counter(run);
    for (Index i = 0; i < a.n_rows && counter.add(1); ++i) {
        const Index j = partner[i];
        if (j < i || (j == i && row_mate[i] != i)) continue;  // left out, done, a single left over
        double value = diagonal[i];
        if (j != i) {
            const Index *row = a.indices + a.indptr[i], *end = a.indices + a.indptr[i + 1];
            value = weight[std::lower_bound(row, end, j) - a.indices];
        }
        const auto [low, high] = std::minmax(scale[i], scale[j]);
        const double factor = 1 / std::sqrt(value * low * high);
        scale[i] *= factor;
        if (j != i) scale[j] *= factor;
    }
}

// Divides cycles and paths into pivots. Reads: the scaled diagonal, its magnitudes at most 1.
// Writes: partner[i], which is i for a 1 x 1 pivot and UNMATCHED for a row that stays out; in the
// matching, paths become pairs. Workspace: the longest cycle. Time: O(n).
template <class Index> class PivotSplit {
  public:
    PivotSplit(const double* diagonal, Matching<Index> m, Index* partner)
        : diagonal_(diagonal), m_(m), partner_(partner) {}

    void split(Index n, RunContext& run) {
        constexpr Index unknown = UNMATCHED<Index> - 1;
        std::fill_n(partner_, n, unknown);
        WorkCounter counter(run);
        for (Index i = 0; i < n && counter.add(1); ++i)
            if (m_.col_mate[i] == UNMATCHED<Index>) split_path(i);
        for (Index i = 0; i < n && counter.add(1); ++i)
            if (partner_[i] == unknown) split_cycle(i);
    }

  private:
    // The least determinant, in magnitude, of a scaled 2 x 2 pivot, whatever the signs of its
    // diagonal: Duff and Reid's test with the usual threshold of 0.01, (1 + |d|) / det <= 100.
    // Where it fails, both entries on the diagonal are above 0.98, and are pivots as good.
    static constexpr double least_determinant = 0.02;

    // An end of the path stays out; the other members become pairs, of the same weight as before.
    void split_path(Index first) {
        collect(first);
        const std::size_t begin = better_begin();
        const Index last = members_.back();
        for (const Index i : {first, last}) m_.row_mate[i] = m_.col_mate[i] = UNMATCHED<Index>;
        partner_[begin ? first : last] = UNMATCHED<Index>;
        for (std::size_t k = begin; k + 1 < members_.size(); k += 2) {
            m_.match(members_[k], members_[k + 1]);
            m_.match(members_[k + 1], members_[k]);
        }
        pair_members(begin);
    }

    // In an odd cycle the member with the largest diagonal entry is a pivot of its own.
    void split_cycle(Index first) {
        collect(first);
        if (members_.size() % 2 == 0) return pair_members(better_begin());
        const auto less = [&](Index i, Index j) { return diagonal_[i] < diagonal_[j]; };
        const auto single = std::max_element(members_.begin(), members_.end(), less);
        partner_[*single] = *single;
        std::rotate(members_.begin(), single + 1, members_.end());
        pair_members(0);
    }

    // The members of the path from a row, or of the cycle through it.
    void collect(Index first) {
        members_.clear();
        Index i = first;
        do {
            members_.push_back(i);
            i = m_.row_mate[i];
        } while (i != UNMATCHED<Index> && i != first);
    }

    double determinant(Index i, Index j) const { return 1 - diagonal_[i] * diagonal_[j]; }

    // Where the pairs begin, at member 0 or 1: the larger product of their determinants.
    std::size_t better_begin() const {
        double gain = 0;
        const std::size_t size = members_.size(), arcs = size - size % 2;
        for (std::size_t k = 0; size > 2 && k < arcs; ++k) {
            const double det = determinant(members_[k], members_[(k + 1) % size]);
            const double logarithm = std::log(std::max(det, least_determinant));
            gain += k % 2 ? logarithm : -logarithm;
        }
        return gain > 0;
    }

    void pair_members(std::size_t begin) {
        const std::size_t size = members_.size();
        for (std::size_t k = begin; k < begin + size / 2 * 2; k += 2) {
            const Index i = members_[k], j = members_[(k + 1) % size];
            const bool split = determinant(i, j) < least_determinant;
            partner_[i] = split ? i : j;
            partner_[j] = split ? j : i;
        }
    }

    const double* diagonal_;
    Matching<Index> m_;
    Index* partner_;
    std::vector<Index> members_;
};

}  // namespace sparsematch
