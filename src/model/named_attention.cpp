#include "fovea/model/named_attention.h"

#include <algorithm>

#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

Tensor with_one_head(const Tensor& x) { return reshape(x, {x.dim(0), x.dim(1), 1, x.dim(2)}); }

AttentionOptions with_widths(AttentionOptions o, int64_t d_q, int64_t d_k) {
  o.d_q = d_q;
  o.d_k = o.d_v = d_k;
  return o;
}

}  // namespace

NamedAttention::NamedAttention(Scope s, AttentionOptions options, int64_t d_q, int64_t d_k)
    : name(s.path()), attention_(make_attention(s, with_widths(std::move(options), d_q, d_k))) {}

NamedAttention::Output NamedAttention::operator()(const Inputs& in) const {
  const int64_t B = in.q.dim(0), Tq = in.q.dim(1);
  AttentionInputs inputs;
  inputs.q = with_one_head(in.q);
  inputs.k = inputs.v = with_one_head(in.memory);
  inputs.who = lengths(in.lengths);
  inputs.lengths = in.lengths;
  if (in.step >= 0) inputs.places = Tensor::full({B, Tq}, static_cast<double>(in.step));
  inputs.capture = in.capture;
  inputs.name = name;
  const AttentionOutput out = attention_(inputs);
  Output result{reshape(out.context, {B, Tq, in.memory.dim(2)}), {}, out.weights};
  // A choice of keys is made once for all queries; a choice of one key for each.
  if (const Tensor& p = out.log_probability; !p.empty()) {
    result.log_probability = reshape(p, {B, p.dim(1)});
    if (p.dim(1) != Tq) result.log_probability = broadcast_to(result.log_probability, {B, Tq});
  }
  return result;
}

namespace {

std::vector<FieldInfo> fields_named(const std::vector<std::string>& names,
                                    const AttentionOptions& start) {
  std::vector<FieldInfo> infos;
  for (FieldInfo& info : attention_fields().infos(start)) {
    if (std::ranges::find(names, info.name) != names.end()) infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace

std::vector<FieldInfo> attention_options(const Settings& settings, const AttentionOptions& start) {
  return fields_named(options_read(attention_fields().read(settings, start)), start);
}

std::vector<FieldInfo> attention_options_of(const std::string& feature, const Settings& settings,
                                            const AttentionOptions& start) {
  return fields_named(options_read_by(feature, attention_fields().read(settings, start)), start);
}

}  // namespace fovea
