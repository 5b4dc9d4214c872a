#include "fovea/model/graph/attention.h"

#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

GraphAttention::GraphAttention(Scope s, int64_t in, const GraphAttentionOptions& o)
    : options(o),
      name(s.path()),
      value(s / "value", in, o.heads * o.width, {.bias = o.dynamic}),
      bias(s.param("bias", {o.width * (o.mean ? 1 : o.heads)}, init::zeros())) {
  const Shape shape{o.heads, o.width};
  if (o.dynamic) {
    query.emplace(s / "query", in, o.heads * o.width);
    a = s.param("a", shape, init::xavier_uniform());
  } else {
    a_query = s.param("a_query", shape, init::xavier_uniform());
    a_key = s.param("a_key", shape, init::xavier_uniform());
  }
}

Tensor GraphAttention::operator()(const NodeFeatures& x, const NodeGraph& graph) const {
  const int64_t N = graph.nodes(), H = options.heads, D = options.width;
  const Tensor h = reshape(x.through(value, options.dropout), {1, N, H, D});
  AttentionInputs in;
  in.v = dropout(h, options.dropout);
  in.who = graph.who(H);
  in.dropout = options.attention_dropout;
  in.name = name;
  Score score;
  if (options.dynamic) {
    in.q = reshape(x.through(*query, options.dropout), {1, N, H, D});
    in.k = h;
    score = [this](const Tensor& q, const Tensor& k) {
      return ScoreForm{q, k, 1, ScoreMap::leaky_relu, a};
    };
  } else {
    in.q = sum(h * a_query, -1, true);
    in.k = sum(h * a_key, -1, true);
    score = [](const Tensor& q, const Tensor& k) {
      return ScoreForm{q, k, 1, ScoreMap::leaky_relu, Tensor::full({1}, 1, q.dtype())};
    };
  }
  const Tensor y = reshape(attend(in, score).context, {N, H, D});
  return (options.mean ? mean(y, 1) : reshape(y, {N, H * D})) + bias;
}

}  // namespace fovea
