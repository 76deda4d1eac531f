// The part of one rank in an alternating forest over several, grown from many roots at once.
//
// The core of MCM-DIST: Azad, Buluc, Distributed-memory algorithms for maximum cardinality matching
// in bipartite graphs (IPDPS 2016, Algorithm 2), rows in blocks, with the grafting of Azad, Buluc,
// Pothen, A parallel tree grafting algorithm (IPDPS 2015, Algorithm 3). Majors are the vertices
// whose lists a rank stores, minors those in the lists. Within a step a rank grows trees through
// its own vertices; claims on minors of other ranks, and mates that other ranks own, are messages.
// Trees are therefore not those of a breadth-first search. Correctness does not depend on it:
// augmentations may run in parallel since trees are disjoint, and a phase in which no tree finds a
// free minor has scanned every entry of every tree, whatever the order, so that no path exists.
//
// Invariant: a minor joins one tree, that of the first claim, so trees are disjoint, and each major
// other than a root enters with the one minor it is matched to. A cache avoids repeated claims; a
// claim repeated after an eviction is refused by the owner.
#pragma once

#include <bit>

#include "matching/over_ranks/message_buffers.hpp"

namespace sparsematch::over_ranks {

// The lists of a rank's own majors; mates, trees and parents of its own vertices.
template <class Index> struct ForestArrays {
    const std::int64_t* indptr;
    const Index* indices;
    const Index *major_mate, *minor_mate;
    Index *major_tree, *minor_tree;      // numbered by this rank, or UNMATCHED
    Index *minor_parent, *minor_before;  // the major it was reached from, and that one's mate then
    Index* leaf;                         // of an own root: the free minor that its tree has found
};

template <class Index> class Forest {
    enum Kind : int { CLAIM, ENTER, LEAF, DONE, KINDS };

  public:
    // `budget`: about how many entries a step reads; `announced`: most roots that a step announces.
    // If `prune`, a tree that has found a path stops growing.
    Forest(const ForestArrays<Index>& arrays, Owners<Index> majors, Owners<Index> minors,
           std::int64_t budget, std::int64_t announced, bool prune)
        : messages(majors.size(), KINDS), a_(arrays), majors_(std::move(majors)),
          minors_(std::move(minors)), budget_(budget), announced_(announced), prune_(prune),
          queue_(majors_.n()),
          claimed_(majors_.size() > 1 ? cache_size(a_.indptr[majors_.n()], 4) : 1,
                   UNMATCHED<Index>),
          slots_(16, UNMATCHED<Index>) {
        std::fill_n(a_.major_tree, majors_.n(), UNMATCHED<Index>);
        std::fill_n(a_.minor_tree, minors_.n(), UNMATCHED<Index>);
        std::fill_n(a_.leaf, majors_.n(), UNMATCHED<Index>);
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

    // Reads messages, grows within the budget, writes messages.
    void step(bool) {
        messages.receive([this](int kind, std::span<const Index> words) { read(kind, words); });
        grow();
        const bool busy =
            head_ < tail_ || messages.any(CLAIM) || messages.any(ENTER) || messages.any(LEAF);
        if (prune_) announce();
        messages.pack(busy);
    }

    // Releases trees, by number; the others are renumbered, their majors queued: O(own vertices).
    void release(const bool* done) {
        std::vector<Index> number(roots_.size(), UNMATCHED<Index>);
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
        std::fill_n(a_.leaf, majors_.n(), UNMATCHED<Index>);
        std::fill(claimed_.begin(), claimed_.end(), UNMATCHED<Index>);
        unannounced_.clear();
        found_ = false;
        rehash_roots();
    }

    const std::vector<Index>& roots() const { return roots_; }
    std::int64_t edges() const { return edges_; }
    // Whether a tree of an own root has found a path.
    bool has_found() const { return found_; }
    MessageBuffers<Index> messages;

  private:
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
                if (const Index tree = slots_[slot_of(root)]; tree >= 0) done_[tree] = true;
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

    // Prefetches for `expand`: lists of majors further back in the queue, and the minors of a near
    // one (decision 0005).
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
                messages.send(minors_(j), CLAIM, j, parent, before, roots_[tree]);
            }
        }
    }

    // Adds an own minor to a tree, which continues with the mate, or has found a path.
    void accept(Index m, Index parent, Index before, Index tree) {
        a_.minor_tree[m] = tree, a_.minor_parent[m] = parent, a_.minor_before[m] = before;
        const Index mate = a_.minor_mate[m];
        if (mate < 0) {
            const Index root = roots_[tree];
            done_[tree] = true;
            if (majors_.own(root)) note_leaf(root, m + minors_.first());
            else messages.send(majors_(root), LEAF, root, m + minors_.first());
        } else if (majors_.own(mate)) {
            enter(mate - majors_.first(), tree);
        } else {
            messages.send(majors_(mate), ENTER, mate, roots_[tree]);
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

    // Announces own roots with a path to all ranks, at most `announced_`.
    void announce() {
        const auto n = std::min<std::size_t>(unannounced_.size(), announced_);
        for (std::size_t k = unannounced_.size() - n; k < unannounced_.size(); ++k)
            for (int r = 0; r < majors_.size(); ++r)
                if (r != majors_.rank()) messages.send(r, DONE, unannounced_[k]);
        unannounced_.resize(unannounced_.size() - n);
    }

    // The number that this rank has assigned to the tree of a root.
    Index tree_of(Index root) {
        if (majors_.own(root)) return a_.major_tree[root - majors_.first()];
        const std::size_t slot = slot_of(root);
        if (slots_[slot] >= 0) return slots_[slot];
        slots_[slot] = static_cast<Index>(roots_.size());
        roots_.push_back(root);
        done_.push_back(false);
        if (2 * ++n_slots_ > slots_.size()) rehash_roots();
        return static_cast<Index>(roots_.size()) - 1;
    }
    // The slot of a root of another rank, empty if it has no number: linear probing.
    std::size_t slot_of(Index root) const {
        std::size_t slot = mix(root) & (slots_.size() - 1);
        while (slots_[slot] >= 0 && roots_[slots_[slot]] != root)
            slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }
    void rehash_roots() {
        n_slots_ = 0;
        for (const Index root : roots_) n_slots_ += !majors_.own(root);
        slots_.assign(std::bit_ceil(4 * n_slots_ + 16), UNMATCHED<Index>);
        for (std::size_t t = 0; t < roots_.size(); ++t)
            if (!majors_.own(roots_[t])) slots_[slot_of(roots_[t])] = static_cast<Index>(t);
    }

    const ForestArrays<Index> a_;
    const Owners<Index> majors_, minors_;
    const std::int64_t budget_, announced_;
    const bool prune_;
    bool found_ = false;
    std::int64_t edges_ = 0;
    Buffer<Index> queue_;  // own majors to be expanded
    std::size_t head_ = 0, tail_ = 0;
    Buffer<Index> claimed_;  // cache of claims on other ranks' minors, the last of each hash
    std::vector<Index> roots_, slots_, unannounced_;
    std::vector<char> done_;  // of each tree, whether it is known to have found a path
    std::size_t n_slots_ = 0;
};

}  // namespace sparsematch::over_ranks
