// Solutions where numbers in between are beyond the range of doubles, or lost below it, though the
// matrix, the right-hand side and the solution are not: those between the blocks have exponents of
// their own, and each block is solved with as one of about 1. Measured as in block_refinement.hpp,
// against the matrix as it is, and refined. Some 50 times slower than that.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"
#include "lu/block_refinement.hpp"
#include "lu/equilibration.hpp"
#include "lu/triangular_solve.hpp"

namespace sparsematch {

// v 2^e, the larger part of v between 1 and 2, or 0.
template <class Value> struct Wide {
    static constexpr std::int64_t none = -(std::int64_t{1} << 40);  // exponent of 0
    Value v{};
    std::int64_t e = none;

    static Wide of(Value v, std::int64_t e = 0) {
        const double size = largest_part(v);
        if (size == 0) return {};
        const int own = exponent_of(size);
        return {times_power(v, -own), e + own};
    }
    // As a double, times another power of two; infinite or 0 beyond the range.
    Value value(std::int64_t more = 0) const {
        return times_power(v, static_cast<int>(std::clamp<std::int64_t>(e + more, -4000, 4000)));
    }
    Wide<double> size() const { return Wide<double>::of(std::abs(v), e); }
    Wide operator-() const { return {-v, e}; }
    Wide operator*(const Wide& other) const { return of(product(v, other.v), e + other.e); }
    Wide operator+(const Wide& other) const {
        const auto top = std::max(e, other.e);
        return top == none ? *this : of(value(-top) + other.value(-top), top);
    }
    bool operator<(const Wide& other) const { return e != other.e ? e < other.e : v < other.v; }

  private:
    static double times_power(double v, int exponent) { return std::ldexp(v, exponent); }
    static std::complex<double> times_power(std::complex<double> v, int exponent) {
        return {std::ldexp(v.real(), exponent), std::ldexp(v.imag(), exponent)};
    }
};

// A number as it is, of which WideSolve measures what does not leave the range.
template <class Value> struct Plain {
    Value v{};
    static Plain of(Value v) { return {v}; }
    Plain<double> size() const { return {std::abs(v)}; }
    Plain operator-() const { return {-v}; }
    Plain operator*(const Plain& other) const { return {product(v, other.v)}; }
    Plain operator+(const Plain& other) const { return {v + other.v}; }
    bool operator<(const Plain& other) const { return v < other.v; }
};

template <class Index, class Value> class WideSolve {
  public:
    // columns: the matrix, of which a are the values.
    WideSolve(const Csr<Index>& columns, const Value* a, const BlockLU<Index, Value>& lu,
              const ExternalSolve<Index, Value>& external, Side side, RunContext& run)
        : columns_(columns), a_(a), lu_(lu), external_(external), side_(side), run_(run),
          counter_(run), norms_(lu.size()), y_(lu.size()) {
        each_entry(
            [&](Index i, Index, Value v) { norms_[i] = std::max(norms_[i], largest_part(v)); });
    }

    // Whether a solution is good enough beside the terms of whole rows, and their norms, though not
    // beside those of its blocks, if no number leaves the range. Elements are `stride` apart.
    bool is_good(const Value* b, const Value* x, std::int64_t stride) {
        std::vector<Plain<Value>> r;
        return measure(read<Plain<Value>>(b, stride), read<Plain<Value>>(x, stride), r).excess() <=
               1;
    }
    // Returns the larger error, 0 where good enough; infinite where doubles do not reach.
    double solve(const Value* b, Value* x, std::int64_t stride) {
        const Vector right = read<Number>(b, stride);
        Vector best = sweep(right), r;
        SolutionError error = measure(right, best, r);
        for (int step = 0; step < error.max_steps && error.excess() > 1 && !run_.stopped();
             ++step) {
            Vector better = sweep(r);
            for (std::size_t i = 0; i < best.size(); ++i) better[i] = better[i] + best[i];
            const SolutionError now = measure(right, better, r);
            const bool halved = now.excess() < error.excess() / 2;
            if (now.excess() < error.excess()) best.swap(better), error = now;
            if (!halved) break;
        }
        bool finite = true;
        for (std::size_t i = 0; i < best.size(); ++i) {
            x[i * stride] = best[i].value();
            finite &= std::isfinite(largest_part(x[i * stride]));
        }
        return !finite ? infinity : error.excess() > 1 ? error.larger() : 0;
    }

  private:
    using Number = Wide<Value>;
    using Vector = std::vector<Number>;

    template <class Any> std::vector<Any> read(const Value* from, std::int64_t stride) const {
        std::vector<Any> out(lu_.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = Any::of(from[i * stride]);
        return out;
    }
    Value turned(Value v) const { return side_ == Side::adjoint ? conjugate(v) : v; }
    // visit(i, j, entry) of what is solved with.
    template <class Visit> void each_entry(const Visit& visit) {
        for (Index j = 0; j < columns_.n_rows && counter_.add(slow * (1 + columns_.degree(j))); ++j)
            for (Index p = columns_.indptr[j]; p < columns_.indptr[j + 1]; ++p) {
                const Index i = columns_.indices[p];
                if (side_ == Side::plain) visit(i, j, a_[p]);
                else visit(j, i, turned(a_[p]));
            }
    }

    // Solves with the factors, from one order of the user's to the other.
    Vector sweep(Vector right) {
        const auto& plan = lu_.plan;
        const bool plain = side_ == Side::plain;
        Vector x(right.size());
        for (Index t = 0; t < plan.n_blocks(); ++t) {
            const Index k = plain ? plan.n_blocks() - 1 - t : t;
            if (plain) solve_block(k, right, x);
            for (Index c = plan.starts[k]; c < plan.starts[k + 1]; ++c)
                for (Index p = plan.upper(c), last = plan.upper(c + 1); p < last; ++p) {
                    Index to = plan.row_perm[plan.upper_row[p]], from = plan.col_perm[c];
                    if (!plain) std::swap(to, from);
                    const auto a = Number::of(turned(a_[plan.upper_from[p]]));
                    right[to] = right[to] + -(a * x[from]);
                }
            if (!plain) solve_block(k, right, x);
            const std::int64_t work = plan.upper(plan.starts[k], plan.starts[k + 1]);
            if (!counter_.add(slow * (work + plan.size(k)))) break;
        }
        return x;
    }
    void solve_block(Index k, const Vector& right, Vector& x) {
        const auto [from, to] = lu_.ends(side_ == Side::plain);
        const Index first = lu_.plan.starts[k], end = lu_.plan.starts[k + 1];
        std::int64_t top = Number::none;
        for (Index c = first; c < end; ++c)
            top = std::max(top, right[from.place[c]].e + exponent_of(from.factor[c]));
        if (top < Number::none / 2) return;  // all are 0, as x is
        for (Index c = first; c < end; ++c)
            y_[c] = right[from.place[c]].value(exponent_of(from.factor[c]) - top);
        TriangularSolve<Index, Value, 1>(lu_, external_, y_.data()).solve_block(k, side_);
        for (Index c = first; c < end; ++c)
            x[to.place[c]] = Number::of(y_[c], top + exponent_of(to.factor[c]));
    }

    // Writes: r, the residuals.
    template <class Any>
    SolutionError measure(const std::vector<Any>& right, const std::vector<Any>& x,
                          std::vector<Any>& r) {
        using Size = decltype(Any().size());
        r.assign(right.size(), {});
        std::vector<Size> sizes(right.size());
        each_entry([&](Index i, Index j, Value v) {
            const Any term = Any::of(v) * x[j];
            r[i] = r[i] + term, sizes[i] = sizes[i] + term.size();
        });
        Size norm, largest_r, largest;
        for (const Any& element : x) norm = std::max(norm, element.size());
        const auto tiny = Size::of(1000.0 * static_cast<double>(x.size()) *
                                   std::numeric_limits<double>::epsilon());
        SolutionError error;
        for (std::size_t i = 0; i < r.size(); ++i) {
            r[i] = right[i] + -r[i];
            const Size by_norm = Size::of(norms_[i]) * norm, b = right[i].size(),
                       left = r[i].size();
            Size size = sizes[i] + b;
            largest_r = std::max(largest_r, left), largest = std::max(largest, size);
            if (!(tiny * (by_norm + b) < size)) size = size + by_norm;
            error.componentwise = std::max(error.componentwise, quotient(left, size));
        }
        error.normwise = quotient(largest_r, largest);
        return error;
    }
    // Infinite where it is no number.
    static double quotient(const Wide<double>& a, const Wide<double>& b) {
        if (a.v == 0) return 0;
        const double found = Wide<double>::of(a.v / b.v, a.e - b.e).value();
        return b.v == 0 || std::isnan(found) ? infinity : found;
    }
    static double quotient(const Plain<double>& a, const Plain<double>& b) {
        if (a.v == 0) return 0;
        const double found = a.v / b.v;
        return b.v < infinity && found >= 0 ? found : infinity;
    }

    static constexpr std::int64_t slow = 50;  // times the work of a pass over doubles

    const Csr<Index>& columns_;
    const Value* a_;
    const BlockLU<Index, Value>& lu_;
    const ExternalSolve<Index, Value>& external_;
    const Side side_;
    RunContext& run_;
    WorkCounter counter_;
    std::vector<double> norms_;  // of the rows of what is solved with
    std::vector<Value> y_;
};

}  // namespace sparsematch
