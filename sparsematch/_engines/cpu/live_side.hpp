// One side of a graph as Karp-Sipser sees it: how many live neighbours each vertex has, and which have come down to one.
//
// Degrees take one byte, and free vertices one bit: they are what is touched at random, so they are kept small.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

// The vertices of one side, with the lists that lead to the other.
template <class Index>
struct LiveSide {
    static constexpr std::uint8_t many = 255;  // stands for 255 or more, and is never lowered

    LiveSide(const Csr<Index>& lists, Index* mate, bool with_xor)
        : lists(lists), mate(mate), degree(lists.n_rows), neighbours(with_xor ? lists.n_rows : 0), free(lists.n_rows) {}

    void find_free() {
        for (Index v = 0; v < lists.n_rows; ++v)
            if (mate[v] == UNMATCHED<Index>) free.set(v);
    }
    // Degrees, and the exclusive or of the neighbours if it is wanted; the free vertices of the other side are known.
    void count(const LiveSide& other, Meter& meter) {
        const bool all = other.free.count() == static_cast<std::size_t>(other.lists.n_rows), with_xor = neighbours.size() > 0;
        for (Index v = 0; v < lists.n_rows; ++v) {
            const Index first = lists.indptr[v], last = lists.indptr[v + 1];
            Index live = last - first, sum = 0;
            if (!all || with_xor) {
                if (!meter.charge(live)) return;
                live = 0;
                for (Index p = first; p < last; ++p) {
                    if (!other.free.test(lists.indices[p])) continue;
                    ++live;
                    sum ^= lists.indices[p];
                }
            }
            degree[v] = static_cast<std::uint8_t>(std::min<Index>(live, many));
            if (with_xor) neighbours[v] = sum;
        }
    }
    // The first neighbour that is still there, by the bits of the other side.
    Index find_neighbour(Index v, const Bitmap& live) const {
        for (Index p = lists.indptr[v]; p < lists.indptr[v + 1]; ++p)
            if (live.test(lists.indices[p])) return lists.indices[p];
        return UNMATCHED<Index>;
    }
    // The live neighbour with the fewest live neighbours itself, if its degree is exact. Without a branch in the loop: it could
    // not be predicted.
    Index find_least(Index v, const LiveSide& other) const {
        Index best = UNMATCHED<Index>;
        std::uint8_t fewest = many;
        for (Index p = lists.indptr[v]; p < lists.indptr[v + 1]; ++p) {
            const std::uint8_t d = other.degree[lists.indices[p]];
            best = d < fewest ? lists.indices[p] : best;
            fewest = std::min(d, fewest);
        }
        return best;
    }
    void prefetch_degrees(Index v, const LiveSide& other) const {
        const Index first = lists.indptr[v], last = std::min<Index>(lists.indptr[v + 1], first + 64);
        for (Index p = first; p < last; ++p) __builtin_prefetch(&other.degree[lists.indices[p]], 1);
    }
    // Asks for the beginning of the list of a vertex whose place in indptr has been asked for.
    void prefetch_list(Index v) const { __builtin_prefetch(&lists.indices[lists.indptr[v]]); }

    const Csr<Index>& lists;
    Index* mate;
    Buffer<std::uint8_t> degree;
    Buffer<Index> neighbours;  // exclusive or of the live ones
    Bitmap free;
};

// A stack that keeps or drops what is put on it without a branch: about one vertex in four comes down to degree one.
template <class Index>
class DegreeOne {
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

  private:
    std::vector<Index> items_;
    std::size_t size_ = 0;
};

}  // namespace sparsematch
