// Conditional random fields against all paths there are, and their gradient against the numeric
// one.
#include "fovea/op/crf.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/check/gradient.h"
#include "fovea/op/reduce.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

// Calls f(path, sum of its scores) for every path of T labels.
template <class F>
void each_path(const Tensor& scores, const Tensor& moves, F&& f) {
  const int64_t T = scores.dim(0), L = scores.dim(1);
  std::vector<int32_t> path(static_cast<size_t>(T), 0);
  for (;;) {
    double sum = 0;
    for (int64_t t = 0; t < T; ++t) {
      sum += scores.read<double>()[t * L + path[t]] +
             moves.read<double>()[(t == 0 ? L : path[t - 1]) * L + path[t]];
    }
    f(path, sum);
    int64_t t = 0;
    while (t < T && ++path[t] == L) path[t++] = 0;
    if (t == T) return;
  }
}

TEST(Crf, IsTheSumOverAllPaths) {
  for (int64_t L : {1, 2, 4}) {
    for (int64_t T : {1, 2, 5}) {
      const Tensor scores = random_tensor({T, L}, 1, -2, 2),
                   moves = random_tensor({L + 1, L}, 2, -2, 2);
      double mass = 0, best = -1e300;
      std::vector<int32_t> best_path, wanted(static_cast<size_t>(T), static_cast<int32_t>(L - 1));
      std::vector<double> marginal(static_cast<size_t>(T * L), 0);
      double of_wanted = 0;
      each_path(scores, moves, [&](const std::vector<int32_t>& path, double sum) {
        mass += std::exp(sum);
        for (int64_t t = 0; t < T; ++t) marginal[t * L + path[t]] += std::exp(sum);
        if (sum > best) best = sum, best_path = path;
        if (path == wanted) of_wanted = sum;
      });
      const Tensor offsets = Tensor::ids({2}, {0, static_cast<int32_t>(T)});
      const Tensor loss = crf_loss_each(scores, moves, offsets, Tensor::of({T}, wanted));
      EXPECT_NEAR(loss.read<double>()[0], std::log(mass) - of_wanted, 1e-9);
      const CrfAnswer answer = crf_answer(scores, moves, offsets);
      for (int64_t t = 0; t < T; ++t) {
        EXPECT_EQ(answer.labels.read<int32_t>()[t], best_path[t]);
        for (int64_t l = 0; l < L; ++l) {
          EXPECT_NEAR(std::exp(answer.likely.read<double>()[t * L + l]), marginal[t * L + l] / mass,
                      1e-9);
        }
      }
    }
  }
}

TEST(Crf, HasTheNumericGradient) {
  const Tensor offsets = Tensor::ids({4}, {0, 3, 3, 7});  // the second sequence is empty
  const Tensor targets = random_ids({7}, 5, 4);
  EXPECT_LT(
      gradient_error(
          [&](const std::vector<Tensor>& x) { return crf_loss_each(x[0], x[1], offsets, targets); },
          {random_tensor({7, 4}, 3, -2, 2), random_tensor({5, 4}, 4, -2, 2)}),
      1e-6);
}

TEST(Crf, HasTheSameBitsOnAnyThreads) {
  std::vector<int32_t> offsets{0};
  for (int i = 0; i < 37; ++i) offsets.push_back(offsets.back() + i % 5);
  const int64_t rows = offsets.back();
  const Tensor at = Tensor::of({38}, offsets), targets = random_ids({rows}, 6, 9);
  std::vector<std::vector<float>> gradients;
  for (int count : {1, 4}) {
    set_threads(count);
    const Parameter scores(random_tensor({rows, 9}, 7, -2, 2).to(Dtype::f32), "s"),
        moves(random_tensor({10, 9}, 8, -2, 2).to(Dtype::f32), "m");
    Tape tape;
    const Gradients g = tape.backward(sum(crf_loss_each(scores, moves, at, targets)));
    gradients.emplace_back(g[moves].read().begin(), g[moves].read().end());
  }
  set_threads(2);
  EXPECT_EQ(gradients[0], gradients[1]);
}

}  // namespace
}  // namespace fovea::test
