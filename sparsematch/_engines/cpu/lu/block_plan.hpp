// How a matrix is to be factorised: the order of its rows and columns, its diagonal blocks, what
// factorises each, and where its entries go.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "elimination/fronts.hpp"
#include "lu/cost.hpp"

namespace sparsematch {

// How the rows and columns of a block are ordered.
enum class Order : char { given, degree, dissection, by_values };
constexpr const char* name(Diagonal diagonal) {
    constexpr const char* names[] = {"matched", "given", "product", "any"};
    return names[static_cast<int>(diagonal)];
}
constexpr const char* name(Order order) {
    constexpr const char* names[] = {"given", "minimum degree", "nested dissection", "values"};
    return names[static_cast<int>(order)];
}

// A way to factorise a block, and what it is predicted to cost.
struct Way {
    Diagonal diagonal = Diagonal::matched;
    Order order = Order::given;
    Kernel kernel = Kernel::own;
    double fill = 0, work = 0, seconds = 0;  // entries of L + U, multiplications
    // Entries by the pattern, before any were counted. Seconds that other values of the same
    // pattern take, and the least that they are predicted to take in another way that is known;
    // those that it takes to find that again; and those after which it pays to look for others.
    double by_pattern = 0, again = 0, runner_up = infinity, spent = 0, search = infinity;
};

// What factorisations have shown that analyses are made for.
template <class Index> struct History {
    // Of a block, by its diagonal, ordered by the values or not, and kernel, how many times the
    // entries predicted there are; infinity where they were too many to go on.
    std::map<std::tuple<Index, Diagonal, bool, Kernel>, double> times;
    double repeated = 0;  // how often values have come for the same pattern, as others may

    double& times_of(Index block, const Way& way) {
        const bool by_values = way.order == Order::by_values;
        return times.try_emplace({block, way.diagonal, by_values, way.kernel}, 1).first->second;
    }
    // Whether there was a choice for it.
    bool knows(Index block) const {
        return times.contains({block, Diagonal::matched, false, Kernel::own});
    }
};

inline constexpr int no_seed = 1 << 12;
// No less than a number of entries, in four bytes.
inline float rounded_up(double entries) {
    const auto near = static_cast<float>(entries);
    return near < entries ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}
template <class Index> struct BlockPlan {
    Index n = 0;
    std::vector<Index> starts;              // block k is rows and columns starts[k]...starts[k + 1]
    std::vector<Index> row_perm, col_perm;  // the permuted matrix is A[row_perm][:, col_perm]
    // Exponents that rows are to be scaled by, or no_seed; empty if none are.
    std::vector<int> seed;
    std::vector<Kernel> kernel;             // of each block
    std::map<Index, Fronts<Index>> fronts;  // of the blocks that these factorise
    // What was chosen for the blocks for which there was a choice.
    std::map<Index, Way> chosen;
    // Column c of the diagonal blocks: rows, counted within the block, and places in the values;
    // the same above the blocks, rows counted within the matrix. Where nothing is above, places are
    // those of the user's columns, of which these are the starts.
    std::vector<Index> inner_start, inner_row, inner_from, upper_start, upper_row, upper_from;
    const Index* columns = nullptr;
    // Entries of L + U predicted up to a column of a block, rounded up; and, of each block, times
    // those there may be, beside a full column: beyond, too many pivots have left the diagonal.
    std::vector<float> predicted;
    std::vector<double> overrun;

    // The last rows of a block that are much fuller than the others, if it has some: one that is a
    // pivot early fills what comes behind.
    std::map<Index, Index> dense;

    // Of all blocks that are factorised here: entries of L, if pivots stay on the diagonal, those
    // by fronts apart, and seconds.
    std::int64_t expected_entries = 0, in_fronts = 0;
    double seconds = 0;

    Index n_blocks() const { return static_cast<Index>(starts.size()) - 1; }
    Index size(Index k) const { return starts[k + 1] - starts[k]; }
    bool is_external(Index k) const { return !is_own(kernel[k]); }
    // Entries above the blocks, of the columns before this one, and of those from one to another.
    Index upper(Index c) const { return upper_start.empty() ? 0 : upper_start[c]; }
    Index upper(Index c, Index end) const { return upper(end) - upper(c); }
    // visit(p, from) for column c of its block: entries, and places in the values.
    template <class Visit> void each_inner(Index c, const Visit& visit) const {
        const Index end = inner_start[c + 1];
        if (upper_start.empty())
            for (Index p = inner_start[c], from = columns[col_perm[c]]; p < end;)
                visit(p++, from++);
        else
            for (Index p = inner_start[c]; p < end; ++p) visit(p, inner_from[p]);
    }
};

}  // namespace sparsematch
