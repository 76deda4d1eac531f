// Trimming over ranks: vertices of a directed graph that are strong components by themselves, since
// all their predecessors are (McLendon, Hendrickson, Plimpton, Rauchwerger, Finding strongly
// connected components in distributed graphs, JPDC 65, 2005), by topological sorting.
//
// A rank trims its vertices one by one; messages tell successors on others of a lost predecessor.
//
// Invariant: a vertex is trimmed after all its predecessors, and its level is one more than the
// largest of theirs, so levels sort the trimmed vertices topologically, and none is skipped.
#pragma once

#include "matching/over_ranks/message_buffers.hpp"

namespace sparsematch::over_ranks {

template <class Index> class Trimming {
  public:
    // `count`: remaining predecessors of each own vertex, with repetitions, negative for vertices
    // to ignore; 0 afterwards for those trimmed. `level` must be 0. `budget`: entries a step.
    Trimming(const std::int64_t* indptr, const Index* indices, Index* count, Index* level,
             Owners<Index> owners, std::int64_t budget)
        : messages(owners.size(), 1), indptr_(indptr), indices_(indices), count_(count),
          level_(level), budget_(budget), owners_(std::move(owners)) {
        for (Index v = 0; v < owners_.n(); ++v)
            if (count_[v] == 0) stack_.push_back(v);
    }

    void step(bool) {
        messages.receive([this](int, std::span<const Index> words) {
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
                else messages.send(owners_(w), 0, w, next);
            }
        }
        messages.pack(!stack_.empty() || messages.any(0));
    }

    MessageBuffers<Index> messages;

  private:
    // An own vertex loses a predecessor; its level is at least `level`.
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
    std::vector<Index> stack_;  // trimmed, successors not updated yet
};

}  // namespace sparsematch::over_ranks
