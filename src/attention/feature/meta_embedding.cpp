#include "fovea/attention/feature/meta_embedding.h"

#include "fovea/attention/engine.h"
#include "fovea/attention/recorder.h"
#include "fovea/attention/score/additive.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

int64_t read_width(int64_t width, const MetaEmbeddingOptions& o) {
  return o.contextual ? 2 * o.units : width;
}

}  // namespace

MetaEmbedding::MetaEmbedding(Scope s, std::span<const int64_t> widths, int64_t width,
                             const MetaEmbeddingOptions& o)
    : query(s.param("query", {read_width(width, o)}, init::normal(0.1))),
      score(o.score ? o.score(s / "score", read_width(width, o), read_width(width, o))
                    : self_attentive_score(s / "score", read_width(width, o), 16)),
      align(o.align ? o.align(s / "align", read_width(width, o)) : Alignment()),
      name(s.path()) {
  check(!widths.empty(), "meta-embedding: needs at least one set of vectors");
  for (size_t i = 0; i < widths.size(); ++i) {
    project.emplace_back(s / "project" / static_cast<int64_t>(i), widths[i], width);
  }
  if (o.contextual) {
    reader.emplace(s / "reader", width, o.units, RecurrentOptions{.bidirectional = true});
  }
}

MetaEmbedding::Output MetaEmbedding::operator()(std::span<const Tensor> sets,
                                                const Packing& of) const {
  check(sets.size() == project.size(), "meta-embedding: made for ", project.size(),
        " sets of vectors, got ", sets.size());
  const int64_t rows = of.rows(), n = static_cast<int64_t>(sets.size());
  const int64_t width = project[0].weight.dim(0);
  std::vector<Tensor> values, keys;
  for (size_t i = 0; i < sets.size(); ++i) {
    check(sets[i].rank() == 2 && sets[i].dim(0) == rows, "meta-embedding: needs a vector of each ",
          "set for ", rows, " tokens, got ", sets[i].shape());
    values.push_back(project[i](sets[i]));
    keys.push_back(reader ? (*reader)({.x = values.back(), .offsets = of.offsets}).y
                          : values.back());
  }
  AttentionInputs in;  // every token is an example of its own, with a key for each set
  in.q = broadcast_to(reshape(query, {1, 1, 1, query.dim(0)}), {rows, 1, 1, query.dim(0)});
  const Tensor v = stack(values, 1);
  in.v = reshape(v, {rows, n, 1, width});
  in.k = reshape(reader ? stack(keys, 1) : v, {rows, n, 1, query.dim(0)});
  Recorder* recorder = Recorder::current();
  if (recorder != nullptr) in.capture.what = Capture::What::rows;
  const AttentionOutput read = attend_unrecorded(in, score, align);
  if (recorder != nullptr && rows > 0) {
    Weights share;
    const Tensor packed = reshape(read.weights.rows, {rows, n});
    share.rows = reshape(unpack(packed, of.offsets, of.longest), {of.count(), 1, of.longest, n});
    recorder->keep(name, std::move(share));
  }
  Output out{reshape(read.context, {rows, width})};
  if (!read.log_probability.empty()) out.log_probability = reshape(read.log_probability, {rows});
  return out;
}

}  // namespace fovea
