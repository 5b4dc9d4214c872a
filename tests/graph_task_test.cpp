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

// A graph has the same answer alone and among others, whose features are not like its own: mostly
// 0, which shares would be made of, and not.
TEST(GraphTask, AGraphIsTheSameInEveryBatch) {
  const ScratchFolder scratch;
  std::string sparse, dense;
  for (int i = 0; i < 60; ++i) {
    nlohmann::json nodes = nlohmann::json::array();
    const bool high = i % 2 == 1;
    for (int j = 0; j < 6; ++j) {
      std::vector<int> x(8, i < 30 ? 0 : 3);
      x[static_cast<size_t>(j % 8)] = high ? 9 : 1;
      nodes.push_back({{"id", j}, {"x", x}});
    }
    (i < 30 ? sparse : dense) +=
        nlohmann::json{
            {"nodes", nodes}, {"edges", {{0, 1}, {1, 2}, {2, 3}}}, {"label", high ? "high" : "low"}}
            .dump() +
        "\n";
  }
  const std::string all = scratch.write("all.jsonl", sparse + dense),
                    part = scratch.write("part.jsonl", sparse), folder = scratch.path() + "/form";
  accuracy_of("--data " + all +
              " --model gcn --layers 1 --dropout 0 --rate 0.05 --weight-decay 0 " +
              "--epochs 60 --out " + folder);
  const Ended alone = run("cat " + part + " | " + program + " predict " + folder),
              among = run("cat " + all + " | " + program + " predict " + folder);
  EXPECT_EQ(among.out.substr(0, alone.out.size()), alone.out);
  const Ended measured = run(program + " eval " + folder + " --json --data " + part);
  ASSERT_EQ(measured.exit, 0);
  size_t right = 0, at = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string said = alone.out.substr(at, alone.out.find('\n', at) - at);
    at += said.size() + 1;
    right += said == (i % 2 ? "high" : "low");
  }
  EXPECT_NEAR(nlohmann::json::parse(measured.out)["metrics"]["accuracy"].get<double>(),
              static_cast<double>(right) / 30, 1e-6)
      << measured.out;
}

// Nodes that a file marks for the test are not learned from, also where it holds several graphs.
TEST(GraphTask, MarkedNodesOfSeveralGraphs) {
  const ScratchFolder scratch;
  std::string text, bare;
  for (int i = 0; i < 12; ++i) {
    nlohmann::json nodes = nlohmann::json::array();
    for (int j = 0; j < 6; ++j) {
      const char* split = j < 3 ? "train" : j < 4 ? "val" : "test";
      nodes.push_back({{"id", j},
                       {"x", {j % 2, 1 - j % 2}},
                       {"split", split},
                       {"label", j == 5  ? "secret"
                                 : j % 2 ? "a"
                                         : "b"}});
    }
    text += nlohmann::json{{"nodes", nodes}, {"edges", {{0, 1}, {1, 2}}}}.dump() + "\n";
    for (auto& node : nodes) node.erase("label");
    bare += nlohmann::json{{"nodes", nodes}, {"edges", {{0, 1}}}}.dump() + "\n";
  }
  const std::string folder = scratch.path() + "/split";
  accuracy_of("--data " + scratch.write("s.jsonl", text) + " --model gcn --epochs 3 --out " +
              folder);
  const Ended labels = run("cat " + folder + "/labels.json");
  EXPECT_EQ(labels.out.find("secret"), std::string::npos) << labels.out;
  expect_refused("eval " + folder + " --data " + scratch.write("bare.jsonl", bare), 1,
                 "graph: a graph of 6 nodes has no label, nor has any of its nodes");
}

// Columns of any size count alike, and lines that name nodes are answered together as one by one.
TEST(GraphTask, LargeNumbersDoNotDrownSmallOnes) {
  const ScratchFolder scratch;
  std::string nodes = "id,views,warm,label\n", edges = "id_1,id_2\n", names;
  for (int i = 0; i < 120; ++i) {
    const bool warm = (i * 7) % 3 == 0;
    nodes += say("p", i, ",", (i * 7919) % 5'000'000, ",", warm ? 0.9 : 0.1, ",",
                 warm ? "yes" : "no", "\n");
    edges += say("p", i, ",p", (i + 3) % 120, "\n");
    names += say("p", i, "\n");
  }
  const std::string data = scratch.write("n.csv", nodes) + "," + scratch.write("e.csv", edges),
                    folder = scratch.path() + "/views";
  EXPECT_GE(accuracy_of("--data " + data + " --epochs 80 --dropout 0 --out " + folder), 0.9);
  const Ended all = run("cat " + scratch.write("names", names) + " | " + program + " predict " +
                        folder),
              one = run("echo p7 | " + program + " predict " + folder);
  std::istringstream lines(all.out);
  std::string line;
  for (int i = 0; i < 8; ++i) std::getline(lines, line);
  EXPECT_EQ(line + "\n", one.out);
  EXPECT_EQ(std::ranges::count(all.out, '\n'), 120);
}

TEST(GraphTask, CoraIsLearned) {
  const std::string cora = shared_data("planetoid/cora");
  if (cora.empty()) GTEST_SKIP() << "the citation graph is not there";
  EXPECT_GE(accuracy_of("--data " + cora + " --model gcn --epochs 60"), 0.78);
}

}  // namespace
}  // namespace fovea::test
