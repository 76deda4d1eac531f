// Large strong components without the transpose: sweeps over the rows, which push along the arcs
// what a pivot reaches and pull against them what leads to it.
//
// Where neighbours are near in memory, and their numbers too, a few sweeps find nearly everything,
// faster than a search that follows the arcs; where they do not, they are given up. Two pivots at a
// time, of which the second seems not to be in the component of the first: without its diagonal, a
// mesh of two colours has two large components.
// Invariant: what flags say of a vertex is true; what they do not say may be true as well. Hence
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

template <class Index>
class Sweeps {
    // What is known of a vertex, two bits each, one for each pivot: that the pivot reaches it; that
    // it leads to the pivot; that its neighbours are known to be reached. And that it is settled,
    // or in a component.
    using Flags = unsigned char;
    static constexpr Flags reached = 3, leads = 4 * reached, scanned = 16 * reached, settled = 64,
                           first = 1 + 4 + 16, second = 2 * first;
    static constexpr std::size_t block = 128;  // flags that are tested together

  public:
    Sweeps(const Csr<Index>& a, Matching<Index> m, const CoarseParts& parts,
           LargeComponents<Index>& found, const BlockLimits& limits, RunContext& run)
        : a_(a), m_(m), parts_(parts), found_(found), large_(limits.large), go_on_(limits.go_on),
          limits_(limits.sweeps), run_(run), all_(found.left) {}

    // Searches among the vertices that are not settled. Writes: the components found; none where
    // too many vertices are left. Workspace: two bytes per column, an index per vertex. Time:
    // O(n_rows + n_cols + nnz).
    void search() {
        found_.place = Buffer<Place>(a_.n_cols, no_place);
        state_ = Buffer<Flags>(a_.n_cols, 0);
        each(parts_.settled_col, true, a_.n_cols, [&](Index j) {
            found_.place[j] = parts_.horizontal_col.test(j) ? in_horizontal_part : in_other_part;
            state_[j] = settled;
        });
        while (is_above(go_on_, found_.left) && found_.size < found_.most && search_from(middle()))
            for (Flags& s : state_) s &= settled;
        if (!is_above(limits_.most_left, found_.left)) return;
        found_ = {};  // depth-first search of all is faster
        found_.left = all_;
    }

  private:
    // Whether n is more than this share of all vertices.
    bool is_above(double share, std::size_t n) const {
        return static_cast<double>(n) > share * static_cast<double>(all_);
    }

    Flags& state(Index row) { return state_[m_.row_mate[row]]; }

    // The components of two pivots. False if none is large, or the run was stopped.
    bool search_from(Index pivot) {
        state(pivot) = first & ~scanned;
        if (!sweep_near(pivot)) return false;
        const Index other = middle();
        if (other != UNMATCHED<Index>) state(other) = second & ~scanned;
        if (!sweep_all()) return false;
        // in the same component: what is true of the second is true of the first
        if (other != UNMATCHED<Index> && state(pivot) & second & reached &&
            state(other) & first & reached)
            for (Flags& s : state_) s = ((s | s / 2) & first) | (s & settled);
        const double large = large_ * static_cast<double>(found_.left);
        const int before = found_.size;
        for (const Flags p : {first, second}) {
            if (found_.size == found_.most || static_cast<double>(count_strong(p)) <= large)
                continue;
            if (!follow(p)) return false;
            keep(p);
        }
        return found_.size > before;
    }

    // Sweeps over the rows near the pivot. False if they find little: then there is no order that
    // sweeps could follow.
    bool sweep_near(Index pivot) {
        const Index n = a_.n_rows, near = static_cast<Index>(limits_.near * n),
                    high = pivot + std::min(n - pivot, near);
        low_ = pivot - std::min(pivot, near);
        return sweep(pivot, high) && sweep(high, low_) && sweep(low_, high) && sweep(high, low_) &&
               static_cast<double>(count_known()) >
                   std::min(limits_.near_gain * static_cast<double>(found_.left),
                            limits_.enough_near);
    }

    // Sweeps over all rows as long as they find much. False: the run was stopped.
    bool sweep_all() {
        const Index n = a_.n_rows;
        const auto left = static_cast<double>(found_.left);
        double before = 0;
        for (int sweeps = 0; sweeps <= limits_.sweeps; ++sweeps) {
            if (!(sweeps % 2 ? sweep(n, 0) : sweep(sweeps ? 0 : low_, n))) return false;
            const auto strong = static_cast<double>(count_strong(first | second)),
                       now = static_cast<double>(count_known());
            // Where each that is reached leads back, there is most likely no more.
            if (now - before <= limits_.gain * (2 * left - before) || now == 2 * strong ||
                left - strong <= limits_.rest * left)
                break;
            before = now;
        }
        return true;
    }

    // Finds all that the pivot reaches: breadth-first search from what is reached and not scanned.
    bool follow(Flags p) {
        WorkCounter counter(run_);
        Buffer<Index> list(found_.left + 1);
        std::size_t n = 0;
        const Flags unseen = p & reached;
        each_where([p](Flags s) { return (s & ((p & ~leads) | settled)) == (p & reached); },
                   [&](Index j) { list[n++] = j; });
        for (std::size_t head = 0; head < n; ++head) {
            PrefetchAhead<8>::mate_lists(a_, m_.col_mate, list.data(), head, n);
            const Index i = m_.col_mate[list[head]];
            for (const Index k : a_.neighbours(i)) {
                const Flags s = state_[k];
                list[n] = k;
                n += !(s & (unseen | settled));
                state_[k] = s | unseen;
            }
            if (!counter.add(a_.degree(i))) return false;
        }
        return true;
    }

    // Makes a component of what is reached and leads back.
    void keep(Flags p) {
        const int g = found_.size++;
        found_.left -= count_strong(p);
        Place* const place = found_.place.data();
        Flags* const state = state_.data();
        for (std::size_t j = 0, end = a_.n_cols; j < end; ++j) {
            const bool member = is_strong(state[j], p);
            place[j] = member ? static_cast<Place>(g) : place[j];
            state[j] |= member * settled;
        }
        unsigned seen = 1u << (g - in_horizontal_part);  // one vertex of each place is enough
        each_where([p](Flags s) { return (s & p & reached) != 0; },
                   [&](Index j) {
                       const unsigned bit = 1u << (place[j] - in_horizontal_part);
                       if (place[j] == no_place || !(seen & bit)) found_.targets[g].push_back(j);
                       seen |= bit;
                   });
    }

    // Whether a vertex is open, and known to reach, and to be reached by, one of these pivots.
    static bool is_strong(Flags s, Flags p) {
        return !(s & settled) & ((s & s / 4 & p & reached) != 0);
    }
    std::size_t count_strong(Flags p) const {
        return count([p](Flags s) { return is_strong(s, p); });
    }
    std::size_t count_known() const {
        const auto has = [](Flags which) {
            return [which](Flags s) { return !(s & settled) & ((s & which) != 0); };
        };
        return count(has(reached)) + count(has(leads));
    }
    template <class Wanted>
    std::size_t count(const Wanted& wanted) const {
        std::size_t n = 0;
        for (std::size_t base = 0; base < state_.size(); base += block) n += of_block(base, wanted);
        return n;
    }
    // The columns whose flags are wanted, in ascending order. They are few.
    template <class Wanted, class Use>
    void each_where(const Wanted& wanted, const Use& use) const {
        for (std::size_t base = 0; base < state_.size(); base += block) {
            if (!of_block(base, wanted)) continue;
            for (std::size_t j = base; j < std::min(base + block, state_.size()); ++j)
                if (wanted(state_[j])) use(static_cast<Index>(j));
        }
    }
    template <class Wanted>
    unsigned char of_block(std::size_t base, const Wanted& wanted) const {
        unsigned char n = 0;
        const Flags *s = state_.data() + base, *const end =
                                                   s + std::min(block, state_.size() - base);
        for (; s < end; ++s) n += wanted(*s);
        return n;
    }

    // A row with many entries, about in the middle of those of which nothing is known.
    Index middle() const {
        Index pivot = UNMATCHED<Index>;
        const Index half = a_.n_rows / 2;
        int candidates = 0;
        const auto consider = [&](Index i) {
            const Index j = m_.row_mate[i];
            if (j == UNMATCHED<Index> || state_[j] != 0) return;
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
        const Index step = from < to ? 1 : -1, size = std::abs(to - from);
        if (step < 0) --from;
        return counter.pieces(Index{0}, size, [&](Index begin, Index end) {
            scan(from + step * begin, from + step * end, step);
        });
    }
    // What is read stays in registers: in members it might be overwritten with the flags, which are
    // bytes. Without a branch on what is known (decision 0005).
    void scan(Index i, Index end, Index step) {
        const Index *const indptr = a_.indptr, *const indices = a_.indices,
                           *const mate = m_.row_mate;
        Flags* const state = state_.data();
        for (; i != end; i += step) {
            const Index j = mate[i];
            if (j == UNMATCHED<Index>) continue;
            const Flags own = state[j];
            if (own & settled || own & own / 4 & own / 16 & reached) continue;
            const Flags reached_too = own & reached;
            Flags heads = 0;
            for (Index p = indptr[i], last = indptr[i + 1]; p < last; ++p) {
                const Index k = indices[p];
                heads |= state[k];
                state[k] |= reached_too;
            }
            state[j] = own | (heads & leads) | reached_too * 16;
        }
    }

    const Csr<Index>& a_;
    Matching<Index> m_;
    const CoarseParts& parts_;
    LargeComponents<Index>& found_;
    const double large_, go_on_;
    const SweepLimits& limits_;
    RunContext& run_;
    const std::size_t all_;  // vertices that are not settled
    Buffer<Flags> state_;    // of a column
    Index low_ = 0;          // where the rows near the first pivot begin
};

}  // namespace sparsematch
