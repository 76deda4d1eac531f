// The symbolic analysis: a matrix in block upper triangular form, split into what is factorised
// (the diagonal blocks) and what is only multiplied with (the entries above them).
//
// The outline is KLU's: Davis, Palamadai Natarajan, Algorithm 907: KLU, a direct sparse solver for
// circuit simulation problems (ACM TOMS 37, 2010). A block is ordered by minimum degree. If that
// predicts more time than another way costs to look for, the ways are candidates: a diagonal, an
// order, and the kernel that is predicted to be fastest in it (cost.hpp). One is looked for if what
// it is expected to save is more than that costs, and the one of least time is taken. Other values
// of the pattern are expected as they have come: Karlin, Manasse, Rudolph, Sleator, Competitive
// snoopy caching (Algorithmica 3, 1988): what is looked for late costs a share of what was spent
// without. Fill that was counted replaces what was predicted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "elimination/adjacency_lists.hpp"
#include "elimination/amd.hpp"
#include "elimination/elimination_tree.hpp"
#include "elimination/nested_dissection.hpp"
#include "lu/block_plan.hpp"
#include "lu/by_values.hpp"
#include "lu/cost.hpp"
#include "lu/kept.hpp"
#include "lu/square_form.hpp"

namespace sparsematch {

// What a planner writes to, block after block.
template <class Index> struct PlannerWorkspace {
    Amd<Index> amd;
    AdjacencyLists<Index> graph;
    EliminationTree<Index> tree;
    std::vector<Index> place, local, column, cursor, order, old;
};

template <class Index> class Planner {
  public:
    // a: the columns of a square matrix (its transpose as a Csr); form: its block form, of which
    // the rows of a block are exchanged where another diagonal is taken; values: those of its
    // blocks (null: all diagonals are large); history: remembers the blocks that have a choice,
    // too. What is made by a run that was stopped is of no use.
    // Time: O(n + nnz), and what is looked for.
    Planner(const Csr<Index>& a, SquareForm<Index>& form, const BlockValues<Index>* values,
            History<Index>& history, const Policy& policy, RunContext& run)
        : a_(a), form_(form), values_(values), history_(history), policy_(policy), run_(run),
          counter_(run), complex_(values && values->is_complex()),
          workspace_(static_cast<std::size_t>(a.n_rows) + static_cast<std::size_t>(a.nnz())) {
        const auto n = static_cast<std::size_t>(a.n_rows);
        place_.resize(n), column_.resize(n + 1), cursor_.resize(n);
        local_.resize(static_cast<std::size_t>(a.nnz()));
        plan_.n = a.n_rows;
        plan_.kernel.assign(static_cast<std::size_t>(form.n_blocks()), Kernel::own);
        plan_.predicted.resize(n), plan_.overrun.resize(plan_.kernel.size());
        plan_.row_perm = form.row_perm, plan_.col_perm = form.col_perm, plan_.starts = form.starts;
    }

    BlockPlan<Index> make() {
        locate();
        for (Index k = 0; k < plan_.n_blocks() && is_triangular_; ++k)
            if (plan_.size(k) > 1) plan_block(k), locate(k);
            else ++n_inner_;
        if (!is_triangular_ || run_.stopped()) return {};
        split_entries();
        if (!is_triangular_) return {};
        return std::move(plan_);
    }
    // After make: whether no entry is below the blocks, and blocks of one row have theirs.
    bool is_triangular() const { return is_triangular_; }
    // After make: whether each row has the column of the form, in whatever order.
    bool pairs_as_form() const { return pairs_as_form_; }

  private:
    // A way to factorise a block: its columns, so that they are paired with its rows in ascending
    // order; the orders of both; entries of L, or half of those of L + U, up to each.
    struct Candidate : Way {
        std::vector<Index> cols, row_order, col_order;
        std::vector<double> entries;
        EliminationCost cost;
        Index dense = 0;
        // Share of weak pivots; seconds by the pattern, and those if none moved.
        double symmetry = 0, loose = 0, weak = 0, restless = 0, moving = infinity, still = infinity;

        Candidate() { this->seconds = this->again = infinity; }
        // How far values may find another order: not where they hold the diagonal, nor where a
        // pattern is symmetric, nor in what is full.
        double openness(double n) const {
            return loose * (1 - symmetry) * std::max(0.0, 1 - this->fill / (n * n));
        }
    };

    void locate() {
        for (Index k = 0; k < plan_.n; ++k) place_[plan_.row_perm[k]] = k;
    }
    void locate(Index k) {
        for (Index c = plan_.starts[k]; c < plan_.starts[k + 1]; ++c) place_[plan_.row_perm[c]] = c;
    }
    // Most blocks take less time than it costs to look for another way.
    void plan_block(Index k) {
        if (run_.stopped()) return;
        block_ = k, first_ = plan_.starts[k], m_ = plan_.size(k);
        translate();
        if (!is_triangular_) return;
        n_inner_ += column_[m_];
        const bool is_small = m_ <= policy_.few_rows, is_forced = policy_.forced != Kernel::own;
        if (is_forced && !is_small && !is_own(policy_.forced))
            return leave_as_given(k, {.kernel = policy_.forced});
        if (policy_.diagonal == Diagonal::product && exchange()) {
            std::copy(cols(), cols() + m_, form_.col_perm.begin() + first_);
            translate();
        }
        if (!policy_.order.empty()) return follow(policy_.order);
        if (!is_small && !is_forced && take_as_full()) return;
        symmetrise();
        const Cost& own = policy_.cost(Kernel::own);
        EliminationLimits limits{2 * own.per_fill, own.per_multiplication};
        if (!is_small)
            limits.most = (is_as_given() ? policy_.product : policy_.given).seconds(column_[m_], 0);
        const bool is_open = history_.knows(k) || (is_forced && !is_small);
        if (is_open) limits.most = 0;
        EliminationCost cost;
        order_.resize(static_cast<std::size_t>(m_));
        const bool is_ordered = amd_.run(graph_, limits, order_.data(), cost, counter_);
        Way way;
        way.fill = 2 * cost.entries + m_;
        way.seconds = own.seconds(column_[m_], way.fill, cost.work);
        const bool fills =  // as fronts, for which nothing is looked for, may take less time
            !is_small && policy_.allows(Kernel::fronts, complex_) &&
            policy_.cost(Kernel::fronts).seconds(column_[m_], way.fill, cost.work) < way.seconds;
        if (is_open || !is_ordered || fills || limits.exceeded_by(cost))
            return choose(cost, is_ordered);
        const double times = factorise_here(way, cost, amd_.n_dense());
        amd_.accumulate(plan_.predicted.data() + first_,
                        [&](Index t, double entries) { predict(t, times, entries); });
        reorder(order_, order_);
    }
    // One front of a block that is nearly full. False: it is not, or columns take less time.
    bool take_as_full() {
        const double n = m_, entries = column_[m_];
        EliminationCost cost;
        cost.add(n, 0);
        Way way{.kernel = Kernel::fronts, .fill = n * n, .work = cost.work, .by_pattern = n * n};
        way.seconds = policy_.cost(way.kernel).seconds(entries, way.fill, way.work + of_front);
        way.again = row_of(way.kernel).repeated * way.seconds;
        if (entries < full * n * n || !policy_.allows(way.kernel, complex_) ||
            policy_.cost(Kernel::own).seconds(entries, way.fill, way.work) < way.seconds)
            return false;
        const double times = take_fronts(way, cost, Fronts<Index>(m_));
        for (Index t = 0; t < m_; ++t) predict(t, times, (t + 1.0) * (m_ - 1 - t / 2.0));
        plan_.chosen.emplace(block_, way);
        return true;
    }
    // All columns in an order that was given, and the rows that they are paired with.
    void follow(const std::vector<std::int64_t>& columns) {
        order_.resize(columns.size());
        for (Index c = 0; c < m_; ++c) cursor_[cols()[c]] = c;
        for (Index t = 0; t < m_; ++t) order_[t] = cursor_[columns[t]];
        std::fill_n(plan_.predicted.begin(), m_, rounded_up(infinity)), plan_.overrun[0] = 1;
        plan_.expected_entries += column_[m_];
        reorder(order_, order_);
    }
    // Of ways worth looking for, that of least time. The order by minimum degree is made or begun.
    void choose(EliminationCost& cost, bool is_ordered) {
        if (!is_ordered && !amd_.resume(graph_, {}, order_.data(), cost, counter_)) return;
        look();
        least_ = second_ = infinity;
        Candidate best = ordered(Diagonal::matched, Order::degree, cost);
        const double hidden = hidden_symmetry();
        const Policy& s = policy_;
        const bool any = s.diagonal == Diagonal::any && values_;
        const double entries = column_[m_], turns = std::max(1.0, history_.repeated / s.patience);
        double spent = s.given.seconds(static_cast<double>(a_.nnz()), 0), put_off = infinity;
        // `open`: the share of the time of the best way that is open to another.
        const auto consider = [&](const Search& by, double open, auto&& find) {
            const double price = by.seconds(entries, best.fill), gain = by.gain * open;
            if (run_.stopped()) return;
            if (turns * gain * seconds_of(best) <= price)
                return void(put_off = std::min(put_off, price / gain));
            spent += price;
            if (Candidate found = find(); seconds_of(found) < seconds_of(best))
                best = std::move(found);
        };
        if (!is_as_given()) consider(s.given, 1, [&] { return by_degree(Diagonal::given, best); });
        if (any) {
            // duals scale what fronts pass on, where many pivots are small as they are
            const double open = best.kernel == Kernel::fronts && best.restless > few_weak
                                    ? 1
                                    : std::max({1 - best.still / best.moving, best.weak, hidden});
            consider(s.product, open, [&] { return by_degree(Diagonal::product, best); });
        }
        if (any && policy_.allows(Kernel::own, complex_)) {
            const double share = best.kernel == Kernel::fronts ? by_fronts : 1;
            consider(s.by_values, share * best.openness(m_), [&] { return by_values(best); });
        }
        consider(s.dissection, 1, [&] { return dissected(best); });
        best.runner_up = best.again == least_ ? second_ : least_;
        spent += best.seconds;  // of new pivots
        best.spent = s.patience * spent, best.search = s.patience * (put_off + spent);
        if (!run_.stopped()) take(best);
    }
    double seconds_of(const Way& way) const {
        return history_.repeated > 0 ? way.again : way.seconds;
    }

    // The share of its time the diagonal of the largest product may save a block whose matching was
    // looked for: more symmetry, where as many rows as columns have each length. A quarter on 42
    // matrices, rows and columns scrambled; over half on cubes of 25 points a side.
    double hidden_symmetry() {
        constexpr double saved = 0.25;
        if (is_as_given()) return 0;
        old_.assign(static_cast<std::size_t>(m_) + 1, 0), std::fill_n(cursor_.begin(), m_, 0);
        for (Index p = 0; p < column_[m_]; ++p) ++cursor_[local_[p]];
        for (Index r = 0; r < m_; ++r) ++old_[cursor_[r]];
        for (Index c = 0; c < m_; ++c) --old_[column_[c + 1] - column_[c]];
        double other = 0;
        for (const Index more : old_) other += std::abs(more);
        return saved * (1 - other / (2.0 * m_) - symmetry_);
    }
    bool is_as_given() { return std::equal(rows(), rows() + m_, cols()); }
    // Pairs the rows of the block with the columns of a candidate.
    void arrange(const Candidate& of) {
        std::copy(of.cols.begin(), of.cols.end(), cols());
        translate(), symmetrise();
    }
    void look() {
        places_.resize(static_cast<std::size_t>(column_[m_]));
        std::size_t to = 0;
        for (Index c = first_; c < first_ + m_; ++c)
            for (Index j = plan_.col_perm[c], p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p)
                if (place_[a_.indices[p]] >= first_) places_[to++] = p;
        share_.assign(static_cast<std::size_t>(m_), 1);
        loose_ = values_ ? values_->measure(block(), share_.data()) : 0;
        counter_.add(places_.size());
    }
    BlockColumns<Index> block() const {
        return {m_, column_.data(), local_.data(), places_.data()};
    }
    // Pairs the rows with columns so that the product is the largest.
    bool exchange() {
        if (!values_) return false;
        look();
        std::vector<Index> row_of(static_cast<std::size_t>(m_));
        if (!values_->match(block(), row_of.data(), seed())) return false;
        old_.assign(cols(), cols() + m_);
        for (Index c = 0; c < m_; ++c) cols()[row_of[c]] = old_[c];
        return true;
    }

    // Another diagonal, if it takes less time than the best one. That which the block comes with is
    // one if it has so much more symmetry that what this may save is worth an order.
    Candidate by_degree(Diagonal diagonal, const Candidate& best) {
        std::copy_n(form_.col_perm.begin() + first_, m_, cols());
        if (diagonal == Diagonal::given) {
            std::sort(cols(), cols() + m_);
            if (!is_as_given()) return {};
        } else {
            translate();
            if (!exchange()) return {};
        }
        translate(), symmetrise();
        if (diagonal == Diagonal::given &&
            policy_.given.gain * (symmetry_ - best.symmetry) * seconds_of(best) <=
                policy_.given.seconds(column_[m_], best.fill))
            return {};
        look();
        if (diagonal == Diagonal::product)
            std::fill(share_.begin(), share_.end(), 1);  // as it is scaled
        EliminationCost cost;
        if (!amd_.run(graph_, policy_.least_prices(best.seconds), order_.data(), cost, counter_))
            return {};
        return ordered(diagonal, Order::degree, cost);
    }
    Candidate dissected(const Candidate& best) {
        arrange(best), look();
        const auto limits = policy_.least_prices(policy_.first_separator * best.seconds);
        if (!NestedDissection<Index>(run_).run(graph_, order_, limits)) return {};
        symmetrise();
        const EliminationCost cost = tree_.postorder(graph_, order_);
        return ordered(best.diagonal, Order::dissection, cost);
    }
    // Ended when it takes twice the time predicted.
    Candidate by_values(const Candidate& best) {
        arrange(best), look();
        Candidate out;
        out.diagonal = best.diagonal, out.order = Order::by_values;
        out.cols = best.cols, out.entries.resize(out.cols.size());
        out.row_order.resize(out.cols.size()), out.col_order.resize(out.cols.size());
        const double most = 2 * policy_.by_values.seconds(column_[m_], best.fill);
        const int* const exponents = best.diagonal == Diagonal::product ? seed() : nullptr;
        if (!values_->order(block(), exponents, most / policy_.by_values_step, out.row_order.data(),
                            out.col_order.data(), out.entries.data()))
            return {};
        for (double& stored : out.entries) stored /= 2;
        const double fill = 2 * out.entries.back(), share = fill / best.fill;
        out.cost = {out.entries.back(), best.work * share * share};
        price(Kernel::own, out, fill, out.cost.work, 1);
        return out;
    }
    // The candidate that order_ makes, which amd_ or tree_ knows.
    Candidate ordered(Diagonal diagonal, Order order, const EliminationCost& cost) {
        Candidate out;
        out.diagonal = diagonal, out.order = order, out.cost = cost, out.symmetry = symmetry_,
        out.loose = loose_;
        const double least = row_of(Kernel::own).weak_pivot;
        const auto is_weak = [least](double share) { return share < least; };
        out.weak = static_cast<double>(std::count_if(share_.begin(), share_.end(), is_weak)) / m_;
        out.cols.assign(cols(), cols() + m_), out.entries.resize(out.cols.size());
        if (order == Order::degree) amd_.accumulate(out.entries.data()), out.dense = amd_.n_dense();
        else tree_.accumulate(out.entries.data());
        const Index restless = weak_first(Kernel::own);
        out.row_order = order_, out.restless = static_cast<double>(restless) / m_;
        const double all = 2 * cost.entries + m_, unsymmetric = policy_.kept(symmetry_, all, m_);
        for (std::size_t k = 0; k < kernel_table.size(); ++k)
            if (const auto kernel = static_cast<Kernel>(k); policy_.allows(kernel, complex_)) {
                const Index moved = kernel == Kernel::own ? restless : weak_first(kernel);
                const bool by_fronts = kernel == Kernel::fronts;
                const double kept = by_fronts ? 1 : unsymmetric,
                             work = kept * kept * cost.work + by_fronts * passed_on(out.entries);
                price(kernel, out, kept * all, work, grown(kernel, moved, m_));
            }
        return out;
    }
    // How many pivots in order_ are weak, none of whose neighbours in B + B^T comes before them: to
    // eliminate one changes such pivots, zeros above all. Time: O(n + nnz).
    Index weak_first(Kernel kernel) {
        std::vector<Index>&turn = cursor_, &first = old_;
        first.assign(static_cast<std::size_t>(m_), m_);
        for (Index t = 0; t < m_; ++t) turn[order_[t]] = t;
        for (Index c = 0; c < m_; ++c)
            for (Index p = column_[c]; p < column_[c + 1]; ++p)
                if (const Index r = local_[p]; r != c)
                    first[r] = std::min(first[r], turn[c]), first[c] = std::min(first[c], turn[r]);
        counter_.add(column_[m_]);
        Index found = 0;
        for (Index c = 0; c < m_; ++c)
            found += share_[c] < row_of(kernel).weak_pivot && first[c] > turn[c];
        return found;
    }
    // Multiplications that take as long as fronts do beside theirs: with each of them, and with
    // what they pass on to others. Columns of L without entries belong to the one before.
    static double passed_on(const std::vector<double>& entries) {
        double sum = 0, left = 0, before = 0;
        for (std::size_t t = 0, end; t < entries.size(); t = end) {
            for (end = t + 1; end < entries.size() && entries[end] == entries[t];) ++end;
            const auto width = static_cast<double>(end - t);
            const double below = (entries[t] - before) / width - (width - 1) / 2;
            if (below + width != left) sum += of_front + of_number * left * left;
            left = below, before = entries[t];
        }
        return sum;
    }
    // Takes a kernel for a candidate if it needs less time than those before; fill grows so much by
    // pivots that move, and as it has here.
    void price(Kernel kernel, Candidate& out, double fill, double work, double grown) {
        const Cost& cost = policy_.cost(kernel);
        const double by_pattern = fill * grown;
        out.still = std::min(out.still, cost.seconds(column_[m_], fill, work));
        out.moving =
            std::min(out.moving, cost.seconds(column_[m_], by_pattern, work * grown * grown));
        Way way = out;
        way.kernel = kernel, way.by_pattern = by_pattern;
        if (is_own(kernel)) grown *= history_.times_of(block_, way);
        way.fill = fill * grown, way.work = work * grown * grown;
        way.seconds = cost.seconds(column_[m_], way.fill, way.work);
        way.again = row_of(kernel).repeated * way.seconds;
        second_ = std::min(second_, std::max(least_, way.again));
        least_ = std::min(least_, way.again);
        if (seconds_of(way) < seconds_of(out)) static_cast<Way&>(out) = way;
    }

    void take(Candidate& best) {
        const Index k = block_;
        if (!is_own(best.kernel)) return leave_as_given(k, best);
        pairs_as_form_ &= best.diagonal == Diagonal::matched && best.col_order.empty();
        const bool is_last = !(best.seconds < infinity);  // all have filled up before
        if (is_last) {
            best.fill = 2 * best.cost.entries + m_, best.work = best.cost.work;
            best.seconds = policy_.cost(Kernel::own).seconds(column_[m_], best.fill, best.work);
        }
        std::copy(best.cols.begin(), best.cols.end(), cols());
        std::vector<Index>& order = best.row_order;
        if (best.kernel == Kernel::own) {
            const double times = factorise_here(best, best.cost, best.dense);
            for (Index t = 0; t < m_; ++t) predict(t, times, best.entries[t]);
            if (is_last) plan_.overrun[k] = infinity;
        } else {
            make_fronts(best);
        }
        plan_.chosen.emplace(k, best);
        reorder(order, best.col_order.empty() ? order : best.col_order);
    }
    void make_fronts(Candidate& best) {
        arrange(best);
        std::vector<Index>& order = best.row_order;
        const EliminationCost cost = tree_.postorder(graph_, order);
        for (Index t = 0; t < m_; ++t) cursor_[order[t]] = t;
        const auto own = [&](Index t, const auto& add) {
            for (const Index j : graph_[order[t]])
                if (cursor_[j] > t) add(cursor_[j]);
            return std::int64_t{graph_.length[order[t]]};
        };
        const double times = take_fronts(best, cost, Fronts<Index>(tree_.parent(), own, counter_));
        tree_.accumulate(best.entries.data());
        for (Index t = 0; t < m_; ++t) predict(t, times, best.entries[t]);
    }
    double take_fronts(const Way& way, const EliminationCost& cost, Fronts<Index> fronts) {
        plan_.fronts[block_] = std::move(fronts);
        plan_.in_fronts += static_cast<std::int64_t>(cost.entries);
        plan_.kernel[block_] = way.kernel;
        return factorise_here(way, cost, 0);
    }
    // Of a column of the block: by the entries of L up to it, those of L + U, `times` as many.
    void predict(Index t, double times, double entries) {
        plan_.predicted[first_ + t] = rounded_up(times * (2 * entries + (t + 1.0)));
    }
    // Returns how many times more entries are predicted than if all pivots stayed.
    double factorise_here(const Way& way, const EliminationCost& cost, Index dense) {
        if (dense > 0) plan_.dense[block_] = dense;
        plan_.seconds += way.seconds;
        plan_.expected_entries += static_cast<std::int64_t>(cost.entries);
        const double times = way.fill / (2 * cost.entries + m_);
        plan_.overrun[block_] =
            policy_.most(way.kernel, column_[m_], way.fill, times * times * cost.work);
        return times;
    }
    void leave_as_given(Index k, const Way& way) {
        pairs_as_form_ = false;
        std::sort(rows(), rows() + m_), std::sort(cols(), cols() + m_);
        if (!plan_.seed.empty()) std::fill_n(seed(), m_, no_seed);
        plan_.kernel[k] = way.kernel;
        Way given = way;
        given.diagonal = Diagonal::given, given.order = Order::given, given.fill = given.work = 0;
        plan_.chosen.emplace(k, given);
    }

    Index* rows() { return plan_.row_perm.data() + first_; }
    Index* cols() { return plan_.col_perm.data() + first_; }
    int* seed() {
        if (plan_.seed.empty()) plan_.seed.assign(static_cast<std::size_t>(plan_.n), no_seed);
        return plan_.seed.data() + first_;
    }
    void reorder(const std::vector<Index>& of_rows, const std::vector<Index>& of_cols) {
        const auto turn = [this](auto* piece, const std::vector<Index>& order) {
            old_.assign(piece, piece + m_);
            for (Index t = 0; t < m_; ++t)
                piece[t] = static_cast<std::remove_reference_t<decltype(*piece)>>(old_[order[t]]);
        };
        turn(rows(), of_rows), turn(cols(), of_cols);
        if (!plan_.seed.empty()) turn(seed(), of_rows);
    }

    // The columns of the block at hand: column c has rows local_[column_[c]...column_[c + 1]],
    // ascending as rows are within a block.
    void translate() {
        Index to = 0;
        for (Index c = 0; c < m_; ++c) {
            const Index j = plan_.col_perm[first_ + c];
            column_[c] = to;
            for (Index p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p) {
                const Index r = place_[a_.indices[p]] - first_;
                local_[to] = r, to += r >= 0;
                is_triangular_ &= r < m_;
            }
            counter_.add(to - column_[c]);
        }
        column_[m_] = to;
    }

    // The graph of B + B^T without its diagonal, as lists in the pool with room at their ends. An
    // entry and its mirror make one edge: columns are processed in order, and the cursor of each
    // column is behind the mirrors already joined. Writes: the share of entries that have a mirror.
    void symmetrise() {
        const Index m = m_;
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
        std::int64_t mirrors = 0, diagonal = 0;
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
            const bool there = p < column_[c + 1] && local_[p] == c;
            cursor_[c] = p + there, diagonal += there;
            counter_.add(column_[c + 1] - column_[c]);
        }
        for (Index c = 0; c < m; ++c)
            for (Index q = cursor_[c]; q < column_[c + 1]; ++q) join(local_[q], c);
        const auto others = static_cast<double>(column_[m] - diagonal);
        symmetry_ = others > 0 ? static_cast<double>(mirrors) / others : 1;
    }

    // Sorts the entries into those of diagonal blocks and those above.
    void split_entries() {
        const auto size = static_cast<std::size_t>(plan_.n),
                   nnz = static_cast<std::size_t>(a_.nnz());
        const auto n_inner = static_cast<std::size_t>(n_inner_);
        const std::int64_t n_upper = a_.nnz() - n_inner_;
        const bool any = n_upper != 0;
        plan_.inner_start.resize(size + 1), plan_.upper_start.resize(any ? size + 1 : 0);
        plan_.inner_row.resize(n_inner), plan_.inner_from.resize(any ? n_inner : 0);
        plan_.columns = a_.indptr;
        plan_.upper_row.resize(nnz - n_inner), plan_.upper_from.resize(nnz - n_inner);
        Index inner = 0, upper = 0;
        for (Index k = 0; k < plan_.n_blocks(); ++k) {
            const Index first = plan_.starts[k], end = plan_.starts[k + 1];
            for (Index c = first; c < end; ++c) {
                plan_.inner_start[c] = inner;
                if (any) plan_.upper_start[c] = upper;
                const Index j = plan_.col_perm[c];
                if (!counter_.add(1 + a_.degree(j))) return;
                for (Index p = a_.indptr[j]; p < a_.indptr[j + 1]; ++p) {
                    const Index r = place_[a_.indices[p]];
                    if (r >= end || (r >= first ? inner == n_inner_ : upper == n_upper))
                        return void(is_triangular_ = false);
                    if (r >= first && any) plan_.inner_from[inner] = p;
                    if (r >= first) plan_.inner_row[inner++] = r - first;
                    else plan_.upper_row[upper] = r, plan_.upper_from[upper++] = p;
                }
            }
        }
        plan_.inner_start[size] = inner;
        if (any) plan_.upper_start[size] = upper;
        is_triangular_ = inner == n_inner_;
    }

    const Csr<Index>& a_;
    SquareForm<Index>& form_;
    const BlockValues<Index>* const values_;
    History<Index>& history_;
    const Policy& policy_;
    RunContext& run_;
    WorkCounter counter_;
    const bool complex_;
    BlockPlan<Index> plan_;
    BorrowedWorkspace<PlannerWorkspace<Index>> workspace_;
    Amd<Index>& amd_ = workspace_->amd;
    AdjacencyLists<Index>& graph_ = workspace_->graph;
    EliminationTree<Index>& tree_ = workspace_->tree;
    std::vector<Index>&place_ = workspace_->place, &local_ = workspace_->local,
    &column_ = workspace_->column, &cursor_ = workspace_->cursor, &order_ = workspace_->order,
    &old_ = workspace_->old;
    std::int64_t n_inner_ = 0;
    bool is_triangular_ = true, pairs_as_form_ = true;
    // Of the block at hand: which it is, and where; the share of its entries beside the diagonal
    // that have a mirror; its diagonal entries as shares of their columns.
    Index block_ = 0, first_ = 0, m_ = 0;
    double symmetry_ = 0, loose_ = 0;  // and the share of rows whose diagonal entry may not stay
    double least_ = 0, second_ = 0;    // seconds that other values are predicted to take
    std::vector<double> share_;
    std::vector<std::int64_t> places_;
};

}  // namespace sparsematch
