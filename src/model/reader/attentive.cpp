#include "fovea/model/reader/attentive.h"

namespace fovea {

AttentiveReader::AttentiveReader(Scope s, const ModelSizes& sizes, const ReaderOptions& o,
                                 const AttentionOptions& attention, bool joint)
    : ClozeReader(s, sizes, o),
      attention_(s / "attention", attention, features(), features()),
      answers_(s / "answers", sizes.vocabulary, features()) {
  if (joint) joint_.emplace(s / "joint", 2 * features(), features());
}

Scorer::Output AttentiveReader::operator()(const ModelInputs& in) const {
  const ReadStates states = read(in);
  const int64_t B = in.text.count();
  const auto look = attention_({.q = reshape(states.asked, {B, 1, features()}),
                                .memory = unpack(states.passage, in.text.offsets, in.text.longest),
                                .lengths = in.text.lengths()});
  const Tensor r = reshape(look.context, {B, features()});
  const Tensor g = joint_ ? tanh((*joint_)(concat({r, states.asked}, -1))) : r;
  Output out{table_scores(answers_, dropout(g, words_.options.dropout), in.candidates)};
  if (!look.log_probability.empty()) out.log_probability = reshape(look.log_probability, {B});
  return out;
}

}  // namespace fovea
