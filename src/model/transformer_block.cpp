#include "fovea/model/transformer_block.h"

#include "fovea/attention/position/alibi.h"
#include "fovea/attention/position/rotary.h"
#include "fovea/attention/position/shaw.h"
#include "fovea/attention/position/t5.h"
#include "fovea/op/dropped.h"
#include "fovea/op/recompute.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

using Kind = TransformerBlock::Kind;

Activation activation_of(const std::string& name) {
  const std::vector<std::string> known{"relu", "gelu", "gelu_tanh"};
  check(std::ranges::find(known, name) != known.end(), unknown_name("activation", name, known));
  if (name == "relu") return Activation::relu;
  return name == "gelu" ? Activation::gelu : Activation::gelu_tanh;
}

kernel::Unary unary_of(Activation f) {
  if (f == Activation::relu) return kernel::Unary::relu;
  return f == Activation::gelu ? kernel::Unary::gelu : kernel::Unary::gelu_tanh;
}

PositionsFactory positions_of(const std::string& name, bool causal) {
  const std::vector<std::string> known{"sinusoidal", "learned", "rotary", "alibi",
                                       "shaw",       "t5",      "none"};
  check(std::ranges::find(known, name) != known.end(), unknown_name("position", name, known));
  if (name == "rotary") return rotary_positions();
  if (name == "alibi") return alibi_positions();
  if (name == "shaw") return shaw_positions();
  if (name == "t5") return t5_positions({.causal = causal});
  return {};
}

MechanismOptions with_widths(MechanismOptions o, int64_t d_q, int64_t d_k) {
  o.d_q = d_q;
  o.d_k = o.d_v = d_k;
  return o;
}

// Null for the scaled product and for softmax, so that MultiHead takes its fastest path.
ScoreFactory score_of(const AttentionChoice& choice) {
  const Entry& entry = find_entry(Entry::Kind::score, choice.score);
  check(entry.score != nullptr, "transformer: '", entry.name,
        "' is more than a score of queries and keys, which is what a head needs; choose another");
  if (entry.name == "scaled") return {};
  return [&entry, o = choice.options](Scope s, int64_t d_q, int64_t d_k) {
    return entry.score(s, with_widths(o, d_q, d_k));
  };
}

AlignmentFactory alignment_of(const AttentionChoice& choice) {
  const Entry& entry = find_entry(Entry::Kind::alignment, choice.align);
  check(entry.alignment != nullptr, "transformer: '", entry.name,
        "' is more than an alignment of scores, which is what a head needs; choose another");
  if (entry.name == "softmax") return {};
  return [&entry, o = choice.options](Scope s, int64_t d_q) {
    const Alignment align = entry.alignment(s, with_widths(o, d_q, d_q));
    const bool rewarded =
        align.kind == Alignment::Kind::reinforced ||
        (align.kind == Alignment::Kind::hard && align.estimator == Alignment::Estimator::reinforce);
    check(!rewarded, "transformer: the alignment '", entry.name,
          "' learns from a reward, which the heads of a Transformer do not hand on; 'hard' draws "
          "and learns without one");
    return align;
  };
}

MultiHeadOptions heads_of(const TransformerOptions& o, PositionsFactory positions) {
  return {.heads = o.heads,
          .key_heads = o.key_heads,
          .dropout = o.attention_dropout,
          .score = score_of(o.attention),
          .align = alignment_of(o.attention),
          .positions = std::move(positions)};
}

// Without a stream nothing is dropped, also while a tape lives.
Tensor look(const MultiHead& heads, const MultiHead::Inputs& in) {
  if (in.random || heads.options.dropout == 0 || !Tape::current()) return heads(in).y;
  MultiHead still = heads;
  still.options.dropout = 0;
  return still(in).y;
}

// Other arrays stand in for parameters while it lives.
class Stead {
 public:
  Stead(const std::vector<Tensor*>& parameters, std::span<const Tensor> values)
      : parameters_(parameters) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      own_.push_back(std::exchange(*parameters[i], values[i]));
    }
  }
  ~Stead() {
    for (size_t i = 0; i < own_.size(); ++i) *parameters_[i] = std::move(own_[i]);
  }
  Stead(const Stead&) = delete;
  Stead& operator=(const Stead&) = delete;

 private:
  const std::vector<Tensor*>& parameters_;
  std::vector<Tensor> own_;
};

}  // namespace

Tensor RowLayout::pad(const Tensor& rows) const {
  return even ? reshape(rows, {count, longest, rows.dim(1)}) : unpack(rows, offsets, longest);
}

Tensor RowLayout::strip(const Tensor& x) const {
  return even ? reshape(x, {count * longest, x.dim(2)}) : pack(x, offsets);
}

Pattern RowLayout::keys() const { return even ? Pattern() : fovea::lengths(lengths); }

Tensor RowLayout::places() const {
  const auto from = offsets.read<int32_t>();
  Tensor place({from.back()}, Dtype::i32);
  auto to = place.write<int32_t>();
  for (int64_t b = 0; b < count; ++b) {
    for (int32_t i = from[b]; i < from[b + 1]; ++i) to[i] = i - from[b];
  }
  return place;
}

Pattern TransformerBlock::Memory::keys() const {
  return even ? Pattern() : fovea::lengths(lengths);
}

TransformerBlock::TransformerBlock(Parameters& table, const std::string& path,
                                   const TransformerOptions& o, Kind kind)
    : options(o),
      kind(kind),
      self(Scope(table) / path / "self", o.width,
           heads_of(o, positions_of(o.position, kind != Kind::encoder))),
      feed_forward(Scope(table) / path / "feed_forward", o.width,
                   o.hidden > 0 ? o.hidden : 4 * o.width, activation_of(o.activation)),
      norm1(Scope(table) / path / "norm1", o.width),
      norm2(Scope(table) / path / "norm2", o.width) {
  if (kind == Kind::cross_decoder) {
    cross.emplace(Scope(table) / path / "cross", o.width, heads_of(o, {}));
    norm3.emplace(Scope(table) / path / "norm3", o.width);
  }
  for (auto& entry : table.entries()) {
    if (entry.name.starts_with(path + "/")) parameters_.push_back(&entry.value);
  }
}

template <class Part>
Tensor TransformerBlock::residual(const Tensor& x, const LayerNorm& norm, Random* random,
                                  const Part& part) const {
  if (options.pre_norm) return add_dropped(x, part(norm(x)), options.dropout, random);
  return norm(add_dropped(x, part(x), options.dropout, random));
}

Tensor TransformerBlock::feed(const Tensor& x, Random* random) const {
  const LayerNorm& norm = norm3 ? *norm3 : norm2;
  const Linear &inner = feed_forward.inner, &outer = feed_forward.outer;
  const Tensor y = fovea::feed_forward(x, options.pre_norm ? norm(x) : x,
                                       {inner.weight, *inner.bias, outer.weight, *outer.bias},
                                       unary_of(feed_forward.activation), options.dropout, random);
  return options.pre_norm ? y : norm(y);
}

// What an alignment narrows the pattern to, for T queries of which each run of m begins at `from`.
Pattern TransformerBlock::aligned(const Pattern& who, int64_t B, int64_t T, int64_t from,
                                  int64_t m) const {
  const auto& pattern = find_entry(Entry::Kind::alignment, options.attention.align).pattern;
  if (!pattern) return who;
  Tensor at({B, T, options.heads});
  auto to = at.write<float>().begin();
  for (int64_t i = 0; i < B * T; ++i) {
    to = std::fill_n(to, options.heads, static_cast<float>(from + i % T % m));
  }
  return who & pattern(options.attention.options, at);
}

Tensor TransformerBlock::run(const Tensor& rows, const RowLayout& layout, const Memory& memory,
                             Random* random) const {
  const int64_t B = layout.count, T = layout.longest;
  // Keys behind a sequence's end come after all its queries: causal already leaves them out.
  const Pattern own = aligned(kind == Kind::encoder ? layout.keys() : causal(), B, T, 0, T);
  Tensor x = residual(rows, norm1, random, [&](const Tensor& x) {
    return layout.strip(look(self, {.x = layout.pad(x), .who = own, .random = random}));
  });
  if (cross) {
    // A node of its own for each block: its gradient is then summed block by block, as it is when
    // blocks are recomputed.
    const Tensor states = reshape(memory.states, memory.states.shape());
    const Pattern who = aligned(memory.keys(), B, T, 0, T);
    x = residual(x, norm2, random, [&](const Tensor& x) {
      return layout.strip(
          look(*cross, {.x = layout.pad(x), .memory = states, .who = who, .random = random}));
    });
  }
  return feed(x, random);
}

Tensor TransformerBlock::operator()(const Tensor& rows, const RowLayout& layout,
                                    const Memory& memory, Random* random) const {
  check((kind == Kind::cross_decoder) == !memory.states.empty(), "transformer block ", self.name,
        ": a memory is needed where there is cross-attention, and nowhere else");
  if (!Tape::current()) return run(rows, layout, memory, random);
  // A stream of the block's own, so that it draws the same numbers when it is run again.
  std::optional<Random> stream;
  if (random) stream.emplace(random->bits64(), random->bits64());
  if (!options.recompute) return run(rows, layout, memory, stream ? &*stream : nullptr);
  std::vector<Tensor> inputs{rows, memory.states};
  for (const Tensor* parameter : parameters_) inputs.push_back(*parameter);
  return recomputed(
      [this, layout, memory, stream](std::span<const Tensor> at) {
        const Stead stead(parameters_, at.subspan(2));
        std::optional<Random> again = stream;
        return run(at[0], layout, {at[1], memory.lengths, memory.even}, again ? &*again : nullptr);
      },
      std::move(inputs));
}

void TransformerBlock::remember(const Memory& memory, Caches& caches) const {
  if (cross) cross->remember(memory.states, caches.cross);
}

Tensor TransformerBlock::step(const Tensor& rows, int64_t N, const Memory& memory,
                              Caches& caches) const {
  const int64_t m = rows.dim(0) / N, C = rows.dim(1), from = caches.self.length();
  const Pattern own = aligned(m > 1 ? causal_lower_right() : Pattern(), N, m, from, m);
  Tensor x = residual(rows, norm1, nullptr, [&](const Tensor& x) {
    return reshape(self.step({.x = reshape(x, {N, m, C}), .who = own}, caches.self).y, {N * m, C});
  });
  if (cross) {
    const int64_t B = memory.lengths.dim(0), T = N / B * m;
    const Pattern who = aligned(memory.keys(), B, T, from, m);
    x = residual(x, norm2, nullptr, [&](const Tensor& x) {
      return reshape(cross->read({.x = reshape(x, {B, T, C}), .who = who}, caches.cross).y,
                     {N * m, C});
    });
  }
  return feed(x, nullptr);
}

}  // namespace fovea
