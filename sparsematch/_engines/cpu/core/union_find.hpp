// Disjoint sets: union by smaller number, so that a root is the first element; path halving.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/csr.hpp"

namespace sparsematch {

template <class Index> class UnionFind {
  public:
    explicit UnionFind(Index n) : parent_(n) {
        for (Index v = 0; v < n; ++v) parent_[v] = v;
    }
    std::size_t size() const { return parent_.size(); }
    // Others may unite and find at the same time: parents only ever rise.
    Index find(Index v) {
        for (Index up; (up = peek(parent_[v])) != v; v = up) {
            up = peek(parent_[up]);
            poke(parent_[v], up);
        }
        return v;
    }
    void unite(Index v, Index w) {
        const Index r = find(v), s = find(w);
        if (r < s) parent_[s] = r;
        else parent_[r] = s;
    }

    void unite_shared(Index v, Index w) {
        for (Index r = find(v), s = find(w); r != s; r = find(r), s = find(s))
            if (Index root = std::max(r, s);
                std::atomic_ref(parent_[root]).compare_exchange_strong(root, std::min(r, s)))
                return;
    }

  private:
    Buffer<Index> parent_;
};

}  // namespace sparsematch
