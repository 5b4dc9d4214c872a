#include "fovea/nn/recurrent.h"

#include <algorithm>
#include <cmath>

#include "fovea/op/dropout.h"
#include "fovea/op/pack.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

// Xavier for each gate by itself: the gates only share an array.
Init input_weight(int64_t in, int64_t hidden) {
  return init::uniform(std::sqrt(6.0 / static_cast<double>(in + hidden)));
}

Init input_bias(Cell cell, double forget_bias) {
  if (cell != Cell::lstm) return init::zeros();
  return [forget_bias](const Shape& shape, Random) {
    Tensor bias = Tensor::zeros(shape, Dtype::f64);
    const int64_t H = shape[0] / gates_of(Cell::lstm);
    std::ranges::fill(bias.write<double>().subspan(H, H), forget_bias);  // i, f, g, o
    return bias;
  };
}

Recurrent::Direction make_direction(Scope s, int64_t in, int64_t H, const RecurrentOptions& o) {
  const int64_t gates = gates_of(o.cell);
  return {s.param("input/weight", {gates * H, in}, input_weight(in, H)),
          s.param("input/bias", {gates * H}, input_bias(o.cell, o.forget_bias)),
          s.param("hidden/weight", {gates * H, H}, init::orthogonal(1, gates)),
          s.param("hidden/bias", {gates * H}, init::zeros())};
}

}  // namespace

Recurrent::Recurrent(Scope s, int64_t in, int64_t hidden, const RecurrentOptions& options)
    : options(options) {
  check(in > 0 && hidden > 0 && options.layers > 0,
        "Recurrent: needs at least one input, unit and layer, got ", in, ", ", hidden, " and ",
        options.layers);
  for (int layer = 0; layer < options.layers; ++layer) {
    const int64_t width = layer == 0 ? in : hidden * directions();
    parts.push_back(make_direction(s / layer / "forward", width, hidden, options));
    if (!options.bidirectional) continue;
    parts.push_back(make_direction(s / layer / "backward", width, hidden, options));
  }
}

Recurrent::Output Recurrent::operator()(const Inputs& in) const {
  check(in.start.empty() || in.start.size() == parts.size(), "Recurrent: needs ", parts.size(),
        " states to start with, got ", in.start.size());
  // Packed once for all layers.
  const bool padded = !in.lengths.empty();
  check(!padded || in.x.rank() == 3, "Recurrent: padded x needs shape [B, T, C], got ",
        in.x.shape());
  const Tensor offsets = padded ? offsets_of(in.lengths) : in.offsets;
  Output out{padded ? pack(in.x, offsets) : in.x, {}};
  for (int layer = 0; layer < options.layers; ++layer) {
    const Tensor x = layer == 0 ? out.y : dropout(out.y, options.dropout);
    std::vector<Tensor> sides;
    for (int64_t side = 0; side < directions(); ++side) {
      const size_t at = out.last.size();
      RecurrentOutput one = recurrent({.cell = options.cell,
                                       .x = x,
                                       .w = parts[at].weights(),
                                       .start = in.start.empty() ? RecurrentState() : in.start[at],
                                       .offsets = offsets,
                                       .reverse = side == 1});
      sides.push_back(std::move(one.y));
      out.last.push_back(std::move(one.last));
    }
    out.y = sides.size() == 1 ? sides[0] : concat(sides, -1);
  }
  if (padded) out.y = unpack(out.y, offsets, in.x.dim(1));
  return out;
}

Tensor Recurrent::step(const Tensor& x, RecurrentStates& state) const {
  check(!options.bidirectional, "Recurrent: one step at a time goes forwards only");
  if (state.empty()) state.resize(parts.size());
  check(state.size() == parts.size(), "Recurrent: needs ", parts.size(), " states, got ",
        state.size());
  Tensor y = x;
  for (size_t layer = 0; layer < parts.size(); ++layer) {
    if (layer > 0) y = dropout(y, options.dropout);
    state[layer] = recurrent_step(options.cell, y, parts[layer].weights(), state[layer]);
    y = state[layer].h;
  }
  return y;
}

}  // namespace fovea
