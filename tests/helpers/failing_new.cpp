// An operator new that fails when told to, for tests (SPARSEMATCH_FAILING_NEW): that of all code in
// the module, in whichever thread.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "bindings/nanobind_helpers.hpp"

namespace {

constexpr std::int64_t unset = -2, spent = -1;
std::atomic<std::int64_t> left{unset};  // calls until one fails

void* allocate(std::size_t bytes, std::size_t alignment) {
    for (auto k = left.load(); k >= 0;)
        if (left.compare_exchange_weak(k, k - 1)) {
            if (k == 0) throw std::bad_alloc();
            break;
        }
    const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
    if (void* data = std::aligned_alloc(alignment, size ? size : alignment)) return data;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }

namespace sparsematch {

// fail_allocation(k): the k-th allocation from now on fails, counted from 0, and only that; below 0
// none does. Returns whether the one asked for before has failed.
void bind_failing_new(nb::module_& m) {
    m.def("fail_allocation", [](std::int64_t k) {
        const bool failed = left.load() == spent;
        left.store(k < 0 ? unset : k);
        return failed;
    });
}

}  // namespace sparsematch
