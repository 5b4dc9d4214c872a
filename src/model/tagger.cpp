#include "fovea/model/tagger.h"

#include "fovea/op/crf.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"

namespace fovea {

const Fields<TagOutputOptions>& tag_output_fields() {
  using O = TagOutputOptions;
  static const Fields<O> fields{{"output", &O::output,
                                 "labels one by one, or all of a sequence together",
                                 one_of({"softmax", "crf"})}};
  return fields;
}

Tagger::Tagger(Scope s, int64_t labels, const TagOutputOptions& options) {
  if (options.output == "crf") {
    transitions_ = s.param("transitions", {labels + 1, labels}, init::zeros());
  }
}

Scorer::Answer Tagger::answer(const ModelInputs& in) const {
  if (transitions_.empty()) return Scorer::answer(in);
  const CrfAnswer best = crf_answer((*this)(in).scores, transitions_, in.text.offsets);
  return {best.labels, best.likely};
}

Tensor Tagger::loss(const ModelInputs& in, const Tensor& targets, double smoothing) const {
  if (transitions_.empty()) return Scorer::loss(in, targets, smoothing);
  const Output out = (*this)(in);
  check(out.log_probability.empty(),
        "output crf: does not go with an alignment that draws; take output softmax");
  // For each token, so that rates and batches mean the same with either output.
  return sum(crf_loss_each(out.scores, transitions_, in.text.offsets, targets)) /
         static_cast<double>(out.scores.dim(0));
}

}  // namespace fovea
