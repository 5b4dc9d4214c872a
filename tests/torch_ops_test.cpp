// Ops against PyTorch's numbers; tools/make_torch_golden_ops.py made them.
#include <gtest/gtest.h>

#include "fovea/op/elementwise.h"
#include "fovea/op/norm.h"
#include "fovea/op/softmax.h"
#include "support/golden.h"

namespace fovea::test {
namespace {

using Tensors = std::vector<Tensor>;

TEST(TorchOps, AgreeForwardAndBackward) {
  Golden golden("ops.safetensors");
  for (const std::string reach : {"", " far"}) {
    golden.check("gelu" + reach, [](const Tensors& x) { return gelu(x[0]); });
    golden.check("gelu_tanh" + reach, [](const Tensors& x) { return gelu_tanh(x[0]); });
    golden.check("elu" + reach, [](const Tensors& x) { return elu(x[0]); });
    golden.check("elu 0.7" + reach, [](const Tensors& x) { return elu(x[0], 0.7); });
    golden.check("leaky_relu" + reach, [](const Tensors& x) { return leaky_relu(x[0]); });
    golden.check("leaky_relu 0.2" + reach, [](const Tensors& x) { return leaky_relu(x[0], 0.2); });
    golden.check("softplus" + reach, [](const Tensors& x) { return softplus(x[0]); });
  }
  for (const std::string rows : {"1x1", "3x7", "2x3x17", "5x65"}) {
    golden.check("softmax " + rows, [](const Tensors& x) { return softmax(x[0]); });
    golden.check("log_softmax " + rows, [](const Tensors& x) { return log_softmax(x[0]); });
  }
  for (const std::string rows : {"3x7", "2x3x17", "5x65"}) {
    golden.check("layer_norm " + rows,
                 [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); });
  }
  golden.check("layer_norm eps",
               [](const Tensors& x) { return layer_norm(x[0], x[1], x[2], 0.1); });
  const auto plain = [](const Tensors& x) { return cross_entropy(x[0], x[1]); };
  const auto smooth = [](const Tensors& x) { return cross_entropy(x[0], x[1], 0.1); };
  golden.check("cross_entropy", plain);
  golden.check("cross_entropy smooth", smooth);
  golden.check("cross_entropy ignore", plain);
  golden.check("cross_entropy both", smooth);
  EXPECT_EQ(golden.left(), std::set<std::string>{});
}

}  // namespace
}  // namespace fovea::test
