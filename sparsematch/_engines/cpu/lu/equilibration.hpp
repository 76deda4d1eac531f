// Diagonal blocks scaled by powers of two, which rounds nothing: the largest entry of each row is
// between 1 and 2, then that of each column (LAPACK's geequb). So the sizes of entries can be
// compared, and a small pivot is one beside 1. Exponents are found as integers, and rows and
// columns share them: what is common to all goes half to either, so that the product of two factors
// is in the range of doubles, and an entry times that is rounded only where its scaled value is.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/run_context.hpp"
#include "lu/block_plan.hpp"

namespace sparsematch {

// Finite wherever the value is.
inline double largest_part(double v) { return std::abs(v); }
inline double largest_part(std::complex<double> v) {
    return std::max(std::abs(v.real()), std::abs(v.imag()));
}

// The exponent of the power of two at or below a size; no_exponent of 0.
inline constexpr int no_exponent = -1 << 20;
inline int exponent_of(double size) {
    const auto bits = std::bit_cast<std::uint64_t>(size) >> 52;
    if (bits > 0) return static_cast<int>(bits) - 1023;
    return size > 0 ? std::ilogb(size) : no_exponent;
}
// 2^exponent, as far as the product of two such factors is a double.
inline constexpr int most_exponent = 511;
inline double shared_factor(int exponent) {
    const auto biased = 1023 + std::clamp(exponent, -most_exponent, most_exponent);
    return std::bit_cast<double>(static_cast<std::uint64_t>(biased) << 52);
}
// The same in two bytes: the top ones of the double.
class Factor {
  public:
    Factor(double power)
        : top_(static_cast<std::uint16_t>(std::bit_cast<std::uint64_t>(power) >> 48)) {}
    operator double() const { return std::bit_cast<double>(std::uint64_t{top_} << 48); }

  private:
    std::uint16_t top_;
};
// Whether no product of two such sizes that matters is beyond the range, nor lost; and by the top
// bit, for many numbers at once, whether a size is 0, or not and not middling.
inline constexpr double least_middling = 0x1p-500;
inline bool is_middling(double size) {
    return (size >= least_middling) & (size <= 1 / least_middling);
}
inline std::uint64_t zero_bit(double size) { return std::bit_cast<std::uint64_t>(size) - 1; }
inline std::uint64_t extreme_bit(double size) {
    constexpr auto least = std::bit_cast<std::uint64_t>(least_middling),
                   most = std::bit_cast<std::uint64_t>(1 / least_middling);
    const auto bits = std::bit_cast<std::uint64_t>(size);
    return ((bits - least) | (most - bits)) & ~zero_bit(size);
}

template <class Index, class Value> struct Equilibration {
    // As the plan's inner_row: entries of the scaled blocks; of external ones as they are.
    std::vector<Value> inner;
    // Of the rows and columns of the permuted matrix; 1 in blocks of one entry, or not ours.
    std::vector<Factor> row_factor;
    std::vector<double> col_factor;
    std::vector<double> largest;  // entry of each scaled block
    std::vector<char> is_seeded;  // whether exponents of its rows were given
    // Whether all entries that are not 0 are middling, scaled; the caller adds those above blocks.
    bool is_middling_throughout = true;

    // False: the run was stopped. Time: O(n + nnz).
    bool of(const BlockPlan<Index>& plan, const Value* a, WorkCounter& counter) {
        const auto n = static_cast<std::size_t>(plan.n);
        inner.resize(plan.inner_row.size());
        row_factor.assign(n, 1), col_factor.assign(n, 1);
        largest.assign(static_cast<std::size_t>(plan.n_blocks()), 0);
        top_.clear();
        shift_.resize(largest.size()), is_seeded.resize(largest.size());
        is_middling_throughout = true;
        return each_block(plan, counter, [&](Index k) {
            if (plan.is_external(k)) rescale(plan, k, a, false);
            else scale(plan, k, a, plan.seed.empty() ? nullptr : plan.seed.data() + plan.starts[k]);
        });
    }
    // Of other values, with the factors of before where they bring the largest entries of rows and
    // columns to 1/16...16: one pass in place of three.
    bool again(const BlockPlan<Index>& plan, const Value* a, WorkCounter& counter) {
        if (top_.empty()) {
            top_.resize(static_cast<std::size_t>(plan.n));
            const auto find = [&](Index k) {
                if (!plan.is_external(k)) find_tops(plan, k);
            };
            if (!each_block(plan, counter, find)) return false;
        }
        is_middling_throughout = true;
        return each_block(plan, counter, [&](Index k) {
            if (!rescale(plan, k, a, !plan.is_external(k))) scale(plan, k, a, nullptr);
        });
    }
    // One block: by exponents of its rows, if these bring the largest entries of all near 1.
    void scale(const BlockPlan<Index>& plan, Index k, const Value* a, const int* seed) {
        const bool seeded = seed && *seed != no_seed;
        const Index first = plan.starts[k], end = plan.starts[k + 1];
        const auto size = static_cast<std::size_t>(end - first);
        row_exponent_.assign(size, no_exponent), col_exponent_.resize(size);
        int *const rows = row_exponent_.data(), *const cols = col_exponent_.data();
        for (Index c = first; c < end; ++c)
            plan.each_inner(c, [&](Index p, Index from) {
                int& most = rows[plan.inner_row[p]];
                most = std::max(most, exponent_of(largest_part(a[from])));
            });
        int least = 0, most = 0;  // of rows, and of columns with the other sign
        for (Index r = 0; r < end - first; ++r) {
            rows[r] = seeded ? seed[r] : rows[r] > no_exponent ? -rows[r] : 0;
            if (r == 0) least = most = rows[r];
            least = std::min(least, rows[r]), most = std::max(most, rows[r]);
        }
        for (Index c = first; c < end; ++c) {
            int all = no_exponent;
            plan.each_inner(c, [&](Index p, Index from) {
                all = std::max(all, exponent_of(largest_part(a[from])) + rows[plan.inner_row[p]]);
            });
            if (all <= no_exponent / 2) all = 0;
            cols[c - first] = -all, least = std::min(least, all), most = std::max(most, all);
        }
        const int middle = (least + most) / 2;
        shift_[k] = std::ldexp(1.0, -middle);
        for (Index c = first; c < end; ++c) {
            row_factor[c] = shared_factor(rows[c - first] - middle);
            col_factor[c] = shared_factor(cols[c - first] + middle);
        }
        rescale(plan, k, a, false);
        is_seeded[k] = seeded;
        if (!top_.empty()) find_tops(plan, k);
        if (!seeded) return;
        std::vector<double> largest_of(size);
        for (auto p = plan.inner_start[first]; p < plan.inner_start[end]; ++p) {
            double& most = largest_of[plan.inner_row[p]];
            most = std::max(most, largest_part(inner[p]));
        }
        if (*std::min_element(largest_of.begin(), largest_of.end()) < least_top)
            scale(plan, k, a, nullptr);
    }

  private:
    static constexpr double most_drift = 16, least_top = 0.25;
    static constexpr Index no_place = -1;

    template <class Visit>
    bool each_block(const BlockPlan<Index>& plan, WorkCounter& counter, const Visit& visit) {
        for (Index k = 0; k < plan.n_blocks(); ++k) {
            if (plan.size(k) == 1) continue;
            visit(k);
            const std::int64_t begin = plan.inner_start[plan.starts[k]];
            if (!counter.add(2 * (plan.inner_start[plan.starts[k + 1]] - begin))) return false;
        }
        row_exponent_ = std::vector<int>(), col_exponent_ = std::vector<int>();
        return true;
    }
    // Where the largest entry of each row of a block that was just scaled is, or by seeds one near;
    // no_place of zeros. Factors of columns as they are before all share an exponent: at least 1.
    void find_tops(const BlockPlan<Index>& plan, Index k) {
        const Index first = plan.starts[k], end = plan.starts[k + 1];
        std::fill(top_.begin() + first, top_.begin() + end, no_place);
        for (Index c = first; c < end; ++c) {
            const double factor = is_seeded[k] ? least_top : col_factor[c] * shift_[k];
            for (auto p = plan.inner_start[c]; p < plan.inner_start[c + 1]; ++p) {
                Index& top = top_[first + plan.inner_row[p]];
                top = largest_part(inner[p]) >= factor ? p : top;  // without a branch
            }
        }
    }
    // drifted: since the factors were made. Returns whether they will do.
    bool rescale(const BlockPlan<Index>& plan, Index k, const Value* a, bool drifted) {
        const Index first = plan.starts[k], end = plan.starts[k + 1];
        const Factor* const row = row_factor.data() + first;
        double all = 0, least = 1;
        bool middling = true;
        for (Index c = first; c < end; ++c) {
            const double factor = col_factor[c];
            double most = 0;
            plan.each_inner(c, [&](Index p, Index from) {
                const Value v = a[from] * (row[plan.inner_row[p]] * factor);
                const double size = largest_part(v);
                inner[p] = v;
                most = std::max(most, size);
                middling &= (size >= least_middling) | (a[from] == Value(0));
            });
            all = std::max(all, most), least = std::min(least, most);
        }
        largest[k] = all;
        middling &= all == 0 || is_middling(all);
        if (drifted) {
            for (Index r = first; r < end; ++r)
                least = std::min(least, top_[r] == no_place ? 0 : largest_part(inner[top_[r]]));
            if (!(all <= most_drift && most_drift * least >= 1)) return false;
        }
        is_middling_throughout &= middling;
        return true;
    }

    std::vector<Index> top_;
    std::vector<int> row_exponent_, col_exponent_;  // of a block
    std::vector<double> shift_;  // of each block: what its columns have for its rows
};

}  // namespace sparsematch
