// One run of an engine: its settings, the counts it reports, and when it stops.
//
// An engine adds every edge it scans to its thread's WorkCounter, which flushes to the run about
// every 64 thousand edges. Then the calling thread polls for Ctrl-C, and every thread sees whether
// the run was stopped or its edge budget is exhausted. A stopped engine returns a valid matching.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "core/thread_team.hpp"

namespace sparsematch {

// What a caller sets of a run.
struct RunSettings {
    std::int64_t edge_limit = 0;  // edges after which an engine stops, short of its goal; 0: never
    bool detailed = false;        // time per kind of step and vertices per level are wanted
    std::uint64_t seed = 0;       // of random choices
};

// What an engine reports, beside the edges it counts; StepInfo says what each means, Engine in the
// registry which of them are required.
struct Statistics {
    std::int64_t phases = 0, levels = 0, augmentations = 0, path_edges = 0, failed_edges = 0;
    struct Step {
        const char* name;
        double seconds;
    };
    std::vector<Step> steps;             // time per kind of step, in order of first use
    std::vector<std::int64_t> frontier;  // vertices per level, in order; only if detailed
    struct Round {
        // vertices matched by its end; edges with both ends free at its beginning
        std::int64_t matched, live_edges;
    };
    std::vector<Round> rounds;  // of an engine for general graphs; only if detailed
};

// Rows and columns that no augmenting path needs to visit, a flag each; null unless requested.
struct Finished {
    bool *row = nullptr, *col = nullptr;
    explicit operator bool() const { return row != nullptr; }
};

// Rows with forced pairs, in the order found: from the front of an array with room for all those
// down to one column, from its back those whose column was down to one row. Null unless requested.
struct Forced {
    void* rows = nullptr;                 // of the engine's index type
    std::int64_t by_row = 0, by_col = 0;  // how many
    template <class Index> Index* rows_as() const { return static_cast<Index*>(rows); }
};

class RunContext {
    using Clock = std::chrono::steady_clock;

  public:
    // poll(context) is called on the caller's thread now and then; true means stop.
    using Poll = bool (*)(void* context);

    // steps: where the times of steps are kept, if not in stats.
    explicit RunContext(ThreadTeam& team, const RunSettings& settings = {}, Poll poll = nullptr,
                        void* context = nullptr, std::vector<Statistics::Step>* steps = nullptr)
        : team(team), detailed(settings.detailed), seed(settings.seed),
          edge_limit_(settings.edge_limit), poll_(poll), context_(context),
          steps_(steps ? *steps : stats.steps) {
        // a timer ends in a destructor, which must not allocate
        if (detailed) steps_.reserve(64);
    }

    // A part of a run with a budget and an account of its own, which stops where that run does.
    RunContext(RunContext& whole, std::int64_t edge_limit)
        : RunContext(
              whole.team, {edge_limit, whole.detailed, whole.seed},
              [](void* run) { return !static_cast<RunContext*>(run)->flush(0, 0); }, &whole) {}

    bool stopped() const { return stop_.load(std::memory_order_relaxed); }
    // The budget is spent: the engine stops where it next can, short of maximum.
    bool exhausted() const {
        return given_up_.load(std::memory_order_relaxed) ||
               (edge_limit() > 0 && edges() > edge_limit());
    }
    // The engine does not reach its goal in this way: as if the budget were spent.
    void give_up() { given_up_.store(true, std::memory_order_relaxed); }
    // Raises the budget by work that is not to be counted against it. One thread at a time.
    void extend_budget(std::int64_t edges) {
        if (edge_limit() <= 0) return;
        edge_limit_.store(edge_limit() + edges, std::memory_order_relaxed);
    }
    std::int64_t edge_limit() const { return edge_limit_.load(std::memory_order_relaxed); }
    std::int64_t edges() const { return edges_.load(std::memory_order_relaxed); }

    // Adds edges scanned by one thread. False: the run was stopped.
    bool flush(std::int64_t edges, int rank) {
        edges_.fetch_add(edges, std::memory_order_relaxed);
        if (rank == 0 && poll_) {
            const auto now = Clock::now();
            if (now - polled_ > std::chrono::milliseconds(20)) {
                polled_ = now;
                if (poll_(context_)) stop_.store(true, std::memory_order_relaxed);
            }
        }
        return !stopped();
    }

    // Of an idle rank: spins for about as long as falling asleep and waking take, then sleeps.
    void rest(int rank, int idle) {
        constexpr int spins = 1000;
        if (idle < spins) return spin_pause();
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        flush(0, rank);
    }

    ThreadTeam& team;
    const bool detailed;
    const std::uint64_t seed;
    Statistics stats;
    Finished finished;
    Forced forced;

    // Adds the lifetime of the returned object to the time of the step, if detailed; within that of
    // another one nothing: times are disjoint. On the calling thread only.
    auto time(const char* step) {
        struct Timer {
            RunContext* run;
            const char* step;
            Clock::time_point start;
            ~Timer() {
                if (!run) return;
                run->add_time(step, std::chrono::duration<double>(Clock::now() - start).count());
                run->timing_ = false;
            }
        };
        if (!detailed || std::exchange(timing_, true)) return Timer{nullptr, step, {}};
        return Timer{this, step, Clock::now()};
    }

  private:
    void add_time(const char* name, double seconds) {
        for (auto& step : steps_)
            if (step.name == name) return void(step.seconds += seconds);
        steps_.push_back({name, seconds});
    }

    bool timing_ = false;
    std::atomic<std::int64_t> edge_limit_;
    std::atomic<bool> given_up_{false};
    std::atomic<std::int64_t> edges_{0};
    std::atomic<bool> stop_{false};
    Poll poll_;
    void* context_;
    std::vector<Statistics::Step>& steps_;
    Clock::time_point polled_ = Clock::now();
};

// A run of one worker, on a rank of another run, that stops where that does. Edges count apart.
class LoneRun {
  public:
    LoneRun(RunContext& outer, int rank) : outer_(outer), rank_(rank), run(team_, {}, poll, this) {}

  private:
    static bool poll(void* self) {
        const auto* own = static_cast<LoneRun*>(self);
        return !own->outer_.flush(0, own->rank_);
    }

    RunContext& outer_;
    const int rank_;
    ThreadTeam team_{1};

  public:
    RunContext run;
};

// The edges that one thread has scanned and not flushed yet.
class WorkCounter {
  public:
    explicit WorkCounter(RunContext& run, int rank = 0)
        : run_(run), quantum_(quantum_within(run.edge_limit())), rank_(rank) {}
    WorkCounter(const WorkCounter&) = delete;
    ~WorkCounter() { run_.flush(spent_, rank_); }

    // False: stop now.
    bool add(std::int64_t edges) {
        spent_ += edges;
        return spent_ < quantum_ || flush();
    }

    // As add; false, too, where the budget is seen to be exhausted.
    bool add_within_budget(std::int64_t edges) {
        spent_ += edges;
        return spent_ < quantum_ || (flush() && !run_.exhausted());
    }

    // Calls body(begin, end) on pieces of a range, an edge for each element. False: stopped.
    template <class Index, class Body> bool pieces(Index begin, Index end, const Body& body) {
        for (Index next; begin < end; begin = next) {
            next = end - begin > piece ? static_cast<Index>(begin + piece) : end;
            body(begin, next);
            if (!add(next - begin)) return false;
        }
        return true;
    }

    std::int64_t unflushed() const { return spent_; }
    // Whether the run was: `add` says so at its next flush only.
    bool stopped() const { return run_.stopped(); }
    RunContext& run() const { return run_; }

  private:
    static constexpr std::int64_t piece = 1 << 14;  // elements counted together
    // Edges between two flushes. A small budget is exceeded by no more than itself.
    static std::int64_t quantum_within(std::int64_t budget) {
        constexpr std::int64_t least = 1 << 12, most = 1 << 16;
        return budget > 0 ? std::clamp(budget, least, most) : most;
    }
    bool flush() { return run_.flush(std::exchange(spent_, 0), rank_); }

    RunContext& run_;
    const std::int64_t quantum_;
    const int rank_;
    std::int64_t spent_ = 0;
};

// Whether an algorithm that works in phases is likely to end within its budget of edges.
// Paths per phase are assumed to fall geometrically, at the mean rate so far, and to cost what the
// last one did: phases are left until one finds a single path. Two that agree are believed.
class PhaseProjection {
  public:
    // At the end of a phase: `edges` have been scanned and `found` paths flipped since the
    // beginning. Whether the phases that are left cost more than what is left of the budget.
    bool exceeds_budget(const RunContext& run, std::int64_t edges, std::int64_t found) {
        const auto cost = static_cast<double>(edges - std::exchange(edges_, edges)),
                   last = static_cast<double>(found - std::exchange(found_, found));
        if (phases_++ == 0) first_ = last;
        bool exceeds = false;
        if (run.edge_limit() > 0 && first_ > last && last > 1) {
            const double left = (phases_ - 1) * std::log(last) / std::log(first_ / last);
            exceeds =
                static_cast<double>(edges) + left * cost > static_cast<double>(run.edge_limit());
        }
        return exceeds && std::exchange(exceeds_, exceeds);
    }

  private:
    std::int64_t edges_ = 0, found_ = 0;  // by the end of the last phase
    int phases_ = 0;                      // until now
    double first_ = 0;                    // found in the first of them
    bool exceeds_ = false;                // by the last projection
};

}  // namespace sparsematch
