// The graph that is left for depth-first search: a vertex for each matched row that is neither
// settled nor in a large component, then one for each large component. Arcs to the horizontal part
// lead to one vertex behind these, arcs to other settled vertices are left out.
#pragma once

#include <numeric>
#include <vector>

#include "core/csr.hpp"
#include "core/thread_team.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/large_components.hpp"
#include "decomposition/limits.hpp"
#include "decomposition/strong_components.hpp"

namespace sparsematch {

template <class Index> class ContractedGraph {
  public:
    // Workspace: an index per column and arc, 8 per vertex. Time: O(n_rows + n_cols + nnz).
    ContractedGraph(const Csr<Index>& a, Matching<Index> m, const CoarseParts& parts,
                    const LargeComponents<Index>& large, const BlockLimits& limits,
                    ThreadTeam& team)
        : a_(a), parts_(parts), large_(large), team_(team), at_a_time_(limits.at_a_time),
          n_(static_cast<Index>(large.left)), all_(n_ + large.size),
          row_(static_cast<std::size_t>(n_) + 1),
          number_(static_cast<std::size_t>(all_) + 1, Index{0}), arcs_(all_) {
        number_[all_] = in_horizontal<Index>;
        if (n_ > 0) {
            number_vertices(m);
            copy_arcs([&](Index j) { return vertex_[j]; });
        } else {
            copy_arcs([&](Index j) {
                return !parts_.settled_col.test(j)     ? large_[j]
                       : parts_.horizontal_col.test(j) ? all_
                                                       : -1;
            });
        }
    }

    // Writes: the number of each vertex (strong_components.hpp). `component` is the next one.
    void find_components(Index& component, RunContext& run) {
        StrongComponents<Index>(number_.data(), arcs_.data(), heads_.data(), all_)
            .find(0, all_, component, run);
    }

    // Writes their numbers to the groups of the vertices that are rows, and settles these.
    void settle_rows(Index* group, Bitmap& settled_row) const {
        team_.for_each(n_, at_a_time_, [&](Index v) {
            group[row_[v]] = number_[v];
            if (team_.size() > 1) settled_row.set_shared(row_[v]);
            else settled_row.set(row_[v]);
        });
    }
    Index number_of_large(int g) const { return number_[n_ + g]; }

  private:
    void number_vertices(Matching<Index> m) {
        vertex_ = Buffer<Index>(a_.n_cols);
        const std::vector<Index> first = first_vertices(m);
        team_.loop(a_.n_rows, at_a_time_, [&](int, std::int64_t begin, std::int64_t end) {
            Index found = first[begin / at_a_time_], unused;
            each<Index>(parts_.settled_row, false, begin, end, [&](Index i) {
                const Index j = m.row_mate[i];
                const int g = large_[j];
                vertex_[j] = g < 0 ? found : n_ + g;
                *(g < 0 ? &row_[found] : &unused) = i;
                found += g < 0;
            });
        });
        team_.loop(a_.n_cols, at_a_time_, [&](int, std::int64_t begin, std::int64_t end) {
            each<Index>(parts_.settled_col, true, begin, end, [&](Index j) { vertex_[j] = -1; });
            each<Index>(parts_.horizontal_col, true, begin, end,
                        [&](Index j) { vertex_[j] = all_; });
        });
    }

    // The number of the first vertex among the rows of each piece of a loop.
    std::vector<Index> first_vertices(Matching<Index> m) const {
        std::vector<Index> first(a_.n_rows / at_a_time_ + 1, 0);
        if (team_.size() == 1) return first;
        team_.loop(a_.n_rows, at_a_time_, [&](int, std::int64_t begin, std::int64_t end) {
            Index n = 0;
            each<Index>(parts_.settled_row, false, begin, end,
                        [&](Index i) { n += large_[m.row_mate[i]] < 0; });
            first[begin / at_a_time_] = n;
        });
        std::exclusive_scan(first.begin(), first.end(), first.begin(), Index{0});
        return first;
    }

    // vertex_of(j): -1 if there is none. Branch-free selection (decision 0005).
    template <class VertexOf> void copy_arcs(const VertexOf& vertex_of) {
        // at most: the rest is not written
        std::size_t n_arcs = static_cast<std::size_t>(n_ > 0 ? a_.nnz() : 0) + 1;
        for (int g = 0; g < large_.size; ++g) n_arcs += large_.targets[g].size();
        heads_ = Buffer<Index>(n_arcs);
        const auto copy = [&](Index own, const auto& columns, Index& tail) {
            const Index begin = tail;
            for (const Index j : columns) {
                const Index head = heads_[tail] = vertex_of(j);
                tail += (head >= 0) & (head != own);
            }
            arcs_[own] = {begin, tail};
        };
        // Several workers leave gaps: each piece begins where it would if all arcs were kept.
        Index all = 0;
        team_.loop(n_, at_a_time_, [&](int, Index begin, Index end) {
            Index tail = team_.size() > 1 ? a_.indptr[row_[begin]] : 0;
            for (Index v = begin; v < end; ++v) copy(v, a_.neighbours(row_[v]), tail);
            if (end == n_) all = tail;
        });
        for (int g = 0; g < large_.size; ++g) copy(n_ + g, large_.targets[g], all);
    }

    const Csr<Index>& a_;
    const CoarseParts& parts_;
    const LargeComponents<Index>& large_;
    ThreadTeam& team_;
    const std::int64_t at_a_time_;
    const Index n_, all_;   // vertices that are rows; all but the last
    Buffer<Index> row_;     // of a vertex
    Buffer<Index> vertex_;  // of a column; absent where none is a row
    Buffer<Index> number_;
    Buffer<Arcs<Index>> arcs_;
    Buffer<Index> heads_;
};

}  // namespace sparsematch
