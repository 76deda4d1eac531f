// Disjoint sets: union by smaller number, so that a root is the first element; path halving.
#pragma once

#include "core/csr.hpp"

namespace sparsematch {

template <class Index> class UnionFind {
  public:
    explicit UnionFind(Index n) : parent_(n) {
        for (Index v = 0; v < n; ++v) parent_[v] = v;
    }
    std::size_t size() const { return parent_.size(); }
    Index find(Index v) {
        while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
        return v;
    }
    void unite(Index v, Index w) {
        const Index r = find(v), s = find(w);
        if (r < s) parent_[s] = r;
        else parent_[r] = s;
    }

  private:
    Buffer<Index> parent_;
};

}  // namespace sparsematch
