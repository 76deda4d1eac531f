// Augmentation along all paths of a forest over ranks at once.
//
// Path-parallel, as Algorithm 4 of Azad, Buluc (IPDPS 2016): each path is followed from its leaf to
// its root; each minor is matched to its parent, and the next minor is the one that the parent was
// matched to, stored with the minor when it was reached: a step is one message, not two. Trees are
// disjoint, so paths are. A rank follows a path as far as it owns the minors, then another does.
#pragma once

#include "matching/over_ranks/forest.hpp"

namespace sparsematch::over_ranks {

template <class Index> class Augmentation {
    enum Kind : int { FOLLOW, PAIR, KINDS };

  public:
    // Writes the mates; paths begin at the leaves of own roots.
    Augmentation(const ForestArrays<Index>& arrays, Index* major_mate, Index* minor_mate,
                 Owners<Index> majors, Owners<Index> minors)
        : messages(majors.size(), KINDS), a_(arrays), major_mate_(major_mate),
          minor_mate_(minor_mate), majors_(std::move(majors)), minors_(std::move(minors)) {}

    void step(bool) {
        messages.receive([this](int kind, std::span<const Index> words) {
            if (kind == FOLLOW)
                for (const Index j : words) follow(j);
            else
                for (std::size_t k = 0; k < words.size(); k += 2)
                    major_mate_[words[k] - majors_.first()] = words[k + 1];
        });
        if (!started_)
            for (Index u = 0; u < majors_.n(); ++u)
                if (a_.leaf[u] >= 0) ++paths_, follow(a_.leaf[u]);
        started_ = true;
        messages.pack(messages.any(FOLLOW) || messages.any(PAIR));
    }

    std::int64_t paths() const { return paths_; }
    std::int64_t pairs() const { return pairs_; }
    MessageBuffers<Index> messages;

  private:
    // Augments along a path from minor j on, as far as this rank owns the minors.
    void follow(Index j) {
        while (j >= 0) {
            if (!minors_.own(j)) return messages.send(minors_(j), FOLLOW, j);
            const Index m = j - minors_.first(), parent = a_.minor_parent[m];
            minor_mate_[m] = parent;
            ++pairs_;
            if (majors_.own(parent)) major_mate_[parent - majors_.first()] = j;
            else messages.send(majors_(parent), PAIR, parent, j);
            j = a_.minor_before[m];
        }
    }

    const ForestArrays<Index> a_;
    Index *major_mate_, *minor_mate_;
    const Owners<Index> majors_, minors_;
    bool started_ = false;
    std::int64_t paths_ = 0, pairs_ = 0;
};

}  // namespace sparsematch::over_ranks
