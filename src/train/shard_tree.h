// The one tree in which what shards of a batch give is added up, whoever computed them: the leaves
// are the shards in their order, and two neighbours become one, level by level. Floating-point
// sums depend on the order; this one depends on the number of shards alone.
//
//   0   1   2   3   4   5   6          7 shards: ((0+1)+(2+3)) + ((4+5)+6)
//    \ /     \ /     \ /    |
//     01      23      45    6
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fovea {

// A whole node of the tree: shards [first, first + size), size a power of two.
struct TreeNode {
  int64_t first, size;  // in shards

  // Whether `next`, which begins where this one ends, is its sibling.
  bool joins(const TreeNode& next) const {
    return size == next.size && first + size == next.first && first % (2 * size) == 0;
  }
  // Behind its last shard.
  int64_t end() const { return first + size; }
  bool operator==(const TreeNode&) const = default;
};

// The largest whole nodes that make up the shards [begin, end), in their order: what a rank that
// did these can say without knowing the others.
inline std::vector<TreeNode> nodes_of(int64_t begin, int64_t end) {
  std::vector<TreeNode> nodes;
  for (int64_t shard = begin; shard < end; ++shard) {
    nodes.push_back({shard, 1});
    while (nodes.size() > 1 && nodes[nodes.size() - 2].joins(nodes.back())) {
      nodes.pop_back();
      nodes.back().size *= 2;
    }
  }
  return nodes;
}

// Adds nodes that follow each other up to the root. add(i, j) must add node j's sum to node i's:
// i is the left one, and holds the sum of both from then on. At the end node 0 holds all.
template <class Add>
void add_up(const std::vector<TreeNode>& nodes, Add&& add) {
  struct Open {
    TreeNode node;
    size_t at;
  };
  std::vector<Open> stack;
  const auto join = [&] {
    const Open right = stack.back();
    stack.pop_back();
    add(stack.back().at, right.at);
    stack.back().node.size *= 2;
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    stack.push_back({nodes[i], i});
    while (stack.size() > 1 && stack[stack.size() - 2].node.joins(stack.back().node)) join();
  }
  // The tree of a number that is no power of two lacks leaves at its right: what is there is
  // handed up as it is.
  while (stack.size() > 1) join();
}

}  // namespace fovea
