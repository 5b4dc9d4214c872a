#include "fovea/attention/feature/via.h"

#include "fovea/attention/engine.h"
#include "fovea/attention/score/additive.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

Tensor with_one_head(const Tensor& x) { return reshape(x, {x.dim(0), x.dim(1), 1, x.dim(2)}); }

Score score_of(const FeatureOptions& o, Scope s, int64_t d_q, int64_t d_k) {
  return o.score ? o.score(s, d_q, d_k) : additive_score(s, d_q, d_k, d_k);
}
Alignment align_of(const FeatureOptions& o, Scope s, int64_t d_q) {
  return o.align ? o.align(s, d_q) : Alignment();
}

}  // namespace

ViaAttention::ViaAttention(Scope s, int64_t d_q, int64_t d_words, int64_t d_letters,
                           const FeatureOptions& o)
    : query(s / "query", d_q + d_words, d_letters, {.bias = false}),
      score_words(score_of(o, s / "words" / "score", d_q, d_words)),
      score_letters(score_of(o, s / "letters" / "score", d_letters, d_letters)),
      align_words(align_of(o, s / "words" / "align", d_q)),
      align_letters(align_of(o, s / "letters" / "align", d_letters)),
      name(s.path()) {}

ViaAttention::Output ViaAttention::operator()(const Tensor& q, const Features& words,
                                              const Features& letters, int64_t step) const {
  const int64_t B = q.dim(0), Tq = q.dim(1);
  Output out;
  const auto read = [&](const Tensor& asked, const Features& f, const Score& score,
                        const Alignment& align, const char* level) {
    AttentionInputs in;
    in.q = with_one_head(asked);
    in.k = in.v = with_one_head(f.rows);
    in.who = lengths(f.lengths);
    in.lengths = f.lengths;
    if (step >= 0) in.places = Tensor::full({B, Tq}, static_cast<double>(step));
    in.name = name.empty() ? level : name + "/" + level;
    const AttentionOutput got = attend(in, score, align);
    if (!got.log_probability.empty()) {
      Tensor drawn = reshape(got.log_probability, {B, got.log_probability.dim(1)});
      // A choice of keys is made once for all queries; a choice of one key for each.
      if (drawn.dim(1) != Tq) drawn = broadcast_to(drawn, {B, Tq});
      out.log_probability = out.log_probability.empty() ? drawn : out.log_probability + drawn;
    }
    return reshape(got.context, {B, Tq, f.rows.dim(2)});
  };
  out.words = read(q, words, score_words, align_words, "words");
  out.letters =
      read(query(concat({q, out.words}, -1)), letters, score_letters, align_letters, "letters");
  return out;
}

}  // namespace fovea
