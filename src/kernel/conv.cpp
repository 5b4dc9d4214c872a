// Windows are gathered into the rows of a matrix, a few hundred at a time so that they stay in
// cache, and multiplied by the packed weights. oneDNN's own convolution is no faster on this
// layout (bench/conv_bench compares them), and would need a cache of primitives, weights reordered
// at every step, and a cut of its own to use two threads on one image.
#include "fovea/kernel/conv.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/conv_walk.h"
#include "fovea/kernel/depthwise.h"
#include "fovea/kernel/gemm.h"
#include "fovea/kernel/grain.h"
#include "fovea/kernel/reduce.h"
#include "fovea/kernel/scratch.h"

namespace fovea::kernel {
namespace {

// Channels [first, first + count) of every group's part of the source.
struct Channels {
  int64_t first, count;
};

// to[end - begin, taps, channels]: the window of each position, zero where it is padding.
void gather(const Walk& walk, const Channels& channels, const float* source, int64_t begin,
            int64_t end, float* to) {
  const int64_t stride = walk.source_channels, run = walk.w.taps * channels.count;
  const int64_t depth = walk.h.taps * run;
  const bool one_run = walk.w.hop == 1 && channels.count == stride;
  each_row(walk, begin, end, [&](const WalkRow& at, int64_t p) {
    for (int64_t m = 0; m < walk.h.taps; ++m) {
      const float* row = source_row(walk, at, m, source);
      float* out = to + (p - begin) * depth + m * run;
      for (int64_t j = at.from; j < at.to; ++j, out += depth) {
        if (!row) {
          std::fill_n(out, run, 0.0f);
        } else if (one_run) {
          const int64_t place = walk.w.place(j, 0);
          const int64_t from = std::clamp<int64_t>(-place, 0, walk.w.taps);
          const int64_t upto = std::clamp<int64_t>(walk.source_width - place, from, walk.w.taps);
          std::fill_n(out, from * stride, 0.0f);
          std::memcpy(out + from * stride, row + (place + from) * stride,
                      (upto - from) * stride * sizeof(float));
          std::fill_n(out + upto * stride, (walk.w.taps - upto) * stride, 0.0f);
        } else {
          for (int64_t n = 0; n < walk.w.taps; ++n) {
            const int64_t place = walk.w.place(j, n);
            float* tap = out + n * channels.count;
            if (place < 0 || place >= walk.source_width) {
              std::fill_n(tap, channels.count, 0.0f);
            } else {
              std::memcpy(tap, row + place * stride + channels.first,
                          channels.count * sizeof(float));
            }
          }
        }
      }
    }
  });
}

// Positions whose gathered windows are multiplied at once.
int64_t rows_at_once(int64_t depth, int64_t out) {
  return std::clamp<int64_t>((64 << 10) / std::max<int64_t>({1, depth, out}) / 16 * 16, 64, 2048);
}

// Memory of the calling thread for one chunk.
float* chunk_memory(int64_t elements) {
  return Scratch(Scratch::bytes<float>(elements)).take<float>(elements);
}

// Weights of every group as a matrix: [depth, target / groups], or that transposed.
struct Matrices {
  const float* data;
  bool transposed;
};

// The product of one group's windows with its weights.
Gemm window_product(const Walk& walk, int64_t groups, bool transposed) {
  const int64_t in = walk.source_channels / groups, out = walk.target_channels / groups;
  const int64_t depth = walk.taps() * in;
  return {.transpose_b = transposed,
          .m = 0,
          .n = out,
          .k = depth,
          .lda = depth,
          .ldb = transposed ? depth : out,
          .ldc = walk.target_channels};
}

// target = gathered source x weights, for the places that the walk visits; others are not touched.
// `room` is for the packed weights.
void multiply(const Walk& walk, int64_t groups, const Matrices& weights, const float* source,
              const float* bias, float* target, float* room) {
  const int64_t in = walk.source_channels / groups, out = walk.target_channels / groups;
  const int64_t depth = walk.taps() * in, channels = walk.target_channels;
  const int64_t rows = rows_at_once(depth, channels);
  const Gemm whole = window_product(walk, groups, weights.transposed);
  const int64_t packed = packed_size(whole);
  for (int64_t group = 0; group < groups; ++group) {
    pack(whole, weights.data + group * depth * out, room + group * packed);
  }
  parallel_for(walk.positions(), rows, [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    float* windows = chunk_memory(rows * (depth + channels));
    float* part = walk.in_order() ? target + begin * channels : windows + rows * depth;
    Gemm product = whole;
    product.m = count;
    for (int64_t group = 0; group < groups; ++group) {
      gather(walk, {group * in, in}, source, begin, end, windows);
      gemm_packed(product, windows, room + group * packed, part + group * out,
                  bias ? bias + group * out : nullptr);
    }
    if (walk.in_order()) return;
    each_row(walk, begin, end, [&](const WalkRow& at, int64_t p) {
      float* row = target_row(walk, at, target);
      for (int64_t j = at.from; j < at.to; ++j) {
        std::copy_n(part + (p - begin + j - at.from) * channels, channels,
                    row + (walk.w.first + j * walk.w.step) * channels);
      }
    });
  });
}

// to[groups, walk's taps, out / groups, in / groups] from w[out, kernel's taps, in / groups].
void pack_for_input_gradient(const Conv& c, const Walk& walk, const float* w, float* to) {
  const int64_t in = c.in / c.groups, out = c.out / c.groups;
  for (int64_t group = 0; group < c.groups; ++group) {
    for (int64_t i = 0; i < walk.taps(); ++i) {
      const int64_t tap = walk.tap(i / walk.w.taps, i % walk.w.taps);
      for (int64_t o = group * out; o < (group + 1) * out; ++o, to += in) {
        std::copy_n(w + (o * c.taps() + tap) * in, in, to);
      }
    }
  }
}

int64_t whole_lines(int64_t elements) { return (elements + 15) / 16 * 16; }

bool is_depthwise(const Conv& c) { return c.groups > 1 && c.groups == c.in && c.groups == c.out; }

// The weights' gradient is a sum over positions: so many of them go into one partial sum.
int64_t positions_in_part(const Conv& c) {
  constexpr int64_t most_parts = 16, most_elements = 16 << 20, least_work = 1 << 20;
  const int64_t weights = std::max<int64_t>(1, c.weights());
  const int64_t parts = std::clamp<int64_t>(most_elements / weights, 1, most_parts);
  return std::max<int64_t>({256, least_work / weights, (c.positions() + parts - 1) / parts});
}

int64_t parts_of(const Conv& c) {
  const int64_t each = positions_in_part(c);
  return (c.positions() + each - 1) / each;
}

// Channel by channel there is no matrix: weights are read as [taps, channels], one vector a tap.
void transpose(float* to, const float* from, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < cols; ++i) to[i * rows + r] = from[r * cols + i];
  }
}

}  // namespace

int64_t conv_room(const Conv& c, ConvPass pass) {
  if (pass == ConvPass::grad_weight) return (parts_of(c) + (is_depthwise(c) ? 1 : 0)) * c.weights();
  if (is_depthwise(c)) return c.weights();
  const Walk walk = forward_walk(c);
  if (pass == ConvPass::forward)
    return c.groups * packed_size(window_product(walk, c.groups, true));
  // No phase of the gradient has more taps than the kernel.
  const Gemm most{
      .m = 0, .n = c.in / c.groups, .k = c.taps() * c.out / c.groups, .lda = 0, .ldb = 0, .ldc = 0};
  return whole_lines(c.weights()) + c.groups * packed_size(most);
}

void conv(const Conv& c, float* y, const float* x, const float* w, const float* bias, float* room) {
  const Walk walk = forward_walk(c);
  if (!is_depthwise(c)) return multiply(walk, c.groups, {w, true}, x, bias, y, room);
  transpose(room, w, c.out, c.taps());
  depthwise(walk, room, x, bias, y);
}

void conv_grad_input(const Conv& c, float* dx, const float* dy, const float* w, float* room) {
  if (is_depthwise(c)) transpose(room, w, c.out, c.taps());
  for (int64_t i = 0; i < std::min(c.h.stride, c.h.size); ++i) {
    for (int64_t j = 0; j < std::min(c.w.stride, c.w.size); ++j) {
      const Walk walk = backward_walk(c, i, j);
      if (is_depthwise(c)) {
        depthwise(walk, room, dy, nullptr, dx);
      } else {
        pack_for_input_gradient(c, walk, w, room);
        multiply(walk, c.groups, {room, false}, dy, nullptr, dx, room + whole_lines(c.weights()));
      }
    }
  }
}

void conv_grad_weight(const Conv& c, float* dw, const float* dy, const float* x, float* room) {
  const Walk walk = forward_walk(c);
  const int64_t in = c.in / c.groups, out = c.out / c.groups, depth = c.taps() * in;
  const int64_t part = positions_in_part(c), parts = parts_of(c), rows = rows_at_once(depth, c.out);
  parallel_for(c.positions(), part, [&](int64_t begin, int64_t end) {
    float* sum = room + begin / part * c.weights();
    if (is_depthwise(c)) return depthwise_grad_weight(walk, sum, dy, x, begin, end);
    float* windows = chunk_memory(rows * depth);
    for (int64_t from = begin; from < end; from += rows) {
      const int64_t to = std::min(from + rows, end);
      for (int64_t group = 0; group < c.groups; ++group) {
        gather(walk, {group * in, in}, x, from, to, windows);
        gemm_serial({.transpose_a = true,
                     .m = out,
                     .n = depth,
                     .k = to - from,
                     .lda = c.out,
                     .ldb = depth,
                     .ldc = depth,
                     .beta = from == begin ? 0.0f : 1.0f},
                    dy + from * c.out + group * out, windows, sum + group * out * depth);
      }
    }
  });
  if (!is_depthwise(c)) return sum_axis(dw, room, 1, parts, c.weights());
  float* total = room + parts * c.weights();
  sum_axis(total, room, 1, parts, c.weights());
  transpose(dw, total, c.taps(), c.out);
}

}  // namespace fovea::kernel
