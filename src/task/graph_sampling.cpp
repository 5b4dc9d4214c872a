#include "fovea/task/graph_sampling.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "fovea/base/error.h"

namespace fovea {

std::vector<int64_t> neighbour_counts(const std::string& text, int64_t layers) {
  std::vector<int64_t> counts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    int64_t count = 0;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, count);
    check(error == std::errc() && rest == text.data() + end && count >= 1 && count <= 1'000'000,
          "neighbours: needs whole numbers from 1, one for each layer, as 10,10; got '", text, "'");
    counts.push_back(count);
    at = end + 1;
  }
  check(counts.empty() || static_cast<int64_t>(counts.size()) == layers, "neighbours: '", text,
        "' has ", counts.size(), counts.size() == 1 ? " number" : " numbers",
        ", but the model has ", layers, " layers: one for each");
  return counts;
}

NeighbourSampler::NeighbourSampler(const GraphRecord& graph,
                                   std::span<const std::pair<int32_t, int32_t>> edges,
                                   const GraphBatchOptions& options)
    : graph_(graph), form_(options.form), offsets_(graph.names.size() + 1) {
  const auto each = [&](const auto& f) {
    for (const auto& [from, to] : edges) {
      f(to, from);
      if (!options.directed) f(from, to);
    }
  };
  each([&](int32_t node, int32_t) { ++offsets_[static_cast<size_t>(node) + 1]; });
  for (size_t i = 0; i + 1 < offsets_.size(); ++i) offsets_[i + 1] += offsets_[i];
  others_.resize(static_cast<size_t>(offsets_.back()));
  std::vector<int64_t> next(offsets_.begin(), offsets_.end() - 1);
  each([&](int32_t node, int32_t other) {
    others_[static_cast<size_t>(next[static_cast<size_t>(node)]++)] = other;
  });
  // An edge that is written twice counts once.
  int64_t kept = 0;
  for (size_t i = 0; i + 1 < offsets_.size(); ++i) {
    const auto from = others_.begin() + offsets_[i], to = others_.begin() + offsets_[i + 1];
    std::sort(from, to);
    const auto end = std::unique(from, to);
    offsets_[i] = kept;
    kept = std::move(from, end, others_.begin() + kept) - others_.begin();
  }
  offsets_.back() = kept;
  others_.resize(static_cast<size_t>(kept));
}

bool NeighbourSampler::joined(int32_t one, int32_t other) const {
  return std::ranges::binary_search(neighbours(one), other) ||
         std::ranges::binary_search(neighbours(other), one);
}

NeighbourSampler::Part NeighbourSampler::around(std::span<const int32_t> asked,
                                                std::span<const int64_t> counts,
                                                const Random& random) const {
  Part part;
  std::unordered_map<int32_t, int32_t> number;
  const auto enter = [&](int32_t node) {
    const auto [found, fresh] = number.emplace(node, static_cast<int32_t>(part.nodes.size()));
    if (fresh) part.nodes.push_back(node);
    return found->second;
  };
  for (int32_t node : asked) enter(node);
  std::vector<int32_t> edges, drawn;
  size_t done = 0;
  for (const int64_t count : counts) {
    const size_t end = part.nodes.size();
    for (; done < end; ++done) {
      const int32_t node = part.nodes[done];
      const auto all = neighbours(node);
      drawn.assign(all.begin(), all.end());
      if (static_cast<int64_t>(all.size()) > count) {
        Random own = random.fork(static_cast<uint64_t>(node));
        for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
          std::swap(drawn[i], drawn[i + own.below(drawn.size() - i)]);
        }
        drawn.resize(static_cast<size_t>(count));
      }
      for (int32_t other : drawn) {
        edges.push_back(static_cast<int32_t>(done));
        edges.push_back(enter(other));
      }
    }
  }
  const auto count = static_cast<int64_t>(edges.size()) / 2;
  part.graph = node_graph(graph_, part.nodes, Tensor::adopt({count, 2}, std::move(edges)), form_);
  return part;
}

}  // namespace fovea
