#include "fovea/attention/align/drawn.h"

#include "fovea/attention/align/learned_number.h"
#include "fovea/op/reduce.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

// The key that a draw u in [0, 1) falls on, or the heaviest one for u < 0; -1 for a row of zeros.
int32_t chosen_key(std::span<const double> p, double u) {
  int32_t best = -1;
  for (int32_t j = 0; j < static_cast<int32_t>(p.size()); ++j) {
    if (p[j] <= 0) continue;
    if (u < 0) {
      if (best < 0 || p[j] > p[best]) best = j;
      continue;
    }
    best = j;  // the last one stands if rounding leaves a rest
    if (u < p[j]) break;
    u -= p[j];
  }
  return best;
}

// One key for each row of p: drawn while training, the heaviest otherwise.
Tensor choose(const Tensor& p) {
  const Tensor probabilities = p.to(Dtype::f64);
  const int64_t n = p.dim(-1);
  Tensor chosen(Shape(std::span(p.shape().begin(), static_cast<size_t>(p.rank() - 1))), Dtype::i32);
  auto to = chosen.write<int32_t>();
  Random* random = Tape::random();
  for (int64_t r = 0; r < chosen.elements(); ++r) {
    to[r] =
        chosen_key(probabilities.read<double>().subspan(r * n, n), random ? random->uniform() : -1);
  }
  return chosen;
}

Tensor one_hot(const Tensor& chosen, int64_t n, Dtype dtype) {
  Shape shape = chosen.shape();
  shape.push_back(n);
  Tensor y = Tensor::zeros(shape, dtype);
  const auto at = chosen.read<int32_t>();
  with_real(dtype, [&]<class T>(T) {
    auto to = y.write<T>();
    for (int64_t r = 0; r < chosen.elements(); ++r) {
      if (at[r] >= 0) to[r * n + at[r]] = 1;
    }
  });
  return y;
}

}  // namespace

Alignment hard_alignment(Estimator estimator) {
  const bool through = estimator == Estimator::straight_through;
  return {.name = through ? "hard" : "hard_reinforce",
          .weights = [through](const Tensor& e, const AlignmentStart&) -> AlignedWeights {
            const Tensor p = softmax(e);
            const Tensor a = one_hot(choose(p), e.dim(-1), e.dtype());
            if (through) {
              return {record("straight_through", {p}, a,
                             [](const Tensor& da, InputGradients& dp) { dp.add(0, da); })};
            }
            // log a_m for the key drawn; rows without one give log(1) = 0.
            const Tensor drawn = sum(p * a, -1), none = 1 - sum(a, -1);
            return {a, permute(log(drawn + none), {0, 2, 1})};
          },
          .rows = {},
          .rewarded = !through};
}

Alignment reinforced_alignment(Scope s, int64_t d_k) {
  const LearnedNumber keep(s, d_k);
  return {.name = "reinforced",
          .start =
              [keep](const AttentionInputs& in, const Extent& e) {
                const Tensor p = sigmoid(keep(in.k));  // [B, Tk, Hk]
                const int64_t Hk = in.k.dim(2);
                const Tensor probabilities = p.to(Dtype::f64);
                Random* random = Tape::random();
                Tensor kept(p.shape(), p.dtype());
                with_real(p.dtype(), [&]<class T>(T) {
                  auto to = kept.write<T>();
                  for (int64_t i = 0; i < p.elements(); ++i) {
                    const double limit = random ? random->uniform() : 0.5;
                    to[i] = probabilities.read<double>()[i] > limit ? 1 : 0;
                  }
                });
                // Each key head's choice holds for all query heads that share it.
                Tensor may({e.B, e.H, 1, e.Tk}, Dtype::i32);
                const Tensor chosen = kept.to(Dtype::i32);
                auto to = may.write<int32_t>().begin();
                for (int64_t b = 0; b < e.B; ++b) {
                  for (int64_t h = 0; h < e.H; ++h) {
                    const int64_t g = h / (e.H / Hk);
                    for (int64_t j = 0; j < e.Tk; ++j) {
                      *to++ = chosen.read<int32_t>()[(b * e.Tk + j) * Hk + g];
                    }
                  }
                }
                const Tensor log_p = log(kept * p + (1 - kept) * (1 - p) + 1e-12);
                return AlignmentStart{.who = allow(may), .log_probability = sum(log_p, 1, true)};
              },
          .rewarded = true};
}

}  // namespace fovea
