// One side of a graph as Karp-Sipser sees it: how many live neighbours each vertex has, and which
// have come down to one.
//
// Degrees take one byte, and free vertices one bit: they are what is touched at random, so they are
// kept small.
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

    ResidualSide(const Csr<Index>& lists, Index* mate, bool with_xor)
        : lists(lists), mate(mate), degree(lists.n_rows), neighbours(with_xor ? lists.n_rows : 0),
          free(lists.n_rows) {}

    void find_free() { free.mark_free(lists.n_rows, mate); }
    // Degrees, and the exclusive or of the neighbours if it is wanted; the free vertices of both
    // sides are known. Those that are matched count as having many, so that they are neither queued
    // nor picked.
    void count(const ResidualSide& other, WorkCounter&& counter) {
        const bool all = other.free.count() == static_cast<std::size_t>(other.lists.n_rows),
                   with_xor = neighbours.size() > 0;
        for (Index v = 0; v < lists.n_rows; ++v) {
            const Index first = lists.indptr[v], last = lists.indptr[v + 1];
            Index live = last - first, sum = 0;
            if (!all || with_xor) {
                if (!counter.add(live)) return;
                live = 0;
                for (Index p = first; p < last; ++p) {
                    if (!other.free.test(lists.indices[p])) continue;
                    ++live;
                    sum ^= lists.indices[p];
                }
                if (!free.test(v)) live = many;
            }
            degree[v] = static_cast<std::uint8_t>(std::min<Index>(live, many));
            if (with_xor) neighbours[v] = sum;
        }
    }
    // The first neighbour that is live, if there is one.
    template <class Live>
    Index find(Index v, const Live& live) const {
        for (Index p = lists.indptr[v]; p < lists.indptr[v + 1]; ++p)
            if (live(lists.indices[p])) return lists.indices[p];
        return UNMATCHED<Index>;
    }
    // The same for a vertex that has come down to one: its degree may not tell yet that this one
    // has gone, too.
    template <class Live>
    Index find_last(Index v, const Live& live) const {
        if (neighbours.size() == 0 || degree[v] != 1) return find(v, live);
        return live(neighbours[v]) ? neighbours[v] : UNMATCHED<Index>;
    }
    // The live neighbour with the fewest live neighbours itself, if its degree is exact. Without a
    // branch in the loop: it could not be predicted.
    Index find_least(Index v, const ResidualSide& other) const {
        Index best = UNMATCHED<Index>;
        std::uint8_t fewest = many;
        for (Index p = lists.indptr[v]; p < lists.indptr[v + 1]; ++p) {
            const std::uint8_t d = other.degree[lists.indices[p]];
            best = d < fewest ? lists.indices[p] : best;
            fewest = std::min(d, fewest);
        }
        return best;
    }
    // Asks for what is read first of a vertex of degree one, and then for the beginning of its
    // list.
    [[gnu::always_inline]] void prefetch(Index v) const {
        __builtin_prefetch(neighbours.size() > 0 ? &neighbours[v] : &lists.indptr[v]);
    }
    [[gnu::always_inline]] void prefetch_list(Index v) const {
        __builtin_prefetch(&lists.indices[lists.indptr[v]]);
    }

    const Csr<Index>& lists;
    Index* mate;
    Buffer<std::uint8_t> degree;
    Buffer<Index> neighbours;  // exclusive or of the live ones
    Bitmap free;
};

// The free vertices of both sides and their degrees, by two workers if there are so many.
template <class Index>
void count_both(ResidualSide<Index>& rows, ResidualSide<Index>& cols, RunContext& run) {
    ResidualSide<Index>* const side[] = {&rows, &cols};
    run.team.both([&](int s, int) { side[s]->find_free(); });
    run.team.both([&](int s, int rank) { side[s]->count(*side[1 - s], WorkCounter(run, rank)); });
}

// A stack that keeps or drops what is put on it without a branch: about one vertex in four comes
// down to degree one.
template <class Index>
class DegreeOneStack {
  public:
    std::size_t size() const { return size_; }
    Index pop() { return items_[--size_]; }
    void reserve(std::size_t more) {
        if (size_ + more >= items_.size()) items_.resize(2 * (size_ + more) + 64);
    }
    void push_if(Index v, bool wanted) {
        items_[size_] = v;
        size_ += wanted;
    }
    // Vertices lose a neighbour each; those left with one are pushed. Nothing but the degrees is
    // read from memory in between: a byte that is written may be part of anything, as far as the
    // compiler knows.
    void push_lowered(const Index* vertices, std::size_t n, std::uint8_t* degree) {
        reserve(n);
        Index* top = items_.data() + size_;
        for (std::size_t k = 0; k < n; ++k) {
            const Index w = vertices[k];
            const std::uint8_t before = degree[w],
                               after = before - (before != ResidualSide<Index>::many);
            degree[w] = after;
            *top = w;
            top += after == 1;
        }
        size_ = top - items_.data();
    }

  private:
    std::vector<Index> items_;
    std::size_t size_ = 0;
};

}  // namespace sparsematch
