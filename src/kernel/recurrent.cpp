#include "fovea/kernel/recurrent.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/parallel.h"
#include "fovea/kernel/gemm.h"
#include "fovea/kernel/recurrent_cell.h"

namespace fovea::kernel {
namespace {

using naive::row_at;

// Sequences in a group. Few make slow products with the weights, which every step reads whole; many
// leave threads without work.
int64_t group_of(int64_t B) {
  return std::max(std::clamp<int64_t>((B + 1) / 2, 4, 16), std::min<int64_t>((B + 3) / 4, 64));
}

// Rows in all steps below which packing the weights costs more than it saves.
constexpr int64_t rows_worth_packing = 8;

// The product of each step: with W_hidden^T forwards, with W_hidden backwards. Its rows are the
// sequences that still run.
Gemm forward_product(const Recurrence& r) {
  return {.transpose_b = true,
          .m = 0,
          .n = gates_of(r.cell) * r.H,
          .k = r.H,
          .lda = r.H,
          .ldb = r.H,
          .ldc = r.stride()};
}
Gemm backward_product(const Recurrence& r) {
  return {.m = 0,
          .n = r.H,
          .k = gates_of(r.cell) * r.H,
          .lda = r.stride(),
          .ldb = r.H,
          .ldc = r.H,
          .beta = 1};
}

// Where the packed weights end, on a cache line of its own.
int64_t weights_size(const Recurrence& r) {
  const int64_t most = std::max(packed_size(forward_product(r)), packed_size(backward_product(r)));
  return (most + 15) / 16 * 16;
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

// The steps' products with their weights, packed when they are many.
class StepProduct {
 public:
  StepProduct(const Recurrence& r, const Gemm& product, const float* w, float* workspace)
      : product_(product), w_(w) {
    if (r.B == 0 || r.B * r.length(r.order[0]) < rows_worth_packing) return;
    pack(product, w, workspace);
    packed_ = workspace;
  }
  void operator()(int64_t rows, const float* a, float* c) const {
    Gemm g = product_;
    g.m = rows;
    packed_ ? gemm_packed(g, a, packed_, c) : gemm_serial(g, a, w_, c);
  }

 private:
  Gemm product_;
  const float* w_;
  const float* packed_ = nullptr;
};

void forward_group(const Group& group, const RecurrentForward<float>& f,
                   const StepProduct& product) {
  const Recurrence& r = group.r;
  const int64_t H = r.H, steps = group.longest();
  const bool lstm = r.cell == Cell::lstm;
  for (int64_t i = 0; i < group.count; ++i) {
    copy_row(group.h + i * H, f.h0 + group.sequence(i) * H, H);
  }
  int64_t rows = group.count;
  for (int64_t t = 0; t < steps; ++t) {
    rows = group.running(t, rows);
    product(rows, group.h, group.hidden);
    for (int64_t i = 0; i < rows; ++i) {
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

void backward_group(const Group& group, const RecurrentBackward<float>& g,
                    const StepProduct& product) {
  const Recurrence& r = group.r;
  const int64_t H = r.H;
  const bool lstm = r.cell == Cell::lstm;
  for (int64_t i = 0; i < group.count; ++i) {
    const int64_t b = group.sequence(i);
    copy_row(group.h + i * H, g.dh_last + b * H, H);
    if (lstm) copy_row(group.c + i * H, g.dc_last + b * H, H);
  }
  for (int64_t t = group.longest() - 1; t >= 0; --t) {
    const int64_t rows = group.running(t, group.count);
    for (int64_t i = 0; i < rows; ++i) {
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
    if (t > 0 || g.dh0) product(rows, group.hidden, group.h);
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
  const StepProduct product(r, forward_product(r), f.w_hidden, workspace);
  parallel_for(r.B, group_of(r.B), [&](int64_t begin, int64_t end) {
    forward_group(Group(r, begin, end, workspace), f, product);
  });
}

void recurrent_backward(const Recurrence& r, const RecurrentBackward<float>& g, float* workspace) {
  const StepProduct product(r, backward_product(r), g.w_hidden, workspace);
  parallel_for(r.B, group_of(r.B), [&](int64_t begin, int64_t end) {
    backward_group(Group(r, begin, end, workspace), g, product);
  });
}

}  // namespace fovea::kernel
