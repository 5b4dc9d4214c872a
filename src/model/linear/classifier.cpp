#include "fovea/model/linear/classifier.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "fovea/base/parallel.h"
#include "fovea/model/linear/calibration.h"
#include "fovea/model/linear/coordinate_descent.h"

namespace fovea {

const Fields<LinearModelOptions>& linear_model_fields() {
  using O = LinearModelOptions;
  static const Fields<O> fields{
      {"ngram_words", &O::ngram_words, "groups of 1 to so many words", whole_from(1, 9)},
      {"ngram_letters", &O::ngram_letters,
       "groups of 2 to so many letters; 0: none, -1: 5, or none where texts have many letters",
       whole_from(-1, 9)},
      {"ngram_least", &O::ngram_least, "groups of fewer texts are left out", whole_from(1, 1e9)},
      {"cost", &O::cost, "what an error costs beside large weights; 0: chosen on validation",
       between(0, 1e6)}};
  return fields;
}

LinearClassifier::LinearClassifier(Scope s, const ModelSizes& sizes, const LinearModelOptions& o)
    : cost_(o.cost),
      weight_(s.param("weight", {sizes.sparse, sizes.labels}, init::zeros())),
      bias_(s.param("bias", {sizes.labels}, init::zeros())) {
  // Fitted, never trained by steps.
  weight_.freeze();
  bias_.freeze();
}

Scorer::Output LinearClassifier::operator()(const ModelInputs& in) const {
  return {sparse_linear(in.sparse, weight_, bias_)};
}

namespace {

// How much each feature tells of a label by itself: |log p(f | label) / p(f | others)|, half way to
// their mean, so that features of which little is known keep some weight.
std::vector<float> told_by_counts(const SparseRows& rows, int64_t features,
                                  const std::vector<char>& is_first) {
  std::vector<double> with(static_cast<size_t>(features), 1), without = with;
  double all_with = static_cast<double>(features), all_without = all_with;
  const auto offsets = rows.offsets.read<int32_t>();
  const auto ids = rows.ids.read<int32_t>();
  for (size_t i = 0; i < is_first.size(); ++i) {
    for (int32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      ++(is_first[i] ? with : without)[static_cast<size_t>(ids[k])];
      ++(is_first[i] ? all_with : all_without);
    }
  }
  double sum = 0;
  for (size_t f = 0; f < with.size(); ++f) {
    with[f] = std::abs(std::log(with[f] / all_with) - std::log(without[f] / all_without));
    sum += with[f];
  }
  double mean = sum / std::max<double>(1, static_cast<double>(features));
  if (mean < 1e-6) mean = 1;  // every feature is in every text: counting tells nothing
  std::vector<float> told(with.size());
  for (size_t f = 0; f < with.size(); ++f) told[f] = static_cast<float>(0.5 * (with[f] + mean));
  return told;
}

// The rows with every feature times its scale; the scale is changed so that rows have length sqrt 2
// on the mean, as words and letters of length 1 each have, and a cost means the same everywhere.
SparseRows scaled_rows(const SparseRows& rows, std::vector<float>& scale) {
  SparseRows made = rows;
  const auto ids = rows.ids.read<int32_t>();
  auto values = made.values.write();
  double squares = 0;
  for (size_t k = 0; k < values.size(); ++k) {
    values[k] *= scale[static_cast<size_t>(ids[k])];
    squares += static_cast<double>(values[k]) * static_cast<double>(values[k]);
  }
  const auto factor = static_cast<float>(
      std::sqrt(2 * static_cast<double>(rows.count()) / std::max(squares, 1e-30)));
  for (float& value : values) value *= factor;
  for (float& one : scale) one *= factor;
  return made;
}

}  // namespace

LinearClassifier::Machines LinearClassifier::machines(const Examples& train,
                                                      const std::vector<double>& costs,
                                                      const FitLimits& limits) const {
  const int64_t features = weight_.dim(0), labels = weight_.dim(1);
  const auto targets = train.targets.read<int32_t>();
  // Of two labels one is not the other; of more, each is told from the rest.
  const int64_t machines = labels == 2 ? 1 : labels;
  Machines all;
  std::vector<float*> weight_of, bias_of;  // written to by all threads, each its own columns
  for (size_t i = 0; i < costs.size(); ++i) {
    all.weights.push_back(Tensor::zeros({features, labels}));
    all.biases.push_back(Tensor::zeros({labels}));
    weight_of.push_back(all.weights.back().write().data());
    bias_of.push_back(all.biases.back().write().data());
  }
  // A cost counts once every machine has it.
  std::vector<std::atomic<int64_t>> found(costs.size());
  parallel_for(machines, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      const int64_t label = labels == 2 ? 1 : c;
      std::vector<char> is_first(targets.size());
      for (size_t i = 0; i < targets.size(); ++i) is_first[i] = targets[i] == label;
      std::vector<float> scale = told_by_counts(train.inputs.sparse, features, is_first);
      const SparseRows rows = scaled_rows(train.inputs.sparse, scale);
      LinearFit fit;
      for (size_t i = 0; i < costs.size() && !limits.end_after(static_cast<int64_t>(i)); ++i) {
        DescentOptions options;
        options.cost = costs[i];
        fit = fit_two_classes(rows, features, is_first, options, std::move(fit.dual),
                              i > 0 ? limits.stop : nullptr);
        float *const w = weight_of[i], *const b = bias_of[i];
        for (int64_t f = 0; f < features; ++f) {
          w[f * labels + label] = static_cast<float>(fit.weight[f]) * scale[f];
          if (labels == 2) w[f * labels] = -w[f * labels + 1];
        }
        b[label] = static_cast<float>(fit.weight.back());
        if (labels == 2) b[0] = -b[1];
        if (i == 0 || !limits.stop || !limits.stop()) ++found[i];
      }
    }
  });
  const auto whole = std::ranges::find_if(found, [&](const auto& n) { return n < machines; });
  all.weights.resize(static_cast<size_t>(whole - found.begin()));
  all.biases.resize(all.weights.size());
  return all;
}

void LinearClassifier::take(Tensor weight, Tensor bias, double factor) const {
  for (Tensor* one : {&weight, &bias}) {
    for (float& x : one->write()) x *= static_cast<float>(factor);
  }
  weight_ = weight;
  bias_ = bias;
}

FitChoice LinearClassifier::fit(const Examples& train, const Examples& dev,
                                const FitLimits& limits) const {
  // What mostly is best comes first, and is found whatever the time; each starts where the one
  // before ended.
  const std::vector<double> costs =
      cost_ > 0 ? std::vector{cost_} : std::vector{0.1, 0.3, 1.0, 0.03};
  Machines all = machines(train, costs, limits);
  // The likeliest on validation, which says more of small sets than how many are right.
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity(), factor = 1;
  for (size_t i = 0; i < all.weights.size(); ++i) {
    const Tensor scores = sparse_linear(dev.inputs.sparse, all.weights[i], all.biases[i]);
    const double f = best_factor(scores, dev.targets),
                 surprise = mean_surprise({scores}, {f}, dev.targets);
    if (surprise < least) least = surprise, best = i, factor = f;
  }
  const auto tries = std::ssize(all.weights);
  take(std::move(all.weights[best]), std::move(all.biases[best]), factor);
  return {tries, {costs[best], factor}};
}

bool LinearClassifier::refit(const Examples& all, const FitChoice& choice) const {
  if (choice.chosen.size() != 2) return false;
  // A label that only the validation examples have cannot be learned.
  if (std::ranges::min(all.targets.read<int32_t>()) < 0) return false;
  Machines one = machines(all, {choice.chosen[0]}, {});
  take(std::move(one.weights[0]), std::move(one.biases[0]), choice.chosen[1]);
  return true;
}

double LinearClassifier::vote(int32_t feature, int32_t label) const {
  const auto row = weight_.read().subspan(feature * weight_.dim(1), weight_.dim(1));
  double sum = 0;
  for (float w : row) sum += static_cast<double>(w);
  return static_cast<double>(row[label]) - sum / static_cast<double>(row.size());
}

Scorer::Output MostFrequentLabel::operator()(const ModelInputs& in) const {
  const int64_t n = in.text.count(), labels = frequency_.dim(0);
  Tensor scores({n, labels});
  for (int64_t i = 0; i < n; ++i) {
    std::ranges::copy(frequency_.read(), scores.write().begin() + i * labels);
  }
  return {scores};
}

FitChoice MostFrequentLabel::fit(const Examples& train, const Examples&, const FitLimits&) const {
  std::vector<float> counts(static_cast<size_t>(frequency_.dim(0)), 0.5F);
  for (int32_t label : train.targets.read<int32_t>()) {
    if (label >= 0) ++counts[static_cast<size_t>(label)];  // else only a validation example has it
  }
  for (float& x : counts) x = std::log(x);
  frequency_ = Tensor::of({frequency_.dim(0)}, counts);
  return {1, {}};
}

}  // namespace fovea
