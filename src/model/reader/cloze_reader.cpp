#include "fovea/model/reader/cloze_reader.h"

#include <limits>

#include "fovea/model/reader/masked_loss.h"
#include "fovea/op/matmul.h"

namespace fovea {

Tensor is_candidate(const Tensor& candidates) {
  Tensor mask(candidates.shape(), Dtype::i32);
  auto to = mask.write<int32_t>();
  const auto from = candidates.read<int32_t>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] >= 0;
  return mask;
}

Tensor table_scores(const Embedding& answers, const Tensor& g, const Tensor& candidates) {
  const int64_t B = candidates.dim(0), C = candidates.dim(1), d = g.dim(1);
  Tensor ids(candidates.shape(), Dtype::i32);
  auto to = ids.write<int32_t>();
  const auto from = candidates.read<int32_t>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::max(0, from[i]);
  const Tensor rows = answers(ids);  // [B, C, d]
  const Tensor scores = reshape(matmul(rows, reshape(g, {B, d, 1})), {B, C});
  return where(is_candidate(candidates), scores, -std::numeric_limits<double>::infinity());
}

ClozeReader::ClozeReader(Scope s, const ModelSizes& sizes, const ReaderOptions& o)
    : words_(s / "encoder", sizes, o),
      passage_(reader_layers(s / "passage", words_.features(), o)),
      question_(reader_layers(s / "question", words_.features(), o)) {}

ReadStates ClozeReader::read(const ModelInputs& in) const {
  const ReaderWords::Output x = words_(in);
  const auto asked = question_({.x = x.question, .offsets = in.question.offsets});
  return {passage_({.x = x.passage, .offsets = in.text.offsets}).y, asked.y,
          last_states(asked.last, words_.options.bidirectional)};
}

Tensor ClozeReader::loss(const ModelInputs& in, const Tensor& targets, double smoothing) const {
  const Output out = (*this)(in);
  return masked_loss(out.scores, is_candidate(in.candidates), targets, smoothing,
                     out.log_probability);
}

}  // namespace fovea
