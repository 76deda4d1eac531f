// The part of one rank in an alternating forest over several, grown from many roots at once.
//
// The core of MCM-DIST: Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching
// in bipartite graphs (IPDPS 2016, Algorithm 2), rows in blocks, with the grafting of Azad, Buluc,
// Pothen, A parallel tree grafting algorithm (IPDPS 2015, Algorithm 3). Majors are what a rank has
// lists of, minors what the lists name. A rank follows its lists as long as it owns what it
// reaches; claims on the minors of others, and the mates that belong to others, go out in letters.
// Trees are therefore not those of a breadth-first search. Nothing here needs them to be: paths may
// be flipped at the same time since trees are disjoint, and a phase in which no tree finds a free
// minor has followed every entry of every tree, whatever the order, so that no path exists.
//
// Invariant: a minor is given once, to the first claim, so trees are disjoint, and each major that
// is no root comes with the one minor it is matched to. A rank does not repeat a claim; what it has
// forgotten to have claimed it claims again, and the owner refuses.
#pragma once

#include <bit>

#include "matching/over_ranks/post.hpp"

namespace sparsematch::over_ranks {

// The lists of a rank's own majors; the mates, trees and links of its own vertices.
template <class Index>
struct ForestArrays {
    const std::int64_t* indptr;
    const Index* indices;
    const Index *major_mate, *minor_mate;
    Index *major_tree, *minor_tree;      // a number of this rank's own, or UNMATCHED
    Index *minor_parent, *minor_before;  // the major it was reached from, and its mate then
    Index* leaf;                         // of an own root: the free minor that its tree has found
};

template <class Index>
class Forest {
    enum Kind : int { CLAIM, ENTER, LEAF, DONE, KINDS };
    static constexpr Index none = UNMATCHED<Index>;

  public:
    // `budget`: entries read in a step, about; `announced`: roots that are announced in a step, at
    // most. If `prune`, a tree that has found a path stops growing.
    Forest(const ForestArrays<Index>& arrays, Owners<Index> majors, Owners<Index> minors,
           std::int64_t budget, std::int64_t announced, bool prune)
        : a_(arrays), majors_(std::move(majors)), minors_(std::move(minors)),
          post_(majors_.size(), KINDS), budget_(budget), announced_(announced), prune_(prune),
          queue_(majors_.n()),
          claimed_(majors_.size() > 1 ? cache_size(a_.indptr[majors_.n()]) : 1, none),
          slots_(16, none) {
        std::fill_n(a_.major_tree, majors_.n(), none);
        std::fill_n(a_.minor_tree, minors_.n(), none);
        std::fill_n(a_.leaf, majors_.n(), none);
    }

    // Makes every free own major a root.
    void plant() {
        for (Index u = 0; u < majors_.n(); ++u)
            if (a_.major_mate[u] < 0) {
                a_.major_tree[u] = static_cast<Index>(roots_.size());
                roots_.push_back(u + majors_.first());
                done_.push_back(false);
                queue_[tail_++] = u;
            }
    }

    // Reads what has come, grows within the budget, writes what is to be sent.
    void step(bool) {
        post_.receive([this](int kind, std::span<const Index> words) { read(kind, words); });
        grow();
        const bool busy = head_ < tail_ || post_.any(CLAIM) || post_.any(ENTER) || post_.any(LEAF);
        if (prune_) announce();
        post_.seal(busy);
    }

    // Takes trees out of the forest, by number; those that stay are numbered anew, and all their
    // majors go on growing. Time: O(own vertices).
    void release(const bool* done) {
        std::vector<Index> number(roots_.size(), none);
        Index n = 0;
        for (std::size_t t = 0; t < roots_.size(); ++t)
            if (!done[t]) roots_[number[t] = n++] = roots_[t];
        roots_.resize(n);
        done_.assign(n, false);
        head_ = tail_ = 0;
        for (Index u = 0; u < majors_.n(); ++u) {
            Index& tree = a_.major_tree[u];
            if (tree >= 0 && (tree = number[tree]) >= 0) queue_[tail_++] = u;
        }
        for (Index m = 0; m < minors_.n(); ++m) {
            Index& tree = a_.minor_tree[m];
            if (tree >= 0) tree = number[tree];
        }
        std::fill_n(a_.leaf, majors_.n(), none);
        std::fill(claimed_.begin(), claimed_.end(), none);
        unannounced_.clear();
        found_ = false;
        remember_roots();
    }

    const std::vector<Index>& roots() const { return roots_; }
    std::int64_t edges() const { return edges_; }
    // Whether a tree of an own root has found a path.
    bool has_found() const { return found_; }
    Post<Index>& post() { return post_; }
    std::size_t bytes() const {
        return post_.bytes() + done_.capacity() +
               sizeof(Index) * (queue_.size() + claimed_.size() + slots_.size() +
                                roots_.capacity() + unannounced_.capacity());
    }

  private:
    static std::size_t cache_size(std::int64_t entries) {
        return std::bit_ceil(static_cast<std::size_t>(std::max<std::int64_t>(entries, 4096)) / 4);
    }
    static std::size_t mix(Index v) {
        return static_cast<std::size_t>(static_cast<std::uint64_t>(v) * 0x9E3779B97F4A7C15u >> 20);
    }

    void read(int kind, std::span<const Index> words) {
        const std::size_t n = words.size();
        if (kind == CLAIM) {
            for (std::size_t k = 0; k < n; k += 4) {
                const Index m = words[k] - minors_.first();
                if (a_.minor_tree[m] >= 0) continue;
                const Index tree = tree_of(words[k + 3]);
                if (!is_over(tree)) accept(m, words[k + 1], words[k + 2], tree);
            }
        } else if (kind == ENTER) {
            for (std::size_t k = 0; k < n; k += 2)
                enter(words[k] - majors_.first(), tree_of(words[k + 1]));
        } else if (kind == LEAF) {
            for (std::size_t k = 0; k < n; k += 2) note_leaf(words[k], words[k + 1]);
        } else {
            for (const Index root : words)
                if (const Index tree = slots_[place_of(root)]; tree >= 0) done_[tree] = true;
        }
    }

    void grow() {
        const std::int64_t limit = edges_ + budget_;
        while (head_ < tail_ && edges_ < limit) {
            if (head_ + 16 < tail_) prefetch();
            expand(queue_[head_++]);
        }
        if (head_ == tail_) head_ = tail_ = 0;
    }

    // What `expand` is going to read: lists further back in the queue, and the minors of one that
    // is near (decision 0005).
    SPARSEMATCH_INLINE void prefetch() const {
        const Index far = queue_[head_ + 16], near = queue_[head_ + 8], next = queue_[head_ + 3];
        SPARSEMATCH_PREFETCH(&a_.indptr[far]);
        SPARSEMATCH_PREFETCH(&a_.major_tree[near]);
        SPARSEMATCH_PREFETCH(&a_.major_mate[near]);
        SPARSEMATCH_PREFETCH(&a_.indices[a_.indptr[near]]);
        const auto first = a_.indptr[next], last = std::min(a_.indptr[next + 1], first + 8);
        for (auto p = first; p < last; ++p)
            if (const Index j = a_.indices[p]; minors_.own(j))
                SPARSEMATCH_PREFETCH(&a_.minor_tree[j - minors_.first()]);
            else SPARSEMATCH_PREFETCH(&claimed_[mix(j) & (claimed_.size() - 1)], 1);
    }

    void expand(Index u) {
        const Index tree = a_.major_tree[u];
        const Index parent = u + majors_.first(), before = a_.major_mate[u];
        for (auto p = a_.indptr[u]; p < a_.indptr[u + 1] && !is_over(tree); ++p) {
            const Index j = a_.indices[p];
            ++edges_;
            if (minors_.own(j)) {
                const Index m = j - minors_.first();
                if (a_.minor_tree[m] < 0) accept(m, parent, before, tree);
            } else if (Index& slot = claimed_[mix(j) & (claimed_.size() - 1)]; slot != j) {
                slot = j;
                post_.send(minors_(j), CLAIM, j, parent, before, roots_[tree]);
            }
        }
    }

    // Gives an own minor to a tree, which goes on with its mate or has found a path.
    void accept(Index m, Index parent, Index before, Index tree) {
        a_.minor_tree[m] = tree, a_.minor_parent[m] = parent, a_.minor_before[m] = before;
        const Index mate = a_.minor_mate[m];
        if (mate < 0) {
            const Index root = roots_[tree];
            done_[tree] = true;
            if (majors_.own(root)) note_leaf(root, m + minors_.first());
            else post_.send(majors_(root), LEAF, root, m + minors_.first());
        } else if (majors_.own(mate)) {
            enter(mate - majors_.first(), tree);
        } else {
            post_.send(majors_(mate), ENTER, mate, roots_[tree]);
        }
    }
    void enter(Index u, Index tree) {
        a_.major_tree[u] = tree;
        queue_[tail_++] = u;
    }
    // Keeps the first leaf of an own root.
    void note_leaf(Index root, Index minor) {
        const Index u = root - majors_.first();
        done_[a_.major_tree[u]] = true;
        if (a_.leaf[u] >= 0) return;
        a_.leaf[u] = minor;
        found_ = true;
        if (majors_.size() > 1) unannounced_.push_back(root);
    }
    bool is_over(Index tree) const { return prune_ && done_[tree]; }

    // Tells all ranks of some own roots that have found a path.
    void announce() {
        const auto n = std::min<std::size_t>(unannounced_.size(), announced_);
        for (std::size_t k = unannounced_.size() - n; k < unannounced_.size(); ++k)
            for (int r = 0; r < majors_.size(); ++r)
                if (r != majors_.rank()) post_.send(r, DONE, unannounced_[k]);
        unannounced_.resize(unannounced_.size() - n);
    }

    // The number that this rank has given to the tree of a root.
    Index tree_of(Index root) {
        if (majors_.own(root)) return a_.major_tree[root - majors_.first()];
        std::size_t place = place_of(root);
        if (slots_[place] >= 0) return slots_[place];
        slots_[place] = static_cast<Index>(roots_.size());
        roots_.push_back(root);
        done_.push_back(false);
        if (2 * ++n_slots_ > slots_.size()) remember_roots();
        return static_cast<Index>(roots_.size()) - 1;
    }
    // Where the number of a root of another rank stands, or would stand.
    std::size_t place_of(Index root) const {
        std::size_t place = mix(root) & (slots_.size() - 1);
        while (slots_[place] >= 0 && roots_[slots_[place]] != root)
            place = (place + 1) & (slots_.size() - 1);
        return place;
    }
    void remember_roots() {
        n_slots_ = 0;
        for (const Index root : roots_) n_slots_ += !majors_.own(root);
        slots_.assign(std::bit_ceil(4 * n_slots_ + 16), none);
        for (std::size_t t = 0; t < roots_.size(); ++t)
            if (!majors_.own(roots_[t])) slots_[place_of(roots_[t])] = static_cast<Index>(t);
    }

    const ForestArrays<Index> a_;
    const Owners<Index> majors_, minors_;
    Post<Index> post_;
    const std::int64_t budget_, announced_;
    const bool prune_;
    bool found_ = false;
    std::int64_t edges_ = 0;
    Buffer<Index> queue_;  // own majors to be expanded, by place
    std::size_t head_ = 0, tail_ = 0;
    Buffer<Index> claimed_;  // minors of others that this rank has claimed, the last of each hash
    std::vector<Index> roots_, slots_, unannounced_;
    std::vector<char> done_;  // of each tree, whether it is known to have found a path
    std::size_t n_slots_ = 0;
};

}  // namespace sparsematch::over_ranks
