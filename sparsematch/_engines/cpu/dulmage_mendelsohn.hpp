// Dulmage-Mendelsohn: the coarse parts of a matrix and the blocks of its square part, from a maximum matching.
//
// Dulmage, Mendelsohn: Coverings of bipartite graphs (1958); Pothen, Fan (ACM TOMS 16, 1990). Vertical part: what alternating
// paths from free rows reach, by one search along the rows. Horizontal part: what reaches a free column. The blocks of the
// rest are the strong components of the graph that has the matched columns as vertices and an arc from column j to each
// column of its mate's row.
// A depth-first search finds them all, but waits for memory at every vertex. Most vertices are settled before it by searches
// that need not. With the transpose at hand: trimming (a vertex without arcs to or from unsettled ones is a component: McLendon
// et al., JPDC 65, 2005). With it or without: large components (large_components.hpp), each of which becomes one vertex.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "check.hpp"
#include "csr.hpp"
#include "form_order.hpp"
#include "large_components.hpp"
#include "strong_components.hpp"

namespace sparsematch {

// The places below n whose bits have this value, in ascending order.
template <class Index, class Use>
void each(const Bitmap& bitmap, bool value, Index n, const Use& use) {
    for (std::size_t base = 0, end = n; base < end; base += 64) {
        std::uint64_t bits = value ? bitmap.bits(base) : ~bitmap.bits(base);
        if (end - base < 64) bits &= (std::uint64_t{1} << (end - base)) - 1;
        for (; bits != 0; bits &= bits - 1) use(static_cast<Index>(base + std::countr_zero(bits)));
    }
}

// Where each matched row stands (as strong_components.hpp has it), found step by step; the column of an entry of the matching
// stands where its row does.
template <class Index>
class Blocks {
  public:
    // `group` has a place for each row, and is written step by step.
    Blocks(const Csr<Index>& a, Matching<Index> m, Index* group, Run& run)
        : a_(a), m_(m), run_(run), vertical_row_(a.n_rows), horizontal_row_(a.n_rows), horizontal_col_(a.n_cols),
          settled_row_(a.n_rows), settled_col_(a.n_cols), group_(group), component_(a.n_cols) {}

    // Settles the vertical part, and the horizontal one as far as it is cheap to find.
    void coarse_parts(const Csr<Index>* t) {
        if (any_free(m_.row_mate, a_.n_rows)) {
            reach_from_free(a_, m_, vertical_row_, settled_col_, run_);
            settled_row_.copy(vertical_row_);
        }
        if (any_free(m_.col_mate, a_.n_cols)) {
            if (t) reach_from_free(*t, m_.flipped(), horizontal_col_, horizontal_row_, run_);
            else sweep_horizontal();
            settled_row_.merge(horizontal_row_);
            settled_col_.merge(horizontal_col_);
        }
    }

    // Settles vertices without arcs to unsettled ones, and then those without arcs from unsettled ones, which can stand at
    // the end and at the beginning of the form. Time: O(n_rows + n_cols + nnz).
    void trim(const Csr<Index>& t) {
        std::fill(group_, group_ + a_.n_rows, Index{0});
        trim_side(a_, t, m_, settled_row_, settled_col_, [&](Index i, Index) { group_[i] = component_--; });
        trim_side(t, a_, m_.flipped(), settled_col_, settled_row_, [&](Index, Index i) { group_[i] = --first_; });
    }

    // Numbers the blocks of what is not settled, and writes the group of every row: 0 for the horizontal part, 1..n for the
    // blocks in upper block triangular order, n + 1 for the matched rows of the vertical part, n + 2 for the free rows.
    // Returns n.
    Index components(const Csr<Index>* t) {
        const std::size_t n_cols = a_.n_cols, left = n_cols - settled_col_.count();
        if (left == 0) return write([](Index) { return in_vertical<Index>; });
        LargeComponents<Index> large(a_, m_, settled_row_, settled_col_, run_);
        if (t) large.search(*t);
        else if (left > n_cols / 8 * 7) large.sweep(horizontal_col_);
        if (run_.stopped()) return 0;
        return large.size() > 0 || left <= n_cols / 2 ? contracted(large) : direct();
    }

  private:
    static bool any_free(const Index* mate, Index n) { return std::find(mate, mate + n, UNMATCHED<Index>) != mate + n; }

    // The horizontal part without the transpose: rows with an entry in a column of it, in passes over the rows that are
    // left, as long as they find much. What they miss is left to depth-first search.
    void sweep_horizontal() {
        Index found = 0;
        for (Index j = 0; j < a_.n_cols; ++j)
            if (m_.col_mate[j] == UNMATCHED<Index>) {
                horizontal_col_.set(j);
                ++found;
            }
        for (std::size_t left = a_.n_rows; found > 0 && static_cast<std::size_t>(found) > left / 16; left -= found) {
            found = 0;
            for (Index i = 0; i < a_.n_rows; ++i) {
                if (horizontal_row_.test(i) || vertical_row_.test(i)) continue;
                for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p)
                    if (horizontal_col_.test(a_.indices[p])) {
                        horizontal_row_.set(i);
                        horizontal_col_.set(m_.row_mate[i]);
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
        constexpr unsigned char many = 255;
        Buffer<unsigned char> arcs(a.n_rows, 0);
        Buffer<Index> queue(static_cast<std::size_t>(a.n_rows) + 1);
        std::size_t head = 0, tail = 0;
        Meter meter(run_);
        const auto fewer = [](unsigned char n) -> unsigned char { return n - ((n != 0) & (n != many)); };
        const bool few_settled = settled_col.count() < static_cast<std::size_t>(a.n_cols) / 4;
        each(settled_row, false, a.n_rows, [&](Index i) {
            Index n = a.degree(i) - 1;  // but its own column
            if (!few_settled)
                for (Index p = a.indptr[i], last = a.indptr[i + 1]; p < last; ++p) n -= settled_col.test(a.indices[p]);
            arcs[i] = std::clamp<Index>(n, 0, many);
            meter.charge(n + 1);
        });
        if (few_settled)
            each(settled_col, true, a.n_cols, [&](Index j) {
                for (Index p = t.indptr[j], last = t.indptr[j + 1]; p < last; ++p)
                    arcs[t.indices[p]] = fewer(arcs[t.indices[p]]);
                meter.charge(t.degree(j));
            });
        each(settled_row, false, a.n_rows, [&](Index i) {
            queue[tail] = i;
            tail += arcs[i] == 0;
        });
        for (; head < tail; ++head) {
            if (head + 24 < tail) __builtin_prefetch(&m.row_mate[queue[head + 24]]);
            if (head + 16 < tail) __builtin_prefetch(&t.indptr[m.row_mate[queue[head + 16]]]);
            if (head + 8 < tail) __builtin_prefetch(&t.indices[t.indptr[m.row_mate[queue[head + 8]]]]);
            const Index i = queue[head], j = m.row_mate[i];
            if (!meter.charge(t.degree(j))) return;
            settle(i, j);
            settled_row.set(i);
            settled_col.set(j);
            for (Index p = t.indptr[j], last = t.indptr[j + 1]; p < last; ++p) {  // without a branch: none could be predicted
                const Index k = t.indices[p];
                const unsigned char before = arcs[k], after = fewer(before);
                arcs[k] = after;
                queue[tail] = k;
                tail += after < before && after == 0;
            }
        }
    }

    // Depth-first search of all that is left, in the matrix as it is; nothing has been trimmed. Workspace: eight
    // indices per column, of which five are written as deep as the search goes.
    Index direct() {
        struct Arcs {
            Index begin, end;
        };
        struct Lists {
            const Arcs* arcs;
            const Index* heads;
            Index begin(Index j) const { return arcs[j].begin; }
            Index end(Index j) const { return arcs[j].end; }
            void prefetch(Index j) const { __builtin_prefetch(&arcs[j]); }
        };
        Buffer<Index> number(a_.n_cols);
        Buffer<Arcs> arcs(a_.n_cols);
        for (Index j = 0; j < a_.n_cols; ++j) {
            const bool settled = settled_col_.test(j);
            const Index i = m_.col_mate[j];
            number[j] = !settled ? 0 : horizontal_col_.test(j) ? in_horizontal<Index> : in_vertical<Index>;
            if (settled) continue;
            const Index leaf = a_.degree(i) == 1;
            arcs[j] = {a_.indptr[i], a_.indptr[i + 1]};
            number[j] = leaf ? component_ : 0;
            component_ -= leaf;
        }
        const Lists lists{arcs.data(), a_.indices};
        StrongComponents<Index, Lists>(lists, number.data(), a_.n_cols).find(a_.n_cols, component_, run_);
        for (Index i = 0; i < a_.n_rows; ++i) {
            const Index j = m_.row_mate[i], group = group_of(number[std::max<Index>(j, 0)]);
            group_[i] = j == UNMATCHED<Index> ? count() + 2 : group;
        }
        return count();
    }

    // Depth-first search in a copy of what is left, with one vertex for each large component and one for the horizontal part.
    // Workspace: an index per column, ten per vertex, and one per arc.
    Index contracted(const LargeComponents<Index>& large) {
        struct Lists {
            const Index *first, *heads;
            Index begin(Index v) const { return first[v]; }
            Index end(Index v) const { return first[v + 1]; }
            void prefetch(Index v) const { __builtin_prefetch(&first[v]); }
        };
        const Index n = static_cast<Index>(large.left()), all = n + large.size();
        Buffer<Index> vertex(n > 0 ? a_.n_cols : 0), cols(n), number(static_cast<std::size_t>(all) + 1, 0);
        number[all] = in_horizontal<Index>;
        std::size_t n_arcs = 1;
        Index found = 0;
        for (Index j = 0; j < static_cast<Index>(vertex.size()); ++j) {
            const bool settled = settled_col_.test(j);
            const int of = settled ? -1 : large[j];
            vertex[j] = of >= 0 ? n + of : !settled ? found : horizontal_col_.test(j) ? all : -1;
            if (of >= 0 || settled) continue;
            cols[found++] = j;
            n_arcs += a_.degree(m_.col_mate[j]);
        }
        for (int g = 0; g < large.size(); ++g) n_arcs += large.targets(g).size();
        Buffer<Index> heads(n_arcs);
        Buffer<Index> first(static_cast<std::size_t>(all) + 1);
        const auto vertex_of = [&](Index j) {
            return n > 0 ? vertex[j] : !settled_col_.test(j) ? large[j] : horizontal_col_.test(j) ? all : -1;
        };
        Index tail = 0;
        const auto add = [&](Index own, Index j) {
            heads[tail] = vertex_of(j);
            tail += (heads[tail] >= 0) & (heads[tail] != own);
        };
        for (Index v = 0; v < n; ++v) {
            if (v + 16 < n) __builtin_prefetch(&a_.indptr[m_.col_mate[cols[v + 16]]]);
            if (v + 8 < n) __builtin_prefetch(&a_.indices[a_.indptr[m_.col_mate[cols[v + 8]]]]);
            const Index i = m_.col_mate[cols[v]];
            first[v] = tail;
            for (Index p = a_.indptr[i], last = a_.indptr[i + 1]; p < last; ++p) add(v, a_.indices[p]);
        }
        for (int g = 0; g < large.size(); ++g) {
            first[n + g] = tail;
            for (const Index j : large.targets(g)) add(n + g, j);
        }
        first[all] = tail;
        const Lists lists{first.data(), heads.data()};
        StrongComponents<Index, Lists>(lists, number.data(), all).find(all, component_, run_);
        for (Index v = 0; v < n; ++v) {
            const Index i = m_.col_mate[cols[v]];
            group_[i] = number[v];
            settled_row_.set(i);
        }
        if (large.size() <= 1) return write([only = number[n]](Index) { return only; });
        return write([&](Index j) { return number[n + large[j]]; });
    }

    // Blocks found so far.
    Index count() const { return a_.n_cols - component_ - first_; }
    // Without a branch: none could be predicted.
    Index group_of(Index number) const {
        Index group = number > 0 ? number : -std::max(number, first_);
        group += number > 0 && number != in_vertical<Index> ? -first_ - component_ : 0;
        group = number == in_vertical<Index> ? count() + 1 : group;
        return number == in_horizontal<Index> ? 0 : group;
    }

    // number_of(j): of the matched column j, which is not settled.
    template <class Number>
    Index write(const Number& number_of) const {
        const Index n = count();
        for (Index i = 0; i < a_.n_rows;) {
            const Index end = std::min<Index>(a_.n_rows - i, 64) + i;
            std::uint64_t settled = settled_row_.bits(i), vertical = vertical_row_.bits(i),
                          horizontal = horizontal_row_.bits(i);
            if (settled == 0) {
                for (; i < end; ++i) group_[i] = group_of(number_of(m_.row_mate[i]));
                continue;
            }
            for (; i < end; ++i, settled >>= 1, vertical >>= 1, horizontal >>= 1) {
                const Index j = m_.row_mate[i];
                Index group = group_of(settled & 1 ? group_[i] : number_of(j));
                group = horizontal & 1 ? 0 : group;
                group = vertical & 1 ? n + 1 : group;
                group_[i] = j == UNMATCHED<Index> ? n + 2 : group;
            }
        }
        return n;
    }

    const Csr<Index>& a_;
    Matching<Index> m_;
    Run& run_;
    Bitmap vertical_row_, horizontal_row_, horizontal_col_, settled_row_, settled_col_;
    Index* group_;  // of rows that trimming has settled
    Index component_, first_ = 0;
};

// Reads: the matrix, its transpose if there is one, and a maximum matching. Writes the group of each row (Blocks::components);
// a column's is that of its mate, or 0. Returns the number of blocks in the square part. Time: O(n_rows + n_cols + nnz).
template <class Index>
Index block_labels(const Csr<Index>& a, const Csr<Index>* t, Matching<Index> m, Index* row_group, Run& run) {
    Blocks<Index> blocks(a, m, row_group, run);
    blocks.coarse_parts(t);
    if (t && !run.stopped()) blocks.trim(*t);
    return run.stopped() ? 0 : blocks.components(t);
}

}  // namespace sparsematch
