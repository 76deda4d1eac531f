// Assignment of least total cost in which a column takes several rows, up to its capacity.
//
// Shortest augmenting paths over reduced costs from one row after the other, as in path_search, to
// the nearest column with room: these keep a dual of 0, the largest. A full column passes on
// whichever of its rows loses least elsewhere: a heap by that loss spares the scan of most. As
// duals of columns only fall, losses only grow: one found earlier is a lower bound.
// Ahuja, Magnanti, Orlin: Network flows (Prentice Hall, 1993), section 9.7.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "weighted/radix_heap.hpp"

namespace sparsematch {

template <class Index> class CapacitatedAssignment {
  public:
    // Writes the column of each row, and duals, given distinct entries. Some rows have none, and
    // duals no use, where not all can be matched. Time: O(n_rows nnz log nnz) at worst, rarely.
    static void solve(const Csr<Index>& a, const double* cost, const Index* capacity,
                      Index* row_mate, double* u, double* v, RunContext& run) {
        const auto timer = run.time("searches");
        CapacitatedAssignment s(a, cost, capacity, run);
        for (Index i = 0; i < a.n_rows; ++i)
            if (!s.search(i)) return;
        for (Index j = 0; j < a.n_cols; ++j) v[j] = s.col_[j].v;
        for (Index i = 0; i < a.n_rows; ++i) {
            const Index p = s.pair_[i];
            row_mate[i] = p == UNMATCHED<Index> ? p : a.indices[p];
            u[i] = p == UNMATCHED<Index> ? 0 : cost[p] - v[a.indices[p]];
        }
    }

  private:
    // Its rows are in places from `first` on: a heap, and after it rows scanned in this search.
    struct Column {
        double v = 0, distance = infinity, next = infinity;  // next: distance of the heap's first
        Index parent = 0, entry = 0;                         // row it is reached from, by an entry
        Index first = 0, capacity = 0, size = 0, heaped = 0;
    };
    struct Place {
        double loss;  // a lower bound: least cost less dual of other columns, less the cost here
        Index row;
        bool operator<(const Place& other) const { return loss > other.loss; }
    };

    CapacitatedAssignment(const Csr<Index>& a, const double* cost, const Index* capacity,
                          RunContext& run)
        : a_(a), cost_(cost), counter_(run), col_(a.n_cols, Column{}),
          pair_(a.n_rows, UNMATCHED<Index>), places_(a.nnz()) {
        for (Index p = 0; p < a.nnz(); ++p) ++col_[a.indices[p]].capacity;
        Index first = 0;
        for (Index j = 0; j < a.n_cols; first += col_[j++].capacity) {
            SPARSEMATCH_ASSERT(capacity[j] >= 0);
            col_[j].first = first;
            col_[j].capacity = std::min(capacity[j], col_[j].capacity);
        }
    }

    // Matches the row, if it can be. False: the run was stopped.
    bool search(Index source) {
        level_ = 0, best_ = infinity, end_ = UNMATCHED<Index>;
        double least = infinity;
        for (Index p = a_.indptr[source]; p < a_.indptr[source + 1]; ++p)
            least = std::min(least, cost_[p] - col_[a_.indices[p]].v);
        if (least < infinity) scan(source, -least);
        for (Index j; best_ > level_ && (j = next()) != UNMATCHED<Index> && best_ > level_;) {
            auto& col = col_[j];
            std::pop_heap(&places_[col.first], &places_[col.first] + col.heaped--);
            auto& [loss, i] = places_[col.first + col.heaped];
            const double own = cost_[pair_[i]];
            loss = std::max(loss, scan(i, col.distance - (own - col.v)) - own);
            queue(j);
            if (!counter_.add(a_.degree(i) + 1)) return false;
        }
        const bool found = end_ != UNMATCHED<Index>;
        if (found) augment();
        for (const Index j : touched_) {
            auto& col = col_[j];
            col.v -= found ? std::max(0.0, best_ - col.distance) : infinity;  // full for good
            col.distance = infinity;
            while (col.size == col.capacity && col.heaped < col.size)
                std::push_heap(&places_[col.first], &places_[col.first] + ++col.heaped);
        }
        touched_.clear(), heap_.clear(), taken_ = 0;
        return counter_.add(a_.degree(source) + 1);
    }

    // Returns the least cost less dual of other columns than the row's own, or -infinity if the
    // scan ended at the nearest column with room.
    double scan(Index i, double base) {
        double least = infinity;
        for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
            if (p == pair_[i]) continue;
            const Index j = a_.indices[p];
            auto& col = col_[j];
            const double h = cost_[p] - col.v, d = std::max(base + h, level_);  // rounding
            least = std::min(least, h);
            if (d >= best_ || d >= col.distance) continue;
            col.parent = i, col.entry = p;
            if (col.size < col.capacity) {
                best_ = d, end_ = j;
                if (d <= level_) return -infinity;
                continue;
            }
            if (col.distance == infinity) touched_.push_back(j);
            col.distance = d;
            queue(j);
        }
        return least;
    }

    // Notes when the next row of the column is due, unless beyond the nearest column with room.
    void queue(Index j) {
        auto& col = col_[j];
        const double loss = col.heaped ? places_[col.first].loss + col.v : infinity;
        col.next = col.distance + std::max(0.0, loss);
        if (col.next < best_) heap_.push(col.next, j);
    }

    // The column whose row is due next, if any.
    Index next() {
        const auto is_current = [this](const auto& e) { return e.key == col_[e.j].next; };
        for (;; taken_ = 0, level_ = heap_.least()[0].key) {
            while (taken_ < heap_.least().size()) {
                const Index j = heap_.least()[taken_++].j;
                if (col_[j].next == level_) return j;
            }
            if (!heap_.advance(is_current)) return UNMATCHED<Index>;
        }
    }

    // Along the path, each row takes the place of the one that leaves.
    void augment() {
        touched_.push_back(end_);
        Index place = col_[end_].first + col_[end_].size++;
        for (Index j = end_;;) {
            const Index i = col_[j].parent, before = std::exchange(pair_[i], col_[j].entry);
            places_[place] = {-infinity, i};
            if (before == UNMATCHED<Index>) return;
            j = a_.indices[before];
            place = col_[j].first + col_[j].heaped;
            while (places_[place].row != i) ++place;
            SPARSEMATCH_ASSERT(place < col_[j].first + col_[j].size);
        }
    }

    const Csr<Index>& a_;
    const double* cost_;
    WorkCounter counter_;
    Buffer<Column> col_;
    Buffer<Index> pair_;  // of a row: its entry
    Buffer<Place> places_;
    std::vector<Index> touched_;
    RadixHeap<Index> heap_;
    std::size_t taken_ = 0;  // of the nearest columns
    double level_ = 0, best_ = 0;
    Index end_ = UNMATCHED<Index>;
};

}  // namespace sparsematch
