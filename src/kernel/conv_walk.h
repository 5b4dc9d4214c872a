// Which source rows each position of a convolution, or of its gradient, reads. The gradient with
// respect to the input is a walk too: input places that are equal modulo the stride are read by the
// same taps, so each such phase is a convolution of the output's gradient with part of the kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "fovea/kernel/naive/conv.h"

namespace fovea::kernel {

struct WalkAxis {
  int64_t positions;
  int64_t first, step;          // position j stands at place first + j step of the target
  int64_t taps, tap, tap_step;  // tap m is number tap + m tap_step of the kernel
  int64_t start, jump, hop;  // tap m of position j reads place start + j jump + m hop of the source

  int64_t place(int64_t position, int64_t m) const { return start + position * jump + m * hop; }
};

inline WalkAxis forward_axis(const naive::ConvAxis& a) {
  return {.positions = a.positions(),
          .first = 0,
          .step = 1,
          .taps = a.kernel,
          .tap = 0,
          .tap_step = 1,
          .start = -a.before,
          .jump = a.stride,
          .hop = a.dilation};
}

// Input places phase, phase + stride, ... Taps run backwards, so that the places they read run
// forwards and can be copied as one run.
inline WalkAxis backward_axis(const naive::ConvAxis& a, int64_t phase) {
  // Tap k of output o writes place o stride - before + k dilation: o must come out whole.
  const auto whole = [&](int64_t k) { return (phase + a.before - k * a.dilation) % a.stride == 0; };
  const int64_t period = a.stride / std::gcd(a.stride, a.dilation);
  int64_t k = 0;
  while (k < std::min(period, a.kernel) && !whole(k)) ++k;
  const int64_t taps = k < std::min(period, a.kernel) ? (a.kernel - 1 - k) / period + 1 : 0;
  const int64_t last = k + (taps - 1) * period;
  return {.positions = (a.size - phase + a.stride - 1) / a.stride,
          .first = phase,
          .step = a.stride,
          .taps = taps,
          .tap = last,
          .tap_step = -period,
          .start = (phase + a.before - last * a.dilation) / a.stride,
          .jump = 1,
          .hop = period * a.dilation / a.stride};
}

struct Walk {
  int64_t batch;
  WalkAxis h, w;
  int64_t source_height, source_width, source_channels;
  int64_t target_height, target_width, target_channels;
  int64_t kernel_width;

  int64_t positions() const { return batch * h.positions * w.positions; }
  int64_t taps() const { return h.taps * w.taps; }
  // The kernel's number for tap (m, n) of the walk.
  int64_t tap(int64_t m, int64_t n) const {
    return (h.tap + m * h.tap_step) * kernel_width + w.tap + n * w.tap_step;
  }
  // Position number p stands at place number p.
  bool in_order() const { return h.step == 1 && w.step == 1; }
};

inline Walk forward_walk(const naive::Conv& c) {
  return {.batch = c.batch,
          .h = forward_axis(c.h),
          .w = forward_axis(c.w),
          .source_height = c.h.size,
          .source_width = c.w.size,
          .source_channels = c.in,
          .target_height = c.h.positions(),
          .target_width = c.w.positions(),
          .target_channels = c.out,
          .kernel_width = c.w.kernel};
}

inline Walk backward_walk(const naive::Conv& c, int64_t phase_h, int64_t phase_w) {
  return {.batch = c.batch,
          .h = backward_axis(c.h, phase_h),
          .w = backward_axis(c.w, phase_w),
          .source_height = c.h.positions(),
          .source_width = c.w.positions(),
          .source_channels = c.out,
          .target_height = c.h.size,
          .target_width = c.w.size,
          .target_channels = c.in,
          .kernel_width = c.w.kernel};
}

// A part of one row of positions: columns [from, to) of row `row` of image `image`.
struct WalkRow {
  int64_t image, row, from, to;
};

// Calls f(row, number of its first position) for positions [begin, end).
template <class F>
void each_row(const Walk& walk, int64_t begin, int64_t end, const F& f) {
  const int64_t width = walk.w.positions;
  for (int64_t p = begin; p < end;) {
    const int64_t row = p / width, from = p % width;
    const int64_t to = std::min(width, from + end - p);
    f(WalkRow{row / walk.h.positions, row % walk.h.positions, from, to}, p);
    p += to - from;
  }
}

// The source row that tap row m of these positions reads; null when it is padding.
inline const float* source_row(const Walk& walk, const WalkRow& at, int64_t m,
                               const float* source) {
  const int64_t row = walk.h.place(at.row, m);
  if (row < 0 || row >= walk.source_height) return nullptr;
  return source + (at.image * walk.source_height + row) * walk.source_width * walk.source_channels;
}

inline float* target_row(const Walk& walk, const WalkRow& at, float* target) {
  const int64_t row = at.image * walk.target_height + walk.h.first + at.row * walk.h.step;
  return target + row * walk.target_width * walk.target_channels;
}

}  // namespace fovea::kernel
