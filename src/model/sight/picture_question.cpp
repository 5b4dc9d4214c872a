#include "fovea/model/sight/picture_question.h"

#include "fovea/op/dropout.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

const Fields<PictureQuestionOptions>& picture_question_fields() {
  using O = PictureQuestionOptions;
  static const Fields<O> fields(
      region_fields(),
      {{"width", &O::width, "features of words and regions", whole_from(1, 65536)},
       {"levels", &O::levels, "of the question: 1 its states, 2 and phrases, 3 and words",
        whole_from(1, 3)},
       {"dropout", &O::dropout, "part of the features dropped while training", part_of_one()}});
  return fields;
}

namespace {

constexpr const char* level_names[] = {"words", "phrases", "question"};

}  // namespace

PictureQuestionModel::PictureQuestionModel(Scope s, const std::string& mechanism,
                                           const ModelSizes& sizes, const PictureQuestionOptions& o,
                                           AttentionOptions attention)
    : options_(o),
      embedding_(s / "embedding", sizes.vocabulary, o.width),
      one_(s / "one", o.width, o.width, 1),
      two_(s / "two", o.width, o.width, 2, {.padding = {0, 1}}),
      three_(s / "three", o.width, o.width, 3, {.padding = 1}),
      sentence_(s / "sentence", o.width, o.width, {.cell = Cell::lstm}),
      output_(s / "output", o.width, sizes.labels) {
  if (mechanism != "question") {
    regions_.emplace(s / "encoder", sizes, o);
    region_in_.emplace(s / "region", regions_->features(), o.width);
  }
  const bool attends = mechanism == "parallel" || mechanism == "alternating";
  attention.d_q = attention.d_k = attention.d_v = o.width;
  for (int64_t level = 3 - o.levels; level < 3; ++level) {
    if (attends) {
      attention_.push_back(
          find_entry(Entry::Kind::feature, mechanism).features(s / level_names[level], attention));
    }
    join_.emplace_back(s / "join" / level, o.width * (join_.empty() ? 1 : 2), o.width);
  }
}

Scorer::Output PictureQuestionModel::operator()(const ModelInputs& in) const {
  const Sequences& question = in.question;
  const double drop = options_.dropout;
  const Tensor words = dropout(embedding_(question.ids), drop);  // [rows, d]
  const Tensor padded = unpack(words, question.offsets, question.longest);
  const Tensor phrases =
      pack(tanh(maximum(maximum(one_(padded), two_(padded)), three_(padded))), question.offsets);
  const Tensor states = sentence_({.x = dropout(phrases, drop), .offsets = question.offsets}).y;
  Features picture;
  if (regions_) {
    picture.rows = dropout(tanh((*region_in_)((*regions_)(in.pictures))), drop);
    picture.lengths = Tensor({picture.rows.dim(0)}, Dtype::i32);
    std::ranges::fill(picture.lengths.write<int32_t>(), static_cast<int32_t>(picture.rows.dim(1)));
  }
  const Tensor levels[] = {words, phrases, states};
  Output out;
  FeatureOutput drawn;
  Tensor h;
  for (size_t i = 0; i < join_.size(); ++i) {
    const Features text{unpack(levels[3 - join_.size() + i], question.offsets, question.longest),
                        question.lengths()};
    Tensor both;
    if (attention_.empty()) {
      both = regions_ ? mean_of(text) + mean(picture.rows, 1) : mean_of(text);
    } else {
      const Features inputs[] = {text, picture};
      const FeatureOutput read = attention_[i](inputs);
      drawn.drew(read.log_probability);
      both = read.contexts[0] + read.contexts[1];
    }
    h = dropout(tanh(join_[i](h.empty() ? both : concat(std::vector{both, h}, -1))), drop);
  }
  return {output_(h), drawn.log_probability};
}

}  // namespace fovea
