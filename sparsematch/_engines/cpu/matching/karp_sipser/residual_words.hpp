// What is left of each vertex of one side, in a word.
//
// A word has the residual degree of a live vertex in the high byte, and below it the exclusive or
// of its live neighbours: when one is left, that is its number, and no list is searched. A vertex
// that has two, of which one is known, names the other: so a chain of vertices of degree two is
// followed without reading a list at all. The word of a matched vertex has its mate, so that one
// place less is written at random; mates are copied at the end.
// With several workers a word is changed by compare-and-swap: whoever lowers a degree to one, or
// claims a vertex, is the only one, and knows all of its word.
// Invariant: the degree of a live vertex is the number of its neighbours that have not been
// removed, each as often as it is repeated, or `many`; that of a matched one is zero.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Vertices that have come down to degree one.
template <class Index> class DegreeOneStack {
  public:
    std::size_t size() const { return size_; }
    Index pop() { return items_[--size_]; }
    // Calls push(top), which writes up to `most` items from top on, and returns where they end.
    template <class Push> void extend(std::size_t most, const Push& push) {
        if (size_ + most >= items_.size()) items_.resize(2 * (size_ + most) + 64);
        size_ = push(items_.data() + size_) - items_.data();
    }

  private:
    std::vector<Index> items_;
    std::size_t size_ = 0;
};

// Threads: several workers at a time.
template <bool Threads, class Word, class Index> class ResidualWords {
    static constexpr int shift = 8 * sizeof(Word) - 8;
    static constexpr Word below = (Word{1} << shift) - 1, one = Word{1} << shift;
    static constexpr unsigned many = 255;  // stands for 255 or more, and is never lowered

  public:
    // Whether the numbers of n neighbours fit, one more included.
    static bool fits(Index n) { return static_cast<std::uint64_t>(n) < below; }
    static unsigned degree(Word word) { return static_cast<unsigned>(word >> shift); }
    // Of a vertex of degree one.
    static Index last_neighbour(Word word) { return static_cast<Index>(word & below); }
    // Of a vertex of degree two.
    static Index other_neighbour(Word word, Index than) {
        return static_cast<Index>((word & below) ^ static_cast<Word>(than));
    }

    ResidualWords(const Csr<Index>& lists, Index* mate)
        : lists(lists), mate(mate), word_(lists.n_rows) {}

    // Of vertices v to end - 1, in the empty matching. The exclusive or runs over blocks of
    // entries; a list's is the difference of two: a loop over each mispredicts short lists' ends.
    void count(Index v, Index end, WorkCounter& counter) {
        constexpr Index block = 1 << 11;  // entries: the running words fit in the first-level cache
        const Index stop = lists.indptr[end];
        Word running[block + 1], before = 0;
        running[0] = 0;
        for (Index p = lists.indptr[v], next; p < stop; p = next) {
            next = p + std::min(stop - p, block);
            if (!counter.add(next - p)) return;
            for (Index q = p; q < next; ++q)
                running[q - p + 1] = running[q - p] ^ static_cast<Word>(lists.indices[q]);
            for (; v < end && lists.indptr[v + 1] <= next; ++v) {
                const Word now = running[lists.indptr[v + 1] - p];
                word_[v] = degree_word(lists.degree(v)) | (now ^ std::exchange(before, now));
            }
            running[0] = running[next - p];
        }
        for (; v < end; ++v) word_[v] = 0;  // there are no entries
    }
    // The free neighbours of free vertices.
    void count_free(Index v, Index end, const Index* other_mate, WorkCounter& counter) {
        for (; v < end; ++v) {
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

    Word word(Index v) const { return peek(word_[v]); }
    unsigned degree_of(Index v) const { return degree(word(v)); }
    bool is_matched_to(Index v, Index w) const { return word(v) == matched_word(w); }
    void match(Index v, Index w) { poke(word_[v], matched_word(w)); }
    // Matches v to w, if it has at least this degree. Returns its word before.
    Word claim(Index v, Index w, unsigned least = 1) {
        Word seen = word(v);
        if constexpr (Threads) {
            while (degree(seen) >= least && !swap(word_[v], seen, matched_word(w))) {
            }
        } else if (degree(seen) >= least) {
            word_[v] = matched_word(w);
        }
        return seen;
    }

    // The live neighbour of least degree in list v, or UNMATCHED. Packed keys (decision 0005).
    Index least_neighbour(Index v, const ResidualWords& other) const {
        std::uint64_t least = ~std::uint64_t{0};
        for (const Index j : lists.neighbours(v)) {
            const std::uint64_t rank =
                (other.degree_of(j) - 1u) & 0xffu;  // of dead ones the highest
            least = std::min(least, rank << 56 | static_cast<std::uint64_t>(j));
        }
        return least >> 56 == 0xff ? UNMATCHED<Index>
                                   : static_cast<Index>(least & ((std::uint64_t{1} << 56) - 1));
    }
    SPARSEMATCH_INLINE void prefetch(Index v) const { SPARSEMATCH_PREFETCH(&word_[v], 1); }
    // To be read: another worker may be writing it.
    SPARSEMATCH_INLINE void prefetch_to_read(Index v) const { SPARSEMATCH_PREFETCH(&word_[v]); }

    // Lowers the degrees of these vertices by one for each removed; pushes those left with one.
    struct Loss {
        Index vertex, removed;
    };
    void lower(const Loss* loss, std::size_t n, DegreeOneStack<Index>& stack) {
        stack.extend(n, [&](Index* top) {
            for (std::size_t k = 0; k < n; ++k) {
                const Word before =
                    lower(word_[loss[k].vertex], static_cast<Word>(loss[k].removed));
                *top = loss[k].vertex;
                top += degree(before) == 2;
            }
            return top;
        });
    }
    // Pushes those of degree one among vertices v to end - 1.
    void scan(Index v, Index end, DegreeOneStack<Index>& stack) const {
        stack.extend(end - v, [&](Index* top) {
            for (; v < end; ++v) {
                *top = v;
                top += degree(peek(word_[v], std::memory_order_acquire)) == 1;
            }
            return top;
        });
    }

    // Whether the degree of v is exact, and not one, if v is live; by one worker.
    bool is_exact(Index v, const ResidualWords& other) const {
        if (degree_of(v) == 0 || degree_of(v) == many) return true;
        const auto live = std::ranges::count_if(lists.neighbours(v),
                                                [&](Index w) { return other.degree_of(w) != 0; });
        return degree_of(v) != 1 && degree_of(v) == live;
    }
    void mark_finished(Index v, Index end, bool* finished) const {
        for (; v < end; ++v) finished[v] = degree(word_[v]) == 0;
    }
    void copy_mates(Index v, Index end) const {
        for (; v < end; ++v)
            mate[v] = degree(word_[v]) == 0 ? static_cast<Index>(word_[v]) - 1 : UNMATCHED<Index>;
    }

    const Csr<Index>& lists;
    Index* const mate;

  private:
    // Of a vertex without a mate: zero.
    static Word matched_word(Index mate) { return static_cast<Word>(mate + 1); }
    static Word degree_word(Index degree) {
        return static_cast<Word>(std::min<Index>(degree, many)) << shift;
    }
    // Who brings a vertex down to degree one knows what was done before neighbours were removed.
    static bool swap(Word& word, Word& seen, Word next) {
        return std::atomic_ref(word).compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                                           std::memory_order_relaxed);
    }
    // Returns the word before. Branch-free for one worker (decision 0005).
    static Word lower(Word& word, Word removed) {
        if constexpr (Threads) {
            Word seen = peek(word);
            while (degree(seen) - 1 < many - 1 && !swap(word, seen, (seen ^ removed) - one)) {
            }
            return seen;
        } else {
            const Word before = word;
            const bool live = degree(before) - 1 < many - 1;
            word = (before ^ (removed & -Word{degree(before) != 0})) - (Word{live} << shift);
            return before;
        }
    }

    Buffer<Word> word_;
};

}  // namespace sparsematch
