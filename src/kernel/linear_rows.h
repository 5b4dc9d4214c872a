// The pieces that linear attention is made of beside products: what is done to blocks of rows, on
// the calling thread. What each does is plain in naive/linear_attention.h, which the whole is
// compared with.
#pragma once

#include <cstdint>

namespace fovea::kernel {

// to [rows, n] = f(x): elu(x) + 1, or x itself.
void linear_features(float* to, const float* x, int64_t ldx, int64_t rows, int64_t n, bool elu);
// df [rows, n], in rows of any stride, becomes d x, given f = elu(x) + 1: e^x below x = 0, where f
// < 1 is its own slope.
void linear_slopes(float* df, int64_t ld, const float* f, int64_t rows, int64_t n);
// y[r] += a[r] . b[r], rows of n; with ldb = 0 one b for all.
void add_row_dots(float* y, const float* a, int64_t lda, const float* b, int64_t ldb, int64_t rows,
                  int64_t n);
// y[r] += the sum of row r.
void add_row_sums(float* y, const float* a, int64_t lda, int64_t rows, int64_t n);
// sum[n] += the sum over rows of w[r] x[r]; without w of x[r].
void add_weighted_rows(float* sum, const float* x, int64_t ldx, const float* w, int64_t rows,
                       int64_t n);
// y[r] /= d[r].
void divide_rows(float* y, int64_t ldy, const float* d, int64_t rows, int64_t n);
// What arrives at numerators, g[r] / d[r], and at denominators, -g[r] . o[r] / d[r].
void linear_arriving(float* num, float* den, const float* g, int64_t ldg, const float* o,
                     int64_t ldo, const float* d, int64_t rows, int64_t n);
// y [rows, n] += x, rows of any stride.
void add_rows_to(float* y, int64_t ldy, const float* x, int64_t ldx, int64_t rows, int64_t n);
// y [rows, n] = w[r] x, one x for all rows; without w x itself.
void weighted_copies(float* y, int64_t ldy, const float* w, const float* x, int64_t rows,
                     int64_t n);
// y[r][j] += w[r] for the first r + 1 of each row.
void add_to_lower(float* y, int64_t ldy, const float* w, int64_t rows);

}  // namespace fovea::kernel
