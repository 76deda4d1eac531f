// The products and triangular solves of dense matrices that factorisations by fronts need, by the
// BLAS that SciPy brings.
#pragma once

namespace sparsematch {

template <class Value>
using Gemm = void (*)(const char*, const char*, const int*, const int*, const int*, const Value*,
                      const Value*, const int*, const Value*, const int*, const Value*, Value*,
                      const int*);
template <class Value>
using Trsm = void (*)(const char*, const char*, const char*, const char*, const int*, const int*,
                      const Value*, const Value*, const int*, Value*, const int*);

template <class Value>
struct Blas {
    Gemm<Value> gemm = nullptr;
    Trsm<Value> trsm = nullptr;

    static inline Blas (*load)() = nullptr;  // set by the bindings
};

}  // namespace sparsematch
