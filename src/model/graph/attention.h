// Attention of nodes over their neighbours, in heads.
//   GAT:    e_ij = leaky_relu(a . [W h_i; W h_j])         Velickovic et al. 2018
//   GATv2:  e_ij = a . leaky_relu(W_q h_i + W h_j)        Brody, Alon, Yahav 2022
//   a_i = softmax(e_i) over the neighbours j of i and i itself,   h'_i = sum_j a_ij W h_j + b
// In GAT the order in which a node ranks its neighbours is the same for all nodes, as h_i adds the
// same number to all its scores; in GATv2 every node has its own.
#pragma once

#include <optional>

#include "fovea/attention/engine.h"
#include "fovea/model/graph/graph.h"

namespace fovea {

struct GraphAttentionOptions {
  int64_t heads = 8;             // each with an a and a part of W of its own
  int64_t width = 8;             // features of a head
  bool dynamic = false;          // GATv2
  bool mean = false;             // heads are averaged instead of put side by side
  double dropout = 0;            // of what comes in, and of the values W h_j
  double attention_dropout = 0;  // of the weights
};

// One layer with its weights.
struct GraphAttention {
  GraphAttention(Scope s, int64_t in, const GraphAttentionOptions& options);

  // Of the graph's own features, or of states [nodes, in]; gives [nodes, heads width], or with
  // `mean` [nodes, width].
  Tensor operator()(const NodeFeatures& x, const NodeGraph& graph) const;
  int64_t features() const { return options.width * (options.mean ? 1 : options.heads); }

  GraphAttentionOptions options;  // as it was made
  std::string name;               // its path: what a Recorder calls its map
  Linear value;                   // W, without a bias in GAT
  std::optional<Linear> query;    // W_q of GATv2
  Parameter a_query, a_key;       // [heads, width]: the halves of GAT's a
  Parameter a;                    // [heads, width] of GATv2
  Parameter bias;                 // [features]
};

}  // namespace fovea
