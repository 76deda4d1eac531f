// Lists the own entries in some of the columns: what a search from these columns would read of a
// transpose.
#pragma once

// An own row and a column that it has.
struct alignas(8) Entry {
    Index row, col;
};
// Own entries, by rows.
struct Lists {
    const long long* indptr;
    const Index* indices;
    long long first_row, n_rows, nnz;
};
// Entries; those that there are beyond the room are not listed.
struct EntryList {
    Entry* entries;
    long long room;
    long long* found;
};
DEVICE long long size_of(const EntryList& list) {
    return *list.found < list.room ? *list.found : list.room;
}

// The row of the p-th entry.
DEVICE Index row_of(const Lists& lists, long long p) {
    long long low = 0, high = lists.n_rows;  // row low begins at p or before, row high behind
    while (high - low > 1) {
        const long long middle = low + (high - low) / 2;
        if (lists.indptr[middle] <= p) low = middle;
        else high = middle;
    }
    return static_cast<Index>(lists.first_row + low);
}

// Reads: lists, a bit for each column. Writes: list, which is empty before. Time:
// O(nnz / threads), and O(log(n_rows)) for each that is listed.
KERNEL list_entries(Lists lists, const Bits* __restrict__ wanted_cols, EntryList list) {
    enum { EACH = 8 };
    const long long step = thread_count();
    for (long long base = thread_index(); base < lists.nnz; base += EACH * step) {
        Index cols[EACH];
        bool wanted[EACH];
        long long at[EACH];
        for (int k = 0; k < EACH; ++k)
            cols[k] = base + k * step < lists.nnz ? lists.indices[base + k * step] : UNMATCHED;
        for (int k = 0; k < EACH; ++k) wanted[k] = cols[k] >= 0 && is_in(wanted_cols, cols[k]);
        draw_each(list.found, wanted, at);
        for (int k = 0; k < EACH; ++k)
            if (wanted[k] && at[k] < list.room)
                list.entries[at[k]] = Entry{row_of(lists, base + k * step), cols[k]};
    }
}
