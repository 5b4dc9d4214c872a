#include "fovea/model/transformer/block.h"

#include <algorithm>

#include "fovea/attention/position/t5.h"
#include "fovea/attention/ring.h"
#include "fovea/op/dropped.h"
#include "fovea/op/recompute.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

using Kind = TransformerBlock::Kind;

kernel::Unary unary_of(const std::string& name) {
  const std::vector<std::string> known{"relu", "gelu", "gelu_tanh"};
  const kernel::Unary unary[] = {kernel::Unary::relu, kernel::Unary::gelu,
                                 kernel::Unary::gelu_tanh};
  const auto found = std::ranges::find(known, name);
  check(found != known.end(), unknown_name("activation", name, known));
  return unary[found - known.begin()];
}

// Positions that heads know; what is added to the embeddings is the stack's to add.
PositionsFactory positions_of(const TransformerOptions& o, bool causal) {
  if (o.position == "none" || o.position == "sinusoidal" || o.position == "learned") return {};
  if (o.position == "t5") return t5_positions({.causal = causal});
  const Entry& entry = find_entry(Entry::Kind::position, o.position);
  check(entry.positions != nullptr, "transformer: '", o.position, "' is not a position of heads");
  return [make = entry.positions, options = o.attention](Scope s, int64_t heads, int64_t d_head) {
    AttentionOptions at = options;
    at.heads = heads;
    at.d_q = at.d_k = at.d_v = d_head;
    return make(s, at);
  };
}

MultiHeadOptions heads_of(const TransformerOptions& o, PositionsFactory positions, int64_t d_memory,
                          bool self_attention) {
  MultiHeadOptions heads{.heads = o.heads,
                         .key_heads = o.key_heads,
                         .d_memory = d_memory,
                         .dropout = o.attention_dropout,
                         .positions = std::move(positions)};
  if (self_attention) {
    AttentionOptions at = o.attention;
    at.longest_keys = o.longest;
    heads.self = self_attention_factory(o.self_attention, at);
    if (heads.self) return heads;
  }
  if (o.self_attention != "full") return heads;
  // Left out for the scaled product and for softmax: MultiHead then takes its fastest path.
  if (o.attention.score != "scaled") heads.score = score_factory(o.attention);
  if (o.attention.align == "softmax") return heads;
  heads.align = unrewarded_alignment_factory("transformer", o.attention);
  return heads;
}

// Whether self-attention is the one that is named; the decoder of a translator compares all pairs
// where that has no causal form, a decoder alone cannot take it.
bool looks_its_own_way(const TransformerOptions& o, Kind kind) {
  const Entry& entry = find_entry(Entry::Kind::efficient, o.self_attention);
  check(entry.causal || kind != Kind::decoder, "transformer: attention '", entry.name,
        "' looks at whole sequences; it has no causal form, which a decoder needs");
  check(entry.name == "full" || o.key_heads == 0 || o.key_heads == o.heads,
        "transformer: attention '", entry.name, "' has keys for each head; key_heads is for full");
  return entry.causal || kind == Kind::encoder;
}

// [B, T]: where the queries of a step stand, each run of m from `from` on.
Tensor step_places(int64_t B, int64_t T, int64_t m, int64_t from) {
  Tensor at({B, T});
  auto to = at.write();
  for (int64_t i = 0; i < B * T; ++i) to[i] = static_cast<float>(from + i % T % m);
  return at;
}

}  // namespace

RowLayout::RowLayout(const Packing& s)
    : packing(s), even((s.check_whole("transformer"), s.rows() == s.count() * s.longest)) {
  if (const SequenceRing* ring = SequenceRing::current(); ring && ring->shares()) {
    // Rows stand where they do in the chunks of this rank; who is there, the whole tells.
    packing.longest = 2 * ring->chunk();
    even = s.rows() == s.count() * packing.longest;
    keys = fovea::lengths(ring->lengths());
    return;
  }
  if (even) return;
  lengths = s.lengths();
  keys = fovea::lengths(lengths);
}

Tensor RowLayout::pad(const Tensor& rows) const {
  return even ? reshape(rows, {packing.count(), packing.longest, rows.dim(1)})
              : unpack(rows, packing.offsets, packing.longest);
}

Tensor RowLayout::strip(const Tensor& x) const {
  return even ? reshape(x, {packing.rows(), x.dim(2)}) : pack(x, packing.offsets);
}

TransformerBlock::TransformerBlock(Scope s, const TransformerOptions& o, Kind kind,
                                   int64_t d_memory)
    : options(o),
      kind(kind),
      self(s / "self", o.width,
           heads_of(o, positions_of(o, kind != Kind::encoder), 0, looks_its_own_way(o, kind))),
      feed_forward(s / "feed_forward", o.width, o.hidden > 0 ? o.hidden : 4 * o.width),
      norm1(s / "norm1", o.width),
      norm2(s / "norm2", o.width) {
  unary_of(o.activation);  // an unknown name is refused here
  if (kind == Kind::cross_decoder) {
    cross.emplace(s / "cross", o.width, heads_of(o, {}, d_memory, false));
    norm3.emplace(s / "norm3", o.width);
  }
  parameters_ = s.below();
}

template <class Part>
Tensor TransformerBlock::residual(const Tensor& x, const LayerNorm& norm, const Part& part) const {
  if (options.pre_norm()) return add_dropped(x, part(norm(x)), options.dropout);
  return norm(add_dropped(x, part(x), options.dropout));
}

Tensor TransformerBlock::feed(const Tensor& x) const {
  const LayerNorm& norm = norm3 ? *norm3 : norm2;
  const Linear &inner = feed_forward.inner, &outer = feed_forward.outer;
  const Tensor y = fovea::feed_forward(x, options.pre_norm() ? norm(x) : x,
                                       {inner.weight, inner.bias, outer.weight, outer.bias},
                                       unary_of(options.activation), options.dropout);
  return options.pre_norm() ? y : norm(y);
}

Tensor TransformerBlock::run(const Tensor& rows, const RowLayout& layout,
                             const Memory& memory) const {
  // Keys behind a sequence's end come after all its queries: causal already leaves them out.
  const bool encoder = kind == Kind::encoder;
  Tensor x = residual(rows, norm1, [&](const Tensor& x) {
    return layout.strip(self({.x = layout.pad(x),
                              .who = encoder ? layout.keys : layout.causal,
                              .lengths = layout.lengths})
                            .y);
  });
  if (cross) {
    // A node of its own for each block: its gradient is then summed block by block, as it is when
    // blocks are recomputed.
    const Tensor states = reshape(memory.states, memory.states.shape());
    x = residual(x, norm2, [&](const Tensor& x) {
      return layout.strip(
          (*cross)(
              {.x = layout.pad(x), .memory = states, .who = memory.who, .lengths = memory.lengths})
              .y);
    });
  }
  return feed(x);
}

Tensor TransformerBlock::operator()(const Tensor& rows, const RowLayout& layout,
                                    const Memory& memory) const {
  check((kind == Kind::cross_decoder) == !memory.states.empty(), "transformer block ", self.name,
        ": a memory is needed where there is cross-attention, and nowhere else");
  if (!options.recompute) return run(rows, layout, memory);
  return recomputed(
      [this, layout, memory](std::span<const Tensor> at) {
        return run(at[0], layout, {.states = at[1], .lengths = memory.lengths, .who = memory.who});
      },
      {rows, memory.states}, parameters_);
}

void TransformerBlock::remember(const Memory& memory, Caches& caches) const {
  if (cross) cross->remember(memory.states, caches.cross);
}

Tensor TransformerBlock::step(const Tensor& rows, int64_t N, const Memory& memory,
                              Caches& caches) const {
  const int64_t m = rows.dim(0) / N, C = rows.dim(1), from = caches.self.length();
  Tensor x = residual(rows, norm1, [&](const Tensor& x) {
    return reshape(
        self.step({.x = reshape(x, {N, m, C}), .who = m > 1 ? causal_lower_right() : Pattern()},
                  caches.self)
            .y,
        {N * m, C});
  });
  if (cross) {
    const int64_t B = caches.cross.stored_keys().dim(0), T = N / B * m;
    x = residual(x, norm2, [&](const Tensor& x) {
      return reshape(cross
                         ->read({.x = reshape(x, {B, T, C}),
                                 .who = memory.who,
                                 .lengths = memory.lengths,
                                 .places = step_places(B, T, m, from)},
                                caches.cross)
                         .y,
                     {N * m, C});
    });
  }
  return feed(x);
}

}  // namespace fovea
