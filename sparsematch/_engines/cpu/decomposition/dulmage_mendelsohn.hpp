// The block triangular form: the coarse Dulmage-Mendelsohn parts of a matrix, and the blocks of its
// square part, from a maximum matching.
//
// Matching, free and alternating path: see single_source_bfs.hpp. Coarse parts:
//   vertical     rows and columns that alternating paths from free rows reach: too many rows;
//   horizontal   rows and columns from which a free column is reached: too many columns;
//   square       the others, all matched among themselves.
// They are the same for every maximum matching. Take each column of the square part as a vertex,
// with an arc from column j to each column of its mate's row. What reaches each other is a strong
// component: these are the blocks, too small to be divided by any permutation. In the order of the
// arcs between them they are block upper triangular.
//
//                     free column
//                    |-|                       x matched, * any, blank: no entry
//     horizontal   [ * x * * * * * * * ]
//                  [ * * x * * * * * * ]
//     square       [       x * * * * * ]       blocks of two rows, one and one
//                  [       * x * * * * ]
//                  [           x * * * ]
//                  [             x * * ]
//     vertical     [               x * ]
//                  [               * x ]
//                  [               * * ] -     free row
//
// The way through the headers, and what each passes to the next:
//
//     block_labels (below): matrix, matching, transpose if there is one or if it is worth building
//       |  Reach (pieces.hpp): what some vertices reach
//       v
//     coarse_parts.hpp          searches from free rows and columns (core/alternating_search.hpp)
//       |  CoarseParts: bits of the coarse parts and of what is settled
//       v
//     Blocks::settle_forced     pairs that Karp-Sipser forced: blocks of one row at either end
//       |  CoarseParts, numbers at both ends
//       +---- with the transpose -------------+---- without, and most is left -----+
//       v                                     v                                    |
//     trim.hpp                              sweeps.hpp                          pieces.hpp
//       |  rows without arcs: blocks of one   |  large components by passes     several workers:
//       v                                     |  over the rows; where they      components, or the
//     forward_backward.hpp                    |  fail, several workers          order cut where no
//       |  large components by searches       |  build the transpose            block crosses it
//       +-------------------+-----------------+                                    |
//                           |  LargeComponents (large_components.hpp)              |
//                           v                                                      v
//     contracted_graph.hpp  each large component one vertex; a copy of the      Blocks::direct
//                           |  arcs that are left                              arcs in place |
//                           v                                                                v
//     strong_components.hpp Tarjan's depth-first search: the number of each vertex, sinks first
//       |
//       v
//     Blocks::write             the group of every row -> block_permutation.hpp sorts by it
//
// Why several steps. Depth-first search alone is right, but waits for memory at every vertex; most
// vertices are settled before by searches that can prefetch, or that read in order. Each step may
// give up early: depth-first search does the rest, so that no limit changes the result.
//
// Dulmage, Mendelsohn: Coverings of bipartite graphs (Canadian J. Math. 10, 1958); Pothen, Fan:
// Computing the block triangular form of a sparse matrix (ACM TOMS 16, 1990), whose horizontal,
// square and vertical parts, H, S, V, these are.
// Invariant: a settled row is in a coarse part, or its group is known but for a shift.
// Time: O(n_rows + n_cols + nnz).
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/transpose.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/contracted_graph.hpp"
#include "decomposition/forward_backward.hpp"
#include "decomposition/limits.hpp"
#include "decomposition/pieces.hpp"
#include "decomposition/strong_components.hpp"
#include "decomposition/sweeps.hpp"
#include "decomposition/trim.hpp"
#include "matching/small_matching.hpp"
#include "ordering/features.hpp"

namespace sparsematch {

// The place of each matched row in the form (as strong_components.hpp has it), found step by step;
// the column of a matched entry has that of its row.
template <class Index> class Blocks {
  public:
    // `group` has a place for each row, and is written step by step.
    Blocks(const Csr<Index>& a, Matching<Index> m, CoarseParts& parts, Index* group,
           const BlockLimits& limits, RunContext& run)
        : a_(a), m_(m), parts_(parts), limits_(limits), run_(run), group_(group),
          component_(a.n_cols) {}

    // Numbers the blocks of what is not settled, and writes the group of every row: 0 for the
    // horizontal part, 1..n for the blocks in upper block triangular order, n + 1 for the matched
    // rows of the vertical part, n + 2 for the free rows. Returns n.
    Index components(const Csr<Index>* t, Reach reach) {
        if (t) settle_forced();
        const std::size_t left = a_.n_cols - parts_.settled_col.count();
        if (left == 0) return write([](Index) { return in_vertical<Index>; });
        LargeComponents<Index> large;
        large.left = left;
        if (t) return search_large(*t, large), number(large);
        const bool by_all = run_.team.size() >= limits_.many;
        // many workers have the transpose where columns are free (repays_transpose)
        SPARSEMATCH_ASSERT(!by_all || parts_.horizontal_col.count() == 0);
        Pieces<Index> pieces{{0, a_.n_cols}, {}};
        // A large component is likely, and little else depends on it.
        if (is_above(limits_.sweeps.start, left)) {
            if ((by_all && cut(pieces, reach)) || reach.little) return direct(pieces);
            const auto timer = run_.time("sweeps");
            Sweeps(a_, m_, parts_, large, limits_.sweeps, run_).search();
        }
        if (large.size > 0 || !is_above(limits_.copied, left)) return number(large);
        if (!by_all || reach.narrow) return direct(pieces);
        const BuiltTranspose<Index> built(a_, run_);
        if (!run_.stopped()) search_large(built.lists, large);
        return number(large);
    }

  private:
    static constexpr std::int64_t ahead = 16;  // forced rows

    // Whether n is more than this share of all columns.
    bool is_above(double share, std::size_t n) const {
        return static_cast<double>(n) > share * static_cast<double>(a_.n_cols);
    }

    // A row that came down to one column has arcs to those only that came down to one before it: it
    // can be at the end of the form. A column that came down to one row has arcs from such ones
    // only: it can be at the beginning. Whatever was matched afterwards, those in the square
    // part are still pairs, for there is no other way to match them.
    void settle_forced() {
        const auto& [rows, n_by_row, n_by_col] = run_.forced;
        if (!rows) return;
        const auto timer = run_.time("forced pairs");
        const Index* const row = run_.forced.template rows_as<Index>();
        const Index* const end = row + a_.n_rows;
        component_ -= settle_each(
            n_by_row, [&](std::int64_t k) { return row[k]; },
            [&](Index k) { return component_ - k; });
        n_first_ += settle_each(
            n_by_col, [&](std::int64_t k) { return end[-1 - k]; },
            [&](Index k) { return in_horizontal<Index> + 1 + n_first_ + k; });
    }
    // Settles those of n rows, row(k), that are not yet, and numbers them in this order; how many.
    template <class Row, class Number>
    Index settle_each(std::int64_t n, const Row& row, const Number& number) {
        const std::int64_t piece = limits_.at_a_time;
        const bool alone = run_.team.size() == 1;
        std::vector<Index> first(n / piece + 2, 0);  // of each piece, the number of its first row
        const auto is_new = [&](Index i) { return !parts_.settled_row.test(i); };
        if (!alone)
            run_.team.loop(n, piece, [&](int, std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end; ++k) first[begin / piece] += is_new(row(k));
            });
        std::exclusive_scan(first.begin(), first.end(), first.begin(), Index{0});
        run_.team.loop(n, piece, [&](int, std::int64_t begin, std::int64_t end) {
            Index k = first[begin / piece];
            for (std::int64_t p = begin; p < end; ++p) {
                const Index later = row(std::min(p + ahead, end - 1)), i = row(p);
                SPARSEMATCH_PREFETCH(&group_[later], 1);
                SPARSEMATCH_PREFETCH(&m_.row_mate[later]);
                if (!is_new(i)) continue;
                const Index j = m_.row_mate[i];
                group_[i] = number(k++);
                if (alone) {
                    parts_.settled_row.set(i);
                    parts_.settled_col.set_if(std::max<Index>(j, 0), j >= 0);
                } else {
                    parts_.settled_row.set_shared(i);
                    if (j >= 0) parts_.settled_col.set_shared(j);
                }
            }
            if (alone) first.back() = k;
        });
        return first.back();
    }

    // With the transpose: first where a large component is likely, else of what trimming leaves.
    void search_large(const Csr<Index>& t, LargeComponents<Index>& large) {
        const bool likely = is_above(limits_.likely, large.left),
                   was_forced = run_.forced.by_row + run_.forced.by_col > 0;
        if (likely) ForwardBackward(a_, t, m_, parts_, large, limits_, run_).search();
        if (large.size > 0 || run_.stopped() || (likely && was_forced)) return;
        if (!was_forced) trim(t, run_.team.size() > 1);
        ForwardBackward(a_, t, m_, parts_, large, limits_, run_).search();
    }

    // At the end; at the beginning only if that is wanted: depth-first search finds those vertices
    // about as fast as one worker here.
    void trim(const Csr<Index>& t, bool both_ends) {
        const auto timer = run_.time("trimming");
        Bitmap &row = parts_.settled_row, &col = parts_.settled_col;
        component_ -= Trimming<Index>(a_, t, m_.row_mate, row, col, limits_, run_)
                          .trim([&](Index i, Index k) { group_[i] = component_ - k; });
        if (both_ends && !run_.stopped())
            n_first_ += Trimming<Index>(t, a_, m_.col_mate, col, row, limits_, run_)
                            .trim([&](Index j, Index k) {
                                group_[m_.col_mate[j]] = in_horizontal<Index> + 1 + n_first_ + k;
                            });
    }

    // Pieces too short for a large component, if there are any.
    bool cut(Pieces<Index>& pieces, Reach reach) {
        const auto timer = run_.time("pieces");
        const auto longest = static_cast<std::int64_t>(limits_.large * a_.n_cols);
        if (reach.little && !order_features(a_).are_near(limits_.near)
                ? pieces_of_components(a_, m_, longest, limits_.piece, pieces, run_)
                : pieces_of_order(a_, m_, longest, limits_.piece, pieces.bounds, run_))
            return true;
        pieces = {{0, a_.n_cols}, {}};
        return false;
    }

    // Depth-first search of all that is left, in the matrix as it is, or in each piece without its
    // arcs to others; nothing has been trimmed. Workspace: seven indices per column, of which four
    // are written as deep as the search goes; with pieces of the order one per entry.
    Index direct(const Pieces<Index>& pieces) {
        const auto timer = run_.time("depth-first search");
        const std::vector<Index>& bounds = pieces.bounds;
        const std::size_t n_pieces = bounds.size() - 1;
        const bool copy = n_pieces > 1 && pieces.order.size() == 0;
        Buffer<Index> number(a_.n_cols), copied(copy ? a_.nnz() : 0);
        Buffer<Arcs<Index>> arcs(a_.n_cols);
        Index* const heads = copy ? copied.data() : nullptr;
        std::vector<Index> shift(n_pieces);  // at first how many blocks there are
        const auto each_piece = [&](const auto& body) {
            run_.team.loop(n_pieces, 1, [&](int rank, std::int64_t p, std::int64_t last) {
                for (; p < last && !run_.stopped(); ++p) {
                    const auto [begin, end] = std::minmax(bounds[p], bounds[p + 1]);
                    shift[p] = body(begin, end, shift[p], rank);
                }
            });
        };
        each_piece([&](Index begin, Index end, Index, int rank) {
            Index next = set_out(pieces, begin, end, number.data(), arcs.data(), heads);
            StrongComponents<Index>(number.data(), arcs.data(), copy ? heads : a_.indices,
                                    end - begin)
                .find(begin, end, next, run_, rank, pieces);
            return end - next;
        });
        if (run_.stopped()) return 0;
        Index next = component_ -= std::accumulate(shift.begin(), shift.end(), Index{0});
        for (std::size_t p = 0; p < n_pieces; ++p)
            next += std::exchange(shift[p], next + shift[p] - std::max(bounds[p], bounds[p + 1]));
        if (n_pieces > 1)
            each_piece([&](Index p, Index end, Index by, int) {
                for (; p < end; ++p) {
                    Index& own = number[pieces[p]];
                    own += own == in_vertical<Index> ? 0 : by;
                }
                return by;
            });
        return write([&](Index j) { return number[j]; });
    }

    // Numbers leaves, from `end` downwards, and writes the places of the arcs; if there are heads,
    // of those within the piece, which are copied. Returns the next number.
    Index set_out(const Pieces<Index>& pieces, Index begin, Index end, Index* number,
                  Arcs<Index>* arcs, Index* heads) const {
        Index next = end;
        for (Index p = begin; p < end; ++p) {
            const Index j = pieces[p];
            if (parts_.settled_col.test(j)) {
                number[j] =
                    parts_.horizontal_col.test(j) ? in_horizontal<Index> : in_vertical<Index>;
                continue;
            }
            const Index i = m_.col_mate[j], leaf = a_.degree(i) == 1;
            number[j] = leaf ? next : 0;
            next -= leaf;
            Index tail = a_.indptr[i];
            arcs[j] = {tail, a_.indptr[i + 1]};
            if (!heads) continue;
            for (const Index k : a_.neighbours(i)) {
                heads[tail] = k;
                tail += k >= begin && k < end;
            }
            arcs[j].end = tail;
        }
        return next;
    }

    // Depth-first search in a copy of what is left.
    Index number(const LargeComponents<Index>& large) {
        if (run_.stopped()) return 0;
        const auto timer = run_.time("depth-first search");
        ContractedGraph<Index> graph(a_, m_, parts_, large, limits_, run_.team);
        graph.find_components(component_, run_);
        graph.settle_rows(group_, parts_.settled_row);
        if (large.size <= 1)
            return write([only = graph.number_of_large(0)](Index) { return only; });
        return write([&](Index j) { return graph.number_of_large(large[j]); });
    }

    // Blocks found so far.
    Index count() const { return a_.n_cols - component_ + n_first_; }
    Index group_of(Index number) const {
        const Index before = number < 0 ? in_horizontal<Index> : component_ - n_first_;
        return std::min<Index>(number, a_.n_cols + 1) - before;
    }

    // number_of(j): of a matched column, not settled. Rows of coarse parts are written twice.
    template <class Number> Index write(const Number& number_of) const {
        const Index n = count();
        run_.team.loop(
            a_.n_rows, limits_.at_a_time, [&](int, std::int64_t begin, std::int64_t end) {
                const auto rows = [&](const Bitmap& of, bool value, const auto& group) {
                    each<Index>(of, value, begin, end, [&](Index i) { group_[i] = group(i); });
                };
                rows(parts_.settled_row, false,
                     [&](Index i) { return group_of(number_of(m_.row_mate[i])); });
                rows(parts_.settled_row, true, [&](Index i) { return group_of(group_[i]); });
                rows(parts_.horizontal_row, true, [](Index) { return Index{0}; });
                rows(parts_.vertical_row, true,
                     [&](Index i) { return n + 1 + (m_.row_mate[i] == UNMATCHED<Index>); });
            });
        return n;
    }

    const Csr<Index>& a_;
    Matching<Index> m_;
    CoarseParts& parts_;
    const BlockLimits& limits_;
    RunContext& run_;
    Index* group_;  // of rows that were forced, or that trimming has settled
    Index component_;
    // blocks at the beginning of the square part, numbered from in_horizontal upwards
    Index n_first_ = 0;
};

// Whether the transpose is worth building: for many workers that search from free columns, and
// where vertices are far from those that they reach, many at a time. Searches with it prefetch, and
// all workers take part; a depth-first search waits for memory at each vertex, not between entries.
template <class Index>
bool repays_transpose(const Csr<Index>& a, Matching<Index> m, Reach reach,
                      const BlockLimits& limits, const RunContext& run) {
    const bool many = run.team.size() >= limits.many, free = any_free(m.col_mate, a.n_cols),
               dense = a.nnz() > limits.many_entries * a.n_rows;
    if (many && free) return true;
    const bool direct = many ? reach.little && dense : dense || (reach.little && !free);
    return !direct && !reach.narrow && a.n_rows >= limits.many_rows &&
           2 * std::int64_t{a.n_rows} >= a.n_cols && !order_features(a).are_near(limits.near);
}

// Reads: the matrix, its transpose if there is one, and a maximum matching. Writes the group of
// each row (Blocks::components); a column's is that of its mate, or 0. Returns the number of blocks
// in the square part. Time: O(n_rows + n_cols + nnz).
template <class Index>
Index block_labels(const Csr<Index>& a, const Csr<Index>* t, Matching<Index> m, Index* row_group,
                   RunContext& run, const BlockLimits& limits = {}) {
    CoarseParts parts(a);
    std::optional<BuiltTranspose<Index>> built;
    const Reach reach = reach_of_some(a, m, limits);
    if (!t && repays_transpose(a, m, reach, limits, run)) t = &built.emplace(a, run).lists;
    if (!run.stopped()) settle_coarse_parts(a, t, m, parts, limits, run);
    Blocks<Index> blocks(a, m, parts, row_group, limits, run);
    return run.stopped() ? 0 : blocks.components(t, reach);
}

// Writes the coarse part of each row and column, 0 for the horizontal one, 1 for the square one, 2
// for the vertical one, and a maximum matching unless that is given. False: none was found soon.
// Time: O(n_rows + n_cols + nnz).
template <class Index>
bool label_coarse_parts(const Csr<Index>& a, Matching<Index> m, bool is_maximum,
                        std::int8_t* row_part, std::int8_t* col_part, RunContext& run) {
    if (!is_maximum && !match_small(a, m, run)) return false;
    Buffer<Index> group(a.n_rows);
    const Index n = block_labels<Index>(a, nullptr, m, group.data(), run);
    if (run.stopped()) return false;
    for (Index i = 0; i < a.n_rows; ++i)
        row_part[i] = static_cast<std::int8_t>((group[i] > 0) + (group[i] > n));
    for (Index j = 0; j < a.n_cols; ++j)
        col_part[j] = m.col_mate[j] == UNMATCHED<Index> ? std::int8_t{0} : row_part[m.col_mate[j]];
    return true;
}

}  // namespace sparsematch
