#include "fovea/model/linear/crf_tagger.h"

#include <cmath>
#include <numeric>

#include "fovea/base/random.h"
#include "fovea/kernel/crf.h"
#include "fovea/model/linear/coordinate_descent.h"
#include "fovea/op/index.h"

namespace fovea {

const Fields<CrfOptions>& crf_fields() {
  using O = CrfOptions;
  static const Fields<O> fields{
      {"feature_least", &O::feature_least, "features of fewer sentences are left out",
       whole_from(1, 1e9)},
      {"rounds", &O::rounds, "times through the data, at most", whole_from(1, 1e6)}};
  return fields;
}

CrfTagger::CrfTagger(Scope s, const ModelSizes& sizes, const CrfOptions& options)
    : Tagger(s, sizes.labels, {.output = "crf"}),
      options_(options),
      weight_(s.param("weight", {sizes.sparse, sizes.labels}, init::zeros())),
      bias_(s.param("bias", {sizes.labels}, init::zeros())) {
  for (const Parameter& p : {weight_, bias_, transitions_}) p.freeze();
}

Scorer::Output CrfTagger::operator()(const ModelInputs& in) const {
  return {sparse_linear(in.sparse, weight_, bias_)};
}

namespace {

// A weight and the sum of its squared gradients.
struct Adapted {
  explicit Adapted(size_t n) : weight(n, 0), squares(n, 1e-8F) {}
  void step(size_t i, double gradient) {
    squares[i] += static_cast<float>(gradient * gradient);
    weight[i] -= static_cast<float>(rate * gradient / std::sqrt(static_cast<double>(squares[i])));
  }
  static constexpr double rate = 0.15;
  std::vector<float> weight, squares;
};

// Steps of AdaGrad on what sentences cost, one after the other.
class CrfDescent {
 public:
  CrfDescent(const Fitted::Examples& train, int64_t features, int64_t labels)
      : weight(static_cast<size_t>(features * labels)),
        moves(static_cast<size_t>((labels + 1) * labels)),
        train_(train),
        labels_(labels),
        order_(static_cast<size_t>(train.inputs.text.count())),
        pairs_(moves.weight.size()) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  Adapted weight, moves;  // of features, [features, labels], and of labels behind each other

  // Once through all of them.
  void round(int64_t number) {
    Random random = Random(0).fork("crf").fork(static_cast<uint64_t>(number));
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
    const auto at = train_.inputs.text.offsets.read<int32_t>();
    for (size_t b : order_) {
      if (at[b + 1] > at[b]) step(at[b], at[b + 1] - at[b]);
    }
  }

 private:
  void step(int64_t first, int64_t steps) {
    const int64_t L = labels_;
    const auto offsets = train_.inputs.sparse.offsets.read<int32_t>();
    const auto ids = train_.inputs.sparse.ids.read<int32_t>();
    const auto wanted = train_.targets.read<int32_t>();
    scores_.assign(static_cast<size_t>(steps * L), 0);
    marginals_.resize(scores_.size());
    std::ranges::fill(pairs_, 0);
    for (int64_t t = 0; t < steps; ++t) {
      for (int32_t k = offsets[first + t]; k < offsets[first + t + 1]; ++k) {
        const float* from = &weight.weight[static_cast<size_t>(ids[k] * L)];
        for (int64_t l = 0; l < L; ++l) scores_[t * L + l] += static_cast<double>(from[l]);
      }
    }
    kernel::crf_marginals(scores_.data(), kernel::CrfTransitions(moves.weight.data(), L), steps,
                          marginals_.data(), pairs_.data());
    for (int64_t t = 0; t < steps; ++t) {
      const int32_t label = wanted[first + t];
      marginals_[t * L + label] -= 1;
      pairs_[(t == 0 ? L : wanted[first + t - 1]) * L + label] -= 1;
      for (int32_t k = offsets[first + t]; k < offsets[first + t + 1]; ++k) {
        for (int64_t l = 0; l < L; ++l) {
          // What is already as sure as can be costs only time.
          if (const double g = marginals_[t * L + l]; std::abs(g) > 1e-6) {
            weight.step(static_cast<size_t>(ids[k] * L + l), g);
          }
        }
      }
    }
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i] != 0) moves.step(i, pairs_[i]);
    }
  }

  const Fitted::Examples& train_;
  int64_t labels_;
  std::vector<size_t> order_;
  std::vector<double> scores_, marginals_, pairs_;
};

}  // namespace

FitChoice CrfTagger::fit(const Examples& train, const Examples& dev,
                         const FitLimits& limits) const {
  CrfDescent descent(train, weight_.dim(0), weight_.dim(1));
  FitChoice choice;
  double best = -1;
  int64_t since = 0;
  Tensor best_weight = weight_, best_moves = transitions_;
  for (int64_t round = 0; round < options_.rounds && since < 3; ++round) {
    if (limits.end_after(round)) break;
    descent.round(round);
    choice.tries = round + 1;
    weight_ = Tensor::of(weight_.shape(), descent.weight.weight);
    transitions_ = Tensor::of(transitions_.shape(), descent.moves.weight);
    const Tensor labels = answer(dev.inputs).labels;
    double right = 0;
    for (int64_t i = 0; i < labels.elements(); ++i) {
      right += labels.read<int32_t>()[i] == dev.targets.read<int32_t>()[i];
    }
    ++since;
    if (right <= best) continue;
    best = right, since = 0, choice.chosen = {static_cast<double>(round + 1)};
    best_weight = weight_, best_moves = transitions_;
  }
  weight_ = best_weight;
  transitions_ = best_moves;
  return choice;
}

bool CrfTagger::refit(const Examples& all, const FitChoice& choice) const {
  if (choice.chosen.size() != 1) return false;
  // A tag that only the validation examples have cannot be learned.
  if (std::ranges::min(all.targets.read<int32_t>()) < 0) return false;
  CrfDescent descent(all, weight_.dim(0), weight_.dim(1));
  for (int64_t round = 0; round < static_cast<int64_t>(choice.chosen[0]); ++round)
    descent.round(round);
  weight_ = Tensor::of(weight_.shape(), descent.weight.weight);
  transitions_ = Tensor::of(transitions_.shape(), descent.moves.weight);
  return true;
}

Scorer::Output MostFrequentTag::operator()(const ModelInputs& in) const {
  return {embedding(count_, in.text.ids)};
}

FitChoice MostFrequentTag::fit(const Examples& train, const Examples&, const FitLimits&) const {
  const int64_t words = count_.dim(0), L = count_.dim(1);
  const auto ids = train.inputs.text.ids.read<int32_t>();
  const auto wanted = train.targets.read<int32_t>();
  std::vector<float> all(static_cast<size_t>(L), 1e-3F), each(static_cast<size_t>(words * L), 0);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (wanted[i] < 0) continue;  // only a validation example has it
    ++all[static_cast<size_t>(wanted[i])];
    ++each[static_cast<size_t>(ids[i] * L + wanted[i])];
  }
  // What all words have breaks ties, and stands for words that were never seen.
  const float sum = std::accumulate(all.begin(), all.end(), 0.0F);
  for (size_t i = 0; i < each.size(); ++i) {
    each[i] = std::log(each[i] + 0.1F * all[i % static_cast<size_t>(L)] / sum);
  }
  count_ = Tensor::of({words, L}, each);
  return {1, {}};
}

}  // namespace fovea
