// Karp-Sipser: match vertices of degree one while there are any (always right), then pick, and go on.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981), on both sides with exact degrees; a pick takes the
// live column of least degree. What bounds it is memory: every removal touches the lists of two vertices at random places.
// So what is touched most is kept smallest (live_side.hpp), and vertices of degree one are taken in batches, each step of a batch
// prefetching what the next reads.
// `neighbour_xor` keeps the exclusive or of each vertex's live neighbours, which is the last one's number when one is left,
// instead of looking for it in the list; by one worker only.
// Invariant: the degree of a live vertex counts its entries whose other end has not been removed.
#pragma once

#include <algorithm>
#include <vector>

#include "csr.hpp"
#include "karp_sipser_pair.hpp"
#include "live_side.hpp"
#include "run.hpp"

namespace sparsematch {

// By one worker.
template <class Index>
class KarpSipser {
    static constexpr int batch = 32, picks = 16;
    static constexpr auto many = LiveSide<Index>::many;

  public:
    KarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m, bool with_xor, Run& run)
        : run_(run), meter_(run), with_xor_(with_xor), side_{{a, m.row_mate, with_xor}, {transposed, m.col_mate, with_xor}} {}

    void count() {
        for (auto& side : side_) side.find_free();
        for (int s : {0, 1}) side_[s].count(side_[1 - s], meter_);
    }

    void match_degree_one() {
        for (int s : {0, 1}) {
            sweep(side_[s].lists.n_rows, [&, s](Index v) {
                queue_[s].reserve(1);
                queue_[s].push_if(v, side_[s].degree[v] == 1);
            });
        }
    }

    void match_rest() {
        sweep(side_[0].lists.n_rows, [&](Index i) {
            if (side_[0].free.test(i)) pick(i);
        });
    }

    const LiveSide<Index>& rows() const { return side_[0]; }
    const LiveSide<Index>& cols() const { return side_[1]; }

  private:
    // Runs visit(v) over all vertices of a side. Queues are worked off when they fill a batch, and at the end.
    template <class Visit>
    void sweep(Index n, const Visit& visit) {
        for (Index v = 0; v < n && !run_.stopped(); ++v) {
            visit(v);
            while (drain(batch)) {
            }
        }
        remove_retired();
        while (drain(1)) {
        }
    }

    bool drain(std::size_t enough) {
        bool worked = false;
        for (int s : {0, 1})
            if (queue_[s].size() >= enough && !run_.stopped()) {
                take_batch(s);
                worked = true;
            }
        return worked;
    }

    // Takes up to a batch of vertices v of degree one, matches each to its last neighbour, and removes both.
    void take_batch(int s) {
        LiveSide<Index>&side = side_[s], &other = side_[1 - s];
        Index taken[batch];
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, queue_[s].size()); left > 0; --left) {
            taken[n] = queue_[s].pop();
            __builtin_prefetch(with_xor_ ? &side.neighbours[taken[n]] : &side.lists.indptr[taken[n]]);
            n += side.free.test(taken[n]);
        }
        if (!with_xor_)
            for (int k = 0; k < n; ++k) side.prefetch_list(taken[k]);
        for (int k = 0; k < n; ++k) {
            const Index v = taken[k];
            const Index w = with_xor_ && side.degree[v] == 1 ? side.neighbours[v] : side.find_neighbour(v, other.free);
            if (w != UNMATCHED<Index> && claim(s, v, w)) retire(1 - s, w);
        }
        remove_retired();
    }

    // v has been matched, and may have other live neighbours.
    void retire(int s, Index v) {
        __builtin_prefetch(&side_[s].lists.indptr[v]);
        matched_[s].push_back(v);
    }

    void remove_retired() {
        for (int s : {0, 1})
            for (Index v : matched_[s]) side_[s].prefetch_list(v);
        for (int s : {0, 1})
            for (Index v : matched_[s]) side_[s].prefetch_degrees(v, side_[1 - s]);
        for (int s : {0, 1}) {
            for (Index v : matched_[s]) remove(side_[s], v, side_[1 - s], queue_[1 - s]);
            matched_[s].clear();
        }
    }

    void pick(Index i) {
        meter_.charge(side_[0].lists.degree(i));
        Index best = side_[0].find_least(i, side_[1]);
        if (best == UNMATCHED<Index>) best = side_[0].find_neighbour(i, side_[1].free);  // all taken, or of very high degree
        if (best == UNMATCHED<Index> || !claim(0, i, best)) return;
        retire(0, i);
        retire(1, best);
        if (matched_[0].size() >= picks) remove_retired();
    }

    // Matches v, of side s, and w if both are free.
    bool claim(int s, Index v, Index w) {
        LiveSide<Index>&side = side_[s], &other = side_[1 - s];
        if (!side.free.test(v) || !other.free.test(w)) return false;
        side.free.clear(v);
        other.free.clear(w);
        side.mate[v] = w;
        other.mate[w] = v;
        side.degree[v] = other.degree[w] = many;  // so that nobody picks or queues it
        return true;
    }

    // v has been matched: its neighbours lose one, and those left with one are queued.
    void remove(const LiveSide<Index>& side, Index v, LiveSide<Index>& other, DegreeOne<Index>& queue) {
        const Index first = side.lists.indptr[v], last = side.lists.indptr[v + 1];
        queue.reserve(last - first);
        for (Index p = first; p < last; ++p) {
            const Index w = side.lists.indices[p];
            if (with_xor_) other.neighbours[w] ^= v;
            std::uint8_t& degree = other.degree[w];
            degree -= degree != many;
            queue.push_if(w, degree == 1);
        }
        meter_.charge(last - first);
    }

    Run& run_;
    Meter meter_;
    const bool with_xor_;
    LiveSide<Index> side_[2];        // rows, columns
    DegreeOne<Index> queue_[2];      // vertices that have come down to degree one, by side
    std::vector<Index> matched_[2];  // by side: their neighbours have still to be told
};

// So far each match was right: what is left is to match the core of free vertices that still have live neighbours, and a maximum
// matching of the core makes the whole maximum.
template <class Index>
void mark_settled(const LiveSide<Index>& side, bool* settled) {
    for (Index v = 0; v < side.lists.n_rows; ++v) settled[v] = !side.free.test(v) || side.degree[v] == 0;
}

template <class Index, class Workers>
void karp_sipser_by(Workers&& workers, Matching<Index> m, const Options& options, Run& run) {
    const auto &rows = workers.rows(), &cols = workers.cols();
    const Index n_rows = rows.lists.n_rows;
    const bool warm = std::any_of(m.row_mate, m.row_mate + n_rows, [](Index j) { return j != UNMATCHED<Index>; });
    {
        auto timer = run.time("degrees");
        workers.count();
    }
    {
        auto timer = run.time("degree one");
        workers.match_degree_one();
    }
    if (run.settled && !warm && !run.stopped()) {
        mark_settled(rows, run.settled.row);
        mark_settled(cols, run.settled.col);
    }
    if (options.degree_one_only || run.stopped()) return;
    auto timer = run.time("picks");
    workers.match_rest();
    // Maximal at last: a repeated entry or a capped degree may have hidden a neighbour.
    for (Index i = 0; i < n_rows; ++i) {
        if (m.row_mate[i] != UNMATCHED<Index>) continue;
        const Index* const last = rows.lists.indices + rows.lists.indptr[i + 1];
        const Index* const j = std::find_if(rows.lists.indices + rows.lists.indptr[i], last,
                                            [&](Index k) { return m.col_mate[k] == UNMATCHED<Index>; });
        if (j != last) m.match(i, *j);
    }
}

// Reads: both orientations. Writes: both mates. Workspace: a byte and a bit per vertex, and the queues. Time: O(nnz).
template <class Index>
void karp_sipser(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m, const Options& options, Run& run) {
    if (run.team.size() > 1) karp_sipser_by(KarpSipserPair<Index>(a, *transposed, m, run), m, options, run);
    else karp_sipser_by(KarpSipser<Index>(a, *transposed, m, options.neighbour_xor, run), m, options, run);
}

}  // namespace sparsematch
