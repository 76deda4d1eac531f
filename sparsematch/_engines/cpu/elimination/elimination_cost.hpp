// What elimination costs, in entries and multiplications, and limits of it.
#pragma once

#include <algorithm>
#include <limits>

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

    // What all of it will cost if `left` vertices are left and have this degree: degrees hardly
    // fall until few vertices are left.
    EliminationCost foreseen(double degree, double left) const {
        const double d = degree, rest = std::max(left - d, 0.0);
        return {entries + rest * d + d * d / 2, work + d * d * (rest + d * (1.0 / 3))};
    }
};

// What an order may cost, as far as can be foreseen: entries of L, multiplications for each of
// them, and all multiplications.
struct EliminationLimits {
    double entries = unlimited, work_per_entry = unlimited, work = unlimited;
    static constexpr double unlimited = std::numeric_limits<double>::infinity();

    // cost: so far; foreseen: of all n vertices.
    bool exceeded_by(const EliminationCost& cost, const EliminationCost& foreseen, double n) const {
        return cost.entries > entries || foreseen.work > work ||
               foreseen.work > work_per_entry * (foreseen.entries + 0.5 * n);
    }
};

}  // namespace sparsematch
