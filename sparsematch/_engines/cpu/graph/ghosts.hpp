// The numbering of a rank that has consecutive vertices of a graph with their lists: its own
// vertices from 0 on, then its ghosts, the vertices of other ranks that the lists name, ascending.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace sparsematch {

// Reads: lists that name vertices by their numbers within the whole graph. What it finds takes
// memory in proportion to these lists, as does its workspace: the graph may be far larger. Time:
// O(entries) for each window of vertices, of which there are several only where the graph has 32
// times as many vertices as the lists have entries.
template <class Index> class Ghosts {
  public:
    // starts: where the vertices of each rank begin, and their end.
    Ghosts(const Graph<Index>& g, std::span<const std::int64_t> starts, int rank, RunContext& run)
        : first_(static_cast<Index>(starts[rank])), n_own_(g.n), local_(g.nnz()) {
        const std::int64_t n = starts.back(),
                           width = std::max<std::int64_t>(1 << 16, 32 * std::int64_t{g.nnz()});
        std::vector<std::uint64_t> bits((std::min(n, width) + 63) / 64);
        std::vector<Index> before(bits.size());
        WorkCounter counter(run);
        for (std::int64_t begin = 0; begin < n && counter.add(g.nnz()); begin += width)
            number(g, begin, std::min(width, n - begin), bits, before);
        for (const std::int64_t start : starts)
            rank_starts_.push_back(static_cast<Index>(
                std::lower_bound(ghosts_.begin(), ghosts_.end(), start) - ghosts_.begin()));
        while (n >> shift_ > size() / 2) ++shift_;
        for (Index k = 0; k < size(); ++k) buckets_.resize((ghosts_[k] >> shift_) + 1, k);
        buckets_.resize((n >> shift_) + 2, size());
    }

    Index size() const { return static_cast<Index>(ghosts_.size()); }
    // The lists with the vertices numbered as above.
    const Index* local() const { return local_.data(); }

    bool is_ghost(Index v) const { return v >= n_own_; }
    // What v is called in the whole graph.
    Index number(Index v) const { return is_ghost(v) ? ghosts_[v - n_own_] : first_ + v; }
    // The own vertex of this number.
    Index own(Index number) const { return number - first_; }
    // The ghost of this number; there must be one.
    Index ghost(Index number) const {
        const auto range = buckets_.begin() + (number >> shift_);
        const auto found =
            std::lower_bound(ghosts_.begin() + range[0], ghosts_.begin() + range[1], number);
        return n_own_ + static_cast<Index>(found - ghosts_.begin());
    }
    // The rank that owns a ghost.
    int owner(Index v) const {
        const auto after = std::upper_bound(rank_starts_.begin(), rank_starts_.end(), v - n_own_);
        return static_cast<int>(after - rank_starts_.begin()) - 1;
    }
    // The first ghost that belongs to a rank behind this one.
    Index end_of(int rank) const { return n_own_ + rank_starts_[rank + 1]; }

  private:
    // Numbers the ghosts within a window of vertices: marks them, then ranks them by their bits.
    void number(const Graph<Index>& g, std::int64_t begin, std::int64_t width,
                std::vector<std::uint64_t>& bits, std::vector<Index>& before) {
        const auto each = [&](const auto& visit) {
            for (Index p = 0; p < g.nnz(); ++p) {
                const std::uint64_t place = static_cast<std::uint64_t>(g.indices[p] - begin);
                if (place < static_cast<std::uint64_t>(width)) visit(p, place);
            }
        };
        std::fill(bits.begin(), bits.end(), 0);
        each([&](Index p, std::uint64_t place) {
            bits[place >> 6] |= std::uint64_t{!is_own(g.indices[p])} << (place & 63);
        });
        for (std::size_t k = 0; k < bits.size(); ++k) {
            before[k] = size();
            for (std::uint64_t left = bits[k]; left; left &= left - 1)
                ghosts_.push_back(static_cast<Index>(begin + 64 * k + std::countr_zero(left)));
        }
        each([&](Index p, std::uint64_t place) {
            const std::uint64_t below = (std::uint64_t{1} << (place & 63)) - 1;
            local_[p] = is_own(g.indices[p])
                            ? own(g.indices[p])
                            : n_own_ + before[place >> 6] + std::popcount(bits[place >> 6] & below);
        });
    }
    bool is_own(Index v) const { return v >= first_ && v - first_ < n_own_; }

    Index first_, n_own_;
    Buffer<Index> local_;
    std::vector<Index> ghosts_, rank_starts_;
    // The ghosts whose numbers agree but for the lowest bits begin where their bucket says.
    int shift_ = 0;
    std::vector<Index> buckets_;
};

}  // namespace sparsematch
