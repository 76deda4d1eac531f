// The maximum matching whose smallest magnitude is largest, and a cover that proves it.
//
// Bisection over the magnitudes: entries below a threshold are left out, and a threshold holds if
// the rest have as large a matching. It lies between the smallest magnitude of any maximum matching
// and a bound: as many rows as there are pairs, and as many columns, must have an entry as large.
// The bound is tried first, then the median of the magnitudes that are left, which is found without
// sorting them. A trial starts from the largest matching above a threshold that was too large.
// Burkard, Dell'Amico, Martello: Assignment problems (SIAM, 2009), section 6.2: threshold
// algorithms. MC64's jobs 2 and 3 (Duff, Koster, SIAM J. Matrix Anal. Appl. 22, 2001).
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/certificates.hpp"
#include "core/csr.hpp"
#include "matching/cheap.hpp"
#include "matching/hopcroft_karp.hpp"
#include "weighted/matched_entries.hpp"

namespace sparsematch {

template <class Index>
class Bottleneck {
    // Both mates.
    struct Pairs {
        Buffer<Index> row_mate, col_mate;

        explicit Pairs(const Csr<Index>& a)
            : row_mate(a.n_rows, UNMATCHED<Index>), col_mate(a.n_cols, UNMATCHED<Index>) {}
        Matching<Index> view() { return {row_mate.data(), col_mate.data()}; }
        void copy(const Pairs& other) {
            std::copy_n(other.row_mate.data(), row_mate.size(), row_mate.data());
            std::copy_n(other.col_mate.data(), col_mate.size(), col_mate.data());
        }
    };

  public:
    Bottleneck(const Csr<Index>& a, const double* magnitude, RunContext& run)
        : a_(a), magnitude_(magnitude), run_(run), best_(a), below_(a), trial_(a),
          indptr_(static_cast<std::size_t>(a.n_rows) + 1), indices_(a.nnz()) {}

    // Writes the matching, and flags of rows and columns that together have every entry larger than
    // its smallest, and are fewer than its pairs. Returns the smallest; infinite if there is none.
    // Time: O(log nnz) maximum matchings. Workspace: a pattern, a double an entry, three matchings.
    double solve(Matching<Index> m, bool* row_cover, bool* col_cover) {
        std::fill_n(row_cover, a_.n_rows, false);
        std::fill_n(col_cover, a_.n_cols, false);
        cheap<Index>(a_, nullptr, best_.view(), {}, run_);
        hopcroft_karp<Index>(a_, nullptr, best_.view(), {}, run_);
        rank_ = pairs(best_);
        if (rank_ > 0 && !run_.stopped()) bisect(row_cover, col_cover);
        std::copy_n(best_.row_mate.data(), a_.n_rows, m.row_mate);
        std::copy_n(best_.col_mate.data(), a_.n_cols, m.col_mate);
        return low_;
    }

  private:
    void bisect(bool* row_cover, bool* col_cover) {
        low_ = smallest(best_);
        const double most = bound();
        const auto beyond = [&](double x) { return x <= low_ || x > most; };
        std::vector<double> left(magnitude_, magnitude_ + a_.nnz());
        std::erase_if(left, beyond);
        for (bool first = true; !left.empty() && !run_.stopped(); first = false) {
            const auto middle = first ? std::max_element(left.begin(), left.end())
                                      : left.begin() + static_cast<std::ptrdiff_t>(left.size() / 2);
            if (!first) std::nth_element(left.begin(), middle, left.end());
            const double threshold = *middle;
            if (holds([&](double x) { return x >= threshold; }))
                std::erase_if(left, [&](double x) { return x <= low_; });
            else std::erase_if(left, [&](double x) { return x >= threshold; });
        }
        if (run_.stopped() || holds([&](double x) { return x > low_; })) return;
        koenig_cover(filtered(), below_.view(), row_cover, col_cover, run_);
    }

    // Whether the chosen entries have a matching as large as all of them.
    template <class Chosen>
    bool holds(const Chosen& chosen) {
        Index n = indptr_[0] = 0;
        WorkCounter counter(run_);
        for (Index i = 0; i < a_.n_rows; ++i) {
            for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p)
                if (chosen(magnitude_[p])) indices_[n++] = a_.indices[p];
            indptr_[i + 1] = n;
            if (!counter.add(a_.degree(i))) return false;
        }
        trial_.copy(below_);
        cheap<Index>(filtered(), nullptr, trial_.view(), {}, run_);
        hopcroft_karp<Index>(filtered(), nullptr, trial_.view(), {}, run_);
        if (run_.stopped()) return false;
        const bool found = pairs(trial_) == rank_;
        std::swap(trial_, found ? best_ : below_);
        if (found) low_ = smallest(best_);
        return found;
    }
    Csr<Index> filtered() const { return {a_.n_rows, a_.n_cols, indptr_.data(), indices_.data()}; }

    Index pairs(const Pairs& of) const {
        const Index* mate = of.row_mate.data();
        return a_.n_rows - static_cast<Index>(std::count(mate, mate + a_.n_rows, UNMATCHED<Index>));
    }

    double smallest(const Pairs& of) const {
        double least = std::numeric_limits<double>::infinity();
        for (Index i = 0; i < a_.n_rows; ++i) {
            if (of.row_mate[i] == UNMATCHED<Index>) continue;
            least = std::min(least, magnitude_[entry_at(a_, i, of.row_mate[i])]);
        }
        return least;
    }

    // As many rows as there are pairs, and as many columns, have an entry that is as large.
    double bound() const {
        std::vector<double> row(a_.n_rows, 0.0), col(a_.n_cols, 0.0);
        for (Index i = 0; i < a_.n_rows; ++i)
            for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
                row[i] = std::max(row[i], magnitude_[p]);
                col[a_.indices[p]] = std::max(col[a_.indices[p]], magnitude_[p]);
            }
        const auto at_rank = [&](std::vector<double>& of) {
            const auto place = of.begin() + (rank_ - 1);
            std::nth_element(of.begin(), place, of.end(), std::greater<>());
            return *place;
        };
        return std::min(at_rank(row), at_rank(col));
    }

    const Csr<Index>& a_;
    const double* magnitude_;
    RunContext& run_;
    Pairs best_, below_, trial_;  // below: the largest above a threshold that is too large
    Buffer<Index> indptr_, indices_;
    Index rank_ = 0;
    double low_ = std::numeric_limits<double>::infinity();
};

}  // namespace sparsematch
