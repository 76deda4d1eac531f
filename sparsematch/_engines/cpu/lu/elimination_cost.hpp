// What a factorisation L L^T in the order found costs at most.
#pragma once

#include <algorithm>

namespace sparsematch {

struct EliminationCost {
    double entries = 0;  // below the diagonal
    double work = 0;     // multiplications

    // k vertices in a row, of which the last has degree d.
    void add(double k, double d) {
        entries += k * d + k * (k - 1) / 2;
        work += k * d * d + k * (k - 1) * d + k * (k - 1) * (2 * k - 1) / 6;
    }

    // Whether all of it will need more than `limit` multiplications per entry of L, if `left` of n
    // vertices are left and have this degree: degrees hardly fall until few vertices are left.
    bool will_exceed(double limit, double degree, double left, double n) const {
        const double d = degree, rest = std::max(left - d, 0.0);
        return work + rest * d * d + d * d * d / 3 >
               limit * (entries + rest * d + d * d / 2 + 0.5 * n);
    }
};

}  // namespace sparsematch
