#include "fovea/model/reader/attention_sum.h"

#include <limits>

#include "fovea/op/sparse.h"

namespace fovea {
namespace {

// A matrix of B C candidates by rows of the text.
SparseMatrix mentions(const ModelInputs& in) {
  const auto offsets = in.sparse.offsets.read<int32_t>(), ids = in.sparse.ids.read<int32_t>();
  return SparseMatrix(in.text.rows(), {offsets.begin(), offsets.end()}, {ids.begin(), ids.end()},
                      std::vector<float>(ids.size(), 1));
}

}  // namespace

AttentionSumReader::AttentionSumReader(Scope s, const ModelSizes& sizes, const ReaderOptions& o,
                                       const AttentionOptions& attention)
    : ClozeReader(s, sizes, o), attention_(s / "attention", attention, features(), features()) {}

Scorer::Output AttentionSumReader::operator()(const ModelInputs& in) const {
  constexpr double least = 1e-30;  // a candidate that nothing names is nearly impossible
  const ReadStates states = read(in);
  const int64_t B = in.text.count(), T = in.text.longest, C = in.candidates.dim(1);
  check(in.sparse.count() == B * C, "attention_sum: needs the places of ", B * C,
        " candidates, got ", in.sparse.count());
  const auto look = attention_({.q = reshape(states.asked, {B, 1, features()}),
                                .memory = unpack(states.passage, in.text.offsets, T),
                                .lengths = in.text.lengths(),
                                .capture = {.what = Capture::What::with_gradient}});
  const Tensor s = pack(reshape(look.weights.rows, {B, T, 1}), in.text.offsets);  // [rows, 1]
  const Tensor p = reshape(mentions(in)(s), {B, C});
  const Tensor scores = log(maximum(p, Tensor::full({1}, least, p.dtype())));
  Output out{where(is_candidate(in.candidates), scores, -std::numeric_limits<double>::infinity())};
  if (!look.log_probability.empty()) out.log_probability = reshape(look.log_probability, {B});
  return out;
}

}  // namespace fovea
