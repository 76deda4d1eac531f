// Strong components of small pieces, each by one block: see strong_components.cu, 3.
//
// Where only small pieces are left, one depth-first search in each is done sooner than rounds over
// all of them: thousands run at the same time, each in memory of its own processor. Pieces by union
// and find (union_find.cuh); components after Pearce, A space-efficient algorithm for finding
// strongly connected components (Information Processing Letters 116, 2016).
// Invariant: as in strong_components.cu. A piece becomes a segment, and stays one if too large.
#include "core/device.cuh"
#include "core/union_find.cuh"

// Rows of a piece that is left to a block of a single warp; what blocks can hold: four numbers of
// 16 bits for a row, one for an entry that leads to another. LARGE: rows of a piece at most.
enum { SMALL = 128, LARGE_ROOM = 16384, SMALL_ROOM = 2560 };
// entries of a list that is too long for a thread: a piece with one does not fit
enum { LONG = 4096 };
enum { NOT_A_ROOT = 0x8000, BATCH = 4 };

typedef unsigned short Short;

// The square part, and which rows and columns of it are in question.
struct Square {
    Csr rows;
    ReadOnly<Index> row_mate, col_mate;
    Index* label;
    Bits *rows_in, *cols_in;
};

// The rows by piece, and the place of each in its own; where the piece of a root begins, its size.
struct Pieces {
    ReadOnly<Index> order, place, begin, size;
};

// Writes: each row of the list is a tree by itself.
KERNEL plant(Index n, const Index* __restrict__ list, Index* up, Index* size) {
    // own entries
    for (Index k = thread_index(); k < n; k += thread_count())
        up[list[k]] = list[k], size[list[k]] = 0;
}

// Reads: the lists of the rows, labels. Writes: up; joins what is in one segment.
KERNEL join_rows(Index n, const Index* __restrict__ list, Square g, Index* up, int shift) {
    for_shared(n, shift, [&](Index at, Index lane, Index lanes) {
        const Index i = list[at], end = g.rows.indptr[i + 1];
        Index root = i;
        for (Index p = g.rows.indptr[i] + lane; p < end; p += lanes) {
            const Index j = g.rows.indices[p], k = has(g.cols_in, j) ? g.col_mate[j] : i;
            if (k != i && g.label[k] == g.label[i]) root = join(up, root, k);
        }
    });
}

// Writes: of each row its root, and a place in its piece, given out by an atomic addition; the size
// of the piece, which is not read once it is too large.
KERNEL measure(Index n, const Index* __restrict__ list, Index* up, Index* size, Index* place) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        const Index i = list[k], root = root_of(up, i);
        store(up + i, root);  // own entry
        if (load(size + root) <= LARGE) place[i] = add(size + root, static_cast<Index>(1));
    }
}

// Reads: the pieces' sizes. Writes, for each root: where its piece begins, a stretch of its segment
// given out by an atomic addition to what is assigned there, or -1; the lists of either size.
KERNEL divide(Index n, const Index* __restrict__ list, const Index* __restrict__ up,
              const Index* __restrict__ size, const Index* __restrict__ label, Index* assigned,
              Index* begin, Index* small, Index* large, Index* count) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        const Index i = list[k];
        const bool root = up[i] == i, fits = root && size[i] <= LARGE;
        if (root) begin[i] = fits ? label[i] + add(assigned + label[i], size[i]) : -1;
        push(small, count, i, fits && size[i] <= SMALL);
        push(large, count + 1, i, fits && size[i] > SMALL);
    }
}

// Writes: each row's label: where its piece begins, or the rest of its segment; the rows by piece.
KERNEL sort_rows(Index n, const Index* __restrict__ list, const Index* __restrict__ up,
                 const Index* __restrict__ begin, const Index* __restrict__ assigned,
                 const Index* __restrict__ place, Index* label, Index* order) {
    for (Index k = thread_index(); k < n; k += thread_count()) {
        const Index i = list[k], at = begin[up[i]];
        label[i] = at >= 0 ? at : label[i] + assigned[label[i]];  // own entry
        if (at >= 0) order[at + place[i]] = i;                    // a place of its own
    }
}

// The rows that one leads to in its piece, by their places there. Calls see(place). A few entries
// at a time, so that their loads overlap. No row of another piece has the same label.
template <class See>
DEVICE void each_arc(const Square& g, const Pieces& pieces, Index i, Index first, Index last,
                     Index begin, See see) {
    for (Index p = first; p < last; p += BATCH) {
        Index k[BATCH], label[BATCH], at[BATCH];
        for (int u = 0; u < BATCH; ++u) k[u] = p + u < last ? g.rows.indices[p + u] : UNMATCHED;
        for (int u = 0; u < BATCH; ++u)
            if (k[u] != UNMATCHED) k[u] = g.col_mate[k[u]];
        for (int u = 0; u < BATCH; ++u)
            if (k[u] != UNMATCHED) label[u] = load(g.label + k[u]), at[u] = pieces.place[k[u]];
        for (int u = 0; u < BATCH; ++u)
            if (k[u] != UNMATCHED && k[u] != i && label[u] == begin) see(at[u]);
    }
}

// One thread. Depth-first search from every row: low of a row, 0 before, is the least number of
// those that it is known to reach and that are not done; the rows on the way stand at the beginning
// of `stack`, those whose component is not known at its end. Components end last to first. Writes,
// in cursor, where the component of each row begins.
DEVICE void find_components(int n, Short* cursor, Short* end, Short* low, Short* stack,
                            const Short* arcs) {
    int number = 1, component = n, waiting = n, left = n;
    for (int first = 0; first < n; ++first) {
        if (low[first]) continue;
        int depth = 0, v = first;
        low[v] = static_cast<Short>(number++);
        for (;;) {
            const int last = end[v] & ~NOT_A_ROOT;
            int at = cursor[v], least = low[v], next = -1;
            for (; at < last && next < 0; ++at) {
                const int w = arcs[at];
                if (!low[w]) next = w;
                else if (low[w] < least)
                    least = low[w], end[v] = static_cast<Short>(last | NOT_A_ROOT);
            }
            low[v] = static_cast<Short>(least);
            if (next >= 0) {  // this entry is scanned again
                cursor[v] = static_cast<Short>(at - 1);
                stack[depth++] = static_cast<Short>(v);
                low[v = next] = static_cast<Short>(number++);
                continue;
            }
            if (end[v] & NOT_A_ROOT) stack[--waiting] = static_cast<Short>(v);
            else {
                const int from = waiting;
                while (waiting < n && low[stack[waiting]] >= least) ++waiting;
                left -= waiting - from + 1, number -= waiting - from + 1;
                for (int k = from; k < waiting; ++k)
                    low[stack[k]] = static_cast<Short>(component),
                    cursor[stack[k]] = static_cast<Short>(left);
                low[v] = static_cast<Short>(component--), cursor[v] = static_cast<Short>(left);
            }
            if (!depth) break;
            v = stack[--depth];
        }
    }
}

// One block. Copies the arcs of a piece of n rows; a row has room for all its entries or, with
// `exact`, for its arcs. Returns how much was needed for all; what does not fit is not there.
DEVICE int copy_arcs(const Square& g, const Pieces& pieces, Index begin, int n, Short* memory,
                     int room, bool exact) {
    SHARED int n_arcs;
    Short *cursor = memory, *end = cursor + n, *low = end + n, *arcs = low + 2 * n;
    if (thread_in_block() == 0) n_arcs = 0;
    sync_block();
    for (int k = thread_in_block(); k < n; k += threads_in_block()) {
        const Index i = pieces.order[begin + k], first = g.rows.indptr[i],
                    last = g.rows.indptr[i + 1];
        const bool fits_in = last - first <= LONG;
        int degree = fits_in ? static_cast<int>(last - first) : room;
        if (fits_in && exact) {
            degree = 0;
            each_arc(g, pieces, i, first, last, begin, [&](Index) { ++degree; });
        }
        const int at = add(&n_arcs, degree);
        cursor[k] = end[k] = static_cast<Short>(at), low[k] = 0;
        if (4 * n + at + degree <= room)
            each_arc(g, pieces, i, first, last, begin,
                     [&](Index to) { arcs[end[k]++] = static_cast<Short>(to); });
    }
    sync_block();
    const int total = 4 * n + n_arcs;
    sync_block();
    return total;
}

// One block. The piece of a root: copies its arcs, lets one thread search, writes the labels,
// clears the bits. Returns whether it fits. Safe: no other block reads or writes its rows.
DEVICE bool solve(const Square& g, const Pieces& pieces, Index root, Short* memory, int room) {
    const Index begin = pieces.begin[root];
    const int n = static_cast<int>(pieces.size[root]);
    Short *cursor = memory, *end = cursor + n, *low = end + n, *stack = low + n, *arcs = stack + n;
    if (copy_arcs(g, pieces, begin, n, memory, room, false) > room &&
        copy_arcs(g, pieces, begin, n, memory, room, true) > room)
        return false;
    if (thread_in_block() == 0) find_components(n, cursor, end, low, stack, arcs);
    sync_block();
    for (int k = thread_in_block(); k < n; k += threads_in_block()) {
        const Index i = pieces.order[begin + k], j = g.row_mate[i];
        store(g.label + i, begin + static_cast<Index>(cursor[k]));
        remove(g.rows_in, i);
        remove(g.cols_in, j);
    }
    sync_block();
    return true;
}

// The small pieces, one by one in each block; one with too many entries joins the large ones.
KERNEL solve_small(Square g, Pieces pieces, const Index* __restrict__ small, Index* large,
                   Index* count) {
    SHARED Short memory[SMALL_ROOM];
    for (Index r = block_index(); r < count[0]; r += block_count()) {
        if (solve(g, pieces, small[r], memory, SMALL_ROOM)) continue;
        if (thread_in_block() == 0) large[add(count + 1, static_cast<Index>(1))] = small[r];
        sync_block();
    }
}

KERNEL solve_large(Square g, Pieces pieces, const Index* __restrict__ large,
                   const Index* __restrict__ count) {
    SHARED Short memory[LARGE_ROOM];
    for (Index r = block_index(); r < count[1]; r += block_count()) {
        solve(g, pieces, large[r], memory, LARGE_ROOM);
        sync_block();
    }
}

// Queues the rows of the list whose component is not known.
KERNEL list_left(Index n, const Index* __restrict__ list, const Bits* rows_in, Index* left,
                 Index* n_left) {
    for (Index k = thread_index(); k < n; k += thread_count())
        push(left, n_left, list[k], has(rows_in, list[k]));
}
