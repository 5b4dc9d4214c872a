#include "fovea/task/regress.h"

#include <cmath>

#include "fovea/model/kernel_pooling.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/train/optimizer.h"

namespace fovea {
namespace {

struct Examples {
  Tensor features;  // [n, d]
  Tensor targets;   // [n, 1]
};

Examples gather(const NumberTable& table, std::span<const size_t> which) {
  const auto n = static_cast<int64_t>(which.size());
  const auto d = static_cast<int64_t>(table.rows[0].size()) - 1;
  Examples e{Tensor({n, d}), Tensor({n, 1})};
  auto features = e.features.write();
  auto targets = e.targets.write();
  for (int64_t i = 0; i < n; ++i) {
    const auto& row = table.rows[which[i]];
    for (int64_t j = 0; j < d; ++j) features[i * d + j] = static_cast<float>(row[j]);
    targets[i] = static_cast<float>(row[d]);
  }
  return e;
}

double rmse(const Tensor& predicted, const Tensor& truth) {
  return std::sqrt(mean(square(predicted - truth)).item());
}

}  // namespace

RegressResult train_regress(const NumberTable& table, const RegressOptions& options,
                            const std::function<void(int64_t, double)>& progress) {
  const size_t n = table.rows.size();
  const auto held = static_cast<size_t>(std::ceil(static_cast<double>(n) * options.held_out));
  check(held >= 1 && n - held >= 2, "regress: ", n, " rows are too few: needs at least 2 to learn ",
        "from and 1 to measure with");
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = i;
  Random shuffle = Random(options.seed).fork("split");
  for (size_t i = n - 1; i > 0; --i) std::swap(order[i], order[shuffle.below(i + 1)]);
  const Examples test = gather(table, std::span(order).first(held));
  const Examples train = gather(table, std::span(order).subspan(held));

  // One kernel width suits all features once each has deviation 1.
  const Tensor center = mean(train.features, 0, true);
  const Tensor scale = sqrt(mean(square(train.features - center), 0, true)) + 1e-12;
  const Tensor keys = (train.features - center) / scale, queries = (test.features - center) / scale;

  Parameters parameters(options.seed);
  const KernelPooling model(parameters, keys.dim(1));
  RegressResult result{
      .training_rows = keys.dim(0),
      .held_out_rows = queries.dim(0),
      .rmse_mean = rmse(mean(train.targets, 0, true), test.targets),
      .rmse_given = rmse(matmul(model.weights(queries, keys), train.targets), test.targets),
      .rmse_learned = 0,
      .w = {}};
  Adam adam(parameters, {.rate = options.rate});
  for (int64_t step = 1; step <= options.steps; ++step) {
    Tape tape;
    const Tensor loss =
        mean(square(matmul(model.weights_of_others(keys), train.targets) - train.targets));
    adam.step(tape.backward(loss));
    check(std::isfinite(loss.item()), "regress: the loss is no longer finite at step ", step,
          "; try a smaller --rate");
    progress(step, loss.item());
  }
  result.rmse_learned = rmse(matmul(model.weights(queries, keys), train.targets), test.targets);
  for (float w : model.w.read()) result.w.push_back(w);
  return result;
}

}  // namespace fovea
