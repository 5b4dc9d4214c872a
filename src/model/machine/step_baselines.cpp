#include "fovea/model/machine/step_baselines.h"

#include "fovea/op/index.h"

namespace fovea {

const Fields<StepRecurrentOptions>& step_recurrent_fields() {
  using O = StepRecurrentOptions;
  static const Fields<O> fields(layer_fields<O>(), {{"cell", &O::cell, "kind of recurrent unit",
                                                     one_of({"rnn", "gru", "lstm"})}});
  return fields;
}

StepRecurrent::StepRecurrent(Scope s, const ModelSizes& sizes, const StepRecurrentOptions& o)
    : inputs_(sizes.inputs),
      layers_(
          s / "layers", sizes.inputs, o.width,
          {.cell = cell_named(o.cell), .layers = static_cast<int>(o.layers), .dropout = o.dropout}),
      output_(s / "output", o.width, sizes.outputs) {}

Scorer::Output StepRecurrent::operator()(const ModelInputs& in) const {
  check_steps("recurrent layers", in, inputs_);
  const int64_t T = in.steps.dim(0), B = in.steps.dim(1);
  const Tensor y = layers_({.x = permute(in.steps, {1, 0, 2})}).y;  // [B, T, width]
  const Tensor rows = reshape(permute(y, {1, 0, 2}), {T * B, y.dim(2)});
  return {output_({&rows, 1}, in.rows)};
}

// Its tokens are all one: what tells steps apart is what is added to their embedding.
StepTransformer::StepTransformer(Scope s, const ModelSizes& sizes, const TransformerOptions& o)
    : inputs_(sizes.inputs),
      in_(s / "input", sizes.inputs, o.width),
      stack_(s / "decoder", 1, o, TransformerBlock::Kind::decoder),
      output_(s / "output", o.width, sizes.outputs) {}

Scorer::Output StepTransformer::operator()(const ModelInputs& in) const {
  check_steps("Transformer", in, inputs_);
  const int64_t T = in.steps.dim(0), B = in.steps.dim(1);
  const Tensor x = reshape(permute(in.steps, {1, 0, 2}), {B * T, inputs_});
  const Sequences all(Tensor::zeros({B * T}, Dtype::i32), Packing(even_offsets(B, T)));
  const Tensor states = stack_(all, in_(x));  // row b T + t
  if (in.rows.empty())
    return {output_(reshape(permute(reshape(states, {B, T, states.dim(1)}), {1, 0, 2}),
                            {T * B, states.dim(1)}))};
  Tensor rows = in.rows;
  for (int32_t& row : rows.write<int32_t>()) row = static_cast<int32_t>(row % B * T + row / B);
  return {output_(embedding(states, rows))};
}

}  // namespace fovea
