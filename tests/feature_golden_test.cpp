// Attention over several inputs against PyTorch versions written from the papers
// (tools/make_torch_golden_features.py).
#include <gtest/gtest.h>

#include "fovea/attention/feature/meta_embedding.h"
#include "fovea/attention/feature/parallel.h"
#include "fovea/attention/feature/rotatory.h"
#include "fovea/attention/score/trilinear.h"
#include "support/golden.h"

namespace fovea::test {
namespace {

using Tensors = std::vector<Tensor>;

struct FeatureGolden : testing::Test {
  Golden golden{"features.safetensors"};
  Parameters table{1};
};

TEST_F(FeatureGolden, ParallelCoAttention) {
  golden.check("parallel", [&](const Tensors& in) {
    const ParallelCoAttention layer(table, 6, 6);
    golden.hold(2, in[2], {table["affinity/weight"]});
    golden.hold(3, in[3], {layer.hidden->W_1.weight});
    golden.hold(4, in[4], {layer.hidden->W_2.weight});
    golden.hold(5, in[5], {layer.hidden->w_1});
    golden.hold(6, in[6], {layer.hidden->w_2});
    return layer({in[0], in[7]}, {in[1], in[8]}).joined();
  });
}

TEST_F(FeatureGolden, PooledConcatenatedAffinity) {
  golden.check("pooled", [&](const Tensors& in) {
    ParallelOptions o;
    o.pooled = true;
    o.score = [](Scope s, int64_t, int64_t d) { return trilinear_score(s, d); };
    const ParallelCoAttention layer(table, 6, 6, o);
    golden.hold(2, in[2], {table["affinity/query"]});
    golden.hold(3, in[3], {table["affinity/key"]});
    golden.hold(4, in[4], {table["affinity/product"]});
    return layer({in[0], in[5]}, {in[1], in[6]}).joined();
  });
}

TEST_F(FeatureGolden, RotatoryWithHops) {
  for (const int64_t hops : {1, 3}) {
    Parameters own(2);
    golden.check(say("rotatory", hops), [&](const Tensors& in) {
      const RotatoryAttention layer(own, 6, 6, {{}, hops});
      const std::vector<std::string> parts{"left", "right", "target_by_left", "target_by_right"};
      std::vector<Parameter> biases;
      for (size_t i = 0; i < parts.size(); ++i) {
        golden.hold(3 + i, in[3 + i], {own[parts[i] + "/score/weight"]});
        const Parameter bias = own[parts[i] + "/score/bias"];
        bias = slice(in[7], 0, static_cast<int64_t>(i), static_cast<int64_t>(i) + 1)
                   .reshaped(bias.shape());
        biases.push_back(bias);
      }
      // Of shape [1, 1, 1, 1] each: their gradients one after the other are that of [4].
      golden.hold_flat(7, biases);
      return layer({in[0], in[8]}, {in[1], in[9]}, {in[2], in[10]}).joined();
    });
  }
}

TEST_F(FeatureGolden, DynamicMetaEmbeddings) {
  golden.check("meta", [&](const Tensors& in) {
    const std::vector<int64_t> widths{4, 5};
    const MetaEmbedding layer(table, widths, 6);
    golden.hold(2, in[2], {layer.project[0].weight});
    golden.hold(3, in[3], {layer.project[0].bias});
    golden.hold(4, in[4], {layer.project[1].weight});
    golden.hold(5, in[5], {layer.project[1].bias});
    golden.hold(6, in[6], {table["score/key/weight"]});
    golden.hold(7, in[7], {table["score/key/bias"]});
    golden.hold(8, in[8], {table["score/w"]});
    return layer(Tensors{in[0], in[1]}, Packing(Tensor::ids({3}, {0, 3, 7}))).rows;
  });
}

}  // namespace
}  // namespace fovea::test
