// Features of a matrix by which an engine is chosen: statistics of the degrees, and locality by a
// sample of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

// The sum of the squared degrees of the rows, how many rows have one entry, and how many none.
struct DegreeStatistics {
    std::uint64_t squares = 0;
    std::int64_t ones = 0, empty = 0;
};

// What a sample of pairs of neighbouring rows tells about the order of the rows.
struct OrderSigns {
    int pairs = 0;  // of which both rows have entries
    // The median distance of their middle entries, in columns; that of those of two rows that are
    // far apart.
    double near = 0, far = 0;
    bool ascending = true;  // the degrees; not if all are equal
};

// Reads: some rows for each of 512 pairs. Time: O(1).
template <class Index>
OrderSigns order_signs(const Csr<Index>& a) {
    constexpr std::int64_t n_samples = 512;
    constexpr Index block = 16;  // rows, of which some differ
    OrderSigns signs;
    if (a.n_rows < 2) return signs;
    std::vector<Index> here, near, far;
    Index least = a.degree(0), last = least;
    const auto middle = [&](Index i) {
        return a.degree(i) ? a.neighbours(i)[a.degree(i) / 2] : UNMATCHED<Index>;
    };
    for (std::int64_t k = 0; k < n_samples; ++k) {
        const auto i = static_cast<Index>((a.n_rows - 2) * k / (n_samples - 1));
        signs.ascending &= a.degree(i) >= std::exchange(last, a.degree(i));
        // The unknowns of a point have the same columns, however these are numbered.
        const Index end = std::min<Index>(a.n_rows - i, block) + i;
        Index other = i + 1;
        while (other < end && middle(other) == middle(i)) ++other;
        if (other == end || middle(i) < 0 || middle(other) < 0) continue;
        here.push_back(middle(i));
        near.push_back(std::abs(middle(other) - here.back()));
    }
    signs.ascending &= last > least;
    signs.pairs = static_cast<int>(here.size());
    for (std::size_t k = 0; k < here.size(); ++k)
        far.push_back(std::abs(here[k] - here[here.size() - 1 - k]));
    const auto median = [](std::vector<Index>& values) {
        if (values.empty()) return 0.0;
        std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
        return static_cast<double>(values[values.size() / 2]);
    };
    signs.near = median(near);
    signs.far = median(far);
    return signs;
}

// Reads: indptr. Time: O(n_rows).
template <class Index>
DegreeStatistics degree_statistics(const Csr<Index>& a) {
    DegreeStatistics statistics;
    for (Index i = 0; i < a.n_rows; ++i) {
        const auto degree = static_cast<std::uint64_t>(a.degree(i));
        statistics.squares += degree * degree;
        statistics.ones += degree == 1;
        statistics.empty += degree == 0;
    }
    return statistics;
}

// The sum of the squared degrees of the columns.
// Reads: the matrix. Workspace: one index per column. Time: O(n_cols + nnz).
template <class Index>
std::uint64_t column_squares(const Csr<Index>& a) {
    Buffer<Index> degree(a.n_cols, 0);
    for (Index p = 0; p < a.nnz(); ++p) ++degree[a.indices[p]];
    std::uint64_t squares = 0;
    for (const Index d : degree) squares += static_cast<std::uint64_t>(d) * d;
    return squares;
}

// The share of the columns that have one entry, by a sample of one column in 64.
// Reads: the indices. Workspace: a byte per column. Time: O(n_cols + nnz).
template <class Index>
double share_of_columns_with_one(const Csr<Index>& a) {
    const auto in_sample = [](Index j) {  // the top bits of a multiplicative hash
        return static_cast<std::uint32_t>(j) * 0x9e3779b1u >> 26 == 0;
    };
    constexpr Index some = 1024;  // entries, of which those in the sample are listed branch-free
    Index list[some + 1];
    Buffer<std::uint8_t> degree(a.n_cols, 0);
    for (Index begin = 0, end; begin < a.nnz(); begin = end) {
        end = begin + std::min(a.nnz() - begin, some);
        Index n = 0;
        for (Index p = begin; p < end; ++p) {
            list[n] = a.indices[p];
            n += in_sample(a.indices[p]);
        }
        for (Index k = 0; k < n; ++k) degree[list[k]] += degree[list[k]] < 2;
    }
    std::int64_t n = 0, ones = 0;
    for (Index j = 0; j < a.n_cols; ++j) {
        n += in_sample(j);
        ones += in_sample(j) && degree[j] == 1;
    }
    return n ? static_cast<double>(ones) / static_cast<double>(n) : 0;
}

// With how many other rows a row shares two columns, on average: several in a mesh, hardly any
// where columns are random. An estimate: the columns of some sample rows are marked, few of all
// columns, and a part of all rows is scanned for marks. A column of two sample rows is marked for
// one of them; a row that repeats a column shares it twice.
// Reads: the matrix. Workspace: two bytes per column. Time: O(n_cols + nnz / 16).
template <class Index>
double shared_pair_density(const Csr<Index>& a) {
    constexpr int most = 1024;                 // rows of the sample
    constexpr Index few = 1 << 16, part = 16;  // rows from which a part is read, and which
    constexpr Index run = 64;                  // of these are read one after the other
    if (a.n_rows == 0) return 0;
    const Index parts = a.n_rows < few ? 1 : part;
    // the sample rows; which row last shared an unpaired column with each
    std::vector<Index> sample(1), last(1 + most, UNMATCHED<Index>);
    Buffer<std::uint16_t> mark(a.n_cols, 0);
    int n = 0;
    for (Index marked = 0; n < most && marked <= a.n_cols / 16;) {
        const Index i = static_cast<Index>(hash(++n) % a.n_rows);
        sample.push_back(i);
        for (const Index j : a.neighbours(i)) mark[j] = static_cast<std::uint16_t>(n);
        marked += a.degree(i) + 1;
    }
    std::int64_t pairs = 0;
    for (Index begin = 0; begin < a.n_rows; begin += std::min<Index>(a.n_rows - begin, run * parts))
        for (Index i = begin, end = begin + std::min<Index>(a.n_rows - begin, run); i < end; ++i)
            for (const Index j : a.neighbours(i)) {
                const auto k = mark[j];
                if (k == 0 || sample[k] == i) continue;
                pairs += last[k] == i;
                last[k] = last[k] == i ? UNMATCHED<Index> : i;
            }
    return static_cast<double>(pairs) * parts / n;
}

}  // namespace sparsematch
