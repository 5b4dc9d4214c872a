#include "fovea/model/graph/networks.h"

#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"

namespace fovea {
namespace {

// Of whole graphs, or of the nodes that were asked about.
Scorer::Output scores_of(const Tensor& nodes, const ModelInputs& in) {
  if (in.whole) return {mean_rows(nodes, in.graph.graphs())};
  return {in.rows.empty() ? nodes : embedding(nodes, in.rows)};
}

NodeFeatures states(Tensor x) {
  NodeFeatures features;
  features.dense = std::move(x);
  return features;
}

TransformerOptions block_options(const GraphOptions& o) {
  TransformerOptions block;
  block.layers = o.layers, block.width = o.width, block.heads = o.heads;
  block.dropout = o.dropout, block.attention_dropout = o.attention_dropout;
  block.position = "none";
  return block;
}

}  // namespace

const Fields<GraphOptions>& graph_fields() {
  using O = GraphOptions;
  static const Fields<O> fields{
      {"layers", &O::layers, "layers, the last of which may give the scores", whole_from(1, 1000)},
      {"width", &O::width, "features of a node, in gat of a head", whole_from(1, 65536)},
      {"dropout", &O::dropout, "dropout of what comes into a layer", part_of_one()},
  };
  return fields;
}

const Fields<GraphOptions>& graph_heads_fields() {
  using O = GraphOptions;
  static const Fields<O> fields{
      {"heads", &O::heads, "heads of a layer", whole_from(1, 1024)},
      {"attention_dropout", &O::attention_dropout, "dropout of the weights", part_of_one()},
  };
  return fields;
}

const Fields<GraphOptions>& graph_output_fields() {
  using O = GraphOptions;
  static const Fields<O> fields{
      {"out_heads", &O::out_heads, "heads of the layer that gives the scores", whole_from(1, 1024)},
      {"output", &O::output, "what gives the scores: the last attention, or a layer behind it",
       one_of({"attention", "linear"})},
  };
  return fields;
}

GraphOptions graph_options(const Settings& settings) {
  const GraphOptions heads = graph_heads_fields().read(settings);
  return graph_fields().read(settings, graph_output_fields().read(settings, heads));
}

GraphAttentionNetwork::GraphAttentionNetwork(Scope s, const ModelSizes& sizes,
                                             const GraphOptions& o, bool dynamic)
    : dropout_(o.dropout) {
  const bool linear = o.output == "linear";
  int64_t in = sizes.features;
  for (int64_t i = 0; i < o.layers; ++i) {
    const bool last = !linear && i + 1 == o.layers;
    layers_.emplace_back(s / "layer" / i, in,
                         GraphAttentionOptions{.heads = last ? o.out_heads : o.heads,
                                               .width = last ? sizes.labels : o.width,
                                               .dynamic = dynamic,
                                               .mean = last,
                                               .dropout = o.dropout,
                                               .attention_dropout = o.attention_dropout});
    in = layers_.back().features();
  }
  if (linear) output_.emplace(s / "output", in, sizes.labels);
}

Scorer::Output GraphAttentionNetwork::operator()(const ModelInputs& in) const {
  NodeFeatures x = in.graph.features();
  for (const GraphAttention& layer : layers_) {
    const Tensor y = layer(x, in.graph);
    x = states(layer.options.mean ? y : elu(y));
  }
  return scores_of(output_ ? (*output_)(dropout(x.dense, dropout_)) : x.dense, in);
}

GraphTransformer::GraphTransformer(Scope s, const ModelSizes& sizes, const GraphOptions& o)
    : input_(s / "input", sizes.features, o.width),
      norm_(s / "norm", o.width),
      output_(s / "output", o.width, sizes.labels),
      options_(o) {
  for (int64_t i = 0; i < o.layers; ++i) {
    blocks_.emplace_back(s / "layer" / i, block_options(o), TransformerBlock::Kind::encoder);
  }
}

Scorer::Output GraphTransformer::operator()(const ModelInputs& in) const {
  RowLayout layout{Packing(even_offsets(1, in.graph.nodes()))};
  layout.keys = in.graph.who(options_.heads);
  Tensor x = in.graph.features().through(input_, options_.dropout);
  for (const TransformerBlock& block : blocks_) x = block(x, layout, {});
  return scores_of(output_(dropout(norm_(x), options_.dropout)), in);
}

GraphConvolution::GraphConvolution(Scope s, const ModelSizes& sizes, const GraphOptions& o)
    : dropout_(o.dropout) {
  for (int64_t i = 0; i < o.layers; ++i) {
    layers_.emplace_back(s / "layer" / i, i == 0 ? sizes.features : o.width,
                         i + 1 == o.layers ? sizes.labels : o.width);
  }
}

Scorer::Output GraphConvolution::operator()(const ModelInputs& in) const {
  NodeFeatures x = in.graph.features();
  for (const Linear& layer : layers_) {
    const Tensor y = in.graph.smoothing()(x.through(layer, dropout_));
    x = states(&layer == &layers_.back() ? y : relu(y));
  }
  return scores_of(x.dense, in);
}

}  // namespace fovea
