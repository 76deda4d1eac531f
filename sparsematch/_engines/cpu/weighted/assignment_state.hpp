// What the steps of an assignment share: the matrix, the duals, the matching and the free rows.
//
// Invariant between two steps: duals u of rows and v of columns keep every reduced cost
// c - u_i - v_j at least 0, up to rounding, and that of matched entries at 0. So a matching of all
// rows costs least (of its square matrix; of a wide one if no column has a larger v than a free).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

template <class Index> struct AssignmentState {
    using Claim = std::uint16_t;

    // What a scan reads of a column, side by side.
    struct Column {
        double v, distance;
        Index mate, parent;
    };

    AssignmentState(const Csr<Index>& a, const double* cost, double* u, RunContext& run)
        : a(a), cost(cost), u(u), run(run), shared(run.team.size() > 1), counter(run),
          col(a.n_cols), col_of(a.n_rows) {
        unmatch_all();
        if (shared) claims = Buffer<Claim>(a.n_cols, 0);
    }

    // Before a worker changes a column's dual or pair. Of other columns it may read the dual, which
    // only falls meanwhile, and whether there is a pair. False: it is another worker's.
    bool claim(Index j, int rank) {
        Claim unclaimed = 0;
        return !shared || std::atomic_ref(claims[j]).compare_exchange_strong(
                              unclaimed, static_cast<Claim>(rank + 1), std::memory_order_acquire,
                              std::memory_order_relaxed);
    }
    void release(Index j) {
        if (shared) poke(claims[j], 0, std::memory_order_release);
    }

    void unmatch_all() {
        for (Column& c : col) c = {0, infinity, UNMATCHED<Index>, UNMATCHED<Index>};
        for (Index& j : col_of) j = UNMATCHED<Index>;
    }

    bool wide() const { return a.n_rows < a.n_cols; }

    // The unit of work that budgets are counted in: one pass over the matrix.
    std::int64_t pass() const { return static_cast<std::int64_t>(a.nnz()) + a.n_rows; }

    // False: the run was stopped.
    bool scanned(Index i) {
        work += a.degree(i) + 1;
        return counter.add(a.degree(i) + 1);
    }

    void match(Index i, Index j) {
        poke(col[j].mate, i);
        col_of[i] = j;
    }

    // The same; returns the row that had the column, which is free now, if any.
    Index displace(Index i, Index j) {
        const Index displaced = col[j].mate;
        if (displaced != UNMATCHED<Index>) col_of[displaced] = UNMATCHED<Index>;
        match(i, j);
        return displaced;
    }

    // The entry with the best column of a row, and the cost less dual of it and of the next best:
    // infinite where there is none. Without branches, which would not be predicted: half the time.
    struct Offer {
        Index best;
        double first, second;
    };
    template <class Dual> Offer offer(Index i, const Dual& dual) const {
        const auto scan = [&](const auto& read) {
            Offer o{UNMATCHED<Index>, infinity, infinity};
            for (Index p = a.indptr[i], end = a.indptr[i + 1]; p < end; ++p) {
                const double h = cost[p] - read(dual(a.indices[p]));
                o.second = std::min(o.second, std::max(o.first, h));
                o.best = h < o.first ? p : o.best;
                o.first = std::min(o.first, h);
            }
            return o;
        };
        // a shared read takes a tenth longer
        return shared ? scan([](double& v) { return peek(v); }) : scan([](double v) { return v; });
    }

    // Exchanges the pairs along the path of parents from column j back to the free row.
    template <class ParentOf> void augment(Index source, Index j, const ParentOf& parent_of) {
        for (Index i = UNMATCHED<Index>, before; i != source; j = before) {
            i = parent_of(j), before = col_of[i];
            match(i, j);
        }
    }
    void augment(Index source, Index j) {
        augment(source, j, [this](Index k) { return col[k].parent; });
    }

    // Fetches what scans of three rows will read, the first of which comes last: where it is; its
    // entries; what these name. UNMATCHED: none.
    void prefetch(Index first, Index second, Index third) const {
        if (first != UNMATCHED<Index>) {
            SPARSEMATCH_PREFETCH(&a.indptr[first]);
            SPARSEMATCH_PREFETCH(&u[first]);
        }
        if (second != UNMATCHED<Index>) {
            SPARSEMATCH_PREFETCH(&a.indices[a.indptr[second]]);
            SPARSEMATCH_PREFETCH(&cost[a.indptr[second]]);
        }
        if (third != UNMATCHED<Index>) {
            const Index* row = a.indices + a.indptr[third];
            for (Index k = 0; k < std::min<Index>(8, a.degree(third)); ++k)
                SPARSEMATCH_PREFETCH(&col[row[k]], 1);
        }
    }

    const Csr<Index>& a;
    const double* cost;
    double* u;
    RunContext& run;
    const bool shared;  // by several workers
    WorkCounter counter;
    Buffer<Column> col;
    Buffer<Index> col_of;
    Buffer<Claim> claims;     // of columns: the rank of a worker, from 1 on
    std::vector<Index> free;  // rows
    Index n_tied = 0;         // rows that several columns suited best when duals were fitted
    std::int64_t work = 0;    // entries and rows scanned
};

}  // namespace sparsematch
