// Assignments by blocks on all small patterns and on coupled pieces, proved by their duals.
//
//   assignment_blocks patterns R C STEP   all patterns of R rows and C >= R columns, every STEP-th
//   assignment_blocks coupled SEED COUNT  random coupled pieces of up to some hundred rows
//
// Costs are whole, so that ties are exact. Prints how many were solved; ends with the first whose
// duals prove nothing.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "matching/hopcroft_karp.hpp"
#include "weighted/assignment_blocks.hpp"
#include "weighted/initial_duals.hpp"
#include "weighted/path_search.hpp"

using namespace sparsematch;
using Index = std::int32_t;

namespace {

struct Problem {
    Index n_rows, n_cols;
    std::vector<Index> indptr{0}, indices;
    std::vector<double> cost;

    void add(Index j, double c) { indices.push_back(j), cost.push_back(c); }
    void end_row() { indptr.push_back(static_cast<Index>(indices.size())); }
    Csr<Index> csr() const { return {n_rows, n_cols, indptr.data(), indices.data()}; }
};

[[noreturn]] void fail(const Problem& p, const char* what) {
    std::printf("%s: %d x %d", what, p.n_rows, p.n_cols);
    for (Index i = 0; i < p.n_rows; ++i)
        for (Index k = p.indptr[i]; k < p.indptr[i + 1]; ++k)
            std::printf(" (%d, %d: %g)", i, p.indices[k], p.cost[k]);
    std::puts("");
    std::exit(1);
}

// A matching of all rows, whose pairs cost what their duals are, which are feasible; free columns
// have the largest. That is least cost.
void prove(const Problem& p, AssignmentState<Index>& s) {
    double free_least = s.infinity, most = -s.infinity;
    for (const auto& col : s.col) {
        most = std::max(most, col.v);
        if (col.mate == UNMATCHED<Index>) free_least = std::min(free_least, col.v);
    }
    if (free_least < most - 1e-9) fail(p, "a free column with a small dual");
    for (Index i = 0; i < p.n_rows; ++i) {
        const Index mate = s.col_of[i];
        if (mate == UNMATCHED<Index> || s.col[mate].mate != i) fail(p, "no matching of all rows");
        bool tight = false;
        for (Index k = p.indptr[i]; k < p.indptr[i + 1]; ++k) {
            const double left = p.cost[k] - s.u[i] - s.col[p.indices[k]].v;
            if (left < -1e-9) fail(p, "duals that are not feasible");
            tight = tight || (p.indices[k] == mate && left < 1e-9);
        }
        if (!tight) fail(p, "a pair that costs more than its duals");
    }
}

// Whether all rows can be matched.
bool solve(const Problem& p) {
    ThreadTeam team(1);
    RunContext run(team, {});
    const auto a = p.csr();
    std::vector<Index> row_mate(p.n_rows, -1), col_mate(p.n_cols, -1);
    const Matching<Index> m{row_mate.data(), col_mate.data()};
    hopcroft_karp<Index>(a, nullptr, m, {}, run);
    if (std::count(row_mate.begin(), row_mate.end(), -1)) return false;
    std::vector<double> u(p.n_rows);
    AssignmentState<Index> s(a, p.cost.data(), u.data(), run);
    if (!fit_duals(s, true)) fail(p, "no duals");
    const auto search = [](auto& block) { return PathSearch<Index>(block).match_all(); };
    if (!AssignmentBlocks<Index>(s, m).solve(search)) fail(p, "a block that is not solved");
    prove(p, s);
    return true;
}

std::int64_t patterns(Index n_rows, Index n_cols, std::int64_t step) {
    std::mt19937_64 random(1);
    std::int64_t solved = 0;
    const std::int64_t end = std::int64_t{1} << (n_rows * n_cols);
    for (std::int64_t bits = 0; bits < end; bits += step) {
        Problem p{n_rows, n_cols};
        for (Index i = 0; i < n_rows; ++i) {
            for (Index j = 0; j < n_cols; ++j)
                if (bits >> (i * n_cols + j) & 1) p.add(j, static_cast<double>(random() % 5));
            p.end_row();
        }
        solved += solve(p);
    }
    return solved;
}

// Pieces with a diagonal, some with rings, entries to later ones, and more columns than rows in the
// first; in natural and in random orders.
std::int64_t coupled(std::uint64_t seed, std::int64_t count) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<Index>(random() % n); };
    std::int64_t solved = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        const Index n = 2 + below(120), spare = below(2) * below(6), piece = 1 + below(12);
        std::vector<Index> order(n), number(n + spare);
        for (Index i = 0; i < n; ++i) order[i] = i;
        for (Index j = 0; j < n + spare; ++j) number[j] = j;
        if (below(2)) std::shuffle(order.begin(), order.end(), random);
        if (below(2)) std::shuffle(number.begin(), number.end(), random);
        const auto cost = [&] { return static_cast<double>(below(1000)) - 500; };
        Problem p{n, n + spare};
        for (const Index i : order) {
            const Index first = i / piece * piece, last = std::min(first + piece, n);
            p.add(number[i], cost());
            if (below(4)) p.add(number[i + 1 < last ? i + 1 : first], cost());
            for (Index t = below(4); t > 0; --t) p.add(number[first + below(n - first)], cost());
            if (first == 0 && spare) p.add(number[n + below(spare)], cost());
            p.end_row();
        }
        solved += solve(p);
    }
    return solved;
}

}  // namespace

int main(int n_given, char** given) {
    const std::string what = n_given > 1 ? given[1] : "";
    const auto number = [&](int k) { return std::atoll(given[k]); };
    std::int64_t solved = 0;
    if (what == "patterns" && n_given == 5)
        solved = patterns(static_cast<Index>(number(2)), static_cast<Index>(number(3)), number(4));
    else if (what == "coupled" && n_given == 4) solved = coupled(number(2), number(3));
    else return std::puts("assignment_blocks patterns R C STEP | coupled SEED COUNT"), 2;
    std::printf("%lld solved, 0 wrong\n", static_cast<long long>(solved));
}
