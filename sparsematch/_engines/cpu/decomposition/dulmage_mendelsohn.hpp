// Dulmage-Mendelsohn: the coarse parts of a matrix and the blocks of its square part, from a
// maximum matching.
//
// Dulmage, Mendelsohn: Coverings of bipartite graphs (1958); Pothen, Fan (ACM TOMS 16, 1990).
// Vertical part: what alternating paths from free rows reach, by one search along the rows.
// Horizontal part: what reaches a free column. The blocks of the rest are the strong components of
// the graph that has the matched columns as vertices and an arc from column j to each column of its
// mate's row.
// A depth-first search finds them all, but waits for memory at every vertex. Most vertices are
// settled before it by searches that need not. If Karp-Sipser was the start: pairs that vertices of
// degree one have forced are components. With the transpose at hand: trimming (a vertex without
// arcs to unsettled ones is a component: McLendon et al., JPDC 65, 2005). With it or without: large
// components (large_components.hpp), each of which becomes one vertex.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "core/certificates.hpp"
#include "core/csr.hpp"
#include "decomposition/block_permutation.hpp"
#include "decomposition/forward_backward.hpp"
#include "decomposition/strong_components.hpp"

namespace sparsematch {

// Where each matched row stands (as strong_components.hpp has it), found step by step; the column
// of an entry of the matching stands where its row does.
template <class Index>
class Blocks {
  public:
    // `group` has a place for each row, and is written step by step.
    Blocks(const Csr<Index>& a, Matching<Index> m, Index* group, RunContext& run)
        : a_(a), m_(m), run_(run), vertical_row_(a.n_rows), horizontal_row_(a.n_rows),
          horizontal_col_(a.n_cols), settled_row_(a.n_rows), settled_col_(a.n_cols), group_(group),
          component_(a.n_cols) {}

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

    // Numbers the blocks of what is not settled, and writes the group of every row: 0 for the
    // horizontal part, 1..n for the blocks in upper block triangular order, n + 1 for the matched
    // rows of the vertical part, n + 2 for the free rows. Returns n.
    Index components(const Csr<Index>* t) {
        if (t) settle_forced();
        const std::size_t n_cols = a_.n_cols, left = n_cols - settled_col_.count();
        if (left == 0) return write([](Index) { return in_vertical<Index>; });
        LargeComponents<Index> large(a_, m_, settled_row_, settled_col_, run_);
        // A large component is likely, and what hangs on it is little.
        if (t && left > n_cols / 4 * 3) large.search(*t);
        else if (!t && left > n_cols / 8 * 7) large.sweep(horizontal_col_);
        if (t && large.size() == 0 && !run_.stopped()) {
            if (run_.forced.by_row + run_.forced.by_col == 0) trim(*t);
            large.search(*t);
        }
        if (run_.stopped()) return 0;
        return t || large.size() > 0 || left <= n_cols / 2 ? contracted(large) : direct();
    }

  private:
    static constexpr std::int64_t ahead = 16;  // forced rows

    // The horizontal part without the transpose: rows with an entry in a column of it, in passes
    // over the rows that are left, as long as they find much. What they miss is left to depth-first
    // search.
    void sweep_horizontal() {
        Index found = 0;
        for (Index j = 0; j < a_.n_cols; ++j)
            if (m_.col_mate[j] == UNMATCHED<Index>) {
                horizontal_col_.set(j);
                ++found;
            }
        for (std::size_t left = a_.n_rows; found > 0 && static_cast<std::size_t>(found) > left / 16;
             left -= found) {
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

    // A row that came down to one column has arcs to those only that came down to one before it: it
    // can stand at the end of the form. A column that came down to one row has arcs from such ones
    // only: it can stand at the beginning. Whatever was matched afterwards, those in the square
    // part are still pairs, for there is no other way to match them.
    void settle_forced() {
        const auto& [rows, by_row, by_col] = run_.forced;
        const Index *const row = run_.forced.rows_as<Index>(), *const end =
                                                                   row + (rows ? a_.n_rows : 0);
        const auto settle = [&](Index i, Index number) {
            const bool square = !settled_row_.test(i);
            group_[i] = number;
            settled_row_.set(i);
            settled_col_.set_if(std::max<Index>(m_.row_mate[i], 0), square);
            return square;
        };
        for (std::int64_t k = 0; k < by_row; ++k) {
            ask_forced(row[std::min(k + ahead, by_row - 1)]);
            component_ -= settle(row[k], component_);
        }
        for (std::int64_t k = 1; k <= by_col; ++k) {
            ask_forced(end[-std::min(k + ahead, by_col)]);
            n_first_ += settle(end[-k], in_horizontal<Index> + 1 + n_first_);
        }
    }
    [[gnu::always_inline]] void ask_forced(Index i) const {
        __builtin_prefetch(&group_[i], 1);
        __builtin_prefetch(&m_.row_mate[i]);
    }

    // Settles vertices without arcs to unsettled ones, over and over: they can stand at the end of
    // the form. Counts are kept in a byte: a row with more arcs is left to others, and so is one
    // whose own entry is repeated. Time: O(n_rows + n_cols + nnz).
    void trim(const Csr<Index>& t) {
        constexpr unsigned char many = 255;
        Buffer<unsigned char> arcs(a_.n_rows, 0);
        Buffer<Index> queue(static_cast<std::size_t>(a_.n_rows) + 1);
        std::size_t head = 0, tail = 0;
        WorkCounter counter(run_);
        const auto fewer = [](unsigned char n) -> unsigned char {
            return n - ((n != 0) & (n != many));
        };
        const bool few_settled = settled_col_.count() < static_cast<std::size_t>(a_.n_cols) / 4;
        each(settled_row_, false, a_.n_rows, [&](Index i) {
            Index n = a_.degree(i) - 1;  // but its own column
            if (!few_settled)
                for (Index p = a_.indptr[i], last = a_.indptr[i + 1]; p < last; ++p)
                    n -= settled_col_.test(a_.indices[p]);
            arcs[i] = std::clamp<Index>(n, 0, many);
            counter.add(n + 1);
        });
        if (few_settled)
            each(settled_col_, true, a_.n_cols, [&](Index j) {
                for (Index p = t.indptr[j], last = t.indptr[j + 1]; p < last; ++p)
                    arcs[t.indices[p]] = fewer(arcs[t.indices[p]]);
                counter.add(t.degree(j));
            });
        each(settled_row_, false, a_.n_rows, [&](Index i) {
            queue[tail] = i;
            tail += arcs[i] == 0;
        });
        for (; head < tail; ++head) {
            if (head + 24 < tail) __builtin_prefetch(&m_.row_mate[queue[head + 24]]);
            if (head + 16 < tail) __builtin_prefetch(&t.indptr[m_.row_mate[queue[head + 16]]]);
            if (head + 8 < tail)
                __builtin_prefetch(&t.indices[t.indptr[m_.row_mate[queue[head + 8]]]]);
            const Index i = queue[head], j = m_.row_mate[i];
            if (!counter.add(t.degree(j))) return;
            group_[i] = component_--;
            settled_row_.set(i);
            settled_col_.set(j);
            // without a branch: none could be predicted
            for (Index p = t.indptr[j], last = t.indptr[j + 1]; p < last; ++p) {
                const Index k = t.indices[p];
                const unsigned char before = arcs[k], after = fewer(before);
                arcs[k] = after;
                queue[tail] = k;
                tail += after < before && after == 0;
            }
        }
    }

    // Depth-first search of all that is left, in the matrix as it is; nothing has been trimmed.
    // Workspace: seven indices per column, of which four are written as deep as the search goes.
    Index direct() {
        Buffer<Index> number(a_.n_cols);
        Buffer<Arcs<Index>> arcs(a_.n_cols);
        for (Index j = 0; j < a_.n_cols; ++j) {
            if (settled_col_.test(j)) {
                number[j] = horizontal_col_.test(j) ? in_horizontal<Index> : in_vertical<Index>;
                continue;
            }
            const Index i = m_.col_mate[j], leaf = a_.degree(i) == 1;
            number[j] = leaf ? component_ : 0;
            arcs[j] = {a_.indptr[i], a_.indptr[i + 1]};
            component_ -= leaf;
        }
        StrongComponents<Index>(number.data(), arcs.data(), a_.indices, a_.n_cols)
            .find(a_.n_cols, component_, run_);
        const Index n = count();
        for (Index i = 0; i < a_.n_rows; ++i) {
            const Index j = m_.row_mate[i], group = group_of(number[std::max<Index>(j, 0)]);
            group_[i] = j == UNMATCHED<Index> ? n + 2 : group;
        }
        return n;
    }

    // Depth-first search in a copy of what is left, with one vertex for each large component and
    // one for the horizontal part.
    // Workspace: an index per column, eight per vertex, and one per arc.
    Index contracted(const LargeComponents<Index>& large) {
        const Index n = static_cast<Index>(large.left()), all = n + large.size();
        Buffer<Index> vertex(n > 0 ? a_.n_cols : 0), rows(static_cast<std::size_t>(n) + 1);
        Buffer<Index> number(static_cast<std::size_t>(all) + 1);
        Buffer<Arcs<Index>> arcs(all);
        std::fill(number.begin(), number.end() - 1, 0);
        number[all] = in_horizontal<Index>;
        if (n > 0) {
            Index found = 0;
            each(settled_row_, false, a_.n_rows, [&](Index i) {
                const Index j = m_.row_mate[i];
                const int of = large[j];
                vertex[j] = of < 0 ? found : n + of;
                rows[found] = i;
                found += of < 0;
            });
            each(settled_col_, true, a_.n_cols, [&](Index j) { vertex[j] = -1; });
            each(horizontal_col_, true, a_.n_cols, [&](Index j) { vertex[j] = all; });
        }
        // at most: the rest is not written
        std::size_t n_arcs = static_cast<std::size_t>(n > 0 ? a_.nnz() : 0) + 1;
        for (int g = 0; g < large.size(); ++g) n_arcs += large.targets(g).size();
        Buffer<Index> heads(n_arcs);
        const auto vertex_of = [&](Index j) {
            return n > 0                     ? vertex[j]
                   : !settled_col_.test(j)   ? large[j]
                   : horizontal_col_.test(j) ? all
                                             : -1;
        };
        Index tail = 0;
        const auto add = [&](Index own, Index j) {
            heads[tail] = vertex_of(j);
            tail += (heads[tail] >= 0) & (heads[tail] != own);
        };
        for (Index v = 0; v < n; ++v) {
            const Index begin = tail;
            for (Index p = a_.indptr[rows[v]], last = a_.indptr[rows[v] + 1]; p < last; ++p)
                add(v, a_.indices[p]);
            arcs[v] = {begin, tail};
        }
        for (int g = 0; g < large.size(); ++g) {
            const Index begin = tail;
            for (const Index j : large.targets(g)) add(n + g, j);
            arcs[n + g] = {begin, tail};
        }
        StrongComponents<Index>(number.data(), arcs.data(), heads.data(), all)
            .find(all, component_, run_);
        for (Index v = 0; v < n; ++v) {
            group_[rows[v]] = number[v];
            settled_row_.set(rows[v]);
        }
        if (large.size() <= 1) return write([only = number[n]](Index) { return only; });
        return write([&](Index j) { return number[n + large[j]]; });
    }

    // Blocks found so far.
    Index count() const { return a_.n_cols - component_ + n_first_; }
    // Without a branch, for none could be predicted: compilers make one of a choice, but not of a
    // mask.
    Index group_of(Index number) const {
        const Index negative = -static_cast<Index>(number < 0);
        const Index before =
            (in_horizontal<Index> & negative) | ((component_ - n_first_) & ~negative);
        return std::min<Index>(number, a_.n_cols + 1) - before;
    }

    // number_of(j): of the matched column j, which is not settled. Rows of the coarse parts are
    // written twice.
    template <class Number>
    Index write(const Number& number_of) const {
        const Index n = count(), n_rows = a_.n_rows;
        each(settled_row_, false, n_rows,
             [&](Index i) { group_[i] = group_of(number_of(m_.row_mate[i])); });
        each(settled_row_, true, n_rows, [&](Index i) { group_[i] = group_of(group_[i]); });
        each(horizontal_row_, true, n_rows, [&](Index i) { group_[i] = 0; });
        each(vertical_row_, true, n_rows,
             [&](Index i) { group_[i] = n + 1 + (m_.row_mate[i] == UNMATCHED<Index>); });
        return n;
    }

    const Csr<Index>& a_;
    Matching<Index> m_;
    RunContext& run_;
    Bitmap vertical_row_, horizontal_row_, horizontal_col_, settled_row_, settled_col_;
    Index* group_;  // of rows that were forced, or that trimming has settled
    Index component_;
    // blocks at the beginning of the square part, numbered from in_horizontal upwards
    Index n_first_ = 0;
};

// Reads: the matrix, its transpose if there is one, and a maximum matching. Writes the group of
// each row (Blocks::components); a column's is that of its mate, or 0. Returns the number of blocks
// in the square part. Time: O(n_rows + n_cols + nnz).
template <class Index>
Index block_labels(const Csr<Index>& a, const Csr<Index>* t, Matching<Index> m, Index* row_group,
                   RunContext& run) {
    Blocks<Index> blocks(a, m, row_group, run);
    blocks.coarse_parts(t);
    return run.stopped() ? 0 : blocks.components(t);
}

}  // namespace sparsematch
