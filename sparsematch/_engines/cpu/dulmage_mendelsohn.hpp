// Dulmage-Mendelsohn: the coarse parts of a matrix and the blocks of its square part, from a maximum matching.
//
// Dulmage, Mendelsohn: Coverings of bipartite graphs (1958); Pothen, Fan (ACM TOMS 16, 1990). Vertical part: what alternating
// paths from free rows reach, by one search along the rows. Horizontal part: what reaches a free column. The blocks of the
// rest are the strong components of the graph that has the matched columns as vertices and an arc from column j to each
// column of its mate's row.
// A depth-first search finds them all, but waits for memory at every vertex. With the transpose at hand most vertices are
// settled before it by searches that can ask for their memory in advance: trimming (a vertex without arcs to or from
// unsettled ones is a component: McLendon et al., JPDC 65, 2005) and forward-backward search (Fleischer, Hendrickson, Pinar
// 2000: what a vertex reaches and is reached from is its component).
#pragma once

#include <algorithm>
#include <array>

#include "check.hpp"
#include "csr.hpp"
#include "strong_components.hpp"

namespace sparsematch {

// Where each matched column stands (as strong_components.hpp has it), found step by step; the row of an entry of the matching
// stands where its column does.
template <class Index>
class Blocks {
  public:
    Blocks(const Csr<Index>& a, Matching<Index> m, Run& run)
        : a_(a), m_(m), run_(run), settled_row_(a.n_rows), settled_col_(a.n_cols), number_(a.n_cols, Index{0}),
          component_(a.n_cols) {}

    // Settles the vertical part, and the horizontal one as far as it is cheap to find.
    void coarse_parts(const Csr<Index>* t) {
        Bitmap row(a_.n_rows), col(a_.n_cols);
        if (any_free(m_.row_mate, a_.n_rows)) {
            reach_from_free(a_, m_, row, col, run_);
            settle(row, col, in_vertical<Index>);
        }
        if (any_free(m_.col_mate, a_.n_cols)) {
            if (t) reach_from_free(*t, m_.flipped(), col, row, run_);
            else sweep_horizontal(row, col);
            settle(row, col, in_horizontal<Index>);
        }
    }

    // Settles vertices without arcs to unsettled ones, and then those without arcs from unsettled ones, which can stand at
    // the end and at the beginning of the form. Time: O(n_rows + n_cols + nnz).
    void trim(const Csr<Index>& t) {
        trim_side(a_, t, m_, settled_row_, settled_col_, [&](Index i) { number_[m_.row_mate[i]] = component_--; });
        trim_side(t, a_, m_.flipped(), settled_col_, settled_row_, [&](Index j) { number_[j] = --first_; });
    }

    // Settles the large components that forward-backward search finds, and all others by depth-first search.
    void components(const Csr<Index>* t) {
        std::size_t left = a_.n_cols - settled_col_.count();
        if (left == 0) return;
        Buffer<unsigned char> layer(t ? a_.n_cols : 0);
        std::array<Layer, max_layers> layers;
        int n_layers = 0;
        if (t) {
            std::fill(layer.begin(), layer.end(), beyond);
            Bitmap row(a_.n_rows), col(a_.n_cols);  // settled, or within a layer
            row.copy(settled_row_);
            col.copy(settled_col_);
            for (bool large = true; large && left > layer.size() / 4 && n_layers < max_layers; ++n_layers) {
                layers[n_layers] = peel(*t, row, col, layer, n_layers);
                large = layers[n_layers].component > left / 8;
                left -= layers[n_layers].size;
            }
        }
        // What a layer reaches is in its component, in later layers or beyond them, and what lies beyond reaches no layer.
        std::unique_ptr<StrongComponents<Index>> search;
        const auto find = [&](std::size_t size, const auto& wanted) {
            if (size == 0 || run_.stopped()) return;
            if (!search) search = std::make_unique<StrongComponents<Index>>(a_, m_, number_.data());
            search->find(component_, wanted, run_);
        };
        find(left, [&](Index j) { return !t || layer[j] == beyond; });
        while (n_layers-- > 0) {
            const unsigned char own = 2 * n_layers;
            for (Index j = 0; j < a_.n_cols; ++j)
                if (layer[j] == own + 1) number_[j] = component_;
            --component_;
            find(layers[n_layers].size - layers[n_layers].component, [&](Index j) { return layer[j] == own; });
        }
    }

    // 0 for the horizontal part, 1..n for the blocks in upper block triangular order, n + 1 for the matched rows of the
    // vertical part, n + 2 for the free rows. Returns n.
    Index write(Index* row_group) const {
        const Index n_first = -first_, n = n_first + a_.n_cols - component_;
        for (Index i = 0; i < a_.n_rows; ++i) {
            const Index j = m_.row_mate[i], number = j == UNMATCHED<Index> ? 0 : number_[j];
            row_group[i] = j == UNMATCHED<Index>            ? n + 2
                           : number == in_vertical<Index>   ? n + 1
                           : number == in_horizontal<Index> ? 0
                           : number < 0                     ? -number
                                                            : n_first + number - component_;
        }
        return n;
    }

  private:
    static constexpr int max_layers = 4;
    static constexpr unsigned char beyond = 255;
    // The vertices that reach a pivot; of these, its component: what the pivot reaches too.
    struct Layer {
        std::size_t size = 0, component = 0;
    };

    static bool any_free(const Index* mate, Index n) { return std::find(mate, mate + n, UNMATCHED<Index>) != mate + n; }

    // What has been reached stands there now; nothing is reached any more.
    void settle(Bitmap& row, Bitmap& col, Index number) {
        for (Index j = 0; j < a_.n_cols; ++j) number_[j] = col.test(j) ? number : number_[j];
        settled_row_.merge(row);
        settled_col_.merge(col);
        row.fill(false);
        col.fill(false);
    }

    // The horizontal part without the transpose: rows with an entry in a column of it, in passes over the rows that are
    // left, as long as they find much. What they miss is left to depth-first search.
    void sweep_horizontal(Bitmap& row, Bitmap& col) {
        Index found = 0;
        for (Index j = 0; j < a_.n_cols; ++j)
            if (m_.col_mate[j] == UNMATCHED<Index>) {
                col.set(j);
                ++found;
            }
        for (std::size_t left = a_.n_rows; found > 0 && static_cast<std::size_t>(found) > left / 16; left -= found) {
            found = 0;
            for (Index i = 0; i < a_.n_rows; ++i) {
                if (row.test(i) || settled_row_.test(i)) continue;
                for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p)
                    if (col.test(a_.indices[p])) {
                        row.set(i);
                        col.set(m_.row_mate[i]);
                        ++found;
                        break;
                    }
            }
        }
    }

    // Rows without arcs to unsettled rows, over and over; told in rows for the way along the arcs, and called with everything
    // flipped for the way against them. Counts are kept in a byte: a row with more arcs is left to others, and so is one whose
    // own entry is repeated.
    template <class Settle>
    void trim_side(const Csr<Index>& a, const Csr<Index>& t, Matching<Index> m, Bitmap& settled_row, Bitmap& settled_col,
                   const Settle& settle) {
        constexpr Index many = 255;
        Buffer<unsigned char> arcs(a.n_rows);
        Buffer<Index> queue(static_cast<std::size_t>(a.n_rows) + 1);
        std::size_t head = 0, tail = 0;
        Meter meter(run_);
        const bool fresh = settled_col.count() == 0;
        for (Index i = 0; i < a.n_rows; ++i) {
            Index n = a.degree(i) - 1;  // but its own column
            if (!fresh) {
                if (!meter.charge(n + 1)) return;
                for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) n -= settled_col.test(a.indices[p]);
            }
            const bool settled = settled_row.test(i);
            queue[tail] = i;
            tail += !settled & (n == 0);
            arcs[i] = settled ? 0 : std::clamp<Index>(n, 0, many);
        }
        for (; head < tail; ++head) {
            if (head + 24 < tail) __builtin_prefetch(&m.row_mate[queue[head + 24]]);
            if (head + 16 < tail) __builtin_prefetch(&t.indptr[m.row_mate[queue[head + 16]]]);
            if (head + 8 < tail) __builtin_prefetch(&t.indices[t.indptr[m.row_mate[queue[head + 8]]]]);
            const Index i = queue[head], j = m.row_mate[i];
            if (!meter.charge(t.degree(j))) return;
            settle(i);
            settled_row.set(i);
            settled_col.set(j);
            for (Index p = t.indptr[j], last = t.indptr[j + 1]; p < last; ++p) {  // without a branch: none could be predicted
                const Index k = t.indices[p];
                const unsigned char before = arcs[k], after = before - ((before != 0) & (before != many));
                arcs[k] = after;
                queue[tail] = k;
                tail += after < before && after == 0;
            }
        }
    }

    // One pivot's layer, among the vertices that are neither settled nor in a layer yet.
    Layer peel(const Csr<Index>& t, Bitmap& row, Bitmap& col, Buffer<unsigned char>& layer, int n) {
        Index pivot = UNMATCHED<Index>;
        for (Index i = 0; i < a_.n_rows; ++i)
            if (!row.test(i) && (pivot == UNMATCHED<Index> || a_.degree(i) > a_.degree(pivot))) pivot = i;
        Bitmap ahead(a_.n_cols);
        ahead.copy(col);
        ahead.set(m_.row_mate[pivot]);
        Reach<Index> forward(a_, m_.col_mate, ahead);
        forward.from(pivot);
        forward.run(run_);
        row.set(pivot);
        Reach<Index> backward(t, m_.row_mate, row);
        backward.from(m_.row_mate[pivot]);
        backward.run(run_);
        Layer found{backward.size() + 1, 1};
        const auto put = [&](Index i) {
            const Index j = m_.row_mate[i];
            const bool component = ahead.test(j);  // settled ones and earlier layers are not among those that lead back
            layer[j] = 2 * n + component;
            found.component += component;
            col.set(j);
        };
        put(pivot);
        for (const Index i : backward) put(i);
        --found.component;
        return found;
    }

    const Csr<Index>& a_;
    Matching<Index> m_;
    Run& run_;
    Bitmap settled_row_, settled_col_;
    Buffer<Index> number_;
    Index component_, first_ = 0;
};

// Reads: the matrix, its transpose if there is one, and a maximum matching. Writes the group of each row (Blocks::write); a
// column's is that of its mate, or 0. Returns the number of blocks in the square part. Time: O(n_rows + n_cols + nnz).
template <class Index>
Index block_labels(const Csr<Index>& a, const Csr<Index>* t, Matching<Index> m, Index* row_group, Run& run) {
    Blocks<Index> blocks(a, m, run);
    blocks.coarse_parts(t);
    if (t && !run.stopped()) blocks.trim(*t);
    if (!run.stopped()) blocks.components(t);
    return run.stopped() ? 0 : blocks.write(row_group);
}

// Stable counting sort: order lists 0..n-1 by ascending label, labels in [0, n_labels).
template <class Index>
void sort_by_label(const Index* label, Index n, Index n_labels, Index* order, Index* starts) {
    std::fill(starts, starts + n_labels + 1, Index{0});
    for (Index v = 0; v < n; ++v) ++starts[label[v] + 1];
    for (Index k = 0; k < n_labels; ++k) starts[k + 1] += starts[k];
    for (Index v = 0; v < n; ++v) order[starts[label[v]]++] = v;
    for (Index k = n_labels; k > 0; --k) starts[k] = starts[k - 1];
    starts[0] = 0;
}

// The permutations of the block form: rows by ascending group, in ascending order within one, and columns beside their mates,
// after the free ones, whose places are left as they are. Groups are those of Blocks::write with n blocks; starts has n + 4
// places.
template <class Index>
void form_order(const Index* group, const Index* row_mate, Index n_rows, Index n_cols, Index n, Index* row_perm,
                Index* col_perm, Index* starts) {
    std::fill(starts, starts + n + 4, Index{0});
    const bool large_blocks = n < n_rows / 8;
    const auto runs = [&](const auto& use) {  // of rows in the same group
        for (Index i = 0, end; i < n_rows; i = end) {
            for (end = i + 1; large_blocks && end < n_rows && group[end] == group[i];) ++end;
            use(group[i], i, end);
        }
    };
    runs([&](Index g, Index begin, Index end) { starts[g + 1] += end - begin; });
    for (Index g = 0; g < n + 3; ++g) starts[g + 1] += starts[g];
    const Index n_free = n_cols - starts[n + 2];
    runs([&](Index g, Index begin, Index end) {
        Index place = starts[g];
        starts[g] += end - begin;
        for (Index i = begin; i < end; ++i, ++place) {
            row_perm[place] = i;
            if (g < n + 2) col_perm[n_free + place] = row_mate[i];
        }
    });
    for (Index g = n + 3; g > 0; --g) starts[g] = starts[g - 1];
    starts[0] = 0;
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
