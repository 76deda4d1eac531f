// Karp-Sipser: match vertices of degree one while they are found (always right), then pick, and go
// on.
//
// Karp, Sipser: Maximum matchings in sparse random graphs (FOCS 1981), of a graph. Where the pattern
// is symmetric, that is the graph whose adjacency matrix it is: a vertex is the row and the column
// of its number, an edge two entries, which are matched together. So what is left are rows and
// columns of the same vertices, and short cycles of odd length lead from the ones to the others. Else
// the rows are the first vertices, the columns follow, and the lists of both are given.
// A vertex has one word: its free neighbours, an entry each, and a bit once it is matched. To match
// two lowers the words of their neighbours; the thread that leaves one with degree one goes on with
// it, so that chains cost no launch. Invariant: who sets the bits of both ends of an edge, the lower
// vertex first, matches them; a bit is given back only by who could not get the other.
#include "core/device.cuh"

#define TAKEN (1u << 31)

// Entries of a list that one thread scans or lowers; longer ones are lowered by a block each. So
// many entries are read at a time.
enum { LONG = 1024, AT_ONCE = 4 };

struct KarpSipser {
    Csr rows, columns;  // columns: of no use where the pattern is symmetric
    Index n_rows;
    Index *row_mate, *col_mate;  // symmetric: col_mate is a copy of row_mate in the end
    Bits* word;
    // vertices matched in a pass whose lists are long, and how many
    Index *long_lists, *n_long;
    unsigned seed;
    bool symmetric;
};

// The list of a vertex; `shift` is added to its entries.
struct List {
    ReadOnly<Index> entries;
    Index size, shift;
};

DEVICE List list_of(const KarpSipser& s, Index v) {
    const bool is_row = s.symmetric || v < s.n_rows;
    const Csr& lists = is_row ? s.rows : s.columns;
    const Index k = is_row ? v : v - s.n_rows, begin = lists.indptr[k];
    return {lists.indices + begin, lists.indptr[k + 1] - begin,
            is_row && !s.symmetric ? s.n_rows : 0};
}

DEVICE bool take(const KarpSipser& s, Index v) { return !(bit_or(s.word + v, TAKEN) & TAKEN); }
DEVICE void give_back(const KarpSipser& s, Index v) { bit_and(s.word + v, ~TAKEN); }

// The free neighbour of least degree, of the first of equal ones from a place drawn for v on.
DEVICE Index best_neighbour(const KarpSipser& s, Index v) {
    const List list = list_of(s, v);
    const Index size = list.size;
    const Index turned = size > 1 ? static_cast<Index>(scatter(static_cast<unsigned>(v) ^ s.seed) %
                                                       static_cast<unsigned>(size))
                                  : 0;
    Index best = UNMATCHED;
    Bits least = TAKEN;
    for (Index base = 0; base < size && base < LONG; base += AT_ONCE) {
        Index k[AT_ONCE];
        Bits word[AT_ONCE];
        for (int u = 0; u < AT_ONCE; ++u) {
            const Index p = base + u + turned;
            k[u] = base + u < size ? list.shift + list.entries[p < size ? p : p - size] : v;
        }
        for (int u = 0; u < AT_ONCE; ++u) word[u] = k[u] != v ? load(s.word + k[u]) : TAKEN;
        for (int u = 0; u < AT_ONCE; ++u)
            if (word[u] < least) least = word[u], best = k[u];
    }
    return best;
}

// Lowers the words of the neighbours of a vertex that has been matched. Returns one that is left
// with degree one, or else `next`.
DEVICE Index lower(const KarpSipser& s, Index v, Index next) {
    const List list = list_of(s, v);
    if (list.size > LONG) {
        s.long_lists[add(s.n_long, static_cast<Index>(1))] = v;
        return next;
    }
    for (Index base = 0; base < list.size; base += AT_ONCE) {
        Index k[AT_ONCE];
        Bits before[AT_ONCE];
        for (int u = 0; u < AT_ONCE; ++u)
            k[u] = base + u < list.size ? list.shift + list.entries[base + u] : UNMATCHED;
        for (int u = 0; u < AT_ONCE; ++u) before[u] = k[u] >= 0 ? add(s.word + k[u], ~Bits(0)) : 0;
        for (int u = 0; u < AT_ONCE; ++u)
            if (before[u] == 2) next = k[u];
    }
    return next;
}

DEVICE void write_pair(const KarpSipser& s, Index low, Index high) {
    if (s.symmetric) s.row_mate[high] = low;
    const Index column = s.symmetric ? high : high - s.n_rows;
    s.row_mate[low] = column;
    if (!s.symmetric) s.col_mate[column] = low;
}

// Matches a free vertex with its best neighbour, unless another thread is first. Returns a vertex
// that is left with degree one, if there is any.
DEVICE Index match_vertex(const KarpSipser& s, Index v) {
    for (;;) {
        const Index other = best_neighbour(s, v);
        if (other == UNMATCHED) return UNMATCHED;
        const Index low = v < other ? v : other, high = v < other ? other : v;
        if (!take(s, low)) {
            if (low == v) return UNMATCHED;
            continue;
        }
        if (!take(s, high)) {
            give_back(s, low);
            if (high == v) return UNMATCHED;
            continue;
        }
        write_pair(s, low, high);
        return lower(s, high, lower(s, low, UNMATCHED));
    }
}

// The first words. Reads: the bounds of the lists. Time: O(vertices / threads).
KERNEL count(Index n, KarpSipser s) {
    for (long long t = thread_index(); t < n; t += thread_count())
        s.word[t] = static_cast<Bits>(list_of(s, static_cast<Index>(t)).size) & ~TAKEN;
}

// The other side, where a pair is two entries. Reads: row_mate. Writes: col_mate.
KERNEL mirror(Index n, KarpSipser s) {
    for (long long t = thread_index(); t < n; t += thread_count()) s.col_mate[t] = s.row_mate[t];
}

// Vertices that are matched at the beginning; where rows and columns are vertices of their own. The
// words are those of `count`. Writes: word, long_lists, by atomics. Time: O(nnz / threads).
KERNEL settle(Index n, KarpSipser s) {
    for (long long t = thread_index(); t < n; t += thread_count()) {
        const Index v = static_cast<Index>(t);
        if ((v < s.n_rows ? s.row_mate[v] : s.col_mate[v - s.n_rows]) == UNMATCHED) continue;
        bit_or(s.word + v, TAKEN);
        lower(s, v, UNMATCHED);
    }
}

// Vertices of up to `most` free neighbours, in an order that leaves no trace of theirs where `bits`
// are given. Reads: lists. Writes: mates of pairs that it made, word, long_lists, by atomics. Time:
// O(nnz / threads), and the longest chain.
KERNEL match(Index n, KarpSipser s, Bits most, int bits) {
    for (long long t = thread_index(); t < n; t += thread_count()) {
        Index v = static_cast<Index>(t);
        if (bits) v = shuffle(v, n, bits, s.seed);
        Bits word = load(s.word + v);
        if (word == 0 || word > most) continue;
        do {
            v = match_vertex(s, v);
            word = v >= 0 ? load(s.word + v) : 0;
        } while (word == 1);
    }
}

// Vertices first .. first + n - 1 that are matched or without a free neighbour: after degrees of one
// alone, some maximum matching has these pairs and no others there. Writes: settled, own word. Time:
// O(n / threads).
KERNEL list_settled(Index first, Index n, KarpSipser s, Bits* settled) {
    for (long long w = thread_index(); w < n / 32 + 1; w += thread_count()) {
        Bits bits = 0;
        for (int k = 0; k < 32 && w * 32 + k < n; ++k) {
            const Bits word = s.word[first + w * 32 + k];
            bits |= static_cast<Bits>(word == 0 || word >= TAKEN) << k;
        }
        settled[w] = bits;
    }
}

// Lowers the words of the neighbours of vertices with long lists, a block for each. Time: O(their
// entries / threads).
KERNEL lower_long(KarpSipser s) {
    for (Index k = block_index(); k < *s.n_long; k += block_count()) {
        const List list = list_of(s, s.long_lists[k]);
        for (Index p = thread_in_block(); p < list.size; p += threads_in_block())
            add(s.word + list.shift + list.entries[p], ~Bits(0));
    }
}
