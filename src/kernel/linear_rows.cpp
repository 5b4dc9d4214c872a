#include "fovea/kernel/linear_rows.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/linear_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

struct EluPlusOne {
  V operator()(D d, V x) const {
    const V zero = hn::Zero(d), log2_e = hn::Set(d, 1.44269504089f);
    // 2^0 is 1 exactly, so that one line serves both sides of 0.
    return hn::Add(hn::Max(x, zero), exp2_nonpositive(d, hn::Mul(hn::Min(x, zero), log2_e)));
  }
};
struct TimesAtMostOne {
  V operator()(D d, V df, V f) const { return hn::Mul(df, hn::Min(f, hn::Set(d, 1.0f))); }
};

void features_of(float* to, const float* x, int64_t ldx, int64_t rows, int64_t n, bool elu) {
  for (int64_t r = 0; r < rows; ++r) {
    if (elu) {
      map1(EluPlusOne{}, to + r * n, x + r * ldx, n);
    } else {
      std::copy_n(x + r * ldx, n, to + r * n);
    }
  }
}

void slopes_of(float* df, int64_t ld, const float* f, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) map2(TimesAtMostOne{}, df + r * ld, df + r * ld, f + r * n, n);
}

void row_dots(float* y, const float* a, int64_t lda, const float* b, int64_t ldb, int64_t rows,
              int64_t n) {
  for (int64_t r = 0; r < rows; ++r) y[r] += sum_of2(Times{}, a + r * lda, b + r * ldb, n);
}

void row_sums(float* y, const float* a, int64_t lda, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) y[r] += sum_of(Same{}, a + r * lda, n);
}

void weighted_rows(float* sum, const float* x, int64_t ldx, const float* w, int64_t rows,
                   int64_t n) {
  for (int64_t r = 0; r < rows; ++r) map2(AddScaled{w ? w[r] : 1}, sum, sum, x + r * ldx, n);
}

void divided_rows(float* y, int64_t ldy, const float* d, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) map1(TimesScalar{1 / d[r]}, y + r * ldy, y + r * ldy, n);
}

void arriving(float* num, float* den, const float* g, int64_t ldg, const float* o, int64_t ldo,
              const float* d, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) {
    den[r] = -sum_of2(Times{}, g + r * ldg, o + r * ldo, n) / d[r];
    map1(TimesScalar{1 / d[r]}, num + r * n, g + r * ldg, n);
  }
}

void added_rows(float* y, int64_t ldy, const float* x, int64_t ldx, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) map2(Plus{}, y + r * ldy, y + r * ldy, x + r * ldx, n);
}

void copies(float* y, int64_t ldy, const float* w, const float* x, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r) {
    if (w) {
      map1(TimesScalar{w[r]}, y + r * ldy, x, n);
    } else {
      std::copy_n(x, n, y + r * ldy);
    }
  }
}

struct AddScalar {
  float x;
  V operator()(D d, V y) const { return hn::Add(y, hn::Set(d, x)); }
};
void to_lower(float* y, int64_t ldy, const float* w, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r) map1(AddScalar{w[r]}, y + r * ldy, y + r * ldy, r + 1);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(features_of);
HWY_EXPORT(slopes_of);
HWY_EXPORT(row_dots);
HWY_EXPORT(row_sums);
HWY_EXPORT(weighted_rows);
HWY_EXPORT(divided_rows);
HWY_EXPORT(arriving);
HWY_EXPORT(added_rows);
HWY_EXPORT(copies);
HWY_EXPORT(to_lower);

void linear_features(float* to, const float* x, int64_t ldx, int64_t rows, int64_t n, bool elu) {
  FOVEA_DISPATCH(features_of)(to, x, ldx, rows, n, elu);
}
void linear_slopes(float* df, int64_t ld, const float* f, int64_t rows, int64_t n) {
  FOVEA_DISPATCH(slopes_of)(df, ld, f, rows, n);
}
void add_row_dots(float* y, const float* a, int64_t lda, const float* b, int64_t ldb, int64_t rows,
                  int64_t n) {
  FOVEA_DISPATCH(row_dots)(y, a, lda, b, ldb, rows, n);
}
void add_row_sums(float* y, const float* a, int64_t lda, int64_t rows, int64_t n) {
  FOVEA_DISPATCH(row_sums)(y, a, lda, rows, n);
}
void add_weighted_rows(float* sum, const float* x, int64_t ldx, const float* w, int64_t rows,
                       int64_t n) {
  FOVEA_DISPATCH(weighted_rows)(sum, x, ldx, w, rows, n);
}
void divide_rows(float* y, int64_t ldy, const float* d, int64_t rows, int64_t n) {
  FOVEA_DISPATCH(divided_rows)(y, ldy, d, rows, n);
}
void linear_arriving(float* num, float* den, const float* g, int64_t ldg, const float* o,
                     int64_t ldo, const float* d, int64_t rows, int64_t n) {
  FOVEA_DISPATCH(arriving)(num, den, g, ldg, o, ldo, d, rows, n);
}
void add_rows_to(float* y, int64_t ldy, const float* x, int64_t ldx, int64_t rows, int64_t n) {
  FOVEA_DISPATCH(added_rows)(y, ldy, x, ldx, rows, n);
}
void weighted_copies(float* y, int64_t ldy, const float* w, const float* x, int64_t rows,
                     int64_t n) {
  FOVEA_DISPATCH(copies)(y, ldy, w, x, rows, n);
}
void add_to_lower(float* y, int64_t ldy, const float* w, int64_t rows) {
  FOVEA_DISPATCH(to_lower)(y, ldy, w, rows);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
