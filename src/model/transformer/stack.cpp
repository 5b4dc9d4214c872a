#include "fovea/model/transformer/stack.h"

#include <cmath>

#include "fovea/attention/position/sinusoidal.h"
#include "fovea/op/dropout.h"

namespace fovea {
namespace {

Init first_embedding(const TransformerOptions& o) {
  return init::normal(o.scale_embedding ? 1 / std::sqrt(static_cast<double>(o.width)) : 0.02);
}

}  // namespace

TransformerStack::TransformerStack(Scope s, int64_t vocabulary, const TransformerOptions& o,
                                   Kind kind, const Embedding* shared, int64_t d_memory)
    : options(o),
      embedding(shared ? *shared
                       : Embedding(s / "embedding", vocabulary, o.width, first_embedding(o))) {
  check(o.layers >= 1 && o.width >= 1, "transformer: needs at least one layer and feature, got ",
        o.layers, " and ", o.width);
  check(embedding.weight.dim(0) == vocabulary, "transformer: a shared embedding has ",
        embedding.weight.dim(0), " rows, but there are ", vocabulary,
        " tokens; source and target then need one vocabulary");
  if (o.position == "learned") {
    positions.emplace(s / "positions", o.longest, o.width);
  }
  for (int64_t i = 0; i < o.layers; ++i) blocks.emplace_back(s / i, o, kind, d_memory);
  if (o.pre_norm()) norm.emplace(s / "norm", o.width);
}

Tensor TransformerStack::embedded(const Tensor& ids) const {
  const Tensor x = embedding(ids);
  return options.scale_embedding ? x * std::sqrt(static_cast<double>(options.width)) : x;
}

Tensor TransformerStack::table(int64_t T, int64_t offset, Dtype dtype) const {
  if (positions) return (*positions)(T, offset);
  return sinusoidal(T, options.width, offset, dtype);
}

Tensor TransformerStack::placed(const Tensor& x, const RowLayout& layout) const {
  if (!positions && options.position != "sinusoidal") return x;
  const Tensor at = table(layout.packing.longest, 0, x.dtype());  // [T, width]
  if (!layout.even) return x + fovea::embedding(at, layout.packing.places());
  return layout.strip(layout.pad(x) + at);
}

Tensor TransformerStack::operator()(const Sequences& tokens, const Tensor& more,
                                    const Memory& memory) const {
  const RowLayout layout(tokens);
  Tensor x = placed(embedded(tokens.ids), layout);
  if (!more.empty()) x = x + more;
  x = dropout(x, options.dropout);
  for (const TransformerBlock& block : blocks) x = block(x, layout, memory);
  return norm ? (*norm)(x) : x;
}

TransformerStack::State TransformerStack::start(const Memory& memory) const {
  State state{std::vector<TransformerBlock::Caches>(blocks.size()), {}, 0};
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].remember(memory, state.caches[i]);
  state.memory = {.lengths = memory.lengths, .who = memory.who};  // the caches hold the rest
  return state;
}

Tensor TransformerStack::step(const Tensor& ids, State& state) const {
  check(ids.rank() == 1 || ids.rank() == 2, "transformer: a step takes ids [N] or [N, m], got ",
        ids.shape());
  const int64_t N = ids.dim(0), m = ids.rank() == 2 ? ids.dim(1) : 1;
  Tensor x = reshape(embedded(ids), {N, m, options.width});
  if (positions || options.position == "sinusoidal") x = x + table(m, state.steps, x.dtype());
  x = reshape(x, {N * m, options.width});
  for (size_t i = 0; i < blocks.size(); ++i) {
    x = blocks[i].step(x, N, state.memory, state.caches[i]);
  }
  state.steps += m;
  return norm ? (*norm)(x) : x;
}

void TransformerStack::select(State& state, const Tensor& rows) const {
  for (auto& caches : state.caches) {
    if (caches.self.length() > 0) caches.self.select(rows);
  }
}

}  // namespace fovea
