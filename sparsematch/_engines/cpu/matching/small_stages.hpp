// What `auto` does with a small matrix, as its features would take as long to find: the diagonal,
// the first free columns, searches from one row after the other.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/run_report.hpp"
#include "core/transpose.hpp"
#include "matching/cheap.hpp"
#include "matching/diagonal.hpp"
#include "matching/single_source_bfs.hpp"

namespace sparsematch {

// What the stages did, and the transpose, if they had to build it.
template <class Index>
struct SmallReport {
    std::vector<RunReport> stages;
    std::vector<Index> indptr, indices;
    double seconds = 0;
};

// Of a matching that may be replaced or not, and the transpose or null. Searches begin with the
// columns where fewer of these are free. Where the last stage is exhausted, having scanned
// edge_limit entries, more may be matched.
template <class Index>
SmallReport<Index> small_stages(const Csr<Index>& a, const Csr<Index>* t, Matching<Index> m,
                                bool replaceable, std::int64_t edge_limit, RunContext& whole) {
    SmallReport<Index> done;
    const auto stage = [&](const char* engine, const char* reason, std::int64_t limit,
                           const auto& improve) {
        RunContext run(whole, limit);
        done.stages.push_back(reported(engine, reason, m.row_mate, a.n_rows, run, improve));
        return done.stages.back().cardinality == std::min(a.n_rows, a.n_cols);
    };
    const Csr<Index>* const none = nullptr;
    if (replaceable && a.n_rows == a.n_cols) {
        bool found = false;
        stage("diagonal", "the diagonal has no zero", 0, [&](RunContext& run) {
            found = match_diagonal(a, m);
            WorkCounter(run).add(a.nnz());
        });
        if (found) return done;
        done.stages.pop_back();
    }
    if (stage("cheap", "one pass; often all there is to do", 0,
              [&](RunContext& run) { cheap(a, none, m, {}, run); }))
        return done;
    const bool by_cols = a.n_cols < a.n_rows;
    Csr<Index> built;
    if (by_cols && !t) {
        const auto begin = std::chrono::steady_clock::now();
        done.indptr.resize(a.n_cols + std::size_t{1});
        done.indices.resize(a.nnz());
        transpose(a, done.indptr.data(), done.indices.data(), whole);
        built = {a.n_cols, a.n_rows, done.indptr.data(), done.indices.data()};
        t = &built;
        done.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
    stage("single_source_bfs", "a small matrix", edge_limit, [&](RunContext& run) {
        single_source_bfs(by_cols ? *t : a, none, by_cols ? m.flipped() : m, {}, run);
    });
    return done;
}

}  // namespace sparsematch
