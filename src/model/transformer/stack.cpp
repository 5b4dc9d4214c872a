#include "fovea/model/transformer/stack.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/position/sinusoidal.h"
#include "fovea/attention/ring.h"
#include "fovea/op/dropout.h"

namespace fovea {
namespace {

Init first_embedding(const TransformerOptions& o) {
  return init::normal(o.scale_embedding ? 1 / std::sqrt(static_cast<double>(o.width)) : 0.02);
}

}  // namespace

TransformerStack::TransformerStack(Scope s, int64_t vocabulary, const TransformerOptions& o,
                                   Kind kind, const Embedding* shared, int64_t d_memory)
    : options(o) {
  if (!o.vectors.empty() && kind == Kind::encoder && vocabulary > 0) {
    check(shared == nullptr && !o.shared, "transformer: an embedding that source and target share ",
          "cannot start from vectors; leave shared or vectors out");
    words.emplace(s / "embedding", vocabulary, o.width, o);
  } else if (vocabulary > 0) {
    embedding =
        shared ? *shared : Embedding(s / "embedding", vocabulary, o.width, first_embedding(o));
  }
  check(o.layers >= 1 && o.width >= 1, "transformer: needs at least one layer and feature, got ",
        o.layers, " and ", o.width);
  if (shared != nullptr) {
    check(embedding.weight.dim(0) == vocabulary, "transformer: a shared embedding has ",
          embedding.weight.dim(0), " rows, but there are ", vocabulary,
          " tokens; source and target then need one vocabulary");
  }
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

Tensor TransformerStack::places(int64_t T, Dtype dtype) const {
  const SequenceRing* ring = SequenceRing::current();
  if (!ring) return table(T, 0, dtype);
  // The whole may be longer than any sequence, so that all chunks are alike: those rows are
  // nobody's.
  const auto chunk = [&](int64_t from) {
    const int64_t c = ring->chunk();
    const int64_t known = positions ? std::clamp<int64_t>(options.longest - from, 0, c) : c;
    if (known == c) return table(c, from, dtype);
    return known == 0 ? Tensor::zeros({c, options.width}, dtype)
                      : pad(table(known, from, dtype), 0, 0, c - known);
  };
  const int rank = ring->ranks().rank();
  return concat({chunk(ring->first(rank)), chunk(ring->second(rank))}, 0);
}

Tensor TransformerStack::placed(const Tensor& x, const RowLayout& layout) const {
  if (!positions && options.position != "sinusoidal") return x;
  const Tensor at = places(layout.packing.longest, x.dtype());  // [T, width]
  if (!layout.even) return x + fovea::embedding(at, layout.packing.places());
  return layout.strip(layout.pad(x) + at);
}

Tensor TransformerStack::operator()(const Sequences& tokens, const Tensor& more,
                                    const Memory& memory) const {
  const RowLayout layout(tokens);
  Tensor x = placed(embed(tokens), layout);
  if (!more.empty()) x = x + more;
  return through(x, layout, memory);
}

Tensor TransformerStack::embed(const Sequences& tokens) const {
  return words ? (*words)(tokens) : embedded(tokens.ids);
}

Tensor TransformerStack::over(const Tensor& rows, const Packing& of, const Memory& memory) const {
  const RowLayout layout(of);
  return through(placed(rows, layout), layout, memory);
}

Tensor TransformerStack::through(Tensor x, const RowLayout& layout, const Memory& memory) const {
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
