// What elimination costs, in entries and multiplications, and what it may cost.
#pragma once

#include <algorithm>

#include "core/csr.hpp"

namespace sparsematch {

// What a factorisation L L^T costs.
struct EliminationCost {
    double entries = 0;  // below the diagonal
    double work = 0;     // multiplications

    // k vertices in a row, of which the last has degree d.
    void add(double k, double d) {
        entries += k * (d + (k - 1) / 2);
        work += k * (d * (d + k - 1) + (k - 1) * (2 * k - 1) * (1.0 / 6));
    }

    // The whole cost if `left` vertices have this degree: degrees hardly fall until few are left.
    EliminationCost predicted(double degree, double left) const {
        const double d = degree, rest = std::max(left - d, 0.0);
        return {entries + rest * d + d * d / 2, work + d * d * (rest + d * (1.0 / 3))};
    }
};

// Prices of an entry and of a multiplication, and the most that an order is predicted to cost.
struct EliminationLimits {
    double per_entry = 0, per_multiplication = 0;
    double most = infinity;

    bool exceeded_by(const EliminationCost& predicted) const {
        return per_entry * predicted.entries + per_multiplication * predicted.work > most;
    }
};

}  // namespace sparsematch
