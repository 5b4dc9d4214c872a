// Sparse products and graph attention: against their twins, the papers' formulas and their limits.
#include <gtest/gtest.h>

#include "fovea/attention/recorder.h"
#include "fovea/kernel/sparse.h"
#include "fovea/model/graph/networks.h"
#include "fovea/model/table.h"
#include "fovea/op/matmul.h"
#include "support/golden.h"
#include "support/twin.h"

namespace fovea::test {
namespace {

// About `density` of the entries, at random; row 1 has none.
struct Lists {
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> columns;
};
Lists random_lists(int64_t rows, int64_t columns, double density) {
  Lists lists;
  Random random(5);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      if (i != 1 && random.uniform() < density) lists.columns.push_back(static_cast<int32_t>(j));
    }
    lists.offsets.push_back(static_cast<int64_t>(lists.columns.size()));
  }
  return lists;
}

SparseMatrix random_matrix(int64_t rows, int64_t columns) {
  Lists lists = random_lists(rows, columns, 0.3);
  const auto n = static_cast<int64_t>(lists.columns.size());
  const Tensor values = random_tensor({n}, 3, -1, 1, Dtype::f32);
  return {columns, lists.offsets, lists.columns, {values.read().begin(), values.read().end()}};
}

NodeFeatures dense(const Tensor& x) {
  NodeFeatures features;
  features.dense = x;
  return features;
}
NodeGraph graph_of(const NodeFeatures& x, const Tensor& edges) {
  return {x, edges, Packing(even_offsets(1, x.nodes()))};
}
const Tensor some_edges = Tensor::ids({6, 2}, {0, 1, 1, 0, 2, 1, 3, 0, 3, 2, 4, 3});

TEST(Sparse, MatchesItsTwin) {
  for (int64_t width : {1, 3, 8, 17, 32, 64, 65, 100}) {
    for (int64_t rows : {1, 2, 37, 300}) {
      const Lists lists = random_lists(rows, 50, 0.2);
      check_against_twin([&]<class T>(Call& c, T) {
        const auto n = static_cast<int64_t>(lists.columns.size());
        const kernel::SparseRows a{rows, lists.offsets.data(), lists.columns.data(), nullptr};
        kernel::sparse_matmul(a, c.in<T>(std::max<int64_t>(n, 1)), c.in<T>(50 * width),
                              c.out<T>(rows * width), width);
      });
    }
  }
}

TEST(Sparse, IsTheProductWithTheWholeMatrix) {
  const SparseMatrix a = random_matrix(6, 5);
  Tensor whole = Tensor::zeros({6, 5});
  for (size_t i = 0; i < 6; ++i) {
    for (int64_t e = a.offsets()[i]; e < a.offsets()[i + 1]; ++e) {
      const auto at = static_cast<size_t>(e);
      whole.write()[i * 5 + static_cast<size_t>(a.column_of()[at])] = a.values().read()[at];
    }
  }
  const Tensor x = random_tensor({5, 7}, 4, -1, 1, Dtype::f32);
  expect_close(a(x), matmul(whole, x));
  check_gradients([&](const std::vector<Tensor>& in) { return a(in[0]); },
                  {random_tensor({5, 3}, 4)});
}

TEST(Sparse, SaysWhatDoesNotFit) {
  EXPECT_THROW(SparseMatrix(2, {0, 1}, {2}, {1}), Error);
  EXPECT_THROW(SparseMatrix(2, {0, 2}, {1}, {1}), Error);
  EXPECT_THROW(random_matrix(6, 5)(Tensor::zeros({6, 2})), Error);
}

TEST(GraphLayer, EqualsTheFormulaOfPyTorchGeometric) {
  Golden golden("graph.safetensors");
  for (const bool mean : {false, true}) {
    for (const bool dynamic : {false, true}) {
      const std::string name = say(dynamic ? "gatv2" : "gat", mean ? "_mean" : "");
      golden.check(name, [&](const std::vector<Tensor>& in) {
        Parameters parameters;
        const GraphAttention layer(parameters, 5,
                                   {.heads = 3, .width = 4, .dynamic = dynamic, .mean = mean});
        golden.hold(1, in[1], {layer.value.weight});
        if (dynamic) {
          golden.hold(2, in[2], {layer.value.bias});
          golden.hold(3, in[3], {layer.query->weight});
          golden.hold(4, in[4], {layer.query->bias});
          golden.hold(5, in[5], {layer.a});
          golden.hold(6, in[6], {layer.bias});
        } else {
          golden.hold(2, in[2], {layer.a_key});
          golden.hold(3, in[3], {layer.a_query});
          golden.hold(4, in[4], {layer.bias});
        }
        return layer(dense(in[0]), graph_of(dense(in[0]), in.back()));
      });
    }
  }
  EXPECT_TRUE(golden.left().empty());
}

TEST(GraphLayer, SparseFeaturesAreDenseOnes) {
  const SparseMatrix a = random_matrix(5, 12);
  NodeFeatures sparse;
  sparse.sparse = a;
  Tensor identity = Tensor::zeros({12, 12});
  for (size_t i = 0; i < 12; ++i) identity.write()[13 * i] = 1;
  Parameters parameters;
  const GraphAttention layer(parameters, 12, {.heads = 2, .width = 3, .dynamic = true});
  const NodeFeatures same = dense(a(identity));
  expect_close(layer(sparse, graph_of(sparse, some_edges)),
               layer(same, graph_of(same, some_edges)));
}

// In GAT the neighbours have one order for all nodes, in GATv2 each node has its own.
TEST(GraphLayer, OnlyTheSecondFormRanksForEachNode) {
  std::vector<int32_t> all;
  for (int32_t i = 0; i < 6; ++i) {
    for (int32_t j = 0; j < 6; ++j) all.push_back(i), all.push_back(j);
  }
  const Tensor x = random_tensor({6, 4}, 9, -2, 2, Dtype::f32);
  const NodeGraph graph = graph_of(dense(x), Tensor::of({36, 2}, all));
  int favourites[2] = {0, 0};
  for (const bool dynamic : {false, true}) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      Parameters parameters(seed);
      const GraphAttention layer(Scope(parameters) / "layer", 4,
                                 {.heads = 1, .width = 16, .dynamic = dynamic});
      Recorder recorder;
      layer(dense(x), graph);
      const Tensor rows = recorder["layer"].rows;  // [1, 1, 6, 6]
      std::set<int64_t> best;
      for (int64_t i = 0; i < 6; ++i) {
        const auto row = rows.read().subspan(static_cast<size_t>(6 * i), 6);
        best.insert(std::ranges::max_element(row) - row.begin());
      }
      favourites[dynamic] = std::max(favourites[dynamic], static_cast<int>(best.size()));
    }
  }
  EXPECT_EQ(favourites[0], 1);
  EXPECT_GT(favourites[1], 1);
}

TEST(GraphModels, HaveGradients) {
  for (const ModelEntry* entry : models_for(Takes::graph, Gives::label)) {
    SCOPED_TRACE(entry->name);
    Parameters parameters(3, Dtype::f64);
    const Settings settings{{"width", "4"}, {"heads", "2"}, {"out_heads", "2"}};
    const auto model =
        make_model<Scorer>(*entry, parameters, {.labels = 3, .features = 4}, settings);
    const Tensor x = random_tensor({5, 4}, 2);
    ModelInputs in;
    in.graph = NodeGraph(dense(x), some_edges, Packing(Tensor::ids({3}, {0, 2, 5})));
    for (const bool whole : {false, true}) {
      in.whole = whole;
      in.rows = whole ? Tensor() : Tensor::ids({3}, {4, 0, 1});
      EXPECT_EQ((*model)(in).scores.shape(), (Shape{whole ? 2 : 3, 3}));
      EXPECT_LT(gradient_error([&](const std::vector<Tensor>&) { return (*model)(in).scores; }, {},
                               parameters),
                1e-5);
    }
  }
}

// What lies out of reach of two layers changes nothing.
TEST(GraphModels, LookAlongEdgesOnly) {
  // A path: 0 looks at 1, 1 at 2, 2 at 3, 3 at 4.
  const Tensor path = Tensor::ids({4, 2}, {0, 1, 1, 2, 2, 3, 3, 4});
  for (const ModelEntry* entry : models_for(Takes::graph, Gives::label)) {
    SCOPED_TRACE(entry->name);
    Parameters parameters(3);
    const Settings settings{{"width", "8"}, {"heads", "2"}};
    const auto model =
        make_model<Scorer>(*entry, parameters, {.labels = 3, .features = 4}, settings);
    Tensor x = random_tensor({5, 4}, 2, -1, 1, Dtype::f32);
    ModelInputs in;
    in.graph = graph_of(dense(x), path);
    const Tensor before = (*model)(in).scores;
    for (size_t i = 12; i < 16; ++i) x.write()[i] += 1;  // node 3
    in.graph = graph_of(dense(x), path);
    const Tensor after = (*model)(in).scores;
    expect_same_bits(slice(before, 0, 0, 1), slice(after, 0, 0, 1));
    expect_same_bits(slice(before, 0, 4, 5), slice(after, 0, 4, 5));
    EXPECT_GT(relative_difference(slice(before, 0, 1, 2), slice(after, 0, 1, 2)), 1e-6);
  }
}

}  // namespace
}  // namespace fovea::test
