// Certificates of what an engine is given, and of what it returned, checked in linear time.
//
// Koenig (1931): a matching is maximum exactly when one end of each pair can cover all entries.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <tuple>
#include <type_traits>

#include "core/alternating_search.hpp"
#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

// Whether word(k) has its highest bit set for any k below n. Read in the order of memory, by all
// workers, and joined without a branch, by vectors: a comparison instead takes twice as long.
template <class Word> bool any_signed(std::int64_t n, const Word& word, RunContext& run) {
    constexpr std::int64_t grain = 1 << 18;
    std::atomic<bool> found{false};
    run.team.loop(n, grain, [&](int rank, std::int64_t begin, std::int64_t end) {
        WorkCounter(run, rank).pieces(begin, end, [&](std::int64_t k, std::int64_t last) {
            auto all = word(k);
            while (++k < last) all |= word(k);
            if (std::countl_zero(all) == 0) found.store(true, std::memory_order_relaxed);
        });
    });
    return found.load(std::memory_order_relaxed);
}

// The entries of a pattern whose arrays may hold anything, of n_rows + 1 and n_indices elements; -1
// if they are not consistent: an engine would read beyond them. Time: O(n_rows + nnz).
template <class Index>
std::int64_t count_entries(const Csr<Index>& a, std::size_t n_indices, RunContext& run) {
    using Word = std::make_unsigned_t<Index>;  // differences wrap
    const auto at = [](const Index* array, std::int64_t k) { return static_cast<Word>(array[k]); };
    const Word last = static_cast<Word>(a.n_cols) - 1;
    const auto falls = [&, p = a.indptr](std::int64_t i) {
        return at(p, i + 1) | (at(p, i + 1) - at(p, i));
    };
    const auto beyond = [&, j = a.indices](std::int64_t k) { return at(j, k) | (last - at(j, k)); };
    if (a.indptr[0] != 0 || any_signed(a.n_rows, falls, run) ||
        static_cast<std::size_t>(a.nnz()) > n_indices || any_signed(a.nnz(), beyond, run))
        return -1;
    return a.nnz();
}

template <class Index> struct PairReport {
    const char* fault;  // a mate out of range, or a key of FLAWS in _types/matching.py; null: none
    Index i, j;
    auto as_tuple() const { return std::tuple(fault, i, j); }
};

// The first pair that makes this no matching. Time: O(n_rows + n_cols + entries of matched rows).
template <class Index>
PairReport<Index> check_matching(const Csr<Index>& a, const Matching<Index>& m, RunContext& run) {
    WorkCounter counter(run);
    for (Index i = 0; i < a.n_rows && counter.add(1); ++i) {
        const Index j = m.row_mate[i];
        if (j == UNMATCHED<Index>) continue;
        if (j < 0 || j >= a.n_cols) return {"col_out_of_range", i, j};
        if (m.col_mate[j] != i) return {"col_disagrees", i, j};
        const auto list = a.neighbours(i);
        const auto at = std::ranges::find(list, j);
        if (at == list.end()) return {"no_entry", i, j};
        counter.add(at - list.begin());
    }
    for (Index j = 0; j < a.n_cols && counter.add(1); ++j) {
        const Index i = m.col_mate[j];
        if (i == UNMATCHED<Index>) continue;
        if (i < 0 || i >= a.n_rows) return {"row_out_of_range", i, j};
        if (m.row_mate[i] != j) return {"row_disagrees", i, j};
    }
    return {nullptr, 0, 0};
}

// An entry whose ends are both free, or (UNMATCHED, UNMATCHED) when the matching is maximal.
template <class Index>
PairReport<Index> free_entry(const Csr<Index>& a, const Matching<Index>& m, RunContext& run) {
    WorkCounter counter(run);
    for (Index i = 0; i < a.n_rows && counter.add(1); ++i)
        if (m.row_mate[i] == UNMATCHED<Index> && counter.add(a.degree(i)))
            for (const Index j : a.neighbours(i))
                if (m.col_mate[j] == UNMATCHED<Index>) return {nullptr, i, j};
    return {nullptr, UNMATCHED<Index>, UNMATCHED<Index>};
}

// The search from the free rows, which marks what alternating paths reach.
template <class Index>
AlternatingSearch<Index> search_from_free(const Csr<Index>& a, Matching<Index> m,
                                          Bitmap& row_reached, Bitmap& col_reached, RunContext& run,
                                          const FrontierLimits& limits = {}) {
    AlternatingSearch<Index> search(a, m.col_mate, row_reached, col_reached, limits);
    search.from_free(m.row_mate, run);
    return search;
}

// Marks what alternating paths from free rows reach. False: one reaches a free column.
template <class Index>
bool reach_from_free(const Csr<Index>& a, Matching<Index> m, Bitmap& row_reached,
                     Bitmap& col_reached, RunContext& run) {
    return !any_free(m.row_mate, a.n_rows) ||
           run_alone(search_from_free(a, m, row_reached, col_reached, run), run);
}

// Koenig's cover: rows not reached, columns reached. It covers all entries by as many vertices as
// the matching has pairs, so neither can be improved. False, nothing written: it is not maximum.
template <class Index>
bool koenig_cover(const Csr<Index>& a, const Matching<Index>& m, bool* row_cover, bool* col_cover,
                  RunContext& run) {
    Bitmap rows(a.n_rows), cols(a.n_cols);
    if (!reach_from_free(a, m, rows, cols, run)) return false;
    for (Index i = 0; i < a.n_rows; ++i) row_cover[i] = !rows.test(i);
    for (Index j = 0; j < a.n_cols; ++j) col_cover[j] = cols.test(j);
    return true;
}

}  // namespace sparsematch
