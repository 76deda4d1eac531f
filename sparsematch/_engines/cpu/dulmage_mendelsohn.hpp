// Dulmage-Mendelsohn: the coarse parts of a matrix and the blocks of its square part, from a maximum matching.
//
// Dulmage, Mendelsohn: Coverings of bipartite graphs (1958); Pothen, Fan (ACM TOMS 16, 1990); strong components after Tarjan
// (SIAM J. Comput. 1, 1972) in Pearce's form with one number per vertex (Information Processing Letters 116, 2016).
// The graph that is searched has the matched columns as vertices; column j has an arc to each column of its mate's row. It
// is read off the matrix and the mates as they are: no permuted copy, no transpose.
// Vertical part: what alternating paths from free rows reach, by one search along the rows. Horizontal part: what reaches
// a free column; as the strong components are completed sinks first, a component belongs to it when one of its arcs leads to
// a free column or to a component that does, so that the search for the components answers this too.
#pragma once

#include <limits>

#include "check.hpp"
#include "csr.hpp"

namespace sparsematch {

enum Part : std::int8_t { horizontal = 0, square = 1, vertical = 2 };

template <class Index>
class StrongComponents {
    // number: 0 unseen; then the least preorder number reached; at last, that of its component (from n_cols downwards) or
    // one of the two codes, which are larger than any number.
    struct Vertex {
        Index number, next, last;  // next..last: the arcs still to follow
    };
    static constexpr Index in_horizontal = std::numeric_limits<Index>::max() - 1;
    static constexpr Index in_vertical = std::numeric_limits<Index>::max();

  public:
    StrongComponents(const Csr<Index>& a, Matching<Index> m, const Bitmap& vertical_col)
        : a_(a), vertex_(a.n_cols), stack_(a.n_cols), to_horizontal_(a.n_cols), component_(a.n_cols) {
        for (Index j = 0; j < a.n_cols; ++j) {
            const Index i = m.col_mate[j];
            if (vertical_col.test(j)) vertex_[j] = {in_vertical, 0, 0};
            else if (i == UNMATCHED<Index>) vertex_[j] = {in_horizontal, 0, 0};
            else vertex_[j] = {0, a.indptr[i], a.indptr[i + 1]};
        }
    }

    // Workspace: four indices and a bit per column. Time: O(n_cols + nnz).
    void find() {
        for (Index j = 0; j < a_.n_cols; ++j)
            if (vertex_[j].number == 0) visit(j);
    }
    Index count() const { return a_.n_cols - component_; }
    Part part(Index j) const {
        return vertex_[j].number == in_vertical ? vertical : vertex_[j].number == in_horizontal ? horizontal : square;
    }
    // Sinks are completed first and numbered from above: the numbers ascend along the arcs, as upper block triangular form wants.
    Index block(Index j) const { return vertex_[j].number - component_ - 1; }

  private:
    // The path of the search grows from the bottom of the stack, the finished vertices that still wait for the root of
    // their component from its top: a vertex is on one of them at most.
    void visit(Index start) {
        depth_ = 0;
        push(start);
        while (depth_ > 0) {
            const Index j = stack_[depth_ - 1];
            Vertex& v = vertex_[j];
            Index child = UNMATCHED<Index>;
            Index least = v.number;
            for (; v.next < v.last; ++v.next) {
                const Index k = a_.indices[v.next];
                const Index number = vertex_[k].number;
                if (number == 0) {
                    child = k;
                    break;
                }
                if (number < least) least = number;
                else if (number == in_horizontal) to_horizontal_.set(j);
            }
            if (least < v.number) lower(v, least);
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
    void lower(Vertex& v, Index number) {
        v.number = number;
        root_.clear(&v - vertex_.data());
    }

    // All arcs of j are done. Its parent will look at it again (the arc is still the parent's next), and lower itself there.
    void leave(Index j, Vertex& v) {
        --depth_;
        if (!root_.test(j)) {
            stack_[--waiting_] = j;
            if (to_horizontal_.test(j)) to_horizontal_.set(stack_[depth_ - 1]);  // not a root, so it has a parent
            return;
        }
        const bool dead_end = !to_horizontal_.test(j);
        const Index own = v.number, number = dead_end ? component_-- : in_horizontal;
        for (; waiting_ < a_.n_cols && vertex_[stack_[waiting_]].number >= own; ++waiting_, --preorder_)
            vertex_[stack_[waiting_]].number = number;
        v.number = number;
        --preorder_;
    }

    const Csr<Index>& a_;
    Buffer<Vertex> vertex_;
    Buffer<Index> stack_;
    Bitmap to_horizontal_, root_{static_cast<std::size_t>(a_.n_cols)};
    Index component_;                                 // the next component's number
    Index preorder_ = 0, depth_ = 0, waiting_ = a_.n_cols;
};

// Reads: the matrix and a maximum matching. Writes: the part of each row and column, and for the square part the number of
// its block in upper block triangular order (UNMATCHED elsewhere). Returns the number of square blocks. Time: O(n + nnz).
template <class Index>
Index block_labels(const Csr<Index>& a, Matching<Index> m, std::int8_t* row_part, std::int8_t* col_part, Index* row_block,
                   Index* col_block) {
    Bitmap vertical_row(a.n_rows), vertical_col(a.n_cols);
    reach_from_free_rows(a, m, vertical_row, vertical_col);
    StrongComponents<Index> components(a, m, vertical_col);
    components.find();
    for (Index j = 0; j < a.n_cols; ++j) {
        col_part[j] = components.part(j);
        col_block[j] = col_part[j] == square ? components.block(j) : UNMATCHED<Index>;
    }
    for (Index i = 0; i < a.n_rows; ++i) {
        const Index j = m.row_mate[i];
        row_part[i] = j == UNMATCHED<Index> ? static_cast<std::int8_t>(vertical) : col_part[j];
        row_block[i] = j == UNMATCHED<Index> ? j : col_block[j];
    }
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
