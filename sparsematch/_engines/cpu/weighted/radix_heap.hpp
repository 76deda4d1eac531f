// A priority queue of columns by distance, for keys that never fall below the last one taken.
//
// Ahuja, Mehlhorn, Orlin, Tarjan: Faster algorithms for the shortest path problem (J. ACM 37,
// 1990): a key is in the bucket of the highest bit in which it differs from the last minimum; the
// first bucket that has keys is dealt out to those before it when these are empty. Doubles from +0
// on are in the order of their bits; -0, which would be the largest, is no sum of a distance and a
// reduced cost. All keys that are equal to the minimum are in one array, so that a reader can look
// ahead; other buckets are lists. A key moves down 64 times at most, mostly one to three.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

template <class Index> class RadixHeap {
  public:
    struct Entry {
        double key;
        Index j;
    };

    void clear() {
        least_.clear(), pool_.clear();
        last_ = used_ = 0;
    }

    void push(double key, Index j) {
        const int b = bucket(key);
        if (b < 0) return least_.push_back({key, j});
        pool_.push_back({key, j, UNMATCHED<Index>});
        link(b, static_cast<Index>(pool_.size() - 1));
    }

    // The entries with the least key. It grows while keys equal to it are pushed.
    const std::vector<Entry>& least() const { return least_; }

    // Drops these, and those that is_current(entry) denies, and finds the next. False: none.
    template <class IsCurrent> bool advance(const IsCurrent& is_current) {
        least_.clear();
        while (used_ != 0) {
            const int from = std::countr_zero(used_);
            used_ &= used_ - 1;
            Index kept = UNMATCHED<Index>;
            double least = infinity;
            for (Index k = first_[from], next; k != UNMATCHED<Index>; k = next) {
                next = pool_[k].next;
                if (!is_current(pool_[k])) continue;
                least = std::min(least, pool_[k].key);
                pool_[k].next = std::exchange(kept, k);
            }
            if (kept == UNMATCHED<Index>) continue;
            last_ = std::bit_cast<std::uint64_t>(least);
            for (Index k = kept, next; k != UNMATCHED<Index>; k = next) {
                next = pool_[k].next;
                const int b = bucket(pool_[k].key);
                if (b < 0) least_.push_back({pool_[k].key, pool_[k].j});
                else link(b, k);
            }
            return true;
        }
        return false;
    }

  private:
    struct Node {
        double key;
        Index j, next;
    };

    // -1: of the least.
    int bucket(double key) const {
        return 63 - std::countl_zero(std::bit_cast<std::uint64_t>(key) ^ last_);
    }
    void link(int b, Index k) {
        const std::uint64_t flag = std::uint64_t{1} << b;
        pool_[k].next = used_ & flag ? first_[b] : UNMATCHED<Index>;
        first_[b] = k;
        used_ |= flag;
    }

    std::vector<Entry> least_;
    std::vector<Node> pool_;
    std::array<Index, 64> first_;        // of each bucket that is used: a list
    std::uint64_t last_ = 0, used_ = 0;  // bits of the last minimum; buckets that have keys
};

}  // namespace sparsematch
