// Dense products and triangular solves for factorisations by fronts, by the BLAS of SciPy.
#pragma once

#include <mutex>

namespace sparsematch {

template <class Value>
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const Value*,
                      const Value*, const int*, const Value*, const int*, const Value*, Value*,
                      const int*);
template <class Value>
using Trsm = void (*)(const char*, const char*, const char*, const char*, const int*, const int*,
                      const Value*, const Value*, const int*, Value*, const int*);

template <class Value> struct Blas {
    Gemm<Value> gemm = nullptr;
    Trsm<Value> trsm = nullptr;

    static inline Blas (*load)() = nullptr;  // set by the bindings
};

// While there are any, SciPy's OpenBLAS uses one thread in this process: its threads, which wait
// for work by spinning, would compete with our workers for the cores, and its calls with each other
// for its threads. A cube of 26 points a side: 0.42 s, 2.4 where other processes ran on two cores.
class OneBlasThread {
  public:
    OneBlasThread() {
        const std::lock_guard lock(mutex_);
        if (set_ && n_++ == 0) before_ = get_(), set_(1);
    }
    OneBlasThread(const OneBlasThread&) = delete;
    OneBlasThread& operator=(const OneBlasThread&) = delete;
    ~OneBlasThread() {
        const std::lock_guard lock(mutex_);
        if (set_ && --n_ == 0) set_(before_);
    }
    // What tells and sets the number, before there is one of these; null for another BLAS.
    static void use(int (*get)(), void (*set)(int)) {
        const std::lock_guard lock(mutex_);
        get_ = get, set_ = set;
    }

  private:
    static inline std::mutex mutex_;
    static inline int (*get_)() = nullptr;
    static inline void (*set_)(int) = nullptr;
    static inline int n_ = 0, before_ = 0;
};

}  // namespace sparsematch
