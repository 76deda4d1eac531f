// What the bindings share: arguments, arrays as results, and runs that can be interrupted (Ctrl-C).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/csr.hpp"
#include "core/run_context.hpp"

namespace sparsematch {

namespace nb = nanobind;
using namespace nb::literals;

// An array of one dimension, read only if T is const. It is never converted: where an overload for
// int32 is given int64, the next one is tried.
template <class T> struct Array : nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu> {
    using NdArray = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
};
template <class T> using In = Array<const T>;
template <class T> using Out = Array<T>;

// One array for the rows and one for the columns.
template <class T> using Sides = std::pair<Array<T>, Array<T>>;

// An array of the caller's by the buffer protocol, for the length of a call: where one takes a
// microsecond, an Array's DLPack would be half of it. Empty if it has another type, or strides.
template <class T> class LentArray {
    using Value = std::remove_const_t<T>;

  public:
    explicit LentArray(nb::handle from) {
        const int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS |
                          (std::is_const_v<T> ? 0 : static_cast<int>(PyBUF_WRITABLE));
        lent_ = PyObject_GetBuffer(from.ptr(), &view_, flags) == 0;
        if (!lent_) PyErr_Clear();
    }
    LentArray(const LentArray&) = delete;
    ~LentArray() {
        if (lent_) PyBuffer_Release(&view_);
    }
    bool fits_vector(std::size_t n) const { return fits_rows(n) && view_.ndim == 1; }
    // A vector, or a matrix of n rows.
    bool fits_rows(std::size_t n) const {
        return lent_ && (view_.ndim == 1 || view_.ndim == 2) &&
               static_cast<std::size_t>(view_.shape[0]) == n && view_.itemsize == sizeof(T) &&
               has_type() && reinterpret_cast<std::uintptr_t>(view_.buf) % alignof(T) == 0;
    }
    std::size_t length() const {
        return lent_ && view_.ndim > 0 ? static_cast<std::size_t>(view_.shape[0]) : 0;
    }
    std::size_t width() const {
        return view_.ndim == 1 ? 1 : static_cast<std::size_t>(view_.shape[1]);
    }
    T* data() const { return static_cast<T*>(view_.buf); }

  private:
    // Of native byte order: codes of the struct module, without a sign for another order.
    bool has_type() const {
        const char* const format = view_.format ? view_.format : "B";
        if constexpr (std::is_same_v<Value, double>) return std::strcmp(format, "d") == 0;
        else if constexpr (std::is_integral_v<Value>)
            return format[1] == 0 && std::strchr("ilq", format[0]);
        else return std::strcmp(format, "Zd") == 0;
    }

    Py_buffer view_;
    bool lent_ = false;
};

// A pattern: Csr of csr.py.
template <class Index> using CsrArg = std::tuple<Index, In<Index>, In<Index>>;
template <class Index> Csr<Index> view(const CsrArg<Index>& given) {
    const auto& [n_cols, indptr, indices] = given;
    return {static_cast<Index>(indptr.size() - 1), n_cols, indptr.data(), indices.data()};
}

// Matchings to be checked are read only; the checks take the type that engines write.
template <class Index> Matching<std::remove_const_t<Index>> view(const Sides<Index>& mates) {
    using T = std::remove_const_t<Index>;
    return {const_cast<T*>(mates.first.data()), const_cast<T*>(mates.second.data())};
}

// An array that takes over what a container holds.
template <class Container> auto owned(Container&& from, std::size_t n) {
    using Value = std::remove_cvref_t<decltype(*from.data())>;
    auto* kept = new std::remove_cvref_t<Container>(std::forward<Container>(from));
    nb::capsule owner(
        kept, [](void* p) noexcept { delete static_cast<std::remove_cvref_t<Container>*>(p); });
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(kept->data(), {n}, owner);
}

template <class Vector> auto owned(Vector&& from) {
    const std::size_t n = from.size();
    return owned(std::forward<Vector>(from), n);
}

// At exit Python ends a daemon thread that asks for the GIL, with glibc by unwinding its stack,
// which may pass neither a destructor nor nanobind. Such a thread sleeps until the process ends, as
// Python itself lets it from 3.14 on. Call: of Python's C functions alone, which throw nothing.
template <class Call> auto or_sleep_at_exit(const Call& call) {
    try {
        return call();
    } catch (...) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }
}

// Calls call() with the GIL, from whatever thread; throws the Python error that it throws.
template <class Call> void with_gil(const Call& call) {
    std::exception_ptr error;
    or_sleep_at_exit([&] {
        const auto state = PyGILState_Ensure();
        try {
            call();
        } catch (const nb::python_error&) {
            error = std::current_exception();
        }
        PyGILState_Release(state);
    });
    if (error) std::rethrow_exception(error);
}

// Lets other threads run Python while it lives: declared before the team that works meanwhile.
class ReleasedGil {
  public:
    ReleasedGil() : state_(PyEval_SaveThread()) {}
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;
    ~ReleasedGil() {
        or_sleep_at_exit([&] { PyEval_RestoreThread(state_); });
    }

  private:
    PyThreadState* state_;
};

// The thread on which Python handles signals, by Python's identifier.
inline std::atomic<std::uint64_t> main_thread{0};

// Asks Python now and then whether a signal arrived, on the main thread: no other handles any. What
// the handler raised is kept and thrown after the run.
struct Signals {
    bool raised = false;
    nb::object type, value, traceback;

    static bool poll(void* self) {
        if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed))
            return false;
        return static_cast<Signals*>(self)->raised_by([] { return PyErr_CheckSignals() == 0; });
    }
    // Whether this call, or one before, has raised: made with the GIL, false where it has.
    template <class Call> bool raised_by(const Call& call) {
        return raised || or_sleep_at_exit([&] {
                   const auto state = PyGILState_Ensure();
                   if (!call()) keep_error();
                   PyGILState_Release(state);
                   return raised;
               });
    }
    void keep_error() {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        this->type = nb::steal(type), this->value = nb::steal(value),
        this->traceback = nb::steal(traceback);
        raised = true;
    }
    void rethrow() {
        if (!raised) return;
        PyErr_Restore(type.release().ptr(), value.release().ptr(), traceback.release().ptr());
        throw nb::python_error();
    }
};

// While Python is within one, calls of the core by as many workers share a team, which the first of
// them starts: to start and join 16 threads takes 1 ms, as a pass over a million rows.
class KeptTeam {
  public:
    void enter() {
        if (!kept_) kept_ = this;
    }
    void leave() {
        if (kept_ != this) return;
        kept_ = nullptr;
        team_.reset();
    }
    // Returns call(team), of the kept one unless that is in use: a signal's handler may call, too.
    template <class Call> static auto lend(int workers, const Call& call) {
        KeptTeam own;
        auto& kept = workers > 1 && kept_ && !kept_->used_ ? *kept_ : own;
        if (!kept.team_ || kept.team_->size() != workers) kept.team_.emplace(workers);
        const struct Use {
            explicit Use(bool& used) : used(used) { used = true; }
            ~Use() { used = false; }
            bool& used;
        } use(kept.used_);
        return call(*kept.team_);
    }

  private:
    static inline thread_local KeptTeam* kept_ = nullptr;  // the outermost
    std::optional<ThreadTeam> team_;
    bool used_ = false;
};

// Returns call(run), made without the GIL and with a team of threads; throws what a signal's
// handler raised meanwhile. tell: called with name and time of each stage, if the run is detailed.
template <class Call>
auto interruptible(int workers, const RunSettings& settings, const Call& call,
                   const nb::callable* tell = nullptr) {
    Signals watch;
    std::vector<Statistics::Step> stages;
    const auto without_gil = [&] {
        const ReleasedGil released;
        return KeptTeam::lend(workers, [&](ThreadTeam& team) {
            RunContext run(team, settings, Signals::poll, &watch, tell ? &stages : nullptr);
            return call(run);
        });
    };
    const auto finish = [&] {
        watch.rethrow();
        for (const auto& stage : stages) (*tell)(stage.name, stage.seconds);
    };
    if constexpr (std::is_void_v<decltype(without_gil())>) {
        without_gil();
        finish();
    } else {
        auto result = without_gil();
        finish();
        return result;
    }
}

// workers_of in csr.py: how many; of a detailed run also what is told name and time of each stage.
using Workers = std::variant<int, std::pair<int, nb::callable>>;

template <class Call> auto interruptible(const Workers& workers, const Call& call) {
    const auto* const timed = std::get_if<1>(&workers);
    return interruptible(timed ? timed->first : std::get<0>(workers),
                         {.detailed = timed != nullptr}, call, timed ? &timed->second : nullptr);
}

// How Python passes what a parameter of a function of the core takes: an array for each pointer, a
// tuple for a pattern, an array for each side of a matching; read only where that is const.
template <class T> struct Passed {
    using Given = T;
    static T get(T given) { return given; }
};
template <class T> struct Passed<T*> {
    using Given = Array<T>;
    static T* get(const Given& given) { return given.data(); }
};
template <class Index> struct Passed<const Csr<Index>&> {
    using Given = CsrArg<Index>;
    static Csr<Index> get(const Given& given) { return view(given); }
};
template <class Index> struct Passed<Matching<Index>> {
    using Given = Sides<Index>;
    static Matching<Index> get(const Given& given) { return view(given); }
};
template <class Index> struct Passed<const Matching<Index>&> {
    using Given = Sides<const Index>;
    static Matching<Index> get(const Given& given) { return view(given); }
};

template <class Function> struct Signature;
template <class Result, class... Parameters> struct Signature<Result(Parameters...)> {
    using Types = std::tuple<Parameters...>;
    static constexpr std::size_t n = sizeof...(Parameters);
    static constexpr bool takes_run =
        std::is_same_v<std::tuple_element_t<n - 1, Types>, RunContext&>;
    using Given = std::make_index_sequence<n - takes_run>;
};

template <auto function> using SignatureOf = Signature<std::remove_pointer_t<decltype(function)>>;

// A function of the core as Python calls it: with the number of workers in place of the RunContext
// that its parameters may end in, or alone, by one. Structs that can be are returned as tuples.
template <auto function, class Places = typename SignatureOf<function>::Given> struct Bound;
template <auto function, std::size_t... place>
struct Bound<function, std::index_sequence<place...>> {
    using Of = SignatureOf<function>;
    template <std::size_t k> using Parameter = Passed<std::tuple_element_t<k, typename Of::Types>>;

    static auto by_workers(typename Parameter<place>::Given... given, const Workers& workers) {
        const auto call = [&](RunContext& run) {
            if constexpr (Of::takes_run) return function(Parameter<place>::get(given)..., run);
            else return function(Parameter<place>::get(given)...);
        };
        using Result = decltype(call(std::declval<RunContext&>()));
        if constexpr (requires(Result result) { result.as_tuple(); })
            return interruptible(workers, call).as_tuple();
        else return interruptible(workers, call);
    }
    static auto alone(typename Parameter<place>::Given... given) { return by_workers(given..., 1); }
};

void bind_matching(nb::module_& m);
void bind_over_ranks(nb::module_& m);
void bind_ordering(nb::module_& m);
void bind_decomposition(nb::module_& m);
void bind_weighted(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_coarsening(nb::module_& m);
void bind_stream(nb::module_& m);
void bind_lu(nb::module_& m);
void bind_qr(nb::module_& m);
void bind_failing_new(nb::module_& m);  // in builds for tests

}  // namespace sparsematch

namespace nanobind::detail {

template <class T> struct type_caster<sparsematch::Array<T>> {
    NB_TYPE_CASTER(sparsematch::Array<T>,
                   make_caster<typename sparsematch::Array<T>::NdArray>::Name)

    bool from_python(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<typename sparsematch::Array<T>::NdArray> array;
        flags &= ~static_cast<std::uint32_t>(cast_flags::convert);
        if (!array.from_python(src, flags, cleanup)) return false;
        value = {std::move(array.value)};
        return true;
    }
};

}  // namespace nanobind::detail
