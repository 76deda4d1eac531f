// Shortest augmenting paths from many free rows at once, one worker for each.
//
// A search is that of path_search.hpp, but it claims every column before it scans the mate, and the
// free column at its end. One that comes to the column of another search gives up, changes nothing,
// and begins again when that is released; so the trees of searches that end share no vertex. Duals
// of columns only fall, and only those of claimed ones: what a search reads of other columns makes
// their distances too short, never too long, and the duals that it leaves are feasible. Those of
// its own columns are read again once claimed; one whose dual has fallen waits until its true
// distance is next. So every tree is one of shortest paths, by duals that hold when it ends.
// Workers rest while trees are so large, or meet so often, that there is no room for more.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "weighted/assignment_state.hpp"
#include "weighted/radix_heap.hpp"

namespace sparsematch {

template <class Index> class SharedSearch {
  public:
    explicit SharedSearch(AssignmentState<Index>& s) : s_(s), n_active_(s.run.team.size()) {}

    // More than one worker is worth its while.
    bool active() const { return n_active_ > 1 && !s_.free.empty(); }

    // One search from each free row, the last one first, until they have spent the budget; those
    // that exceed the limit leave their row free, and their work is added to `failed`. Reads: a
    // state between two steps, with no column claimed, as it leaves it. False: the run was stopped,
    // or a row cannot be matched. Workspace: two words a column for each worker.
    bool round(std::int64_t budget, std::int64_t limit, std::int64_t& failed) {
        if (workers_.empty()) workers_.resize(n_active_);
        const auto n_free = static_cast<std::int64_t>(s_.free.size());
        const std::int64_t piece =
            std::clamp<std::int64_t>(n_free / (pieces * n_active_), 1, most_rows);
        std::atomic<std::int64_t> left{n_free};
        std::atomic<std::int64_t> spent{0};
        std::atomic<bool> none{false};
        s_.run.team.each([&](int rank) {
            if (rank >= n_active_) return;
            auto& own = workers_[rank];
            if (!own) own = std::make_unique<Worker>(s_, rank);
            own->work = own->met = own->failed = 0, own->kept.clear();
            WorkCounter counter(s_.run, rank);
            const auto goes_on = [&] {
                return spent.load(std::memory_order_relaxed) <= budget && !own->is_crowded() &&
                       !none.load(std::memory_order_relaxed);
            };
            while (goes_on()) {
                const std::int64_t end = left.fetch_sub(piece, std::memory_order_relaxed);
                std::int64_t k = end;
                while (k > std::max<std::int64_t>(end - piece, 0) && goes_on()) {
                    const std::int64_t before = own->work;
                    Result result = Result::met;
                    while (result == Result::met && goes_on() && own->wait(counter))
                        result = own->search(s_.free[k - 1], limit, counter);
                    if (result != Result::matched) own->kept.push_back(s_.free[k - 1]);
                    if (result == Result::none) none = true;
                    spent.fetch_add(own->work - before, std::memory_order_relaxed);
                    --k;
                }
                for (; k > std::max<std::int64_t>(end - piece, 0); --k)
                    own->kept.push_back(s_.free[k - 1]);
                if (end <= piece) break;
            }
        });
        s_.free.resize(std::max<std::int64_t>(left, 0));
        std::int64_t work = 0, met = 0;
        for (int rank = 0; rank < n_active_; ++rank) {
            const Worker& w = *workers_[rank];
            work += w.work, met += w.met, failed += w.failed;
            s_.free.insert(s_.free.end(), w.kept.begin(), w.kept.end());
        }
        s_.work += work - met;
        // as many trees as there is room for, by what one has taken
        const auto matched = static_cast<double>(n_free) - static_cast<double>(s_.free.size());
        const double room =
            static_cast<double>(s_.pass()) * matched / (sparse * static_cast<double>(work + 1));
        n_active_ = static_cast<int>(std::clamp<double>(room, 1, n_active_));
        if (2 * met > work) n_active_ = std::max(1, n_active_ / 2);
        return !none && !s_.run.stopped();
    }

  private:
    // Pieces of the free rows for each worker, and the most rows of one: neighbours in the natural
    // order have trees in common. How many times the searches' work a pass is, if all have room.
    // Share of a pass that may be lost before that counts. Not varied.
    static constexpr std::int64_t pieces = 8, most_rows = 64, lost = 64;
    static constexpr double sparse = 2;

    // None: the row cannot be matched, or the run was stopped.
    enum class Result { matched, met, too_long, none };

    struct Worker {
        // Of a column: the least sum of distance and dual, and the row that it comes from.
        struct Label {
            double reach;
            Index parent;
        };
        static constexpr double in_tree = -infinity;

        Worker(AssignmentState<Index>& s, int rank)
            : s(s), rank(rank), label(s.a.n_cols, {infinity, UNMATCHED<Index>}) {}

        Result search(Index source, std::int64_t limit, WorkCounter& counter) {
            level = 0, best = infinity, end = UNMATCHED<Index>;
            const std::int64_t before = work;
            const Result result = grow(source, limit, counter);
            if (result == Result::matched) augment(source);
            if (result == Result::met) met += work - before;
            if (result == Result::too_long) failed += work - before;
            for (const Index j : touched) label[j].reach = infinity;
            for (const auto& [j, _] : tree) s.release(j);
            if (end_claimed) s.release(end), end_claimed = false;
            touched.clear(), tree.clear(), near.clear(), heap.clear();
            return result;
        }

        // Until the column that another search was met at is released: a row that waited for all
        // others would find free columns far away. False: the run was stopped, or that one failed.
        bool wait(WorkCounter& counter) {
            const Index j = std::exchange(met_at, UNMATCHED<Index>);
            while (j != UNMATCHED<Index> && peek(s.claims[j]) != 0) {
                spin_pause();
                if (s.run.team.failed() || !counter.add(1)) return false;
            }
            return true;
        }

        // Searches meet so often that half of the work is lost, once that can be told.
        bool is_crowded() const { return 2 * met > work + s.pass() / lost; }

        Result grow(Index source, std::int64_t limit, WorkCounter& counter) {
            const std::int64_t last = work + limit;
            for (Index i = source;;) {
                scan(i);
                work += s.a.degree(i) + 1;
                if (!counter.add(s.a.degree(i) + 1)) return Result::none;
                if (best <= level) break;
                if (work > last) return Result::too_long;
                const Index j = next();
                if (j == UNMATCHED<Index>) break;
                if (!tree_claimed) return met_at = j, Result::met;
                i = s.col[j].mate;
            }
            if (end == UNMATCHED<Index>) return Result::none;
            end_claimed = s.claim(end, rank);
            const bool still = end_claimed && s.col[end].mate == UNMATCHED<Index>;
            return still ? Result::matched : (met_at = end, Result::met);
        }

        // Columns beyond the nearest free one are not kept.
        void scan(Index i) {
            const double base = level - s.u[i];
            for (Index p = s.a.indptr[i]; p < s.a.indptr[i + 1]; ++p) {
                const Index j = s.a.indices[p];
                auto& col = s.col[j];
                const double reach = base + s.cost[p];
                const double d = std::max(reach - peek(col.v), level);  // rounding
                if (d >= best || reach >= label[j].reach) continue;
                const Index mate = peek(col.mate);
                if (label[j].reach == infinity) touched.push_back(j);
                label[j] = {reach, i};
                if (mate == UNMATCHED<Index>) {
                    best = d, end = j;
                    if (d <= level) return;
                    continue;
                }
                s.prefetch(mate, UNMATCHED<Index>, UNMATCHED<Index>);
                SPARSEMATCH_PREFETCH(&s.claims[j], 1);
                if (d <= level) near.push_back(j);
                else heap.push(d, j);
            }
        }

        double distance(Index j) const {
            return std::max(label[j].reach - peek(s.col[j].v), level);
        }

        // The nearest column nearer than the end whose mate was not scanned yet, which is claimed
        // now unless it was another's; UNMATCHED: none.
        Index next() {
            for (;;) {
                if (near.empty()) {
                    const auto is_current = [this](const auto& e) {
                        return e.key < best && e.key <= distance(e.j);
                    };
                    if (!heap.advance(is_current)) return UNMATCHED<Index>;
                    level = heap.least()[0].key;
                    const auto& least = heap.least();
                    for (auto e = least.rbegin(); e != least.rend(); ++e) near.push_back(e->j);
                }
                const Index j = near.back();
                near.pop_back();
                if (label[j].reach == in_tree) continue;
                tree_claimed = s.claim(j, rank);
                if (!tree_claimed) return j;
                const double d = distance(j);
                if (d <= level) {
                    tree.push_back({j, level});
                    label[j].reach = in_tree;
                    return j;
                }
                s.release(j);
                if (d < best) heap.push(d, j);
            }
        }

        // Moves the duals of the tree by what is missing to the end, and exchanges its pairs.
        void augment(Index source) {
            for (const auto& [j, d] : tree) {
                if (d >= best) continue;
                poke(s.col[j].v, s.col[j].v - (best - d));
                s.u[s.col[j].mate] += best - d;
            }
            s.u[source] += best;
            s.augment(source, end, [this](Index j) { return label[j].parent; });
        }

        AssignmentState<Index>& s;
        const int rank;
        Buffer<Label> label;
        std::vector<Index> touched, near, kept;      // kept: rows that wait
        std::vector<std::pair<Index, double>> tree;  // columns claimed, and their distances
        RadixHeap<Index> heap;
        double level = 0, best = 0;
        Index end = UNMATCHED<Index>, met_at = UNMATCHED<Index>;
        bool tree_claimed = true, end_claimed = false;
        std::int64_t work = 0, met = 0, failed = 0;  // of which lost to others, and too long
    };

    AssignmentState<Index>& s_;
    int n_active_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace sparsematch
