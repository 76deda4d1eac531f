// The data of the engines for general graphs: the view, and the strict total order of the edges.
//
// Edges are compared by weight, then by a hash of both ends and the seed, then by their ends: no
// two are equal. Under such an order greedy, suitor and local max have the same result (Manne,
// Halappanavar, IPDPS 2014, and Birn et al., Euro-Par 2013), so that it depends neither on the
// engine nor on the threads. edge_order.cuh spells the same for a GPU, bit by bit.
#pragma once

#include <bit>

#include "core/csr.hpp"
#include "core/options.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Each edge stands in the lists of both its ends. Lists ascend; loops are to be skipped.
template <class Index> struct Graph {
    Index n;
    const Index* indptr;
    const Index* indices;
    const double* weight;  // the absolute value counts; null: all edges weigh the same

    Index nnz() const { return indptr[n]; }
    Index degree(Index v) const { return indptr[v + 1] - indptr[v]; }
};

// The absolute value as an integer, which keeps the order.
inline std::uint64_t magnitude_bits(double x) {
    return std::bit_cast<std::uint64_t>(x) & ~(std::uint64_t{1} << 63);
}

// A hash of the unordered pair, and one of a vertex in a round.
inline std::uint64_t edge_hash(std::uint64_t u, std::uint64_t v, std::uint64_t seed) {
    const std::uint64_t low = u < v ? u : v, high = u < v ? v : u;
    return hash(low * 0xd6e8feb86659fd93u + high * 0xa0761d6478bd642fu + seed);
}
inline std::uint64_t vertex_hash(std::uint64_t v, std::uint64_t round, std::uint64_t seed) {
    return hash(v * 0xd6e8feb86659fd93u + round * 0xa0761d6478bd642fu + seed);
}

// A fingerprint of an entry, by its place as an unordered pair and a key of its value: those of
// each triangle are added up, and equal sums show that each entry has its partner, but for one case
// in 2**64. low and high: the smaller and the larger index. Both halves of a product of x with
// nearly itself: what adds up linearly in x, as shifted patterns do, does not after it.
inline std::uint64_t entry_fingerprint(std::uint64_t low, std::uint64_t high, std::uint64_t key) {
    const std::uint64_t x = low * 0xd6e8feb86659fd93u + high * 0xa0761d6478bd642fu + key;
    const WideProduct product = multiply_wide(x, x ^ 0x9e3779b97f4a7c15u);
    return product.low ^ product.high;
}

// What red_blue reads from a vertex's hash. Its upper 53 bits are the colour: blue below p. Its
// lower 32 bits are the entry of the list from which on a blue vertex searches for a red one.
inline bool is_blue(std::uint64_t hash, double p) {
    return hash >> 11 < static_cast<std::uint64_t>(p * 9007199254740992.0);
}
inline std::uint64_t first_entry(std::uint64_t hash, std::uint64_t degree) {
    return (hash & 0xffffffffu) * degree >> 32;
}

// What a vertex is called in the hash: itself, where all vertices are at hand.
struct SameNumber {
    template <class Index> Index operator()(Index v) const { return v; }
};

// The strict total order. A key is a number of 63 bits: the absolute value as an integer, which
// keeps the order of numbers that are not negative; without weights it is the upper part of the
// hash. Weighted: the graph has weights. Number: what ends are called in hash and comparison.
template <class Index, bool Weighted, class Number = SameNumber> class EdgeOrder {
  public:
    EdgeOrder(const Graph<Index>& g, std::uint64_t seed, Number number = {})
        : g_(g), seed_(seed), number_(number) {}

    // The key of the edge that stands at position p of the list of u.
    std::uint64_t key(Index u, Index p) const {
        if constexpr (Weighted) return magnitude_bits(g_.weight[p]);
        else return hash_of(u, g_.indices[p]) >> 1;
    }

    // Whether edge {u, v} precedes edge {x, y}; they are not the same edge.
    bool before(std::uint64_t key_uv, Index u, Index v, std::uint64_t key_xy, Index x,
                Index y) const {
        if (key_uv != key_xy) return key_uv > key_xy;
        return before_tied(u, v, x, y);
    }

    // Prefetches the beginning of the list of u.
    SPARSEMATCH_INLINE void prefetch(Index u) const {
        SPARSEMATCH_PREFETCH(&g_.indices[g_.indptr[u]]);
        if constexpr (Weighted) SPARSEMATCH_PREFETCH(&g_.weight[g_.indptr[u]]);
    }

    // For the k-th turn of a loop over a sequence of n vertices (decision 0005).
    template <int step, class Sequence, class Size>
    SPARSEMATCH_INLINE void prefetch_ahead(Sequence&& sequence, Size k, Size n) const {
        if (n - k > 2 * step) SPARSEMATCH_PREFETCH(&g_.indptr[sequence[k + 2 * step]]);
        if (n - k > step) prefetch(sequence[k + step]);
    }

    struct Pick {
        std::uint64_t key;
        Index vertex;
    };

    // The first edge of u to an eligible neighbour, and that neighbour; UNMATCHED: none.
    // Branch-free selection (decision 0005): an ineligible neighbour bids 0, others 2 or more.
    template <class Eligible> Pick best(Index u, const Eligible& eligible) const {
        Index best = UNMATCHED<Index>, hashed = UNMATCHED<Index>;
        std::uint64_t best_bid = 1, best_hash = 0;
        for (Index p = g_.indptr[u], end = g_.indptr[u + 1]; p < end; ++p) {
            const Index v = g_.indices[p];
            if (v == u) continue;
            const std::uint64_t bid = (key(u, p) + 2) & -std::uint64_t{eligible(v)};
            if (bid == best_bid) [[unlikely]] {
                if (hashed != best) best_hash = hash_of(u, best);
                const std::uint64_t h = hash_of(u, v);
                if (h > best_hash || (h == best_hash && before_by_ends(u, v, u, best)))
                    best = v, best_hash = h;
                hashed = best;
                continue;
            }
            const bool better = bid > best_bid;
            best = better ? v : best;
            best_bid = better ? bid : best_bid;
        }
        return {best_bid - 2, best};
    }

  private:
    std::uint64_t hash_of(Index u, Index v) const {
        return edge_hash(number_(u), number_(v), seed_);
    }
    SPARSEMATCH_NOINLINE bool before_tied(Index u, Index v, Index x, Index y) const {
        const std::uint64_t uv = hash_of(u, v), xy = hash_of(x, y);
        return uv != xy ? uv > xy : before_by_ends(u, v, x, y);
    }
    bool before_by_ends(Index u, Index v, Index x, Index y) const {
        u = number_(u), v = number_(v), x = number_(x), y = number_(y);
        const Index low_uv = u < v ? u : v, low_xy = x < y ? x : y;
        if (low_uv != low_xy) return low_uv > low_xy;
        return (u < v ? v : u) > (x < y ? y : x);
    }

    const Graph<Index>& g_;
    const std::uint64_t seed_;
    const Number number_;
};

// Calls engine.template operator()<Weighted>() as the graph is.
template <class Index, class Engine>
void with_or_without_weights(const Graph<Index>& g, const Engine& engine) {
    if (g.weight) engine.template operator()<true>();
    else engine.template operator()<false>();
}

}  // namespace sparsematch
