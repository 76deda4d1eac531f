// Many rows of one strong component, so that searches from all take few levels, not thousands.
//
// ROOTS rows drawn at random grow regions, each row joining that of the first root that reaches it;
// the same along the columns. A row in two regions shows that the root that reached it leads to the
// root that it reaches. Roots that lead to each other in the graph of these arcs are in one
// component. All that follows is sound; that it finds many is likely where one component is nearly
// everything. After the multi-pivot searches of Slota, Rajamanickam, Madduri (IPDPS 2014).
#include "core/device.cuh"

#define WORDS (ROOTS / 32)
// Rows tried for each root, and roots tried as the one whose component many others are in.
#define DRAWS 16
#define CANDIDATES 8

// Two searches before they begin: along the rows, which reach columns, and along the columns.
struct FirstLevels {
    Bits *ahead_cols, *behind_rows;
    Index *rows, *cols;            // the queues
    Index *row_count, *col_count;  // of what they hold
};

// Adds a row and its mate. Safe: places given out by atomic additions.
DEVICE void add_root(const FirstLevels& f, Index i, Index j) {
    f.rows[add(f.row_count, static_cast<Index>(1))] = i;
    f.cols[add(f.col_count, static_cast<Index>(1))] = j;
}

// One thread begins two searches: along the rows from the pivot, along the columns from its mate.
KERNEL start_at(const long long* pivot, const Index* __restrict__ row_mate, FirstLevels f) {
    if (thread_index() != 0) return;
    const Index i = static_cast<Index>(*pivot), j = row_mate[i];
    insert(f.ahead_cols, j);
    insert(f.behind_rows, i);
    f.rows[0] = i, f.cols[0] = j;
    *f.row_count = *f.col_count = 1;
}

// Reads: the pivot, the rows in question. Writes: root: the pivot and others drawn at random, -1
// where none was found; its region in both directions; the first level of two searches. Safe: the
// thread that claims a column has the root to itself.
KERNEL plant(Index n_rows, const long long* pivot, const Index* __restrict__ row_mate,
             const Bits* rows_in, Index* root, FirstLevels f, Index* col_owner, Index* row_owner) {
    for (Index t = thread_index(); t < ROOTS; t += thread_count()) {
        Index i = t ? UNMATCHED : static_cast<Index>(*pivot);
        for (unsigned draw = 0; t && i == UNMATCHED && draw < DRAWS; ++draw) {
            const Wide high = scatter(static_cast<unsigned>(t) * DRAWS + draw),
                       low = scatter(static_cast<unsigned>(high));
            const Index at = static_cast<Index>((high << 32 | low) % static_cast<Wide>(n_rows));
            if (has(rows_in, at)) i = at;
        }
        // drawn by another thread
        if (i != UNMATCHED && !claim(f.ahead_cols, row_mate[i])) i = UNMATCHED;
        root[t] = i;
        if (i == UNMATCHED) continue;
        insert(f.behind_rows, i);
        col_owner[row_mate[i]] = row_owner[i] = t;
        add_root(f, i, row_mate[i]);
    }
}

// Reads: the regions. Writes, by atomics: the arcs from root to root, and the same reversed.
KERNEL meet(Index n_rows, const Index* __restrict__ row_mate, const Bits* rows_in,
            const Bits* ahead_cols, const Bits* behind_rows, const Index* __restrict__ col_owner,
            const Index* __restrict__ row_owner, Bits* leads, Bits* led) {
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        if (!has(rows_in, i) || !has(behind_rows, i) || !has(ahead_cols, row_mate[i])) continue;
        const Index a = col_owner[row_mate[i]], b = row_owner[i];
        if (a == b || has(leads, a * ROOTS + b)) continue;
        insert(leads, a * ROOTS + b);
        insert(led, b * ROOTS + a);
    }
}

// Marks what arcs lead to from marked roots. Safe: bits are set by atomics; seen late, tried again.
DEVICE void close_marks(const Bits* arcs, Bits* marked) {
    for (bool more = true; more;) {
        more = false;
        for (int t = thread_in_block(); t < ROOTS; t += threads_in_block()) {
            if (has(marked, t)) continue;
            Bits any = 0;
            for (int w = 0; w < WORDS; ++w) any |= arcs[t * WORDS + w] & load(marked + w);
            if (any) insert(marked, t), more = true;
        }
        more = any_in_block(more);
    }
}

// One block. Reads: the arcs both ways. Writes: the roots that are in one component with one of
// the first few, the one with the most, by the first thread.
KERNEL unite(const Index* __restrict__ root, const Bits* __restrict__ leads,
             const Bits* __restrict__ led, Bits* together) {
    SHARED Bits after[WORDS], before[WORDS];
    int best = 0;
    for (int candidate = 0; candidate < CANDIDATES && 4 * best < ROOTS; ++candidate) {
        if (root[candidate] == UNMATCHED) continue;
        sync_block();
        for (int w = thread_in_block(); w < WORDS; w += threads_in_block())
            after[w] = before[w] = w == candidate / 32 ? 1u << candidate % 32 : 0;
        sync_block();
        close_marks(led, after);
        close_marks(leads, before);
        int size = 0;
        for (int w = 0; w < WORDS; ++w) size += count_bits(after[w] & before[w]);
        if (size > best && thread_in_block() == 0)
            for (int w = 0; w < WORDS; ++w) together[w] = after[w] & before[w];
        if (size > best) best = size;
    }
}

// Reads: the roots chosen. Writes: the first level of two searches from all. Safe: other rows each.
KERNEL start_from(const Index* __restrict__ root, const Bits* __restrict__ together,
                  const Index* __restrict__ row_mate, FirstLevels f) {
    for (int t = thread_index(); t < ROOTS; t += thread_count()) {
        if (!is_in(together, t)) continue;
        const Index i = root[t];
        insert(f.ahead_cols, row_mate[i]);
        insert(f.behind_rows, i);
        add_root(f, i, row_mate[i]);
    }
}
