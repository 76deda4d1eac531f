// Where duals of an assignment begin, and an auction that improves them.
//
// Bertsekas: Auction algorithms for network flow problems: a tutorial introduction (Comput. Optim.
// Appl. 1, 1992); the variant of Jacobi: all free rows bid at once. A row bids for its best column
// by how much the second best is worse, eps at least; the highest bid gets the column, and its dual
// is lowered by as much. Names: v is a negative price.
// Invariant: the reduced cost of a pair is at most eps above the least of its row; it is the least
// itself where the bid was above eps. So n pairs cost at most n eps more than the best n.
#include "core/device.cuh"
#include "weighted/costs.cuh"
#include "weighted/rounds.cuh"

struct Auction {
    Index *row_mate, *col_mate;
    double* v;
    Index* to;      // of a row: the column for which it bids,
    double* bid;    // and the dual that it offers
    Wide* highest;  // of a column: how much its dual is lowered, and the row; 0: no bid
    Index* queue;   // free rows of this round, and of the next
};

// Kept from launch to launch, zero at the first.
struct Rounds {
    Wide count[3];  // free rows of a round
    Wide round, done, scanned;
    int barrier[2];
};

// Integers in the order of doubles, which are given as their bits.
DEVICE long long ordered(long long bits) { return bits ^ (bits >> 63 & 0x7fffffffffffffffll); }

// Reads: the costs, by their bits. Writes: of each column, the least `ordered` one. Safe: atomic.
KERNEL column_minima(Wide nnz, const Index* __restrict__ indices,
                     const long long* __restrict__ cost, long long* least) {
    for (Wide p = thread_index(); p < nnz; p += thread_count()) {
        const long long c = ordered(cost[p]);
        long long* at = least + indices[p];
        if (c < load(at)) minimum(at, c);
    }
}
// Back to doubles.
KERNEL column_duals(Index n_cols, long long* least) {
    for (Wide j = thread_index(); j < n_cols; j += thread_count()) least[j] = ordered(least[j]);
}

// The rows of a round bid. Safe: entries of a row by its lanes, the highest bid by an atomic.
DEVICE Wide bid_all(const Costs& a, const Auction& s, const Round& r, double eps, double most,
                    int shift) {
    Wide scanned = 0;
    for_groups(r.count, shift, r.first, r.threads, [&](long long k, int lane, int lanes) {
        double best = INFINITE, second = INFINITE;
        Index to = UNMATCHED, i = 0;
        if (k >= 0) {
            i = load(r.rows + k);
            const Index begin = a.indptr[i], end = a.indptr[i + 1];
            for (Index p = begin + lane; p < end; p += lanes) {
                const Index j = a.indices[p];
                const double h = a.cost[p] - load(s.v + j);
                if (h < best) second = best, best = h, to = j;
                else if (h < second) second = h;
            }
            if (lane == 0) scanned += static_cast<Wide>(end - begin);
        }
        for (int bit = lanes >> 1; bit; bit >>= 1) {
            const double best_there = across(best, bit), second_there = across(second, bit);
            const Index to_there = across(to, bit);
            const bool other = best_there < best || (best_there == best && to_there > to);
            const double lost = other ? best : best_there;
            if (other) best = best_there, to = to_there;
            if (second_there < second) second = second_there;
            if (lost < second) second = lost;
        }
        if (k < 0 || lane || to == UNMATCHED) return;
        double lower = second - best;
        if (lower > most) lower = most;
        if (lower < eps) lower = eps;
        s.to[i] = to;
        s.bid[i] = load(s.v + to) - lower;
        maximum(s.highest + to, (as_bits(lower) & 0xffffffff00000000ull) | static_cast<Wide>(i));
    });
    return scanned;
}

// The highest bids win; rows without a column are next. Safe: each column by its winner; others
// that look at the bids for it find one that is not theirs, before and after they are cleared.
DEVICE void award(const Auction& s, const Round& r) {
    for (Wide k = r.first; k < r.count; k += r.threads) {
        const Index i = load(r.rows + k), j = s.to[i];
        const Wide won = load(s.highest + j);
        Index left = i;
        if (won && (won & 0xffffffffull) == static_cast<Wide>(i)) {
            left = s.col_mate[j];
            s.col_mate[j] = i;
            s.row_mate[i] = j;
            if (left != UNMATCHED) s.row_mate[left] = UNMATCHED;
            store(s.v + j, s.bid[i]);
            store(s.highest + j, static_cast<Wide>(0));
        }
        push(r.next, r.n_next, left, left != UNMATCHED);
    }
}

// Rounds until no more than `enough` rows are free, or `limit` rounds in all. Rows are fewer than
// 2^32. Time: O(scanned / threads + rounds).
KERNEL __launch_bounds__(512, 2)
    bid_rounds(Index n_rows, Costs a, Auction s, double eps, double most, int shift, Wide enough,
               Wide limit, Rounds* control) {
    Wide round = load(&control->round), count = load(&control->count[round % 3]), scanned = 0;
    do_rounds(control, s.queue, n_rows, enough, limit, round, count, [&](const Round& r) {
        scanned += bid_all(a, s, r, eps, most, shift);
        r.wait();
        award(s, r);
    });
    add_of_block(&control->scanned, scanned);
    if (thread_index()) return;
    control->round = round;
    control->done = count <= enough;
}
