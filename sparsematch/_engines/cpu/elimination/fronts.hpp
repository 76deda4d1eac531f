// The fronts of a multifrontal factorisation: which columns are eliminated together, and which
// places rows and columns have there.
//
// Duff, Reid, The multifrontal solution of indefinite sparse symmetric linear equations (ACM TOMS
// 9, 1983); Davis, Algorithm 915: SuiteSparseQR (ACM TOMS 38, 2011). Column k of the factor has the
// entries that it comes with, and those of its children in the tree. Columns one behind another
// with the same such list share a front, as do those where few zeros come in by it.
// Invariant: the columns of a front ascend, and begin with those that are eliminated there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

template <class Index>
class Fronts {
  public:
    static constexpr Index no_front = UNMATCHED<Index>;
    struct Front {
        Index first, n_pivots;       // places of its pivots in the order
        std::vector<Index> columns;  // all, as places in the order
        Index parent = no_front;
    };

    Fronts() = default;
    // Reads: the parent of each place in a postorder. own(k, add) calls add(j) for all places j > k
    // that column k comes with, and returns how often. Time: O(entries of the factor). After a
    // stop nothing is to be read.
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

    // columns[k]: those that row k of R may have.
    template <class Own>
    bool merge_columns(const std::vector<Index>& parent, const Own& own, WorkCounter& counter) {
        const auto n = static_cast<Index>(parent.size());
        std::vector<std::vector<Index>> columns(parent.size()), children(parent.size());
        std::vector<Index> seen(parent.size(), no_front);
        double entries = 0;  // of R in the last front, zeros that it has brought not counted
        for (Index k = 0; k < n; ++k) {
            auto& list = columns[k];
            const auto add = [&](Index j) {
                if (seen[j] != k) seen[j] = k, list.push_back(j);
            };
            add(k);
            std::int64_t work = 1 + own(k, add);
            for (const Index c : children[k]) {
                for (const Index j : columns[c])
                    if (j > c) add(j);
                work += static_cast<std::int64_t>(columns[c].size());
            }
            assign(k, k > 0 && parent[k - 1] == k, list, entries);
            for (const Index c : children[k]) columns[c] = {};
            children[k] = {};
            if (parent[k] != no_front) children[parent[k]].push_back(k);
            if (!counter.add(work)) return false;
        }
        return true;
    }

    // Puts column k into the last front, if that is the child's, or begins another one.
    void assign(Index k, bool has_child, const std::vector<Index>& list, double& entries) {
        const auto size = static_cast<double>(list.size());
        if (has_child) {
            auto& last = fronts.back();
            const double pivots = last.n_pivots + 1, width = pivots - 1 + size;
            const double all = pivots * width - pivots * (pivots - 1) / 2;
            const bool same = size == static_cast<double>(last.columns.size()) - last.n_pivots;
            if (same || (last.n_pivots < few_pivots && all - entries - size <= zeros * all)) {
                entries += size, ++last.n_pivots;
                if (!same) widen(last, k, list);
                return;
            }
        }
        entries = size;
        fronts.push_back({k, 1, list});
        std::sort(fronts.back().columns.begin(), fronts.back().columns.end());
    }
    // The columns of its pivots, and those of the last one.
    void widen(Front& front, Index k, const std::vector<Index>& list) {
        front.columns.clear();
        for (Index j = front.first; j < k; ++j) front.columns.push_back(j);
        front.columns.insert(front.columns.end(), list.begin(), list.end());
        std::sort(front.columns.begin(), front.columns.end());
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
