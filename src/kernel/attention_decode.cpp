// Few queries against many keys, as in decoding: every key is read once, so memory sets the pace.
// Keys are taken in the order they lie in, all heads together, by plain dot products; long caches
// are cut into ranges that threads share, and the partial results are joined in the order of the
// ranges.
#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/attention.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/attention_decode.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/attention-inl.h"
#include "fovea/kernel/dispatch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

constexpr int64_t decode_block = 64;   // keys whose scores are held at a time
constexpr int64_t decode_range = 512;  // keys that one chunk reads

// What a chunk leaves for one query: the running maximum, the sum of exponentials and Dv sums.
constexpr int64_t partial_head = 2;

HWY_INLINE float dot_product(const float* HWY_RESTRICT x, const float* HWY_RESTRICT y, int64_t n) {
  const D d;
  V s0 = hn::Zero(d), s1 = s0;
  int64_t i = 0;
  for (; i + panel <= n; i += panel) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), s1);
  }
  for (; i + lanes <= n; i += lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

// sum += p[0] v[0] + ... + p[3] v[3], rows `ld` apart: four at once, so that sums are touched less.
HWY_INLINE void add_four(float* HWY_RESTRICT sum, const float* HWY_RESTRICT p,
                         const float* HWY_RESTRICT v, int64_t ld, int64_t n) {
  const D d;
  const V p0 = hn::Set(d, p[0]), p1 = hn::Set(d, p[1]), p2 = hn::Set(d, p[2]),
          p3 = hn::Set(d, p[3]);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V s = hn::MulAdd(p0, hn::LoadU(d, v + i), hn::LoadU(d, sum + i));
    s = hn::MulAdd(p1, hn::LoadU(d, v + ld + i), s);
    s = hn::MulAdd(p2, hn::LoadU(d, v + 2 * ld + i), s);
    s = hn::MulAdd(p3, hn::LoadU(d, v + 3 * ld + i), s);
    hn::StoreU(s, d, sum + i);
  }
  for (; i < n; ++i) {
    sum[i] += p[0] * v[i] + p[1] * v[ld + i] + p[2] * v[2 * ld + i] + p[3] * v[3 * ld + i];
  }
}

// Scores of one query become weights; its sums are rescaled when a new maximum appears.
inline void decode_weights(const HeadInputs<float>& in, int64_t b, int64_t h, int64_t i, int64_t j0,
                           int64_t j1, float* s, float* partial) {
  const int64_t lo = std::clamp(in.lo(b, h, i), j0, j1);
  const int64_t hi = std::clamp(in.hi(b, h, i), lo, j1);
  if (in.bias || in.mask) add_bias_and_mask(in, b, h, i, lo, hi, s + (lo - j0));
  std::fill(s, s + (lo - j0), minus_infinity);
  std::fill(s + (hi - j0), s + decode_block, minus_infinity);
  if (in.align == Align::sigmoid) {
    squash(s, decode_block);
  } else {
    const float most = row_maximum(s, decode_block);
    if (most > partial[0]) {
      const float shrink = std::exp2(partial[0] - most);
      if (partial[1] > 0) map1(TimesScalar{shrink}, partial + 1, partial + 1, 1 + in.Dv);
      partial[0] = most;
    }
    partial[1] += exponentiate<false>(s, decode_block, partial[0]);
  }
  if (in.dropout.rate > 0) {
    const uint32_t key = in.dropout.row_key(b * in.H + h, i);
    drop(s, decode_block, key, in.dropout.key + j0, dropout_threshold(in.dropout.rate));
  }
}

// The keys [first, last) of one batch entry for all its queries; partials: [H, Tq, 2 + Dv].
HWY_NOINLINE void decode_chunk(const HeadInputs<float>& in, int64_t b, int64_t first, int64_t last,
                               float* partials) {
  const int64_t queries = in.H * in.Tq, per_key_head = queries / in.Hk;
  const int64_t q_stride = round_up(in.D, lanes), size = partial_head + in.Dv;
  Scratch scratch(Scratch::bytes<float>(queries * q_stride) +
                  Scratch::bytes<float>(queries * decode_block));
  float* q = scratch.take<float>(queries * q_stride);
  float* scores = scratch.take<float>(queries * decode_block);
  Reach reach;
  for (int64_t n = 0; n < queries; ++n) {
    const int64_t h = n / in.Tq, i = n % in.Tq;
    copy_row(q + n * q_stride, in.q.at(b, h) + i * in.q.row, in.D, in.scale * log2_e, in.D);
    reach.add(in.lo(b, h, i), in.hi(b, h, i));
    partials[n * size] = floor_score;
    std::fill_n(partials + n * size + 1, 1 + in.Dv, 0.0f);
  }
  // Values are fetched while their keys are multiplied, and the next keys while values are added
  // up.
  const bool values_lie_together = in.v.head == in.Dv, keys_lie_together = in.k.head == in.D;
  for (int64_t j0 = first; j0 < last; j0 += decode_block) {
    const int64_t from = std::max(reach.lo, j0);
    const int64_t to = std::min({reach.hi, j0 + decode_block, last});
    if (from >= to) continue;
    for (int64_t j = from; j < to; ++j) {
      if (values_lie_together) prefetch_row(in.v.at(b, 0) + j * in.v.row, in.Hk * in.Dv);
      for (int64_t g = 0, n = 0; g < in.Hk; ++g) {
        const float* k = in.k.at(b, g) + j * in.k.row;
        for (const int64_t end = n + per_key_head; n < end; ++n) {
          scores[n * decode_block + j - j0] = dot_product(q + n * q_stride, k, in.D);
        }
      }
    }
    for (int64_t n = 0; n < queries; ++n) {
      decode_weights(in, b, n / in.Tq, n % in.Tq, j0, std::min(j0 + decode_block, last),
                     scores + n * decode_block, partials + n * size);
    }
    for (int64_t j = from; j < to; j += 4) {
      const int64_t rows = std::min<int64_t>(4, to - j);
      for (int64_t r = j + decode_block; r < std::min(j + decode_block + rows, last); ++r) {
        if (keys_lie_together) prefetch_row(in.k.at(b, 0) + r * in.k.row, in.Hk * in.D);
      }
      for (int64_t g = 0, n = 0; g < in.Hk; ++g) {
        const float* v = in.v.at(b, g) + j * in.v.row;
        for (const int64_t end = n + per_key_head; n < end; ++n) {
          const float* p = scores + n * decode_block + j - j0;
          float* sum = partials + n * size + partial_head;
          if (rows == 4) {
            add_four(sum, p, v, in.v.row, in.Dv);
          } else {
            for (int64_t r = 0; r < rows; ++r) {
              map2(AddScaled{p[r]}, sum, sum, v + r * in.v.row, in.Dv);
            }
          }
        }
      }
    }
  }
}

// Joins the ranges' partial results of one query, first to last.
inline void join_partials(const HeadInputs<float>& in, const float* partials, int64_t ranges,
                          int64_t stride, float* out, float* lse) {
  float top = floor_score, total = 0;
  for (int64_t r = 0; r < ranges; ++r) top = std::max(top, partials[r * stride]);
  std::fill_n(out, in.Dv, 0.0f);
  for (int64_t r = 0; r < ranges; ++r) {
    const float* part = partials + r * stride;
    const float share = in.align == Align::softmax ? std::exp2(part[0] - top) : 1;
    total += share * part[1];
    map2(AddScaled{share}, out, out, part + partial_head, in.Dv);
  }
  float factor = 1 / (1 - in.dropout.rate);
  if (in.align == Align::softmax) {
    factor = total == 0 ? 0 : factor / total;
    *lse = total == 0 ? minus_infinity : (top + std::log2(total)) * ln_2;
  }
  map1(TimesScalar{factor}, out, out, in.Dv);
}

void decode_all(const HeadInputs<float>& in, HeadView<float> out, float* lse) {
  const int64_t ranges = std::max<int64_t>(1, (in.Tk + decode_range - 1) / decode_range);
  const int64_t size = partial_head + in.Dv, stride = in.H * in.Tq * size;
  Scratch scratch(Scratch::bytes<float>(in.B * ranges * stride), Scratch::call);
  float* partials = scratch.take<float>(in.B * ranges * stride);
  parallel_for(in.B * ranges, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t first = c % ranges * decode_range;
      decode_chunk(in, c / ranges, first, std::min(first + decode_range, in.Tk),
                   partials + c * stride);
    }
  });
  for (int64_t b = 0; b < in.B; ++b) {
    for (int64_t n = 0; n < in.H * in.Tq; ++n) {
      const int64_t h = n / in.Tq, i = n % in.Tq;
      join_partials(in, partials + b * ranges * stride + n * size, ranges, stride,
                    out.at(b, h) + i * out.row, lse ? lse + (b * in.H + h) * in.Tq + i : nullptr);
    }
  }
}

// The weights of one query again, from its lse; w[j] for all Tk keys.
void weights_row(const HeadInputs<float>& in, const float* lse, int64_t b, int64_t h, int64_t i,
                 float* w) {
  const int64_t lo = std::min(in.lo(b, h, i), in.Tk), hi = std::max(lo, in.hi(b, h, i));
  const float* q = in.q.at(b, h) + i * in.q.row;
  const float* k = in.k.at(b, in.key_head(h));
  for (int64_t j = lo; j < hi; ++j) {
    w[j] = dot_product(q, k + j * in.k.row, in.D) * (in.scale * log2_e);
  }
  if (in.bias || in.mask) add_bias_and_mask(in, b, h, i, lo, hi, w + lo);
  std::fill(w, w + lo, 0.0f);
  std::fill(w + hi, w + in.Tk, 0.0f);
  const float l = in.align == Align::softmax ? lse[(b * in.H + h) * in.Tq + i] : 0;
  if (l == minus_infinity) return std::fill(w + lo, w + hi, 0.0f), void();
  struct Weight {
    Align align;
    float lse2;
    V operator()(D d, V x) const {
      return align == Align::sigmoid ? sigmoid2(d, x)
                                     : exp2_nonpositive(d, hn::Sub(x, hn::Set(d, lse2)));
    }
  };
  map1(Weight{in.align, l * log2_e}, w + lo, w + lo, hi - lo);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(decode_all);
HWY_EXPORT(weights_row);

void attention_decode(const HeadInputs<float>& in, HeadView<float> out, float* lse) {
  FOVEA_DISPATCH(decode_all)(in, out, lse);
}

void attention_weights(const HeadInputs<float>& in, const float* lse, int64_t b, int64_t h,
                       const int32_t* rows, int64_t count, float* weights) {
  const auto run = FOVEA_DISPATCH(weights_row);
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) run(in, lse, b, h, rows[r], weights + r * in.Tk);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
