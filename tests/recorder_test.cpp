// One recorder sees every attention of a model, by name, and changes nothing.
#include "fovea/attention/recorder.h"

#include <gtest/gtest.h>

#include "fovea/attention/engine.h"
#include "fovea/attention/multihead.h"
#include "fovea/attention/query/multihop.h"
#include "fovea/op/reduce.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

struct Model {
  Parameters parameters{1};
  MultiHead self{Scope(parameters) / "encoder" / 0 / "self", 8, {.heads = 2}};
  MultiHop hops{Scope(parameters) / "hops", 8, 8, 8, {.hops = 3}};
  Tensor operator()(const Tensor& x) const {
    const Tensor y = self({.x = x, .who = causal()}).y;
    const Tensor rows = y.reshaped({y.dim(0), y.dim(1), 1, 8});
    return hops({.q = rows, .k = rows, .v = rows}).context;
  }
};

TEST(Recorder, NamesEveryMapAndChangesNoBit) {
  const Model model;
  const Tensor x = random_tensor({2, 5, 8}, 1, -1, 1, Dtype::f32);
  const Tensor without = model(x);
  Recorder recorder;
  expect_same_bits(model(x), without);
  std::vector<std::string> names;
  for (const auto& map : recorder.maps()) names.push_back(map.name);
  EXPECT_EQ(names, (std::vector<std::string>{"encoder/0/self", "hops/0", "hops/1", "hops/2"}));
  EXPECT_EQ(recorder["encoder/0/self"].rows.shape(), (Shape{2, 2, 5, 5}));
  EXPECT_EQ(recorder["encoder/0/self"].rows.read()[1], 0) << "the first row sees itself alone";
  expect_close(sum(recorder["hops/2"].rows, -1), Tensor::full({2, 1, 5}, 1));
  EXPECT_THROW(recorder["encoder/1/self"], Error);
}

TEST(Recorder, SummariesToo) {
  const Model model;
  Recorder recorder({.what = Capture::What::summary, .top = 2, .map_rows = 3, .map_cols = 3});
  model(random_tensor({1, 6, 8}, 1, -1, 1, Dtype::f32));
  EXPECT_EQ(recorder["encoder/0/self"].top_keys.shape(), (Shape{1, 2, 6, 2}));
  EXPECT_EQ(recorder["encoder/0/self"].map.shape(), (Shape{1, 2, 3, 3}));
  EXPECT_TRUE(recorder["encoder/0/self"].rows.empty());
}

TEST(Recorder, OneNameUsedAgainIsCounted) {
  const Model model;
  Recorder recorder;
  for (int step = 0; step < 3; ++step) model(random_tensor({1, 2, 8}, 1, -1, 1, Dtype::f32));
  EXPECT_NO_THROW(recorder["hops/1#3"]);
  EXPECT_EQ(recorder.maps().size(), 12u);
}

TEST(Recorder, EndsWithItsLife) {
  const Model model;
  const Tensor x = random_tensor({1, 2, 8}, 1, -1, 1, Dtype::f32);
  Recorder outer;
  {
    Recorder inner;
    model(x);
    EXPECT_EQ(inner.maps().size(), 4u);
  }
  EXPECT_TRUE(outer.maps().empty());
  model(x);
  EXPECT_EQ(outer.maps().size(), 4u);
}

}  // namespace
}  // namespace fovea::test
