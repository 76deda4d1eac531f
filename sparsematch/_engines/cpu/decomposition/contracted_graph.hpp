// The graph that is left for depth-first search: a vertex for each matched row that is neither
// settled nor in a large component, then one for each large component. Arcs to the horizontal part
// lead to one vertex behind these, arcs to other settled vertices are left out.
#pragma once

#include <algorithm>

#include "core/csr.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/large_components.hpp"
#include "decomposition/strong_components.hpp"

namespace sparsematch {

template <class Index>
class ContractedGraph {
  public:
    // Workspace: an index per column, eight per vertex, and one per arc. Time: O(n_rows + n_cols +
    // nnz).
    ContractedGraph(const Csr<Index>& a, Matching<Index> m, const CoarseParts& parts,
                    const LargeComponents<Index>& large)
        : a_(a), parts_(parts), large_(large), n_(static_cast<Index>(large.left)),
          all_(n_ + large.size), row_(static_cast<std::size_t>(n_) + 1),
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
            .find(all_, component, run);
    }

    // visit(row, number) for the vertices that are rows.
    template <class Visit>
    void each_row(const Visit& visit) const {
        for (Index v = 0; v < n_; ++v) visit(row_[v], number_[v]);
    }
    Index number_of_large(int g) const { return number_[n_ + g]; }

  private:
    void number_vertices(Matching<Index> m) {
        vertex_ = Buffer<Index>(a_.n_cols);
        Index found = 0;
        each(parts_.settled_row, false, a_.n_rows, [&](Index i) {
            const Index j = m.row_mate[i];
            const int g = large_[j];
            vertex_[j] = g < 0 ? found : n_ + g;
            row_[found] = i;
            found += g < 0;
        });
        each(parts_.settled_col, true, a_.n_cols, [&](Index j) { vertex_[j] = -1; });
        each(parts_.horizontal_col, true, a_.n_cols, [&](Index j) { vertex_[j] = all_; });
    }

    // vertex_of(j): -1 if there is none. Branch-free selection (decision 0005).
    template <class VertexOf>
    void copy_arcs(const VertexOf& vertex_of) {
        // at most: the rest is not written
        std::size_t n_arcs = static_cast<std::size_t>(n_ > 0 ? a_.nnz() : 0) + 1;
        for (int g = 0; g < large_.size; ++g) n_arcs += large_.targets[g].size();
        heads_ = Buffer<Index>(n_arcs);
        Index tail = 0;
        const auto copy = [&](Index own, const auto& columns) {
            const Index begin = tail;
            for (const Index j : columns) {
                const Index head = heads_[tail] = vertex_of(j);
                tail += (head >= 0) & (head != own);
            }
            arcs_[own] = {begin, tail};
        };
        for (Index v = 0; v < n_; ++v) copy(v, a_.neighbours(row_[v]));
        for (int g = 0; g < large_.size; ++g) copy(n_ + g, large_.targets[g]);
    }

    const Csr<Index>& a_;
    const CoarseParts& parts_;
    const LargeComponents<Index>& large_;
    const Index n_, all_;   // vertices that are rows; all but the last
    Buffer<Index> row_;     // of a vertex
    Buffer<Index> vertex_;  // of a column; absent where none is a row
    Buffer<Index> number_;
    Buffer<Arcs<Index>> arcs_;
    Buffer<Index> heads_;
};

}  // namespace sparsematch
