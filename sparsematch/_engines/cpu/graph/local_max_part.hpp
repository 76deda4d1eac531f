// Local max on the vertices of one rank: what it can decide, and the messages between rounds.
//
// Birn, Osipov, Sanders, Schulz, Sitchinava (Euro-Par 2013), section 3.2, with the messages of
// Manne and Bisseling (PPAM 2007): a vertex that points at a ghost requests it from its owner; a
// vertex that is matched is announced to the ranks that have neighbours of it. Invariants: as in
// local_max.hpp, an own vertex points at the first edge to a neighbour that is not known to be
// matched; it waits in the list of that neighbour, and chooses again only when that was matched
// otherwise. A ghost points at the own vertex that it has requested last.
#pragma once

#include "graph/active_vertices.hpp"
#include "graph/ghosts.hpp"

namespace sparsematch {

template <class Index> class LocalMaxPart {
  public:
    // g: the own lists, with vertices as the whole graph numbers them; its weights must stay.
    LocalMaxPart(const Graph<Index>& g, std::span<const std::int64_t> starts, int rank,
                 RunContext& run)
        : ghosts_(g, starts, rank, run), g_{g.n, g.indptr, ghosts_.local(), g.weight},
          weighted_(g_, run.seed, {&ghosts_}), unweighted_(g_, run.seed, {&ghosts_}),
          choice_(g.n + ghosts_.size(), UNMATCHED<Index>),
          head_(g.n + ghosts_.size(), UNMATCHED<Index>), next_(g.n), matched_(g.n + ghosts_.size()),
          border_(g.n) {}

    // The messages of the last step, which the caller moves out: the number of a vertex of the
    // receiver, and a vertex v of the sender: v if it points at the former, ~v if it is matched.
    std::vector<Index> to, what;

    // Begins with rounds of own pairs, as local_max.hpp. Threads: as there.
    void start(RunContext& run) {
        ActiveVertices<Index> active(g_.n, run);
        if (!active.sweep([&](Index v, WorkCounter& counter) { return choose(v, counter); }))
            return;
        for (std::int64_t before, matched = 1; matched > 0;) {
            before = active.size();
            if (!active.sweep([&](Index v, WorkCounter&) { return !is_own_pair(v); })) return;
            matched = before - active.size();
            if (!choose_again(active)) return;
            if (matched < before / 16) break;
        }
        for (Index v = 0; v < g_.n; ++v)
            if (matched_.test(v) && border_.test(v)) paired_.push_back(v);
        active.each([&](Index v) {
            if (matched_.test(choice_[v])) released_.push_back(v);
            else if (!matched_.test(v)) settle(v);
        });
        WorkCounter counter(run);
        choose_all_again(counter);
        announce_all();
    }

    // Goes on with the messages of all other ranks. What a batch of them is about is prefetched.
    void receive(const Index* to_own, const Index* message, std::size_t n, RunContext& run) {
        constexpr std::size_t batch = 64;  // messages
        Index ghost[batch];
        WorkCounter counter(run);
        for (std::size_t begin = 0; begin < n && counter.add(batch); begin += batch) {
            const std::size_t size = std::min(batch, n - begin);
            for (std::size_t k = 0; k < size; ++k)
                ghost[k] = prefetched(to_own[begin + k], message[begin + k]);
            for (std::size_t k = 0; k < size; ++k)
                receive(ghosts_.own(to_own[begin + k]), ghost[k], message[begin + k] >= 0);
        }
        choose_all_again(counter);
        announce_all();
    }

    // Writes the mates of the own vertices, as the whole graph numbers them.
    void mates(Index* mate) const {
        for (Index v = 0; v < g_.n; ++v)
            mate[v] = matched_.test(v) ? ghosts_.number(choice_[v]) : UNMATCHED<Index>;
    }

  private:
    template <class Eligible> Index best(Index v, const Eligible& eligible) const {
        return g_.weight ? weighted_.best(v, eligible).vertex
                         : unweighted_.best(v, eligible).vertex;
    }

    // The ghost that a message is about.
    Index prefetched(Index to_own, Index message) const {
        const Index ghost = ghosts_.ghost(message >= 0 ? message : ~message);
        SPARSEMATCH_PREFETCH(&head_[ghost]);
        SPARSEMATCH_PREFETCH(&choice_[ghost]);
        SPARSEMATCH_PREFETCH(&choice_[ghosts_.own(to_own)]);
        SPARSEMATCH_PREFETCH(&head_[ghosts_.own(to_own)]);
        return ghost;
    }

    void receive(Index v, Index ghost, bool is_request) {
        if (matched_.test(ghost)) return;
        if (!is_request) {
            matched_.set(ghost);
            release(ghost);
        } else if (!matched_.test(v)) {
            choice_[ghost] = v;
            if (choice_[v] == ghost) pair(v, ghost);
        }
    }

    // All neighbours are free, so the list is read and nothing else.
    bool choose(Index v, WorkCounter& counter) {
        choice_[v] = best(v, [](Index) { return true; });
        const Index begin = g_.indptr[v], end = g_.indptr[v + 1];
        border_.set_if(v, begin < end && (ghosts_.is_ghost(g_.indices[begin]) ||
                                          ghosts_.is_ghost(g_.indices[end - 1])));
        counter.add(end - begin);
        return choice_[v] != UNMATCHED<Index>;
    }

    // Matches v, if its choice is an own vertex that has chosen v and so does the same.
    bool is_own_pair(Index v) {
        if (ghosts_.is_ghost(choice_[v]) || choice_[choice_[v]] != v) return false;
        matched_.set(v);
        return true;
    }

    bool choose_again(ActiveVertices<Index>& active) {
        return active.sweep(
            [&](Index v, WorkCounter& counter) {
                if (!matched_.test(choice_[v])) return true;
                choice_[v] = best(v, [&](Index w) { return !matched_.test(w); });
                counter.add(g_.degree(v));
                return choice_[v] != UNMATCHED<Index>;
            },
            [&](Index v) { g_.weight ? weighted_.prefetch(v) : unweighted_.prefetch(v); });
    }

    // Chooses for the vertices that are left without a choice, until there are none.
    void choose_all_again(WorkCounter& counter) {
        for (std::size_t k = 0; k < released_.size(); ++k) {
            prefetch(released_, k);
            const Index v = released_[k];
            if (matched_.test(v)) continue;
            choice_[v] = best(v, [&](Index w) { return !matched_.test(w); });
            if (choice_[v] != UNMATCHED<Index>) settle(v);
            if (!counter.add(g_.degree(v))) return;
        }
        released_.clear();
    }
    void prefetch(const std::vector<Index>& sequence, std::size_t k) const {
        if (g_.weight) weighted_.template prefetch_ahead<8>(sequence, k, sequence.size());
        else unweighted_.template prefetch_ahead<8>(sequence, k, sequence.size());
    }

    // Matches v to what it has chosen, or lets it wait there.
    void settle(Index v) {
        const Index w = choice_[v];
        if (ghosts_.is_ghost(w)) send(w, v, true);
        if (choice_[w] == v) pair(v, w);
        else next_[v] = std::exchange(head_[w], v);
    }

    // v is an own vertex, w may be a ghost.
    void pair(Index v, Index w) {
        matched_.set(v), matched_.set(w);
        release(v), release(w);
        if (border_.test(v)) paired_.push_back(v);
        if (!ghosts_.is_ghost(w) && border_.test(w)) paired_.push_back(w);
    }

    void release(Index v) {
        for (Index u = head_[v]; u != UNMATCHED<Index>; u = next_[u])
            if (!matched_.test(u)) released_.push_back(u);
    }

    // Tells other ranks what is matched. The mate's owner, sent a request, matches both by itself.
    void announce_all() {
        for (std::size_t k = 0; k < paired_.size(); ++k) {
            prefetch(paired_, k);
            const Index mate = choice_[paired_[k]];
            announce(paired_[k], ghosts_.is_ghost(mate) ? ghosts_.owner(mate) : -1);
        }
        paired_.clear();
    }

    // Tells the ranks that have a neighbour of v which may still be free, but one. Lists ascend, so
    // ghosts are at their beginning and end, and those of a rank together.
    void announce(Index v, int but) {
        Index p = g_.indptr[v], end = g_.indptr[v + 1];
        for (Index last_told = 0; p < end && ghosts_.is_ghost(g_.indices[p]); ++p)
            announce_to(g_.indices[p], v, but, last_told);
        while (end > p && ghosts_.is_ghost(g_.indices[end - 1])) --end;
        for (Index last_told = 0; end < g_.indptr[v + 1]; ++end)
            announce_to(g_.indices[end], v, but, last_told);
    }
    // last_told: the end of the ghosts whose owner needs no further message.
    void announce_to(Index ghost, Index v, int but, Index& last_told) {
        if (ghost < last_told || matched_.test(ghost)) return;
        const int rank = ghosts_.owner(ghost);
        last_told = ghosts_.end_of(rank);
        if (rank != but) send(ghost, v, false);
    }

    void send(Index ghost, Index v, bool is_request) {
        to.push_back(ghosts_.number(ghost));
        what.push_back(is_request ? ghosts_.number(v) : ~ghosts_.number(v));
    }

    struct Number {
        const Ghosts<Index>* ghosts;
        Index operator()(Index v) const { return ghosts->number(v); }
    };

    Ghosts<Index> ghosts_;
    Graph<Index> g_;  // with vertices as ghosts_ numbers them
    EdgeOrder<Index, true, Number> weighted_;
    EdgeOrder<Index, false, Number> unweighted_;
    Buffer<Index> choice_;  // the neighbour that a vertex points at
    // of each vertex, the first that waits for it; of an own one, the next that waits for the same
    Buffer<Index> head_, next_;
    Bitmap matched_;
    Bitmap border_;                // the own vertices that have ghosts as neighbours
    std::vector<Index> released_;  // to choose again, some of them matched meanwhile
    std::vector<Index> paired_;  // with a neighbour on another rank and matched, not announced yet
};

}  // namespace sparsematch
