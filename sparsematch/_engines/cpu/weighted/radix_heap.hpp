// A priority queue of columns by distance, for keys that never fall below the last one taken.
//
// Ahuja, Mehlhorn, Orlin, Tarjan: Faster algorithms for the shortest path problem (J. ACM 37,
// 1990): a key is in the bucket of the highest bit in which it differs from the last minimum; the
// first bucket that has keys is dealt out to those before it when these are empty. Doubles from +0
// on are in the order of their bits; -0, which would be the largest, is no sum of a distance and a
// reduced cost. All keys that are equal to the minimum are in one bucket, in the order in which
// they came, so that a reader can look ahead. Time: a key moves down at most 64 times, one to three
// times as a rule.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace sparsematch {

template <class Index>
class RadixHeap {
  public:
    struct Entry {
        double key;
        Index j;
    };

    void clear() {
        for (auto& bucket : buckets_) bucket.clear();
        last_ = used_ = 0;
    }

    void push(double key, Index j) {
        const int b = 64 - std::countl_zero(std::bit_cast<std::uint64_t>(key) ^ last_);
        buckets_[b].push_back({key, j});
        if (b > 0) used_ |= std::uint64_t{1} << (b - 1);
    }

    // The entries with the least key. It grows while keys equal to it are pushed.
    const std::vector<Entry>& least() const { return buckets_[0]; }

    // Drops these, and those that is_current(entry) denies, and finds the next. False: none.
    template <class IsCurrent>
    bool advance(const IsCurrent& is_current) {
        buckets_[0].clear();
        while (used_ != 0) {
            auto& from = buckets_[std::countr_zero(used_) + 1];
            used_ &= used_ - 1;
            std::erase_if(from, [&](const Entry& e) { return !is_current(e); });
            if (from.empty()) continue;
            double least = std::numeric_limits<double>::infinity();
            for (const Entry& e : from) least = e.key < least ? e.key : least;
            last_ = std::bit_cast<std::uint64_t>(least);
            for (const Entry& e : from) push(e.key, e.j);
            from.clear();
            return true;
        }
        return false;
    }

  private:
    std::array<std::vector<Entry>, 65> buckets_;
    std::uint64_t last_ = 0, used_ = 0;  // bits of the last minimum; buckets that may have keys
};

}  // namespace sparsematch
