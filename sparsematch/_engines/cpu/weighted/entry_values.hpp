// Entries of a matrix: what is checked of values before they become costs, and where pairs are.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Of some of the entries.
struct EntryValues {
    bool ascending = true;                 // the columns of every row: no entry is there twice
    double least = infinity, largest = 0;  // NaN: one is not finite

    auto as_tuple() const { return std::tuple(ascending, least, largest); }
    void join(const EntryValues& other) {
        ascending = ascending && other.ascending;
        least = std::min(least, other.least);
        const bool keep = other.largest <= largest;  // false if either is NaN, and so is their sum
        largest = keep ? largest : other.largest + largest * 0;
    }
};

// Of the entries first to last - 1. Magnitudes are in the order of their bits, in which compilers
// take several at once; infinity and NaN come last.
SPARSEMATCH_WIDE inline EntryValues read_values(const double* value, std::size_t first,
                                                std::size_t last) {
    constexpr auto infinite = std::bit_cast<std::int64_t>(infinity);
    std::int64_t least = infinite, largest = 0;
    for (std::size_t p = first; p < last; ++p) {
        const auto size = std::bit_cast<std::int64_t>(std::abs(value[p]));
        least = std::min(least, size);
        largest = std::max(largest, size);
    }
    return {true, std::bit_cast<double>(least),
            largest < infinite ? std::bit_cast<double>(largest) : std::nan("")};
}

// Whether the indices of every row ascend: no place but where a row begins may be one where they do
// not. Two loops without a branch: ends of short rows are not predicted.
template <class Index> bool ascends(const Csr<Index>& a, Index begin, Index end) {
    const Index first = a.indptr[begin], last = a.indptr[end];
    const auto falls = [&a](Index p) { return Index{a.indices[p - 1] >= a.indices[p]}; };
    Index all = 0, between = 0;
    for (Index p = first + 1; p < last; ++p) all += falls(p);
    for (Index i = begin; i < end; ++i) {
        const Index p = a.indptr[i];  // of an empty row too, but for the first place and the last
        const bool counts = p > first && p < a.indptr[i + 1];
        between += counts ? falls(p) : 0;
    }
    return all == between;
}

// Of all entries. Time: O(n_rows + nnz), one pass.
template <class Index>
EntryValues read_values(const Csr<Index>& a, const double* value, RunContext& run) {
    std::vector<EntryValues> found(static_cast<std::size_t>(run.team.size()));
    run.team.loop(a.n_rows, 1 << 10, [&](int rank, Index begin, Index end) {
        const auto first = static_cast<std::size_t>(a.indptr[begin]),
                   last = static_cast<std::size_t>(a.indptr[end]);
        EntryValues part = read_values(value, first, last);
        part.ascending = ascends(a, begin, end);
        found[rank].join(part);
        run.flush(static_cast<std::int64_t>(last - first), rank);
    });
    EntryValues all;
    for (const EntryValues& part : found) all.join(part);
    return all;
}

// The position of the entry of row i in column j, which must be there. Time: O(degree).
template <class Index> Index entry_at(const Csr<Index>& a, Index i, Index j) {
    Index p = a.indptr[i];
    while (a.indices[p] != j) ++p;
    return p;
}

// The position of each row's matched entry; UNMATCHED for a row without one. False: the run was
// stopped, and not all are there. Time: O(nnz).
template <class Index>
bool matched_entries(const Csr<Index>& a, const Index* row_mate, Index* entry, RunContext& run) {
    run.team.loop(a.n_rows, 1 << 14, [&](int rank, Index first, Index last) {
        WorkCounter counter(run, rank);
        for (Index i = first; i < last && counter.add(1 + a.degree(i)); ++i) {
            const Index j = row_mate[i];
            entry[i] = j == UNMATCHED<Index> ? j : entry_at(a, i, j);
        }
    });
    return !run.stopped();
}

// Logarithms of many numbers, without a branch or a table, so that compilers take several at once.
//
// Writes -log of the magnitudes of n finite numbers that are not 0. Error: below 1 ulp. One is
// 2^k (1 + f), with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) is f - f^2 / 2 + s (f^2 / 2 +
// R(s^2)), where s is f / (2 + f): reduction and coefficients are those of fdlibm (Sun
// Microsystems, 1993, e_log.c).
SPARSEMATCH_WIDE inline void write_costs(const double* x, double* cost, std::size_t n) {
    constexpr std::uint64_t one = 0x3ff0000000000000, root = 0x3fe6a09e667f3bcd,  // sqrt(1/2)
        fraction = 0x000fffffffffffff, two_52 = 0x4330000000000000, least = 0x0010000000000000;
    constexpr double log_2_high = 6.93147180369123816490e-01,
                     log_2_low = 1.90821492927058770002e-10;
    std::uint64_t below = 0;  // its sign: whether a number is below the least of full precision
    for (std::size_t p = 0; p < n; ++p) {
        const auto size = std::bit_cast<std::uint64_t>(std::abs(x[p]));
        below |= size - least;
        const auto bits = size + (one - root);
        // k + 1023, as the last bits of a double
        const double k = std::bit_cast<double>((bits >> 52) | two_52) - (0x1p52 + 1023);
        const double f = std::bit_cast<double>((bits & fraction) + root) - 1;
        const double s = f / (2 + f), z = s * s, w = z * z, half = 0.5 * f * f;
        const double even = w * (3.999999999940941908e-01 +
                                 w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
        const double odd =
            z * (6.666666666666735130e-01 +
                 w * (2.857142874366239149e-01 +
                      w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
        const double rest = s * (half + (odd + even)) + k * log_2_low;
        cost[p] = ((half - rest) - f) - k * log_2_high;
    }
    if (below >> 63 == 0) return;  // else some have another format
    for (std::size_t p = 0; p < n; ++p) cost[p] = -std::log(std::abs(x[p]));
}

}  // namespace sparsematch
