// Vertices by degree: a doubly linked list for each degree.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/csr.hpp"

namespace sparsematch {

template <class Index>
class DegreeLists {
    static constexpr Index none = UNMATCHED<Index>;

  public:
    // No vertex of n is in a list.
    void clear(std::size_t n) {
        next.resize(n), previous_.resize(n);
        head_.assign(n + 1, none);
        least_ = 0;
    }
    void insert(Index i, Index degree) {
        next[i] = head_[degree], previous_[i] = none;
        if (head_[degree] != none) previous_[head_[degree]] = i;
        head_[degree] = i;
        least_ = std::min(least_, degree);
    }
    void unlink(Index i, Index degree) {
        if (next[i] != none) previous_[next[i]] = previous_[i];
        if (previous_[i] != none) next[previous_[i]] = next[i];
        else head_[degree] = next[i];
    }
    // Unlinks a vertex of the least degree; there is one.
    Index pop_least() {
        while (head_[least_] == none) ++least_;
        const Index i = head_[least_];
        unlink(i, least_);
        return i;
    }

    std::vector<Index> next;  // of a vertex that is in no list: free to use

  private:
    std::vector<Index> head_, previous_;
    Index least_ = 0;
};

}  // namespace sparsematch
