// What the choice of a start depends on, and whether any is needed: one pass over the lists.
#include "core/device.cuh"

// Zero at the launch. `single`: lists of one entry; `linked`: rows of slots that long lists need,
// see ms_bfs.cuh; `off_diagonal`: whether a list lacks the vertex of its own number; `squares`: the
// sum of the squares of the lengths; `first_shared`, `last_shared`: lists that begin, or end, as
// another does, up to a few more than `max_shared`; `one_sided`: an entry of a sample has no
// counterpart; `imbalance`: zero if all have one; `has_long`: lists are left to whole blocks.
struct Features {
    Wide squares, imbalance;
    long long linked;
    Index single, off_diagonal, first_shared, last_shared, one_sided, has_long;
};

// Lists from this length on are not searched for a vertex.
#define LONG 1024

// Puts an end of a list in a set, and counts it, for the block, if it is there already.
DEVICE void put_end(Bits* set, const Index* end, int* shared) {
    if (!claim(set, *end)) add(shared, 1);
}

// Whether a list lacks vertex j; as if it did, once another thread of the block has found one.
DEVICE bool lacks(const Index* indices, Index begin, Index end, Index j, int* given_up) {
    enum { AT_ONCE = 16 };
    for (Index p = begin; p < end; ++p) {
        if (indices[p] == j) return false;
        if ((p - begin) % AT_ONCE == AT_ONCE - 1 && add(given_up, 0)) break;
    }
    return true;
}

// Whether entries of a sample, one for each warp at a time, have counterparts: spares the sum over
// all, 1.6 ms of 9 where there are 67 million. Reads: lists of their vertices. Writes: one_sided.
DEVICE void sample_counterparts(Index n, const Index* __restrict__ indptr,
                                const Index* __restrict__ indices, Features* f) {
    enum { SAMPLE = 256 };
    const long long warp = static_cast<long long>(warp_in_block()) * block_count() + block_index();
    const long long warps = static_cast<long long>(warps_in_block()) * block_count();
    for (long long k = warp; n > 0 && k < SAMPLE; k += warps) {
        const unsigned draw = scatter(static_cast<unsigned>(k));
        const Index i = static_cast<Index>(static_cast<Wide>(draw) % static_cast<Wide>(n));
        const Index begin = indptr[i], size = indptr[i + 1] - begin;
        if (!size) continue;
        const Index j = indices[begin + scatter(draw) % static_cast<unsigned>(size)];
        const Index from = indptr[j], to = indptr[j + 1];
        bool met = to - from >= LONG;
        for (Index p = from + lane_in_warp(); !met && p < to; p += WARP) met = indices[p] == i;
        if (!ballot(met) && lane_in_warp() == 0)
            store(&f->one_sided, static_cast<Index>(1));  // all write the same
    }
}

// Reads: indptr; of indices the ends of the lists, the rest only as long as no list lacks its own
// number, and not at all unless `square`; what `sample_counterparts` reads. Writes: f, firsts and
// lasts, which are empty at first, by atomics. Words that all threads would read or change are for
// one thread of each block: else all would queue for one address. Time: O(nnz / threads).
KERNEL features(Index n, Index square, int width, int most, int max_shared,
                const Index* __restrict__ indptr, const Index* __restrict__ indices, Features* f,
                Bits* firsts, Bits* lasts) {
    enum { EACH = 8 };  // rows of a thread between two barriers
    SHARED bool first, last, diagonal;
    SHARED int firsts_shared, lasts_shared, lacking;
    Wide squares = 0, linked = 0;
    Index single = 0;
    for (long long base = static_cast<long long>(block_index()) * EACH * threads_in_block();
         base < n; base += EACH * thread_count()) {
        if (thread_in_block() == 0) {
            first = load(&f->first_shared) <= max_shared;
            last = load(&f->last_shared) <= max_shared;
            diagonal = square && !load(&f->off_diagonal);
            firsts_shared = lasts_shared = lacking = 0;
        }
        sync_block();
        for (int k = 0; k < EACH; ++k) {
            const long long at =
                base + static_cast<long long>(k) * threads_in_block() + thread_in_block();
            if (at >= n) break;
            const Index i = static_cast<Index>(at), begin = indptr[i], size = indptr[i + 1] - begin;
            squares += static_cast<Wide>(size) * static_cast<Wide>(size);
            single += size == 1;
            const Index rows = width && size > width ? (size - 2) / (width - 2) : 0;
            linked += rows <= most ? rows : 0;
            if (size && first && load(&firsts_shared) <= max_shared)
                put_end(firsts, indices + begin, &firsts_shared);
            if (size && last && load(&lasts_shared) <= max_shared)
                put_end(lasts, indices + begin + size - 1, &lasts_shared);
            if (diagonal && !load(&lacking) &&
                (size >= LONG || lacks(indices, begin, begin + size, i, &lacking)))
                maximum(&lacking, 1);
        }
        sync_block();
        if (thread_in_block()) continue;
        if (firsts_shared) add(&f->first_shared, static_cast<Index>(firsts_shared));
        if (lasts_shared) add(&f->last_shared, static_cast<Index>(lasts_shared));
        if (lacking) store(&f->off_diagonal, static_cast<Index>(1));
    }
    if (square) sample_counterparts(n, indptr, indices, f);
    add_of_block(&f->squares, squares);
    add_of_block(reinterpret_cast<Wide*>(&f->linked), linked);
    add_of_block(&f->single, single);
}

// An odd number for a vertex that looks drawn at random: 64 bits, mixed twice.
DEVICE Wide drawn_for(Index v, Wide seed) {
    Wide x = (static_cast<Wide>(v) + seed) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
    return x ^ (x >> 32) | 1;
}

// Whether the pattern is symmetric, where the sample did not tell: with x drawn for the vertices,
// x_i x_j (x_j - x_i) changes its sign where i and j change places, so that the sum over all
// entries is zero if each has its counterpart; if not, it is zero by chance, one of 2^60, whatever
// the pattern, as nobody knows the seed. Long lists are left to `compare_long`. Not where the
// squares are `too_uneven` and more lists than `few` have one entry. 2^shift neighbouring threads
// share a list. Reads: indptr, indices. Writes: f. Time: O(nnz / threads).
KERNEL compare_sides(Index n, const Index* __restrict__ indptr, const Index* __restrict__ indices,
                     Features* f, Wide seed, int shift, Wide too_uneven, Index few,
                     bool unless_diagonal) {
    if (f->squares >= too_uneven && f->single > few) return;
    if (f->one_sided || (unless_diagonal && !f->off_diagonal)) return;
    enum { EACH = 4 };  // lists of a thread at a time
    const Index lanes = static_cast<Index>(1) << shift;
    Wide sum = 0;
    for (long long t = thread_index(); t < static_cast<long long>(n) << shift;
         t += EACH * thread_count()) {
        Index i[EACH], p[EACH], left[EACH], longest = 0;
        for (int k = 0; k < EACH; ++k) {
            const long long at = t + k * thread_count();
            const bool is_list = at < static_cast<long long>(n) << shift;
            i[k] = is_list ? static_cast<Index>(at >> shift) : 0;
            p[k] = indptr[i[k]], left[k] = is_list ? indptr[i[k] + 1] - p[k] : 0;
            if (left[k] > LONG) {
                if (!load(&f->has_long)) store(&f->has_long, static_cast<Index>(1));
                left[k] = 0;
            }
            if (left[k] > longest) longest = left[k];
            p[k] += static_cast<Index>(at & (lanes - 1));
            left[k] -= static_cast<Index>(at & (lanes - 1));
        }
        for (Index begun = 0; begun < longest; begun += lanes) {
            Index j[EACH];
            for (int k = 0; k < EACH; ++k) j[k] = begun < left[k] ? indices[p[k] + begun] : i[k];
            for (int k = 0; k < EACH; ++k) {
                const Wide own = drawn_for(i[k], seed), other = drawn_for(j[k], seed);
                sum += own * other * (other - own);
            }
        }
    }
    add_of_block(&f->imbalance, sum);
}

// The same for long lists, by a block each; neighbours, often both long, by different blocks.
KERNEL compare_long(Index n, const Index* __restrict__ indptr, const Index* __restrict__ indices,
                    Features* f, Wide seed) {
    if (!f->has_long) return;
    SHARED Index listed[1024];
    SHARED int count;
    Wide sum = 0;
    const long long step = thread_count();
    for (long long base = block_index(); base < n; base += step) {
        if (thread_in_block() == 0) count = 0;
        sync_block();
        const long long i = base + static_cast<long long>(thread_in_block()) * block_count();
        if (i < n && indptr[i + 1] - indptr[i] > LONG)
            listed[add(&count, 1)] = static_cast<Index>(i);
        sync_block();
        for (int k = 0; k < count; ++k) {
            const Wide own = drawn_for(listed[k], seed);
            const Index end = indptr[listed[k] + 1];
            for (Index p = indptr[listed[k]] + thread_in_block(); p < end;
                 p += threads_in_block()) {
                const Wide other = drawn_for(indices[p], seed);
                sum += own * other * (other - own);
            }
        }
        sync_block();
    }
    add_of_block(&f->imbalance, sum);
}

// Writes mates: each major with entries gets the first, or last, of its list: no two share it.
KERNEL match_ends(Index n, bool last, const Index* __restrict__ indptr,
                  const Index* __restrict__ indices, Index* major_mate, Index* minor_mate) {
    for (Index i = thread_index(); i < n; i += thread_count()) {
        const Index begin = indptr[i], end = indptr[i + 1];
        if (begin == end) continue;
        const Index j = indices[last ? end - 1 : begin];
        major_mate[i] = j;
        minor_mate[j] = i;
    }
}

// Matches each vertex with the one of its own number. Writes: both mates.
KERNEL match_diagonal(Index n, Index* major_mate, Index* minor_mate) {
    for (Index i = thread_index(); i < n; i += thread_count()) major_mate[i] = minor_mate[i] = i;
}

// Row singletons: rows with one free column are matched with it, which some maximum matching does
// as well: the first rule of Karp, Sipser (FOCS 1981) for rows alone. A column is claimed by one
// atomic on its bit, and never released, so that a row without a free column never has one again.
// Rows of more than SHORT entries are hardly ever left with one column.
enum { SHORT = 32 };

// One pass. Reads: lists. Writes: matched, by atomics; mates of pairs that it made; finished: rows
// that are matched or have no free column. Time: O(n_rows / threads).
KERNEL row_singletons(Index n_rows, const Index* __restrict__ indptr,
                      const Index* __restrict__ indices, Index* row_mate, Index* col_mate,
                      Bits* matched, Bits* finished) {
    for (long long base = thread_index() - lane_in_warp(); base < n_rows; base += thread_count()) {
        const long long t = base + lane_in_warp();
        const Index i = static_cast<Index>(t);
        bool ends = false;
        const Index begin = t < n_rows ? indptr[i] : 0, end = t < n_rows ? indptr[i + 1] : 0;
        if (t < n_rows && end - begin <= SHORT && !has(finished, i)) {
            Index only = UNMATCHED;
            int free = 0;
            for (Index p = begin; p < end && free < 2; ++p) {
                const Index j = indices[p];
                if (j == only || has(matched, j)) continue;
                only = j;
                ++free;
            }
            ends = free < 2;
            if (free == 1 && claim(matched, only)) {
                row_mate[i] = only;
                col_mate[only] = i;
            }
        }
        const Bits all = ballot(ends);
        if (lane_in_warp() == 0 && all) bit_or(finished + (base >> 5), all << (base & 31));
    }
}
