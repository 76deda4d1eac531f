// Hall violators: sets of rows with too few columns between them, one for each connected piece of
// the vertical part.
//
// Hall (J. London Math. Soc. 10, 1935); Dulmage, Mendelsohn: Coverings of bipartite graphs (1958).
// With a maximum matching, the rows S that alternating paths reach from one free row have entries
// in the mates of S only, of which there are |S| - 1. No proper subset of S violates Hall's
// condition: it would have to contain the free row, since all others have a mate of their own, and
// with each row the mates of all its columns, hence everything that is reached. Each free row has
// one such set, and other matchings have others: the smallest of all is not sought. A free row with
// few entries is matched instead of one with more that is near to it, since rows with few entries
// make short sets. Then the free rows of a piece are searched from with a limit that doubles, until
// one search is complete or the budget is spent. The set found is reduced as long as that is cheap
// (minimal_violator.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/append_unseen.hpp"
#include "core/certificates.hpp"
#include "core/csr.hpp"
#include "core/union_find.hpp"
#include "decomposition/minimal_violator.hpp"

namespace sparsematch {

template <class Index>
class HallViolators {
  public:
    // The matching must be maximum; it stays so, but changes.
    HallViolators(const Csr<Index>& a, Matching<Index> m, RunContext& run)
        : a_(a), m_(m), run_(run), counter_(run), seen_(a.n_cols),
          queue_(static_cast<std::size_t>(a.n_rows) + 1), local_(a.n_cols, UNMATCHED<Index>) {}

    // Writes the piece of each row and column of the vertical part, UNMATCHED elsewhere; pieces are
    // numbered by their first rows. Returns how many there are. Workspace: an index per row, two
    // bits per vertex.
    // Time: nearly linear, by union of rows that share a column.
    Index label(Index* row_piece, Index* col_piece) const {
        Bitmap row(a_.n_rows), col(a_.n_cols);
        reach_from_free(a_, m_, row, col, run_);
        UnionFind<Index> sets(a_.n_rows);
        for (Index i = 0; i < a_.n_rows; ++i) {
            if (!row.test(i)) continue;
            // a column is where its mate is
            for (const Index j : a_.neighbours(i)) sets.unite(i, m_.col_mate[j]);
        }
        Index n = 0;
        for (Index i = 0; i < a_.n_rows; ++i) {  // the root comes first
            const Index root = sets.find(i);
            row_piece[i] = !row.test(i) ? UNMATCHED<Index> : root == i ? n++ : row_piece[root];
        }
        for (Index j = 0; j < a_.n_cols; ++j)
            col_piece[j] = col.test(j) ? row_piece[m_.col_mate[j]] : UNMATCHED<Index>;
        return n;
    }

    // Given the pieces, writes the rows of one violator of each, and in the places behind its first
    // one its columns: those of piece k to [starts[k], starts[k + 1]). Workspace: a few indices per
    // row. Time: O(n_rows + n_cols + entries of the pieces).
    void find(const Index* row_piece, Index n_pieces, Index* violators, Index* cols,
              Index* starts) {
        const PieceRows rows(row_piece, a_.n_rows, n_pieces, [](Index) { return true; });
        PieceRows free(row_piece, a_.n_rows, n_pieces,
                       [&](Index i) { return m_.row_mate[i] == UNMATCHED<Index>; });
        Index written = 0;
        for (Index k = 0; k < n_pieces && !run_.stopped(); ++k) {
            std::int64_t entries = 0;
            for (const Index* i = rows.begin(k); i != rows.end(k); ++i)
                entries += a_.degree(*i) + 1;
            const bool choice = free.end(k) - free.begin(k) > 1;  // else there is only one
            if (choice) exchange(free.begin(k), free.end(k), 2 * entries);
            Index size = shortest(free.begin(k), free.end(k), 4 * entries, violators + written);
            for (Index p = written; p < written + size; ++p) cols[p] = m_.row_mate[violators[p]];
            if (choice)
                size =
                    shrink(rows.begin(k), rows.end(k), size, violators + written, cols + written);
            starts[k] = written;
            written += size;
        }
        starts[n_pieces] = written;
    }

  private:
    // Some rows of each piece.
    struct PieceRows {
        template <class Wanted>
        PieceRows(const Index* piece, Index n_rows, Index n_pieces, const Wanted& wanted)
            : start(static_cast<std::size_t>(n_pieces) + 1, Index{0}) {
            const auto in = [&](Index i) { return piece[i] != UNMATCHED<Index> && wanted(i); };
            for (Index i = 0; i < n_rows; ++i)
                if (in(i)) ++start[piece[i] + 1];
            for (Index k = 0; k < n_pieces; ++k) start[k + 1] += start[k];
            rows = Buffer<Index>(start[n_pieces]);
            Buffer<Index> next(n_pieces);
            std::copy(start.begin(), start.end() - 1, next.begin());
            for (Index i = 0; i < n_rows; ++i)
                if (in(i)) rows[next[piece[i]]++] = i;
        }
        Index* begin(Index k) { return rows.begin() + start[k]; }
        Index* end(Index k) { return rows.begin() + start[k + 1]; }
        const Index* begin(Index k) const { return rows.data() + start[k]; }
        const Index* end(Index k) const { return rows.data() + start[k + 1]; }
        Buffer<Index> start, rows;
    };

    // entries to be read from a free row that might be exchanged
    static constexpr std::int64_t near = 64;

    // For each free row: if one of the rows near to it has more entries, augments along the path
    // there, so that that one is free.
    void exchange(Index* first, Index* last, std::int64_t budget) {
        if (parent_.size() == 0) parent_ = Buffer<Index>(queue_.size());
        work_ = 0;
        for (Index* i = first; i != last && work_ < budget; ++i, ++work_) {
            if (a_.degree(*i) >= near) continue;
            const Index tail = reach(*i, near, a_.n_rows);
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
    Index shortest(const Index* first, const Index* last, std::int64_t budget, Index* out) {
        Index best = 0, most = a_.n_rows;
        work_ = 0;
        const auto attempt = [&](Index i, std::int64_t limit) {
            const Index size = close(i, limit, most);
            if (size == 0) return;
            std::copy(queue_.begin(), queue_.begin() + size, out);
            best = size;
            most = size - 1;  // only a shorter one is wanted from now on
        };
        if (last - first > 1)
            for (std::int64_t limit = 32; best == 0 && work_ < budget; limit *= 2)
                for (const Index* i = first; i != last && work_ < budget; ++i, ++work_)
                    if (a_.degree(*i) < limit) attempt(*i, limit);
        if (best == 0)
            attempt(*std::min_element(
                        first, last, [&](Index i, Index l) { return a_.degree(i) < a_.degree(l); }),
                    budget);
        return best;
    }

    // Searches the rows of the piece for a violator on fewer of the columns of one of `size` rows.
    // Returns its size.
    Index shrink(const Index* first, const Index* last, Index size, Index* rows, Index* cols) {
        if (size <= 2 || cheap_ <= 0) return size;
        for (Index p = 1; p < size; ++p) local_[cols[p]] = p - 1;
        MinimalViolator<Index> inside(size - 1);
        std::vector<Index> number, found;
        for (const Index* i = first; i != last; ++i) {
            Index p = a_.indptr[*i];
            for (; p < a_.indptr[*i + 1] && local_[a_.indices[p]] != UNMATCHED<Index>; ++p)
                inside.add_entry(local_[a_.indices[p]]);
            if (p == a_.indptr[*i + 1]) {
                inside.end_row();
                number.push_back(*i);
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

    // Queues all rows that alternating paths reach from row i. Returns how many; 0 if they have
    // more than `limit` entries or are more than `most`.
    Index close(Index i, std::int64_t limit, Index most) {
        const std::int64_t before = work_;
        const Index tail = reach(i, limit, most);
        return tail <= most && work_ - before <= limit ? tail : 0;
    }

    // As far as it goes before that, with the places from which the rows were reached if there is
    // room for them.
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

    const Csr<Index>& a_;
    Matching<Index> m_;
    RunContext& run_;
    WorkCounter counter_;
    Bitmap seen_;  // columns; all clear between searches
    Buffer<Index> queue_, parent_, local_;
    std::int64_t cheap_ = 1'000'000;  // entries to be read for smaller violators, in all
    std::int64_t work_ = 0;
};

}  // namespace sparsematch
