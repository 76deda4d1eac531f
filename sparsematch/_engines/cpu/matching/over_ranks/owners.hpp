// Which rank owns a vertex.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch::over_ranks {

// The ranks own consecutive vertices: `size` + 1 starts.
template <class Index>
class Owners {
    using Unsigned = std::make_unsigned_t<Index>;
    static constexpr Index buckets = 1 << 12;

  public:
    Owners(const std::int64_t* starts, int size, int rank)
        : starts_(starts, starts + size + 1), rank_(rank), first_(starts_[rank]),
          n_(starts_[rank + 1] - starts_[rank]) {
        const Index n = starts_[size];
        while (n >> shift_ >= buckets) ++shift_;
        int owner = 0;
        for (Index b = 0; b <= n >> shift_; ++b) {
            while (owner + 1 < size && b << shift_ >= starts_[owner + 1]) ++owner;
            of_bucket_.push_back(owner);
        }
    }
    int size() const { return static_cast<int>(starts_.size()) - 1; }
    int rank() const { return rank_; }
    Index first() const { return first_; }
    Index n() const { return n_; }
    SPARSEMATCH_INLINE bool own(Index v) const {
        return static_cast<Unsigned>(v - first_) < static_cast<Unsigned>(n_);
    }
    SPARSEMATCH_INLINE int operator()(Index v) const {
        int owner = of_bucket_[v >> shift_];
        while (v >= starts_[owner + 1]) ++owner;
        return owner;
    }

  private:
    std::vector<Index> starts_;
    int rank_;
    Index first_, n_;
    int shift_ = 0;
    std::vector<int> of_bucket_;
};

}  // namespace sparsematch::over_ranks
