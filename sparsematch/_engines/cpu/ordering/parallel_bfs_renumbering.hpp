// The breadth-first renumbering by two threads: one reads the rows' lists and numbers columns, one
// reads the columns' lists and numbers rows.
//
// Each goes on with what the other has published, so the order is that of one thread
// (bfs_renumbering.hpp). Where they mostly wait for each other, as the system has other work for a
// core, one thread does the rest (bounded spinning, decision 0005).
// Invariant: rows below rows_known_ and columns below cols_known_ have their numbers; their order
// is written by one thread only, and before the number is published.
#pragma once

#include <algorithm>
#include <atomic>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "core/spsc_ring.hpp"
#include "ordering/bfs_renumbering.hpp"

namespace sparsematch {

template <class Index>
class ParallelBfsRenumbering {
    static constexpr Index batch = 64;  // lists read before what they gave is published

  public:
    ParallelBfsRenumbering(const Csr<Index>& a, const Csr<Index>& transposed,
                           const Renumbered<Index>& to, RunContext& run)
        : a_(a), to_(to), run_(run), bfs_(a, transposed, to, run) {}

    void search() {
        spin_.start(run_.team);
        run_.team.each([this](int rank) {
            if (rank == 0) number_rows();
            if (rank == 1) number_cols();
        });
        WorkCounter counter(run_);
        while (!run_.stopped() && bfs_.level(counter)) note_half();
        bfs_.number_empty();
    }

    // No row that was numbered after half of the entries had been read has any of these: one thread
    // fills the lists of the rows before, from all entries, one those of the others, from the rest.
    void write() {
        const Index before = half_rows_ < a_.n_rows ? to_.indptr[half_rows_ + 1] : a_.nnz();
        run_.team.each([&](int rank) {
            WorkCounter counter(run_, rank);
            if (rank == 0) bfs_.transpose_back({}, {0, half_rows_, before}, counter);
            if (rank == 1)
                bfs_.transpose_back(half_, {half_rows_, a_.n_rows, a_.nnz() - before}, counter);
        });
    }

  private:
    bool goes_on() const { return !run_.stopped() && !over_ && !spin_.gave_up(); }

    void number_cols() {
        WorkCounter counter(run_, 1);
        while (goes_on()) {
            const Index known = rows_known_;
            if (bfs_.rows_read() == known) {
                spin_.wait_until([&] { return over_ || rows_known_ != known; });
                continue;
            }
            bfs_.read_rows(upto(bfs_.rows_read(), known), known, counter);
            cols_known_ = bfs_.n_cols();
            rows_done_ = bfs_.rows_read();
        }
        over_ = true;
    }

    void number_rows() {
        WorkCounter counter(run_, 0);
        while (goes_on()) {
            // in this order: the other thread publishes the columns before the rows they come from
            const Index done = rows_done_, known = cols_known_;
            if (bfs_.cols_read() < known) {
                bfs_.read_cols(upto(bfs_.cols_read(), known), known, counter);
                note_half();
            } else if (done < bfs_.n_rows()) {
                spin_.wait_until(
                    [&] { return over_ || cols_known_ != known || rows_done_ != done; });
            } else if (!bfs_.next_root()) {
                break;
            }
            rows_known_ = bfs_.n_rows();
        }
        over_ = true;
    }

    static Index upto(Index read, Index known) {
        return std::min<Index>(known - read, batch) + read;
    }

    void note_half() {
        if (half_.entry > 0 || bfs_.place().entry < a_.nnz() / 2) return;
        half_ = bfs_.place();
        half_rows_ = bfs_.n_rows();
    }

    const Csr<Index>& a_;
    const Renumbered<Index> to_;
    RunContext& run_;
    BfsRenumbering<Index> bfs_;
    typename BfsRenumbering<Index>::Place half_;  // about half of the entries
    Index half_rows_ = 0;                         // numbered by then
    BoundedSpin spin_;
    // to the thread that numbers columns
    alignas(64) std::atomic<Index> rows_known_{0};
    // to the thread that numbers rows: columns, and rows whose columns these are
    alignas(64) std::atomic<Index> cols_known_{0}, rows_done_{0};
    alignas(64) std::atomic<bool> over_{false};
};

// The new indices replace those of the transpose.
template <class Index>
void renumber(const Csr<Index>& a, const Csr<Index>& transposed, const Renumbered<Index>& to,
              RunContext& run) {
    const auto with = [&](auto&& renumbering) {
        renumbering.search();
        if (!run.stopped()) renumbering.write();
    };
    if (run.team.size() > 1) with(ParallelBfsRenumbering<Index>(a, transposed, to, run));
    else with(BfsRenumbering<Index>(a, transposed, to, run));
}

}  // namespace sparsematch
