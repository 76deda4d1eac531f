// Karp-Sipser by one worker, which keeps the last live neighbour of each vertex at hand.
//
// A word for each vertex has its residual degree in the high byte, and below it the exclusive or of
// its live neighbours: when one is left, that is its number, and no list is searched. A vertex that
// has two, of which one is known, names the other: so a chain of vertices of degree two is followed
// without reading a list at all. The word of a matched vertex has its mate, so that one place less
// is written at random; mates are copied at the end.
// Invariant: the degree of a live vertex is the number of its live neighbours, each as often as it
// is repeated, or `many`; of a matched one it is zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// The words of one side's vertices, and the stack of those that have come down to degree one.
template <class Word, class Index>
class ResidualWords {
    static constexpr int shift = 8 * sizeof(Word) - 8;
    static constexpr Word below = (Word{1} << shift) - 1;
    static constexpr unsigned many = 255;  // stands for 255 or more, and is never lowered

  public:
    // Whether the numbers of so many neighbours fit, one more included.
    static bool fits(Index n) { return static_cast<std::uint64_t>(n) < below; }

    ResidualWords(const Csr<Index>& lists, Index* mate)
        : lists(lists), mate(mate), word_(lists.n_rows) {}

    // Of the empty matching. The exclusive or runs on over blocks of entries, and that of a list is
    // the difference of two: the ends of short lists are mispredicted by a loop over each.
    void count(WorkCounter& counter) {
        constexpr Index block = 1 << 11;
        const Index n = lists.n_rows, nnz = lists.nnz();
        Word running[block + 1] = {}, before = 0;
        Index v = 0;
        for (Index begin = 0, end; begin < nnz; begin = end) {
            end = begin + std::min(nnz - begin, block);
            if (!counter.add(end - begin)) return;
            for (Index p = begin; p < end; ++p)
                running[p - begin + 1] = running[p - begin] ^ static_cast<Word>(lists.indices[p]);
            for (; v < n && lists.indptr[v + 1] <= end; ++v) {
                const Word now = running[lists.indptr[v + 1] - begin];
                word_[v] = degree_word(lists.degree(v)) | (now ^ std::exchange(before, now));
            }
            running[0] = running[end - begin];
        }
        for (; v < n; ++v) word_[v] = 0;  // there are no entries
    }
    // The free neighbours of free vertices.
    void count_free(const Index* other_mate, WorkCounter& counter) {
        for (Index v = 0; v < lists.n_rows; ++v) {
            word_[v] = matched_word(mate[v]);
            if (mate[v] != UNMATCHED<Index>) continue;
            if (!counter.add(lists.degree(v))) return;
            Index live = 0;
            for (const Index w : lists.neighbours(v)) {
                if (other_mate[w] != UNMATCHED<Index>) continue;
                ++live;
                word_[v] ^= static_cast<Word>(w);
            }
            word_[v] |= degree_word(live);
        }
    }

    unsigned degree(Index v) const { return static_cast<unsigned>(word_[v] >> shift); }
    // Of a vertex of degree one.
    Index last_neighbour(Index v) const { return static_cast<Index>(word_[v] & below); }
    // Of a vertex of degree two.
    Index other_neighbour(Index v, Index than) const {
        return static_cast<Index>((word_[v] & below) ^ static_cast<Word>(than));
    }
    void match(Index v, Index w) { word_[v] = matched_word(w); }
    void copy_mates() const {
        for (Index v = 0; v < lists.n_rows; ++v)
            mate[v] = degree(v) == 0 ? static_cast<Index>(word_[v]) - 1 : UNMATCHED<Index>;
    }
    // The neighbour of least degree that is live in list v, or UNMATCHED. Packed keys (decision
    // 0005).
    Index least_neighbour(Index v, const ResidualWords& other) const {
        std::uint64_t least = ~std::uint64_t{0};
        for (const Index j : lists.neighbours(v)) {
            const std::uint64_t rank = (other.degree(j) - 1u) & 0xffu;  // of dead ones the highest
            least = std::min(least, rank << 56 | static_cast<std::uint64_t>(j));
        }
        return least >> 56 == 0xff ? UNMATCHED<Index>
                                   : static_cast<Index>(least & ((std::uint64_t{1} << 56) - 1));
    }
    SPARSEMATCH_INLINE void prefetch(Index v) const { SPARSEMATCH_PREFETCH(&word_[v], 1); }

    // Lowers the degrees of these vertices, each by one that is removed; pushes those left with
    // one. Branch-free (decision 0005).
    struct Loss {
        Index vertex, removed;
    };
    void lower(const Loss* loss, std::size_t n) {
        reserve(n);
        Index* top = stack_.data() + size_;
        Word* const word = word_.data();
        for (std::size_t k = 0; k < n; ++k) {
            const Word w = word[loss[k].vertex], d = w >> shift;
            const bool live = d - 1 < many - 1;
            const Word change = static_cast<Word>(loss[k].removed) & -Word{d != 0};
            word[loss[k].vertex] = (w ^ change) - (Word{live} << shift);
            *top = loss[k].vertex;
            top += d == 2;
        }
        size_ = top - stack_.data();
    }

    std::size_t stack_size() const { return size_; }
    Index pop() { return stack_[--size_]; }
    // Pushes those of degree one among the next thousand; false if none were left to scan.
    bool scan() {
        const Index left = lists.n_rows - scanned_, end = scanned_ + std::min<Index>(left, 1024);
        reserve(end - scanned_);
        for (; scanned_ < end; ++scanned_) {
            stack_[size_] = scanned_;
            size_ += degree(scanned_) == 1;
        }
        return left > 0;
    }

    const Csr<Index>& lists;
    Index* const mate;

  private:
    // Of a vertex without a mate: zero.
    static Word matched_word(Index mate) { return static_cast<Word>(mate + 1); }
    static Word degree_word(Index degree) {
        return static_cast<Word>(std::min<Index>(degree, many)) << shift;
    }
    void reserve(std::size_t more) {
        if (size_ + more >= stack_.size()) stack_.resize(2 * (size_ + more) + 64);
    }

    Buffer<Word> word_;
    std::vector<Index> stack_;
    std::size_t size_ = 0;
    Index scanned_ = 0;
};

// Reads: both orientations. Writes: both mates. Workspace: a word per vertex, of four or eight
// bytes, and the stacks. Time: O(nnz).
template <class Word, class Index>
class OneWorkerKarpSipser {
    static constexpr int batch = 32, picks = 16, losses = 256;
    using Words = ResidualWords<Word, Index>;

  public:
    OneWorkerKarpSipser(const Csr<Index>& a, const Csr<Index>& transposed, Matching<Index> m,
                        RunContext& run)
        : run_(run), counter_(run), side_{{a, m.row_mate}, {transposed, m.col_mate}} {}

    // Warm: some vertices are matched already.
    void count(bool warm) {
        run_.team.both([&](int s, int rank) {
            WorkCounter counter(run_, rank);
            if (warm) side_[s].count_free(side_[1 - s].mate, counter);
            else side_[s].count(counter);
        });
    }

    void match_degree_one(Forced* forced) {
        forced_ = forced;
        while (!run_.stopped() && (step(batch) || side_[0].scan() || side_[1].scan() || step(1))) {
        }
        forced_ = nullptr;
    }

    // Rows in order pick columns; what comes down to degree one waits until it fills a batch.
    void match_rest() {
        const Words& rows = side_[0];
        Index row[picks], col[picks];
        for (Index i = 0; i < rows.lists.n_rows && !run_.stopped();) {
            int n = 0;
            prefetch_neighbours(i + picks, i + 2 * picks);
            for (; i < rows.lists.n_rows && n < picks; ++i) {
                if (rows.degree(i) == 0) continue;
                const Index j = rows.least_neighbour(i, side_[1]);
                if (j == UNMATCHED<Index>) continue;
                match(0, i, j);
                row[n] = i;
                col[n++] = j;
            }
            remove(0, row, n);
            remove(1, col, n);
            while (step(batch)) {
            }
        }
        while (!run_.stopped() && step(1)) {
        }
    }

    void copy_mates() {
        run_.team.both([&](int s, int) { side_[s].copy_mates(); });
    }
    void settle(int s, bool* settled) const {
        for (Index v = 0; v < side_[s].lists.n_rows; ++v) settled[v] = side_[s].degree(v) == 0;
    }

  private:
    // Matches up to a batch of vertices of degree one of either side, if there are enough.
    bool step(std::size_t enough) {
        bool worked = false;
        for (int s : {0, 1})
            if (side_[s].stack_size() >= enough) {
                match_batch(s);
                worked = true;
            }
        return worked && !run_.stopped();
    }

    void match_batch(int s) {
        Words &side = side_[s], &other = side_[1 - s];
        Index vertex[batch], partner[batch];
        int n = 0;
        for (auto left = std::min<std::size_t>(batch, side.stack_size()); left > 0; --left) {
            vertex[n] = side.pop();
            partner[n] = side.last_neighbour(vertex[n]);
            if (side.degree(vertex[n]) != 1) continue;
            other.prefetch(partner[n]);
            SPARSEMATCH_PREFETCH(&other.lists.indptr[partner[n]]);
            ++n;
        }
        typename Words::Loss loss[batch];
        int n_losses = 0, n_removed = 0;
        for (int k = 0; k < n; ++k) {
            const Index v = vertex[k], w = partner[k];
            const unsigned degree = other.degree(w);
            if (degree == 0) continue;  // matched to another of this batch
            if (degree == 2) {
                loss[n_losses++] = {other.other_neighbour(w, v), w};
                side.prefetch(loss[n_losses - 1].vertex);
            } else if (degree > 2) {
                partner[n_removed++] = w;
            }
            match(s, v, w);
            record(s, v, w);
        }
        side.lower(loss, n_losses);
        remove(1 - s, partner, n_removed);
    }

    // What rows begin to end - 1 read when they pick.
    SPARSEMATCH_INLINE void prefetch_neighbours(Index begin, Index end) const {
        const Csr<Index>& lists = side_[0].lists;
        end = std::min(end, lists.n_rows);
        if (begin >= end) return;
        const Index first = lists.indptr[begin], last = std::min(lists.indptr[end], first + 256);
        for (Index p = first; p < last; ++p) side_[1].prefetch(lists.indices[p]);
    }

    void match(int s, Index v, Index w) {
        side_[s].match(v, w);
        side_[1 - s].match(w, v);
    }

    void record(int s, Index v, Index w) {
        if (!forced_ || !forced_->rows) return;
        Index* const rows = forced_->template rows_as<Index>();
        if (s == 0) rows[forced_->by_row++] = v;
        else rows[side_[0].lists.n_rows - ++forced_->by_col] = w;
    }

    // Removes vertices that have been matched: their neighbours lose one. Most lists are short and
    // their ends mispredicted, so they are read once only, while the words are prefetched.
    void remove(int s, const Index* removed, int n) {
        const Csr<Index>& lists = side_[s].lists;
        Words& other = side_[1 - s];
        typename Words::Loss loss[losses];
        int n_losses = 0;
        const auto lower = [&] {
            other.lower(loss, n_losses);
            counter_.add(n_losses);
            n_losses = 0;
        };
        for (int k = 0; k < n; ++k) prefetch_list(lists, removed[k]);
        for (int k = 0; k < n; ++k)
            for (const Index w : lists.neighbours(removed[k])) {
                other.prefetch(w);
                loss[n_losses++] = {w, removed[k]};
                if (n_losses == losses) lower();
            }
        lower();
    }

    RunContext& run_;
    WorkCounter counter_;
    Words side_[2];  // rows, columns
    Forced* forced_ = nullptr;
};

}  // namespace sparsematch
