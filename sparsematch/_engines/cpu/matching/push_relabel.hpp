// Push-relabel: an active row pushes itself onto its nearest column, and the displaced row becomes
// active in its place.
//
// Kaya, Langguth, Manne, Ucar: Push-relabel based algorithms for the maximum transversal problem
// (Computers & OR 40, 2013); Deveci et al. (ICPP 2013), Algorithms 1 and 2, with rows and columns
// exchanged. The paper's psi of a column is label[j]: a lower bound on its distance to a free
// column, counted in columns (half of psi, so that it fits the index type); psi of a row is not
// stored, being the least label of its list plus one. First in, first out; exact labels initially
// and after every k (n_rows + n_cols) relabels; gap: when no column has label d any more, no column
// above d reaches a free one. Not in the paper: without a transpose nothing is relabelled globally;
// labels begin as 0 or 1, which are lower bounds, too, and pushes alone raise them.
// Invariant: labels only rise, and a matched column stays matched.
#pragma once

#include <vector>

#include "core/append_unseen.hpp"
#include "core/csr.hpp"
#include "core/free_rows.hpp"
#include "core/options.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

struct PushRelabelOptions {
    // Relabel globally after k (n_rows + n_cols) relabels; without a transpose, give up after so
    // many that have matched no row.
    double k = 0.3;
    // Alternate the direction in which lists are scanned.
    bool fairness = true;
    // Relabel columns above an empty label at once.
    bool gap = true;

    static constexpr auto fields() {
        return std::tuple{Option{"k", &PushRelabelOptions::k},
                          Option{"fairness", &PushRelabelOptions::fairness},
                          Option{"gap", &PushRelabelOptions::gap}};
    }
};

template <class Index>
class PushRelabel {
  public:
    PushRelabel(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                const PushRelabelOptions& options, RunContext& run)
        : a_(a), t_(transposed), m_(m), options_(options), run_(run), counter_(run),
          infinite_(std::min(a.n_rows, a.n_cols) + 1), active_(free_rows(a, m)), label_(a.n_cols),
          queue_(static_cast<std::size_t>(a.n_cols) + active_.size() + 1),
          count_(static_cast<std::size_t>(infinite_) + 1), row_seen_(a.n_rows) {}

    // Reads: both orientations, or one. Writes: both mates. Workspace: two indices per column, one
    // per label, two per active row.
    // Time: O(sqrt(n) nnz) between global relabels, O(n nnz) in all.
    void improve() {
        const double pace =
            options_.k * (static_cast<double>(a_.n_rows) + static_cast<double>(a_.n_cols));
        const auto interval = static_cast<std::int64_t>(std::max(pace, 1.0));
        n_active_ = active_.size();
        if (t_) push_with_exact_labels(interval);
        else push_with_lower_bounds(interval);
    }

  private:
    void push_with_exact_labels(std::int64_t interval) {
        std::int64_t relabels = interval;
        while (n_active_ > 0 && !run_.stopped()) {
            if (relabels >= interval) {
                if (run_.exhausted()) return;
                relabel_globally();
                relabels = 0;
            }
            push_next(relabels);
        }
    }

    // Gives up if so many relabels have matched no row.
    void push_with_lower_bounds(std::int64_t patience) {
        constexpr std::int64_t between_checks = 1 << 12;  // relabels
        std::fill(count_.begin(), count_.end(), Index{0});
        for (Index j = 0; j < a_.n_cols; ++j)
            ++count_[label_[j] = m_.col_mate[j] != UNMATCHED<Index>];
        std::int64_t relabels = 0;
        while (n_active_ > 0 && !run_.stopped()) {
            if (relabels >= patience) return run_.give_up();
            if (relabels % between_checks == 0 && run_.exhausted()) return;
            const std::int64_t matched = run_.stats.augmentations;
            push_next(relabels);
            if (run_.stats.augmentations > matched) relabels = 0;
        }
    }

    // Of the k-th active row from the head: a ring, as there are never more than initially.
    std::size_t place(std::size_t k) const {
        return head_ + k < active_.size() ? head_ + k : head_ + k - active_.size();
    }

    // What the next pushes read: their lists, then the labels and mates of the first columns.
    SPARSEMATCH_INLINE void prefetch() const {
        if (n_active_ <= 16) return;
        const auto next = [&](std::size_t k) SPARSEMATCH_INLINE { return active_[place(k)]; };
        PrefetchAhead<8>::lists(a_, next, std::size_t{0}, n_active_);
        const Index soon = active_[place(4)], first = a_.indptr[soon],
                    last = std::min(a_.indptr[soon + 1], first + 8);
        for (Index p = first; p < last; ++p) {
            SPARSEMATCH_PREFETCH(&label_[a_.indices[p]]);
            SPARSEMATCH_PREFETCH(&m_.col_mate[a_.indices[p]], 1);
        }
    }

    // Pushes the active row at the head; what it displaces becomes active at the tail.
    SPARSEMATCH_INLINE void push_next(std::int64_t& relabels) {
        prefetch();
        const Index displaced = push(active_[head_], relabels);
        head_ = head_ + 1 == active_.size() ? 0 : head_ + 1;
        --n_active_;
        if (displaced != UNMATCHED<Index>) active_[place(n_active_++)] = displaced;
    }

    // Matches row i to its column of least label. Returns the displaced row, or UNMATCHED.
    Index push(Index i, std::int64_t& relabels) {
        const Index first = a_.indptr[i], last = a_.indptr[i + 1];
        Index least = infinite_, second = infinite_, best = UNMATCHED<Index>;
        const auto scan = [&](Index p) {
            const Index j = a_.indices[p], d = label_[j];
            const bool less = d < least;  // branch-free selection (decision 0005)
            second = less ? least : j == best ? second : std::min(second, d);
            best = less ? j : best;
            least = less ? d : least;
        };
        if (forward_)
            for (Index p = first; p < last; ++p) scan(p);
        else
            for (Index p = last; p-- > first;) scan(p);
        counter_.add(last - first);
        // no free column can be reached from here, ever
        if (least >= infinite_) return UNMATCHED<Index>;
        const Index old = m_.col_mate[best];
        m_.match(i, best);
        if (old == UNMATCHED<Index>) ++run_.stats.augmentations;
        else m_.row_mate[old] = UNMATCHED<Index>;
        raise(best, least, std::min<Index>(second + (second < infinite_), infinite_));
        ++relabels;
        return old;
    }

    // The row now matched to column j will, when displaced, choose its second best: the label of j
    // rises to that distance.
    void raise(Index j, Index from, Index to) {
        to = std::max<Index>(to, from);
        if (to == from) return;
        label_[j] = to;
        ++count_[to];
        if (--count_[from] == 0 && options_.gap && from > 0) close_gap(from);
    }

    // No column has label d: from those above it no free column can be reached any more. At most
    // once per n_cols edges scanned.
    void close_gap(Index d) {
        if (run_.edges() + 1 < next_gap_) return;
        next_gap_ = run_.edges() + a_.n_cols;
        for (Index j = 0; j < a_.n_cols; ++j) {
            if (label_[j] <= d || label_[j] >= infinite_) continue;
            --count_[label_[j]];
            ++count_[infinite_];
            label_[j] = infinite_;
        }
    }

    // Exact distances, by breadth-first search from the free columns.
    void relabel_globally() {
        auto timer = run_.time("global relabel");
        ++run_.stats.phases;
        forward_ = !options_.fairness || !forward_;
        std::fill(label_.begin(), label_.end(), infinite_);
        std::fill(count_.begin(), count_.end(), Index{0});
        row_seen_.fill(false);
        Index begin = 0, end = 0, level = 0;
        for (Index j = 0; j < a_.n_cols; ++j)
            if (m_.col_mate[j] == UNMATCHED<Index>) label_[queue_[end++] = j] = 0;
        count_[0] = end;
        for (; begin < end; ++run_.stats.levels) {
            const Index rows = append_rows(begin, end);
            if (run_.stopped()) return;
            begin = std::exchange(end, follow_mates(end, rows, ++level));
            count_[level] = end - begin;
        }
        count_[infinite_] = a_.n_cols - end;
    }

    // Appends to the queue the unseen rows of its columns begin..end-1; returns where they end.
    Index append_rows(Index begin, Index end) {
        Index* const queue = queue_.data();
        Index size = end;
        for (Index k = begin; k < end; ++k) {
            PrefetchAhead<12>::lists(*t_, queue, k, end);
            size = append_unseen(t_->neighbours(queue[k]), row_seen_, queue, size);
            if (!counter_.add(t_->degree(queue[k]))) break;
        }
        return size;
    }

    // Replaces rows begin..end-1 of the queue by their mates, which are new too, and labels these.
    Index follow_mates(Index begin, Index end, Index level) {
        Index* const queue = queue_.data();
        Index size = begin;
        for (Index k = begin; k < end; ++k) {
            PrefetchAhead<16>::mate_values(label_.data(), m_.row_mate, queue, k, end);
            const Index j = m_.row_mate[queue[k]];
            if (j == UNMATCHED<Index>) continue;
            label_[j] = level;
            queue[size++] = j;
        }
        return size;
    }

    const Csr<Index>& a_;
    const Csr<Index>* const t_;
    const Matching<Index> m_;
    const PushRelabelOptions& options_;
    RunContext& run_;
    WorkCounter counter_;
    const Index infinite_;
    std::vector<Index> active_;  // a ring
    std::size_t head_ = 0, n_active_ = 0;
    Buffer<Index> label_, queue_, count_;
    Bitmap row_seen_;
    std::int64_t next_gap_ = 0;
    bool forward_ = false;
};

template <class Index>
void push_relabel(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m,
                  const PushRelabelOptions& options, RunContext& run) {
    PushRelabel<Index>(a, transposed, m, options, run).improve();
}

}  // namespace sparsematch
