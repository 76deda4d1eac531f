// Prefetch chains along a sequence of vertices that lie at random places (decision 0005).
//
// Whatever only prefetches is always inlined, or GCC drops the calls as without effect.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/csr.hpp"

namespace sparsematch {

// Both ends of a list: most are shorter than two cache lines.
template <class Index>
SPARSEMATCH_INLINE inline void prefetch_list(const Csr<Index>& lists, Index v) {
    SPARSEMATCH_PREFETCH(&lists.indices[lists.indptr[v]]);
    SPARSEMATCH_PREFETCH(&lists.indices[lists.indptr[v + 1] - 1]);
}

// For the k-th turn of a loop over a sequence of n, an array or a function of the place. Each link
// of the chain reads what the one before it prefetched `step` turns ago.
template <int step> struct PrefetchAhead {
    // indptr, then the lists.
    template <class Index, class Size, class Sequence>
    SPARSEMATCH_INLINE static void lists(const Csr<Index>& lists, const Sequence& sequence, Size k,
                                         Size n) {
        if (n - k > 2 * step) SPARSEMATCH_PREFETCH(&lists.indptr[at(sequence, k + 2 * step)]);
        if (n - k > step) prefetch_list(lists, at(sequence, k + step));
    }

    // The mates, indptr, then the mates' lists. Any vertex may be without a mate.
    template <class Index, class Size, class Sequence>
    SPARSEMATCH_INLINE static void mate_lists(const Csr<Index>& lists, const Index* mate,
                                              const Sequence& sequence, Size k, Size n) {
        const auto mate_at = [&](Size later) SPARSEMATCH_INLINE {
            return std::max<Index>(mate[at(sequence, later)], 0);
        };
        if (n - k > 3 * step) SPARSEMATCH_PREFETCH(&mate[at(sequence, k + 3 * step)]);
        if (n - k > 2 * step) SPARSEMATCH_PREFETCH(&lists.indptr[mate_at(k + 2 * step)]);
        if (n - k > step) prefetch_list(lists, mate_at(k + step));
    }

  private:
    template <class Sequence, class Size>
    SPARSEMATCH_INLINE static auto at(const Sequence& sequence, Size k) {
        if constexpr (std::is_pointer_v<Sequence>) return sequence[k];
        else return sequence(k);
    }
};

}  // namespace sparsematch
