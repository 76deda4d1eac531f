// The part of one rank in the Karp-Sipser heuristic over several.
//
// Karp, Sipser, Maximum matching in sparse random graphs (FOCS 1981), rule by rule: a free vertex
// with one free neighbour left is matched to it; if there is none on any rank, each rank picks some
// rows and matches them to a free column. Ranks store the lists of their own rows and of their own
// columns. When a vertex is matched, the residual degrees of its neighbours decrease; the last free
// neighbour is known without a search, as the exclusive or of the numbers of all free ones.
//
// Names: a vertex proposes to its last neighbour, or to a picked one, on another rank, whose owner
// accepts or denies by a message. Until then its mate is -2 - that neighbour.
// Invariant: a vertex with one free neighbour left gets proposals from that neighbour only, so
// mutual proposals can both be accepted. A vertex waiting for an answer defers proposals, by one
// exchange at most; waiting vertices form no cycle, as only picked rows get several proposals.
#pragma once

#include <array>
#include <numeric>

#include "matching/over_ranks/message_buffers.hpp"

namespace sparsematch::over_ranks {

// One side: lists, mates and residual degrees of its own vertices.
template <class Index> struct KarpSipserSide {
    const std::int64_t* indptr;
    const Index* indices;
    Index* mate;  // below zero if free
    struct Residual {
        Index degree;  // entries with free vertices of the other side
        Index last;    // exclusive or of the numbers of these
    };
    Residual* residual;  // of each free vertex
};

template <class Index> class KarpSipser {
    // One list of each for messages to rows, and one for messages to columns.
    enum Kind : int { MATCHED, PROPOSE, ACCEPT, DENY, KINDS };
    // Most columns that a picked row tries; columns.
    static constexpr int tries = 8;
    // Rows per pick: for each exchange since the last, `least` or 1 / least_share of those left, at
    // most 1 / largest_share; rows. Long chains take many exchanges, so more must run at once.
    static constexpr Index least = 32, least_share = 2048, largest_share = 16;

  public:
    KarpSipser(const KarpSipserSide<Index>& rows, const KarpSipserSide<Index>& cols,
               Owners<Index> row_owners, Owners<Index> col_owners, std::int64_t budget,
               std::uint64_t seed)
        : messages(row_owners.size(), 2 * KINDS), sides_{rows, cols},
          owners_{std::move(row_owners), std::move(col_owners)}, budget_(budget), seed_(seed) {
        for (int s = 0; s < 2; ++s) count(s);
        const auto n = static_cast<std::uint64_t>(owners_[0].n());
        // a stride coprime to the number of rows
        if (n > 1) {
            std::uint64_t stride = (0x9E3779B97F4A7C15u ^ seed) % n;
            while (std::gcd(stride, n) != 1) ++stride;
            stride_ = static_cast<Index>(stride % n);
            for (int k = 0; k < 16; ++k) {
                if (k == 8) near_ = far_;
                far_ = after(far_, stride_);
            }
        }
    }

    // `quiet`: no rank has a vertex with one free neighbour, or an unanswered message.
    void step(bool quiet) {
        const std::int64_t limit = edges_ + budget_;
        messages.receive([this](int kind, std::span<const Index> words) { read(kind, words); });
        answer_waiting();
        if (!started_) start(limit);
        follow(limit);
        ++chain_;
        if (quiet) pick(limit);
        bool busy = !started_ || !ones_.empty() || !matched_.empty() || !waiting_.empty();
        for (int k = 0; k < 2 * KINDS && !busy; ++k) busy = messages.any(k);
        messages.pack(busy, has_rows());
    }

    std::int64_t edges() const { return edges_; }
    MessageBuffers<Index> messages;

  private:
    struct Vertex {
        int side;
        Index place;
    };
    struct Waiting {  // a proposal to an own vertex with an unanswered proposal itself
        int side;
        Index place, from;
    };
    struct Denied {  // a row without an accepted proposal, and the columns tried
        Index row;
        int tries;
    };

    void count(int s) {
        const auto& side = sides_[s];
        for (Index v = 0; v < owners_[s].n(); ++v) {
            Index all = 0;
            for (auto p = side.indptr[v]; p < side.indptr[v + 1]; ++p) all ^= side.indices[p];
            side.residual[v] = {static_cast<Index>(side.indptr[v + 1] - side.indptr[v]), all};
        }
    }

    // Announces the vertices matched before, and lists those with one neighbour.
    void start(std::int64_t limit) {
        for (; started_at_.side < 2; ++started_at_.side, started_at_.place = 0) {
            const int s = started_at_.side;
            for (Index& v = started_at_.place; v < owners_[s].n(); ++v) {
                if (edges_ >= limit) return;
                if (sides_[s].mate[v] >= 0) announce(s, v);
                else if (sides_[s].residual[v].degree == 1) ones_.push_back({s, v});
            }
        }
        started_ = true;
    }

    void read(int kind, std::span<const Index> words) {
        const int s = kind / KINDS;
        const Index first = owners_[s].first();
        for (std::size_t k = 0; k < words.size(); k += 2) {
            if (k + 16 < words.size())
                SPARSEMATCH_PREFETCH(&sides_[s].residual[words[k + 16] - first], 1);
            const Index v = words[k] - first, from = words[k + 1];
            if (kind % KINDS == MATCHED) lose(s, v, from);
            else if (kind % KINDS == PROPOSE) propose(s, v, from);
            else if (kind % KINDS == ACCEPT) match(s, v, from);
            else deny(s, v);
        }
    }

    // A neighbour of an own vertex is matched.
    void lose(int s, Index v, Index from) {
        auto& residual = sides_[s].residual[v];
        residual.last ^= from;
        if (--residual.degree == 1 && sides_[s].mate[v] == UNMATCHED<Index>)
            ones_.push_back({s, v});
    }

    // A vertex of the other side proposes to an own one.
    void propose(int s, Index v, Index from) {
        const Index mate = sides_[s].mate[v];
        if (mate >= 0) {
            messages.send(owners_[1 - s](from), (1 - s) * KINDS + DENY, from, Index{0});
        } else if (mate == UNMATCHED<Index>) {
            messages.send(owners_[1 - s](from), (1 - s) * KINDS + ACCEPT, from,
                          v + owners_[s].first());
            match(s, v, from);
        } else if (mate == -2 - from) {
            match(s, v, from);  // its owner does the same
        } else {
            waiting_.push_back({s, v, from});
        }
    }
    void answer_waiting() {
        auto waiting = std::move(waiting_);
        waiting_.clear();
        for (const auto& [s, v, from] : waiting) {
            if (!owners_[1 - s].own(from)) propose(s, v, from);
            else ones_.push_back({1 - s, from - owners_[1 - s].first()});
        }
    }
    void deny(int s, Index v) {
        if (sides_[s].mate[v] >= 0) return;
        sides_[s].mate[v] = UNMATCHED<Index>;
        if (sides_[s].residual[v].degree == 1) ones_.push_back({s, v});
    }

    void match(int s, Index v, Index mate) {
        sides_[s].mate[v] = mate;
        matched_.push_back({s, v});
    }
    // Decreases the degrees of the neighbours of a matched vertex, unless its mate was the last.
    void announce(int s, Index v) {
        const auto& side = sides_[s];
        if (side.residual[v].degree <= 1) return;
        const Index mate = side.mate[v];
        const auto& owners = owners_[1 - s];
        const Index number = v + owners_[s].first();
        edges_ += side.indptr[v + 1] - side.indptr[v];
        for (auto p = side.indptr[v]; p < side.indptr[v + 1]; ++p) {
            const Index u = side.indices[p];
            if (u == mate) continue;
            if (owners.own(u)) lose(1 - s, u - owners.first(), number);
            else messages.send(owners(u), (1 - s) * KINDS + MATCHED, u, number);
        }
    }

    // Matches vertices to their last neighbours, and updates degrees.
    void follow(std::int64_t limit) {
        while (edges_ < limit && !(ones_.empty() && matched_.empty())) {
            for (std::size_t k = 0; k < ones_.size(); ++k) {
                if (k + 8 < ones_.size()) prefetch(ones_[k + 8]);
                const auto [s, v] = ones_[k];
                const auto [degree, last] = sides_[s].residual[v];
                if (sides_[s].mate[v] == UNMATCHED<Index> && degree == 1) offer(s, v, last);
            }
            ones_.clear();
            announce(limit);
        }
    }

    // Announces matched vertices, in the order in which they were matched.
    void announce(std::int64_t limit) {
        std::size_t k = 0;
        for (; k < matched_.size() && edges_ < limit; ++k) {
            if (k + 16 < matched_.size())
                SPARSEMATCH_PREFETCH(&sides_[matched_[k + 16].side].indptr[matched_[k + 16].place]);
            if (k + 8 < matched_.size()) {
                const auto& side = sides_[matched_[k + 8].side];
                SPARSEMATCH_PREFETCH(&side.indices[side.indptr[matched_[k + 8].place]]);
            }
            if (k + 3 < matched_.size()) prefetch_neighbours(matched_[k + 3]);
            announce(matched_[k].side, matched_[k].place);
        }
        matched_.erase(matched_.begin(), matched_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    SPARSEMATCH_INLINE void prefetch(Vertex v) const {
        SPARSEMATCH_PREFETCH(&sides_[v.side].mate[v.place], 1);
        SPARSEMATCH_PREFETCH(&sides_[v.side].residual[v.place], 1);
    }
    SPARSEMATCH_INLINE void prefetch_neighbours(Vertex v) const {
        const auto& side = sides_[v.side];
        const auto& owners = owners_[1 - v.side];
        const auto first = side.indptr[v.place], last = side.indptr[v.place + 1];
        for (auto p = first; p < std::min(last, first + 8); ++p)
            if (owners.own(side.indices[p]))
                SPARSEMATCH_PREFETCH(&sides_[1 - v.side].residual[side.indices[p] - owners.first()],
                                     1);
    }

    // Matches a free vertex to one of the other side, or proposes to it. False: it is matched.
    bool offer(int s, Index v, Index u) {
        const auto& owners = owners_[1 - s];
        if (!owners.own(u)) {
            sides_[s].mate[v] = -2 - u;
            messages.send(owners(u), (1 - s) * KINDS + PROPOSE, u, v + owners_[s].first());
            return true;
        }
        const Index place = u - owners.first(), mate = sides_[1 - s].mate[place];
        if (mate >= 0) return false;
        if (mate != UNMATCHED<Index>) {
            waiting_.push_back({1 - s, place, v + owners_[s].first()});
            return true;
        }
        match(1 - s, place, v + owners_[s].first());
        match(s, v, u);
        return true;
    }

    bool has_rows() const { return next_ < owners_[0].n() || begin_ < denied_.size(); }

    // Matches some rows to free columns, with all consequences on this rank.
    void pick(std::int64_t limit) {
        const Index left = owners_[0].n() - next_ + static_cast<Index>(denied_.size() - begin_);
        const std::size_t end = denied_.size();  // rows denied from now on wait for the next pick
        const Index most = std::max(left / largest_share, least);
        Index n = std::min(chain_ * std::max(left / least_share, least), most);
        chain_ = 0;
        while (n > 0 && edges_ < limit && (begin_ < end || next_ < owners_[0].n())) {
            const Denied next = begin_ < end ? denied_[begin_++] : Denied{next_row(), 0};
            const auto& rows = sides_[0];
            if (rows.mate[next.row] != UNMATCHED<Index> || rows.residual[next.row].degree <= 0)
                continue;
            try_columns(next);
            if (--n % 32 == 0) follow(limit);
        }
        follow(limit);
        if (begin_ == denied_.size()) denied_.clear(), begin_ = 0;
    }

    // The next row, by the stride; prefetches for the rows after it.
    Index next_row() {
        const auto& side = sides_[0];
        const Index now = row_, near = after(now, near_), far = after(now, far_);
        SPARSEMATCH_PREFETCH(&side.indptr[far]);
        prefetch({0, far});
        SPARSEMATCH_PREFETCH(&side.indices[side.indptr[near]]);
        row_ = after(now, stride_);
        ++next_;
        return now;
    }
    Index after(Index row, Index stride) const {
        const Index left = owners_[0].n() - row;
        return stride < left ? row + stride : stride - left;
    }

    // Offers a row to the next columns of its list, from a random place on.
    void try_columns(Denied row) {
        const auto& side = sides_[0];
        const auto first = side.indptr[row.row];
        const auto length = static_cast<std::uint64_t>(side.indptr[row.row + 1] - first);
        if (const auto [degree, last] = side.residual[row.row]; degree == 1)
            return void(offer(0, row.row, last));
        const auto begin = (static_cast<std::uint64_t>(row.row) * 0x9E3779B97F4A7C15u ^ seed_) >> 7;
        for (; row.tries < tries; ++row.tries) {
            const Index u = side.indices[first + (begin + row.tries) % length];
            ++edges_;
            if (!offer(0, row.row, u)) continue;
            ++row.tries;
            if (side.mate[row.row] < UNMATCHED<Index>)
                denied_.push_back(row);  // in case it is denied
            return;
        }
    }

    const std::array<KarpSipserSide<Index>, 2> sides_;
    const std::array<Owners<Index>, 2> owners_;
    const std::int64_t budget_;
    const std::uint64_t seed_;
    std::int64_t edges_ = 0;
    bool started_ = false;
    Vertex started_at_{0, 0};
    // Candidates with one neighbour left; matched, but not announced.
    std::vector<Vertex> ones_, matched_;
    std::vector<Waiting> waiting_;
    std::vector<Denied> denied_;
    std::size_t begin_ = 0;
    Index next_ = 0, chain_ = 0;  // rows picked; exchanges since the last pick
    // The row to be picked next, the stride, and 8 and 16 strides, for prefetches.
    Index row_ = 0, stride_ = 0, near_ = 0, far_ = 0;
};

}  // namespace sparsematch::over_ranks
