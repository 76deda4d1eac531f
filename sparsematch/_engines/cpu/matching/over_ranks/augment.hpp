// Augmentation along all paths of a forest over ranks at once.
//
// Path-parallel, as Algorithm 4 of Azad, Buluc (IPDPS 2016): the walker of a path stands at a
// minor, matches it to its parent, and goes on to the minor that the parent was matched to, which
// was noted when the minor was reached: a step is one message, not two. Trees are disjoint, so
// walkers never meet. A rank moves its walkers as far as it owns the minors.
#pragma once

#include "matching/over_ranks/forest.hpp"

namespace sparsematch::over_ranks {

template <class Index>
class Augmentation {
    enum Kind : int { WALKER, PAIR, KINDS };

  public:
    // The mates are written; `leaf` is that of the own roots, and names where the paths begin.
    Augmentation(const ForestArrays<Index>& arrays, Index* major_mate, Index* minor_mate,
                 Owners<Index> majors, Owners<Index> minors)
        : a_(arrays), major_mate_(major_mate), minor_mate_(minor_mate), majors_(std::move(majors)),
          minors_(std::move(minors)), post_(majors_.size(), KINDS) {}

    void step(bool) {
        post_.receive([this](int kind, std::span<const Index> words) {
            if (kind == WALKER)
                for (const Index j : words) walk(j);
            else
                for (std::size_t k = 0; k < words.size(); k += 2)
                    major_mate_[words[k] - majors_.first()] = words[k + 1];
        });
        if (!started_)
            for (Index u = 0; u < majors_.n(); ++u)
                if (a_.leaf[u] >= 0) ++paths_, walk(a_.leaf[u]);
        started_ = true;
        post_.seal(post_.any(WALKER) || post_.any(PAIR));
    }

    std::int64_t paths() const { return paths_; }
    std::int64_t pairs() const { return pairs_; }
    Post<Index>& post() { return post_; }
    std::size_t bytes() const { return post_.bytes(); }

  private:
    // Moves a walker as far as this rank owns the minors.
    void walk(Index j) {
        while (j >= 0) {
            if (!minors_.own(j)) return post_.send(minors_(j), WALKER, j);
            const Index m = j - minors_.first(), parent = a_.minor_parent[m];
            minor_mate_[m] = parent;
            ++pairs_;
            if (majors_.own(parent)) major_mate_[parent - majors_.first()] = j;
            else post_.send(majors_(parent), PAIR, parent, j);
            j = a_.minor_before[m];
        }
    }

    const ForestArrays<Index> a_;
    Index *major_mate_, *minor_mate_;
    const Owners<Index> majors_, minors_;
    Post<Index> post_;
    bool started_ = false;
    std::int64_t paths_ = 0, pairs_ = 0;
};

}  // namespace sparsematch::over_ranks
