// Sums of neighbouring numbers, one thread a sum: in one order, so the same on every run.
//
// Contraction by sorting: the entries of a fine matrix, in the order of their coarse places, are
// added up place by place. A complex number is two numbers, `width` of them a place.
#include "core/device.cuh"

// Reads: first, where each group begins and the last one ends; value. Writes: sum, the own place.
template <class Value>
DEVICE void add_up(long long n, const long long* first, const Value* value, int width, Value* sum) {
    for (long long t = thread_index(); t < n * width; t += thread_count()) {
        const long long group = t / width, part = t % width;
        Value total = value[first[group] * width + part];
        for (long long k = first[group] + 1; k < first[group + 1]; ++k)
            total += value[k * width + part];
        sum[t] = total;
    }
}

KERNEL add_up_float(long long n, const long long* __restrict__ first,
                    const float* __restrict__ value, int width, float* sum) {
    add_up(n, first, value, width, sum);
}

KERNEL add_up_double(long long n, const long long* __restrict__ first,
                     const double* __restrict__ value, int width, double* sum) {
    add_up(n, first, value, width, sum);
}
