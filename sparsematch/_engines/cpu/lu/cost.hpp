// What the ways to factorise a block are predicted to cost: seconds of one core, by one table.
//
// benchmarks/costs.py measures the coefficients, and how far predictions are off; Python reads them
// from here. A way is a diagonal, an order, and a kernel that follows it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "elimination/elimination_cost.hpp"

namespace sparsematch {

// Seconds: of a call, for an entry of the block, for an entry of L + U, for a multiplication.
struct Cost {
    double fixed = 0, per_entry = 0, per_fill = 0, per_multiplication = 0;

    double seconds(double entries, double fill, double multiplications) const {
        return fixed + per_entry * entries + per_fill * fill + per_multiplication * multiplications;
    }
};

// What factorises a block: columns or fronts of this package, a library, or a user's solver.
enum class Kernel : signed char { own, fronts, superlu, umfpack, pardiso, mumps, user };
struct KernelRow {
    const char* name;
    Cost cost;
    double repeated = 1;  // share of that time that other values take, of the same pattern
    // Of this package's: the share of the largest in its column, rows scaled, below which a pivot
    // is expected to leave the diagonal; and by which share fill grows with each, of sqrt(n) of
    // them in a block of n rows.
    double weak_pivot = 0, per_moved = 0;
    bool complex_numbers = true;
};
inline constexpr std::array kernel_table{
    // repeated: medians of 70 matrices; moved pivots: fitted to qh882, gemat12, ex6, pilotnov;
    // fronts: fitted to 48 matrices, 0.5 to 1.9 times their times; a margin for each entry of L + U
    KernelRow{"own", {3.5e-6, 20e-9, 16e-9, 0.5e-9}, 0.4, 0.1, 0.6},
    KernelRow{"fronts", {150e-6, 21e-9, 20e-9, 0.072e-9}, 0.6, 0.01, 0.15},
    KernelRow{"superlu", {}},  // taken only if it is asked for
    // by kvxopt, fitted to 16 matrices of 2,700 to 150,000 entries: 0.3 to 1.4 of their times
    KernelRow{"umfpack", {2.9e-3, 200e-9, 37e-9, 0.16e-9}},
    // by pypardiso, on 10 matrices of 18,000 to 130,000 entries: 0.9 to 1.3 of their times
    KernelRow{"pardiso", {4.4e-3, 600e-9, 5e-9, 0.05e-9}, 1, 0, 0, false},
    // not measured: so that it is taken where nothing else is near
    KernelRow{"mumps", {3e-3, 1000e-9, 25e-9, 0.15e-9}},
    KernelRow{"user", {}},
};
// Share of pivots that may be small before fronts have a block scaled by the duals of a product;
// and what an order by the values is expected to save beside fronts, as a share of what it saves
// beside columns: half, so that those of random patterns, on which it lost, are not looked for.
inline constexpr double few_weak = 1.0 / 256, by_fronts = 0.5;
// Multiplications that take as long as a number that fronts pass on, and as a front beside these.
// Fitted as the prices are.
inline constexpr double of_number = 12, of_front = 350 * of_number;
// Share of the places of a block that are entries above which its order hardly matters: fill comes
// to 96% of all in random ones of 500 rows of which a fifth are.
inline constexpr double full = 0.5;
// Whether it is this package's, which follows an order; others order a block themselves.
constexpr bool is_own(Kernel kernel) { return kernel <= Kernel::fronts; }
constexpr const KernelRow& row_of(Kernel kernel) {
    return kernel_table[static_cast<std::size_t>(kernel)];
}

// What it costs to look for another way than the best one so far, for an entry of the block and for
// one of L + U; and the share of its time that is expected to be saved.
struct Search {
    double fixed, per_entry, gain, per_fill = 0;
    double seconds(double entries, double fill) const {
        return fixed + per_entry * entries + per_fill * fill;
    }
};

// Which entries of a block are its diagonal: those of the matching, those that it comes with, those
// of the transversal with the largest product; of a policy, any of these.
enum class Diagonal : signed char { matched, given, product, any };

// The table, what may be chosen from it, and how far predictions are trusted.
struct Policy {
    std::array<KernelRow, kernel_table.size()> kernels = kernel_table;
    // The gain by product is the time that pivots cost that move; by values, where entries may not
    // stay and a pattern has no symmetry, fill is saved that no order predicts.
    Search given{2e-6, 80e-9, 0.5}, product{5e-6, 100e-9, 1}, dissection{50e-6, 1700e-9, 0.35},
        by_values{5e-6, 100e-9, 1.5, 20e-9};
    // Share of the best way's time that a first separator may take, as a front: 0.03 to 0.08 where
    // dissection saves a tenth and more, in cubes and other meshes; 0.18 to 0.55 in random graphs.
    double first_separator = 0.125;
    double by_values_step = 1.5e-9;  // seconds of Markowitz' search for each unit of its work
    Diagonal diagonal = Diagonal::any;
    unsigned available = 0;       // beside ours, a bit each
    Kernel forced = Kernel::own;  // unless it is ours: what alone takes blocks of more rows than
    std::int64_t few_rows = 16;   // this; those of fewer are factorised here without a thought
    // Times the entries predicted, at which a factorisation ends at least: of 84 real blocks
    // factorised here, one has more (basis_degen3, 2.7).
    double overrun = 2.5;
    // Times as long as it takes to look for other ways, that factorisations of other values have
    // taken before: so that it adds half to them at most, if prices are right. On eight of 66
    // matrices they take 0.2 to 0.8 of the time then, on one 1.06.
    double patience = 2;
    int workers = 1;
    // Whether all is one block, which our own kernel factorises whatever that costs; the order of
    // its columns, unless one is to be chosen.
    bool whole = false;
    std::vector<std::int64_t> order;
    // Share of a block's largest entry up to which an entry is added instead of a pivot, which is
    // what only our own kernel does.
    double no_pivot = 0;

    const Cost& cost(Kernel kernel) const { return kernels[static_cast<std::size_t>(kernel)].cost; }
    bool allows(Kernel kernel, bool complex_numbers) const {
        if (forced != Kernel::own || no_pivot > 0 || whole) return kernel == forced;
        return is_own(kernel) || ((available >> static_cast<int>(kernel) & 1) &&
                                  (row_of(kernel).complex_numbers || !complex_numbers));
    }
    // Below what any kernel that follows an order may take.
    EliminationLimits least_prices(double most) const {
        const Cost &own = cost(Kernel::own), &other = cost(Kernel::fronts);
        return {2 * std::min(own.per_fill, other.per_fill),
                std::min(own.per_multiplication, other.per_multiplication), most};
    }
    // Times the entries predicted, at which a factorisation ends: another kernel would be done.
    double most(Kernel kernel, double entries, double fill, double work) const {
        if (whole) return infinity;
        const double here = cost(kernel).seconds(entries, fill, work),
                     there = cost(kernel == Kernel::own ? Kernel::fronts : Kernel::own)
                                 .seconds(entries, fill, work);
        return overrun * std::max(1.0, there / here);
    }
    // Entries of L + U over those of a factor of B + B^T, of n rows and a share of whose entries
    // have mirrors: fewer, unless it is full. 38 blocks of little symmetry have 0.4 to 1.5 times
    // what is predicted so.
    static double kept(double symmetry, double entries, double n) {
        constexpr double unsymmetric = 0.4;  // of entries that have none, the share left out
        return 1 - unsymmetric * (1 - symmetry) * std::max(0.0, 1 - entries / (n * n));
    }
};

// By how many times the fill of n rows grows where pivots move: more than those, in the end.
inline double grown(Kernel kernel, double moved, double n) {
    return 1 + row_of(kernel).per_moved * moved / std::sqrt(n);
}

}  // namespace sparsematch
