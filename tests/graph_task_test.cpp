// The task `graph`, by the program alone.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/data/graph_file.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

double accuracy_of(const std::string& words) {
  const Ended trained = run(program + " train graph --json " + words);
  EXPECT_EQ(trained.exit, 0) << words;
  return nlohmann::json::parse(trained.out)["test"]["accuracy"];
}

TEST(GraphTask, EveryModelLearnsCommunities) {
  const ScratchFolder scratch;
  for (const std::string model : {"gat", "gatv2", "transformer", "gcn"}) {
    SCOPED_TRACE(model);
    const std::string folder = scratch.path() + "/" + model;
    EXPECT_GE(
        accuracy_of("--data builtin:communities --epochs 60 --model " + model + " --out " + folder),
        0.8);
    const Ended answers = run("printf 'n5\\nn6\\n' | " + program + " predict " + folder);
    EXPECT_EQ(answers.exit, 0);
    EXPECT_EQ(answers.out.size(), 4u) << "a label a line: " << answers.out;
    const Ended shown = run(program + " attend " + folder + " n5 --json");
    EXPECT_EQ(shown.exit == 0, model != "gcn");
    if (shown.exit != 0) continue;
    const auto map = nlohmann::json::parse(shown.out)["maps"][0];
    EXPECT_EQ(map["queries"], nlohmann::json::array({"n5"}));
    EXPECT_LT(map["keys"].size(), 40u) << "itself and its neighbours, no others";
    double sum = 0;
    for (double weight : map["weights"][0]) sum += weight;
    EXPECT_NEAR(sum, 1, 1e-4);
  }
  expect_refused("attend " + scratch.path() + "/gat nobody", 1,
                 "graph: there is no node 'nobody' in builtin:communities");
}

TEST(GraphTask, OnlyTheSecondFormLooksUp) {
  const std::string words = "--data builtin:lookup --examples 500 --width 64 --epochs 30 ";
  EXPECT_GE(accuracy_of(words + "--model gatv2"), 0.99);
  EXPECT_LE(accuracy_of(words + "--model gat"), 0.6);
}

// Rings are told from stars, which no node's own features tell.
std::string rings_and_stars(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    const int n = 5 + i % 6;
    nlohmann::json nodes = nlohmann::json::array(), edges = nlohmann::json::array();
    for (int j = 0; j < n; ++j) nodes.push_back({{"id", j}});
    for (int j = 1; j < n; ++j) edges.push_back({i % 2 ? j - 1 : 0, j});
    if (i % 2) edges.push_back({n - 1, 0});
    text += nlohmann::json{{"nodes", nodes}, {"edges", edges}, {"label", i % 2 ? "ring" : "star"}}
                .dump() +
            "\n";
  }
  return text;
}

TEST(GraphTask, WholeGraphs) {
  const ScratchFolder scratch;
  const std::string data = scratch.write("shapes.jsonl", rings_and_stars(120));
  const std::string folder = scratch.path() + "/shapes";
  EXPECT_GE(
      accuracy_of(
          "--data " + data +
          " --model gcn --width 32 --dropout 0 --rate 0.03 --weight-decay 0 --epochs 100 --out " +
          folder),
      0.9);
  const Ended answers = run("head -n 2 " + data + " | " + program + " predict " + folder);
  EXPECT_EQ(answers.out, "star\nring\n");
}

TEST(GraphTask, TwoFilesAndBadOnes) {
  const ScratchFolder scratch;
  std::string nodes = "id,size,label\n", edges = "source,target\n";
  for (int i = 0; i < 40; ++i) {
    nodes += say("p", i, ",", i % 2 ? 1 : -1, ",", i % 2 ? "odd" : "even", "\n");
    edges += say("p", i, ",p", (i + 2) % 40, "\n");
  }
  const std::string n = scratch.write("n.csv", nodes), e = scratch.write("e.csv", edges);
  EXPECT_EQ(accuracy_of("--data " + n + "," + e + " --epochs 60 --dropout 0"), 1);
  const std::string bad = scratch.write("bad.csv", "p0,p40\n");
  expect_refused("train graph --data " + n + "," + bad + " --epochs 1", 1,
                 bad + ":1: an edge leads to the node 'p40', which is not there");
}

TEST(GraphTask, CoraIsLearned) {
  const std::string cora = shared_data("planetoid/cora");
  if (cora.empty()) GTEST_SKIP() << "the citation graph is not there";
  EXPECT_GE(accuracy_of("--data " + cora + " --model gcn --epochs 60"), 0.78);
}

}  // namespace
}  // namespace fovea::test
