// Whether a matrix is symmetric, Hermitian, or so but for the sign, by fingerprints (graph.hpp).
//
// Sums of rounded numbers depend on the order. The coarse matrix of a symmetric one is made
// symmetric again to the last bit by copying the upper triangle, but only if the fine one was.
// Fingerprints are multiplied by a number for the signs of the entry.
#pragma once

#include <algorithm>
#include <array>
#include <complex>

#include "graph/graph.hpp"

namespace sparsematch {

template <class Value> class Symmetry {
    static constexpr bool complex = !std::is_arithmetic_v<Value>;

  public:
    // An entry is its partner, its negative, its conjugate, the negative of that, or none.
    enum Kind { same, negated, conjugate, negated_conjugate, none };
    static constexpr int kinds = complex ? 4 : 2;
    using Sums = std::array<std::uint64_t, 4>;

    static Value apply(Kind kind, Value v) {
        if constexpr (complex)
            if (kind == conjugate || kind == negated_conjugate) v = std::conj(v);
        return kind == negated || kind == negated_conjugate ? -v : v;
    }

    template <class Index> static void add(Sums& sums, Index u, Index v, Value value) {
        if (u == v) return;
        const double re = std::real(value), im = std::imag(value);
        const std::uint64_t print =
            entry_fingerprint(std::min(u, v), std::max(u, v),
                              magnitude_bits(re) + 0x9fb21c651e98df25u * magnitude_bits(im));
        if (u < v) {
            const std::uint64_t here = print * of_signs(re < 0, im < 0);
            for (int k = 0; k < kinds; ++k) sums[k] += here;
        } else {
            sums[same] -= print * of_signs(re < 0, im < 0);
            sums[negated] -= print * of_signs(re > 0, im > 0);
            if constexpr (complex) {
                sums[conjugate] -= print * of_signs(re < 0, im > 0);
                sums[negated_conjugate] -= print * of_signs(re > 0, im < 0);
            }
        }
    }

    static Kind kind(const Sums& sums) {
        for (const int k : {int(same), int(conjugate), int(negated), int(negated_conjugate)})
            if (k < kinds && sums[k] == 0) return Kind(k);
        return none;
    }

  private:
    static std::uint64_t of_signs(bool re, bool im) {
        constexpr std::uint64_t odd[4] = {1, 0xd1342543de82ef95u, 0xaf251af3b0f025b5u,
                                          0xb564ef22ec7aece5u};
        return odd[re + 2 * im];
    }
};

}  // namespace sparsematch
