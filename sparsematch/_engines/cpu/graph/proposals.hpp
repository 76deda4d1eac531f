// The best proposal to each vertex so far, of all that threads make at a time: what suitor and
// red-blue are made of.
//
// A vertex is locked by a mark in place of who proposed to it (the locks of Manne, Halappanavar,
// IPDPS 2014, Alg. 3). Proposals to a vertex only get better, so that one who looks without the
// lock may try in vain, but never misses a chance.
#pragma once

#include <thread>

#include "core/csr.hpp"

namespace sparsematch {

template <class Index, bool Threads>
class Proposals {
  public:
    explicit Proposals(Index n) : best_(n) {}

    void reset(Index v) { best_[v] = {0, UNMATCHED<Index>}; }
    void prefetch(Index v) const { __builtin_prefetch(&best_[v], 1); }
    // Who made the best proposal to v; when nobody proposes any more.
    Index maker(Index v) const { return best_[v].maker; }

    // Whether a proposal of this key to v would now be the best; before(other key, other maker): it
    // comes before that one.
    template <class Before>
    bool beats(Index v, std::uint64_t key, const Before& before) const {
        const std::uint64_t other = Threads ? peek(best_[v].key) : best_[v].key;
        if (key != other) return key > other;
        const Index maker = wait(v);
        const std::uint64_t now = Threads ? peek(best_[v].key) : other;
        return maker == UNMATCHED<Index> || before(now, maker);
    }

    // Makes the proposal of u to v. Returns whose proposal is left over: that of the maker before,
    // of u, or UNMATCHED: nobody's.
    template <class Before>
    Index make(Index v, std::uint64_t key, Index u, const Before& before) {
        if (Threads && peek(best_[v].key) > key) return u;
        const Index maker = lock(v);
        if (maker != UNMATCHED<Index> && !before(best_[v].key, maker)) {
            unlock(v, maker);
            return u;
        }
        if constexpr (Threads) poke(best_[v].key, key);
        else best_[v].key = key;
        unlock(v, u);
        return maker;
    }

  private:
    static constexpr Index BUSY = -2;

    struct Proposal {
        std::uint64_t key;
        Index maker;
    };

    std::atomic_ref<Index> place(Index v) const {
        return std::atomic_ref<Index>(const_cast<Index&>(best_[v].maker));
    }

    Index wait(Index v) const {
        if constexpr (!Threads) return best_[v].maker;
        Index maker;
        while ((maker = place(v).load(std::memory_order_acquire)) == BUSY)
            std::this_thread::yield();
        return maker;
    }
    Index lock(Index v) {
        if constexpr (!Threads) return best_[v].maker;
        Index maker;
        while ((maker = place(v).exchange(BUSY, std::memory_order_acquire)) == BUSY)
            std::this_thread::yield();
        return maker;
    }
    void unlock(Index v, Index maker) {
        if constexpr (Threads) place(v).store(maker, std::memory_order_release);
        else best_[v].maker = maker;
    }

    Buffer<Proposal> best_;
};

}  // namespace sparsematch
