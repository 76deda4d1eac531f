// The maximum matching whose smallest magnitude is largest, and a cover that proves it.
//
// Entries below a threshold are left out, and a threshold holds if the rest have as large a
// matching. It is between the smallest magnitude of any maximum matching and a bound with a cover:
// rows and columns, fewer than the pairs, that together have all entries above the bound, so that
// every maximum matching has another one. The first bound comes from the largest entry of each row
// and column, and mostly holds. Those that follow come from Koenig's cover where a threshold does
// not hold; they are tried by turns with the median of the magnitudes that are left, which is found
// without sorting. The last bound is the optimum, and its cover the proof.
// Burkard, Dell'Amico, Martello: Assignment problems (SIAM, 2009), section 6.2: threshold
// algorithms. MC64's jobs 2 and 3 (Duff, Koster, SIAM J. Matrix Anal. Appl. 22, 2001).
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "core/certificates.hpp"
#include "core/csr.hpp"
#include "matching/cheap.hpp"
#include "matching/hopcroft_karp.hpp"
#include "matching/pothen_fan.hpp"
#include "weighted/entry_values.hpp"

namespace sparsematch {

template <class Index> class Bottleneck {
    // Both mates.
    struct Pairs {
        Buffer<Index> row_mate, col_mate;

        explicit Pairs(const Csr<Index>& a)
            : row_mate(a.n_rows, UNMATCHED<Index>), col_mate(a.n_cols, UNMATCHED<Index>) {}
        Matching<Index> view() { return {row_mate.data(), col_mate.data()}; }
    };

  public:
    Bottleneck(const Csr<Index>& a, const double* magnitude, RunContext& run)
        : a_(a), magnitude_(magnitude), run_(run), best_(a), below_(a), trial_(a),
          indptr_(static_cast<std::size_t>(a.n_rows) + 1), indices_(a.nnz()) {}

    // Writes the matching, and flags of rows and columns that together have every entry larger than
    // its smallest, and are fewer than its pairs. Returns the smallest; infinite if there is none.
    // Time: O(log nnz) maximum matchings. Workspace: a pattern, a double an entry, three matchings.
    double solve(Matching<Index> m, bool* row_cover, bool* col_cover) {
        row_cover_ = row_cover, col_cover_ = col_cover;
        std::fill_n(row_cover, a_.n_rows, false);
        std::fill_n(col_cover, a_.n_cols, false);
        rank_ = std::min(a_.n_rows, a_.n_cols);
        if (rank_ > 0) {
            cover_largest();
            if (!holds(most_) && !run_.stopped()) bisect();
        }
        std::copy_n(best_.row_mate.data(), a_.n_rows, m.row_mate);
        std::copy_n(best_.col_mate.data(), a_.n_cols, m.col_mate);
        return low_;
    }

  private:
    // Where the first bound does not hold, or the smaller side cannot be matched.
    void bisect() {
        cover_matched();
        const Index side = std::exchange(rank_, 0);
        holds(0);
        rank_ = pairs(best_);
        if (rank_ == 0 || run_.stopped()) return;
        if (rank_ < side) cover_largest(), below_ = Pairs(a_);  // that of a lower threshold
        std::vector<double> left(magnitude_, magnitude_ + a_.nnz());
        for (bool halve = rank_ == side;; halve = !halve) {
            std::erase_if(left, [&](double x) { return x <= low_ || x > most_; });
            if (left.empty() || run_.stopped()) return;
            double threshold = most_;
            if (halve) {
                const auto middle = left.begin() + static_cast<std::ptrdiff_t>(left.size() / 2);
                std::nth_element(left.begin(), middle, left.end());
                threshold = *middle;
            }
            if (!holds(threshold) && !run_.stopped()) cover_matched();
        }
    }

    // Whether the entries from a threshold on have a matching of rank_ pairs: best_ then; if not,
    // below_ is a largest one.
    bool holds(double threshold) {
        const auto timer = run_.time("matchings");
        Index n = indptr_[0] = 0, kept = 0;
        WorkCounter counter(run_);
        std::fill(trial_.col_mate.begin(), trial_.col_mate.end(), UNMATCHED<Index>);
        for (Index i = 0; i < a_.n_rows; ++i) {
            const Index mate = best_.row_mate[i];
            trial_.row_mate[i] = UNMATCHED<Index>;
            for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
                if (magnitude_[p] < threshold) continue;
                const Index j = indices_[n++] = a_.indices[p];
                if (j == mate) trial_.view().match(i, j), ++kept;
            }
            indptr_[i + 1] = n;
            if (!counter.add(a_.degree(i))) return false;
        }
        if (kept < pairs(below_)) {
            std::copy_n(below_.row_mate.data(), a_.n_rows, trial_.row_mate.data());
            std::copy_n(below_.col_mate.data(), a_.n_cols, trial_.col_mate.data());
        }
        extend_trial();
        if (run_.stopped()) return false;
        const bool found = pairs(trial_) >= rank_;
        std::swap(trial_, found ? best_ : below_);
        if (found) low_ = smallest(best_);
        return found;
    }
    Csr<Index> filtered() const { return {a_.n_rows, a_.n_cols, indptr_.data(), indices_.data()}; }

    // To a maximum matching. Depth-first searches took 5 to 10 passes on 17 families, in natural
    // and in scrambled order; their worst case is left to Hopcroft and Karp.
    void extend_trial() {
        constexpr std::int64_t most_passes = 32;
        const auto a = filtered();
        RunContext run(run_, most_passes * (std::int64_t{a.n_rows} + a.nnz()));
        cheap<Index>(a, nullptr, trial_.view(), {}, run_);
        pothen_fan<Index>(a, nullptr, trial_.view(), {}, run);
        if (run.exhausted()) hopcroft_karp<Index>(a, nullptr, trial_.view(), {}, run_);
    }

    // The bound: as many rows as there are pairs, and as many columns, have an entry as large. The
    // cover: the rows, or columns, with larger ones.
    void cover_largest() {
        const auto timer = run_.time("covers");
        std::vector<double> row(a_.n_rows, 0.0), col(a_.n_cols, 0.0);
        for (Index i = 0; i < a_.n_rows; ++i)
            for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
                row[i] = std::max(row[i], magnitude_[p]);
                col[a_.indices[p]] = std::max(col[a_.indices[p]], magnitude_[p]);
            }
        const auto at_rank = [&](std::vector<double> of) {
            const auto place = of.begin() + (rank_ - 1);
            std::nth_element(of.begin(), place, of.end(), std::greater<>());
            return *place;
        };
        const double by_row = at_rank(row), by_col = at_rank(col);
        most_ = std::min(by_row, by_col);
        for (Index i = 0; i < a_.n_rows; ++i) row_cover_[i] = by_row <= by_col && row[i] > most_;
        for (Index j = 0; j < a_.n_cols; ++j) col_cover_[j] = by_row > by_col && col[j] > most_;
    }

    // The cover: that of the entries of the last trial, by below_, which has too few pairs. The
    // bound: the largest entry that it leaves.
    void cover_matched() {
        const auto timer = run_.time("covers");
        koenig_cover(filtered(), below_.view(), row_cover_, col_cover_, run_);
        most_ = 0;
        for (Index i = 0; i < a_.n_rows; ++i)
            for (Index p = a_.indptr[i]; !row_cover_[i] && p < a_.indptr[i + 1]; ++p)
                if (!col_cover_[a_.indices[p]]) most_ = std::max(most_, magnitude_[p]);
    }

    Index pairs(const Pairs& of) const {
        const Index* mate = of.row_mate.data();
        return a_.n_rows - static_cast<Index>(std::count(mate, mate + a_.n_rows, UNMATCHED<Index>));
    }

    double smallest(const Pairs& of) const {
        double least = infinity;
        for (Index i = 0; i < a_.n_rows; ++i) {
            if (of.row_mate[i] == UNMATCHED<Index>) continue;
            least = std::min(least, magnitude_[entry_at(a_, i, of.row_mate[i])]);
        }
        return least;
    }

    const Csr<Index>& a_;
    const double* magnitude_;
    RunContext& run_;
    Pairs best_, below_, trial_;  // below: the largest above a threshold that is too large
    Buffer<Index> indptr_, indices_;
    Index rank_ = 0;
    // What best_ attains, and what no matching of its size exceeds.
    double low_ = infinity, most_ = 0;
    bool *row_cover_ = nullptr, *col_cover_ = nullptr;  // of all entries above most_
};

template <class Index>
double bottleneck(const Csr<Index>& a, const double* magnitude, Matching<Index> m, bool* row_cover,
                  bool* col_cover, RunContext& run) {
    return Bottleneck<Index>(a, magnitude, run).solve(m, row_cover, col_cover);
}

}  // namespace sparsematch
