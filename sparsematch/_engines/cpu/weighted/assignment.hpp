// Assignment of least total cost: every row is matched to a column of its own, by shortest
// augmenting paths.
//
// A search grows a tree of shortest paths from a free row, by Dijkstra's algorithm over reduced
// costs, to the nearest free column, and no further; then the duals of the tree move by what is
// missing to that distance, and the search augments along the path.
// Duff, Koster: On algorithms for permuting large entries to the diagonal of a sparse matrix (SIAM
// J. Matrix Anal. Appl. 22, 2001): sparse Dijkstra that stops early. Jonker, Volgenant: A shortest
// augmenting path algorithm for dense and sparse linear assignment problems (Computing 38, 1987):
// column reduction, augmenting row reduction. Carpaneto, Toth: Primal-dual algorithms for the
// assignment problem (Discrete Appl. Math. 18, 1987): the sparse initialisation. Names: u, v as
// there; level is the distance of the row that is scanned, best that of the nearest free column.
// The start is made by all workers; the paths, which depend on each other, by one.
// Invariant: duals u of rows and v of columns keep every reduced cost c - u_i - v_j at least 0, and
// that of matched entries at 0; so the cost of a perfect matching is least.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Where the duals of an assignment begin: the least cost of each column, and what is left of that
// of each row.
//
// One array for each of several parts of the entries, infinite where a column has none: the least
// of them all is to be taken. Up to four workers have a part each, for one array that they share
// would keep moving between their caches. Workspace: a double per column and part. Time: O(n_cols +
// nnz).
template <class Index>
std::vector<Buffer<double>> column_minima(const Csr<Index>& a, const double* cost,
                                          RunContext& run) {
    constexpr int most = 4;  // workers
    const int n_parts = std::min(run.team.size(), most);
    std::vector<Buffer<double>> least(n_parts);
    run.team.loop(n_parts, 1, [&](int rank, int part, int end) {
        WorkCounter counter(run, rank);
        for (; part < end; ++part) {
            least[part] = Buffer<double>(a.n_cols, std::numeric_limits<double>::infinity());
            const Index share = a.nnz() / n_parts, first = part * share,
                        last = part + 1 < n_parts ? first + share : a.nnz();
            for (Index p = first; p < last; ++p) {
                double& v = least[part][a.indices[p]];
                v = std::min(v, cost[p]);
            }
            counter.add(last - first);
        }
    });
    return least;
}

// Writes u, the least cost less dual(j) of each row, and `to`, the first column where it is found,
// inverted if there is another one. False if a row has no entries, or the run was stopped. Time:
// O(n_rows + nnz).
template <class Index, class Dual>
bool row_minima(const Csr<Index>& a, const double* cost, const Dual& dual, double* u, Index* to,
                RunContext& run) {
    std::atomic<bool> complete{true};
    run.team.loop(a.n_rows, 1 << 13, [&](int rank, Index begin, Index end) {
        WorkCounter counter(run, rank);
        for (Index i = begin; i < end; ++i) {
            double least = std::numeric_limits<double>::infinity();
            Index first = UNMATCHED<Index>;
            bool tied = false;
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
                const double h = cost[p] - dual(a.indices[p]);
                tied = (tied && h >= least) || h == least;
                if (h < least) least = h, first = a.indices[p];
            }
            u[i] = least;
            to[i] = tied ? ~first : first;
            if (first == UNMATCHED<Index>) complete.store(false, std::memory_order_relaxed);
            if (!counter.add(a.degree(i))) return;
        }
    });
    return complete && !run.stopped();
}

template <class Index>
class Assignment {
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::size_t probe = 8;
    static constexpr std::int64_t rows_at_a_time = 1 << 13;

    // What a scan reads of a column, side by side.
    struct Column {
        double v, distance;
        Index mate, parent;
    };

  public:
    Assignment(const Csr<Index>& a, const double* cost, double* u, RunContext& run)
        : a_(a), c_(cost), u_(u), run_(run), counter_(run), col_(a.n_cols),
          col_of_(a.n_rows, UNMATCHED<Index>) {}

    // Reads: the matrix, n_rows <= n_cols, and a cost for each entry. Writes: mates and duals.
    // Returns whether every row is matched; free columns, if there are more columns than rows, then
    // have the largest v. Time: O(n_rows nnz log n_cols) at worst, rarely.
    bool solve(Matching<Index> m, double* v) {
        const bool feasible = initialise() && reduce_rows() && search_all();
        for (Index j = 0; j < a_.n_cols; ++j) {
            m.col_mate[j] = col_[j].mate;
            v[j] = col_[j].v;
        }
        std::copy(col_of_.begin(), col_of_.end(), m.row_mate);
        return feasible;
    }

  private:
    void match(Index i, Index j) {
        col_[j].mate = i;
        col_of_[i] = j;
    }

    // Duals: each column's least cost (0 if columns stay free: theirs must remain the largest),
    // each row's least reduced cost. Rows are matched along a reduced cost of 0 if that column is
    // free. What many workers find is what one finds.
    bool initialise() {
        auto timer = run_.time("start");
        const bool square = a_.n_rows == a_.n_cols;
        const auto least = square ? column_minima(a_, c_, run_) : std::vector<Buffer<double>>();
        run_.team.loop(a_.n_cols, rows_at_a_time, [&](int, Index begin, Index end) {
            for (Index j = begin; j < end; ++j) {
                double v = square ? infinity : 0.0;
                for (const auto& part : least) v = std::min(v, part[j]);
                col_[j] = {v, infinity, UNMATCHED<Index>, UNMATCHED<Index>};
            }
        });
        const auto dual = [this](Index j) { return col_[j].v; };
        return row_minima(a_, c_, dual, u_, col_of_.data(), run_) && match_tight();
    }

    // By ascending row: one after the other, for each takes what those before it have left.
    bool match_tight() {
        constexpr Index ahead = 16;
        for (Index i = 0; i < a_.n_rows; ++i) {
            const Index later = col_of_[std::min<Index>(i + ahead, a_.n_rows - 1)];
            SPARSEMATCH_PREFETCH(&col_[std::max(later, ~later)].mate, 1);
            const bool tied = col_of_[i] < 0;
            Index to = tied ? ~col_of_[i] : col_of_[i];
            if (tied && col_[to].mate != UNMATCHED<Index>) to = free_tight(i, to);
            col_of_[i] = UNMATCHED<Index>;
            if (col_[to].mate == UNMATCHED<Index>) match(i, to);
            else free_.push_back(i);
            if (!counter_.add(tied ? a_.degree(i) : 1)) return false;
        }
        return true;
    }
    Index free_tight(Index i, Index otherwise) const {
        for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
            const Index j = a_.indices[p];
            if (c_[p] - col_[j].v == u_[i] && col_[j].mate == UNMATCHED<Index>) return j;
        }
        return otherwise;
    }

    // Augmenting row reduction: a free row is matched to its best column, whose dual is lowered
    // until the second best is as good; the row displaced is next. Where the two are equal from the
    // start, the row displaced waits for the next round.
    bool reduce_rows() {
        auto timer = run_.time("reduce");
        std::int64_t budget = 4 * (static_cast<std::int64_t>(a_.nnz()) + a_.n_rows);
        std::vector<Index> waiting;
        for (int round = 0; round < 3 && !free_.empty(); ++round) {
            waiting.clear();
            for (std::size_t k = 0; k < free_.size(); ++k)
                for (Index i = free_[k]; i != UNMATCHED<Index>;) {
                    const Index degree = a_.degree(i);
                    budget -= degree;
                    if (budget < 0) {
                        waiting.push_back(i);
                        break;
                    }
                    if (!counter_.add(degree)) return false;
                    bool strictly;
                    const Index displaced = reduce_row(i, strictly);
                    if (displaced != UNMATCHED<Index> && !strictly) waiting.push_back(displaced);
                    i = strictly ? displaced : UNMATCHED<Index>;
                }
            free_.swap(waiting);
        }
        return true;
    }

    // Returns the row that is free now, if any. strictly: the best column was better than the
    // second.
    Index reduce_row(Index i, bool& strictly) {
        double first = infinity, second = infinity;
        Index best = UNMATCHED<Index>, next = UNMATCHED<Index>;
        for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
            const Index j = a_.indices[p];
            const double h = c_[p] - col_[j].v;
            if (h >= second) continue;
            if (h < first) second = std::exchange(first, h), next = std::exchange(best, j);
            else second = h, next = j;
        }
        strictly = first < second && next != UNMATCHED<Index>;
        if (!strictly && next != UNMATCHED<Index> && first == second &&
            col_[best].mate != UNMATCHED<Index>)
            std::swap(best, next);
        Column& col = col_[best];
        u_[i] = strictly ? second : first;
        if (strictly) col.v -= second - first;
        else if (col.mate != UNMATCHED<Index>) return i;
        const Index displaced = col.mate;
        if (displaced != UNMATCHED<Index>) col_of_[displaced] = UNMATCHED<Index>;
        match(i, best);
        return displaced;
    }

    bool costs_are_integers() const {
        return std::all_of(c_, c_ + a_.nnz(),
                           [](double c) { return c == std::floor(c) && std::abs(c) < 0x1p52; });
    }

    // Row by row. Where costs are integers, many paths are equally short: then all free rows search
    // together whenever that is expected to match more of them than as much work spent row by row,
    // by the last measurement of either.
    bool search_all() {
        auto timer = run_.time("search");
        const bool integers = free_.size() > probe && costs_are_integers();
        if (integers) seen_ = Buffer<Index>(a_.n_cols, 0), at_ = Buffer<Index>(a_.n_rows);
        double round_cost = static_cast<double>(a_.nnz()),
               gain = static_cast<double>(free_.size()) / 4;
        for (Index round = 1; !free_.empty(); ++round) {
            std::int64_t before = scanned_;
            std::size_t searched = 0;
            for (; searched < probe && !free_.empty(); ++searched, free_.pop_back())
                if (!search(free_.back())) return false;
            const double cost =
                static_cast<double>(scanned_ - before) / static_cast<double>(searched);
            const std::size_t n_free = free_.size();
            gain = std::min(gain, static_cast<double>(n_free));
            if (!integers || cost * gain < round_cost) continue;
            before = scanned_;
            if (!search_together(round)) return false;
            round_cost = static_cast<double>(scanned_ - before);
            gain = static_cast<double>(n_free - free_.size());
        }
        return true;
    }

    // Distances from all free rows at once, one move of the duals, and then as many paths of
    // reduced cost 0 as share no vertex.
    bool search_together(Index round) {
        begin();
        for (const Index i : free_) {
            if (best_ <= 0) break;
            if (!scan(i)) return false;
        }
        if (!grow(next()) || end_ == UNMATCHED<Index>) return false;
        move_duals();
        for (const Index i : free_) u_[i] += best_;
        std::size_t kept = 0;
        for (const Index i : free_)
            if (!descend(i, round)) free_[kept++] = i;
        free_.resize(kept);
        return !run_.stopped();
    }

    // Depth-first search along reduced costs of 0, each column once a round.
    bool descend(Index source, Index round) {
        path_.assign(1, source);
        at_[source] = a_.indptr[source];
        while (!path_.empty()) {
            const Index i = path_.back();
            Index& p = at_[i];
            const Index first = p;
            Index to = UNMATCHED<Index>;
            while (p < a_.indptr[i + 1] && to == UNMATCHED<Index>) {
                const Index j = a_.indices[p];
                if (seen_[j] != round && c_[p] - col_[j].v <= u_[i]) to = j;
                ++p;
            }
            scanned_ += p - first + 1;
            if (!counter_.add(p - first + 1)) return false;
            if (to == UNMATCHED<Index>) {
                path_.pop_back();
                continue;
            }
            seen_[to] = round;
            col_[to].parent = i;
            const Index mate = col_[to].mate;
            if (mate == UNMATCHED<Index>) {
                augment(source, to);
                return true;
            }
            at_[mate] = a_.indptr[mate];
            path_.push_back(mate);
        }
        return false;
    }

    bool search(Index source) {
        begin();
        if (!grow(source) || end_ == UNMATCHED<Index>) return false;
        move_duals();
        u_[source] += best_;
        augment(source, end_);
        return true;
    }

    void begin() {
        for (const Index j : touched_) col_[j].distance = infinity;
        touched_.clear(), near_.clear(), heap_.clear();
        level_ = 0, best_ = infinity, end_ = UNMATCHED<Index>;
    }

    // Scans this row and those that follow from it, until the nearest free column is known.
    bool grow(Index i) {
        for (; i != UNMATCHED<Index> && best_ > level_; i = next())
            if (!scan(i)) return false;
        return true;
    }

    bool scan(Index i) {
        const double base = level_ - u_[i];
        for (Index p = a_.indptr[i]; p < a_.indptr[i + 1]; ++p) {
            const Index j = a_.indices[p];
            Column& col = col_[j];
            const double d = std::max(base + (c_[p] - col.v), level_);  // rounding may make it less
            if (d >= best_ || d >= col.distance) continue;
            if (col.mate == UNMATCHED<Index>) {
                best_ = d, end_ = j, col.parent = i;
                if (d <= level_) break;
                continue;
            }
            if (col.distance == infinity) touched_.push_back(j);
            col.distance = d, col.parent = i;
            if (d <= level_) near_.push_back(j);
            else push(d, j);
        }
        scanned_ += a_.degree(i);
        return counter_.add(a_.degree(i));
    }

    // The row of the nearest column that is not scanned yet and nearer than end_, if any.
    Index next() {
        if (!near_.empty()) {
            const Index j = near_.back();
            near_.pop_back();
            return col_[j].mate;
        }
        while (!heap_.empty() && heap_.front().first < best_) {
            const auto [d, j] = heap_.front();
            std::pop_heap(heap_.begin(), heap_.end(), later);
            heap_.pop_back();
            if (d > col_[j].distance) continue;  // a shorter path was found since
            level_ = d;
            return col_[j].mate;
        }
        return UNMATCHED<Index>;
    }

    // Of the tree but its sources.
    void move_duals() {
        for (const Index j : touched_) {
            Column& col = col_[j];
            if (col.distance >= best_) continue;
            col.v -= best_ - col.distance;
            u_[col.mate] += best_ - col.distance;
        }
    }

    void augment(Index source, Index j) {
        for (Index i = UNMATCHED<Index>; i != source;) {
            i = col_[j].parent;
            const Index before = col_of_[i];
            match(i, j);
            j = before;
        }
    }

    using Entry = std::pair<double, Index>;
    static bool later(const Entry& x, const Entry& y) { return x.first > y.first; }
    void push(double d, Index j) {
        heap_.emplace_back(d, j);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    const Csr<Index>& a_;
    const double* c_;
    double* u_;
    RunContext& run_;
    WorkCounter counter_;
    Buffer<Column> col_;
    Buffer<Index> col_of_;
    Buffer<Index> seen_, at_;
    std::vector<Index> free_, touched_, near_, path_;
    std::vector<Entry> heap_;
    double level_, best_;
    Index end_;
    std::int64_t scanned_ = 0;
};

}  // namespace sparsematch
