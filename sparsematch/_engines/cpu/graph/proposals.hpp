// The best proposal to each vertex so far, by all threads: shared by suitor and red-blue.
//
// A vertex is locked by a mark in place of its proposer (the locks of Manne, Halappanavar, IPDPS
// 2014, Alg. 3). Proposals to a vertex only get better: what is read without the lock can make a
// proposal futile, but never leaves out one that would succeed.
#pragma once

#include <thread>

#include "core/csr.hpp"

namespace sparsematch {

template <class Index, bool Threads> class Proposals {
  public:
    explicit Proposals(Index n) : best_(n) {}

    void reset(Index v) { best_[v] = {0, UNMATCHED<Index>}; }
    void prefetch(Index v) const { SPARSEMATCH_PREFETCH(&best_[v], 1); }
    // The proposer of the best proposal to v, after all have proposed.
    Index proposer(Index v) const { return best_[v].proposer; }

    // Whether a proposal of this key to v would now be the best; before(other key, its proposer):
    // whether it precedes that one.
    template <class Before> bool beats(Index v, std::uint64_t key, const Before& before) const {
        const std::uint64_t other = Threads ? peek(best_[v].key) : best_[v].key;
        if (key != other) return key > other;
        const Index proposer = wait(v);
        const std::uint64_t now = Threads ? peek(best_[v].key) : other;
        return proposer == UNMATCHED<Index> || before(now, proposer);
    }

    // Makes the proposal of u to v. Returns the vertex whose proposal to v is displaced by a better
    // one: the previous proposer, u, or UNMATCHED.
    template <class Before>
    Index propose(Index v, std::uint64_t key, Index u, const Before& before) {
        if (Threads && peek(best_[v].key) > key) return u;
        const Index proposer = lock(v);
        if (proposer != UNMATCHED<Index> && !before(best_[v].key, proposer)) {
            unlock(v, proposer);
            return u;
        }
        if constexpr (Threads) poke(best_[v].key, key);
        else best_[v].key = key;
        unlock(v, u);
        return proposer;
    }

  private:
    static constexpr Index BUSY = -2;

    struct Proposal {
        std::uint64_t key;
        Index proposer;
    };

    std::atomic_ref<Index> place(Index v) const {
        return std::atomic_ref<Index>(const_cast<Index&>(best_[v].proposer));
    }

    Index wait(Index v) const {
        if constexpr (!Threads) return best_[v].proposer;
        Index proposer;
        while ((proposer = place(v).load(std::memory_order_acquire)) == BUSY)
            std::this_thread::yield();
        return proposer;
    }
    Index lock(Index v) {
        if constexpr (!Threads) return best_[v].proposer;
        Index proposer;
        while ((proposer = place(v).exchange(BUSY, std::memory_order_acquire)) == BUSY)
            std::this_thread::yield();
        return proposer;
    }
    void unlock(Index v, Index proposer) {
        if constexpr (Threads) place(v).store(proposer, std::memory_order_release);
        else best_[v].proposer = proposer;
    }

    Buffer<Proposal> best_;
};

}  // namespace sparsematch
