// The LU factorisation of a diagonal block front by front, by dense kernels: for blocks that fill.
//
// Duff, Reid, The multifrontal solution of unsymmetric sets of linear equations (SIAM J. Sci. Stat.
// Comput. 5, 1984): fronts of the tree of B + B^T. A front is square: the entries that begin at its
// columns and rows, and what its children have left. Its first columns and rows are complete, and a
// pivot is the largest in its column of these rows, or the diagonal; a column in which that is too
// small beside the others, and a row, wait for the parent. Columns are halved recursively: Toledo,
// Locality of reference in LU decomposition with partial pivoting (SIMAX 18, 1997). Rows are named
// by themselves while pivots are chosen, and by their pivots' columns afterwards.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "core/helping_team.hpp"
#include "core/run_context.hpp"
#include "elimination/blas.hpp"
#include "elimination/fronts.hpp"
#include "lu/block_plan.hpp"
#include "lu/growing_array.hpp"
#include "lu/pivot_checks.hpp"

namespace sparsematch {

enum class Outcome { done, singular, unstable, fill_exceeded, stopped };

// How pivots are chosen, and when to give up.
struct PivotRule {
    bool fresh = true;              // not those of before
    double least = 0;               // share of its column that a pivot has at least
    double most_growth = infinity;  // entries of U
    double most_entries = infinity;
};

template <class Index, class Value> class FrontWorker;

// A block: its fronts, what is known of each, and its factors.
template <class Index, class Value> class FrontalLU {
  public:
    // Of a front, its columns of L and rows of U: how many rows and columns these have behind those
    // of the pivots, which they are by name, those of the pivots first, and values.
    struct Factors {
        Index pivots = 0, n_rows = 0, n_cols = 0;
        const Index *rows = nullptr, *cols = nullptr;
        const Value* values = nullptr;
        // Of the values of the t-th pivot, those of L first.
        std::int64_t offset(Index t) const {
            return std::int64_t{t} * (2 * pivots - t - 1 + n_rows + n_cols);
        }
    };
    // Fronts one behind the other: a subtree, or a front above such. Rows, columns: of each front,
    // those with pivots first, then others that are complete. Kept: the rows of L, then the columns
    // of U, that are not those of pivots; l_rows, u_cols: these by name, behind those of the
    // pivots. Rest: the last front, as it has left it.
    struct Part {
        std::size_t begin, end;
        std::vector<Index> rows, cols, kept, l_rows, u_cols;
        GrowingArray<Value> values, rest;
        double grown = 0;
    };

    FrontalLU(const BlockPlan<Index>& plan, Index k)
        : row_of(plan.size(k)), pivot(row_of.size()), fronts_(plan.fronts.at(k).fronts),
          blas_(Blas<Value>::load()), made_(fronts_.size()), name_(row_of.size()),
          place_(row_of.size()), predicted_(plan.predicted.data() + plan.starts[k]) {
        std::vector<std::size_t> front_of;
        for (std::size_t f = 0; f < fronts_.size(); ++f) {
            Made& front = made_[f];
            front_of.insert(front_of.end(), fronts_[f].n_pivots, f);
            front.lowest = f, front.work = work_of(f);
            for (Index c = front.child; c >= 0; c = made_[c].sibling)
                front.lowest = std::min(front.lowest, made_[c].lowest), front.work += made_[c].work;
            if (const Index above = fronts_[f].parent; above >= 0)
                front.sibling = made_[above].child, made_[above].child = static_cast<Index>(f);
        }
        const Index first = plan.starts[k];
        const auto begin = plan.inner_start[first];
        start_.assign(fronts_.size() + 2, 0);
        const auto each = [&](const auto& visit) {
            for (Index c = 0; c < plan.size(k); ++c)
                for (auto p = plan.inner_start[first + c]; p < plan.inner_start[first + c + 1]; ++p)
                    visit(front_of[std::min(c, plan.inner_row[p])],
                          Entry{plan.inner_row[p], c, p - begin});
        };
        each([&](std::size_t f, const Entry&) { ++start_[f + 2]; });
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        entries_.resize(static_cast<std::size_t>(start_.back()));
        each([&](std::size_t f, const Entry& entry) { entries_[start_[f + 1]++] = entry; });
    }

    // Before a factorisation of the entries of the block, in the order of its columns; by new
    // pivots if the rule says so, and by these fronts that are parts of their own, ascending.
    void begin(const Value* inner, const PivotRule& rule, const std::vector<std::size_t>& above) {
        inner_ = inner, rule_ = rule, failed_ = fronts_.size();
        if (!rule.fresh) return;
        std::size_t n = 0;
        const auto add = [&](std::size_t begin, std::size_t end) {
            if (n == parts.size()) parts.emplace_back();
            Part& part = parts[n++];
            part.begin = begin, part.end = end;
            part.values.clear();
            for (auto* list : {&part.rows, &part.cols, &part.kept, &part.l_rows, &part.u_cols})
                list->clear();
            for (std::size_t f = begin; f < end; ++f) made_[f].part = n - 1;
        };
        std::size_t begin = 0;
        for (const std::size_t f : above) {
            add_subtrees(begin, f, add);
            add(f, f + 1), begin = f + 1;
        }
        add_subtrees(begin, fronts_.size(), add);
        parts.resize(n);
        std::iota(name_.begin(), name_.end(), Index{0});
    }
    // After all parts. Of several that fail, what the first front does counts.
    Outcome end(ThreadTeam& team) {
        grown = 0;
        for (const Part& part : parts) grown = std::max(grown, part.grown);
        if (failed_ < fronts_.size()) return made_[failed_].outcome;
        if (rule_.fresh) rename_rows(team);
        return Outcome::done;
    }
    // Of the factors, without pivots.
    std::size_t entries() const {
        std::size_t n = 0;
        for (const Part& part : parts) n += part.values.size();
        return n;
    }
    // Of the subtree of a front: predicted work; and of itself, and its children.
    double work(std::size_t f) const { return made_[f].work; }
    double work_of(std::size_t f) const {
        const auto size = static_cast<double>(size_of(f)), n = double(fronts_[f].n_pivots);
        return n * (size * size - n * size + n * n / 3) + of_number * size * size + of_front;
    }
    std::size_t size_of(std::size_t f) const { return fronts_[f].columns.size(); }
    std::size_t root() const { return fronts_.size() - 1; }
    // Whether a part waits for others; the one that waits for it, if one does, or parts.size().
    bool waits(const Part& part) const { return made_[part.end - 1].lowest < part.begin; }
    std::size_t part_above(const Part& part) const {
        const Index above = fronts_[part.end - 1].parent;
        return above < 0 ? parts.size() : made_[above].part;
    }
    template <class Visit> void each_child(std::size_t f, const Visit& visit) const {
        for (Index c = made_[f].child; c >= 0; c = made_[c].sibling)
            visit(static_cast<std::size_t>(c));
    }

    std::vector<Part> parts;       // children before parents
    std::vector<Factors> factors;  // of fronts, in this order
    std::vector<Index> row_of;     // of each column, that of its pivot
    std::vector<Value> pivot;
    double grown = 0;  // the largest entry of U

  private:
    friend FrontWorker<Index, Value>;
    struct Entry {
        Index row, col, from;
    };
    // Where its lists and values begin in those of its part; where what it has left does, on the
    // stack of a worker or in its part; and what its subtree has stored.
    struct Made : Factors {
        Index size = 0, complete = 0, child = -1, sibling = -1;
        std::int64_t lists = 0, at = 0, rest = 0, kept = 0, stored = 0;
        std::size_t part = 0, lowest = 0;  // the first front of its subtree
        double work = 0;                   // of that
        Outcome outcome = Outcome::done;
    };

    // add(begin, end) for the largest subtrees that make up these fronts.
    template <class Add>
    void add_subtrees(std::size_t begin, std::size_t end, const Add& add) const {
        std::vector<std::size_t> ends;
        for (std::size_t f = end; f > begin; f = made_[f - 1].lowest) ends.push_back(f);
        for (; !ends.empty(); ends.pop_back()) add(made_[ends.back() - 1].lowest, ends.back());
    }
    // Entries predicted in the subtree of a front.
    double predicted(std::size_t f) const {
        const Index begin = fronts_[made_[f].lowest].first;
        return predicted_[fronts_[f].first + fronts_[f].n_pivots - 1] -
               (begin > 0 ? predicted_[begin - 1] : 0);
    }
    void fail(std::size_t f, Outcome outcome) {
        made_[f].outcome = outcome;
        std::size_t before = failed_;
        while (f < before && !failed_.compare_exchange_weak(before, f)) {
        }
    }
    void rename_rows(ThreadTeam& team) {
        team.for_each(parts.size(), 1, [&](std::size_t k) {
            for (auto* rows : {&parts[k].rows, &parts[k].l_rows})
                for (Index& row : *rows) row = place_[row];
        });
        factors.clear(), factors.reserve(made_.size());
        for (const Part& part : parts) {
            const Index *rows = part.l_rows.data(), *cols = part.u_cols.data();
            for (std::size_t f = part.begin; f < part.end; ++f) {
                const Made& made = made_[f];
                const Value* const values = part.values.data() + made.at;
                factors.push_back({made.pivots, made.n_rows, made.n_cols, rows, cols, values});
                rows += made.pivots + made.n_rows, cols += made.pivots + made.n_cols;
            }
        }
        name_ = place_;
        for (std::size_t r = 0; r < name_.size(); ++r) row_of[name_[r]] = static_cast<Index>(r);
    }

    const std::vector<typename Fronts<Index>::Front>& fronts_;
    const Blas<Value> blas_;
    std::vector<Made> made_;
    std::vector<std::int64_t> start_;  // of each front's entries
    std::vector<Entry> entries_;
    std::vector<Index> name_, place_;  // of rows; the columns of their pivots
    const float* predicted_;           // entries up to each column
    const Value* inner_ = nullptr;
    PivotRule rule_;
    std::atomic<std::size_t> failed_{0};  // the first front that has
};

// What one worker has at hand.
template <class Index, class Value> class FrontWorker {
    using Block = FrontalLU<Index, Value>;
    using Part = typename Block::Part;
    using Made = typename Block::Made;

  public:
    // The fronts of a part, whose children are done; helped by those of the team that have nothing
    // else to do. Not all of them after a stop, or where a front before them has failed.
    void factorise(Block& block, Part& part, RunContext& run, HelpingTeam& team, int rank) {
        WorkCounter counter(run, rank);
        block_ = &block, part_ = &part, counter_ = &counter, rule_ = block.rule_;
        team_ = run.team.size() > 1 ? &team : nullptr, rank_ = rank;
        row_at_.resize(std::max(row_at_.size(), block.row_of.size())),
            col_at_.resize(row_at_.size());
        grown_ = part.grown = 0, is_unfit_ = false, rests_.clear(), part.rest.clear();
        if (rule_.fresh) make_room();
        for (std::size_t f = part.begin; f < part.end && f < block.failed_; ++f) {
            Made& front = block.made_[f];
            if (run.team.failed() || run.stopped()) return;
            if (rule_.fresh && !open(f)) return block.fail(f, Outcome::fill_exceeded);
            if (rule_.fresh) choose_least(f);
            else least_ = rule_.least;
            size_ = front.size;
            rows_ = part.rows.data() + front.lists, cols_ = part.cols.data() + front.lists;
            assemble(f);
            const Index done = eliminate_all(rule_.fresh ? front.complete : front.pivots);
            if (run.stopped()) return;
            if (done < front.complete && block.fronts_[f].parent < 0)
                return block.fail(f, Outcome::singular);
            front.pivots = done;
            store(front), keep_rest(f);
            if (is_unfit_ || !(grown_ <= rule_.most_growth))
                return block.fail(f, Outcome::unstable);
            if (!counter.add(1 + std::int64_t{size_} * size_ / 4)) return;
        }
        part.grown = grown_;
    }

  private:
    // Columns eliminated one by one; pivots and multiplications from which on BLAS pays, which does
    // as many of these in the time of a scanned entry. Not varied.
    static constexpr Index narrow = 8, few = 4;
    static constexpr std::int64_t large = 4000, per_entry = 16;
    // Rows and columns of what one worker updates at a time: whatever their number, so that results
    // are the same. Larger ones take as long by BLAS, to some per cent.
    static constexpr Index tile_rows = 256, tile_cols = 128;
    // Numbers of a front that are copied at a time; entries for which to share pays.
    static constexpr std::int64_t slice = 1 << 13, shared_from = 1 << 15;

    Value& at(Index i, Index c) { return a_[i + std::int64_t{c} * size_]; }
    Value* column(Index c) { return a_.data() + std::int64_t{c} * size_; }

    // Calls body(begin, end) on pieces of [0, n), offered to the team; `work`: entries that take as
    // long as one. Not all of them after a stop.
    template <class Body>
    void each(std::int64_t n, std::int64_t step, std::int64_t work, const Body& body) {
        if (team_ && n > step && n * work >= shared_from) {
            team_->loop(rank_, n, step, body);
            return void(counter_->add(n * work));
        }
        for (std::int64_t begin = 0; begin < n && !counter_->stopped(); begin += step) {
            const std::int64_t end = std::min(begin + step, n);
            body(begin, end), counter_->add(work * (end - begin));
        }
    }
    // As each, on columns of `length` numbers that are copied.
    template <class Body> void each_column(Index n, std::int64_t length, const Body& body) {
        each(n, 1 + slice / (length + 1), length / 4, [&](std::int64_t begin, std::int64_t end) {
            body(static_cast<Index>(begin), static_cast<Index>(end));
        });
    }

    void make_room() {
        std::size_t held = 0, most = 0, listed = 0, pivots = 0;
        const auto left = [this](std::size_t f) {
            const std::size_t n = block_->size_of(f) - block_->fronts_[f].n_pivots;
            return n * n;
        };
        for (std::size_t f = part_->begin; f < part_->end; ++f) {
            block_->each_child(f, [&](std::size_t c) { held -= c >= part_->begin ? left(c) : 0; });
            if (f + 1 < part_->end) most = std::max(most, held += left(f));
            listed += block_->size_of(f), pivots += block_->fronts_[f].n_pivots;
        }
        rests_.make_room(most);
        for (auto* list : {&part_->rows, &part_->cols, &part_->l_rows, &part_->u_cols})
            list->reserve(listed);
        part_->kept.reserve(2 * (listed - pivots));
        const std::size_t last = part_->end - 1;
        double predicted = block_->predicted(last);
        if (block_->waits(*part_))
            block_->each_child(last, [&](std::size_t c) { predicted -= block_->predicted(c); });
        // and zeros that columns of a front share, of which real ones have some per cent
        constexpr double and_zeros = 1.125;
        part_->values.make_room(static_cast<std::size_t>(and_zeros * std::max(predicted, 0.0)));
    }
    // Lists the rows and columns of a front. False: its subtree would have too many entries.
    bool open(std::size_t f) {
        const auto& [first, n_pivots, columns, parent] = block_->fronts_[f];
        Made& front = block_->made_[f];
        front.lists = static_cast<std::int64_t>(part_->rows.size());
        front.at = static_cast<std::int64_t>(part_->values.size()), front.stored = 0;
        for (const auto list : {&Part::rows, &Part::cols}) {
            std::vector<Index>& to = part_->*list;
            to.insert(to.end(), columns.begin(), columns.begin() + n_pivots);
            block_->each_child(f, [&](std::size_t child) {
                const Made& of = block_->made_[child];
                for (Index t = of.pivots; t < of.complete; ++t)  // that wait
                    to.push_back((block_->parts[of.part].*list)[of.lists + t]);
            });
            front.complete = static_cast<Index>(to.size() - front.lists);
            to.insert(to.end(), columns.begin() + n_pivots, columns.end());
            front.size = static_cast<Index>(to.size() - front.lists);
        }
        block_->each_child(f, [&](std::size_t c) { front.stored += block_->made_[c].stored; });
        const double more =
            static_cast<double>(front.complete) * (2.0 * front.size - front.complete);
        return static_cast<double>(front.stored) + more <= rule_.most_entries;
    }

    void choose_least(std::size_t f) {
        const auto stored = static_cast<double>(block_->made_[f].stored);
        const bool is_over = stored > block_->predicted(f);
        least_ = is_over && rule_.least <= diagonal_preference ? loose_preference : rule_.least;
    }
    void assemble(std::size_t f) {
        a_.clear(), a_.make_room(static_cast<std::size_t>(size_) * size_);
        each_column(size_, size_, [&](Index begin, Index end) {
            std::fill(column(begin), column(end), Value(0));
        });
        for (Index i = 0; i < size_; ++i) row_at_[rows_[i]] = col_at_[cols_[i]] = i;
        for (auto p = block_->start_[f]; p < block_->start_[f + 1]; ++p) {
            const auto& [row, col, from] = block_->entries_[p];
            at(row_at_[block_->name_[row]], col_at_[col]) = block_->inner_[from];
        }
        block_->each_child(f, [&](std::size_t child) {
            const Made& of = block_->made_[child];
            Part& other = block_->parts[of.part];
            const std::int64_t first = of.lists + of.pivots;
            const Index *const rows = other.rows.data() + first, *const cols =
                                                                     other.cols.data() + first;
            const Index m = of.size - of.pivots;
            to_.resize(m);
            for (Index i = 0; i < m; ++i) to_[i] = row_at_[rows[i]];
            const bool is_own = &other == part_;
            const Value* const rest = (is_own ? rests_ : other.rest).data() + of.rest;
            const Index stride = is_own ? m : of.size;
            each_column(m, m, [&](Index begin, Index end) {
                for (Index c = begin; c < end; ++c) {
                    const Value* const from = rest + std::int64_t{c} * stride;
                    Value* const into = column(col_at_[cols[c]]);
                    for (Index i = 0; i < m; ++i) into[to_[i]] += from[i];
                }
            });
            if (!is_own) other.rest = {};
            else rests_.set_size(std::min(rests_.size(), static_cast<std::size_t>(of.rest)));
        });
    }

    // Returns the number of pivots, those of the first columns. Columns that wait are tried again.
    Index eliminate_all(Index complete) {
        complete_ = complete, moved_.resize(complete);
        Index done = 0;
        for (Index more = 1; more > 0 && done < complete; done += more) {
            more = eliminate(done, complete);
            exchange_rows(done, more, 0, done);
        }
        update(0, done, complete, size_);
        return done;
    }
    // Pivots of these columns; those without are behind the others then, updated by them.
    Index eliminate(Index begin, Index end) {
        if (counter_->stopped()) return 0;  // numbers are of no meaning then
        if (end - begin <= narrow) return eliminate_each(begin, end);
        const Index middle = begin + (end - begin) / 2, left = eliminate(begin, middle);
        update(begin, left, middle, end);
        const Index failed = middle - begin - left;
        if (failed > 0) {
            std::rotate(column(begin + left), column(middle), column(end));
            std::rotate(cols_ + begin + left, cols_ + middle, cols_ + end);
        }
        const Index right = eliminate(begin + left, end - failed);
        exchange_rows(begin + left, right, begin, begin + left);
        update(begin + left, right, end - failed, end);
        return left + right;
    }
    Index eliminate_each(Index begin, const Index end) {
        Index k = begin;
        for (Index last = end; k < last;) {
            if (!choose_pivot(k, begin, end)) {
                --last;
                std::swap_ranges(column(k), column(k + 1), column(last));
                std::swap(cols_[k], cols_[last]);
                continue;
            }
            Value* const x = column(k);
            const Value by = Value(1) / x[k];
            for (Index i = k + 1; i < size_; ++i) x[i] = product(x[i], by);
            subtract(k, 1, k + 1, end), ++k;
        }
        return k - begin;
    }
    // Brings a pivot to the diagonal of a column, in some columns; false if none will do.
    bool choose_pivot(Index k, Index begin, Index end) {
        constexpr double preferred = 0.1;  // the diagonal, to that share
        const Value* const x = column(k);
        double best = 0, below = 0;
        Index row = k;
        for (Index i = k; i < complete_; ++i)
            if (const double v = magnitude(x[i]); v > best) best = v, row = i;
        for (Index i = complete_; i < size_; ++i) below = std::max(below, magnitude(x[i]));
        const double diagonal = magnitude(x[k]), most = std::max(best, below);
        if (!rule_.fresh) {  // which goes on, as what comes out is of no use then
            is_unfit_ |= !(diagonal > 0 && diagonal >= least_ * most);
            return true;
        }
        if (!(best > 0) || best < least_ * below) return false;
        moved_[k] = diagonal >= preferred * most ? k : row;
        if (moved_[k] != k) exchange_rows(k, 1, begin, end), std::swap(rows_[k], rows_[row]);
        return true;
    }
    // In some columns, as `n` pivots from `first` on were brought to the diagonal.
    void exchange_rows(Index first, Index n, Index begin, Index end) {
        for (Index c = begin; c < end && rule_.fresh; ++c)
            for (Index k = first; k < first + n; ++k)
                if (moved_[k] != k) std::swap(at(k, c), at(moved_[k], c));
    }
    // Updates columns by the `n` pivots from `first` on.
    void update(Index first, Index n, Index begin, Index end) {
        if (n == 0 || begin >= end) return;
        const Index below = size_ - first - n;
        const std::int64_t work = std::int64_t{n} * (size_ - first);
        if (n < few || work * (end - begin) < large) {
            exchange_rows(first, n, begin, end);
            return subtract(first, n, begin, end);
        }
        const int pivots = n, stride = size_;
        const Value one = 1, minus = -1;
        const Blas<Value>& blas = block_->blas_;
        each(end - begin, tile_cols, std::int64_t{n} * n / per_entry, [&](auto from, auto to) {
            const auto c = static_cast<Index>(begin + from);
            const int width = static_cast<int>(to - from);
            exchange_rows(first, n, c, static_cast<Index>(begin + to));
            blas.trsm("L", "L", "N", "U", &pivots, &width, &one, &at(first, first), &stride,
                      &at(first, c), &stride);
        });
        const Index down = (below + tile_rows - 1) / tile_rows,
                    across = (end - begin + tile_cols - 1) / tile_cols;
        const std::int64_t each_tile = std::int64_t{n} * std::min(below, tile_rows) *
                                       std::min(end - begin, tile_cols) / per_entry;
        each(std::int64_t{down} * across, 1, each_tile, [&](auto tile, auto) {
            const auto row = static_cast<Index>(tile % down * tile_rows),
                       col = static_cast<Index>(tile / down * tile_cols);
            const Index i = first + n + row, c = begin + col;
            const int height = std::min(tile_rows, below - row),
                      width = std::min(tile_cols, end - c);
            blas.gemm("N", "N", &height, &width, &pivots, &minus, &at(i, first), &stride,
                      &at(first, c), &stride, &one, &at(i, c), &stride);
        });
    }
    void subtract(Index first, Index n, Index begin, Index end) {
        for (Index c = begin; c < end; ++c) {
            Value* const x = column(c);
            for (Index t = first; t < first + n; ++t) {
                const Value v = x[t];
                const Value* const l = column(t);
                if (v != Value(0))
                    for (Index i = t + 1; i < size_; ++i) x[i] -= product(l[i], v);
            }
        }
    }

    // Appends, or writes again, L and U of a front, without rows and columns that are zero there.
    // Of other values these have to be zero, too.
    void store(Made& front) {
        const Index n = front.pivots;
        if (rule_.fresh) mark_filled(n), keep_lists(front);
        const Index *const rows = part_->kept.data() + front.kept, *const cols =
                                                                       rows + front.n_rows;
        if (!rule_.fresh && front.n_rows + front.n_cols < 2 * (size_ - n)) {
            mark_filled(n);
            for (Index p = 0; p < front.n_rows; ++p) mark_[rows[p]] = 0;
            for (Index p = 0; p < front.n_cols; ++p) mark_[size_ + cols[p]] = 0;
            is_unfit_ |= std::find(mark_.begin(), mark_.end(), 1) != mark_.end();
        }
        Value* const to = part_->values.data() + front.at;
        each_column(n, n + front.n_rows, [&](Index begin, Index end) {
            for (Index t = begin; t < end; ++t) {
                const Value* const x = column(t);
                block_->pivot[cols_[t]] = x[t];
                Value* l = std::copy(x + t + 1, x + n, to + front.offset(t));
                for (Index p = 0; p < front.n_rows; ++p) *l++ = x[rows[p]];
            }
        });
        constexpr Index lines = 8;  // of U, written side by side
        std::atomic<double> grown = grown_;
        each_column(
            (n + lines - 1) / lines, lines * (n + front.n_cols), [&](Index from, Index to_) {
                double most = 0;
                for (Index begin = from * lines; begin < std::min(n, to_ * lines); begin += lines) {
                    const Index end = std::min<Index>(begin + lines, n);
                    for (Index q = begin; q < n + front.n_cols; ++q) {
                        const Value* const x = column(q < n ? q : cols[q - n]);
                        for (Index t = begin; t < std::min(q, end); ++t) {
                            to[front.offset(t) + n - t - 1 + front.n_rows + q - t - 1] = x[t];
                            most = std::max(most, magnitude(x[t]));
                        }
                        if (q < end) most = std::max(most, magnitude(x[q]));
                    }
                }
                for (double seen = grown;
                     most > seen && !grown.compare_exchange_weak(seen, most);) {
                }
            });
        grown_ = grown;
    }
    // Marks rows of L, and behind them columns of U, that are not zero, behind the pivots.
    void mark_filled(Index n) {
        mark_.assign(2 * static_cast<std::size_t>(size_), 0);
        Index left = size_ - n;
        for (Index t = 0; t < n && left > 0; ++t)
            for (Index i = n; i < size_; ++i)
                if (!mark_[i] && at(i, t) != Value(0)) mark_[i] = 1, --left;
        for (Index c = n; c < size_; ++c)
            mark_[size_ + c] =
                std::any_of(column(c), column(c) + n, [](Value v) { return v != Value(0); });
    }
    void keep_lists(Made& front) {
        const Index n = front.pivots;
        std::vector<Index>& kept = part_->kept;
        front.kept = static_cast<std::int64_t>(kept.size());
        const auto keep = [&](const Index* from, const char* mark, std::vector<Index>& names) {
            const std::size_t before = kept.size();
            names.insert(names.end(), from, from + n);
            for (Index i = n; i < size_; ++i)
                if (mark[i]) kept.push_back(i), names.push_back(from[i]);
            return static_cast<Index>(kept.size() - before);
        };
        front.n_rows = keep(rows_, mark_.data(), part_->l_rows);
        front.n_cols = keep(cols_, mark_.data() + size_, part_->u_cols);
        for (Index t = 0; t < n; ++t) block_->place_[rows_[t]] = cols_[t];
        const auto count = static_cast<std::size_t>(front.offset(n));
        part_->values.make_room(count), part_->values.set_size(part_->values.size() + count);
        front.stored += front.offset(n);
    }
    void keep_rest(std::size_t f) {
        Made& front = block_->made_[f];
        const Index n = front.pivots, m = size_ - n;
        if (f + 1 == part_->end) {
            front.rest = n + std::int64_t{n} * size_;
            if (m > 0) std::swap(part_->rest, a_);
            return;
        }
        const auto count = static_cast<std::size_t>(m) * m;
        front.rest = static_cast<std::int64_t>(rests_.size());
        rests_.make_room(count), rests_.set_size(rests_.size() + count);
        Value* const to = rests_.data() + front.rest;
        each_column(m, m, [&](Index begin, Index end) {
            for (Index c = begin; c < end; ++c)
                std::copy(column(n + c) + n, column(n + c + 1), to + std::int64_t{c} * m);
        });
    }

    Block* block_ = nullptr;
    Part* part_ = nullptr;
    HelpingTeam* team_ = nullptr;  // if there is one
    int rank_ = 0;
    WorkCounter* counter_ = nullptr;
    PivotRule rule_;
    double least_ = 0, grown_ = 0;
    bool is_unfit_ = false;      // what was found before
    GrowingArray<Value> rests_;  // a stack, as fronts come in postorder
    // The front at hand: its rows and columns, by columns; where the block's are in it.
    Index size_ = 0, complete_ = 0;
    Index *rows_ = nullptr, *cols_ = nullptr;
    GrowingArray<Value> a_;
    std::vector<Index> row_at_, col_at_, to_, moved_;
    std::vector<char> mark_;
};

// Blocks side by side by all workers: subtrees of their trees of fronts, and the fronts above.
// Who has none helps in those that others have begun.
//
// Geist, Ng, Task scheduling for parallel sparse Cholesky factorization (Int. J. Parallel Program.
// 18, 1989): the subtree that would end last is split, over and over; of these, the one predicted
// to take least time is taken. L'Excellent, Sid-Lakhdar, A study of shared-memory parallelism in a
// multifrontal solver (Parallel Comput. 40, 2014): idle cores join the fronts above.
// Invariant: parts and tiles change who computes a number, not how. Memory: a stack for each
// worker, of the largest subtree it met, beside fronts at subtree roots, and those above that wait.
template <class Index, class Value> class FrontTeam {
  public:
    struct Job {
        FrontalLU<Index, Value>* block;
        const Value* inner;  // its entries in the order of its columns
        PivotRule rule;
    };
    // After a stop nothing is to be read.
    void factorise(const std::vector<Job>& jobs, RunContext& run) {
        const OneBlasThread alone_with_blas;
        const auto above = cut(jobs, run.team.size());
        std::vector<Task> tasks;
        for (std::size_t k = 0; k < jobs.size(); ++k) {
            auto& block = *jobs[k].block;
            block.begin(jobs[k].inner, jobs[k].rule, above[k]);
            for (std::size_t p = 0; p < block.parts.size(); ++p) {
                const auto& part = block.parts[p];
                // what others wait for first, then those of most work
                tasks.push_back({block.waits(part) ? infinity : block.work(part.end - 1), k, p});
            }
        }
        std::stable_sort(tasks.begin(), tasks.end(),
                         [](const Task& a, const Task& b) { return a.work > b.work; });
        std::vector<std::vector<std::size_t>> number(jobs.size());
        for (std::size_t k = 0; k < jobs.size(); ++k)
            number[k].assign(jobs[k].block->parts.size() + 1, HelpingTeam::no_task);
        for (std::size_t t = 0; t < tasks.size(); ++t) number[tasks[t].job][tasks[t].part] = t;
        std::vector<std::size_t> parent;
        for (const auto& [work, k, p] : tasks)
            parent.push_back(number[k][jobs[k].block->part_above(jobs[k].block->parts[p])]);
        if (workers_.size() < static_cast<std::size_t>(run.team.size()))
            workers_.resize(run.team.size());
        HelpingTeam team(run);
        team.run(parent, [&](int rank, std::size_t t) {
            auto& block = *jobs[tasks[t].job].block;
            workers_[rank].factorise(block, block.parts[tasks[t].part], run, team, rank);
        });
    }

  private:
    // A part of the block of a job.
    struct Task {
        double work;
        std::size_t job, part;
    };
    // Rows of a front of which its panels, which one worker eliminates, take as long as the rest;
    // and multiplications in the time it takes to share it. Fitted to Laplacians of 30^3 and 40^3.
    static constexpr double rows_of_panels = 100, to_share = 1 << 19;
    // Subtrees of equal work for a worker, of which none that is smaller is split. Not varied.
    static constexpr int subtrees_each = 16;

    // The fronts of each job that are parts of their own, ascending.
    static std::vector<std::vector<std::size_t>> cut(const std::vector<Job>& jobs, int workers) {
        std::vector<std::vector<std::size_t>> out(jobs.size());
        if (workers == 1) return out;
        // time of a subtree and of what is above it, that alone, its job and its root
        using Subtree = std::tuple<double, double, std::size_t, std::size_t>;
        std::priority_queue<Subtree> subtrees;
        double all = 0, least = infinity;
        const auto add = [&](std::size_t k, std::size_t f, double above) {
            subtrees.push({above + jobs[k].block->work(f), above, k, f});
        };
        for (std::size_t k = 0; k < jobs.size(); ++k)
            add(k, jobs[k].block->root(), 0), all += jobs[k].block->work(jobs[k].block->root());
        const double enough = all / (subtrees_each * workers);
        std::vector<std::pair<std::size_t, std::size_t>> split;
        std::size_t taken = 0;
        while (!subtrees.empty()) {
            const auto [last, above, k, f] = subtrees.top();
            const double seconds = std::max(last, all / workers);
            if (seconds < least) least = seconds, taken = split.size();
            const auto& block = *jobs[k].block;
            if (last - above <= enough) break;
            subtrees.pop();
            const double own = block.work_of(f), size = static_cast<double>(block.size_of(f)),
                         alone = std::min(1.0, rows_of_panels / size),
                         time = own * (alone + (1 - alone) / workers) + to_share;
            all += to_share, split.push_back({k, f});
            block.each_child(f, [&](std::size_t child) { add(k, child, above + time); });
        }
        for (std::size_t t = 0; t < taken; ++t) out[split[t].first].push_back(split[t].second);
        for (auto& fronts : out) std::sort(fronts.begin(), fronts.end());
        return out;
    }

    std::vector<FrontWorker<Index, Value>> workers_;
};

}  // namespace sparsematch
