#include "fovea/kernel/recurrent.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/parallel.h"
#include "fovea/kernel/gemm.h"
#include "fovea/kernel/index.h"
#include "fovea/kernel/recurrent_cell.h"

namespace fovea::kernel {
namespace {

using naive::odd_lines;
using naive::row_at;

// Sequences in a group. Few make slow products with the weights, which every step reads whole; many
// leave threads without work.
int64_t group_of(int64_t B) {
  return std::max(std::clamp<int64_t>((B + 1) / 2, 4, 16), std::min<int64_t>((B + 3) / 4, 64));
}

// Below this many steps, a copy of the weights costs more than it saves.
constexpr int64_t long_enough = 8;

// Where the copy of the weights ends.
int64_t weights_size(const Recurrence& r) {
  const int64_t G = gates_of(r.cell) * r.H;
  return std::max(r.H * r.stride(), G * odd_lines(r.H));
}

void copy_row(float* to, const float* from, int64_t n) { std::memcpy(to, from, n * sizeof(float)); }

// The sequences [begin, begin + count) of the order, and their share of the working memory. Longest
// first, so those that still run at step t are always the first ones.
struct Group {
  const Recurrence& r;
  int64_t begin, count;
  float* hidden;  // [count, stride]
  float* h;       // [count, H]
  float* c;       // [count, H]

  Group(const Recurrence& r, int64_t begin, int64_t end, float* workspace)
      : r(r),
        begin(begin),
        count(end - begin),
        hidden(workspace + weights_size(r) + begin * (r.stride() + 2 * r.H)),
        h(hidden + count * r.stride()),
        c(h + count * r.H) {}

  int64_t sequence(int64_t i) const { return r.order[begin + i]; }
  int64_t longest() const { return r.length(sequence(0)); }
  int64_t running(int64_t t, int64_t before) const {
    while (before > 0 && r.length(sequence(before - 1)) <= t) --before;
    return before;
  }
};

// The matrix B of the products in each step: W_hidden^T forwards, W_hidden backwards.
struct Weights {
  const float* data;
  bool transposed;
  int64_t ld;
};

// Row by row as the product reads it, and with rows an odd number of lines apart, it is up to twice
// as fast.
Weights forward_weights(const Recurrence& r, const float* w, float* workspace) {
  const int64_t H = r.H, G = gates_of(r.cell) * H;
  if (r.B == 0 || r.length(r.order[0]) < long_enough) return {w, true, H};
  strided_copy({2, {H, G}, {r.stride(), 1}, {1, H}}, workspace, w);
  return {workspace, false, r.stride()};
}

Weights backward_weights(const Recurrence& r, const float* w, float* workspace) {
  const int64_t H = r.H, G = gates_of(r.cell) * H, ld = odd_lines(H);
  if (r.B == 0 || r.length(r.order[0]) < long_enough) return {w, false, H};
  strided_copy({2, {G, H}, {ld, 1}, {H, 1}}, workspace, w);
  return {workspace, false, ld};
}

void forward_group(const Group& group, const RecurrentForward<float>& f, const Weights& w) {
  const Recurrence& r = group.r;
  const int64_t H = r.H, steps = group.longest();
  const bool lstm = r.cell == Cell::lstm;
  for (int64_t i = 0; i < group.count; ++i) {
    copy_row(group.h + i * H, f.h0 + group.sequence(i) * H, H);
  }
  Gemm product{.transpose_b = w.transposed,
               .m = group.count,
               .n = gates_of(r.cell) * H,
               .k = H,
               .lda = H,
               .ldb = w.ld,
               .ldc = r.stride()};
  for (int64_t t = 0; t < steps; ++t) {
    product.m = group.running(t, product.m);
    gemm_serial(product, group.h, w.data, group.hidden);
    for (int64_t i = 0; i < product.m; ++i) {
      const int64_t b = group.sequence(i), row = r.row(b, t);
      const float* c_before = t > 0 ? row_at(f.kept, r.row(b, t - 1) * H) : row_at(f.c0, b * H);
      cell_step(r.cell,
                {f.b_input, f.b_hidden, group.hidden + i * r.stride(), group.h + i * H, c_before,
                 f.gates + row * r.stride(), row_at(f.kept, row * H), f.y + row * H},
                H);
      copy_row(group.h + i * H, f.y + row * H, H);
    }
  }
  for (int64_t i = 0; i < group.count; ++i) {
    const int64_t b = group.sequence(i), length = r.length(b);
    copy_row(f.h_last + b * H, group.h + i * H, H);
    if (!lstm) continue;
    copy_row(f.c_last + b * H, length > 0 ? f.kept + r.row(b, length - 1) * H : f.c0 + b * H, H);
  }
}

void backward_group(const Group& group, const RecurrentBackward<float>& g, const Weights& w) {
  const Recurrence& r = group.r;
  const int64_t H = r.H;
  const bool lstm = r.cell == Cell::lstm;
  for (int64_t i = 0; i < group.count; ++i) {
    const int64_t b = group.sequence(i);
    copy_row(group.h + i * H, g.dh_last + b * H, H);
    if (lstm) copy_row(group.c + i * H, g.dc_last + b * H, H);
  }
  Gemm product{.m = group.count,
               .n = H,
               .k = gates_of(r.cell) * H,
               .lda = r.stride(),
               .ldb = w.ld,
               .ldc = H,
               .beta = 1};
  for (int64_t t = group.longest() - 1; t >= 0; --t) {
    product.m = group.running(t, group.count);
    for (int64_t i = 0; i < product.m; ++i) {
      const int64_t b = group.sequence(i), row = r.row(b, t);
      const int64_t before = t > 0 ? r.row(b, t - 1) : 0;
      const float* h_before = t > 0 ? g.y + before * H : g.h0 + b * H;
      const float* c_before = t > 0 ? row_at(g.kept, before * H) : row_at(g.c0, b * H);
      cell_step_grad(r.cell,
                     {h_before, c_before, g.y + row * H, g.dy + row * H, g.gates + row * r.stride(),
                      row_at(g.kept, row * H), group.h + i * H, group.c + i * H,
                      group.hidden + i * r.stride()},
                     H);
      if (g.h_before) copy_row(g.h_before + row * H, h_before, H);
    }
    if (t > 0 || g.dh0) gemm_serial(product, group.hidden, w.data, group.h);
  }
  for (int64_t i = 0; i < group.count; ++i) {
    const int64_t b = group.sequence(i);
    if (g.dh0) copy_row(g.dh0 + b * H, group.h + i * H, H);
    if (lstm) copy_row(g.dc0 + b * H, group.c + i * H, H);
  }
}

}  // namespace

int64_t recurrent_workspace(const Recurrence& r) {
  return weights_size(r) + r.B * (r.stride() + 2 * r.H);
}

void recurrent_forward(const Recurrence& r, const RecurrentForward<float>& f, float* workspace) {
  const Weights w = forward_weights(r, f.w_hidden, workspace);
  parallel_for(r.B, group_of(r.B), [&](int64_t begin, int64_t end) {
    forward_group(Group(r, begin, end, workspace), f, w);
  });
}

void recurrent_backward(const Recurrence& r, const RecurrentBackward<float>& g, float* workspace) {
  const Weights w = backward_weights(r, g.w_hidden, workspace);
  parallel_for(r.B, group_of(r.B), [&](int64_t begin, int64_t end) {
    backward_group(Group(r, begin, end, workspace), g, w);
  });
}

}  // namespace fovea::kernel
