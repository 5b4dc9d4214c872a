#include "fovea/attention/feature/features.h"

#include "fovea/attention/engine.h"
#include "fovea/attention/query/uniform.h"
#include "fovea/attention/score/general.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {

Features features_of(const RaggedRows& packed) {
  return {unpack(packed.values, packed.offsets, std::max<int64_t>(packed.longest, 1)),
          packed.lengths()};
}

Tensor mean_of(const Features& f) {
  const int64_t B = f.rows.dim(0), d = f.rows.dim(2);
  const Tensor rows = reshape(f.rows, {B, f.rows.dim(1), 1, d});
  return reshape(mean_of_values(rows, rows, lengths(f.lengths), 1, 1), {B, d});
}

Tensor FeatureOutput::joined() const { return concat(contexts, -1); }

void FeatureOutput::drew(const Tensor& drawn) {
  if (drawn.empty()) return;
  const Tensor one = reshape(drawn, {drawn.elements()});
  log_probability = log_probability.empty() ? one : log_probability + one;
}

Pooling::Pooling(Scope s, int64_t d_q, int64_t d, const FeatureOptions& o)
    : score(o.score ? o.score(s / "score", d_q, d) : activated_general_score(s / "score", d_q, d)),
      align(o.align ? o.align(s / "align", d_q) : Alignment()),
      name(s.path()) {}

Tensor Pooling::operator()(const Tensor& query, const Features& f, FeatureOutput& out) const {
  const int64_t B = f.rows.dim(0), d = f.rows.dim(2);
  check(query.rank() == 2 && query.dim(0) == B, "pooling: needs a query for each of ", B,
        " examples, got ", query.shape());
  AttentionInputs in;
  in.q = reshape(query, {B, 1, 1, query.dim(1)});
  in.k = in.v = reshape(f.rows, {B, f.rows.dim(1), 1, d});
  in.who = lengths(f.lengths);
  in.lengths = f.lengths;
  in.name = name;
  const AttentionOutput read = attend(in, score, align);
  out.drew(read.log_probability);
  return reshape(read.context, {B, d});
}

}  // namespace fovea
