// oneDNN's sgemm on one thread, cut into tasks here. oneDNN's own threading gave other bits with
// other thread counts for single rows, and its pool would be a second one beside ours.
#include "fovea/kernel/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/index.h"
#include "fovea/kernel/one_thread.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// y[n] = alpha W x + beta y, where row j of W is w + j ldw.
void row_times_transposed(const Gemm& g, const float* x, const float* w, float* y) {
  for (int64_t j = 0; j < g.n; ++j) {
    const float dot = g.alpha * sum_of2(Times{}, x, w + j * g.ldb, g.k);
    y[j] = g.beta == 0 ? dot : dot + g.beta * y[j];
  }
}

// y[n] = alpha x W + beta y: rows of W are added up, four at a time to save trips through y.
void row_times(const Gemm& g, const float* x, int64_t step_x, const float* w, float* y) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (g.beta == 0) {
    std::fill_n(y, g.n, 0.0f);
  } else if (g.beta != 1) {
    map1(TimesScalar{g.beta}, y, y, g.n);
  }
  int64_t l = 0;
  for (; l + 4 <= g.k; l += 4) {
    const float* rows = w + l * g.ldb;
    const float f0 = g.alpha * x[l * step_x], f1 = g.alpha * x[(l + 1) * step_x];
    const float f2 = g.alpha * x[(l + 2) * step_x], f3 = g.alpha * x[(l + 3) * step_x];
    const V v0 = hn::Set(d, f0), v1 = hn::Set(d, f1), v2 = hn::Set(d, f2), v3 = hn::Set(d, f3);
    int64_t j = 0;
    for (; j + lanes <= g.n; j += lanes) {
      V sum = hn::MulAdd(v0, hn::LoadU(d, rows + j), hn::LoadU(d, y + j));
      sum = hn::MulAdd(v1, hn::LoadU(d, rows + g.ldb + j), sum);
      sum = hn::MulAdd(v2, hn::LoadU(d, rows + 2 * g.ldb + j), sum);
      sum = hn::MulAdd(v3, hn::LoadU(d, rows + 3 * g.ldb + j), sum);
      hn::StoreU(sum, d, y + j);
    }
    for (; j < g.n; ++j) {
      y[j] +=
          f0 * rows[j] + f1 * rows[g.ldb + j] + f2 * rows[2 * g.ldb + j] + f3 * rows[3 * g.ldb + j];
    }
  }
  for (; l < g.k; ++l) map2(AddScaled{g.alpha * x[l * step_x]}, y, y, w + l * g.ldb, g.n);
}

void single_row(const Gemm& g, const float* a, const float* b, float* c) {
  if (!g.transpose_b) return row_times(g, a, g.transpose_a ? g.lda : 1, b, c);
  if (!g.transpose_a) return row_times_transposed(g, a, b, c);
  // A column of A against rows of B: rare enough to go element by element.
  naive::gemm(g, a, b, c);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(single_row);

namespace {

// A part of C: rows [row, row + rows), columns [column, column + columns).
struct Tile {
  int64_t row, rows, column, columns;
};

void gemm_tile(const Gemm& g, const Tile& t, const float* a, const float* b, float* c) {
  Gemm part = g;
  part.m = t.rows;
  part.n = t.columns;
  gemm_serial(part, a + (g.transpose_a ? t.row : t.row * g.lda),
              b + (g.transpose_b ? t.column * g.ldb : t.column), c + t.row * g.ldc + t.column);
}

// How C is cut: tasks of at least a few hundred thousand multiplications, and not so small that
// packing the other operand again for every task costs much.
struct Cut {
  int64_t rows, columns;
};

Cut cut_of(const Gemm& g) {
  constexpr int64_t least = 256 << 10;
  if (g.m == 1) return {1, std::max<int64_t>(64, least / 16 / std::max<int64_t>(1, g.k) / 16 * 16)};
  const int64_t rows_needed = (least + g.n * g.k - 1) / std::max<int64_t>(1, g.n * g.k);
  const int64_t columns_needed = (least + g.m * g.k - 1) / std::max<int64_t>(1, g.m * g.k);
  // The output layer of a large vocabulary: its weights, not the rows, are what is worth packing
  // once.
  if (g.m >= 64 && g.n >= 2048 && g.n > 2 * g.m) {
    return {g.m, std::max<int64_t>((columns_needed + 15) / 16 * 16, 512)};
  }
  // Few rows, as in a decoder's step, would make one task or three.
  const bool few = g.m <= 128 || (g.m > 256 && g.m <= 384);
  if (g.m >= 64 && few && g.n >= 256) {
    return {g.m, std::clamp<int64_t>((columns_needed + 15) / 16 * 16, 128, 256)};
  }
  if (g.m >= 64 || g.n < 128) {
    return {std::clamp<int64_t>(rows_needed, g.m >= 64 && few ? 64 : 128, 256), g.n};
  }
  return {g.m, std::clamp<int64_t>((columns_needed + 15) / 16 * 16, 64, 256)};
}

// Rows a multiple of 512 bytes apart fall into the same few cache sets, and a matrix that sgemm
// reads down its columns (A transposed, B not; also a long B transposed) then runs at two thirds of
// its speed or less. Large products go through a copy whose rows are an odd number of cache lines
// apart; `room` keeps its memory for the next call.
int64_t spread_stride(int64_t cols) {
  return cols + 16 - cols % 16 + (cols / 16 % 2 == 0 ? 0 : 16);
}

const float* spread_rows(const float* x, int64_t rows, int64_t cols, int64_t& ld,
                         std::vector<float>& room) {
  const int64_t wide = spread_stride(cols);
  if (static_cast<int64_t>(room.size()) < rows * wide) room.resize(rows * wide);
  strided_copy({2, {rows, cols}, {wide, 1}, {ld, 1}}, room.data(), x);
  ld = wide;
  return room.data();
}

bool crowded(int64_t ld) { return ld % 128 == 0; }

// A tile of C = A^T B, where both are tall: a gradient of weights, summed over rows. The copies are
// made block by block, so that they are still in the cache when they are multiplied.
void tall_tile(const Gemm& g, const Tile& t, const float* a, const float* b, float* c) {
  constexpr int64_t block = 256;
  static thread_local std::vector<float> room_a, room_b;
  for (int64_t k = 0; k < g.k; k += block) {
    Gemm part = g;
    part.m = t.rows;
    part.n = t.columns;
    part.k = std::min(block, g.k - k);
    if (k > 0) part.beta = 1;
    const float* pa = spread_rows(a + k * g.lda + t.row, part.k, t.rows, part.lda, room_a);
    const float* pb = spread_rows(b + k * g.ldb + t.column, part.k, t.columns, part.ldb, room_b);
    gemm_serial(part, pa, pb, c + t.row * g.ldc + t.column);
  }
}

}  // namespace

void gemm_serial(const Gemm& g, const float* a, const float* b, float* c) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) return naive::gemm(g, a, b, c);
  if (g.m == 1) return HWY_DYNAMIC_DISPATCH(single_row)(g, a, b, c);
  OneThread one_thread;
  dnnl_sgemm(g.transpose_a ? 'T' : 'N', g.transpose_b ? 'T' : 'N', g.m, g.n, g.k, g.alpha, a, g.lda,
             b, g.ldb, g.beta, c, g.ldc);
}

void gemm(const Gemm& given, const float* a, const float* b, float* c) {
  Gemm g = given;
  if (g.m == 0 || g.n == 0) return;
  const bool tall = g.transpose_a && !g.transpose_b && g.m >= 64 && g.n >= 64 && g.k >= 64 &&
                    (crowded(g.lda) || crowded(g.ldb));
  static thread_local std::vector<float> room;
  if (!tall && g.m >= 64) {
    if (!g.transpose_b && crowded(g.ldb)) b = spread_rows(b, g.k, g.n, g.ldb, room);
    if (g.transpose_b && g.ldb % 1024 == 0 && g.m >= 256) b = spread_rows(b, g.n, g.k, g.ldb, room);
  }
  const Cut cut = cut_of(g);
  const int64_t across = (g.n + cut.columns - 1) / cut.columns;
  const int64_t tasks = (g.m + cut.rows - 1) / cut.rows * across;
  parallel_for(tasks, 1, [&](int64_t task, int64_t) {
    const int64_t row = task / across * cut.rows, column = task % across * cut.columns;
    const Tile tile{row, std::min(cut.rows, g.m - row), column,
                    std::min(cut.columns, g.n - column)};
    tall ? tall_tile(g, tile, a, b, c) : gemm_tile(g, tile, a, b, c);
  });
}

void gemm_batch(const Gemm& g, const GemmBatch& batch, const float* a, const float* b, float* c) {
  if (g.m == 0 || g.n == 0) return;
  if (batch.count == 1) return gemm(g, a + *batch.at_a, b + *batch.at_b, c + *batch.at_c);
  // Large products are cut as one alone would be; of small ones a task takes several.
  const Cut cut = cut_of(g);
  const int64_t across = (g.n + cut.columns - 1) / cut.columns;
  const int64_t tiles = (g.m + cut.rows - 1) / cut.rows * across;
  const int64_t work = std::max<int64_t>(1, g.m * g.n * g.k / tiles);
  parallel_for(
      batch.count * tiles, std::max<int64_t>(1, (256 << 10) / work),
      [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t i = task / tiles, tile = task % tiles;
          const int64_t row = tile / across * cut.rows;
          const int64_t column = tile % across * cut.columns;
          gemm_tile(
              g, {row, std::min(cut.rows, g.m - row), column, std::min(cut.columns, g.n - column)},
              a + batch.at_a[i], b + batch.at_b[i], c + batch.at_c[i]);
        }
      });
}

void gemm_batch(const Gemm& g, const GemmBatch& batch, const double* a, const double* b,
                double* c) {
  for (int64_t i = 0; i < batch.count; ++i) {
    naive::gemm(g, a + batch.at_a[i], b + batch.at_b[i], c + batch.at_c[i]);
  }
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
