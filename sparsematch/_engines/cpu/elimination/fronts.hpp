// Fronts of a multifrontal factorisation: columns eliminated together, places of rows and columns.
//
// Duff, Reid, The multifrontal solution of indefinite sparse symmetric linear equations (ACM TOMS
// 9, 1983); Davis, Algorithm 915: SuiteSparseQR (ACM TOMS 38, 2011). Column k of the factor has the
// entries that it comes with, and those of its children in the tree. Columns one behind another
// with the same such list share a front, as do those where few zeros come in by it.
// Invariant: the columns of a front ascend, and begin with those that are eliminated there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

template <class Index> class Fronts {
  public:
    static constexpr Index no_front = UNMATCHED<Index>;
    struct Front {
        Index first, n_pivots;       // places of its pivots in the order
        std::vector<Index> columns;  // all, as places in the order
        Index parent = no_front;
    };

    Fronts() = default;
    // One, of n columns.
    explicit Fronts(Index n) : fronts{{0, n, std::vector<Index>(static_cast<std::size_t>(n))}} {
        std::iota(fronts[0].columns.begin(), fronts[0].columns.end(), Index{0});
    }
    // Reads: the parent of each place in a postorder. own(k, add) calls add(j) for all places j > k
    // that column k comes with, and returns how often. Time: that, and that of sorting all lists.
    // After a stop nothing is to be read.
    template <class Own>
    Fronts(const std::vector<Index>& parent, const Own& own, WorkCounter& counter) {
        if (merge_columns(parent, own, counter)) link(parent);
    }

    std::vector<Front> fronts;  // children before parents

  private:
    // Zeros that a front may have for one column more, as a share of its entries of R, and the
    // pivots up to which that is checked: small fronts cost more in bookkeeping than in arithmetic.
    static constexpr double zeros = 0.25;
    static constexpr Index few_pivots = 32;

    // Lists are marked by the last front that they are of.
    template <class Own>
    bool merge_columns(const std::vector<Index>& parent, const Own& own, WorkCounter& counter) {
        const auto n = static_cast<Index>(parent.size());
        std::vector<Index> mark(parent.size(), no_front), child(mark), next(mark), added;
        double entries = 0;  // of R in the last front, zeros that it has brought not counted
        for (Index k = 0; k < n; ++k) {
            const bool goes_on = k > 0 && parent[k - 1] == k;
            auto f = static_cast<Index>(fronts.size()) - goes_on;
            if (!goes_on) fronts.push_back({k, 0, {k}}), mark[k] = f, entries = 0;
            added.clear();
            const auto add = [&](Index j) {
                if (mark[j] != f) mark[j] = f, added.push_back(j);
            };
            std::int64_t work = 1 + own(k, add);
            for (Index c = child[k]; c != no_front; c = next[c]) {
                for (const Index j : fronts[c].columns)
                    if (j > k) add(j);
                work += static_cast<std::int64_t>(fronts[c].columns.size());
            }
            const double pivots = fronts[f].n_pivots + 1,
                         width = static_cast<double>(fronts[f].columns.size() + added.size()),
                         all = pivots * width - pivots * (pivots - 1) / 2,
                         more = width - pivots + 1;
            if (pivots > 1 && !added.empty() &&
                (pivots > few_pivots || all - entries - more > zeros * all)) {
                next[f] = child[k], child[k] = f;  // for which its columns were only marked
                const auto& columns = fronts[f++].columns;
                for (const Index j : columns)
                    if (j >= k) added.push_back(j);
                for (const Index j : added) mark[j] = f;
                fronts.push_back({k, 1, added}), entries = more;
            } else {
                auto& columns = fronts[f].columns;
                columns.insert(columns.end(), added.begin(), added.end());
                ++fronts[f].n_pivots, entries += more;
            }
            if (const Index above = parent[k]; above != no_front && above != k + 1)
                next[f] = child[above], child[above] = f;
            if (!counter.add(work)) return false;
        }
        fronts.shrink_to_fit();
        for (auto& front : fronts) std::sort(front.columns.begin(), front.columns.end());
        return true;
    }

    void link(const std::vector<Index>& parent) {
        std::vector<Index> front_of(parent.size());
        for (std::size_t f = 0; f < fronts.size(); ++f)
            for (Index j = 0; j < fronts[f].n_pivots; ++j)
                front_of[fronts[f].first + j] = static_cast<Index>(f);
        for (auto& front : fronts)
            if (const Index above = parent[front.first + front.n_pivots - 1]; above != no_front)
                front.parent = front_of[above];
    }
};

}  // namespace sparsematch
