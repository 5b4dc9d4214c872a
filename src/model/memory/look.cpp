#include "fovea/model/memory/look.h"

#include "fovea/attention/engine.h"
#include "fovea/op/shape.h"

namespace fovea {

AttentionOptions dot_attention() {
  AttentionOptions o;
  o.score = "dot";
  return o;
}

MemoryLook::MemoryLook(Scope s, const std::string& model, const std::string& name,
                       const AttentionOptions& options, int64_t width)
    : score_(score_factory(options)(s / "score", width, width)),
      align_(unrewarded_alignment_factory(model, options)(s / "align", width)),
      name_(s.path().empty() ? name : s.path() + "/" + name) {}

Tensor MemoryLook::operator()(const Tensor& q, const Memory& memory,
                              const Alignment* instead) const {
  const int64_t B = q.dim(0), d = q.dim(1);
  AttentionInputs in;
  in.q = reshape(q, {B, 1, 1, d});
  in.k = memory.keys;
  in.v = memory.values;
  in.lengths = memory.filled;
  if (!memory.filled.empty()) in.places = memory.filled.reshaped({B, 1});
  if (!memory.bias.empty()) {
    in.bias = memory.bias;
  } else if (!memory.filled.empty()) {
    in.who = lengths(memory.filled);
  }
  in.name = name_;
  return reshape(attend(in, score_, instead ? *instead : align_).context, {B, d});
}

}  // namespace fovea
