// The symbolic analysis: a matrix in block upper triangular form, split into what is factorised
// (the diagonal blocks) and what is only multiplied with (the entries above them). Each entry knows
// its place in the user's values, so that new values need no search.
//
// The outline is KLU's: Davis, Palamadai Natarajan, Algorithm 907: KLU, a direct sparse solver for
// circuit simulation problems (ACM TOMS 37, 2010). Here the cost of each diagonal block is
// estimated: one on which a factorisation without supernodes would be slow is left to an external
// solver, with its rows and columns in the user's order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "elimination/adjacency_lists.hpp"
#include "elimination/amd.hpp"
#include "elimination/column_graph.hpp"
#include "elimination/elimination_tree.hpp"
#include "elimination/nested_dissection.hpp"
#include "lu/kept.hpp"
#include "lu/markowitz.hpp"
#include "lu/pivot_checks.hpp"
#include "lu/square_form.hpp"
#include "lu/zero_pivots.hpp"

namespace sparsematch {

// Which blocks are left to an external solver, and how much is tried before.
struct AnalysisLimits {
    // Multiplications per entry of L + U above which supernodes pay: left to an external solver.
    double work_per_entry = 105;
    // Entries of L + U per entry of a block above which its ordering is given up, unless its pivots
    // are expected to stay where they are.
    double fill = 40;
    // Entries of L + U beside those foreseen, up to which pivots that move are put up with: another
    // diagonal, or an external solver, takes as long as that. At least 1.2.
    double refill = 3;
    // Multiplications per entry of a block above which nested dissection is tried: it takes some
    // 0.8 us an entry, a multiplication 0.2 ns, and half of them may be saved.
    double dissection_work = 8000;
    // Rows of a block that is factorised here whatever it costs.
    std::int64_t always_inside = 16;
    // Multiplications per entry up to which a block is factorised as it is: to look for another
    // diagonal, and to order again, takes as long.
    double trial_work = 100;
    // Multiplications per entry above which a block with an unsymmetric pattern, whose pivots may
    // move, gets a Markowitz search. At 297 and 408 it takes longer than what it saves, or is
    // given up (pilotnov, orani678, bayer10); at 437 and 1839 it spares half of the entries (cre_d,
    // pilot).
    double search_work = 420;
    // Rows of a block in which pivots that move fill less than it costs to prevent that.
    std::int64_t few_rows = 500;
    // How often a quick analysis scans each entry, on average, in search of a matching.
    std::int64_t scans = 10;
    // Share of the entries that have a mirror, below which a block may be ordered by its values; 0:
    // none is. At 0.46 to 0.6 a search makes 1.2 to 1.6 times the entries (epb0, ex6, cavity14).
    double unsymmetric = 0.4;
    // Whether external solvers follow orders that are found here. Otherwise none is looked for any
    // further than it takes to see that a block is left to one.
    bool orders_outside = true;
};

template <class Index>
struct BlockPlan {
    Index n = 0;
    std::vector<Index> starts;              // block k is rows and columns starts[k]...starts[k + 1]
    std::vector<Index> row_perm, col_perm;  // the permuted matrix is A[row_perm][:, col_perm]
    // 0: factorised here. Above: left to an external solver; the entries that L + U would have in
    // the order that its rows and columns are in, if pivots stay on the diagonal; as_given if that
    // is the user's order.
    std::vector<double> external;
    static constexpr double as_given = 1;
    std::vector<double> work;  // with external entries, the multiplications that they cost
    // Column j of the diagonal blocks: rows (counted within the block) and places in the values;
    // the same above the blocks, rows counted within the matrix.
    std::vector<std::int64_t> inner_start, upper_start;
    std::vector<Index> inner_row, inner_from, upper_row, upper_from;
    // entries of L + U up to a column of a block: beyond, too many pivots have left the diagonal
    std::vector<double> most;

    // entries of L of all blocks that are factorised here, if pivots stay on the diagonal
    std::int64_t expected_entries = 0;

    Index n_blocks() const { return static_cast<Index>(starts.size()) - 1; }
    Index size(Index k) const { return starts[k + 1] - starts[k]; }
};

// What the values say of block k of a plan, of which rows are located: place[i] is where row i is.
template <class Index>
using Foresee = std::function<PivotOutlook(const BlockPlan<Index>&, Index k, const Index* place)>;

// What a planner writes to, block after block.
template <class Index>
struct PlannerRoom {
    Amd<Index> amd;
    AdjacencyLists<Index> graph;
    EliminationTree<Index> tree;
    std::vector<Index> place, local, column, cursor, order, old, zeros;
};
// A block by columns: rows counted within it, and where its values are.
template <class Index>
struct BlockColumns {
    Index n;
    const Index *start, *row;
    const std::int64_t* place;
};
// Orders the rows and the columns of a block by its values. Writes: what Markowitz::run does.
template <class Index>
using OrderByValues = std::function<bool(const BlockColumns<Index>&, const MarkowitzLimits&,
                                         Index* rows, Index* cols, double* stored)>;

template <class Index>
class Planner {
  public:
    // a: the columns of a square matrix (its transpose as a Csr), in this form; external_only:
    // blocks to be left to an external solver (null: none); foresee: what the values say of a block
    // (null: they have chosen the diagonal); may_exchange: whether they may yet; by_values: orders
    // a block by them (empty: none is ordered so). What is made by a run that was stopped is of no
    // use. Time: O(n + nnz), and the orderings.
    Planner(const Csr<Index>& a, SquareForm<Index> form, const bool* external_only,
            const Foresee<Index>* foresee, bool may_exchange, const AnalysisLimits& limits,
            RunContext& run, OrderByValues<Index> by_values = {})
        : a_(a), external_only_(external_only), foresee_(foresee), may_exchange_(may_exchange),
          by_values_(std::move(by_values)), limits_(limits), run_(run), counter_(run),
          room_(static_cast<std::size_t>(a.n_rows) + static_cast<std::size_t>(a.nnz())) {
        const auto n = static_cast<std::size_t>(a.n_rows);
        place_.resize(n), column_.resize(n + 1), cursor_.resize(n);
        local_.resize(static_cast<std::size_t>(a.nnz()));
        plan_.n = a.n_rows;
        plan_.external.assign(static_cast<std::size_t>(form.n_blocks()), 0);
        plan_.work.assign(plan_.external.size(), 0);
        plan_.most.resize(static_cast<std::size_t>(a.n_rows));
        plan_.row_perm = std::move(form.row_perm);
        plan_.col_perm = std::move(form.col_perm);
        plan_.starts = std::move(form.starts);
    }

    BlockPlan<Index> make() {
        locate();
        for (Index k = 0; k < plan_.n_blocks() && !wants_exchange_ && is_triangular_; ++k)
            if (plan_.size(k) > 1) plan_block(k), locate(k);
            else ++n_inner_;
        if (wants_exchange_ || !is_triangular_ || run_.stopped()) return {};
        split_entries();
        if (!is_triangular_) return {};
        return std::move(plan_);
    }
    // After make: whether no entry is below the blocks, and blocks of one row have theirs. There is
    // no plan otherwise.
    bool is_triangular() const { return is_triangular_; }
    // After make: whether weak pivots should be exchanged for others first, by the values. There is
    // no plan then.
    bool wants_exchange() const { return wants_exchange_; }

  private:
    void locate() {
        for (Index k = 0; k < plan_.n; ++k) place_[plan_.row_perm[k]] = k;
    }
    void locate(Index k) {
        for (Index c = plan_.starts[k]; c < plan_.starts[k + 1]; ++c) place_[plan_.row_perm[c]] = c;
    }

    // Orders the rows and columns of one block, or leaves it to an external solver.
    void plan_block(Index k) {
        if (run_.stopped()) return;
        const Index first = plan_.starts[k], m = plan_.size(k);
        const std::int64_t entries = translate(first, m);
        if (!is_triangular_) return;
        n_inner_ += entries;
        EliminationCost cost;
        if (!order_block(k, m, entries, cost)) return;
        const auto is_external = [&] {
            return m > limits_.always_inside && 2 * cost.work > work_limit_ * filled(cost, m);
        };
        const bool heavy = is_external();  // as far as the order's own bound can tell
        if (heavy) cost = settle_order(k, m, entries);
        const bool external = is_external();
        if (external && symmetry_ < 0.5 && column_order_cost(m).entries < cost.entries)
            return leave_as_given(k);
        reorder(plan_.row_perm.data() + first);
        reorder(plan_.col_perm.data() + first);
        if (external) {
            plan_.external[k] = filled(cost, m), plan_.work[k] = 2 * cost.work;
            return;
        }
        // With more entries there is more work for each, which is not to exceed the limit either.
        const double share =
            std::clamp(work_limit_ * filled(cost, m) / (2 * cost.work), 1.2, limits_.refill);
        double* most = plan_.most.data() + first;
        if (heavy) tree_.accumulate(most);
        plan_.expected_entries += static_cast<std::int64_t>(cost.entries);
        for (Index c = 0; c < m; ++c)
            most[c] = 1000 + share * (2 * most[c] + static_cast<double>(c + 1));
    }
    // Entries of L + U.
    static double filled(const EliminationCost& cost, Index m) {
        return 2 * cost.entries + static_cast<double>(m);
    }

    // Returns false where there is no order: the values are to choose another diagonal first, or an
    // external solver gets the block as it is given.
    bool order_block(Index k, Index m, std::int64_t entries, EliminationCost& cost) {
        around_zeros_ = is_light_ = by_values_done_ = false;
        outlook_ = PivotOutlook::unsure;
        measure_symmetry(m, entries);
        if (external_only_ && external_only_[k]) {
            work_limit_ = 0;
            if (limits_.orders_outside && run_amd({}, cost)) return true;
            return leave_as_given(k), false;
        }
        const bool ordered = find_order(k, m, entries, cost);
        if (!counter_.add(entries) || by_values_done_) return false;
        if (!ordered && needs_no_order_) return leave_as_given(k), false;
        Index *rows = plan_.row_perm.data() + plan_.starts[k],
              *cols = plan_.col_perm.data() + plan_.starts[k];
        if (ordered && (is_light_ || std::equal(rows, rows + m, cols))) return true;
        const std::vector<Index> matched_rows(rows, rows + m), matched_cols(cols, cols + m);
        leave_as_given(k);
        const bool saddle = outlook_ != PivotOutlook::weak && symmetry_ < 0.25 &&
                            std::equal(rows, rows + m, cols) && find_zeros(k, m);
        around_zeros_ = saddle && order_around_zeros(k, m, entries, cost);
        if (!around_zeros_ && !ordered) {
            // A symmetric pattern would be spoilt by another diagonal.
            wants_exchange_ = may_exchange_ && !spoilt_;
            return false;
        }
        plan_.external[k] = 0;
        if (around_zeros_) return true;
        std::copy(matched_rows.begin(), matched_rows.end(), rows);
        std::copy(matched_cols.begin(), matched_cols.end(), cols);
        if (saddle) locate(k);
        return true;
    }
    void leave_as_given(Index k) {
        const Index first = plan_.starts[k], m = plan_.size(k);
        ascend(plan_.row_perm.data() + first, m), ascend(plan_.col_perm.data() + first, m);
        plan_.external[k] = BlockPlan<Index>::as_given;
    }

    void measure_symmetry(Index m, std::int64_t entries) {
        const auto mirrors = static_cast<double>(symmetrise(m));
        symmetry_ = mirrors / static_cast<double>(entries - m);
        // Without symmetry, L and U have about half of the entries of a factor of B + B^T.
        work_limit_ = (2 - symmetry_) * limits_.work_per_entry;
    }
    // A block that is small, or light: with little work foreseen, is ordered at once. Of others the
    // values are asked for limits first.
    bool find_order(Index k, Index m, std::int64_t entries, EliminationCost& cost) {
        const bool must = m <= limits_.always_inside;
        EliminationLimits limits;
        if (!must) limits.work = limits_.trial_work * static_cast<double>(entries) / 2;
        needs_no_order_ = false;
        is_light_ = run_amd(limits, cost);
        if (is_light_) return accumulate(k), true;
        if (foresee_) outlook_ = (*foresee_)(plan_, k, place_.data());
        spoilt_ = symmetry_ >= 0.9;
        if (outlook_ == PivotOutlook::weak) {  // which another diagonal pays for if it is heavy
            limits.work = limits_.dissection_work * static_cast<double>(entries) / 2;
            spoilt_ &= amd_.resume(graph_, limits, order_.data(), cost, counter_);
            return false;
        }
        // Where pivots stay, an external solver, too, profits from an order of B + B^T.
        const bool stays = !foresee_ || outlook_ == PivotOutlook::steady || symmetry_ >= 0.9;
        needs_no_order_ = stays && !limits_.orders_outside;
        limits = {};
        if (!stays) limits.entries = limits_.fill * static_cast<double>(entries) / 2;
        const bool any = stays && !needs_no_order_;
        if (!any) limits.work_per_entry = work_limit_;
        const bool ordered = amd_.resume(graph_, limits, order_.data(), cost, counter_);
        if (order_by_values(k, m, search_limits(cost, entries)) || !ordered) return false;
        accumulate(k);
        return any || 2 * cost.work <= work_limit_ * filled(cost, m);
    }
    // What Markowitz' search may take: a quarter of what another order costs, where that is much.
    // While what is left fills though it is sparse, as in meshes, the other order is better.
    MarkowitzLimits search_limits(const EliminationCost& cost, std::int64_t entries) const {
        const auto size = static_cast<double>(entries);
        const bool steady = outlook_ == PivotOutlook::steady;
        if (!steady && 2 * cost.work < limits_.search_work * size) return {0};
        const double work = std::min(cost.work / 2, 1000 * size);
        return {work, work, 1.1 * size};
    }
    // Rows and columns of an unsymmetric block by Markowitz' search; no order is changed without.
    bool order_by_values(Index k, Index m, const MarkowitzLimits& limits) {
        if (!by_values_ || symmetry_ >= limits_.unsymmetric || limits.work == 0 ||
            is_symmetric_as_given(k))
            return false;
        const Index first = plan_.starts[k];
        std::vector<std::int64_t> place(static_cast<std::size_t>(column_[m]));
        std::size_t to = 0;
        for (Index c = first; c < first + m; ++c)
            for (Index j = plan_.col_perm[c], p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p)
                if (place_[a_.indices[p]] >= first) place[to++] = p;
        std::vector<Index> rows(static_cast<std::size_t>(m)), cols(rows.size());
        double* const most = plan_.most.data() + first;
        const BlockColumns<Index> block{m, column_.data(), local_.data(), place.data()};
        if (!by_values_(block, limits, rows.data(), cols.data(), most)) return false;
        order_.swap(rows);
        reorder(plan_.row_perm.data() + first);
        order_.swap(cols);
        reorder(plan_.col_perm.data() + first);
        plan_.expected_entries += static_cast<std::int64_t>(most[m - 1]) * 2 / 3;
        for (Index c = 0; c < m; ++c) most[c] = 1000 + limits_.refill * most[c];
        return by_values_done_ = true;
    }
    // Whether another diagonal has spoilt a symmetric pattern: the block's rows and columns are the
    // same, and each entry has its mirror.
    bool is_symmetric_as_given(Index k) const {
        const Index first = plan_.starts[k], end = plan_.starts[k + 1];
        const auto is_inside = [&](Index i) { return place_[i] >= first && place_[i] < end; };
        for (Index c = first; c < end; ++c)
            if (!is_inside(plan_.col_perm[c])) return false;
        for (Index c = first; c < end; ++c)
            for (Index j = plan_.col_perm[c], p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p)
                if (const Index i = a_.indices[p];
                    is_inside(i) && !std::binary_search(a_.indices + a_.indptr[i],
                                                        a_.indices + a_.indptr[i + 1], j))
                    return false;
        return true;
    }
    bool run_amd(const EliminationLimits& limits, EliminationCost& cost) {
        order_.resize(graph_.length.size());
        return amd_.run(graph_, limits, order_.data(), cost, counter_);
    }
    void accumulate(Index k) { amd_.accumulate(plan_.most.data() + plan_.starts[k]); }
    // The order found, or one by nested dissection if that costs less; as a postorder. Returns the
    // exact cost.
    EliminationCost settle_order(Index k, Index m, std::int64_t entries) {
        locate(k);
        translate(plan_.starts[k], m);
        symmetrise(m);
        EliminationCost cost = tree_.postorder(graph_, order_);
        if (around_zeros_ || cost.work <= limits_.dissection_work * static_cast<double>(entries))
            return cost;
        std::vector<Index> dissected;
        if (!NestedDissection<Index>({}, run_).run(graph_, dissected)) return cost;
        symmetrise(m);
        const EliminationCost other = tree_.postorder(graph_, dissected);
        if (other.work >= cost.work) return tree_.postorder(graph_, order_);
        order_.swap(dissected);
        return other;
    }
    // What L + U cost at most, in an order of the columns that suits any pivots: a factor of B^T B
    // holds the pattern of both (George, Ng 1985).
    EliminationCost column_order_cost(Index m) {
        constexpr double unknown = EliminationLimits::unlimited;
        if (!join_rows(column_.data(), local_.data(), m, graph_)) return {unknown, unknown};
        EliminationCost cost;
        std::vector<Index> order(static_cast<std::size_t>(m));
        if (!amd_.run(graph_, {}, order.data(), cost, counter_)) return {unknown, unknown};
        join_rows(column_.data(), local_.data(), m, graph_);
        return tree_.postorder(graph_, order);
    }
    // Where a matching has left the diagonal of a symmetric block because of zeros there, as in
    // saddle point systems, an order of the block itself makes less fill, if a neighbour of each
    // zero comes before it: eliminating it fills the zero. The block's rows and columns are the
    // same, in ascending order; whether it is such a block:
    bool find_zeros(Index k, Index m) {
        locate(k);
        translate(plan_.starts[k], m);
        return symmetric_with_zeros(column_.data(), local_.data(), m, zeros_);
    }
    bool order_around_zeros(Index k, Index m, std::int64_t entries, EliminationCost& cost) {
        symmetrise(m);
        const double most = limits_.fill * static_cast<double>(entries) / 2;
        const std::vector<Index> before(order_);
        const EliminationCost cost_before = cost;
        if (run_amd({.entries = most}, cost) &&
            fill_zeros(order_, zeros_, column_.data(), local_.data())) {
            work_limit_ = limits_.work_per_entry;
            return accumulate(k), true;
        }
        order_ = before, cost = cost_before;
        return false;
    }
    void ascend(Index* piece, Index m) const {
        if (std::is_sorted(piece, piece + m)) return;
        if (m < plan_.n / 32) return std::sort(piece, piece + m);
        Bitmap there(plan_.n);
        for (Index k = 0; k < m; ++k) there.set(piece[k]);
        for (Index j = 0; j < plan_.n; ++j)
            if (there.test(j)) *piece++ = j;
    }
    void reorder(Index* piece) {
        old_.assign(piece, piece + order_.size());
        for (std::size_t t = 0; t < order_.size(); ++t) piece[t] = old_[order_[t]];
    }

    // The columns of the block B that begins there: column c has rows local_[column_[c]...column_[c
    // + 1]], ascending as rows are within a block. Returns how many entries B has.
    std::int64_t translate(Index first, Index m) {
        Index to = 0;
        for (Index c = 0; c < m; ++c) {
            const Index j = plan_.col_perm[first + c];
            column_[c] = to;
            for (Index p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p) {
                const Index r = place_[a_.indices[p]] - first;
                local_[to] = r, to += r >= 0;
                is_triangular_ &= r < m;
            }
        }
        column_[m] = to;
        return to;
    }

    // The graph of B + B^T without its diagonal, as lists in the pool with room at their ends. An
    // entry and its mirror make one edge: columns are processed in order, and the cursor of each
    // column is behind the mirrors already joined. Returns how many entries have a mirror.
    std::int64_t symmetrise(Index m) {
        const auto size = static_cast<std::size_t>(m);
        auto& [begin, length, pool] = graph_;
        length.assign(size, 0), begin.resize(size);
        for (Index p = 0; p < column_[m]; ++p) ++length[local_[p]];
        std::int64_t room = 0;
        for (Index c = 0; c < m; ++c) {
            begin[c] = room;
            room += length[c] + column_[c + 1] - column_[c];
            length[c] = 0;
        }
        pool.resize(static_cast<std::size_t>(room));
        const auto join = [&](Index i, Index j) {
            pool[begin[i] + length[i]++] = j;
            pool[begin[j] + length[j]++] = i;
        };
        std::int64_t mirrors = 0;
        for (Index c = 0; c < m; ++c) {
            Index p = column_[c];
            for (; p < column_[c + 1] && local_[p] < c; ++p) {
                const Index r = local_[p];
                Index q = cursor_[r];
                for (; q < column_[r + 1] && local_[q] < c; ++q) join(local_[q], r);
                const bool mirrored = q < column_[r + 1] && local_[q] == c;
                cursor_[r] = q + mirrored, mirrors += 2 * mirrored;
                join(r, c);
            }
            cursor_[c] = p + (p < column_[c + 1] && local_[p] == c);
        }
        for (Index c = 0; c < m; ++c)
            for (Index q = cursor_[c]; q < column_[c + 1]; ++q) join(local_[q], c);
        return mirrors;
    }

    // Sorts the entries into those of diagonal blocks and those above.
    void split_entries() {
        const auto size = static_cast<std::size_t>(plan_.n),
                   nnz = static_cast<std::size_t>(a_.nnz());
        const auto n_inner = static_cast<std::size_t>(n_inner_);
        const std::int64_t n_upper = a_.nnz() - n_inner_;
        plan_.inner_start.resize(size + 1), plan_.upper_start.resize(size + 1);
        plan_.inner_row.resize(n_inner), plan_.inner_from.resize(n_inner);
        plan_.upper_row.resize(nnz - n_inner), plan_.upper_from.resize(nnz - n_inner);
        std::int64_t inner = 0, upper = 0;
        for (Index k = 0; k < plan_.n_blocks(); ++k) {
            const Index first = plan_.starts[k], end = plan_.starts[k + 1];
            for (Index c = first; c < end; ++c) {
                plan_.inner_start[c] = inner, plan_.upper_start[c] = upper;
                const Index j = plan_.col_perm[c];
                if (!counter_.add(1 + a_.degree(j))) return;
                for (Index p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p) {
                    const Index r = place_[a_.indices[p]];
                    if (r >= end || (r >= first ? inner == n_inner_ : upper == n_upper))
                        return void(is_triangular_ = false);
                    if (r >= first)
                        plan_.inner_row[inner] = r - first, plan_.inner_from[inner++] = p;
                    else plan_.upper_row[upper] = r, plan_.upper_from[upper++] = p;
                }
            }
        }
        plan_.inner_start[size] = inner, plan_.upper_start[size] = upper;
        is_triangular_ = inner == n_inner_;
    }

    const Csr<Index>& a_;
    const bool* external_only_;
    const Foresee<Index>* foresee_;
    const bool may_exchange_;
    const OrderByValues<Index> by_values_;
    const AnalysisLimits limits_;
    RunContext& run_;
    WorkCounter counter_;
    BlockPlan<Index> plan_;
    BorrowedRoom<PlannerRoom<Index>> room_;
    Amd<Index>& amd_ = room_->amd;
    AdjacencyLists<Index>& graph_ = room_->graph;
    EliminationTree<Index>& tree_ = room_->tree;
    std::vector<Index>&place_ = room_->place, &local_ = room_->local, &column_ = room_->column,
    &cursor_ = room_->cursor, &order_ = room_->order, &old_ = room_->old, &zeros_ = room_->zeros;
    std::int64_t n_inner_ = 0;
    bool wants_exchange_ = false, is_triangular_ = true, needs_no_order_ = false;
    bool by_values_done_ = false;  // the block at hand is ordered by its values
    bool is_light_ = false;        // so is the block at hand
    bool around_zeros_ = false;    // its order is one of order_around_zeros
    PivotOutlook outlook_ = PivotOutlook::unsure;
    // Of the block at hand: the share of its entries beside the diagonal that have a mirror there,
    // and its limit of work per entry of L + U.
    double symmetry_ = 0, work_limit_ = 0;
    bool spoilt_ = false;  // whether another diagonal would spoil its pattern, for little gain
};

}  // namespace sparsematch
