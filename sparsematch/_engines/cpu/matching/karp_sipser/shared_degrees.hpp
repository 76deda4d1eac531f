// Karp-Sipser by many workers, which share the degrees of both sides.
//
// A pair is claimed by clearing two bits, a degree is lowered by an atomic subtraction. Cache lines
// move between all workers, so two gain little; but the loss does not grow with their number
// (karp_sipser.hpp has the form for a few).
// Invariant: the degree of a live vertex counts its entries whose other end has not been removed.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "matching/karp_sipser/residual_degrees.hpp"

namespace sparsematch {

template <class Index>
class SharedKarpSipser {
    static constexpr int batch = DegreeOneStack<Index>::batch, ahead = 8, picks = 16;
    static constexpr auto many = ResidualSide<Index>::many;

    struct Worker {  // its work at hand, by side
        Worker(RunContext& run, int rank) : counter(run, rank) {}
        DegreeOneStack<Index> stack[2];
        std::vector<Index> matched[2];  // still to be removed
        WorkCounter counter;
    };

  public:
    SharedKarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m,
                     RunContext& run)
        : run_(run), side_{{a, m.row_mate}, {transposed, m.col_mate}} {
        for (int rank = 0; rank < run.team.size(); ++rank)
            workers_.push_back(std::make_unique<Worker>(run, rank));
    }

    void count(bool) { count_both(side_[0], side_[1], run_); }

    // Does not record in which order pairs were forced: no order is common to all workers.
    void match_degree_one(Forced*) {
        for (int s : {0, 1})
            sweep(side_[s].lists.n_rows, [&, s](Worker& worker, Index v, Index) {
                worker.stack[s].reserve(1);
                worker.stack[s].push_if(v, peek(side_[s].degree[v]) == 1);
            });
    }

    void match_rest() {
        sweep(side_[0].lists.n_rows, [&](Worker& worker, Index i, Index next) {
            prefetch_degrees<false>(0, next);  // to be read: another worker may be writing them
            if (side_[0].free.test(i)) pick(worker, i);
        });
        match_maximal();
    }

    void copy_mates() {}  // they are written as pairs are made
    void settle(int s, bool* settled) const { side_[s].settle(settled); }

  private:
    // Runs visit(worker, v, a later v) over all vertices of a side. Stacks are emptied when they
    // fill a batch, and at the end.
    template <class Visit>
    void sweep(Index n, const Visit& visit) {
        run_.team.loop(n, 1 << 13, [&](int rank, std::int64_t begin, std::int64_t end) {
            Worker& worker = *workers_[rank];
            for (auto v = begin; v < end && !run_.stopped(); ++v) {
                visit(worker, static_cast<Index>(v),
                      static_cast<Index>(std::min(v + ahead, end - 1)));
                while (drain(worker, batch)) {
                }
            }
        });
        run_.team.each([&](int rank) {
            remove_matched(*workers_[rank]);
            while (drain(*workers_[rank], 1)) {
            }
        });
    }

    bool drain(Worker& worker, std::size_t enough) {
        bool worked = false;
        for (int s : {0, 1})
            if (worker.stack[s].size() >= enough && !run_.stopped()) {
                match_batch(worker, s);
                worked = true;
            }
        return worked;
    }

    // Matches up to a batch of vertices of degree one, each to its last neighbour, and removes
    // both.
    void match_batch(Worker& worker, int s) {
        const ResidualSide<Index>& side = side_[s];
        Index popped[batch];
        const int n =
            worker.stack[s].pop_batch(side, popped, [&](Index v) { return side.free.test(v); });
        for (int k = 0; k < n; ++k) {
            const Index w = find(s, popped[k]);
            if (w != UNMATCHED<Index> && claim(s, popped[k], w)) remove_later(worker, 1 - s, w);
        }
        remove_matched(worker);
    }

    // A free neighbour; another worker may claim it meanwhile.
    Index find(int s, Index v) const {
        return side_[s].find(v, [&](Index w) { return side_[1 - s].free.test(w); });
    }

    // v has been matched, and may have other live neighbours.
    void remove_later(Worker& worker, int s, Index v) {
        SPARSEMATCH_PREFETCH(&side_[s].lists.indptr[v]);
        worker.matched[s].push_back(v);
    }

    void remove_matched(Worker& worker) {
        for (int s : {0, 1})
            for (Index v : worker.matched[s]) side_[s].prefetch_list(v);
        for (int s : {0, 1})
            for (Index v : worker.matched[s]) prefetch_degrees<true>(s, v);
        for (int s : {0, 1}) {
            for (Index v : worker.matched[s]) remove(worker, s, v);
            worker.matched[s].clear();
        }
    }

    // Matches free row i to its live column with the fewest live rows.
    void pick(Worker& worker, Index i) {
        worker.counter.add(side_[0].lists.degree(i));
        Index j = side_[0].find_least(i, side_[1]);
        if (j == UNMATCHED<Index>) j = find(0, i);  // all matched, or of very high degree
        if (j == UNMATCHED<Index> || !claim(0, i, j)) return;
        remove_later(worker, 0, i);
        remove_later(worker, 1, j);
        if (worker.matched[0].size() >= picks) remove_matched(worker);
    }

    // Matches v, of side s, and w if both are free. Columns are claimed before rows, so that two
    // workers cannot wait for each other.
    bool claim(int s, Index v, Index w) {
        ResidualSide<Index>&rows = side_[0], &cols = side_[1];
        const Index i = s == 0 ? v : w, j = s == 0 ? w : v;
        if (!rows.free.test(i) || !cols.free.clear_claim(j)) return false;
        if (!rows.free.clear_claim(i)) {
            cols.free.set_shared(j);
            return false;
        }
        rows.mate[i] = j;
        cols.mate[j] = i;
        poke(cols.degree[j], many);  // so that no row picks it
        return true;
    }

    // A repeated entry, a capped degree, or a column that another worker was about to claim may
    // have hidden a neighbour.
    void match_maximal() {
        for (Index i = 0; i < side_[0].lists.n_rows; ++i) {
            if (!side_[0].free.test(i)) continue;
            if (const Index j = find(0, i); j != UNMATCHED<Index>) claim(0, i, j);
        }
    }

    template <bool Write>
    SPARSEMATCH_INLINE void prefetch_degrees(int s, Index v) const {
        const Csr<Index>& lists = side_[s].lists;
        const Index first = lists.indptr[v],
                    last = std::min<Index>(lists.indptr[v + 1], first + 64);
        for (Index p = first; p < last; ++p)
            SPARSEMATCH_PREFETCH(&side_[1 - s].degree[lists.indices[p]], Write);
    }

    // Removes v, which has been matched: its neighbours lose one, and those left with one are
    // pushed.
    void remove(Worker& worker, int s, Index v) {
        const Csr<Index>& lists = side_[s].lists;
        const Index first = lists.indptr[v], last = lists.indptr[v + 1];
        worker.stack[1 - s].reserve(last - first);
        for (Index p = first; p < last; ++p) {
            std::uint8_t& degree = side_[1 - s].degree[lists.indices[p]];
            const bool counted = peek(degree) != many;
            worker.stack[1 - s].push_if(lists.indices[p],
                                        counted && std::atomic_ref(degree).fetch_sub(1) == 2);
        }
        worker.counter.add(last - first);
    }

    RunContext& run_;
    ResidualSide<Index> side_[2];  // rows, columns
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace sparsematch
