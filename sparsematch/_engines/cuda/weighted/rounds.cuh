// Rounds over lists of rows, each of which makes the list of the next.
#pragma once

// A round: its rows, and where those of the next are listed; this thread, of how many.
struct Round {
    const Index* rows;
    Index* next;
    Wide* n_next;
    Wide number, count, first, threads;
    bool alone;
    int* barrier;

    // Waits for all threads of the round.
    DEVICE void wait() const {
        if (alone) sync_block();
        else sync_grid(barrier);
    }
};

// Rounds until no more than `enough` rows are left, or `limit` rounds in all; those with no more
// than NARROW rows by one block alone. `queue`: two lists of n_rows, in rotation; `count`: the rows
// of the round that comes next. Control: count, of three rounds in rotation; round; barrier.
template <class Control, class Work>
DEVICE void do_rounds(Control* control, Index* queue, Index n_rows, Wide enough, Wide limit,
                      Wide& round, Wide& count, Work work) {
    while (count > enough && round < limit) {
        const bool alone = count <= NARROW;
        const Wide first = thread_index(), threads = alone ? threads_in_block() : thread_count();
        // one block alone would overwrite counts that others have yet to read
        if (alone) sync_grid(control->barrier);
        if (!alone || block_index() == 0) do {
                const Round now = {queue + (round & 1) * n_rows,
                                   queue + (~round & 1) * n_rows,
                                   &control->count[(round + 1) % 3],
                                   round,
                                   count,
                                   first,
                                   threads,
                                   alone,
                                   control->barrier};
                if (first == 0) store(&control->count[(round + 2) % 3], static_cast<Wide>(0));
                work(now);
                now.wait();
                ++round;
                count = load(now.n_next);
            } while (alone && count > enough && count <= NARROW && round < limit);
        if (!alone) continue;
        if (first == 0) store(&control->round, round);
        sync_grid(control->barrier);
        round = load(&control->round);
        count = load(&control->count[round % 3]);
    }
}
