#include "fovea/model/graph/rows.h"

#include <memory>

#include "fovea/model/graph/links.h"
#include "fovea/model/graph/networks.h"
#include "fovea/model/option_lists.h"

namespace fovea {
namespace {

template <bool dynamic>
std::unique_ptr<const Network> make_graph_attention(Scope s, const ModelSizes& sizes,
                                                    const Settings& settings) {
  return std::make_unique<const GraphAttentionNetwork>(s, sizes, graph_options(settings), dynamic);
}

}  // namespace

std::vector<ModelEntry> graph_rows() {
  const auto all = [](const Settings&) {
    return joined(graph_fields().infos(), graph_heads_fields().infos(),
                  graph_output_fields().infos());
  };
  return {
      {.name = "gat",
       .takes = Takes::graph,
       .gives = Gives::label,
       .title = "Graph attention",
       .paper = "Velickovic et al. 2018",
       .equation = "h'_i = elu(sum_j a_ij W h_j),  a_i = softmax_j(leaky_relu(a . [W h_i; W h_j]))",
       .options = all,
       .make = make_graph_attention<false>},
      {.name = "gatv2",
       .takes = Takes::graph,
       .gives = Gives::label,
       .title = "Graph attention in which every node ranks its neighbours itself",
       .paper = "Brody, Alon, Yahav 2022",
       .equation =
           "h'_i = elu(sum_j a_ij W h_j),  a_i = softmax_j(a . leaky_relu(W_q h_i + W h_j))",
       .options = all,
       .make = make_graph_attention<true>},
      {.name = "transformer",
       .takes = Takes::graph,
       .gives = Gives::label,
       .title = "Transformer whose attention goes along the edges",
       .paper = "Vaswani et al. 2017; Dwivedi, Bresson 2020",
       .equation = "h = block(h, who = edges)",
       .defaults = {{"width", "64"}, {"dropout", "0.2"}, {"attention_dropout", "0.2"}},
       .options =
           [](const Settings&) {
             return joined(graph_fields().infos(), graph_heads_fields().infos());
           },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const GraphTransformer>(s, sizes, graph_options(settings));
           }},
      {.name = "gcn",
       .takes = Takes::graph,
       .gives = Gives::label,
       .title = "Graph convolution, without attention",
       .paper = "Kipf, Welling 2017",
       .equation = "h' = relu(D^-1/2 A D^-1/2 h W)",
       .defaults = {{"width", "16"}, {"dropout", "0.5"}, {"rate", "0.01"}},
       .options = [](const Settings&) { return graph_fields().infos(); },
       .make =
           [](Scope s, const ModelSizes& sizes, const Settings& settings) {
             return std::make_unique<const GraphConvolution>(s, sizes, graph_options(settings));
           }},
  };
}

// The same networks, whose states of two nodes say whether there is an edge between them.
std::vector<ModelEntry> link_rows() {
  std::vector<ModelEntry> rows = graph_rows();
  for (ModelEntry& entry : rows) {
    entry.gives = Gives::links;
    entry.paper += "; Kipf, Welling 2016";
    entry.equation += ",  p(u - v) = sigmoid(s h_u . h_v / sqrt(d) + b)";
    // Softmax over few neighbours and dropout of most features were chosen for labels.
    entry.defaults.set("dropout", "0.1");
    if (entry.name.starts_with("gat")) {
      entry.defaults.set("attention_dropout", "0"), entry.defaults.set("output", "linear");
    }
    if (entry.name == "gcn") entry.defaults.set("width", "64");
    entry.make = [make = entry.make](Scope s, ModelSizes sizes, const Settings& settings) {
      const GraphOptions o = graph_options(settings);
      sizes.labels = std::max<int64_t>(16, o.width);  // features of a node's state
      auto nodes = make(s, sizes, settings);
      return std::make_unique<const LinkScorer>(
          s, std::unique_ptr<const Scorer>(dynamic_cast<const Scorer*>(nodes.release())));
    };
  }
  return rows;
}

}  // namespace fovea
