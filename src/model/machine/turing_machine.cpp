#include "fovea/model/machine/turing_machine.h"

#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/attention/score/dot.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

constexpr double first_memory = 1e-6, first_deviation = 0.3;

Tensor unit(const Tensor& x, int axis) {
  return x / sqrt(sum(square(x), axis, true) + naive::length_floor);
}

double softplus_inverse(double y) { return y + std::log(-std::expm1(-y)); }

// What tells the heads: as a linear layer has it, but for the strengths.
Linear head_layer(Scope s, const TuringOptions& o, const Slots& m) {
  const int64_t write = m.controls() + 2 * m.D;
  const int64_t out = o.write_heads * write + o.read_heads * m.controls();
  Linear layer;
  layer.weight = s.param("weight", {out, o.width}, init::xavier_uniform());
  layer.bias = s.param("bias", {out}, [&](const Shape& shape, Random) {
    Tensor bias = Tensor::zeros(shape, Dtype::f64);
    for (int64_t h = 0; h < o.write_heads + o.read_heads; ++h) {
      const int64_t at = h < o.write_heads
                             ? h * write
                             : o.write_heads * write + (h - o.write_heads) * m.controls();
      bias.write<double>()[at + m.D] = softplus_inverse(o.strength);
    }
    return bias;
  });
  return layer;
}

}  // namespace

const Fields<TuringOptions>& turing_fields() {
  using O = TuringOptions;
  static const Fields<O> fields(
      controller_fields(),
      {{"slots", &O::slots, "slots of the memory", whole_from(1, 1 << 20)},
       {"slot_width", &O::slot_width, "features of a slot", whole_from(1, 65536)},
       {"read_heads", &O::read_heads, "heads that read", whole_from(1, 64)},
       {"write_heads", &O::write_heads, "heads that write", whole_from(1, 64)},
       {"shift", &O::shift, "slots that a head may move in a step, either way",
        whole_from(0, Slots::furthest)},
       {"first_memory", &O::first_memory, "what slots hold at first",
        one_of({"constant", "learned"})},
       {"strength", &O::strength, "of finding a slot by content, at first", between(0.01, 1000)}});
  return fields;
}

TuringMachine::TuringMachine(Scope s, const ModelSizes& sizes, const TuringOptions& o,
                             const AttentionOptions& attention)
    : options_(o),
      slots_{o.slot_width, o.slots, o.shift},
      inputs_(sizes.inputs),
      controller_(s / "controller", sizes.inputs + o.read_heads * o.slot_width, o),
      first_(o.first_memory == "learned"
                 ? s.param("first_memory", {1, slots_.D, slots_.N}, init::normal(first_deviation))
                 : Parameter()),
      heads_(head_layer(s / "heads", o, slots_)),
      output_(s / "output", o.width + o.read_heads * o.slot_width, sizes.outputs),
      cosine_(attention.score == turing_score),
      fused_(cosine_ && attention.align == "softmax"),
      path_(s.path()) {
  check(2 * o.shift + 1 <= o.slots, "Turing machine: ", o.slots, " slots are too few to shift by ",
        o.shift);
  for (int64_t h = 0; !fused_ && h < o.read_heads + o.write_heads; ++h) {
    const Scope at = s / "addressing" / h;
    AttentionOptions named = attention;
    named.d_q = named.d_k = o.slot_width;
    scores_.push_back(cosine_ ? dot_score()
                              : score_factory(named)(at / "score", o.slot_width, o.slot_width));
    aligns_.push_back(
        unrewarded_alignment_factory("Turing machine", named)(at / "align", o.slot_width));
  }
}

TuringMachine::State TuringMachine::start(int64_t B, Dtype dtype) const {
  State state;
  const Shape shape{B, slots_.D, slots_.N};
  state.memory =
      first_.empty() ? Tensor::full(shape, first_memory, dtype) : broadcast_to(first_, shape);
  const int64_t heads = options_.read_heads + options_.write_heads;
  for (int64_t h = 0; h < heads; ++h) {
    Tensor w = Tensor::zeros({B, slots_.N}, dtype);
    with_real(dtype, [&]<class T>(T) {
      const int64_t at = (h < options_.write_heads ? h : h - options_.write_heads) % slots_.N;
      for (int64_t b = 0; b < B; ++b) w.write<T>()[b * slots_.N + at] = 1;
    });
    (h < options_.write_heads ? state.write : state.read).push_back(std::move(w));
  }
  state.reads = Tensor::zeros({B, options_.read_heads * slots_.D}, dtype);
  return state;
}

Tensor TuringMachine::address(const State& state, const Tensor& controls, int64_t at,
                              const Tensor& before, size_t head) const {
  if (fused_) return head_address(slots_, state.memory, controls, at, before);
  const int64_t B = before.dim(0), D = slots_.D, N = slots_.N;
  const auto part = [&](int64_t from, int64_t to) {
    return reshape(slice(controls, 1, at + from, at + to), {B, 1, to - from});
  };
  const Tensor strength = softplus(part(D, D + 1));
  const Tensor key = (cosine_ ? unit(part(0, D), -1) : part(0, D)) * strength;
  const Tensor memory = cosine_ ? unit(state.memory, 1) : state.memory;
  const Tensor content = content_address(memory, key, scores_[head], aligns_[head],
                                         say(path_.empty() ? "" : path_ + "/", "content"));
  const Tensor gated =
      gated_address(content, reshape(before, {B, 1, N}), sigmoid(part(D + 1, D + 2)));
  const int64_t S = slots_.shifts();
  const Tensor moved = shifted_address(gated, softmax(part(D + 2, D + 2 + S)));
  return reshape(sharpened_address(moved, softplus(part(D + 2 + S, D + 3 + S)) + 1), {B, N});
}

Tensor TuringMachine::step(const Tensor& x, State& state) const {
  const Tensor h = controller_.step(concat({x, state.reads}, 1), state.controller);
  const Tensor controls = heads_(h);
  int64_t at = 0;
  size_t head = 0;
  for (Tensor& w : state.write) {
    w = address(state, controls, at, w, head++);
    at += slots_.controls();
    state.memory = written(slots_, state.memory, w, controls, at);
    at += 2 * slots_.D;
  }
  std::vector<Tensor> features{h};
  for (Tensor& w : state.read) {
    w = address(state, controls, at, w, head++);
    at += slots_.controls();
    features.push_back(read_of(slots_, state.memory, w));
  }
  state.reads =
      features.size() == 2 ? features[1] : concat(std::span<const Tensor>(features).subspan(1), 1);
  show(state);
  return concat(features, 1);
}

// To a Recorder, where the heads are and how full each slot is, step by step.
void TuringMachine::show(const State& state) const {
  Recorder* recorder = Recorder::current();
  if (!recorder) return;
  const int64_t B = state.memory.dim(0), N = slots_.N;
  const auto keep = [&](const std::string& name, const std::vector<Tensor>& weights) {
    Weights w;
    w.rows = reshape(stack(weights, 1), {B, static_cast<int64_t>(weights.size()), 1, N});
    recorder->keep(path_.empty() ? name : path_ + "/" + name, std::move(w));
  };
  keep("write", state.write);
  keep("read", state.read);
  keep("contents", {reshape(sqrt(mean(square(state.memory), 1)), {B, N})});
}

Scorer::Output TuringMachine::operator()(const ModelInputs& in) const {
  check_steps("Turing machine", in, inputs_);
  return {output_(run_steps(*this, in.steps), in.rows)};
}

}  // namespace fovea
