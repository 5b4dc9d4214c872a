// Graphs out of files, and the sentences about those that are no graphs.
#include "fovea/data/graph_file.h"

#include <gtest/gtest.h>

#include <set>

#include "support/scratch.h"

namespace fovea::test {
namespace {

using Edges = std::vector<std::pair<int32_t, int32_t>>;

class Folder : public ScratchFolder {
 public:
  Folder() {
    write("features.txt", "0 2\n\n1\n");
    write("labels.txt", "red\n-1\nblue\n");
    write("edges.txt", "0 1\n2 0\n");
    write("split.txt", "train 0\ntest 2\n");
  }
};

TEST(GraphFile, FolderOfText) {
  const GraphRecord g = read_graphs(Folder().path())[0];
  EXPECT_EQ(g.names, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(g.offsets, (std::vector<int64_t>{0, 2, 2, 3}));
  EXPECT_EQ(g.columns, (std::vector<int32_t>{0, 2, 1}));
  EXPECT_EQ(g.features, 3);
  EXPECT_EQ(g.edges, (Edges{{0, 1}, {2, 0}}));
  EXPECT_EQ(g.labels, (std::vector<std::string>{"red", "", "blue"}));
  EXPECT_EQ(g.parts, (std::vector{NodePart::train, NodePart::none, NodePart::test}));
}

TEST(GraphFile, TwoFilesOfCsv) {
  const ScratchFolder scratch;
  const std::string nodes = scratch.write("n.csv",
                                          "id,size,label,Split,age\n"
                                          "ann,1.5,x,train,0\n"
                                          "\"b,ob\",0,y,val,3\n");
  const std::string edges = scratch.write("e.csv", "source,target\nann,\"b,ob\"\n");
  const GraphRecord g = read_graphs(nodes + "," + edges)[0];
  EXPECT_EQ(g.names, (std::vector<std::string>{"ann", "b,ob"}));
  EXPECT_EQ(g.features, 2);
  EXPECT_EQ(g.columns, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(g.values, (std::vector<float>{1.5f, 3}));
  EXPECT_EQ(g.edges, (Edges{{0, 1}}));
  EXPECT_EQ(g.parts, (std::vector{NodePart::train, NodePart::dev}));
  // Any two words that are no nodes name the columns.
  const std::string named = scratch.write("f.csv", "id_1,id_2\nann,\"b,ob\"\n");
  EXPECT_EQ(read_graphs(nodes + "," + named)[0].edges, (Edges{{0, 1}}));
}

const std::string line =
    R"({"label": "big", "edges": [["b", 7]], "nodes": [{"x": [0, 2], "id": 7}, {"id": "b", )"
    R"("x": [1, 0.5], "label": "red", "split": "test"}]})";

TEST(GraphFile, JsonLines) {
  const ScratchFolder scratch;
  const auto graphs = read_graphs(scratch.write("g.jsonl", line + "\n\n" + line + "\n"));
  ASSERT_EQ(graphs.size(), 2u);
  for (const GraphRecord& g : {graphs[1], graph_of_json(json_of_graph(graphs[0]), "again")}) {
    EXPECT_EQ(g.names, (std::vector<std::string>{"7", "b"}));
    EXPECT_EQ(g.label, "big");
    EXPECT_EQ(g.labels, (std::vector<std::string>{"", "red"}));
    EXPECT_EQ(g.edges, (Edges{{1, 0}}));
    EXPECT_EQ(g.columns, (std::vector<int32_t>{1, 0, 1}));
    EXPECT_EQ(g.values, (std::vector<float>{2, 1, 0.5f}));
    EXPECT_EQ(g.parts[1], NodePart::test);
  }
  const GraphRecord bare =
      graph_of_json(R"({"nodes": [{}, {"note": 1}, {}], "edges": [[0, 2]]})", "g");
  EXPECT_EQ(bare.names, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(bare.edges, (Edges{{0, 2}}));
}

TEST(GraphFile, BadFoldersAreOneSentence) {
  const auto said = [](const std::string& name, const std::string& text) {
    const Folder folder;
    folder.write(name, text);
    const std::string error = error_of([&] { read_graphs(folder.path()); });
    return error.starts_with(folder.path()) ? error.substr(folder.path().size()) : error;
  };
  EXPECT_EQ(said("edges.txt", "0 1\n0 3\n"), "/edges.txt:2: there is no node 3; the highest is 2");
  EXPECT_EQ(said("edges.txt", "0 1 2\n"), "/edges.txt:1: an edge has two nodes, got 3");
  EXPECT_EQ(said("edges.txt", "0 x\n"), "/edges.txt:1: needs the number of a node, got 'x'");
  EXPECT_EQ(said("split.txt", "some 1\n"),
            "/split.txt:1: a split is train, val, test or none, got 'some'");
  EXPECT_EQ(said("features.txt", "-1\n1\n1\n"),
            "/features.txt:1: needs the number of a feature, got '-1'");
  EXPECT_TRUE(said("labels.txt", "a\n").starts_with("/labels.txt: has 1 labels, but "));
  EXPECT_TRUE(said("labels.txt", "a\nb\nc\nd\n").starts_with("/labels.txt:4: a label too many"));
}

TEST(GraphFile, BadCsvIsOneSentence) {
  const ScratchFolder scratch;
  const auto said = [&](const std::string& nodes, const std::string& edges) {
    const std::string n = scratch.write("n.csv", nodes), e = scratch.write("e.csv", edges);
    const std::string error = error_of([&] { read_graphs(n + "," + e); });
    return error.substr(std::min(error.size(), scratch.path().size()));
  };
  const std::string two = "id,label\na,x\nb,y\n";
  EXPECT_EQ(said(two, "a,c\n"), "/e.csv:1: an edge leads to the node 'c', which is not there");
  EXPECT_EQ(said(two + "a,x\n", "a,b\n"),
            "/n.csv:4: there are two nodes 'a'; every node needs an id of its own");
  EXPECT_EQ(said("name\na\n", "a,a\n"),
            "/n.csv:1: the first line must name the columns, one of them id; got 'name' as the "
            "first");
  EXPECT_EQ(said("id,size\na,big\n", "a,a\n"),
            "/n.csv:2: 'big' is not a number; what is neither id, label nor split is a feature");
  EXPECT_EQ(said("id,size\na\n", "a,a\n"), "/n.csv:2: has 1 cells, the header has 2");
  EXPECT_EQ(said(two, "a\n"), "/e.csv:1: an edge has two nodes, got 1 cell");
}

TEST(GraphFile, BadJsonIsOneSentence) {
  const auto said = [](const std::string& text) {
    return error_of([&] { graph_of_json(text, "g.jsonl:3"); });
  };
  EXPECT_EQ(said(line), "");
  for (size_t n = 0; n < line.size(); ++n) {
    const std::string error = said(line.substr(0, n));
    EXPECT_TRUE(error.starts_with("g.jsonl:3: not JSON at byte")) << error;
  }
  EXPECT_EQ(said(R"({"nodes": [{"id": "a"}], "edges": [["a", "b"]]})"),
            "g.jsonl:3: an edge leads to the node 'b', which is not there");
  EXPECT_EQ(said(R"({"nodes": [{"id": "a"}, {"id": "a"}]})"),
            "g.jsonl:3: there are two nodes 'a'; every node needs an id of its own");
  EXPECT_EQ(said(R"({"nodes": [{"id": "a", "x": [1]}, {"id": "b"}]})"),
            "g.jsonl:3: node 'b' has 0 features, the first node has 1");
  EXPECT_EQ(
      said(R"({"nodes": {"900000000": {"id": "a"}}})"),
      "g.jsonl:3: nodes must be a list of objects that have an id, x, a label or a split each");
  EXPECT_EQ(said(R"({"nodes": []})"), "g.jsonl:3: holds a graph without nodes");
  EXPECT_EQ(said(R"({"nodes": [{"id": "a"}], "edges": [["a"]]})"),
            "g.jsonl:3: an edge has two nodes, got 1");
}

TEST(GraphFile, LookupCanBeLookedUp) {
  for (const GraphRecord& g : generate_lookup(20, 5, Random(1))) {
    ASSERT_EQ(g.nodes(), 10);
    std::set<std::string> values;
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(g.names[static_cast<size_t>(i)],
                std::to_string(i) + "=" + g.labels[static_cast<size_t>(5 + i)]);
      EXPECT_TRUE(g.labels[static_cast<size_t>(i)].empty());
      values.insert(g.labels[static_cast<size_t>(5 + i)]);
    }
    EXPECT_EQ(values.size(), 5u);
    EXPECT_EQ(g.edges.size(), 25u);
  }
}

TEST(GraphFile, CommunitiesKeepToThemselves) {
  const GraphRecord g = generate_communities(400, Random(1));
  size_t within = 0;
  for (const auto& [from, to] : g.edges) {
    within += g.labels[static_cast<size_t>(from)] == g.labels[static_cast<size_t>(to)];
  }
  EXPECT_GT(g.edges.size(), 800u);
  EXPECT_GT(within, g.edges.size() * 3 / 4);
  EXPECT_LT(within, g.edges.size());
}

}  // namespace
}  // namespace fovea::test
