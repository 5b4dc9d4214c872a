#include "fovea/attention/query/capsule.h"

#include "fovea/attention/engine.h"
#include "fovea/attention/query/uniform.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

Capsules::Capsules(Scope s, int64_t classes, int64_t d_k, int64_t d_v, const AlignmentFactory& make)
    : query(s.param("query", {classes, d_k}, init::xavier_uniform())),
      weight(s.param("weight", {classes, d_v}, init::xavier_uniform())),
      bias(s.param("bias", {classes}, init::zeros())),
      name(s.path()) {
  if (make) align = make(s / "align", d_k);
}

Capsules::Output Capsules::operator()(const Inputs& in) const {
  const Tensor& values = in.v.empty() ? in.k : in.v;
  const int64_t C = query.dim(0), d_k = query.dim(1), d_v = weight.dim(1);
  check(in.k.rank() == 3 && values.rank() == 3 && in.k.dim(2) == d_k && values.dim(2) == d_v,
        "capsules: made for keys [B, T, ", d_k, "] and values [B, T, ", d_v, "], got ",
        in.k.shape(), " and ", values.shape());
  const int64_t B = in.k.dim(0), T = in.k.dim(1);
  // Every capsule is a query head; all share the one key head.
  const Tensor k = reshape(in.k, {B, T, 1, d_k}), v = reshape(values, {B, values.dim(1), 1, d_v});
  const Tensor q = broadcast_to(reshape(query, {1, 1, C, d_k}), {B, 1, C, d_k});
  const AttentionOutput o = attend({.q = q,
                                    .k = k,
                                    .v = v,
                                    .who = in.who,
                                    .lengths = in.lengths,
                                    .name = name,
                                    .capture = in.capture},
                                   dot_score(), align);
  Output out;
  out.representation = reshape(o.context, {B, C, d_v});
  out.probability = sigmoid(sum(out.representation * weight, -1) + bias);
  out.reconstruction = out.representation * reshape(out.probability, {B, C, 1});
  out.mean = reshape(mean_of_values(k, v, in.who, 1, 1), {B, d_v});
  out.weights = o.weights;
  if (!o.log_probability.empty()) {
    out.log_probability = sum(reshape(o.log_probability, {B, -1}), -1);
  }
  return out;
}

Tensor capsule_losses(const Capsules::Output& out, const Tensor& classes, double share) {
  const Tensor &p = out.probability, &r = out.reconstruction;
  const int64_t B = p.dim(0), C = p.dim(1);
  check(classes.dtype() == Dtype::i32 && classes.shape() == Shape({B}),
        "capsule loss: needs one class (int32) for each of ", B, " examples, got ", classes.dtype(),
        classes.shape());
  Tensor y = Tensor::full({B, C}, 1, p.dtype());
  for (int64_t b = 0; b < B; ++b) {
    const int32_t c = classes.read<int32_t>()[b];
    check(c >= 0 && c < C, "capsule loss: there is no class ", c, " among ", C);
    with_real(p.dtype(), [&]<class T>(T) { y.write<T>()[b * C + c] = -1; });
  }
  const Tensor agreement = sum(r * reshape(out.mean, {B, 1, r.dim(2)}), -1);  // f . r_c, [B, C]
  const Tensor J = relu(sum(y * p, -1) + 1), U = relu(sum(y * agreement, -1) + 1);
  return J + U * share;
}

Tensor capsule_loss(const Capsules::Output& out, const Tensor& classes, double share) {
  return mean(capsule_losses(out, classes, share));
}

}  // namespace fovea
