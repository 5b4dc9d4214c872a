// builtin:lookup and builtin:communities.
#include "fovea/data/batches.h"
#include "fovea/data/graph_builder.h"

namespace fovea {

std::vector<GraphRecord> generate_lookup(int64_t n, int64_t keys, Random random) {
  std::vector<GraphRecord> all;
  for (int64_t i = 0; i < n; ++i) {
    const std::vector<int64_t> values = shuffled(keys, random);
    GraphBuilder graph;
    for (int64_t key = 0; key < keys; ++key) {  // those that answer: a key and a value
      const int64_t value = values[static_cast<size_t>(key)];
      graph.add_node(std::to_string(key) + "=" + std::to_string(value), "lookup");
      graph.add_feature(key, 1);
      graph.add_feature(keys + value, 1);
    }
    for (int64_t key = 0; key < keys; ++key) {  // those that ask: a key, and that they ask
      const int64_t node = graph.add_node(std::to_string(key) + "?", "lookup");
      graph.add_feature(key, 1);
      graph.add_feature(2 * keys, 1);
      graph.set_label(node, std::to_string(values[static_cast<size_t>(key)]));
      for (int64_t to = 0; to < keys; ++to) graph.add_edge(to, node);
    }
    all.push_back(graph.finish("lookup"));
  }
  return all;
}

GraphRecord generate_communities(int64_t n, Random random) {
  constexpr int64_t groups = 4, words = 20;  // of each group
  GraphBuilder graph;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t group = i % groups;
    graph.add_node("n" + std::to_string(i), "communities");
    for (int64_t word = 0; word < 4; ++word) {
      // Half of the words say nothing: a node alone is hard to tell.
      const bool telling = random.below(100) < 35;
      const int64_t of = telling ? group : static_cast<int64_t>(random.below(groups));
      graph.add_feature(of * words + static_cast<int64_t>(random.below(words)), 1);
    }
    if (i + 1 == n) graph.add_feature(groups * words - 1, 0);  // so many columns, seen or not
    graph.set_label(i, std::string(1, static_cast<char>('A' + group)));
  }
  // About four neighbours each in the own group, one in others.
  for (int64_t e = 0; e < 5 * n / 2; ++e) {
    const auto from = static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
    auto to = static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
    if (random.below(100) < 80) to = to / groups * groups + from % groups;
    if (to < n && to != from) graph.add_edge(from, to);
  }
  return graph.finish("communities");
}

}  // namespace fovea
