// Every way to the blocks of a matrix, on all small matrices, against a transitive closure.
//
//   block_search digraphs N ORDERS STEP [FIRST]
//                                        all digraphs of N vertices, of which every STEP-th from
//                                        the FIRST on; their rows in all orders, or in ORDERS
//   block_search patterns R C STEP       all patterns of R rows and C columns, likewise
//   block_search violators R C STEP      their Hall violators
//   block_search coupled SEED COUNT      random coupled pieces of up to some hundred rows
//
// Limits are lowered until each method is used on a few rows; block_search coupled draws them, too.
// Prints how many forms were compared; ends with the first that is wrong.
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "decomposition/dulmage_mendelsohn.hpp"
#include "decomposition/hall_violators.hpp"
#include "matching/karp_sipser/karp_sipser.hpp"

using namespace sparsematch;
using Index = std::int32_t;

namespace {

struct Matrix {
    Index n_rows, n_cols;
    std::vector<Index> indptr, indices;

    Csr<Index> view() const { return {n_rows, n_cols, indptr.data(), indices.data()}; }
    Matrix transposed() const {
        Matrix t{n_cols, n_rows, std::vector<Index>(n_cols + 1), std::vector<Index>(indices)};
        for (const Index j : indices) ++t.indptr[j + 1];
        for (Index j = 0; j < n_cols; ++j) t.indptr[j + 1] += t.indptr[j];
        std::vector<Index> next(t.indptr.begin(), t.indptr.end() - 1);
        for (Index i = 0; i < n_rows; ++i)
            for (Index p = indptr[i]; p < indptr[i + 1]; ++p) t.indices[next[indices[p]]++] = i;
        return t;
    }
};

struct Mates {
    std::vector<Index> row, col;
    Mates(Index n_rows, Index n_cols) : row(n_rows, -1), col(n_cols, -1) {}
    Matching<Index> view() { return {row.data(), col.data()}; }
};

// Makes a matching maximum, one row after the other.
void augment(const Matrix& a, Mates& m) {
    std::vector<bool> seen;
    const std::function<bool(Index)> search = [&](Index i) {
        for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) {
            const Index j = a.indices[p];
            if (seen[j]) continue;
            seen[j] = true;
            if (m.col[j] >= 0 && !search(m.col[j])) continue;
            return m.view().match(i, j), true;
        }
        return false;
    };
    for (Index i = 0; i < a.n_rows; ++i) {
        seen.assign(a.n_cols, false);
        if (m.row[i] < 0) search(i);
    }
}

// The parts and blocks by definition: rows that reach each other, rows that free ones reach, and
// rows that reach a free column.
template <std::size_t most> class Oracle {
  public:
    Oracle(const Matrix& a, const Mates& m) : a_(a), m_(m), reach_(a.n_rows), to_free_(a.n_rows) {
        for (Index i = 0; i < a.n_rows; ++i) {
            reach_[i].set(i);
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p)
                if (const Index k = m.col[a.indices[p]]; k >= 0) reach_[i].set(k);
                else touches_.set(i);
        }
        for (Index k = 0; k < a.n_rows; ++k)
            for (Index i = 0; i < a.n_rows; ++i)
                if (reach_[i].test(k)) reach_[i] |= reach_[k];
        for (Index i = 0; i < a.n_rows; ++i) {
            to_free_[i] = (reach_[i] & touches_).any();
            if (m.row[i] < 0) vertical_ |= reach_[i];
        }
    }
    bool agrees(const std::vector<Index>& group, Index n) const {
        std::vector<bool> used(n + 1, false);
        for (Index i = 0; i < a_.n_rows; ++i) {
            const Index g = group[i];
            if (m_.row[i] < 0) {
                if (g != n + 2) return false;
            } else if (vertical_.test(i)) {
                if (g != n + 1) return false;
            } else if (to_free_[i]) {
                if (g != 0) return false;
            } else if (g < 1 || g > n || !fits(i, group)) {
                return false;
            } else {
                used[g] = true;
            }
        }
        for (Index g = 1; g <= n; ++g)
            if (!used[g]) return false;
        return true;
    }

  private:
    // The row's block is what reaches it of what it reaches; its arcs lead to none before it.
    bool fits(Index i, const std::vector<Index>& group) const {
        for (Index k = 0; k < a_.n_rows; ++k) {
            if (m_.row[k] < 0) continue;
            const bool there = reach_[i].test(k);
            if (there && group[k] < group[i]) return false;
            if ((there && reach_[k].test(i)) != (group[k] == group[i])) return false;
        }
        return true;
    }

    const Matrix& a_;
    const Mates& m_;
    std::vector<std::bitset<most>> reach_;
    std::bitset<most> touches_, vertical_;
    std::vector<bool> to_free_;
};

// A way to the blocks: with the transpose or without, and limits.
struct Way {
    const char* name;
    bool transposed;
    BlockLimits limits;
};

// Shares that no number is above, that every one but 0 is, and that every one is.
constexpr double never = 2, any = 0, always = -1;

FrontierLimits small_frontiers(double wide) { return {wide, 1, 1, 1, 64, 1, 64, 1, 2}; }

// Sweeps as long as they may last, and what they find is kept, however small it is.
BlockLimits sweeping(double near, int sweeps, int candidates = 1) {
    BlockLimits limits;
    limits.sweeps = {any,    any,    any,    never,  near,       any, 0,
                     always, always, always, sweeps, candidates, 1};
    return limits;
}
BlockLimits searching(double likely, double wide) {
    BlockLimits limits;
    limits.frontier = small_frontiers(wide);
    limits.likely = likely, limits.go_on = any, limits.large = any;
    limits.many_arcs = 2;
    limits.trimmed_together = limits.trimmed_at_a_time = 1;
    limits.at_a_time = limits.bits_at_a_time = 64;
    return limits;
}

std::vector<Way> ways() {
    BlockLimits direct, copied, brief = sweeping(0, 0), trimmed = searching(never, never), cut, own,
                                little, joined, built, narrow;
    direct.sweeps.start = copied.sweeps.start = never;
    direct.copied = any, copied.copied = never;
    brief.sweeps.gain = brief.sweeps.rest = never;
    brief.horizontal_gain = never;
    trimmed.go_on = never;
    cut.sweeps.start = own.sweeps.start = own.copied = any;
    cut.piece = own.many = 1;
    cut.large = 0.99;
    little.reaching = 0;
    joined = cut;
    joined.reaching = 0, joined.near = any;
    built.many_rows = 0, built.near = any;
    narrow.reaching = narrow.little = 0, narrow.many = 1;
    return {{"default", false, {}},
            {"sweeps", false, sweeping(1, 8)},
            {"follow and pull", false, sweeping(0, 0)},
            {"sweeps near a hub", false, sweeping(0.25, 8, 64)},
            {"one sweep near a hub", false, sweeping(0.25, 0, 64)},
            {"brief sweeps", false, brief},
            {"direct", false, direct},
            {"copied", false, copied},
            {"pieces of the order", false, cut},
            {"direct where little is reached", false, little},
            {"components", false, joined},
            {"a transpose where sweeps fail", false, own},
            {"a transpose beforehand", false, built},
            {"narrow", false, narrow},
            {"default, transposed", true, {}},
            {"forward and backward, in order", true, searching(any, 0)},
            {"trim, forward and backward", true, searching(never, never)},
            {"trim", true, trimmed}};
}

class Comparison {
  public:
    std::int64_t compared = 0;

    // Compares all these ways, with this many workers each.
    template <std::size_t most>
    void compare(const Matrix& a, Mates& m, const std::vector<Way>& all, ThreadTeam& team) {
        const bool transposed = all.back().transposed;  // ways with the transpose come last
        const Matrix t = transposed ? a.transposed() : Matrix{};
        const Oracle<most> oracle(a, m);
        for (const Way& way : all) {
            RunContext run(team);
            check(a, way.transposed ? &t : nullptr, m, oracle, way, run);
        }
    }
    // With the pairs that Karp-Sipser is forced to make, before its matching is made maximum.
    template <std::size_t most>
    void compare_forced(const Matrix& a, const std::vector<Way>& all, ThreadTeam& team) {
        const Matrix t = a.transposed();
        const Csr<Index> columns = t.view();
        Mates m(a.n_rows, a.n_cols);
        std::vector<Index> forced(a.n_rows + 1);
        RunContext first(team);
        first.forced.rows = forced.data();
        karp_sipser<Index>(a.view(), &columns, m.view(), {}, first);
        augment(a, m);
        const Oracle<most> oracle(a, m);
        for (const Way& way : all) {
            if (!way.transposed) continue;
            RunContext run(team);
            run.forced = first.forced;
            check(a, &t, m, oracle, way, run);
        }
    }

  private:
    template <std::size_t most>
    void check(const Matrix& a, const Matrix* t, Mates& m, const Oracle<most>& oracle,
               const Way& way, RunContext& run) {
        const Csr<Index> rows = a.view(), columns = t ? t->view() : Csr<Index>{};
        group_.assign(a.n_rows + 1, -1);
        const Index n = block_labels<Index>(rows, t ? &columns : nullptr, m.view(), group_.data(),
                                            run, way.limits);
        ++compared;
        if (!oracle.agrees(group_, n)) fail(a, m, way, n, run.team.size());
    }
    [[noreturn]] void fail(const Matrix& a, const Mates& m, const Way& way, Index n, int workers) {
        std::printf("wrong: %s, %d workers, %d x %d, %d blocks\n", way.name, workers, a.n_rows,
                    a.n_cols, n);
        for (Index i = 0; i < a.n_rows; ++i) {
            std::printf("row %d, group %d, mate %d:", i, group_[i], m.row[i]);
            for (Index p = a.indptr[i]; p < a.indptr[i + 1]; ++p) std::printf(" %d", a.indices[p]);
            std::puts("");
        }
        std::exit(1);
    }

    std::vector<Index> group_;
};

// ------------------------------------------------------------------------------- all of a size

// The matrix with these columns in its rows, ascending or descending, perhaps each twice.
Matrix pattern(const std::vector<unsigned>& rows, Index n_cols, bool descending, int repeats) {
    Matrix a{static_cast<Index>(rows.size()), n_cols, {0}, {}};
    for (const unsigned columns : rows) {
        for (Index k = 0; k < n_cols; ++k)
            if (const Index j = descending ? n_cols - 1 - k : k; columns >> j & 1)
                a.indices.insert(a.indices.end(), repeats, j);
        a.indptr.push_back(static_cast<Index>(a.indices.size()));
    }
    return a;
}

std::vector<std::vector<Index>> orders(Index n, std::size_t most) {
    std::vector<Index> order(n);
    for (Index k = 0; k < n; ++k) order[k] = k;
    std::vector<std::vector<Index>> all;
    do all.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    if (most < all.size()) std::shuffle(all.begin(), all.end(), std::mt19937(7));
    all.resize(std::min(most, all.size()));
    return all;
}

// Of every graph as it is, all ways; of its rows in other orders, those that read rows in order.
std::int64_t digraphs(Index n, std::size_t n_orders, std::int64_t step, std::int64_t first) {
    Comparison comparison;
    ThreadTeam one(1), two(2);
    const std::vector<Way> all = ways(), by_rows(all.begin(), all.begin() + 6);
    const auto every_order = orders(n, n_orders);
    std::int64_t turn = 0;
    for (std::int64_t arcs = first; arcs < std::int64_t{1} << n * (n - 1); arcs += step, ++turn) {
        std::vector<unsigned> rows(n);
        for (Index v = 0; v < n; ++v) {
            const auto below = static_cast<unsigned>(arcs >> v * (n - 1)) & ((1u << (n - 1)) - 1),
                       low = below & ((1u << v) - 1);
            rows[v] = low | 1u << v | (below ^ low) << 1;
        }
        const Matrix natural = pattern(rows, n, turn % 2 == 1, 1 + (turn % 8 == 7));
        Mates diagonal(n, n);
        for (Index v = 0; v < n; ++v) diagonal.view().match(v, v);
        comparison.compare<8>(natural, diagonal, all, one);
        comparison.compare_forced<8>(natural, all, one);
        if (turn % 16 == 0) {
            comparison.compare<8>(natural, diagonal, all, two);
            comparison.compare_forced<8>(natural, all, two);
        }
        for (const auto& order : every_order) {
            std::vector<unsigned> permuted(n);
            Mates m(n, n);
            for (Index v = 0; v < n; ++v) {
                permuted[order[v]] = rows[v];
                m.view().match(order[v], v);
            }
            comparison.compare<8>(pattern(permuted, n, false, 1), m, by_rows, one);
        }
    }
    return comparison.compared;
}

// Whether rows have one column too few between them, and all proper subsets have enough.
bool is_minimal(const std::vector<unsigned>& rows, const std::vector<Index>& members) {
    const auto n = static_cast<int>(members.size());
    for (unsigned subset = 1; subset < 1u << n; ++subset) {
        unsigned cols = 0;
        for (int k = 0; k < n; ++k)
            if (subset >> k & 1) cols |= rows[members[k]];
        const bool all = subset + 1 == 1u << n;
        if (std::popcount(cols) - std::popcount(subset) != -1 && all) return false;
        if (std::popcount(cols) < std::popcount(subset) && !all) return false;
    }
    return true;
}

// One violator of each piece with too many rows, and pieces of the rows that free ones reach, with
// limits as they are, and lowered.
bool violators_hold(const Matrix& a, const std::vector<unsigned>& rows, Mates& m,
                    const ViolatorLimits& limits, ThreadTeam& team) {
    RunContext run(team);
    const Csr<Index> view = a.view();
    std::vector<Index> row_piece(a.n_rows), col_piece(a.n_cols), members(a.n_rows + 1),
        partners(a.n_rows + 1), starts(a.n_rows + 2);
    DeficientPieces<Index> part(view, m.view(), run);
    const Index n = part.label(row_piece.data(), col_piece.data());
    part.renumber(n);
    HallViolators<Index>(part, run, limits).find(n, members.data(), partners.data(), starts.data());
    Index n_free = 0;
    for (Index i = 0; i < a.n_rows; ++i) {
        if (m.row[i] < 0 && (++n_free, row_piece[i] < 0)) return false;
        for (Index j = 0; j < a.n_cols && row_piece[i] >= 0; ++j)  // all that it has is with it
            if (rows[i] >> j & 1 && (col_piece[j] != row_piece[i] || m.col[j] < 0)) return false;
    }
    if ((n > 0) != (n_free > 0)) return false;
    for (Index k = 0; k < n; ++k) {
        const std::vector<Index> found(members.begin() + starts[k],
                                       members.begin() + starts[k + 1]);
        unsigned of_rows = 0, of_partners = 0;
        for (std::size_t p = 0; p < found.size(); ++p) {
            if (row_piece[found[p]] != k) return false;
            of_rows |= rows[found[p]];
            if (p > 0) of_partners |= 1u << partners[starts[k] + p];
        }
        if (of_rows != of_partners || !is_minimal(rows, found)) return false;
    }
    return true;
}

// Returns how many limits were tried.
int check_violators(const Matrix& a, const std::vector<unsigned>& rows, Mates& m,
                    ThreadTeam& team) {
    for (const ViolatorLimits& limits :
         {ViolatorLimits{}, {1, 1, 0, 1, 0}, {2, 1, 1, 1, 1}, {3, 2, 9, 9, 20}}) {
        if (violators_hold(a, rows, m, limits, team)) continue;
        std::printf("wrong: violators of %d x %d, rows", a.n_rows, a.n_cols);
        for (const unsigned columns : rows) std::printf(" %x", columns);
        std::exit(1);
    }
    return 4;
}

// All patterns of a shape: their blocks, or their Hall violators.
std::int64_t patterns(Index n_rows, Index n_cols, std::int64_t step, bool violators) {
    Comparison comparison;
    ThreadTeam one(1), two(2);
    const std::vector<Way> all = ways();
    std::int64_t turn = 0;
    for (std::int64_t bits = 0; bits < std::int64_t{1} << n_rows * n_cols; bits += step, ++turn) {
        std::vector<unsigned> rows(n_rows);
        for (Index i = 0; i < n_rows; ++i)
            rows[i] = static_cast<unsigned>(bits >> i * n_cols) & ((1u << n_cols) - 1);
        for (const bool descending : {false, true}) {  // other matchings, too
            const Matrix a = pattern(rows, n_cols, descending, 1 + (turn % 8 == 7));
            Mates m(n_rows, n_cols);
            augment(a, m);
            ThreadTeam& team = turn % 32 == 0 ? two : one;
            if (violators) {
                comparison.compared += check_violators(a, rows, m, one);
            } else {
                comparison.compare<8>(a, m, all, team);
                comparison.compare_forced<8>(a, all, team);
            }
        }
    }
    return comparison.compared;
}

// ------------------------------------------------------------------------------ coupled pieces

using Random = std::mt19937_64;
Index below(Random& random, Index n) { return static_cast<Index>(random() % n); }

// Rings, paths in both directions, circulants, trees with an arc back, single vertices, and a few
// arcs between any; in natural order, or permuted together or apart; some rows or columns left out.
Matrix draw_pieces(Random& random) {
    std::vector<std::pair<Index, Index>> arcs;
    const Index size = random() % 4 == 0 ? 60 : 5;
    Index n = 0;
    for (Index left = 2 + below(random, 4); left > 0; --left) {
        const Index kind = below(random, 5), m = 2 + below(random, size);
        for (Index k = 0; k < m; ++k) {
            const Index v = n + k;
            arcs.emplace_back(v, v);
            if (kind == 0 || kind == 2) arcs.emplace_back(v, n + (k + 1) % m);
            if (kind == 1 && k + 1 < m) arcs.insert(arcs.end(), {{v, v + 1}, {v + 1, v}});
            if (kind == 2) arcs.emplace_back(v, n + (7 * k + 3) % m);
            if (kind == 3) arcs.emplace_back(k > 0 ? n + below(random, k) : n + m - 1, v);
        }
        n += m;
    }
    for (Index left = below(random, 8); left > 0; --left)
        arcs.emplace_back(below(random, n), below(random, n));
    std::vector<Index> p(n);
    for (Index v = 0; v < n; ++v) p[v] = v;
    if (random() % 2 == 0) std::shuffle(p.begin(), p.end(), random);
    std::vector<Index> q = p;
    if (random() % 4 == 0) std::shuffle(q.begin(), q.end(), random);
    const Index n_rows = n - (random() % 4 == 0) * below(random, n / 8 + 1),
                n_cols = n - (random() % 4 == 0) * below(random, n / 8 + 1);
    std::vector<std::vector<Index>> rows(n_rows);
    for (const auto& [v, w] : arcs)
        if (p[v] < n_rows && q[w] < n_cols) rows[p[v]].push_back(q[w]);
    Matrix a{n_rows, n_cols, {0}, {}};
    for (const auto& row : rows) {
        a.indices.insert(a.indices.end(), row.begin(), row.end());
        a.indptr.push_back(static_cast<Index>(a.indices.size()));
    }
    return a;
}

// Limits as they are, or each drawn by itself.
std::vector<Way> drawn_ways(Random& random) {
    const auto share = [&](double usual) {
        const double choices[] = {usual, any, 0.1, 0.5, never};
        return choices[random() % 5];
    };
    std::vector<Way> all = ways();
    for (Way& way : all) {
        if (random() % 4 == 0) continue;
        SweepLimits& s = way.limits.sweeps;
        for (double* value : {&s.start, &s.go_on, &s.large, &s.most_left, &s.near_gain,
                              &s.enough_near, &s.first_gain, &s.gain, &s.rest})
            *value = share(*value);
        if (random() % 2 == 0) s.rest = always;
        s.near = random() % 2 ? 1 / 64. : static_cast<double>(random() % 5) / 4;
        s.sweeps = static_cast<int>(random() % 9);
        s.candidates = 1 + static_cast<int>(random() % 64);
        s.rows_at_a_time = 1 + static_cast<std::int64_t>(random() % 20);
        s.strip = 1 + static_cast<std::int64_t>(random() % 20);
        BlockLimits& b = way.limits;
        for (double* value : {&b.horizontal_gain, &b.likely, &b.copied, &b.go_on, &b.large})
            *value = share(*value);
        b.piece = 1 + below(random, 20);
        b.many = 1 + below(random, 4);
        b.reaching = random() % 3 == 0 ? b.reaching : 0;
        b.little = random() % 30;
        b.many_rows = random() % 2 == 0 ? b.many_rows : 0;
        b.near = random() % 2 == 0 ? b.near : any;
        b.many_arcs = static_cast<unsigned char>(1 + random() % 4);
        b.at_a_time = b.bits_at_a_time = 64;
        b.frontier = small_frontiers(share(1 / 16.) + (random() % 3 == 0));
        b.frontier.wide_least = 1 + random() % 8;
        b.frontier.given = 1 + random() % 4;
        b.frontier.known_after = 2 + random() % 8;
    }
    return all;
}

std::int64_t coupled(std::uint64_t seed, std::int64_t count) {
    Comparison comparison;
    ThreadTeam one(1), two(2), three(3);
    Random random(seed);
    for (std::int64_t k = 0; k < count; ++k) {
        const Matrix a = draw_pieces(random);
        const std::vector<Way> all = drawn_ways(random);
        ThreadTeam& team = random() % 3 != 0 ? one : random() % 2 == 0 ? two : three;
        for (const Matrix& b : {a, a.transposed()}) {
            Mates m(b.n_rows, b.n_cols);
            if (random() % 2 == 0 && b.n_rows == b.n_cols)
                for (Index i = 0; i < b.n_rows; ++i)
                    for (Index p = b.indptr[i]; p < b.indptr[i + 1]; ++p)
                        if (b.indices[p] == i) m.view().match(i, i);
            augment(b, m);
            comparison.compare<384>(b, m, all, team);
            comparison.compare_forced<384>(b, all, team);
        }
    }
    return comparison.compared;
}

}  // namespace

int main(int n_given, char** given) {
    const std::string what = n_given > 1 ? given[1] : "";
    std::vector<std::int64_t> numbers;
    for (int k = 2; k < n_given; ++k) numbers.push_back(std::atoll(given[k]));
    const auto size = [&](int k) { return static_cast<Index>(numbers[k]); };
    std::int64_t compared = 0;
    if (what == "digraphs" && (numbers.size() == 3 || numbers.size() == 4))
        compared = digraphs(size(0), numbers[1], numbers[2], numbers.size() > 3 ? numbers[3] : 0);
    else if ((what == "patterns" || what == "violators") && numbers.size() == 3)
        compared = patterns(size(0), size(1), numbers[2], what == "violators");
    else if (what == "coupled" && numbers.size() == 2) compared = coupled(numbers[0], numbers[1]);
    else
        return std::puts(
                   "block_search digraphs N ORDERS STEP [FIRST] | patterns R C STEP | "
                   "violators R C STEP | coupled SEED COUNT"),
               2;
    std::printf("%lld forms, 0 wrong\n", static_cast<long long>(compared));
}
