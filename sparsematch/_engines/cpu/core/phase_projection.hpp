// Whether an algorithm that works in phases is likely to end within its budget of edges.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "core/run_context.hpp"

namespace sparsematch {

// Paths per phase are assumed to fall geometrically, at the mean rate so far, and to cost what the
// last one did: phases are left until one finds a single path. One phase may be unlucky; two that
// agree are believed.
class PhaseProjection {
  public:
    // At the end of a phase: `edges` have been scanned and `found` paths flipped since the
    // beginning. Whether the phases that are left cost more than what is left of the budget.
    bool exceeds_budget(const RunContext& run, std::int64_t edges, std::int64_t found) {
        const auto cost = static_cast<double>(edges - std::exchange(edges_, edges)),
                   last = static_cast<double>(found - std::exchange(found_, found));
        if (phases_++ == 0) first_ = last;
        bool exceeds = false;
        if (run.edge_limit() > 0 && first_ > last && last > 1) {
            const double left = (phases_ - 1) * std::log(last) / std::log(first_ / last);
            exceeds =
                static_cast<double>(edges) + left * cost > static_cast<double>(run.edge_limit());
        }
        return exceeds && std::exchange(exceeds_, exceeds);
    }

  private:
    std::int64_t edges_ = 0, found_ = 0;  // by the end of the last phase
    int phases_ = 0;                      // until now
    double first_ = 0;                    // found in the first of them
    bool exceeds_ = false;                // by the last projection
};

}  // namespace sparsematch
