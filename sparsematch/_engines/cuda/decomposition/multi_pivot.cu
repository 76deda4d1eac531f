// Many rows of one strong component, so that searches from all of them take few levels where one
// alone would take thousands.
//
// Rows drawn at random grow regions, each row of the graph joining that of the first who reaches
// it; the same along the columns. A row between two regions shows that the one who reached it leads
// to the one whom it reaches. Who lead to each other in the graph of these facts are in one
// component. All that follows from it is sound; that it finds many is likely where one component is
// nearly everything. After the multi-pivot searches of Slota, Rajamanickam, Madduri (IPDPS 2014).
#include "core/device.cuh"

#define ROOTS 1024
#define WORDS (ROOTS / 32)
// Rows tried for each root, and roots tried as the one that many others are with.
#define DRAWS 16
#define CANDIDATES 8

// One thread makes the pivot the beginning of two searches: along the rows from it, along the
// columns from its mate.
KERNEL start_at(const long long* pivot, const Index* __restrict__ row_mate, Bits* ahead_cols,
                Bits* behind_rows, Index* rows, Index* cols, Index* count) {
    if (thread_index() != 0) return;
    const Index i = static_cast<Index>(*pivot), j = row_mate[i];
    claim(ahead_cols, j);
    claim(behind_rows, i);
    rows[0] = i, cols[0] = j;
    count[0] = count[6] = 1;
}

// Reads: the pivot, the rows in question. Writes: root: the pivot and others drawn at random, -1
// where none was found; its region in both directions; the first level of two searches. Safe: who
// claims a column has the root to itself.
KERNEL plant(Index n_rows, const long long* pivot, const Index* __restrict__ row_mate,
             const Bits* rows_in, Index* root, Bits* ahead_cols, Bits* behind_rows,
             Index* col_owner, Index* row_owner, Index* rows, Index* cols, Index* count) {
    for (Index t = thread_index(); t < ROOTS; t += thread_count()) {
        Index i = t ? UNMATCHED : static_cast<Index>(*pivot);
        for (unsigned draw = 0; t && i == UNMATCHED && draw < DRAWS; ++draw) {
            const Wide high = scatter(static_cast<unsigned>(t) * DRAWS + draw),
                       low = scatter(static_cast<unsigned>(high));
            const Index at = static_cast<Index>((high << 32 | low) % static_cast<Wide>(n_rows));
            if (has(rows_in, at)) i = at;
        }
        // somebody else has drawn it
        if (i != UNMATCHED && !claim(ahead_cols, row_mate[i])) i = UNMATCHED;
        root[t] = i;
        if (i == UNMATCHED) continue;
        claim(behind_rows, i);
        col_owner[row_mate[i]] = row_owner[i] = t;
        rows[add(count, static_cast<Index>(1))] = i;
        cols[add(count + 6, static_cast<Index>(1))] = row_mate[i];
    }
}

// Reads: the regions. Writes, by atomic claims: who leads to whom, and who is led to by whom.
KERNEL meet(Index n_rows, const Index* __restrict__ row_mate, const Bits* rows_in,
            const Bits* ahead_cols, const Bits* behind_rows, const Index* __restrict__ col_owner,
            const Index* __restrict__ row_owner, Bits* leads, Bits* led) {
    for (Index i = thread_index(); i < n_rows; i += thread_count()) {
        if (!has(rows_in, i) || !has(behind_rows, i) || !has(ahead_cols, row_mate[i])) continue;
        const Index a = col_owner[row_mate[i]], b = row_owner[i];
        if (a == b || has(leads, a * ROOTS + b)) continue;
        claim(leads, a * ROOTS + b);
        claim(led, b * ROOTS + a);
    }
}

// Marks what the facts lead to from the roots marked. Safe: bits are set by atomics, and whoever
// sees one late looks again.
DEVICE void close_marks(const Bits* facts, Bits* marked) {
    for (bool more = true; more;) {
        more = false;
        for (int t = thread_in_block(); t < ROOTS; t += threads_in_block()) {
            if (has(marked, t)) continue;
            Bits any = 0;
            for (int w = 0; w < WORDS; ++w) any |= facts[t * WORDS + w] & load(marked + w);
            if (any) claim(marked, t), more = true;
        }
        more = any_in_block(more);
    }
}

// One block. Reads: the facts both ways. Writes: the roots that are in one component with one of
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

// Reads: the roots chosen. Writes: the first level of two searches from all of them. Safe: each
// root is another row.
KERNEL start_from(const Index* __restrict__ root, const Bits* __restrict__ together,
                  const Index* __restrict__ row_mate, Bits* ahead_cols, Bits* behind_rows,
                  Index* rows, Index* cols, Index* count) {
    for (int t = thread_index(); t < ROOTS; t += thread_count()) {
        if (!(together[t / 32] >> t % 32 & 1)) continue;
        const Index i = root[t];
        claim(ahead_cols, row_mate[i]);
        claim(behind_rows, i);
        rows[add(count, static_cast<Index>(1))] = i;
        cols[add(count + 6, static_cast<Index>(1))] = row_mate[i];
    }
}
