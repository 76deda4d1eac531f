// Karp-Sipser by many workers, who share the degrees of both sides.
//
// A pair is claimed by taking two bits, a degree is lowered by an atomic subtraction. So every
// worker keeps taking lines of memory from the others' caches, and two of them win little; but what
// is lost does not grow with their number (karp_sipser.hpp has the way that pays for a few).
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
    static constexpr int batch = 32, ahead = 8, picks = 16;
    static constexpr auto many = ResidualSide<Index>::many;

    struct Lane {  // one worker's work at hand, by side
        Lane(RunContext& run, int rank) : counter(run, rank) {}
        DegreeOneStack<Index> queue[2];  // vertices that have come down to degree one
        std::vector<Index> matched[2];   // their neighbours have still to be told
        WorkCounter counter;
    };

  public:
    SharedKarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m,
                     RunContext& run)
        : run_(run), side_{{a, m.row_mate, false}, {transposed, m.col_mate, false}} {
        for (int rank = 0; rank < run.team.size(); ++rank)
            lanes_.push_back(std::make_unique<Lane>(run, rank));
    }

    void count() { count_both(side_[0], side_[1], run_); }

    // Does not say in which order pairs were forced: there is none that all workers would know.
    void match_degree_one(Forced*) {
        for (int s : {0, 1})
            sweep(side_[s].lists.n_rows, [&, s](Lane& lane, Index v, Index) {
                lane.queue[s].reserve(1);
                lane.queue[s].push_if(v, peek(side_[s].degree[v]) == 1);
            });
    }

    void match_rest() {
        sweep(side_[0].lists.n_rows, [&](Lane& lane, Index i, Index next) {
            prefetch_degrees<false>(0, next);  // to be read: another worker may be writing them
            if (side_[0].free.test(i)) pick(lane, i);
        });
        match_maximal();
    }

    const ResidualSide<Index>& rows() const { return side_[0]; }
    const ResidualSide<Index>& cols() const { return side_[1]; }

  private:
    // Runs visit(lane, v, a later v) over all vertices of a side. Queues are worked off when they
    // fill a batch, and at the end.
    template <class Visit>
    void sweep(Index n, const Visit& visit) {
        run_.team.loop(n, 1 << 13, [&](int rank, std::int64_t begin, std::int64_t end) {
            Lane& lane = *lanes_[rank];
            for (auto v = begin; v < end && !run_.stopped(); ++v) {
                visit(lane, static_cast<Index>(v),
                      static_cast<Index>(std::min(v + ahead, end - 1)));
                while (drain(lane, batch)) {
                }
            }
        });
        run_.team.each([&](int rank) {
            remove_retired(*lanes_[rank]);
            while (drain(*lanes_[rank], 1)) {
            }
        });
    }

    bool drain(Lane& lane, std::size_t enough) {
        bool worked = false;
        for (int s : {0, 1})
            if (lane.queue[s].size() >= enough && !run_.stopped()) {
                take_batch(lane, s);
                worked = true;
            }
        return worked;
    }

    // Takes up to a batch of vertices v of degree one, matches each to its last neighbour, and
    // removes both.
    void take_batch(Lane& lane, int s) {
        const ResidualSide<Index>& side = side_[s];
        Index taken[batch];
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, lane.queue[s].size()); left > 0; --left) {
            taken[n] = lane.queue[s].pop();
            side.prefetch(taken[n]);
            n += side.free.test(taken[n]);
        }
        for (int k = 0; k < n; ++k) side.prefetch_list(taken[k]);
        for (int k = 0; k < n; ++k) {
            const Index w = find(s, taken[k]);
            if (w != UNMATCHED<Index> && claim(s, taken[k], w)) retire(lane, 1 - s, w);
        }
        remove_retired(lane);
    }

    // A live neighbour; it may just have been taken.
    Index find(int s, Index v) const {
        return side_[s].find(v, [&](Index w) { return side_[1 - s].free.test(w); });
    }

    // v has been matched, and may have other live neighbours.
    void retire(Lane& lane, int s, Index v) {
        __builtin_prefetch(&side_[s].lists.indptr[v]);
        lane.matched[s].push_back(v);
    }

    void remove_retired(Lane& lane) {
        for (int s : {0, 1})
            for (Index v : lane.matched[s]) side_[s].prefetch_list(v);
        for (int s : {0, 1})
            for (Index v : lane.matched[s]) prefetch_degrees<true>(s, v);
        for (int s : {0, 1}) {
            for (Index v : lane.matched[s]) remove(lane, s, v);
            lane.matched[s].clear();
        }
    }

    // Free row i takes its live column with the fewest live rows.
    void pick(Lane& lane, Index i) {
        const Csr<Index>& lists = side_[0].lists;
        lane.counter.add(lists.degree(i));
        Index best = UNMATCHED<Index>;
        std::uint8_t fewest = many;
        for (Index p = lists.indptr[i]; p < lists.indptr[i + 1]; ++p) {
            const std::uint8_t d = peek(side_[1].degree[lists.indices[p]]);
            best = d < fewest ? lists.indices[p] : best;
            fewest = std::min(d, fewest);
        }
        if (best == UNMATCHED<Index>) best = find(0, i);  // all taken, or of very high degree
        if (best == UNMATCHED<Index> || !claim(0, i, best)) return;
        retire(lane, 0, i);
        retire(lane, 1, best);
        if (lane.matched[0].size() >= picks) remove_retired(lane);
    }

    // Matches v, of side s, and w if both are free; columns are taken before rows, so that two
    // workers cannot wait for each other.
    bool claim(int s, Index v, Index w) {
        ResidualSide<Index>&rows = side_[0], &cols = side_[1];
        const Index i = s == 0 ? v : w, j = s == 0 ? w : v;
        if (!rows.free.test(i) || !cols.free.template take<true>(j)) return false;
        if (!rows.free.template take<true>(i)) {
            cols.free.template give<true>(j);
            return false;
        }
        rows.mate[i] = j;
        cols.mate[j] = i;
        poke(cols.degree[j], many);  // so that no row picks it
        return true;
    }

    // A repeated entry, a capped degree, or a column that another worker was about to take may have
    // hidden a neighbour.
    void match_maximal() {
        for (Index i = 0; i < side_[0].lists.n_rows; ++i) {
            if (!side_[0].free.test(i)) continue;
            if (const Index j = find(0, i); j != UNMATCHED<Index>) claim(0, i, j);
        }
    }

    template <bool Write>
    [[gnu::always_inline]] void prefetch_degrees(int s, Index v) const {
        const Csr<Index>& lists = side_[s].lists;
        const Index first = lists.indptr[v],
                    last = std::min<Index>(lists.indptr[v + 1], first + 64);
        for (Index p = first; p < last; ++p)
            __builtin_prefetch(&side_[1 - s].degree[lists.indices[p]], Write);
    }

    // v has been matched: its neighbours lose one, and those left with one are queued.
    void remove(Lane& lane, int s, Index v) {
        const Csr<Index>& lists = side_[s].lists;
        const Index first = lists.indptr[v], last = lists.indptr[v + 1];
        lane.queue[1 - s].reserve(last - first);
        for (Index p = first; p < last; ++p) {
            std::uint8_t& degree = side_[1 - s].degree[lists.indices[p]];
            const bool counted = peek(degree) != many;
            lane.queue[1 - s].push_if(lists.indices[p],
                                      counted && std::atomic_ref(degree).fetch_sub(1) == 2);
        }
        lane.counter.add(last - first);
    }

    RunContext& run_;
    ResidualSide<Index> side_[2];  // rows, columns
    std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace sparsematch
