// Push-relabel: a free row displaces a matched one where a free column is nearest, and the
// displaced row goes on. There are no paths and no trees: only labels of columns
// (docs/algorithms/push_relabel.md, which says why it is right).
//
// The label of a column is a lower bound on how many columns an alternating path from it passes
// until it ends in a free one. Active: a row that is free and may still be matched; first in, first
// out, it is matched to the column of least label in its list, whose mate is displaced, and whose
// label rises to the second least of the list plus one.
//
// Kaya, Langguth, Manne, Ucar (Computers & OR 40, 2013); Deveci, Kaya, Ucar, Catalyurek (ICPP
// 2013), Algorithms 1 and 2, with rows and columns exchanged; for several workers Langguth, Azad,
// Halappanavar, Manne (Parallel Computing 40, 2014). The paper's psi of a column -> label (half of
// psi, so that it fits the index type); psi of a row is not stored.
//
// Protocol of several workers. Each has a ring of active rows and keeps those that it displaces;
// after some thousand pushes the active rows are divided again. A row is active with one worker.
// That one writes the row's mate, and then claims the column by an exchange of its mate (acquire,
// release), so that the worker that displaces the row later sees that write. The mate of an active
// row is out of date until pushing ends. Labels are raised without order, so one may be too high: a
// row that finds none below infinite waits for the next global relabelling, and is dropped if that,
// during which nothing is pushed, does not reach it. With one worker no label is too high, and such
// a row is dropped at once.
// Invariant: labels only rise between two global relabellings; a matched column stays matched.
// Time: O(sqrt(n) nnz) between global relabels, O(n nnz) in all.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/csr.hpp"
#include "core/free_rows.hpp"
#include "core/options.hpp"
#include "core/run_context.hpp"
#include "matching/exact_labels.hpp"

namespace sparsematch {

struct PushRelabelOptions {
    // Relabel globally after k (n_rows + n_cols) relabels; without a transpose, give up after that
    // number if they have matched no row.
    double k = 0.3;
    // Alternate the direction in which lists are scanned.
    bool fairness = true;
    // Relabel columns above an empty label at once; with one worker.
    bool gap = true;

    static constexpr auto fields() {
        return std::tuple{Option{"k", &PushRelabelOptions::k},
                          Option{"fairness", &PushRelabelOptions::fairness},
                          Option{"gap", &PushRelabelOptions::gap}};
    }
};

// The active rows of a worker, first in, first out: a ring, never longer than at first.
template <class Index> class ActiveRows {
  public:
    ActiveRows() = default;
    ActiveRows(Index* rows, std::size_t n) : rows_(rows), capacity_(n), size_(n) {}

    std::size_t size() const { return size_; }
    Index operator[](std::size_t k) const { return rows_[place(k)]; }
    Index pop() {
        const Index i = rows_[head_];
        head_ = place(1);
        --size_;
        return i;
    }
    void append(Index i) { rows_[place(size_++)] = i; }
    // Appends all to a list of `size`; returns its new size.
    std::size_t copy_to(Index* list, std::size_t size) const {
        for (std::size_t k = 0; k < size_; ++k) list[size++] = (*this)[k];
        return size;
    }

    // What the next pushes read: the bounds of their lists, then these, then the first columns.
    template <class Column>
    SPARSEMATCH_INLINE void prefetch(const Csr<Index>& a, const Column* column,
                                     const Index* row_mate) const {
        constexpr Index first_columns = 8;  // columns of a list that are prefetched
        const std::size_t step = std::min<std::size_t>(size_ / 4, 4);
        if (step == 0) return;
        const Index last = (*this)[4 * step - 1], later = (*this)[2 * step], soon = (*this)[step];
        SPARSEMATCH_PREFETCH(&a.indptr[last]);
        SPARSEMATCH_PREFETCH(&a.indices[a.indptr[later]]);
        SPARSEMATCH_PREFETCH(&row_mate[later], 1);
        const Index end = std::min(a.indptr[soon + 1], a.indptr[soon] + first_columns);
        for (Index p = a.indptr[soon]; p < end; ++p) SPARSEMATCH_PREFETCH(&column[a.indices[p]], 1);
    }

  private:
    std::size_t place(std::size_t k) const {
        return head_ + k < capacity_ ? head_ + k : head_ + k - capacity_;
    }
    Index* rows_ = nullptr;
    std::size_t capacity_ = 0, head_ = 0, size_ = 0;
};

// Threads: several workers.
template <bool Threads, class Index> class PushRelabel {
    using Column = LabelledColumn<Index>;
    struct alignas(128) Worker {
        Worker(RunContext& run, int rank) : counter(run, rank) {}
        WorkCounter counter;
        ActiveRows<Index> active;
        std::vector<Index> waiting;  // without a label below infinite
        std::int64_t relabels = 0, augmentations = 0;
    };
    // Pushes of a worker in a round, at least and at most; columns at a time.
    static constexpr std::int64_t least_pushes = 1 << 12, most_pushes = 1 << 14, grain = 1 << 15;
    // Active rows for each worker below which it is not worth waking; 4, 8, 32: 0.92 to 1.05.
    static constexpr std::size_t least_active = 16;

  public:
    PushRelabel(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                const PushRelabelOptions& options, RunContext& run)
        : a_(a), t_(transposed), m_(m), options_(options), run_(run),
          interval_(static_cast<std::int64_t>(std::max(
              1.0, options.k * (static_cast<double>(a.n_rows) + static_cast<double>(a.n_cols))))),
          infinite_(std::min(a.n_rows, a.n_cols) + 1), active_(free_rows(a, m, run.team)),
          column_(a.n_cols), exact_(t_ ? a.n_rows : 0, t_ ? a.n_cols : 0, run.team.size()),
          count_(Threads ? 0 : static_cast<std::size_t>(infinite_) + 1) {
        for (int rank = 0; rank < (Threads ? run.team.size() : 1); ++rank)
            workers_.push_back(std::make_unique<Worker>(run, rank));
    }

    // Reads: both orientations, or one. Writes: both mates. Workspace: four indices per column, one
    // per label, two per active row, a bit per row.
    // Time: O(sqrt(n) nnz) between global relabels, O(n nnz) in all.
    void improve() {
        if (active_.empty()) return;
        run_.team.for_each(a_.n_cols, grain, [&](Index j) {
            const Index i = m_.col_mate[j];
            column_[j] = {Index{i != UNMATCHED<Index>}, i};
        });
        if (t_) push_with_exact_labels();
        else push_with_lower_bounds();
        run_.team.for_each(a_.n_cols, grain, [&](Index j) { m_.col_mate[j] = column_[j].mate; });
        for (const auto& worker : workers_) run_.stats.augmentations += worker->augmentations;
    }

  private:
    void push_with_exact_labels() {
        while (!active_.empty() && !run_.stopped() && !run_.exhausted()) {
            relabel_globally();
            if (run_.stopped()) return;
            std::erase_if(active_, [&](Index i) { return !exact_.has_reached(i); });
            std::int64_t left = interval_;
            while (!active_.empty() && left > 0 && !run_.stopped()) left -= push_round(left);
            free_the_active();
        }
    }

    // Gives up if interval_ relabels have matched no row, or if one is left, which may never end.
    // Where few are active few workers push, and each relabel counts for those that wait, too.
    void push_with_lower_bounds() {
        if constexpr (!Threads) {
            std::fill(count_.begin(), count_.end(), Index{0});
            for (Index j = 0; j < a_.n_cols; ++j) ++count_[column_[j].label];
        }
        std::int64_t idle = 0;
        while (active_.size() > 1 && idle < interval_ && !run_.stopped() && !run_.exhausted()) {
            const std::size_t before = active_.size();
            const auto times = static_cast<std::int64_t>(workers_.size() / n_pushing());
            const std::int64_t relabels = times * push_round(interval_);
            idle = active_.size() < before ? 0 : idle + relabels;
            from_own_place_ = run_.edges() > a_.nnz();
        }
        free_the_active();
        if (!active_.empty()) run_.give_up();
    }

    // Rows that wait are active again; the mates of all of these are made up to date.
    void free_the_active() {
        for (const auto& worker : workers_) {
            active_.insert(active_.end(), worker->waiting.begin(), worker->waiting.end());
            worker->waiting.clear();
        }
        for (const Index i : active_) m_.row_mate[i] = UNMATCHED<Index>;
    }

    std::size_t n_pushing() const {
        return std::clamp<std::size_t>(active_.size() / least_active, 1, workers_.size());
    }
    // These workers push some active rows each. Returns the relabels.
    std::int64_t push_round(std::int64_t most) {
        const std::size_t n = active_.size(), n_workers = n_pushing();
        spare_.resize(n);  // rows that have waited are more than the last round has left
        const auto share = [&](std::int64_t all) {
            return std::max<std::int64_t>(1, all / static_cast<std::int64_t>(n_workers));
        };
        const auto quota = std::min(share(most), std::clamp(share(4 * static_cast<std::int64_t>(n)),
                                                            least_pushes, most_pushes));
        for (std::size_t rank = 0; rank < n_workers; ++rank) {
            const std::size_t begin = n * rank / n_workers, end = n * (rank + 1) / n_workers;
            workers_[rank]->active = {active_.data() + begin, end - begin};
        }
        if (n_workers == 1) push_some(*workers_[0], quota);
        else
            run_.team.each([&](int rank) {
                if (rank < static_cast<int>(n_workers)) push_some(*workers_[rank], quota);
            });
        std::int64_t relabels = 0;
        std::size_t size = 0;  // never above n: a push makes at most one row active, its own is not
        for (std::size_t rank = 0; rank < n_workers; ++rank) {
            size = workers_[rank]->active.copy_to(spare_.data(), size);
            relabels += std::exchange(workers_[rank]->relabels, 0);
        }
        SPARSEMATCH_ASSERT(size <= n);
        active_.swap(spare_);
        active_.resize(size);
        return relabels;
    }

    void push_some(Worker& worker, std::int64_t quota) {
        ActiveRows<Index>& active = worker.active;
        for (; quota > 0 && active.size() > 0; --quota) {
            active.prefetch(a_, column_.data(), m_.row_mate);
            const Index displaced = push(worker, active.pop());
            if (displaced != UNMATCHED<Index>) active.append(displaced);
        }
    }

    // Matches row i to its column of least label. Returns the displaced row, or UNMATCHED.
    Index push(Worker& worker, Index i) {
        const Index first = a_.indptr[i], last = a_.indptr[i + 1];
        Index least = infinite_, second = infinite_, best = UNMATCHED<Index>;
        const auto scan = [&](Index p) SPARSEMATCH_INLINE {
            const Index j = a_.indices[p], d = peek(column_[j].label);
            const bool less = d < least;  // branch-free selection (decision 0005)
            second = less ? least : j == best ? second : std::min(second, d);
            best = less ? j : best;
            least = less ? d : least;
        };
        if (from_own_place_) {
            const auto own = static_cast<Index>(multiply_wide(hash(i), last - first).high);
            for (Index p = first + own; p < last; ++p) scan(p);
            for (Index p = first; p < first + own; ++p) scan(p);
        } else if (forward_)
            for (Index p = first; p < last; ++p) scan(p);
        else
            for (Index p = last; p-- > first;) scan(p);
        worker.counter.add(last - first);
        if (least >= infinite_) {
            if constexpr (Threads) worker.waiting.push_back(i);
            else m_.row_mate[i] = UNMATCHED<Index>;  // no free column is reached from here, ever
            return UNMATCHED<Index>;
        }
        poke(m_.row_mate[i], best);
        const Index old = replace(column_[best].mate, i);
        worker.augmentations += old == UNMATCHED<Index>;
        // displaced, the row will choose its second best
        raise(column_[best], least, std::min<Index>(second + (second < infinite_), infinite_));
        ++worker.relabels;
        return old;
    }

    static Index replace(Index& place, Index value) {
        if constexpr (Threads)
            return std::atomic_ref<Index>(place).exchange(value, std::memory_order_acq_rel);
        else return std::exchange(place, value);
    }

    void raise(Column& column, Index from, Index to) {
        if constexpr (Threads) {
            if (to > peek(column.label)) poke(column.label, to);
        } else {
            if (to <= from) return;
            column.label = to;
            ++count_[to];
            if (--count_[from] == 0 && options_.gap && from > 0) close_gap(from);
        }
    }

    // No column has label d: those above reach no free one. At most once per n_cols edges scanned.
    void close_gap(Index d) {
        const std::int64_t edges = run_.edges() + workers_[0]->counter.unflushed();
        if (edges < next_gap_) return;
        next_gap_ = edges + a_.n_cols;
        for (Index j = 0; j < a_.n_cols; ++j) {
            Index& label = column_[j].label;
            if (label <= d || label >= infinite_) continue;
            --count_[label];
            ++count_[infinite_];
            label = infinite_;
        }
    }

    void relabel_globally() {
        auto timer = run_.time("global relabel");
        forward_ = !options_.fairness || !forward_;
        std::fill(count_.begin(), count_.end(), Index{0});
        exact_.find(*t_, column_.data(), m_.row_mate, infinite_, run_,
                    [&](Index label, std::size_t n) {
                        if constexpr (!Threads) count_[label] = static_cast<Index>(n);
                    });
    }

    const Csr<Index>& a_;
    const Csr<Index>* const t_;
    const Matching<Index> m_;
    const PushRelabelOptions& options_;
    RunContext& run_;
    const std::int64_t interval_;
    const Index infinite_;
    std::vector<Index> active_, spare_;
    Buffer<Column> column_;
    ExactLabels<Threads, Index> exact_;
    Buffer<Index> count_;  // columns of each label; of one worker
    std::vector<std::unique_ptr<Worker>> workers_;
    std::int64_t next_gap_ = 0;
    bool forward_ = false, from_own_place_ = false;
};

template <class Index>
void push_relabel(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                  const PushRelabelOptions& options, RunContext& run) {
    if (run.team.size() > 1) PushRelabel<true, Index>(a, transposed, m, options, run).improve();
    else PushRelabel<false, Index>(a, transposed, m, options, run).improve();
}

}  // namespace sparsematch
