// Large strong components without the transpose: sweeps over the rows, which push along the arcs
// what a pivot reaches and pull against them what leads to it.
//
// Where neighbours are near in memory, and their numbers too, a few sweeps find nearly everything,
// faster than a search that follows the arcs; where they do not, they are given up. Two pivots at a
// time, of which the second seems not to be in the component of the first: without its diagonal, a
// mesh of two colours has two large components.
// Invariant: what a state says of a vertex is true; what it does not say may be true as well. Hence
// (1) of large_components.hpp: what a pivot reaches and what leads to it are its component.
// Of (2): `follow` scans every open vertex that the pivot reaches, so all arcs from these lead to
// what it reaches; that, less the component, is the targets. Settled vertices are not scanned: to
// reach one of a place is to reach the place.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "core/csr.hpp"
#include "core/prefetch.hpp"
#include "core/run_context.hpp"
#include "decomposition/coarse_parts.hpp"
#include "decomposition/large_components.hpp"
#include "decomposition/limits.hpp"

namespace sparsematch {

// A step of a sweep. Held by value in a loop, what it reads stays in registers: in a member of
// another object it might be overwritten with the states, which are bytes.
template <class Index> struct RowScan {
    const Index *indptr, *indices, *mate;
    VertexState* state;

    void visit(Index i) const {
        const Index j = mate[i];
        if (j == UNMATCHED<Index>) return;
        const VertexState s = state[j];
        const bool complete = s.reached_by() & s.leads_to() & s.scanned_by();
        if (s.is_open() && !complete) scan(i, j);
    }
    // Without a branch on what is known (decision 0005).
    void scan(Index i, Index j) const {
        const VertexState own = state[j];
        VertexState heads;
        for (Index p = indptr[i], last = indptr[i + 1]; p < last; ++p) {
            const Index k = indices[p];
            heads = heads.or_known(state[k]);
            state[k] = state[k].reached_also(own.reached_by());
        }
        state[j] = own.scanned(heads);
    }
};

template <class Index> class Sweeps {
  public:
    Sweeps(const Csr<Index>& a, Matching<Index> m, const CoarseParts& parts,
           LargeComponents<Index>& found, const SweepLimits& limits, RunContext& run)
        : a_(a), m_(m), parts_(parts), found_(found), limits_(limits), run_(run) {}

    // Searches what is not settled. Writes: the components found; none where too many vertices are
    // left. Workspace: two bytes per column, an index per vertex. Time: O(n_rows + n_cols + nnz).
    void search() {
        all_ = found_.left;
        found_.place = Buffer<Place>(a_.n_cols, no_place);
        state_ = Buffer<VertexState>(a_.n_cols, VertexState());
        each(parts_.settled_col, true, a_.n_cols, [&](Index j) {
            found_.place[j] = parts_.horizontal_col.test(j) ? in_horizontal_part : in_other_part;
            state_[j] = VertexState::settled();
        });
        for (bool large = true;
             large && is_above(limits_.go_on, found_.left) && found_.size < found_.most;) {
            large = search_from_middle();
            if (found_.left > 0)
                for (VertexState& s : state_) s = s.without_pivots();
        }
        if (!is_above(limits_.most_left, found_.left)) return;
        found_ = {};  // depth-first search of all is faster
        found_.left = all_;
    }

  private:
    static constexpr std::size_t block = 128;  // states that are tested together
    struct Counts {
        std::size_t reached = 0, leading = 0, strong = 0;
        std::size_t known() const { return reached + leading; }
    };

    // Whether n is more than this share of all vertices.
    bool is_above(double share, std::size_t n) const {
        return static_cast<double>(n) > share * static_cast<double>(all_);
    }

    // The components of two pivots. False if none is large, or the run was stopped.
    bool search_from_middle() {
        const Index pivot = middle();
        SPARSEMATCH_ASSERT(pivot != UNMATCHED<Index>);
        if (!sweep_near(pivot)) return false;
        const Index other = middle();
        if (!sweep_all(pivot, other)) return false;
        const double large = limits_.large * static_cast<double>(found_.left);
        const int before = found_.size;
        for (const Pivots p : {first_pivot, second_pivot}) {
            if (found_.size == found_.most || static_cast<double>(count(p).strong) <= large)
                continue;
            Buffer<Index> list(found_.left + 1);
            if (!follow(p, list) || !pull(p, list)) return false;
            keep(p);
        }
        return found_.size > before;
    }

    // Sweeps over the rows near the pivot. False if they find little: there is no order to follow.
    bool sweep_near(Index pivot) {
        const Index n = a_.n_rows, near = static_cast<Index>(limits_.near * n);
        const double left = static_cast<double>(found_.left);
        low_ = pivot - std::min(pivot, near);
        const Index high = pivot + std::min(n - pivot, near);
        state(pivot) = VertexState::of_pivot(first_pivot);
        return sweep(pivot, high) && sweep(high, low_) && sweep(low_, high) && sweep(high, low_) &&
               static_cast<double>(count().known()) >
                   std::min(limits_.near_gain * left, limits_.enough_near);
    }

    // Sweeps over all rows as long as they find much, from one or two pivots. False: stopped.
    bool sweep_all(Index pivot, Index other) {
        const Index n = a_.n_rows;
        Counts counts = count();
        if (other != UNMATCHED<Index>) state(other) = VertexState::of_pivot(second_pivot);
        bool going = sweep(low_, n);
        for (int sweeps = 0; going; ++sweeps) {
            const auto left = static_cast<double>(found_.left),
                       before = static_cast<double>(counts.known());
            counts = count();
            const auto now = static_cast<double>(counts.known()),
                       strong = static_cast<double>(counts.strong);
            const bool gains = sweeps == 0 ? now > limits_.first_gain * left
                                           : now - before > limits_.gain * (2 * left - before);
            // Where each that is reached leads back, there is most likely no more.
            if (sweeps == limits_.sweeps || !gains || now == 2 * strong ||
                left - strong <= limits_.rest * left)
                break;
            going = sweeps % 2 == 0 ? sweep(n, 0) : sweep(0, n);
        }
        if (other != UNMATCHED<Index> && state(pivot).reached_by() & second_pivot &&
            state(other).reached_by() & first_pivot)
            for (VertexState& s : state_) s = s.pivots_united();
        return going;
    }

    // Breadth-first search from what is reached and not scanned.
    bool follow(Pivots p, Buffer<Index>& list) {
        WorkCounter counter(run_);
        std::size_t n = 0;
        each_where([p](VertexState s) { return s.must_scan(p); }, [&](Index j) { list[n++] = j; });
        for (std::size_t head = 0; head < n; ++head) {
            PrefetchAhead<8>::mate_lists(a_, m_.col_mate, list.data(), head, n);
            const Index i = m_.col_mate[list[head]];
            for (const Index k : a_.neighbours(i)) {
                const VertexState s = state_[k];
                list[n] = k;
                n += s.is_new_to(p);
                state_[k] = s.reached_also(p);
            }
            if (!counter.add(a_.degree(i))) return false;
        }
        return true;
    }

    // Scans again what does not lead to the pivot yet, as long as that finds much.
    bool pull(Pivots p, Buffer<Index>& list) {
        WorkCounter counter(run_);
        const RowScan<Index> rows = row_scan();
        std::size_t n = 0;
        each_where([p](VertexState s) { return s.might_lead(p); }, [&](Index j) { list[n++] = j; });
        for (std::size_t before = 2 * n; before - n > before / 4;) {
            before = n;
            std::reverse(list.begin(), list.begin() + n);
            n = 0;
            for (std::size_t k = 0; k < before; ++k) {
                PrefetchAhead<8>::mate_lists(a_, m_.col_mate, list.data(), k, before);
                const Index j = list[k], i = m_.col_mate[j];
                rows.scan(i, j);
                list[n] = j;
                n += !(state_[j].leads_to() & p);
                if (!counter.add(a_.degree(i))) return false;
            }
        }
        return true;
    }

    // Makes a component of what is reached and leads back.
    void keep(Pivots p) {
        const int g = found_.size++;
        VertexState* const state = state_.data();
        Place* const place = found_.place.data();
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += block) {
            unsigned char n = 0;
            for (std::size_t j = base; j < std::min(base + block, end); ++j) {
                const bool member = state[j].is_strong(p);
                n += member;
                place[j] = member ? static_cast<Place>(g) : place[j];
                state[j] = state[j].settled_if(member);
            }
            found_.left -= n;
        }
        unsigned seen = 1u << (g - in_horizontal_part);  // one vertex of each place is enough
        each_where([p](VertexState s) { return s.reached_by() & p; },
                   [&](Index j) {
                       const unsigned bit = 1u << (place[j] - in_horizontal_part);
                       if (place[j] == no_place || !(seen & bit)) found_.targets[g].push_back(j);
                       seen |= bit;
                   });
    }

    // Open vertices that are reached by one of these pivots, that lead to one, and both.
    Counts count(Pivots of = any_pivot) const {
        Counts counts;
        const VertexState* const state = state_.data();
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += block) {
            unsigned char reached = 0, leading = 0, strong = 0;
            for (std::size_t j = base; j < std::min(base + block, end); ++j) {
                const VertexState s = state[j].is_open() ? state[j] : VertexState();
                reached += (s.reached_by() & of) != 0;
                leading += (s.leads_to() & of) != 0;
                strong += (s.reached_by() & s.leads_to() & of) != 0;
            }
            counts.reached += reached;
            counts.leading += leading;
            counts.strong += strong;
        }
        return counts;
    }

    // The columns whose state is wanted, ascending. They are few: whole blocks are tested first.
    template <class Wanted, class Use> void each_where(const Wanted& wanted, const Use& use) const {
        const VertexState* const state = state_.data();
        for (std::size_t base = 0, end = a_.n_cols; base < end; base += block) {
            const std::size_t stop = std::min(base + block, end);
            unsigned char any = 0;
            for (std::size_t j = base; j < stop; ++j) any |= wanted(state[j]);
            for (std::size_t j = base; any && j < stop; ++j)
                if (wanted(state[j])) use(static_cast<Index>(j));
        }
    }

    // A row with many entries, about in the middle of those of which nothing is known.
    Index middle() const {
        Index pivot = UNMATCHED<Index>;
        const Index half = a_.n_rows / 2;
        int candidates = 0;
        const auto consider = [&](Index i) {
            const Index j = m_.row_mate[i];
            if (j == UNMATCHED<Index> || !state_[j].is_unknown()) return;
            ++candidates;
            if (pivot == UNMATCHED<Index> || a_.degree(i) > a_.degree(pivot)) pivot = i;
        };
        for (Index d = 0; d < a_.n_rows - half && candidates < limits_.candidates; ++d) {
            consider(half + d);
            if (d < half) consider(half - 1 - d);
        }
        return pivot;
    }

    // The rows between two places, upwards or downwards. False: the run was stopped.
    bool sweep(Index from, Index to) {
        WorkCounter counter(run_);
        const RowScan<Index> rows = row_scan();
        const Index stride = static_cast<Index>(limits_.rows_at_a_time);
        for (Index begin; from != to;) {
            begin = from;
            if (from < to)
                for (const Index stop = std::min<Index>(to - from, stride) + from; from < stop;)
                    rows.visit(from++);
            else
                for (const Index stop = from - std::min<Index>(from - to, stride); from > stop;)
                    rows.visit(--from);
            if (!counter.add(std::abs(a_.indptr[from] - a_.indptr[begin]) + stride)) return false;
        }
        return true;
    }
    RowScan<Index> row_scan() { return {a_.indptr, a_.indices, m_.row_mate, state_.data()}; }

    VertexState& state(Index row) { return state_[m_.row_mate[row]]; }

    const Csr<Index>& a_;
    Matching<Index> m_;
    const CoarseParts& parts_;
    LargeComponents<Index>& found_;
    const SweepLimits& limits_;
    RunContext& run_;
    Buffer<VertexState> state_;  // of a column
    std::size_t all_ = 0;        // vertices that are not settled
    Index low_ = 0;              // where the rows near the first pivot begin
};

}  // namespace sparsematch
