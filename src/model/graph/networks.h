// Labels for nodes, or for whole graphs: layers in which every node looks at its neighbours, and
// scores of what comes out. A whole graph's scores are the mean of its nodes'.
//   gat, gatv2:   h = elu(attention(h)) ..., heads side by side; the last layer averages its heads
//   transformer:  blocks of the Transformer, attention along the edges alone
//   gcn:          h = relu(D^-1/2 A D^-1/2 h W) ..., without attention (Kipf, Welling 2017): what
//                 the others must beat
#pragma once

#include <vector>

#include "fovea/model/graph/attention.h"
#include "fovea/model/model.h"
#include "fovea/model/transformer/block.h"

namespace fovea {

struct GraphOptions {
  int64_t layers = 2;                // one above the other
  int64_t width = 8;                 // gat: of a head; others: of a node's state
  int64_t heads = 8;                 // gat, transformer: of a layer
  int64_t out_heads = 1;             // gat: of the last layer, averaged
  std::string output = "attention";  // gat: what gives the scores
  double dropout = 0.6;              // of what comes into a layer
  double attention_dropout = 0.6;    // of the weights
};
// layers, width and dropout, which all of them read.
const Fields<GraphOptions>& graph_fields();
const Fields<GraphOptions>& graph_heads_fields();   // heads and attention_dropout
const Fields<GraphOptions>& graph_output_fields();  // out_heads and output
// All of them, from the settings of a run.
GraphOptions graph_options(const Settings& settings);

// gat, or gatv2 where `dynamic`.
class GraphAttentionNetwork : public Scorer {
 public:
  GraphAttentionNetwork(Scope s, const ModelSizes& sizes, const GraphOptions& options,
                        bool dynamic);
  Output operator()(const ModelInputs& in) const override;

 private:
  std::vector<GraphAttention> layers_;
  std::optional<Linear> output_;
  double dropout_;
};

// transformer; without positions, as nodes have no order.
class GraphTransformer : public Scorer {
 public:
  GraphTransformer(Scope s, const ModelSizes& sizes, const GraphOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  Linear input_;
  std::vector<TransformerBlock> blocks_;
  LayerNorm norm_;
  Linear output_;
  GraphOptions options_;
};

// gcn: each node takes the weighted sum of its neighbours, whatever they are.
class GraphConvolution : public Scorer {
 public:
  GraphConvolution(Scope s, const ModelSizes& sizes, const GraphOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  std::vector<Linear> layers_;
  double dropout_;
};

}  // namespace fovea
