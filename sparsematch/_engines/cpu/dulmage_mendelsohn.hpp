// Dulmage-Mendelsohn: the coarse parts of a matrix and the blocks of its square part, from a maximum matching.
//
// Dulmage, Mendelsohn: Coverings of bipartite graphs (1958); Pothen, Fan (ACM TOMS 16, 1990); strong components after Tarjan
// (SIAM J. Comput. 1, 1972) in Pearce's form with one number per vertex (Information Processing Letters 116, 2016).
// The graph that is searched has the matched columns as vertices; column j has an arc to each column of its mate's row. It
// is read off the matrix and the mates as they are: no permuted copy.
// Vertical part: what alternating paths from free rows reach, by one search along the rows. Horizontal part: what reaches
// a free column. Where the transpose is at hand, a search along the columns tells; without it, since strong components are
// completed sinks first, a component belongs to it when one of its arcs leads to a free column or to a component that does.
// Where the transpose is at hand, the component of one vertex, often nearly everything, is also found beforehand, as what
// the vertex reaches and is reached from: breadth-first searches can ask for their memory in advance, depth-first ones cannot.
#pragma once

#include <limits>

#include "check.hpp"
#include "csr.hpp"

namespace sparsematch {

template <class Index>
class StrongComponents {
    // number: 0 unseen; then the least preorder number reached; at last, that of its component (from n_cols downwards) or
    // one of the two codes, which are larger than any number.
    struct Vertex {
        Index number, next, last;  // next..last: the arcs still to follow
    };

  public:
    static constexpr Index in_horizontal = std::numeric_limits<Index>::max() - 1;
    static constexpr Index in_vertical = std::numeric_limits<Index>::max();

    StrongComponents(const Csr<Index>& a, Matching<Index> m, const Bitmap& horizontal_col, const Bitmap& vertical_col)
        : a_(a), vertex_(a.n_cols), stack_(a.n_cols), to_horizontal_(a.n_cols), root_(a.n_cols), component_(a.n_cols) {
        for (Index j = 0; j < a.n_cols; ++j) {
            if (vertical_col.test(j)) vertex_[j].number = in_vertical;
            else if (horizontal_col.test(j)) vertex_[j].number = in_horizontal;
            else vertex_[j] = {0, a.indptr[m.col_mate[j]], a.indptr[m.col_mate[j] + 1]};
        }
    }

    // Completes the components of the vertices that `wanted` names and of all that they reach. Calls may follow each other.
    // Workspace: four indices and two bits per column. Time: O(n_cols + nnz) in all.
    template <class Wanted>
    void find(const Wanted& wanted) {
        for (Index j = 0; j < a_.n_cols; ++j)
            if (vertex_[j].number == 0 && wanted(j)) visit(j);
    }
    // Makes the vertices that `wanted` names one component, by the caller's knowledge: all they reach besides is complete.
    template <class Wanted>
    void complete(const Wanted& wanted) {
        for (Index j = 0; j < a_.n_cols; ++j)
            if (vertex_[j].number == 0 && wanted(j)) vertex_[j].number = component_;
        --component_;
    }

    Index count() const { return a_.n_cols - component_; }
    // Sinks are completed first and numbered from above: the numbers ascend along the arcs, as upper block triangular form wants.
    Index group(Index j) const {
        const Index number = vertex_[j].number;
        return number == in_horizontal ? 0 : number == in_vertical ? count() + 1 : number - component_;
    }

  private:
    // The path of the search grows from the bottom of the stack, the finished vertices that still wait for the root of
    // their component from its top: a vertex is on one of them at most.
    void visit(Index start) {
        depth_ = 0;
        push(start);
        while (depth_ > 0) {
            const Index j = stack_[depth_ - 1];
            Vertex& v = vertex_[j];
            Index child = UNMATCHED<Index>, least = v.number;
            for (; v.next < v.last; ++v.next) {
                const Index k = a_.indices[v.next], number = vertex_[k].number;
                if (number == 0) {
                    child = k;
                    break;
                }
                if (number < least) least = number;
                else if (number == in_horizontal) to_horizontal_.set(j);
            }
            if (least < v.number) {
                v.number = least;
                root_.clear(j);
            }
            if (child != UNMATCHED<Index>) push(child);
            else leave(j, v);
        }
    }

    void push(Index j) {
        Vertex& v = vertex_[j];
        __builtin_prefetch(&a_.indices[v.next]);
        v.number = ++preorder_;
        root_.set(j);
        stack_[depth_++] = j;
    }

    // All arcs of j are done. Its parent will look at it again (the arc is still the parent's next), and lower itself there.
    void leave(Index j, Vertex& v) {
        --depth_;
        if (!root_.test(j)) {
            stack_[--waiting_] = j;
            if (to_horizontal_.test(j)) to_horizontal_.set(stack_[depth_ - 1]);  // not a root, so it has a parent
            return;
        }
        const bool square = !to_horizontal_.test(j);
        const Index own = v.number, number = square ? component_-- : in_horizontal;
        for (; waiting_ < a_.n_cols && vertex_[stack_[waiting_]].number >= own; ++waiting_, --preorder_)
            vertex_[stack_[waiting_]].number = number;
        v.number = number;
        --preorder_;
    }

    const Csr<Index>& a_;
    Buffer<Vertex> vertex_;
    Buffer<Index> stack_;
    Bitmap to_horizontal_, root_;
    Index component_;  // the next component's number
    Index preorder_ = 0, depth_ = 0, waiting_ = a_.n_cols;
};

// Finds the component of a vertex in the middle of the square part before all others. Of the rest, what it reaches comes
// after it, what reaches it before it, and what does neither can stand between it and what it reaches.
template <class Index>
void peel_component(const Csr<Index>& a, const Csr<Index>& t, Matching<Index> m, const Bitmap& outside_row,
                    const Bitmap& outside_col, StrongComponents<Index>& components) {
    Index pivot = UNMATCHED<Index>;
    for (Index i = 0; i < a.n_rows; ++i)
        if (!outside_row.test(i) && (pivot == UNMATCHED<Index> || a.degree(i) > a.degree(pivot))) pivot = i;
    if (pivot == UNMATCHED<Index>) return;
    Bitmap ahead(a.n_cols), behind(a.n_rows);
    ahead.copy(outside_col);
    behind.copy(outside_row);
    ahead.set(m.row_mate[pivot]);
    behind.set(pivot);
    reach(a, m.col_mate, {pivot}, ahead);
    reach(t, m.row_mate, {m.row_mate[pivot]}, behind);
    const auto leads_back = [&](Index j) { return behind.test(m.col_mate[j]); };
    components.find([&](Index j) { return !leads_back(j); });
    components.complete([&](Index j) { return ahead.test(j); });
}

// Reads: the matrix, its transpose if there is one, and a maximum matching. Writes: the group of each row: 0 horizontal part,
// 1..n the blocks of the square part in upper block triangular order, n + 1 vertical part; a column's is that of its mate, or
// 0. Returns n. Time: O(n_rows + n_cols + nnz).
template <class Index>
Index block_labels(const Csr<Index>& a, const Csr<Index>* t, Matching<Index> m, Index* row_group) {
    Bitmap vertical_row(a.n_rows), vertical_col(a.n_cols), horizontal_row(a.n_rows), horizontal_col(a.n_cols);
    reach_from_free(a, m, vertical_row, vertical_col);
    if (t) reach_from_free(*t, m.flipped(), horizontal_col, horizontal_row);
    for (Index j = 0; j < a.n_cols; ++j)
        if (m.col_mate[j] == UNMATCHED<Index>) horizontal_col.set(j);
    StrongComponents<Index> components(a, m, horizontal_col, vertical_col);
    if (t) {
        horizontal_row.merge(vertical_row);
        horizontal_col.merge(vertical_col);
        peel_component(a, *t, m, horizontal_row, horizontal_col, components);
    }
    components.find([](Index) { return true; });
    const Index vertical = components.count() + 1;
    for (Index i = 0; i < a.n_rows; ++i)
        row_group[i] = m.row_mate[i] == UNMATCHED<Index> ? vertical : components.group(m.row_mate[i]);
    return components.count();
}

// Stable counting sort: order lists 0..n-1 by ascending label, labels in [0, n_labels).
template <class Index>
void sort_by_label(const Index* label, Index n, Index n_labels, Index* order) {
    Buffer<Index> place(static_cast<std::size_t>(n_labels) + 1, Index{0});
    for (Index v = 0; v < n; ++v) ++place[label[v] + 1];
    for (Index k = 0; k < n_labels; ++k) place[k + 1] += place[k];
    for (Index v = 0; v < n; ++v) order[place[label[v]]++] = v;
}

// Weakly connected parts: rows and columns joined by entries. Labels ascend with the first row, then the first column, of a
// part. Union by smaller index with path halving. Time: nearly linear.
template <class Index>
Index connected_components(const Csr<Index>& a, Index* row_label, Index* col_label) {
    const std::size_t n_rows = a.n_rows, n_cols = a.n_cols;
    Buffer<std::size_t> up(n_rows + n_cols);
    for (std::size_t v = 0; v < up.size(); ++v) up[v] = v;
    const auto find = [&](std::size_t v) {
        while (up[v] != v) v = up[v] = up[up[v]];
        return v;
    };
    for (Index i = 0; i < a.n_rows; ++i)
        for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
            const std::size_t r = find(i), c = find(n_rows + a.indices[p]);
            if (r < c) up[c] = r;
            else up[r] = c;
        }
    Index n = 0;
    const auto label = [&](std::size_t v) -> Index& { return v < n_rows ? row_label[v] : col_label[v - n_rows]; };
    for (std::size_t v = 0; v < up.size(); ++v) label(v) = up[v] == v ? n++ : label(find(v));  // the root comes first
    return n;
}

}  // namespace sparsematch
