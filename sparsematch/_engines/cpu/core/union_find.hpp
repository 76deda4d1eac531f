// Disjoint sets: union by smaller number, so that a root is the first element; path halving.
// Several threads may unite at a time: what one reads may be old, but is an ancestor all the same.
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
    Index find(Index v) {
        for (Index parent; (parent = peek(parent_[v])) != v; v = parent) {
            const Index above = peek(parent_[parent]);
            if (above != parent) poke(parent_[v], above);
        }
        return v;
    }
    // Returns the root, or v where that is known to be above w.
    Index unite(Index v, Index w) {
        if (peek(parent_[w]) == v) return v;
        for (;;) {
            auto [first, root] = std::minmax({find(v), find(w)});
            if (first == root) return first;
            const std::atomic_ref<Index> parent(parent_[root]);
            if (parent.compare_exchange_weak(root, first, std::memory_order_relaxed)) return first;
        }
    }

  private:
    Buffer<Index> parent_;
};

}  // namespace sparsematch
