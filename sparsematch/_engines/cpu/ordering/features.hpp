// Features by which an engine is chosen: statistics of the degrees, and locality by a sample.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/portability.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Of some rows or columns: how many there are, their entries, the sum of their squared degrees, how
// many have one entry, and how many none.
struct DegreeStatistics {
    std::int64_t n = 0, entries = 0;
    std::uint64_t squares = 0;
    std::int64_t n_ones = 0, empty = 0;

    double mean() const { return n ? static_cast<double>(entries) / static_cast<double>(n) : 0; }
    // The variance over the mean: 0 where all are equal, 1 in random graphs.
    double variation() const {
        return entries ? static_cast<double>(squares) / static_cast<double>(entries) - mean() : 0;
    }
    // The fraction of degree one.
    double ones() const { return n ? static_cast<double>(n_ones) / static_cast<double>(n) : 0; }

    // Adds those from begin to end - 1; in sums as narrow as an index, that the loop is vectorised.
    template <class Index, class Degree> void add(Index begin, Index end, const Degree& degree) {
        Index sum = 0, single = 0, none = 0;
        std::uint64_t n_squares = 0;
        for (Index k = begin; k < end; ++k) {
            const auto d = static_cast<std::make_unsigned_t<Index>>(degree(k));
            sum += d;
            n_squares += static_cast<std::uint64_t>(d) * d;
            single += d == 1;
            none += d == 0;
        }
        add({end - begin, sum, n_squares, single, none});
    }
    void add(const DegreeStatistics& part) {
        n += part.n;
        entries += part.entries;
        squares += part.squares;
        n_ones += part.n_ones;
        empty += part.empty;
    }
};

// The order of the rows, by a sample of pairs of neighbouring ones.
struct OrderFeatures {
    int pairs = 0;  // of which both rows have entries
    // The median distance of their middle entries, in columns; that of rows that are far apart.
    double near = 0, far = 0;
    bool ascending = true;  // the degrees; not if all are equal

    // Whether the distance of neighbours is below this share of that of any two rows; true, too,
    // where there are too few pairs to tell.
    bool are_near(double share) const {
        constexpr int few = 16;
        return pairs < few || near < share * far;
    }
};

// Reads: some rows for each of 512 pairs. Time: O(1).
template <class Index> OrderFeatures order_features(const Csr<Index>& a) {
    constexpr std::int64_t n_samples = 512;
    constexpr Index block = 16;  // rows, of which some differ
    OrderFeatures order;
    if (a.n_rows < 2) return order;
    std::vector<Index> here, near, far;
    Index least = a.degree(0), last = least;
    const auto middle = [&](Index i) {
        return a.degree(i) ? a.neighbours(i)[a.degree(i) / 2] : UNMATCHED<Index>;
    };
    for (std::int64_t k = 0; k < n_samples; ++k) {
        const auto i = static_cast<Index>((a.n_rows - 2) * k / (n_samples - 1));
        order.ascending &= a.degree(i) >= std::exchange(last, a.degree(i));
        // The unknowns of a point have the same columns, however these are numbered.
        const Index end = std::min<Index>(a.n_rows - i, block) + i;
        Index other = i + 1;
        while (other < end && middle(other) == middle(i)) ++other;
        if (other == end || middle(i) < 0 || middle(other) < 0) continue;
        here.push_back(middle(i));
        near.push_back(std::abs(middle(other) - here.back()));
    }
    order.ascending &= last > least;
    order.pairs = static_cast<int>(here.size());
    for (std::size_t k = 0; k < here.size(); ++k)
        far.push_back(std::abs(here[k] - here[here.size() - 1 - k]));
    const auto median = [](std::vector<Index>& values) {
        if (values.empty()) return 0.0;
        std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
        return static_cast<double>(values[values.size() / 2]);
    };
    order.near = median(near);
    order.far = median(far);
    return order;
}

// Reads: indptr. Time: O(n_rows).
template <class Index> DegreeStatistics degree_statistics(const Csr<Index>& a, RunContext& run) {
    std::vector<DegreeStatistics> part(run.team.size());
    run.team.loop(a.n_rows, 1 << 14, [&](int rank, Index begin, Index end) {
        part[rank].add(begin, end, [&](Index i) { return a.degree(i); });
    });
    for (int rank = 1; rank < run.team.size(); ++rank) part[0].add(part[rank]);
    return part[0];
}

// Of each block of 2^shift columns one, at a hashed place: all up to 2048 columns, else 1024 to
// 2048. So the relative standard error of the variance of the degrees is about 4% where these are
// as in a random graph, and that of a share of 2% is 20%; a few columns that have most of the
// entries are likely to be missed.
// Reads: the indices. Workspace: an index per column of the sample and worker. Time: O(nnz), as a
// stream: 32 entries are tested at once, in 16 bits each.
template <class Index> DegreeStatistics column_statistics(const Csr<Index>& a, RunContext& run) {
    constexpr Index most = 1 << 11;  // columns
    constexpr int group = 32;        // entries
    DegreeStatistics statistics;
    if (a.n_cols == 0) return statistics;
    const Index last = a.n_cols - 1;
    const int shift = std::min<int>(std::bit_width(static_cast<std::uint64_t>(last / most)), 16);
    // the place in its block, as the highest of 16 bits
    const auto place = [mask = 0xffff0000u >> shift](std::uint16_t block) {
        return static_cast<std::uint16_t>(block * 0x9e37u & mask);
    };
    const auto is_sampled = [=](Index j) {
        return place(static_cast<std::uint16_t>(j >> shift)) ==
               static_cast<std::uint16_t>(static_cast<std::uint32_t>(j) << (16 - shift));
    };
    const Index n_blocks = (last >> shift) + 1;
    Buffer<Index> degree(static_cast<std::size_t>(n_blocks) * run.team.size(), 0);
    run.team.loop(a.nnz(), 1 << 17, [&](int rank, std::int64_t begin, std::int64_t end) {
        Index* const own = degree.data() + static_cast<std::size_t>(n_blocks) * rank;
        const auto count = [&](const Index* p, int n) SPARSEMATCH_INLINE {
            std::uint16_t sampled[group], any = 0;
            for (int k = 0; k < n; ++k) any |= sampled[k] = is_sampled(p[k]);
            if (any)
                for (int k = 0; k < n; ++k) own[p[k] >> shift] += sampled[k];
        };
        const Index *p = a.indices + begin, *const stop = a.indices + end;
        for (; stop - p >= group; p += group) count(p, group);
        count(p, static_cast<int>(stop - p));
    });
    for (std::size_t k = n_blocks; k < degree.size(); ++k) degree[k % n_blocks] += degree[k];
    // of the last block, which may be shorter, perhaps none
    const Index rest = place(static_cast<std::uint16_t>(n_blocks - 1)) >> (16 - shift);
    const bool ends_before = rest > (last & ((Index{1} << shift) - 1));
    statistics.add(Index{0}, static_cast<Index>(n_blocks - ends_before),
                   [&](Index k) { return degree[k]; });
    return statistics;
}

// With how many other rows a row shares two columns, on average: several in a mesh, hardly any
// where columns are random. An estimate: the columns of some sample rows are marked, few of all
// columns, and a part of all rows is scanned for marks. A column of two sample rows is marked for
// one of them; a row that repeats a column shares it twice.
// Reads: the matrix. Workspace: two bytes and a bit per column. Time: O(n_cols + nnz / 16).
template <class Index> double shared_pair_density(const Csr<Index>& a, RunContext& run) {
    constexpr int most = 1024;                       // rows of the sample
    constexpr Index few = 1 << 12, most_parts = 16;  // rows of which a part is read, at least
    constexpr Index together = 64;                   // of these are read one after the other
    if (a.n_rows == 0) return 0;
    const Index parts = std::clamp<Index>(a.n_rows / few, 1, most_parts);
    std::vector<Index> sample(1);
    Bitmap marked(a.n_cols);
    Buffer<std::uint16_t> mark(a.n_cols);  // where there is a bit
    int n = 0;
    for (Index total = 0; n < most && total <= a.n_cols / 16;) {
        const Index i = static_cast<Index>(hash(++n) % a.n_rows);
        sample.push_back(i);
        for (const Index j : a.neighbours(i)) {
            mark[j] = static_cast<std::uint16_t>(n);
            marked.set(j);
        }
        total += a.degree(i) + 1;
    }
    std::atomic<std::int64_t> pairs{0};
    const std::int64_t period = static_cast<std::int64_t>(together) * parts;
    run.team.loop(
        (a.n_rows + period - 1) / period, 16, [&](int, std::int64_t begin, std::int64_t end) {
            // which row last shared an unpaired column with each of the sample
            std::vector<Index> last(sample.size(), UNMATCHED<Index>);
            std::int64_t found = 0;
            for (; begin < end; ++begin) {
                const auto first = static_cast<Index>(begin * period);
                for (Index i = first, stop = first + std::min<Index>(a.n_rows - first, together);
                     i < stop; ++i)
                    for (const Index j : a.neighbours(i)) {
                        if (!marked.test(j)) continue;
                        const auto k = mark[j];
                        if (sample[k] == i) continue;
                        found += last[k] == i;
                        last[k] = last[k] == i ? UNMATCHED<Index> : i;
                    }
            }
            pairs.fetch_add(found, std::memory_order_relaxed);
        });
    return static_cast<double>(pairs) * parts / n;
}

}  // namespace sparsematch
