// What the machine can do at best: what benchmarks divide by. Its best matrix product is
// app/bench/sgemm.h.
#pragma once

#include <cstdint>

namespace fovea::kernel {

// Reads x once, on all threads: memory bandwidth. Returns a sum, so that the reading is not left
// out.
float limit_read(const float* x, int64_t n);

// Multiplies and adds numbers that stay in registers, on all threads: the most the machine can do,
// whatever it is for. Returns one of them.
float limit_multiply();
double limit_multiply_operations();  // that one call does

}  // namespace fovea::kernel
