// The two owners of Karp-Sipser's residual degrees: their steps, whether two threads take them or
// one. karp_sipser.hpp has the diagram.
#pragma once

#include <cstddef>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "core/spsc_ring.hpp"
#include "matching/karp_sipser/residual_degrees.hpp"

namespace sparsematch {

template <class Index>
struct OwnedSides {
    static constexpr int batch = DegreeOneStack<Index>::batch;
    struct Pair {
        Index row, col;
        bool is_last;  // the column has no other live row that would lose it
    };

    OwnedSides(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m, bool with_xor)
        : m(m), rows(a, m.row_mate, with_xor), cols(transposed, m.col_mate, with_xor) {}

    const Matching<Index> m;
    ResidualSide<Index> rows, cols;
    SpscRing<Pair, batch> pairs, proposals;
};

// Removes vertices of one side, whose places in indptr have been prefetched: their neighbours lose
// one, and those left with one are pushed. Most lists are short and their ends mispredicted, so
// they are read once only, while the degrees are prefetched.
template <class Index>
void remove_vertices(const ResidualSide<Index>& side, const Index* removed, int n,
                     ResidualSide<Index>& other, DegreeOneStack<Index>& stack,
                     WorkCounter& counter) {
    constexpr int some = 256;
    Index lowered[some];
    int n_lowered = 0;
    const auto lower = [&] {
        stack.push_lowered(lowered, n_lowered, other.degree.data());
        counter.add(n_lowered);
        n_lowered = 0;
    };
    const bool with_xor = other.neighbours.size() > 0;
    for (int k = 0; k < n; ++k) side.prefetch_list(removed[k]);
    for (int k = 0; k < n; ++k)
        for (Index p = side.lists.indptr[removed[k]]; p < side.lists.indptr[removed[k] + 1]; ++p) {
            const Index w = side.lists.indices[p];
            SPARSEMATCH_PREFETCH(&other.degree[w], 1);
            if (with_xor) other.neighbours[w] ^= removed[k];
            lowered[n_lowered++] = w;
            if (n_lowered == some) lower();
        }
    lower();
}

// Owns the degrees of the rows.
template <class Index>
class RowOwner {
    static constexpr int batch = OwnedSides<Index>::batch;

  public:
    explicit RowOwner(OwnedSides<Index>& sides) : s_(sides), removed_(sides.cols.lists.n_rows) {}

    void start() { removed_.copy_inverse(s_.cols.free); }

    // Some of the work at hand; false if there is none. Less than a batch of proposals waits for
    // more.
    bool step(WorkCounter& counter) {
        return consume_pairs(counter) || propose(batch) || stack_.scan(s_.rows, n_scanned_);
    }
    // Proposes the rows of degree one, each with its last column, if there are enough.
    bool propose(std::size_t enough) {
        if (stack_.size() < enough || !s_.proposals.has_room()) return false;
        Index popped[batch];
        const int n =
            stack_.pop_batch(s_.rows, popped, [&](Index i) { return s_.rows.degree[i] == 1; });
        for (int k = 0; k < n; ++k) {
            const Index j =
                s_.rows.find_last(popped[k], [&](Index w) { return !removed_.test(w); });
            if (j != UNMATCHED<Index>) s_.proposals.push({popped[k], j, false});
        }
        s_.proposals.publish();
        return true;
    }
    bool has_work() { return !s_.pairs.empty() || (!is_idle() && s_.proposals.has_room()); }
    bool is_idle() const { return stack_.size() == 0; }
    std::size_t consumed() const { return s_.pairs.popped(); }

  private:
    // The rows of these pairs are matched; the columns are removed from their other rows.
    bool consume_pairs(WorkCounter& counter) {
        typename OwnedSides<Index>::Pair pairs[batch];
        Index removed[batch];
        const int n = s_.pairs.pop_batch(pairs);
        int n_removed = 0;
        for (int k = 0; k < n; ++k) {
            const auto [i, j, is_last] = pairs[k];
            removed_.set(j);
            s_.rows.degree[i] = ResidualSide<Index>::many;  // so that it is not queued any more
            removed[n_removed] = j;
            n_removed += !is_last;
            SPARSEMATCH_PREFETCH(&s_.cols.lists.indptr[j]);
        }
        remove_vertices(s_.cols, removed, n_removed, s_.rows, stack_, counter);
        return n > 0;
    }

    OwnedSides<Index>& s_;
    Bitmap removed_;  // columns of the pairs that were consumed
    DegreeOneStack<Index> stack_;
    Index n_scanned_ = 0;  // rows scanned for degree one
};

// Owns the degrees of the columns, the free vertices and the mates of both sides.
template <class Index>
class ColumnOwner {
    static constexpr int batch = OwnedSides<Index>::batch, picks = 16;

  public:
    explicit ColumnOwner(OwnedSides<Index>& sides)
        : s_(sides), next_pick_(sides.rows.lists.n_rows) {}

    void start_picks() { next_pick_ = 0; }
    bool has_picked_all() const { return next_pick_ == s_.rows.lists.n_rows; }
    // Where to write the rows of forced pairs, or null.
    void record(Index* forced) { forced_ = forced; }

    bool step(WorkCounter& counter, bool may_pick) {
        return accept_proposals() || match_degree_one(batch, counter) ||
               stack_.scan(s_.cols, n_scanned_) || (may_pick && pick(counter));
    }
    // Matches the columns of degree one, each to its last row, if there are enough.
    bool match_degree_one(std::size_t enough, WorkCounter& counter) {
        if (stack_.size() < enough || !s_.pairs.has_room()) return false;
        Index popped[batch], removed[batch];
        const int n =
            stack_.pop_batch(s_.cols, popped, [&](Index j) { return s_.cols.degree[j] == 1; });
        int n_removed = 0;
        for (int k = 0; k < n; ++k) {
            const Index i =
                s_.cols.find_last(popped[k], [&](Index v) { return s_.rows.free.test(v); });
            if (i == UNMATCHED<Index>) continue;
            SPARSEMATCH_PREFETCH(&s_.rows.lists.indptr[i]);
            match(i, popped[k]);
            if (forced_) forced_[s_.rows.lists.n_rows - ++n_by_col_] = i;
            removed[n_removed++] = i;
        }
        s_.pairs.publish();
        remove_vertices(s_.rows, removed, n_removed, s_.cols, stack_, counter);
        return true;
    }
    bool has_work() { return !s_.proposals.empty() && s_.pairs.has_room(); }
    std::size_t made() const { return s_.pairs.pushed(); }
    Index n_by_row() const { return n_by_row_; }
    Index n_by_col() const { return n_by_col_; }

  private:
    // Matches the proposed pairs whose ends are still free. No column loses the row: it had one.
    bool accept_proposals() {
        typename OwnedSides<Index>::Pair pairs[batch];
        if (!s_.pairs.has_room()) return false;
        const int n = s_.proposals.pop_batch(pairs);
        for (int k = 0; k < n; ++k)
            if (s_.rows.free.test(pairs[k].row) && s_.cols.free.test(pairs[k].col)) {
                match(pairs[k].row, pairs[k].col);
                if (forced_) forced_[n_by_row_++] = pairs[k].row;
            }
        s_.pairs.publish();
        return n > 0;
    }

    // The next free rows in order: each its column with the fewest live rows, or any where all that
    // are left have very many.
    bool pick(WorkCounter& counter) {
        if (has_picked_all() || !s_.pairs.has_room()) return false;
        const ResidualSide<Index>& rows = s_.rows;
        Index removed[picks], i = next_pick_;
        int n = 0;
        for (const Index n_rows = rows.lists.n_rows; i < n_rows && n < picks; ++i) {
            if (!rows.free.test(i)) continue;
            Index j = rows.find_least(i, s_.cols);
            if (j == UNMATCHED<Index>)
                j = rows.find(i, [&](Index w) { return s_.cols.free.test(w); });
            if (j == UNMATCHED<Index>) continue;
            match(i, j);
            removed[n++] = i;
        }
        next_pick_ = i;
        s_.pairs.publish();
        remove_vertices(rows, removed, n, s_.cols, stack_, counter);
        return true;
    }

    void match(Index i, Index j) {
        s_.rows.free.clear(i);
        s_.cols.free.clear(j);
        s_.m.match(i, j);
        s_.pairs.push({i, j, s_.cols.degree[j] == 1});
        s_.cols.degree[j] = ResidualSide<Index>::many;  // so that no row picks it
    }

    OwnedSides<Index>& s_;
    DegreeOneStack<Index> stack_;
    Index n_scanned_ = 0;  // columns scanned for degree one
    Index next_pick_;
    Index* forced_ = nullptr;  // as in Forced
    Index n_by_row_ = 0, n_by_col_ = 0;
};

}  // namespace sparsematch
