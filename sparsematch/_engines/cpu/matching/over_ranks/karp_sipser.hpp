// The part of one rank in the Karp-Sipser heuristic over several.
//
// Karp, Sipser, Maximum matching in sparse random graphs (FOCS 1981), rule by rule: a free vertex
// with one free neighbour left is matched to it; if there is none on any rank, each rank picks some
// rows and matches them to a free column. Both sides have their lists on the ranks that own them,
// so the matrix is there twice, by rows and by columns. A vertex that is matched tells its
// neighbours, whose counts fall; which neighbour is the last one is known without a search, as the
// exclusive or of the numbers of all that are left.
//
// Names: a vertex proposes to its last neighbour, or to one that was picked, on another rank; it is
// accepted or denied by a letter. Meanwhile its mate is -2 - that neighbour.
// Invariant: who has one free neighbour left is proposed to by that one only, so that of two ranks
// which propose to each other both are accepted, and no third is concerned. A vertex that waits for
// an answer lets those that propose to it wait, one exchange at most; waiting for each other in a
// circle is impossible, since only picked rows have others that propose to them.
#pragma once

#include <array>
#include <numeric>

#include "matching/over_ranks/post.hpp"

namespace sparsematch::over_ranks {

// One side: the lists of its own vertices, and what is known of each.
template <class Index>
struct KarpSipserSide {
    const std::int64_t* indptr;
    const Index* indices;
    Index* mate;  // below zero if free
    // Of each vertex that is free, one beside the other, as they are read together.
    struct Left {
        Index degree;  // entries with free vertices of the other side
        Index last;    // exclusive or of the numbers of these
    };
    Left* left;
};

template <class Index>
class KarpSipser {
    // One list of each for messages to rows, and one for messages to columns.
    enum Kind : int { GONE, PROPOSE, ACCEPT, DENY, KINDS };
    static constexpr Index none = UNMATCHED<Index>;
    // Columns that a picked row tries, at most.
    static constexpr int tries = 8;
    // So many rows are picked for each exchange that the last ones took, or a share of what is
    // left, and at most a larger share: where chains are long, waiting for them takes longest.
    static constexpr Index least = 32, least_share = 2048, largest_share = 16;

  public:
    KarpSipser(const KarpSipserSide<Index>& rows, const KarpSipserSide<Index>& cols,
               Owners<Index> row_owners, Owners<Index> col_owners, std::int64_t budget,
               std::uint64_t seed)
        : sides_{rows, cols}, owners_{std::move(row_owners), std::move(col_owners)},
          post_(owners_[0].size(), 2 * KINDS), budget_(budget), seed_(seed), begin_(0) {
        for (int s = 0; s < 2; ++s) count(s);
        const auto n = static_cast<std::uint64_t>(owners_[0].n());
        // a stride through the rows that has no factor in common with their number
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

    // `quiet`: no rank has a vertex with one free neighbour, or a letter that is not answered.
    void step(bool quiet) {
        const std::int64_t limit = edges_ + budget_;
        post_.receive([this](int kind, std::span<const Index> words) { read(kind, words); });
        answer_waiting();
        if (!started_) start(limit);
        follow(limit);
        ++chain_;
        if (quiet) pick(limit);
        bool busy = !started_ || !ones_.empty() || !gone_.empty() || !waiting_.empty();
        for (int k = 0; k < 2 * KINDS && !busy; ++k) busy = post_.any(k);
        post_.seal(busy, has_rows());
    }

    std::int64_t edges() const { return edges_; }
    Post<Index>& post() { return post_; }
    std::size_t bytes() const {
        return post_.bytes() + (ones_.capacity() + gone_.capacity()) * sizeof(Vertex) +
               waiting_.capacity() * sizeof(Waiting) + again_.capacity() * sizeof(Again);
    }

  private:
    struct Vertex {
        int side;
        Index place;
    };
    struct Waiting {  // a proposal to an own vertex that waits for an answer itself
        int side;
        Index place, from;
    };
    struct Again {  // a row that was denied, and how often
        Index row;
        int tries;
    };

    void count(int s) {
        const auto& side = sides_[s];
        for (Index v = 0; v < owners_[s].n(); ++v) {
            Index all = 0;
            for (auto p = side.indptr[v]; p < side.indptr[v + 1]; ++p) all ^= side.indices[p];
            side.left[v] = {static_cast<Index>(side.indptr[v + 1] - side.indptr[v]), all};
        }
    }

    // What is matched already is gone; then those with one neighbour are looked for.
    void start(std::int64_t limit) {
        for (; started_at_.side < 2; ++started_at_.side, started_at_.place = 0) {
            const int s = started_at_.side;
            for (Index& v = started_at_.place; v < owners_[s].n(); ++v) {
                if (edges_ >= limit) return;
                if (sides_[s].mate[v] >= 0) tell_gone(s, v);
                else if (sides_[s].left[v].degree == 1) ones_.push_back({s, v});
            }
        }
        started_ = true;
    }

    void read(int kind, std::span<const Index> words) {
        const int s = kind / KINDS;
        const Index first = owners_[s].first();
        for (std::size_t k = 0; k < words.size(); k += 2) {
            if (k + 16 < words.size())
                SPARSEMATCH_PREFETCH(&sides_[s].left[words[k + 16] - first], 1);
            const Index v = words[k] - first, from = words[k + 1];
            switch (kind % KINDS) {
                case GONE:
                    fall(s, v, from);
                    break;
                case PROPOSE:
                    propose(s, v, from);
                    break;
                case ACCEPT:
                    match(s, v, from);
                    break;
                default:
                    denied(s, v);
                    break;
            }
        }
    }

    // A neighbour of a vertex is gone.
    void fall(int s, Index v, Index from) {
        auto& left = sides_[s].left[v];
        left.last ^= from;
        if (--left.degree == 1 && sides_[s].mate[v] == none) ones_.push_back({s, v});
    }

    // A vertex of the other side, named by its number, proposes to an own one.
    void propose(int s, Index v, Index from) {
        const Index mate = sides_[s].mate[v];
        if (mate >= 0) {
            post_.send(owners_[1 - s](from), (1 - s) * KINDS + DENY, from, Index{0});
        } else if (mate == none) {
            post_.send(owners_[1 - s](from), (1 - s) * KINDS + ACCEPT, from,
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
    void denied(int s, Index v) {
        if (sides_[s].mate[v] >= 0) return;
        sides_[s].mate[v] = none;
        if (sides_[s].left[v].degree == 1) ones_.push_back({s, v});
    }

    void match(int s, Index v, Index mate) {
        sides_[s].mate[v] = mate;
        gone_.push_back({s, v});
    }
    // Nobody has to be told if the partner was the last neighbour: the others are gone.
    void tell_gone(int s, Index v) {
        const auto& side = sides_[s];
        if (side.left[v].degree <= 1) return;
        const Index mate = side.mate[v];
        const auto& owners = owners_[1 - s];
        const Index number = v + owners_[s].first();
        edges_ += side.indptr[v + 1] - side.indptr[v];
        for (auto p = side.indptr[v]; p < side.indptr[v + 1]; ++p) {
            const Index u = side.indices[p];
            if (u == mate) continue;
            if (owners.own(u)) fall(1 - s, u - owners.first(), number);
            else post_.send(owners(u), (1 - s) * KINDS + GONE, u, number);
        }
    }

    // Matches vertices to their last neighbours, and lets the counts fall.
    void follow(std::int64_t limit) {
        while (edges_ < limit && !(ones_.empty() && gone_.empty())) {
            for (std::size_t k = 0; k < ones_.size(); ++k) {
                if (k + 8 < ones_.size()) prefetch(ones_[k + 8]);
                const auto [s, v] = ones_[k];
                const auto [degree, last] = sides_[s].left[v];
                if (sides_[s].mate[v] == none && degree == 1) offer(s, v, last);
            }
            ones_.clear();
            tell_gone(limit);
        }
    }

    // Tells the neighbours of matched vertices, in the order in which they were matched.
    void tell_gone(std::int64_t limit) {
        std::size_t k = 0;
        for (; k < gone_.size() && edges_ < limit; ++k) {
            if (k + 16 < gone_.size())
                SPARSEMATCH_PREFETCH(&sides_[gone_[k + 16].side].indptr[gone_[k + 16].place]);
            if (k + 8 < gone_.size()) {
                const auto& side = sides_[gone_[k + 8].side];
                SPARSEMATCH_PREFETCH(&side.indices[side.indptr[gone_[k + 8].place]]);
            }
            if (k + 3 < gone_.size()) prefetch_neighbours(gone_[k + 3]);
            tell_gone(gone_[k].side, gone_[k].place);
        }
        gone_.erase(gone_.begin(), gone_.begin() + static_cast<std::ptrdiff_t>(k));
    }
    SPARSEMATCH_INLINE void prefetch(Vertex v) const {
        SPARSEMATCH_PREFETCH(&sides_[v.side].mate[v.place], 1);
        SPARSEMATCH_PREFETCH(&sides_[v.side].left[v.place], 1);
    }
    SPARSEMATCH_INLINE void prefetch_neighbours(Vertex v) const {
        const auto& side = sides_[v.side];
        const auto& owners = owners_[1 - v.side];
        const auto first = side.indptr[v.place], last = side.indptr[v.place + 1];
        for (auto p = first; p < std::min(last, first + 8); ++p)
            if (owners.own(side.indices[p]))
                SPARSEMATCH_PREFETCH(&sides_[1 - v.side].left[side.indices[p] - owners.first()], 1);
    }

    // Matches a free vertex to one of the other side, or proposes it. False: that one is matched.
    bool offer(int s, Index v, Index u) {
        const auto& owners = owners_[1 - s];
        if (!owners.own(u)) {
            sides_[s].mate[v] = -2 - u;
            post_.send(owners(u), (1 - s) * KINDS + PROPOSE, u, v + owners_[s].first());
            return true;
        }
        const Index place = u - owners.first(), mate = sides_[1 - s].mate[place];
        if (mate >= 0) return false;
        if (mate != none) {
            waiting_.push_back({1 - s, place, v + owners_[s].first()});
            return true;
        }
        match(1 - s, place, v + owners_[s].first());
        match(s, v, u);
        return true;
    }

    bool has_rows() const { return next_ < owners_[0].n() || begin_ < again_.size(); }

    // Matches some rows to free columns, each with what follows from it here.
    void pick(std::int64_t limit) {
        const Index left = owners_[0].n() - next_ + static_cast<Index>(again_.size() - begin_);
        const std::size_t end = again_.size();  // what is denied from now on has to wait
        const Index most = std::max(left / largest_share, least);
        Index n = std::min(chain_ * std::max(left / least_share, least), most);
        chain_ = 0;
        while (n > 0 && edges_ < limit && (begin_ < end || next_ < owners_[0].n())) {
            const Again next = begin_ < end ? again_[begin_++] : Again{next_row(), 0};
            const auto& rows = sides_[0];
            if (rows.mate[next.row] != none || rows.left[next.row].degree <= 0) continue;
            try_columns(next);
            if (--n % 32 == 0) follow(limit);
        }
        follow(limit);
        if (begin_ == again_.size()) again_.clear(), begin_ = 0;
    }

    // The next row, a stride on; what `pick` is going to read of rows to come is prefetched.
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

    // Offers a row to the next columns of its list, from a place that the seed draws on.
    void try_columns(Again row) {
        const auto& side = sides_[0];
        const auto first = side.indptr[row.row];
        const auto length = static_cast<std::uint64_t>(side.indptr[row.row + 1] - first);
        if (const auto [degree, last] = side.left[row.row]; degree == 1)
            return void(offer(0, row.row, last));
        const auto begin = (static_cast<std::uint64_t>(row.row) * 0x9E3779B97F4A7C15u ^ seed_) >> 7;
        for (; row.tries < tries; ++row.tries) {
            const Index u = side.indices[first + (begin + row.tries) % length];
            ++edges_;
            if (!offer(0, row.row, u)) continue;
            ++row.tries;
            if (side.mate[row.row] < none) again_.push_back(row);  // in case it is denied
            return;
        }
    }

    const std::array<KarpSipserSide<Index>, 2> sides_;
    const std::array<Owners<Index>, 2> owners_;
    Post<Index> post_;
    const std::int64_t budget_;
    const std::uint64_t seed_;
    std::int64_t edges_ = 0;
    bool started_ = false;
    Vertex started_at_{0, 0};
    // With one neighbour left, perhaps; matched, but their neighbours have not been told.
    std::vector<Vertex> ones_, gone_;
    std::vector<Waiting> waiting_;
    std::vector<Again> again_;
    std::size_t begin_;
    Index next_ = 0, chain_ = 0;  // exchanges since rows were picked
    // The row to be picked next, the steps from each to the next one, and to those far ahead.
    Index row_ = 0, stride_ = 0, near_ = 0, far_ = 0;
};

}  // namespace sparsematch::over_ranks
