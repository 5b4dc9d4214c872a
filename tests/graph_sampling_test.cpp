// Parts of large graphs, edges to predict, and how a node's neighbourhood is drawn.
#include "fovea/task/graph_sampling.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/model/graph/links.h"
#include "fovea/model/table.h"
#include "fovea/report/heat_map.h"
#include "support/layer.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

// One sentence that has these words, and that exit code.
void expect_refused_with(const std::string& words, int exit, const std::string& part) {
  const Ended loud = run(program + " " + words, true);
  EXPECT_EQ(loud.exit, exit) << words;
  EXPECT_NE(loud.out.find(part), std::string::npos) << loud.out;
  EXPECT_EQ(std::ranges::count(loud.out, '\n'), 1) << loud.out;
}

FeatureForm form_of(const GraphRecord& graph) { return feature_form(std::vector{&graph}, "it"); }

TEST(NeighbourSampler, DrawsSoManyOfThemAndNoOthers) {
  const GraphRecord graph = generate_communities(300, Random(1));
  std::map<int32_t, std::set<int32_t>> near;
  for (const auto& [u, v] : graph.edges) near[u].insert(v), near[v].insert(u);
  const NeighbourSampler sampler(graph, graph.edges, {.form = form_of(graph)});
  const std::vector<int32_t> asked{7, 3, 250};
  const std::vector<int64_t> counts{3, 2};
  const auto part = sampler.around(asked, counts, Random(5));
  EXPECT_TRUE(std::equal(asked.begin(), asked.end(), part.nodes.begin()));
  EXPECT_EQ(std::set(part.nodes.begin(), part.nodes.end()).size(), part.nodes.size());
  EXPECT_LE(part.nodes.size(), 3u + 9u + 18u);
  EXPECT_EQ(part.graph.nodes(), static_cast<int64_t>(part.nodes.size()));
  const auto n = part.graph.nodes();
  const auto who = part.graph.who(1).resolve({1, 1, n, n});
  for (int64_t i = 0; i < n; ++i) {
    int64_t seen = 0;
    for (int64_t j = 0; j < n; ++j) {
      if (i == j || !who->allows({1, 1, n, n}, 0, 0, i, j)) continue;
      ++seen;
      EXPECT_TRUE(
          near[part.nodes[static_cast<size_t>(i)]].contains(part.nodes[static_cast<size_t>(j)]));
    }
    const auto all = static_cast<int64_t>(near[part.nodes[static_cast<size_t>(i)]].size());
    if (i < 3) {
      EXPECT_EQ(seen, std::min<int64_t>(3, all));
    }
    EXPECT_LE(seen, 3);
  }
  const auto again = sampler.around(asked, counts, Random(5)),
             other = sampler.around(asked, counts, Random(6));
  EXPECT_EQ(again.nodes, part.nodes);
  EXPECT_NE(other.nodes, part.nodes);
}

// Where all neighbours are drawn, a node's scores are those of the whole graph.
TEST(NeighbourSampler, OfAllNeighboursGivesWhatTheWholeGraphGives) {
  const GraphRecord graph = generate_communities(120, Random(1));
  const NeighbourSampler sampler(graph, graph.edges, {.form = form_of(graph)});
  const GraphExample whole{&graph, {}, {}};
  Parameters table(3);
  const auto model = make_model<Scorer>(find_model("gat", Takes::graph, Gives::label), table,
                                        {.labels = 4, .features = 80}, {});
  const std::vector<int32_t> asked{5, 77};
  const std::vector<int64_t> counts{1000, 1000};
  ModelInputs in, part;
  in.graph = node_graph(std::span(&whole, 1), {.form = form_of(graph)});
  in.rows = Tensor::ids({2}, {5, 77});
  part.graph = sampler.around(asked, counts, Random(1)).graph;
  part.rows = Tensor::ids({2}, {0, 1});
  expect_close((*model)(part).scores, (*model)(in).scores, 1e-5);
}

TEST(NeighbourSampler, SaysWhatItNeeds) {
  EXPECT_EQ(neighbour_counts("10,5", 2), (std::vector<int64_t>{10, 5}));
  EXPECT_TRUE(neighbour_counts("", 2).empty());
  for (const char* bad : {"10", "0,3", "3,,3", "a,b", "3;3"}) {
    EXPECT_THROW(neighbour_counts(bad, 2), Error) << bad;
  }
}

TEST(LinkScorer, GradientsAreThoseOfDifferences) {
  const GraphRecord graph = generate_communities(20, Random(1));
  const GraphExample whole{&graph, {}, {}};
  Parameters table(3, Dtype::f64);
  const auto model =
      make_model<Scorer>(find_model("gcn", Takes::graph, Gives::links), table,
                         {.labels = 2, .features = 3}, {{"width", "4"}, {"dropout", "0"}});
  ModelInputs in;
  NodeFeatures features;
  features.dense = random_tensor({20, 3}, 4);
  std::vector<int32_t> edges;
  for (const auto& [u, v] : graph.edges) edges.insert(edges.end(), {u, v, v, u});
  const auto count = static_cast<int64_t>(edges.size()) / 2;
  in.graph = NodeGraph(features, Tensor::adopt({count, 2}, std::move(edges)),
                       Packing(Tensor::ids({2}, {0, 20})));
  in.rows = Tensor::ids({6}, {0, 1, 5, 9, 19, 3});
  const Tensor wanted = Tensor::ids({3}, {1, 0, 1});
  const Function f = [&](const std::vector<Tensor>&) { return model->loss(in, wanted, 0); };
  EXPECT_LT(gradient_error(f, {}, table), 1e-5);
}

TEST(GraphTask, LearnsByDrawnNeighbours) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/m";
  const Ended trained =
      run(program + " train graph --json --data builtin:communities --neighbours 10,5 --batch 64" +
          " --epochs 20 --dropout 0.3 --attention-dropout 0 --out " + folder);
  ASSERT_EQ(trained.exit, 0);
  EXPECT_GE(nlohmann::json::parse(trained.out)["test"]["accuracy"], 0.7);
  const Ended shown = run(program + " attend " + folder + " n7 --json");
  ASSERT_EQ(shown.exit, 0);
  const auto map = nlohmann::json::parse(shown.out)["maps"][0];
  EXPECT_EQ(map["star"], true);
  EXPECT_LE(map["keys"].size(), 11u) << "itself and ten neighbours at most";
  expect_refused_with("train graph --data builtin:communities --neighbours 10 --epochs 1", 1,
                      "but the model has 2 layers");
  expect_refused_with("train graph --data builtin:lookup --model gatv2 --neighbours 10 --epochs 1",
                      1, "neighbours are drawn from one graph");
}

TEST(LinksTask, TellsEdgesFromOtherPairs) {
  const ScratchFolder scratch;
  for (const std::string more :
       {"--model gcn", "--model gat --neighbours 8,8 --batch 256 --epochs 8"}) {
    const std::string folder = scratch.path() + "/" + std::to_string(more.size());
    const Ended trained = run(program + " train links --json --data builtin:communities " + more +
                              " --out " + folder);
    ASSERT_EQ(trained.exit, 0) << more;
    const auto result = nlohmann::json::parse(trained.out)["test"];
    EXPECT_GE(result["auc"], 0.65) << more;
    const Ended said = run("printf 'n4\\tn8\\nn5 n6\\n' | " + program + " predict " + folder);
    EXPECT_EQ(said.exit, 0);
    EXPECT_EQ(std::ranges::count(said.out, '\n'), 2) << said.out;
    EXPECT_NE(said.out.find_first_not_of("yesno\n"), 0u);
  }
  expect_refused_with("train links --data builtin:lookup", 2, "unknown built-in data");
  const std::string few =
      scratch.write("few.jsonl", R"({"nodes": [{"id": 1}, {"id": 2}], "edges": [[1, 2]]})"
                                 "\n");
  expect_refused_with("train links --data " + few, 1, "links needs at least 10");
}

// Random pairs, each written both ways: there is nothing to learn, and one way must not tell the
// other.
TEST(LinksTask, BothWaysOfAPairAreHeldOutTogether) {
  const ScratchFolder scratch;
  Random random(3);
  std::string nodes = "id\n", edges;
  for (int i = 0; i < 120; ++i) nodes += say("p", i, "\n");
  for (int i = 0; i < 300; ++i) {
    const auto u = random.below(120), v = random.below(120);
    edges += say("p", u, ",p", v, "\np", v, ",p", u, "\n");
  }
  const Ended trained =
      run(program + " train links --json --directed --epochs 100 --model gcn --data " +
          scratch.write("n.csv", nodes) + "," + scratch.write("e.csv", edges));
  ASSERT_EQ(trained.exit, 0);
  EXPECT_LT(nlohmann::json::parse(trained.out)["test"]["auc"], 0.7);
}

TEST(StarDrawing, EdgesAreAsThickAsTheirWeight) {
  AttentionMap map;
  map.name = "layer/1 head 1", map.queries = {"a"}, map.keys = {"b", "c", "a"};
  map.weights = {0.6f, 0.3f, 0.1f}, map.star = true;
  const std::string svg = draw_svg({"red", {map}});
  std::vector<double> widths;
  for (size_t at = 0; (at = svg.find("stroke-width=\"", at)) != svg.npos; ++at) {
    widths.push_back(std::stod(svg.substr(at + 14)));
  }
  ASSERT_EQ(widths.size(), 3u);  // the lightest is drawn first
  EXPECT_NEAR(widths[1] / widths[2], 0.5, 0.01);
  EXPECT_NEAR(widths[0] / widths[2], 1.0 / 6, 0.01);
  EXPECT_NE(svg.find(">b 0.60<"), svg.npos) << "each edge has its weight";
  EXPECT_GT(draw_png({"red", {map}}).size(), 1000u);
  EXPECT_NE(draw_html({"red", {map}}).find("\"star\":true"), std::string::npos);
  map.star = false;
  EXPECT_EQ(draw_svg({"red", {map}}).find("<line"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
