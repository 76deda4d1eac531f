// Elimination orders as tests and benchmarks call them, by ctypes: parts of an analysis that no
// user's call has to itself. Indices have 32 bits; arrays of patterns are those of CSC matrices.
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "elimination/elimination_tree.hpp"
#include "elimination/nested_dissection.hpp"
#include "lu/cost.hpp"
#include "lu/markowitz.hpp"

using namespace sparsematch;

namespace {

using Index = std::int32_t;

// Of a symmetric pattern without its diagonal.
AdjacencyLists<Index> read_graph(Index n, const Index* indptr, const Index* indices) {
    AdjacencyLists<Index> out;
    out.pool.assign(indices, indices + indptr[n]);
    for (Index i = 0; i < n; ++i) {
        out.begin.push_back(indptr[i]);
        out.length.push_back(indptr[i + 1] - indptr[i]);
    }
    return out;
}

// Counts how often a run asks for signals.
bool count_poll(void* count) {
    ++*static_cast<std::int64_t*>(count);
    return false;
}

template <class Value>
bool markowitz(Index n, const Index* indptr, const Index* indices, const Value* values, double work,
               double active, Index* rows, Index* cols, double* stored, std::int64_t* polls) {
    ThreadTeam team(1);
    RunContext run(team, {}, count_poll, polls);
    WorkCounter counter(run);
    return Markowitz<Index, Value>().run(n, indptr, indices, values, {work, active}, rows, cols,
                                         stored, counter);
}

}  // namespace

extern "C" {

// The order becomes a postorder; the parents in the elimination tree, and the entries of L below
// its diagonal.
void elimination_tree(Index n, const Index* indptr, const Index* indices, Index* order,
                      Index* parent, Index* counts) {
    std::vector<Index> found(order, order + n);
    EliminationTree<Index> tree;
    tree.postorder(read_graph(n, indptr, indices), found);
    std::copy(found.begin(), found.end(), order);
    std::copy(tree.parent().begin(), tree.parent().end(), parent);
    std::copy(tree.counts().begin(), tree.counts().end(), counts);
}

// By nested dissection down to parts of `leaf` vertices, or by minimum degree alone.
void elimination_order(Index n, const Index* indptr, const Index* indices, bool dissect,
                       std::int64_t leaf, Index* order) {
    AdjacencyLists<Index> graph = read_graph(n, indptr, indices);
    std::vector<Index> found(static_cast<std::size_t>(n));
    ThreadTeam team(1);
    RunContext run(team);
    WorkCounter counter(run);
    EliminationCost cost;
    if (dissect) NestedDissection<Index>(run, leaf).run(graph, found);
    else Amd<Index>().run(graph, {}, found.data(), cost, counter);
    std::copy(found.begin(), found.end(), order);
}

// Of each vertex, its side, 0 or 1, or 2 if it is in the separator.
void vertex_separator(Index n, const Index* indptr, const Index* indices, signed char* part) {
    ThreadTeam team(1);
    RunContext run(team);
    const auto found = NestedDissection<Index>(run).separate(read_graph(n, indptr, indices));
    std::copy(found.begin(), found.end(), part);
}

// Orders of rows and columns, and the entries of L + U up to each column. False: none was found.
bool markowitz_real(Index n, const Index* indptr, const Index* indices, const double* values,
                    double work, double active, Index* rows, Index* cols, double* stored,
                    std::int64_t* polls) {
    return markowitz(n, indptr, indices, values, work, active, rows, cols, stored, polls);
}
bool markowitz_complex(Index n, const Index* indptr, const Index* indices,
                       const std::complex<double>* values, double work, double active, Index* rows,
                       Index* cols, double* stored, std::int64_t* polls) {
    return markowitz(n, indptr, indices, values, work, active, rows, cols, stored, polls);
}

// The name of the k-th kernel, and its costs: four numbers; null after the last.
const char* kernel_costs(int k, double* costs) {
    if (k >= static_cast<int>(kernel_table.size())) return nullptr;
    const KernelRow& row = kernel_table[static_cast<std::size_t>(k)];
    const double found[] = {row.cost.fixed, row.cost.per_entry, row.cost.per_fill,
                            row.cost.per_multiplication};
    std::copy(found, found + 4, costs);
    return row.name;
}
}
