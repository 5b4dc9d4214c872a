// Matrix products on the register block that attention runs on. Why not oneDNN's sgemm: it copies
// what it multiplies on every call, reads transposed matrices at two thirds of its speed, and takes
// no bias; products of a Transformer's sizes ran at 0.7 to 0.95 of its own best.
#include "fovea/kernel/gemm.h"

#include <algorithm>
#include <span>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/gemm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/gemm-inl.h"
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

// What runs tasks: all threads, or the calling one.
struct Together {
  template <class Body>
  void operator()(int64_t tasks, const Body& body) const {
    parallel_for(tasks, 1, [&](int64_t task, int64_t) { body(task); });
  }
};
struct Alone {
  template <class Body>
  void operator()(int64_t tasks, const Body& body) const {
    for (int64_t task = 0; task < tasks; ++task) body(task);
  }
};

// A row or a few at a time, each against the same columns while they are in the cache.
template <class Run>
void few_rows(const Run& run, const Gemm& g, const float* a, const float* b, float* c) {
  const int64_t columns = std::max<int64_t>(64, (16 << 10) / std::max<int64_t>(1, g.k) / 16 * 16);
  run((g.n + columns - 1) / columns, [&](int64_t task) {
    const int64_t column = task * columns;
    Gemm one = g;
    one.m = 1;
    one.n = std::min(columns, g.n - column);
    for (int64_t row = 0; row < g.m; ++row) {
      single_row(one, a + (g.transpose_a ? row : row * g.lda),
                 b + (g.transpose_b ? column * g.ldb : column), c + row * g.ldc + column);
    }
  });
}

// What the sums start from. A beta other than 0 and 1 is applied to C here.
Target start(const Gemm& g, float* c, const float* bias) {
  if (bias) return {c, g.ldc, bias, 0};
  if (g.beta == 0) return {c, g.ldc, nullptr, 0};
  for (int64_t row = 0; g.beta != 1 && row < g.m; ++row) {
    map1(TimesScalar{g.beta}, c + row * g.ldc, c + row * g.ldc, g.n);
  }
  return {c, g.ldc, c, g.ldc};
}

// Tasks of several things, each with tasks() and run(task), as those of one.
template <class Run, class Thing>
void run_all(const Run& run, const std::vector<Thing>& things) {
  int64_t tasks = 0;
  for (const Thing& thing : things) tasks += thing.tasks();
  run(tasks, [&](int64_t task) {
    const Thing* thing = things.data();
    while (task >= thing->tasks()) task -= thing++->tasks();
    thing->run(task);
  });
}

// A^T B, in tiles and slices of depth. Slices go in turn: who made some rows of A and B mostly adds
// them up, too.
class TransposedProduct {
 public:
  TransposedProduct(const GemmItem<float>& item)
      : item_(item), cut_(cut_transposed(item.g)), t_(start(item.g, item.c, item.bias)) {}

  int64_t bytes() const {
    return Scratch::bytes<float>(sums_size()) + Scratch::bytes<float>(row_sums_size());
  }
  void take(Scratch& scratch) {
    sums_ = scratch.take<float>(sums_size());
    row_sums_ = scratch.take<float>(row_sums_size());
    std::fill_n(row_sums_, row_sums_size(), 0.0f);
  }

  int64_t tasks() const { return cut_.tasks(); }
  void run(int64_t task) const {
    const int64_t slice = task / tiles(), m = item_.g.m, n = item_.g.n;
    const GemmPart part = part_of(task);
    const Target whole = slice == 0 ? t_ : Target{sums_ + (slice - 1) * m * n, n, nullptr, 0};
    float* row_sums =
        item_.row_sums && part.column == 0 ? row_sums_ + slice * m + part.row : nullptr;
    multiply_transposed(item_.g, part, part_of(task + 1), item_.a, item_.b,
                        whole.at(part.row, part.column), row_sums);
  }

  // Then the slices' sums are added up, some rows in a task.
  class Sum {
   public:
    Sum(const TransposedProduct& product) : p_(product) {}
    int64_t tasks() const {
      return p_.cut_.depth == 1 ? 0 : (p_.item_.g.m + at_once - 1) / at_once;
    }
    void run(int64_t task) const {
      const int64_t m = p_.item_.g.m, n = p_.item_.g.n;
      for (int64_t row = task * at_once; row < std::min(m, (task + 1) * at_once); ++row) {
        add_rows(p_.t_.c + row * p_.t_.ldc, p_.sums_ + row * n, m * n, p_.cut_.depth - 1, n);
      }
    }

   private:
    static constexpr int64_t at_once = 16;
    const TransposedProduct& p_;
  };
  void give_row_sums() const {
    if (!item_.row_sums) return;
    std::fill_n(item_.row_sums, item_.g.m, 0.0f);
    add_rows(item_.row_sums, row_sums_, item_.g.m, cut_.depth, item_.g.m);
  }

 private:
  int64_t tiles() const { return cut_.rows * cut_.columns; }
  int64_t sums_size() const { return (cut_.depth - 1) * item_.g.m * item_.g.n; }
  int64_t row_sums_size() const { return item_.row_sums ? cut_.depth * item_.g.m : 0; }
  GemmPart part_of(int64_t task) const {
    if (task == tasks()) return {};
    const Share rows = share_of(item_.g.m, strip, task % tiles() / cut_.columns, cut_.rows);
    const Share columns = share_of(item_.g.n, panel, task % tiles() % cut_.columns, cut_.columns);
    const Share depth = share_of(item_.g.k, 1, task / tiles(), cut_.depth);
    return {rows.begin,  rows.end - rows.begin,  columns.begin, columns.end - columns.begin,
            depth.begin, depth.end - depth.begin};
  }

  const GemmItem<float>& item_;
  GemmCut cut_;
  Target t_;
  float *sums_ = nullptr, *row_sums_ = nullptr;
};

template <class Run>
void transposed(const Run& run, std::span<const GemmItem<float>> items) {
  std::vector<TransposedProduct> products(items.begin(), items.end());
  int64_t bytes = 0;
  for (const auto& product : products) bytes += product.bytes();
  Scratch scratch(bytes, Scratch::product_call);
  for (auto& product : products) product.take(scratch);
  run_all(run, products);
  for (const auto& product : products) product.give_row_sums();
  run_all(run, std::vector<TransposedProduct::Sum>(products.begin(), products.end()));
}

// Few rows: tasks are columns, and each packs its own of B.
template <class Run>
void by_columns(const Run& run, const Gemm& g, const float* a, const float* b, const Target& t) {
  const int64_t tasks = std::min(tasks_wanted(g), (g.n + panel - 1) / panel);
  run(tasks,
      [&](int64_t task) { multiply_columns(g, share_of(g.n, panel, task, tasks), a, b, t); });
}

// Many rows: all of B is packed first. Some rows go through all the products in turn.
template <class Run>
void by_rows(const Run& run, std::span<const GemmItem<float>> items, const ChunkBody* then) {
  int64_t bytes = 0, depth = 1, wanted = 0;
  for (const GemmItem<float>& item : items) {
    bytes += Scratch::bytes<float>(packed_elements(item.g));
    depth = std::max(depth, depth_block(item.g.k, 512));
    wanted += tasks_wanted(item.g);
  }
  Scratch scratch(bytes, Scratch::product_call);
  std::vector<PackRight> packing;
  std::vector<float*> packed;
  std::vector<Target> targets;
  for (const GemmItem<float>& item : items) {
    packed.push_back(scratch.take<float>(packed_elements(item.g)));
    packing.emplace_back(item.g, item.b, packed.back());
    targets.push_back(start(item.g, item.c, item.bias));
  }
  run_all(run, packing);
  // Rows of A that fit into half of a second-level cache.
  const int64_t m = items[0].g.m, most = std::max<int64_t>(strip, (64 << 10) / depth);
  const int64_t tasks = std::max((m + most - 1) / most, std::min<int64_t>({wanted, 64, m / 48}));
  run(tasks, [&](int64_t task) {
    const Share rows = share_of(m, strip, task, tasks);
    for (size_t i = 0; i < items.size(); ++i) {
      multiply_packed(items[i].g, rows, items[i].a, packed[i], targets[i]);
    }
    if (then) (*then)(rows.begin, rows.end);
  });
}
bool goes_by_rows(const Gemm& g) { return !g.transpose_a && g.m > 192 && g.n > 0 && g.k > 0; }
bool goes_by_tiles(const Gemm& g) { return g.transpose_a && g.m > 4 && g.n > 0 && g.k > 0; }

template <class Run>
void product(const Run& run, GemmItem<float> item, const ChunkBody* then = nullptr) {
  Gemm& g = item.g;
  if (g.m == 0 || g.n == 0) return;
  if (item.bias && (g.m <= 4 || g.k == 0)) {
    for (int64_t row = 0; row < g.m; ++row) std::copy_n(item.bias, g.n, item.c + row * g.ldc);
    g.beta = 1;
    item.bias = nullptr;
  }
  if (item.row_sums && !goes_by_tiles(g)) naive::row_sums(g, item.a, item.row_sums);
  if (g.k == 0) return naive::gemm(g, item.a, item.b, item.c);
  if (g.m <= 4) return few_rows(run, g, item.a, item.b, item.c);
  if (goes_by_tiles(g)) return transposed(run, {&item, 1});
  if (goes_by_rows(g)) return by_rows(run, {&item, 1}, then);
  by_columns(run, g, item.a, item.b, start(g, item.c, item.bias));
}

void product_together(const GemmItem<float>& item, const ChunkBody* then) {
  product(Together{}, item, then);
  const Gemm& g = item.g;
  if (then && !goes_by_rows(g)) parallel_for(g.m, row_grain(heavy_grain, g.n), *then);
}
void product_alone(const GemmItem<float>& item) { product(Alone{}, item); }

void group_together(std::span<const GemmItem<float>> items) {
  auto all = [&](bool (*f)(const Gemm&)) {
    return std::ranges::all_of(items, [=](const GemmItem<float>& item) { return f(item.g); });
  };
  if (items.size() > 1 && all(goes_by_rows)) return by_rows(Together{}, items, nullptr);
  if (items.size() > 1 && all(goes_by_tiles)) return transposed(Together{}, items);
  for (const GemmItem<float>& item : items) product(Together{}, item);
}

int64_t elements_of_packed(const Gemm& g) { return packed_elements(g); }
void pack_together(const Gemm& g, const float* b, float* to) {
  if (g.k > 0) run_all(Together{}, std::vector<PackRight>{{g, b, to}});
}
void product_of_packed(const Gemm& g, const float* a, const float* packed, float* c,
                       const float* bias) {
  if (g.k == 0) return naive::gemm<float>(g, a, packed, c, bias);
  multiply_packed(g, {0, g.m}, a, packed, start(g, c, bias));
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(product_together);
HWY_EXPORT(product_alone);
HWY_EXPORT(group_together);
HWY_EXPORT(elements_of_packed);
HWY_EXPORT(pack_together);
HWY_EXPORT(product_of_packed);

void gemm(const Gemm& g, const float* a, const float* b, float* c, const float* bias,
          const ChunkBody* then) {
  FOVEA_DISPATCH(product_together)({g, a, b, c, bias}, then);
}

void gemm_with_row_sums(const Gemm& g, const float* a, const float* b, float* c, float* row_sums) {
  FOVEA_DISPATCH(product_together)({g, a, b, c, nullptr, row_sums}, nullptr);
}

void gemm_serial(const Gemm& g, const float* a, const float* b, float* c) {
  FOVEA_DISPATCH(product_alone)({g, a, b, c});
}

void gemm_group(std::span<const GemmItem<float>> items) { FOVEA_DISPATCH(group_together)(items); }

int64_t packed_size(const Gemm& g) { return FOVEA_DISPATCH(elements_of_packed)(g); }

void pack(const Gemm& g, const float* b, float* to) { FOVEA_DISPATCH(pack_together)(g, b, to); }

void gemm_packed(const Gemm& g, const float* a, const float* packed, float* c, const float* bias) {
  FOVEA_DISPATCH(product_of_packed)(g, a, packed, c, bias);
}

void gemm_batch(const Gemm& g, const GemmBatch& batch, const float* a, const float* b, float* c) {
  // Large products are cut as one alone would be; of small ones a task takes several.
  if (batch.count == 1 || tasks_wanted(g) >= (batch.count < 8 ? 2 : 32)) {
    for (int64_t i = 0; i < batch.count; ++i) {
      gemm(g, a + batch.at_a[i], b + batch.at_b[i], c + batch.at_c[i]);
    }
    return;
  }
  const int64_t work = std::max<int64_t>(1, g.m * g.n * g.k);
  parallel_for(batch.count, std::max<int64_t>(1, (256 << 10) / work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   gemm_serial(g, a + batch.at_a[i], b + batch.at_b[i], c + batch.at_c[i]);
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
