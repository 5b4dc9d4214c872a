#include "fovea/attention/multihead.h"

#include <algorithm>
#include <iterator>

#include "fovea/attention/engine.h"
#include "fovea/attention/recorder.h"
#include "fovea/attention/ring.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

MultiHeadOptions filled_in(MultiHeadOptions o, int64_t d_model) {
  check(o.heads >= 1, "multi-head: needs at least one head, got ", o.heads);
  if (o.d_head == 0) {
    check(d_model % o.heads == 0, "multi-head: a width of ", d_model, " cannot be split over ",
          o.heads, " heads; give d_head");
    o.d_head = d_model / o.heads;
  }
  if (o.key_heads == 0) o.key_heads = o.heads;
  check(o.key_heads >= 1 && o.heads % o.key_heads == 0, "multi-head: ", o.heads,
        " heads cannot share ", o.key_heads, " key heads in equal groups");
  if (o.d_memory == 0) o.d_memory = d_model;
  return o;
}

Linear projection(Scope s, int64_t in, int64_t out, bool bias) {
  return {s, in, out, {.bias = bias}};
}

void check_width(const char* what, const Tensor& x, int64_t width) {
  check(x.rank() == 3 && x.dim(2) == width, "multi-head: ", what, " must be [B, T, ", width,
        "], got ", x.shape());
}

}  // namespace

MultiHead::MultiHead(Scope s, int64_t d_model, const MultiHeadOptions& given)
    : options(filled_in(given, d_model)),
      name(s.path()),
      query(projection(s / "query", d_model, options.heads * options.d_head, options.bias)),
      key(options.self && !options.self.reads_keys
              ? Linear()
              : projection(s / "key", options.d_memory, options.key_heads * options.d_head,
                           options.bias)),
      value(projection(s / "value", options.d_memory, options.key_heads * options.d_head,
                       options.bias)),
      out(projection(s / "out", options.heads * options.d_head, d_model, options.bias)) {
  const int64_t d = options.d_head;
  if (options.self) {
    check(!options.score && !options.align && options.key_heads == options.heads &&
              options.d_memory == d_model,
          "multi-head: another way than all pairs has no score, alignment, shared key heads or "
          "memory of its own");
    self_ = options.self.make(s / "attention", d_model, options.heads, d);
  }
  score_ = options.score ? options.score(s / "score", d, d) : scaled_score();
  if (options.align) align_ = options.align(s / "align", d);
  if (options.positions) positions_ = options.positions(s / "positions", options.heads, d);
  check(!options.self || !positions_.distances,
        "multi-head: positions that go by distances are added to the scores of all pairs, which "
        "this attention does not have; rotary, sinusoidal and learned ones are not");
}

std::vector<Tensor> MultiHead::all_three(const Tensor& x) const {
  if (!key.weight.empty()) return split(x, {&query, &key, &value});
  std::vector<Tensor> made = split(x, {&query, &value});
  return {made[0], made[0], made[1]};
}

std::vector<Tensor> MultiHead::split(const Tensor& x,
                                     std::initializer_list<const Linear*> parts) const {
  std::vector<LinearWeights> weights;
  for (const Linear* part : parts) {
    const char* what = part == &query ? "x" : part == &key ? "the memory" : "the values";
    check_width(what, x, part->weight.dim(1));
    weights.push_back({part->weight, part->bias});
  }
  std::vector<Tensor> made = linears(x, std::move(weights));
  for (Tensor& y : made) {
    y = reshape(y, {x.dim(0), x.dim(1), y.dim(2) / options.d_head, options.d_head});
  }
  return made;
}

Tensor MultiHead::turned(const Tensor& x, int64_t offset) const {
  if (!positions_.turn) return x;
  const SequenceRing* ring = SequenceRing::current();
  if (!ring) return positions_.turn(x, offset);
  const int64_t c = ring->chunk();
  const int rank = ring->ranks().rank();
  return concat({positions_.turn(slice(x, 1, 0, c), ring->first(rank)),
                 positions_.turn(slice(x, 1, c, 2 * c), ring->second(rank))},
                1);
}

Tensor MultiHead::distances(const Tensor& q, int64_t n, int64_t offset) const {
  if (!positions_.distances) return {};
  // On a ring queries and keys stand anywhere in the whole: the last may look at the first.
  const SequenceRing* ring = SequenceRing::current();
  if (ring) return positions_.distances(q, ring->whole(), ring->whole() - q.dim(1));
  return positions_.distances(q, n, offset);
}

MultiHead::Output MultiHead::operator()(const Inputs& in) const {
  std::vector<Tensor> made;
  if (in.memory.empty() && in.values.empty()) {
    made = all_three(in.x);
  } else {
    check(!options.self, "multi-head: another way than all pairs is for self-attention");
    const Tensor& memory = in.memory.empty() ? in.x : in.memory;
    made = split(in.x, {&query});
    auto more = in.values.empty() ? split(memory, {&key, &value}) : split(memory, {&key});
    std::ranges::move(more, std::back_inserter(made));
    if (!in.values.empty()) made.push_back(split(in.values, {&value})[0]);
  }
  const Tensor q = turned(made[0], in.offset), k = turned(made[1], 0);
  return finish({.q = q,
                 .k = k,
                 .v = made[2],
                 .who = in.who,
                 .bias = in.bias,
                 .distances = distances(q, k.dim(1), in.offset),
                 .offset = in.offset,
                 .lengths = in.lengths,
                 .places = in.places,
                 .x = in.x,
                 .dropout = options.dropout,
                 .capture = in.capture});
}

MultiHead::Output MultiHead::step(const Inputs& in, KeyValueCache& cache) const {
  check(in.memory.empty() && in.values.empty(),
        "multi-head: a step is self-attention; to look at a memory use remember() and read()");
  const int64_t offset = cache.length();
  const auto made = all_three(in.x);
  const Tensor q = turned(made[0], offset), k = turned(made[1], offset);
  if (self_.step) return projected(self_.step({.q = q, .k = k, .v = made[2]}, cache));
  cache.append(k, made[2]);
  return look(in, q, offset, cache);
}

void MultiHead::remember(const Tensor& memory, KeyValueCache& cache) const {
  const auto made = split(memory, {&key, &value});
  cache.append(turned(made[0], cache.length()), made[1]);
}

MultiHead::Output MultiHead::read(const Inputs& in, const KeyValueCache& cache) const {
  check(in.memory.empty() && in.values.empty() && cache.length() > 0,
        "multi-head: read() looks at what remember() put into the cache, and at nothing else");
  return look(in, turned(split(in.x, {&query})[0], in.offset), in.offset, cache);
}

MultiHead::Output MultiHead::look(const Inputs& in, const Tensor& q, int64_t offset,
                                  const KeyValueCache& cache) const {
  const int64_t n = cache.length();
  AttentionInputs a{.q = q,
                    .k = cache.stored_keys(),
                    .v = cache.stored_values(),
                    .who = in.who,
                    .bias = in.bias,
                    .distances = distances(q, n, offset),
                    .offset = offset,
                    .lengths = in.lengths,
                    .places = in.places,
                    .dropout = options.dropout,
                    .capture = in.capture};
  if (cache.room() == n) return finish(a);
  if (options.self) {  // the keys there are, where they lie
    const auto there = [n](const Tensor& x) {
      const int64_t row = x.dim(2) * x.dim(3);
      return Heads::strided(x, {x.dim(0), n, x.dim(2), x.dim(3)},
                            {.batch = x.dim(1) * row, .row = row, .head = x.dim(3)});
    };
    a.k = there(cache.stored_keys());
    a.v = there(cache.stored_values());
    return finish(a);
  }
  // The plain product can leave out the room behind the keys; scores and alignments that look at
  // the number of keys, and whoever looks at the weights, get exactly the keys there are.
  const bool may_leave_out = !options.score && !options.align && !Recorder::current() &&
                             in.capture.what == Capture::What::nothing;
  if (may_leave_out) {
    a.who = first_keys(in.who, n);
    if (!a.bias.empty() && a.bias.dim(-1) != 1) {
      check(a.bias.dim(-1) == n, "multi-head: a bias ", a.bias.shape(), " for ", n, " keys");
      a.bias = pad(a.bias, -1, 0, cache.room() - n);
    }
  } else {
    a.k = cache.keys();
    a.v = cache.values();
  }
  return finish(a);
}

MultiHead::Output MultiHead::finish(AttentionInputs in) const {
  in.name = name;
  return projected(self_.attend ? self_.attend(in) : attend(in, score_, align_));
}

MultiHead::Output MultiHead::projected(const AttentionOutput& o) const {
  const Tensor& c = o.context;
  return {out(reshape(c, {c.dim(0), c.dim(1), c.dim(2) * c.dim(3)})), o.weights, o.log_probability};
}

}  // namespace fovea
