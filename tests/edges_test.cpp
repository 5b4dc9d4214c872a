// Patterns as lists of edges, weights with a gradient, and alignments from outside, through the
// engine: against the plain definition in float64.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/align/given.h"
#include "fovea/attention/multihead.h"
#include "fovea/attention/recorder.h"
#include "fovea/op/index.h"
#include "fovea/op/shape.h"
#include "support/attention_cases.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

// Softmax over the k heaviest keys.
struct TopK {
  size_t k;
  template <class T>
  void forward(std::span<T> row) const {
    std::vector<T> sorted(row.begin(), row.end());
    std::ranges::sort(sorted, std::greater());
    const T least = sorted[std::min(k, row.size()) - 1], top = sorted[0];
    T total = 0;
    for (T& x : row) {
      const bool in = x >= least && x > -std::numeric_limits<T>::infinity();
      x = in ? std::exp(x - top) : T(0);
      total += x;
    }
    for (T& x : row) x /= total;
  }
  template <class T>
  void backward(std::span<const T> a, std::span<T> g) const {
    T dot = 0;
    for (size_t i = 0; i < a.size(); ++i) dot += a[i] * g[i];
    for (size_t i = 0; i < a.size(); ++i) g[i] = a[i] * (g[i] - dot);
  }
};

std::vector<NamedAlignment> with_given() {
  std::vector<NamedAlignment> list = alignments();
  list.push_back({"top_k", [](Scope, int64_t) { return row_alignment("top_k", TopK{3}); }});
  return list;
}

// Context, weights where asked for, and all gradients: those of the weights too.
std::vector<Tensor> results(const Sizes& z, const NamedScore& s, const NamedAlignment& a,
                            const NamedPattern& p, bool bias, bool weights, Dtype dtype) {
  Trial setup(z, s, a, p, bias, /*with_dropout=*/true, dtype);
  Random random(11);
  Tape tape(random);
  Capture capture;
  if (weights) capture.what = Capture::What::with_gradient;
  const AttentionOutput out = setup.run(dtype == Dtype::f64, capture);
  Tensor loss = sum(out.context * random_tensor(out.context.shape(), 9).to(dtype));
  std::vector<Tensor> list{out.context};
  if (weights) {
    Tensor w = out.weights.rows;
    if (w.empty()) {  // along edges: spread over the pairs, to be compared
      const Tensor &edges = out.weights.edges, &of = out.weights.edge_weights;
      Tensor at = Tensor::zeros({edges.dim(0)}, Dtype::i32);
      for (int64_t e = 0; e < edges.dim(0); ++e) {
        at.write<int32_t>()[e] = edges.read<int32_t>()[2 * e] * static_cast<int32_t>(z.Tk) +
                                 edges.read<int32_t>()[2 * e + 1];
      }
      const Tensor columns = permute(reshape(of, {z.B * z.H, of.dim(2)}), {1, 0});
      w = reshape(permute(scatter_add(columns, at, z.Tq * z.Tk), {1, 0}), {z.B, z.H, z.Tq, z.Tk});
    }
    list.push_back(w);
    loss = loss + sum(w * random_tensor(w.shape(), 10).to(dtype));
  }
  const Gradients g = tape.backward(loss);
  for (const Tensor* x : {&setup.q, &setup.k, &setup.v, &setup.bias}) {
    if (!x->empty()) list.push_back(g.or_zeros(*x));
  }
  for (const auto& entry : setup.parameters.entries()) list.push_back(g.or_zeros(entry));
  return list;
}

TEST(Weights, HaveAGradientForEveryScoreAlignmentAndPattern) {
  const Sizes z{2, 5, 9, 2, 1, 6, 5};
  for (const auto& s : scores()) {
    for (const auto& a : with_given()) {
      for (const auto& p : patterns()) {
        SCOPED_TRACE(say(s.name, " ", a.name, " ", p.name));
        const bool place = std::string(a.name) == "local";
        expect_agree(results(z, s, a, p, true, true, Dtype::f32),
                     results(z, s, a, p, true, true, Dtype::f64), place ? 3e-5 : 1e-5);
      }
    }
  }
}

TEST(Edges, AgreeWithTheDefinition) {
  const NamedPattern& graph = patterns().back();
  for (const Sizes& z : {Sizes{1, 1, 1, 1, 1, 1, 1}, Sizes{2, 20, 30, 4, 2, 8, 8},
                         Sizes{1, 70, 65, 8, 8, 8, 8}, Sizes{1, 33, 40, 2, 2, 17, 5}}) {
    for (const auto& s : scores()) {
      for (const auto& a : with_given()) {
        if (std::string(a.name) == "local") continue;
        for (bool bias : {false, true}) {
          SCOPED_TRACE(say(s.name, " ", a.name, " ", z.Tq, bias));
          expect_agree(results(z, s, a, graph, bias, false, Dtype::f32),
                       results(z, s, a, graph, bias, false, Dtype::f64));
        }
      }
    }
  }
}

TEST(Edges, AreCapturedAsListsAndAsRows) {
  const Sizes z{1, 6, 7, 2, 2, 4, 4};
  Trial setup(z, scores()[1], alignments()[0], patterns().back(), false, false, Dtype::f32);
  const AttentionOutput fast = setup.run(false, {.what = Capture::What::rows}),
                        plain = setup.run(true, {.what = Capture::What::rows});
  expect_close(fast.weights.rows, plain.weights.rows);
  EXPECT_EQ(fast.weights.edges.dim(0), fast.weights.edge_weights.dim(2));
  const Capture ask{.what = Capture::What::summary, .top = 3, .map_rows = 3, .map_cols = 7};
  const Weights summary = setup.run(false, ask).weights, exact = setup.run(true, ask).weights;
  expect_close(summary.entropy, exact.entropy);
  expect_close(summary.top_weights, exact.top_weights);
  expect_close(summary.map, exact.map);
}

TEST(Pattern, ListsOfEdgesCombineWithTheRest) {
  const Extent e{2, 1, 4, 4};
  const Tensor list = Tensor::ids({5, 2}, {0, 3, 2, 1, 2, 1, 1, 0, 3, 3});
  const auto both = (edges(list) & causal() & lengths(Tensor::ids({2}, {4, 1}))).resolve(e);
  ASSERT_TRUE(both->edges.has_value());
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < 4; ++j) {
        const bool linked = (i == 2 && j == 1) || (i == 1 && j == 0) || (i == 3 && j == 3);
        EXPECT_EQ(both->allows(e, b, 0, i, j), linked && (b == 0 || j < 1)) << b << i << j;
        EXPECT_EQ(both->dense(e).allows(e, b, 0, i, j), both->allows(e, b, 0, i, j));
      }
    }
  }
  const auto two = (edges(list) & edges(Tensor::ids({1, 2}, {2, 1}))).resolve(e);
  EXPECT_EQ(two->edges->edges, 1);
}

TEST(Pattern, IsWorkedOutOnceForTheSameSizes) {
  const Pattern who = causal();
  const Pattern copy = who;
  const Extent e{1, 1, 5, 5};
  EXPECT_EQ(who.resolve(e), copy.resolve(e));
  EXPECT_NE(who.resolve(e), who.resolve({1, 1, 6, 6}));
}

TEST(Pattern, FirstKeysKeepsWhatWasSaidBefore) {
  const Extent e{1, 1, 2, 4};
  const auto both = (lengths(Tensor::ids({1}, {1})) & first_keys({}, 3)).resolve(e);
  EXPECT_TRUE(both->allows(e, 0, 0, 0, 0));
  EXPECT_FALSE(both->allows(e, 0, 0, 0, 1));
}

TEST(Given, WorksInMultiHeadAndTheRecorder) {
  const MultiHeadOptions options{
      .heads = 2, .align = [](Scope, int64_t) { return row_alignment("top_k", TopK{2}); }};
  Parameters table(1);
  const MultiHead layer(table, 8, options);
  Recorder recorder;
  layer({.x = random_tensor({2, 6, 8}, 1).to(Dtype::f32)});
  const Tensor& rows = recorder.maps()[0].weights.rows;
  for (int64_t r = 0; r < rows.elements() / 6; ++r) {
    int64_t some = 0;
    for (int64_t j = 0; j < 6; ++j) some += rows.read()[r * 6 + j] > 0;
    EXPECT_EQ(some, 2);
  }
  check_layer(
      [&](Scope s) {
        return [layer = MultiHead(s, 8, options)](const std::vector<Tensor>& x) {
          return layer({.x = x[0]}).y;
        };
      },
      {random_tensor({2, 5, 8}, 1)});
}

TEST(Capture, RefusesWhatItCannotKeep) {
  const Tensor x = Tensor::zeros({1, 3, 1, 4});
  const auto ask = [&](const Capture& capture) {
    attend({.q = x, .k = x, .v = x, .capture = capture});
  };
  using What = Capture::What;
  EXPECT_THROW(ask({.what = What::summary, .top = 64}), Error);
  EXPECT_THROW(ask({.what = What::summary, .map_rows = 0}), Error);
  EXPECT_THROW(Recorder({.top = 4}), Error);
  EXPECT_NO_THROW(ask({.what = What::summary, .top = 0}));
}

}  // namespace
}  // namespace fovea::test
