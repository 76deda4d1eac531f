// Push-relabel: free rows push themselves onto their nearest column, and the row thrown out becomes active in its place.
//
// Kaya, Langguth, Manne, Ucar: Push-relabel based algorithms for the maximum transversal problem (Computers & OR 40, 2013);
// Deveci et al. (ICPP 2013), Algorithms 1 and 2, with rows and columns exchanged. The paper's psi of a column is label[j]: a
// lower bound on its distance to a free column, counted in columns (half of psi, so that it fits the index type); psi of a
// row is never stored, being the least label of its list plus one.
// First in, first out; exact labels at the start and after every k (n_rows + n_cols) relabels; gap: when no column has
// label d any more, no column above d reaches a free one.
// Invariant: labels only rise, and a matched column stays matched.
#pragma once

#include <vector>

#include "csr.hpp"
#include "free_rows.hpp"
#include "run.hpp"

namespace sparsematch {

template <class Index>
class PushRelabel {
  public:
    PushRelabel(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m, const Options& options, Run& run)
        : a_(a), t_(transposed), m_(m), options_(options), run_(run), meter_(run), infinite_(std::min(a.n_rows, a.n_cols) + 1),
          label_(a.n_cols), queue_(a.n_cols), count_(static_cast<std::size_t>(infinite_) + 1), row_seen_(a.n_rows) {}

    // Reads: both orientations. Writes: both mates. Workspace: two indices per column, two per label, the ring of active
    // rows. Time: O(sqrt(n) nnz) between global relabels, O(n nnz) in all.
    void improve() {
        auto active = free_rows(a_, m_);
        if (active.size() == 0) return;
        const double pace = options_.k * (static_cast<double>(a_.n_rows) + static_cast<double>(a_.n_cols));
        const auto patience = static_cast<std::int64_t>(std::max(pace, 1.0));
        std::size_t head = 0, n = active.size();  // active is a ring: as many rows stay free as were so at the start, at most
        std::int64_t relabels = patience;
        while (n > 0 && !run_.stopped()) {
            if (relabels >= patience) {
                if (run_.exhausted()) return;
                relabel_globally();
                relabels = 0;
            }
            prefetch(active, head, n);
            const Index thrown_out = push(active[head], relabels);
            head = head + 1 == active.size() ? 0 : head + 1;
            --n;
            if (thrown_out == UNMATCHED<Index>) continue;
            const std::size_t tail = head + n;
            active[tail >= active.size() ? tail - active.size() : tail] = thrown_out;
            ++n;
        }
    }

  private:
    // The lists of the next active rows lie at random places: asked for a few turns ahead.
    [[gnu::always_inline]] void prefetch(const std::vector<Index>& active, std::size_t head, std::size_t n) const {
        const auto later = [&](std::size_t k) {
            return active[head + k < active.size() ? head + k : head + k - active.size()];
        };
        if (n > 12) __builtin_prefetch(&a_.indptr[later(12)]);
        if (n > 6) __builtin_prefetch(&a_.indices[a_.indptr[later(6)]]);
    }

    // Row i takes its column of least label. Returns the row that had it, or UNMATCHED.
    Index push(Index i, std::int64_t& relabels) {
        const Index first = a_.indptr[i], last = a_.indptr[i + 1];
        Index least = infinite_, second = infinite_, best = UNMATCHED<Index>;
        const auto look = [&](Index p) {
            const Index j = a_.indices[p], d = label_[j];
            if (d < least) second = std::exchange(least, d), best = j;
            else if (d < second && j != best) second = d;
        };
        if (forward_)
            for (Index p = first; p < last; ++p) look(p);
        else
            for (Index p = last; p-- > first;) look(p);
        meter_.charge(last - first);
        if (least >= infinite_) return UNMATCHED<Index>;  // no free column can be reached from here, ever
        const Index old = m_.col_mate[best];
        m_.match(i, best);
        if (old == UNMATCHED<Index>) ++run_.stats.augmentations;
        else m_.row_mate[old] = UNMATCHED<Index>;
        raise(best, least, std::min<Index>(second + (second < infinite_), infinite_));
        ++relabels;
        return old;
    }

    // The row now on column j will, when thrown out, find its second best: the label of j rises to that distance.
    void raise(Index j, Index from, Index to) {
        to = std::max<Index>(to, from);
        if (to == from) return;
        label_[j] = to;
        ++count_[to];
        if (--count_[from] == 0 && options_.gap && from > 0) close_gap(from);
    }

    // No column has label d: those above it have lost their way to a free column. Looked for at most once per n_cols scanned.
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

    // Exact distances, by breadth-first search from the free columns against the direction of the pushes.
    void relabel_globally() {
        auto timer = run_.time("global relabel");
        ++run_.stats.phases;
        forward_ = !options_.fairness || !forward_;
        std::fill(label_.begin(), label_.end(), infinite_);
        std::fill(count_.begin(), count_.end(), Index{0});
        Index tail = 0;
        for (Index j = 0; j < a_.n_cols; ++j)
            if (m_.col_mate[j] == UNMATCHED<Index>) label_[queue_[tail++] = j] = 0;
        count_[0] = tail;
        row_seen_.fill(false);
        for (Index head = 0; head < tail; ++head) {
            const Index j = queue_[head];
            if (head + 12 < tail) __builtin_prefetch(&t_.indptr[queue_[head + 12]]);
            if (head + 6 < tail) __builtin_prefetch(&t_.indices[t_.indptr[queue_[head + 6]]]);
            for (Index p = t_.indptr[j]; p < t_.indptr[j + 1]; ++p) {
                if (!row_seen_.claim<false>(t_.indices[p])) continue;
                const Index k = m_.row_mate[t_.indices[p]];
                if (k == UNMATCHED<Index>) continue;
                label_[k] = label_[j] + 1;  // its mate is seen for the first time, so it is too
                ++count_[label_[k]];
                queue_[tail++] = k;
            }
            if (!meter_.charge(t_.degree(j))) return;
        }
        count_[infinite_] = a_.n_cols - tail;
        if (tail > 0) run_.stats.levels += label_[queue_[tail - 1]] + 1;
    }

    const Csr<Index>&a_, &t_;
    const Matching<Index> m_;
    const Options& options_;
    Run& run_;
    Meter meter_;
    const Index infinite_;
    Buffer<Index> label_, queue_, count_;
    Bitmap row_seen_;
    std::int64_t next_gap_ = 0;
    bool forward_ = false;
};

template <class Index>
void push_relabel(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m, const Options& options, Run& run) {
    PushRelabel<Index>(a, *transposed, m, options, run).improve();
}

}  // namespace sparsematch
