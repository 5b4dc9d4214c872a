// Alignments of one whole row of scores and their gradients. Rows are padded to whole vectors: with
// scores of -inf, hence weights of 0. Included once for each target.
#if defined(FOVEA_KERNEL_ROWS_ALIGN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ROWS_ALIGN_INL_H_
#undef FOVEA_KERNEL_ROWS_ALIGN_INL_H_
#else
#define FOVEA_KERNEL_ROWS_ALIGN_INL_H_
#endif

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/attention-inl.h"
#include "fovea/kernel/attention_rows.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

inline void scale_row(float* x, int64_t n, float factor) { map1(TimesScalar{factor}, x, x, n); }

// Most rows say no with their first vector.
inline bool all_forbidden(const float* s, int64_t n) {
  const D d;
  const V lowest = hn::Set(d, minus_infinity);
  for (int64_t j = 0; j < n; j += lanes) {
    if (!hn::AllTrue(d, hn::Eq(hn::Load(d, s + j), lowest))) return false;
  }
  return true;
}

// Returns the logarithm of the sum of e^s.
inline float softmax_row(float* s, int64_t n) {
  const D d;
  const float top = max_of(s, n);
  if (top == minus_infinity) {
    std::fill_n(s, n, 0.0f);
    return top;
  }
  const V shift = hn::Set(d, top), unit = hn::Set(d, log2_e);
  V sum = hn::Zero(d);
  for (int64_t j = 0; j < n; j += lanes) {
    const V p = exp2_nonpositive(d, hn::Mul(unit, hn::Sub(hn::Load(d, s + j), shift)));
    sum = hn::Add(sum, p);
    hn::Store(p, d, s + j);
  }
  const float total = hn::GetLane(hn::SumOfLanes(d, sum));
  scale_row(s, n, 1 / total);
  return top + std::log(total);
}

inline void sigmoid_row(float* s, int64_t n) {
  const D d;
  const V unit = hn::Set(d, log2_e);
  for (int64_t j = 0; j < n; j += lanes) {
    hn::Store(sigmoid2(d, hn::Mul(unit, hn::Load(d, s + j))), d, s + j);
  }
}

// x^power for x in [0, 1], 0 at 0.
inline V raise(D d, V x, V power) {
  const V one = hn::Set(d, 1.0f);
  const auto some = hn::Gt(x, hn::Zero(d));
  const V log = hn::Log2(d, hn::IfThenElse(some, x, one));
  // The logarithm of a number just below 1 may round to above 0.
  return hn::IfThenElseZero(some, exp2_nonpositive(d, hn::Min(hn::Mul(power, log), hn::Zero(d))));
}

// The powers that alpha-entmax is made of. Two values of alpha need no power function.
struct Entmax {
  enum Kind { sparsemax, half, any };
  Kind kind;
  float alpha;
  explicit Entmax(float a) : kind(a == 2 ? sparsemax : a == 1.5f ? half : any), alpha(a) {}

  // x^(1 / (alpha - 1) - 1) for x in [0, 1], 0 at 0: the slope of a weight, but for a factor.
  template <Kind k>
  HWY_INLINE V slope(D d, V x) const {
    if constexpr (k == sparsemax) {
      return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f));
    } else if constexpr (k == half) {
      return x;
    } else {
      return raise(d, x, hn::Set(d, 1 / (alpha - 1) - 1));
    }
  }
  // p^(2 - alpha) for a weight p: the same slope, from the other end.
  template <Kind k>
  HWY_INLINE V slope_of_weight(D d, V p) const {
    if constexpr (k == sparsemax) {
      return hn::IfThenElseZero(hn::Gt(p, hn::Zero(d)), hn::Set(d, 1.0f));
    } else if constexpr (k == half) {
      return hn::Sqrt(p);
    } else {
      return raise(d, p, hn::Set(d, 2 - alpha));
    }
  }
};

// On z = (alpha - 1) (s - max s): the weights are max(z - t, 0)^(1 / (alpha - 1)) with the t in
// [-1, 0] at which they sum to 1. That sum is convex and falling in t, so Newton's method from t =
// -1 climbs to it without ever passing it, and needs neither a sort nor a bracket.
template <Entmax::Kind kind>
HWY_NOINLINE void entmax_row_as(const Entmax& e, float* s, int64_t n) {
  const D d;
  const float top = max_of(s, n);
  if (top == minus_infinity) {
    std::fill_n(s, n, 0.0f);
    return;
  }
  const V shift = hn::Set(d, top), factor = hn::Set(d, e.alpha - 1), zero = hn::Zero(d);
  for (int64_t j = 0; j < n; j += lanes) {
    hn::Store(hn::Mul(factor, hn::Sub(hn::Load(d, s + j), shift)), d, s + j);
  }
  float t = -1;
  for (int round = 0; round < 64; ++round) {
    const V at = hn::Set(d, t);
    V sum = zero, slopes = zero;
    for (int64_t j = 0; j < n; j += lanes) {
      const V x = hn::Max(hn::Sub(hn::Load(d, s + j), at), zero);
      const V slope = e.slope<kind>(d, x);
      slopes = hn::Add(slopes, slope);
      sum = hn::MulAdd(slope, x, sum);
    }
    const float step = (hn::GetLane(hn::SumOfLanes(d, sum)) - 1) * (e.alpha - 1) /
                       hn::GetLane(hn::SumOfLanes(d, slopes));
    if (!(step > 3e-8f)) break;
    t += step;
  }
  const V at = hn::Set(d, t);
  V sum = zero;
  for (int64_t j = 0; j < n; j += lanes) {
    const V z = hn::Load(d, s + j);
    // Max would turn the NaN of a broken score into a 0 that nobody notices.
    const V x = hn::IfThenElse(hn::Lt(z, at), zero, hn::Sub(z, at));
    const V p = hn::Mul(e.slope<kind>(d, x), x);
    sum = hn::Add(sum, p);
    hn::Store(p, d, s + j);
  }
  scale_row(s, n, 1 / hn::GetLane(hn::SumOfLanes(d, sum)));
}

inline void entmax_row(float alpha, float* s, int64_t n) {
  const Entmax e(alpha);
  switch (e.kind) {
    case Entmax::sparsemax:
      return entmax_row_as<Entmax::sparsemax>(e, s, n);
    case Entmax::half:
      return entmax_row_as<Entmax::half>(e, s, n);
    case Entmax::any:
      return entmax_row_as<Entmax::any>(e, s, n);
  }
}

// j - p of a vector of keys after the other. Far from key 0 a float32 has no digits left for a
// fraction, so that of p is taken off last.
class Away {
 public:
  Away(D d, int64_t first, double p)
      : whole_(hn::Iota(d, static_cast<float>(static_cast<double>(first) - std::rint(p)))),
        fraction_(hn::Set(d, static_cast<float>(p - std::rint(p)))),
        step_(hn::Set(d, static_cast<float>(lanes))) {}
  HWY_INLINE V next() {
    const V away = hn::Sub(whole_, fraction_);
    whole_ = hn::Add(whole_, step_);
    return away;
  }

 private:
  V whole_, fraction_, step_;
};

// exp(-(j - p)^2 / (2 sigma^2)) of the keys from `first`.
inline void bell_row(float* bell, int64_t n, int64_t first, double p, float sigma) {
  const D d;
  const V factor = hn::Set(d, -0.5f * log2_e / (sigma * sigma));
  Away from_p(d, first, p);
  for (int64_t j = 0; j < n; j += lanes) {
    const V away = from_p.next();
    hn::Store(exp2_nonpositive(d, hn::Mul(factor, hn::Mul(away, away))), d, bell + j);
  }
}

// --- Gradients: g comes as da and leaves as de. ---

struct AlignGradient {
  float *a, *g;
  int64_t n;
  float dot() const { return sum_of2(Times{}, a, g, n); }
};

inline void softmax_row_grad(const AlignGradient& row) {
  const D d;
  const V mean = hn::Set(d, row.dot());
  for (int64_t j = 0; j < row.n; j += lanes) {
    const V slope = hn::Sub(hn::Load(d, row.g + j), mean);
    hn::Store(hn::Mul(hn::Load(d, row.a + j), slope), d, row.g + j);
  }
}

inline void sigmoid_row_grad(const AlignGradient& row) {
  const D d;
  for (int64_t j = 0; j < row.n; j += lanes) {
    const V a = hn::Load(d, row.a + j);
    hn::Store(hn::Mul(hn::NegMulAdd(a, a, a), hn::Load(d, row.g + j)), d, row.g + j);
  }
}

// de = s (da - sum(s da) / sum(s)), s = a^(2 - alpha)
template <Entmax::Kind kind>
HWY_NOINLINE void entmax_row_grad_as(const Entmax& e, const AlignGradient& row) {
  const D d;
  V total = hn::Zero(d), dot = hn::Zero(d);
  for (int64_t j = 0; j < row.n; j += lanes) {
    const V s = e.slope_of_weight<kind>(d, hn::Load(d, row.a + j));
    total = hn::Add(total, s);
    dot = hn::MulAdd(s, hn::Load(d, row.g + j), dot);
  }
  const float all = hn::GetLane(hn::SumOfLanes(d, total));
  const V mean = hn::Set(d, all == 0 ? 0 : hn::GetLane(hn::SumOfLanes(d, dot)) / all);
  for (int64_t j = 0; j < row.n; j += lanes) {
    const V s = e.slope_of_weight<kind>(d, hn::Load(d, row.a + j));
    hn::Store(hn::Mul(s, hn::Sub(hn::Load(d, row.g + j), mean)), d, row.g + j);
  }
}

inline void entmax_row_grad(float alpha, const AlignGradient& row) {
  const Entmax e(alpha);
  switch (e.kind) {
    case Entmax::sparsemax:
      return entmax_row_grad_as<Entmax::sparsemax>(e, row);
    case Entmax::half:
      return entmax_row_grad_as<Entmax::half>(e, row);
    case Entmax::any:
      return entmax_row_grad_as<Entmax::any>(e, row);
  }
}

// row.a comes as the softmax and leaves as the weights; returns dp.
inline float local_row_grad(const AlignGradient& row, const float* bell, int64_t first, double p,
                            float sigma) {
  const D d;
  Away from_p(d, first, p);
  V dot = hn::Zero(d), dp = hn::Zero(d);
  for (int64_t j = 0; j < row.n; j += lanes) {
    const V g = hn::Mul(hn::Load(d, bell + j), hn::Load(d, row.g + j));
    const V share = hn::Mul(hn::Load(d, row.a + j), g);
    dot = hn::Add(dot, share);
    dp = hn::MulAdd(share, from_p.next(), dp);
    hn::Store(g, d, row.g + j);
  }
  const V mean = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, dot)));
  for (int64_t j = 0; j < row.n; j += lanes) {
    const V a = hn::Load(d, row.a + j);
    hn::Store(hn::Mul(a, hn::Sub(hn::Load(d, row.g + j), mean)), d, row.g + j);
    hn::Store(hn::Mul(a, hn::Load(d, bell + j)), d, row.a + j);
  }
  return hn::GetLane(hn::SumOfLanes(d, dp)) / (sigma * sigma);
}

// x = 0 where dropout takes a weight away, scaled up elsewhere; x[0] belongs to key `first`.
inline void drop_row(const WeightDropout& dropout, int64_t batch_head, int64_t query, int64_t first,
                     float* x, int64_t n) {
  drop(x, n, dropout_row_key(dropout.seed, batch_head, query), first,
       dropout_threshold(dropout.rate));
  scale_row(x, n, 1 / (1 - dropout.rate));
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ROWS_ALIGN_INL_H_
