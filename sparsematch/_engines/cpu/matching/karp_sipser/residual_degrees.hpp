// Residual degrees that workers share: how many live neighbours each vertex of one side has left,
// and the stack of those that have come down to one.
//
// Degrees take one byte and free vertices one bit: both are read and written at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// The vertices of one side, with the lists that lead to the other.
template <class Index>
struct ResidualSide {
    static constexpr std::uint8_t many = 255;  // stands for 255 or more, and is never lowered

    ResidualSide(const Csr<Index>& lists, Index* mate)
        : lists(lists), mate(mate), degree(lists.n_rows), free(lists.n_rows) {}

    void find_free() { free.mark_free(lists.n_rows, mate); }
    // Degrees; the free vertices of both sides are known. Matched vertices get the degree `many`:
    // they are neither queued nor picked.
    void count(const ResidualSide& other, WorkCounter&& counter) {
        const bool all = other.free.count() == static_cast<std::size_t>(other.lists.n_rows);
        for (Index v = 0; v < lists.n_rows; ++v) {
            Index live = lists.degree(v);
            if (!all) {
                if (!counter.add(live)) return;
                live = many;
                if (free.test(v))
                    live = static_cast<Index>(std::ranges::count_if(
                        lists.neighbours(v), [&](Index w) { return other.free.test(w); }));
            }
            degree[v] = static_cast<std::uint8_t>(std::min<Index>(live, many));
        }
    }
    // The first live neighbour, if there is one.
    template <class Live>
    Index find(Index v, const Live& live) const {
        for (Index p = lists.indptr[v]; p < lists.indptr[v + 1]; ++p)
            if (live(lists.indices[p])) return lists.indices[p];
        return UNMATCHED<Index>;
    }
    // The neighbour of least degree below `many`. Branch-free (decision 0005).
    Index find_least(Index v, const ResidualSide& other) const {
        Index best = UNMATCHED<Index>;
        std::uint8_t least = many;
        for (Index p = lists.indptr[v]; p < lists.indptr[v + 1]; ++p) {
            const std::uint8_t d = peek(other.degree[lists.indices[p]]);
            best = d < least ? lists.indices[p] : best;
            least = std::min(d, least);
        }
        return best;
    }
    void settle(bool* settled) const {
        for (Index v = 0; v < lists.n_rows; ++v)
            settled[v] = int{!free.test(v)} | int{degree[v] == 0};
    }
    // Prefetches what is read first of a vertex of degree one, then the beginning of its list.
    SPARSEMATCH_INLINE void prefetch(Index v) const { SPARSEMATCH_PREFETCH(&lists.indptr[v]); }
    SPARSEMATCH_INLINE void prefetch_list(Index v) const {
        SPARSEMATCH_PREFETCH(&lists.indices[lists.indptr[v]]);
    }

    const Csr<Index>& lists;
    Index* mate;
    Buffer<std::uint8_t> degree;
    Bitmap free;
};

// The free vertices of both sides and their degrees, by two workers if there are so many.
template <class Index>
void count_both(ResidualSide<Index>& rows, ResidualSide<Index>& cols, RunContext& run) {
    ResidualSide<Index>* const side[] = {&rows, &cols};
    run.team.both([&](int s, int) { side[s]->find_free(); });
    run.team.both([&](int s, int rank) { side[s]->count(*side[1 - s], WorkCounter(run, rank)); });
}

// Vertices of one side that have come down to degree one. Pushed branch-free (decision 0005): about
// one in four of those whose degree falls.
template <class Index>
class DegreeOneStack {
  public:
    static constexpr int batch = 32;

    std::size_t size() const { return size_; }
    void reserve(std::size_t more) {
        if (size_ + more >= items_.size()) items_.resize(2 * (size_ + more) + 64);
    }
    void push_if(Index v, bool wanted) {
        items_[size_] = v;
        size_ += wanted;
    }
    // Pops up to a batch of vertices, of which it keeps those still wanted, their lists prefetched;
    // returns how many.
    template <class Wanted>
    int pop_batch(const ResidualSide<Index>& side, Index* popped, const Wanted& wanted) {
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, size_); left > 0; --left) {
            popped[n] = items_[--size_];
            side.prefetch(popped[n]);
            n += wanted(popped[n]);
        }
        for (int k = 0; k < n; ++k) side.prefetch_list(popped[k]);
        return n;
    }

  private:
    std::vector<Index> items_;
    std::size_t size_ = 0;
};

}  // namespace sparsematch
