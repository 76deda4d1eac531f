// Karp-Sipser: match vertices of degree one while there are any (always right), then pick, and go on.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981), on both sides with exact degrees; a pick takes the
// live column of least degree. What bounds it is memory: every removal touches the lists of two vertices at random places.
// So what is touched most is kept smallest (degrees in one byte, 255 standing for 255 or more and never lowered; free
// vertices in one bit), and vertices of degree one are taken in batches, each step of a batch prefetching what the next reads.
// `neighbour_xor` keeps the exclusive or of each vertex's live neighbours, which is the last one's number when one is left,
// instead of looking for it in the list; with one worker, as
// the two counts cannot change together.
// Invariant: the degree of a live vertex counts its entries whose other end has not been removed.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "csr.hpp"
#include "run.hpp"

namespace sparsematch {

template <bool Threads, class Index>
class KarpSipser {
    static constexpr int batch = 32, ahead = 8, picks = 16;
    static constexpr std::uint8_t many = 255;

    // The vertices of one side, with the lists that lead to the other.
    struct Side {
        Side(const Csr<Index>& lists, Index* mate, bool with_xor)
            : lists(lists), mate(mate), degree(lists.n_rows), neighbours(with_xor ? lists.n_rows : 0), free(lists.n_rows) {}
        const Csr<Index>& lists;
        Index* mate;
        Buffer<std::uint8_t> degree;
        Buffer<Index> neighbours;  // exclusive or of the live ones
        Bitmap free;
    };
    // A stack that keeps or drops what is put on it without a branch: about one vertex in four comes down to degree one.
    class Stack {
      public:
        std::size_t size() const { return size_; }
        Index pop() { return items_[--size_]; }
        void reserve(std::size_t more) {
            if (size_ + more >= items_.size()) items_.resize(2 * (size_ + more) + 64);
        }
        void push_if(Index v, bool wanted) {
            items_[size_] = v;
            size_ += wanted;
        }

      private:
        std::vector<Index> items_;
        std::size_t size_ = 0;
    };
    struct Lane {  // one thread's work at hand: vertices that have come down to degree one, by side
        Lane(Run& run, int rank) : meter(run, rank) {}
        Stack queue[2];
        std::vector<Index> matched[2];  // by side: their neighbours have still to be told
        Meter meter;
    };

  public:
    KarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m, const Options& options, Run& run)
        : options_(options), run_(run), with_xor_(options.neighbour_xor && !Threads),
          side_{Side(a, m.row_mate, with_xor_), Side(transposed, m.col_mate, with_xor_)} {
        for (int rank = 0; rank < run.team.size(); ++rank) lanes_.push_back(std::make_unique<Lane>(run, rank));
    }

    void improve() {
        const Index n_rows = side_[0].lists.n_rows;
        const bool warm = std::any_of(side_[0].mate, side_[0].mate + n_rows, [](Index j) { return j != UNMATCHED<Index>; });
        {
            auto timer = run_.time("degrees");
            for (Side& side : side_)
                for (Index v = 0; v < side.lists.n_rows; ++v)
                    if (side.mate[v] == UNMATCHED<Index>) side.free.set(v);
            for (int s : {0, 1}) count(side_[s], side_[1 - s]);
        }
        {
            auto timer = run_.time("degree one");
            for (int s : {0, 1}) {
                sweep(side_[s].lists.n_rows, [&, s](Lane& lane, Index v, Index) {
                    lane.queue[s].reserve(1);
                    lane.queue[s].push_if(v, peek(side_[s].degree[v]) == 1);
                });
            }
        }
        if (run_.settled && !warm && !run_.stopped()) settle();
        if (options_.degree_one_only || run_.stopped()) return;
        auto timer = run_.time("picks");
        sweep(side_[0].lists.n_rows, [&](Lane& lane, Index i, Index next) {
            prefetch_degrees<!Threads>(side_[0], next, side_[1]);  // to be read: another thread may be writing them
            if (side_[0].free.test(i)) pick(lane, i);
        });
        // Maximal at last: two threads may have taken each other's choice, a duplicate entry or a capped degree hidden one.
        sweep(side_[0].lists.n_rows, [&](Lane&, Index i, Index) {
            if (side_[0].free.test(i)) match_any(side_[0], i, side_[1]);
        });
    }

  private:
    // So far each match was right: what is left is to match the core of free vertices that still have live neighbours, and
    // a maximum matching of the core makes the whole maximum.
    void settle() {
        bool* const settled[2] = {run_.settled.row, run_.settled.col};
        for (int s : {0, 1})
            for (Index v = 0; v < side_[s].lists.n_rows; ++v) settled[s][v] = !side_[s].free.test(v) || side_[s].degree[v] == 0;
    }

    void count(Side& side, const Side& other) {
        const bool fresh = other.free.count() == static_cast<std::size_t>(other.lists.n_rows);
        run_.team.loop(side.lists.n_rows, 1 << 13, [&](int rank, std::int64_t begin, std::int64_t end) {
            for (auto v = begin; v < end; ++v) {
                Index degree = 0, neighbours = 0;
                const Index first = side.lists.indptr[v], last = side.lists.indptr[v + 1];
                if (fresh && !with_xor_) {
                    degree = last - first;
                } else {
                    for (Index p = first; p < last; ++p) {
                        if (!other.free.test(side.lists.indices[p])) continue;
                        ++degree;
                        neighbours ^= side.lists.indices[p];
                    }
                    lanes_[rank]->meter.charge(last - first);
                }
                side.degree[v] = static_cast<std::uint8_t>(std::min<Index>(degree, many));
                if (with_xor_) side.neighbours[v] = neighbours;
            }
        });
    }

    // Runs visit(lane, v, a later v) over all vertices of a side. Queues are worked off when they fill a batch, and at the end.
    template <class Visit>
    void sweep(Index n, const Visit& visit) {
        run_.team.loop(n, 1 << 13, [&](int rank, std::int64_t begin, std::int64_t end) {
            Lane& lane = *lanes_[rank];
            for (auto v = begin; v < end && !run_.stopped(); ++v) {
                visit(lane, static_cast<Index>(v), static_cast<Index>(std::min(v + ahead, end - 1)));
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

    // Takes up to a batch of vertices v of degree one, matches each to its last neighbour, and removes both.
    void take_batch(Lane& lane, int s) {
        Side &side = side_[s], &other = side_[1 - s];
        auto& queue = lane.queue[s];
        Index taken[batch];
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, queue.size()); left > 0; --left) {
            taken[n] = queue.pop();
            __builtin_prefetch(with_xor_ ? &side.neighbours[taken[n]] : &side.lists.indptr[taken[n]]);
            n += side.free.test(taken[n]);
        }
        if (!with_xor_)
            for (int k = 0; k < n; ++k) __builtin_prefetch(&side.lists.indices[side.lists.indptr[taken[k]]]);
        for (int k = 0; k < n; ++k) {
            const Index w = last_neighbour(side, taken[k], other);
            if (w != UNMATCHED<Index> && claim(side, taken[k], other, w)) retire(lane, 1 - s, w);
        }
        remove_retired(lane);
    }

    // v has been matched, and may have other live neighbours.
    void retire(Lane& lane, int s, Index v) {
        __builtin_prefetch(&side_[s].lists.indptr[v]);
        lane.matched[s].push_back(v);
    }

    void remove_retired(Lane& lane) {
        for (int s : {0, 1})
            for (Index v : lane.matched[s]) __builtin_prefetch(&side_[s].lists.indices[side_[s].lists.indptr[v]]);
        for (int s : {0, 1})
            for (Index v : lane.matched[s]) prefetch_degrees(side_[s], v, side_[1 - s]);
        for (int s : {0, 1}) {
            for (Index v : lane.matched[s]) remove(lane, side_[s], v, side_[1 - s], lane.queue[1 - s]);
            lane.matched[s].clear();
        }
    }

    // The one live neighbour of v; between threads it may just have been taken.
    Index last_neighbour(const Side& side, Index v, const Side& other) const {
        if (with_xor_ && side.degree[v] == 1) return side.neighbours[v];
        for (Index p = side.lists.indptr[v]; p < side.lists.indptr[v + 1]; ++p)
            if (other.free.test(side.lists.indices[p])) return side.lists.indices[p];
        return UNMATCHED<Index>;
    }

    // Free row i takes its live column with the fewest live rows. Without a branch in the loop: it could not be predicted.
    void pick(Lane& lane, Index i) {
        Side &rows = side_[0], &cols = side_[1];
        const Index first = rows.lists.indptr[i], last = rows.lists.indptr[i + 1];
        Index best = UNMATCHED<Index>;
        std::uint8_t fewest = many;
        for (Index p = first; p < last; ++p) {
            const std::uint8_t degree = peek(cols.degree[rows.lists.indices[p]]);
            best = degree < fewest ? rows.lists.indices[p] : best;
            fewest = std::min(degree, fewest);
        }
        lane.meter.charge(last - first);
        if (best == UNMATCHED<Index>) best = last_neighbour(rows, i, cols);  // taken, all of them, or of very high degree
        if (best == UNMATCHED<Index> || !claim(rows, i, cols, best)) return;
        retire(lane, 0, i);
        retire(lane, 1, best);
        if (lane.matched[0].size() >= picks) remove_retired(lane);
    }

    void match_any(Side& side, Index v, Side& other) {
        for (Index p = side.lists.indptr[v]; p < side.lists.indptr[v + 1]; ++p)
            if (claim(side, v, other, side.lists.indices[p])) return;
    }

    // Matches v and w if both are free; columns are taken before rows, so that two threads cannot wait for each other.
    bool claim(Side& side, Index v, Side& other, Index w) {
        Side &rows = &side == &side_[0] ? side : other, &cols = &side == &side_[0] ? other : side;
        const Index i = &side == &rows ? v : w, j = &side == &rows ? w : v;
        if (!rows.free.test(i) || !cols.free.test(j) || !cols.free.template take<Threads>(j)) return false;
        if (!rows.free.template take<Threads>(i)) {
            cols.free.template give<Threads>(j);
            return false;
        }
        rows.mate[i] = j;
        cols.mate[j] = i;
        poke(cols.degree[j], many);  // so that no row picks it
        return true;
    }

    template <bool Write = true>
    static void prefetch_degrees(const Side& side, Index v, const Side& other) {
        const Index first = side.lists.indptr[v], last = std::min<Index>(side.lists.indptr[v + 1], first + 64);
        for (Index p = first; p < last; ++p) __builtin_prefetch(&other.degree[side.lists.indices[p]], Write);
    }

    // v has been matched: its neighbours lose one, and those left with one are queued.
    void remove(Lane& lane, const Side& side, Index v, Side& other, Stack& queue) {
        const Index first = side.lists.indptr[v], last = side.lists.indptr[v + 1];
        queue.reserve(last - first);
        for (Index p = first; p < last; ++p) {
            const Index w = side.lists.indices[p];
            queue.push_if(w, lower(other, w, v) == 1);
        }
        lane.meter.charge(last - first);
    }

    // Vertex w loses neighbour v. Returns its new degree.
    std::uint8_t lower(Side& side, Index w, Index v) {
        std::uint8_t& degree = side.degree[w];
        if constexpr (Threads) {
            if (peek(degree) == many) return many;
            return std::atomic_ref(degree).fetch_sub(1) - 1;
        } else {
            if (with_xor_) side.neighbours[w] ^= v;
            return degree -= degree != many;
        }
    }

    const Options& options_;
    Run& run_;
    const bool with_xor_;
    Side side_[2];  // rows, columns
    std::vector<std::unique_ptr<Lane>> lanes_;
};

// Reads: both orientations. Writes: both mates. Workspace: a byte and a bit per vertex, and the queues. Time: O(nnz).
template <class Index>
void karp_sipser(const Csr<Index>& a, const Csr<Index>* transposed, Matching<Index> m, const Options& options, Run& run) {
    if (run.team.size() > 1) KarpSipser<true, Index>(a, *transposed, m, options, run).improve();
    else KarpSipser<false, Index>(a, *transposed, m, options, run).improve();
}

}  // namespace sparsematch
