// A largest matching along the entries whose reduced cost is 0.
//
// Where costs take few values many entries have one, and of the paths of length 0 that lead from
// free rows to free columns a round of shortest paths takes but one for each tree. The others are
// what an algorithm for matchings without weights finds, in the graph of these entries, and far
// sooner: this is the primal step of the Hungarian method.
// Kuhn: The Hungarian method for the assignment problem (Nav. Res. Logist. Q. 2, 1955).
#pragma once

#include <vector>

#include "matching/ms_bfs_graft.hpp"
#include "weighted/assignment_state.hpp"
#include "weighted/initial_duals.hpp"

namespace sparsematch {

// Keeps the duals. Of a wide matrix only columns with the largest dual may be free: not for these.
// False: the run was stopped. Workspace: an index for each such entry, and three a vertex. Time:
// O(nnz), and a search by phases, O(n_rows nnz) at worst, on these entries.
template <class Index>
bool match_all_tight(AssignmentState<Index>& s) {
    const auto& a = s.a;
    Buffer<Index> indptr(a.n_rows + 1, 0), col_mate(a.n_cols);
    std::vector<Index> indices;
    for (Index i = 0; i < a.n_rows; ++i) {
        for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p)
            if (a.indices[p] == s.col_of[i] || is_tight(s, i, p)) indices.push_back(a.indices[p]);
        indptr[i + 1] = static_cast<Index>(indices.size());
        if (!s.scanned(i)) return false;
    }
    for (Index j = 0; j < a.n_cols; ++j) col_mate[j] = s.col[j].mate;
    const Csr<Index> tight{a.n_rows, a.n_cols, indptr.data(), indices.data()};
    const std::int64_t before = s.run.edges();
    ms_bfs_graft<Index>(tight, nullptr, {s.col_of.data(), col_mate.data()}, {}, s.run);
    s.work += s.run.edges() - before;
    for (Index j = 0; j < a.n_cols; ++j) s.col[j].mate = col_mate[j];
    std::erase_if(s.free, [&](Index i) { return s.col_of[i] != UNMATCHED<Index>; });
    return !s.run.stopped();
}

}  // namespace sparsematch
