// Vertices of a directed graph over ranks that are strong components by themselves, since they have
// no predecessor left: trimming (McLendon, Hendrickson, Plimpton, Rauchwerger, Finding strongly
// connected components in distributed graphs, JPDC 65, 2005), as topological sorting does it.
//
// A rank follows its lists as long as it owns the successors; that a vertex of another rank has
// lost a predecessor goes out in a letter.
//
// Invariant: a vertex is trimmed after all its predecessors, and its level is one more than the
// largest of theirs, so levels sort the trimmed vertices topologically, and none is skipped.
#pragma once

#include "matching/over_ranks/post.hpp"

namespace sparsematch::over_ranks {

template <class Index>
class Trimming {
  public:
    // `count`: predecessors that each own vertex has left, with repetitions, negative where it
    // takes no part; 0 afterwards where it was trimmed. `level` must be 0. `budget`: entries read
    // in a step, about.
    Trimming(const std::int64_t* indptr, const Index* indices, Index* count, Index* level,
             Owners<Index> owners, std::int64_t budget)
        : indptr_(indptr), indices_(indices), count_(count), level_(level), budget_(budget),
          owners_(std::move(owners)), post_(owners_.size(), 1) {
        for (Index v = 0; v < owners_.n(); ++v)
            if (count_[v] == 0) stack_.push_back(v);
    }

    void step(bool) {
        post_.receive([this](int, std::span<const Index> words) {
            for (std::size_t k = 0; k < words.size(); k += 2)
                lose(words[k] - owners_.first(), words[k + 1]);
        });
        for (std::int64_t read = 0; !stack_.empty() && read < budget_;) {
            const Index v = stack_.back(), next = level_[v] + 1;
            stack_.pop_back();
            read += indptr_[v + 1] - indptr_[v];
            for (auto p = indptr_[v]; p < indptr_[v + 1]; ++p) {
                const Index w = indices_[p];
                if (owners_.own(w)) lose(w - owners_.first(), next);
                else post_.send(owners_(w), 0, w, next);
            }
        }
        post_.seal(!stack_.empty() || post_.any(0));
    }

    Post<Index>& post() { return post_; }
    std::size_t bytes() const { return post_.bytes() + stack_.capacity() * sizeof(Index); }

  private:
    // An own vertex loses a predecessor, which is one level above `level`.
    void lose(Index v, Index level) {
        if (count_[v] <= 0) return;
        level_[v] = std::max(level_[v], level);
        if (--count_[v] == 0) stack_.push_back(v);
    }

    const std::int64_t* indptr_;
    const Index* indices_;
    Index *count_, *level_;
    const std::int64_t budget_;
    const Owners<Index> owners_;
    Post<Index> post_;
    std::vector<Index> stack_;  // trimmed, to be followed
};

}  // namespace sparsematch::over_ranks
