// Hall violators: sets of rows with too few columns, one for each piece of the vertical part.
//
// Hall (J. London Math. Soc. 10, 1935); Dulmage, Mendelsohn: Coverings of bipartite graphs (1958).
// With a maximum matching, the rows S that alternating paths reach from one free row have entries
// in the mates of S only, of which there are |S| - 1. No proper subset of S violates Hall's
// condition: it would contain the free row, as all others have a mate of their own, and with each
// row the mates of all its columns, hence all that is reached. Each free row has one such set,
// other matchings others: the smallest of all is not sought. A free row with few entries is matched
// instead of a near one with more, as rows with few entries make short sets. Then the free rows of
// a piece are searched from with a limit that doubles, until one search is complete or the budget
// is spent. The set found is reduced while that is cheap (minimal_violator.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "decomposition/deficient_pieces.hpp"
#include "decomposition/minimal_violator.hpp"

namespace sparsematch {

// How long is searched for short violators; each that is found is right and minimal.
struct ViolatorLimits {
    std::int64_t near = 64;   // entries to be read from a free row that might be exchanged
    std::int64_t first = 32;  // entries of each of the first searches; doubled again and again
    // Reads of each entry of a piece, on average: for exchanges; for searches, one to be completed.
    std::int64_t exchanges = 2, searches = 4;
    std::int64_t smaller = 1'000'000;  // entries to be read for smaller violators, in all
};

template <class Index> class HallViolators {
  public:
    // Of the pieces, renumbered; all that follows is in their numbers until it is written.
    HallViolators(const DeficientPieces<Index>& pieces, RunContext& run,
                  const ViolatorLimits& limits = {})
        : pieces_(pieces), a_(pieces.entries()), limits_(limits), run_(run), counter_(run),
          seen_(a_.n_cols), row_mate_(a_.n_rows), col_mate_(a_.n_cols),
          m_{row_mate_.data(), col_mate_.data()}, queue_(static_cast<std::size_t>(a_.n_rows) + 1),
          local_(a_.n_cols, UNMATCHED<Index>), cheap_(limits.smaller) {
        for (Index i = 0; i < a_.n_rows; ++i) m_.match(i, i);
    }

    // Writes the rows of one violator of each piece, and in the places behind its first one its
    // columns: those of piece k to [starts[k], starts[k + 1]). Workspace: a few indices per row.
    // Time: O(rows and entries of the pieces).
    void find(Index n_pieces, Index* rows, Index* cols, Index* starts) {
        Index written = 0;
        for (Index k = 0; k < n_pieces && !run_.stopped(); ++k) {
            Index *const piece_rows = rows + written, *const piece_cols = cols + written;
            starts[k] = written;
            const Index size = pieces_.free_end(k) - pieces_.begin(k) > 1
                                   ? choose(k, piece_rows, piece_cols)
                                   : copy_piece(k, piece_rows, piece_cols);
            for (Index p = 0; p < size; ++p) {
                piece_rows[p] = pieces_.row(piece_rows[p]);
                if (p > 0) piece_cols[p] = pieces_.col(piece_cols[p]);
            }
            written += size;
        }
        starts[n_pieces] = written;
    }

  private:
    // With one free row, all that it reaches: the piece.
    Index copy_piece(Index k, Index* rows, Index* cols) const {
        const Index first = pieces_.begin(k), size = pieces_.end(k) - first;
        for (Index p = 0; p < size; ++p) rows[p] = cols[p] = first + p;
        cols[0] = UNMATCHED<Index>;
        return size;
    }

    Index choose(Index k, Index* rows, Index* cols) {
        const Index first = pieces_.begin(k), last = pieces_.end(k);
        const std::int64_t entries = a_.indptr[last] - a_.indptr[first] + last - first;
        free_.resize(pieces_.free_end(k) - first);
        std::iota(free_.begin(), free_.end(), first);
        for (const Index i : free_) m_.row_mate[i] = UNMATCHED<Index>;
        Index size = pair(rows);
        if (size == 0) {
            exchange(limits_.exchanges * entries);
            size = shortest(limits_.searches * entries, rows);
        }
        for (Index p = 0; p < size; ++p) cols[p] = m_.row_mate[rows[p]];
        return shrink(first, last, size, rows, cols);
    }

    // Two rows with one entry each, in the same column: nothing in a piece with entries is shorter,
    // and no search is needed. Returns 2, or 0 if there are none.
    Index pair(Index* out) const {
        for (const Index i : free_) {
            if (a_.degree(i) != 1) continue;
            const Index other = m_.col_mate[a_.indices[a_.indptr[i]]];
            if (a_.degree(other) != 1) continue;
            out[0] = i, out[1] = other;
            return 2;
        }
        return 0;
    }

    // For each free row: if one of the rows near it has more entries, augments along the path
    // there, so that the other row is free.
    void exchange(std::int64_t budget) {
        if (parent_.size() == 0) parent_ = Buffer<Index>(queue_.size());
        work_ = 0;
        for (auto i = free_.begin(); i != free_.end() && work_ < budget; ++i, ++work_) {
            if (a_.degree(*i) >= limits_.near) continue;
            const Index tail = reach(*i, limits_.near, a_.n_rows);
            Index heaviest = 0;
            for (Index k = 1; k < tail; ++k)
                if (a_.degree(queue_[k]) > a_.degree(queue_[heaviest])) heaviest = k;
            if (heaviest == 0) continue;
            *i = queue_[heaviest];
            Index j = std::exchange(m_.row_mate[*i], UNMATCHED<Index>);
            for (Index k = heaviest; k != 0;) {
                k = parent_[k];
                const Index next = m_.row_mate[queue_[k]];
                m_.match(queue_[k], j);
                j = next;
            }
        }
    }

    // The shortest violator that is found with about so much work; at least one.
    Index shortest(std::int64_t budget, Index* out) {
        Index best = 0, most = a_.n_rows;
        work_ = 0;
        const auto attempt = [&](Index i, std::int64_t limit) {
            const std::int64_t before = work_;
            const Index size = reach(i, limit, most);
            if (size > most || work_ - before > limit) return;
            std::copy(queue_.begin(), queue_.begin() + size, out);
            best = size;
            most = size - 1;  // only a shorter one is wanted from now on
        };
        for (std::int64_t limit = limits_.first; best == 0 && work_ < budget; limit *= 2)
            for (auto i = free_.begin(); i != free_.end() && work_ < budget; ++i, ++work_)
                if (a_.degree(*i) < limit) attempt(*i, limit);
        if (best == 0)
            attempt(*std::ranges::min_element(free_, {}, [&](Index i) { return a_.degree(i); }),
                    budget);
        return best;
    }

    // Searches the piece for a violator on fewer of the columns of one of `size` rows; its size.
    Index shrink(Index first, Index last, Index size, Index* rows, Index* cols) {
        if (size <= 2 || cheap_ <= 0) return size;
        for (Index p = 1; p < size; ++p) local_[cols[p]] = p - 1;
        MinimalViolator<Index> inside(size - 1);
        std::vector<Index> number, found;
        for (Index i = first; i < last; ++i) {
            Index p = a_.indptr[i];
            for (; p < a_.indptr[i + 1] && local_[a_.indices[p]] != UNMATCHED<Index>; ++p)
                inside.add_entry(local_[a_.indices[p]]);
            if (p == a_.indptr[i + 1]) {
                inside.end_row();
                number.push_back(i);
            } else {
                inside.drop_row();
            }
        }
        for (Index p = 1; p < size; ++p) local_[cols[p]] = UNMATCHED<Index>;
        if (inside.n_rows() == size || !inside.shrink(found, cheap_)) return size;
        const Index smaller = static_cast<Index>(found.size());
        for (Index p = 0, q = 1; p < size - 1; ++p)
            if (inside.has_col(p)) cols[q++] = cols[p + 1];
        std::transform(found.begin(), found.end(), rows, [&](Index i) { return number[i]; });
        return smaller;
    }

    // Queues the rows that alternating paths reach from row i, until they have more than `limit`
    // entries or are more than `most`, and the place that each was reached from, if there is room.
    // Returns how many.
    Index reach(Index i, std::int64_t limit, Index most) {
        Index tail = 1;
        std::int64_t read = 0;
        queue_[0] = i;
        for (Index head = 0; head < tail && tail <= most && read <= limit && !run_.stopped();
             ++head) {
            const Index r = queue_[head], old = tail;
            read += a_.degree(r) + 1;
            tail = append_unseen(a_.neighbours(r), seen_, queue_.data(), tail,
                                 [&](Index j) { return m_.col_mate[j]; });
            if (parent_.size()) std::fill(parent_.begin() + old, parent_.begin() + tail, head);
        }
        for (Index k = 1; k < tail; ++k) seen_.clear(m_.row_mate[queue_[k]]);
        work_ += read;
        counter_.add(read);
        return tail;
    }

    const DeficientPieces<Index>& pieces_;
    const Csr<Index> a_;
    const ViolatorLimits limits_;
    RunContext& run_;
    WorkCounter counter_;
    Bitmap seen_;  // columns; all clear between searches
    Buffer<Index> row_mate_, col_mate_;
    const Matching<Index> m_;
    Buffer<Index> queue_, parent_, local_;
    std::vector<Index> free_;  // rows of the piece at hand
    std::int64_t cheap_;       // entries still to be read for smaller violators
    std::int64_t work_ = 0;
};

// Writes the pieces, as DeficientPieces::label, and a violator of each. Returns how many there are.
template <class Index>
Index hall_violators(const Csr<Index>& a, const Matching<Index>& m, Index* row_piece,
                     Index* col_piece, Index* rows, Index* cols, Index* starts, RunContext& run) {
    DeficientPieces<Index> part(a, m, run);
    const Index n = part.label(row_piece, col_piece);
    part.renumber(n);
    HallViolators<Index>(part, run).find(n, rows, cols, starts);
    return n;
}

}  // namespace sparsematch
