// A language model that counts: n-grams, discounted and interpolated with shorter ones that stand
// for how many words they follow rather than how often they come. Kneser, Ney 1995; Chen, Goodman,
// "An Empirical Study of Smoothing Techniques for Language Modeling", 1999 (modified,
// interpolated).
//   p(w | h) = max(c(h w) - D(c(h w)), 0) / c(h) + g(h) p(w | h without its first word)
#pragma once

#include <limits>
#include <span>

#include "fovea/base/fields.h"
#include "fovea/model/model.h"

namespace fovea {

struct NgramModelOptions {
  int64_t order = 6;  // tokens of the longest n-gram
};
// As options of a run.
const Fields<NgramModelOptions>& ngram_model_fields();

// The n-grams of a text with their shares.
class KneserNey : public LanguageModel, public CountsText {
 public:
  KneserNey(const ModelSizes& sizes, const NgramModelOptions& options);

  // It has no parameters: the folder keeps the text, which is counted again when it is opened.
  void count(std::span<const int32_t> text) const override;

  Tensor scores(const Sequences& ids) const override;
  std::unique_ptr<Continuation> start() const override;
  int64_t longest() const override { return std::numeric_limits<int64_t>::max(); }

  // Log-probabilities of all tokens behind `before`.
  void row(std::span<const int32_t> before, float* to) const;
  int64_t vocabulary() const { return vocabulary_; }
  int64_t order() const { return order_; }

 private:
  // N-grams of one length, in order; those of one beginning are neighbours.
  struct Level {
    std::vector<int32_t> token,
        child;  // child: the first of the next level; one more than there are
    std::vector<int32_t> count;
    std::vector<float> alpha, gamma;  // discounted share; what is left for shorter ones
  };
  int64_t find(int64_t level, int64_t first, int64_t last, int32_t token) const;
  int64_t node(std::span<const int32_t> tokens) const;

  int64_t vocabulary_, order_;
  mutable std::vector<Level> levels_;
  mutable float unigram_left_ = 1;
};

}  // namespace fovea
