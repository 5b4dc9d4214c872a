// Optimisers: against PyTorch's numbers (tools/make_torch_golden_optimizers.py made them), their
// kernels against the plain twin, and what survives a restart.
#include "fovea/kernel/optimizer_rules.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/train/optimizer.h"
#include "support/gradient.h"
#include "support/paths.h"

namespace fovea::test {
namespace {

// The golden file's two parameters, and the gradients that drive them.
struct Golden {
  Golden() {
    for (const auto& [name, shape] : {std::pair("a", Shape{3, 7}), {"b", Shape{5}}}) {
      const Parameter w = Scope(parameters).param(name, shape, init::zeros());
      std::ranges::copy(file.load(std::string("start/") + name).read(), w.write().begin());
    }
  }
  void step(Optimizer& optimizer, int t) {
    Gradients gradients;
    for (const auto& entry : parameters.entries()) {
      gradients.set(entry.value(), file.load(std::to_string(t) + "/" + entry.name()));
    }
    optimizer.step(gradients, 1.0 / (1 + t));
  }

  Safetensors file = Safetensors::open(golden_path("optimizers.safetensors"));
  Parameters parameters;
};

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(OptimizerRules, AgreeWithPyTorchOverTenSteps) {
  const std::pair<std::string, OptimizerOptions> cases[] = {
      {"adam", {.kind = "adam", .rate = 0.01}},
      {"adam decay",
       {.kind = "adam",
        .rate = 0.01,
        .beta1 = 0.8,
        .beta2 = 0.98,
        .eps = 1e-6,
        .weight_decay = 0.1}},
      {"adamw decay", {.kind = "adamw", .rate = 0.01, .weight_decay = 0.1}},
      {"sgd", {.kind = "sgd", .rate = 0.01}},
      {"sgd plain decay", {.kind = "sgd", .rate = 0.01, .momentum = 0, .weight_decay = 0.1}},
      {"adadelta", {.kind = "adadelta", .rate = 1, .eps = 1e-6}},
      {"adadelta decay",
       {.kind = "adadelta", .rate = 0.5, .eps = 1e-4, .rho = 0.8, .weight_decay = 0.1}},
      {"rmsprop", {.kind = "rmsprop", .rate = 0.01}},
      {"rmsprop centred",
       {.kind = "rmsprop",
        .rate = 0.01,
        .eps = 1e-4,
        .rho = 0.9,
        .centred = true,
        .weight_decay = 0.1}},
  };
  for (const auto& [name, options] : cases) {
    SCOPED_TRACE(name);
    Golden golden;
    const auto optimizer = make_optimizer(golden.parameters, options);
    for (int t = 0; t < 10; ++t) golden.step(*optimizer, t);
    for (const auto& entry : golden.parameters.entries()) {
      expect_close(entry.value(), golden.file.load(name + "/" + entry.name()), 1e-6);
    }
  }
}

constexpr kernel::Rule rules[] = {kernel::Rule::adam, kernel::Rule::sgd, kernel::Rule::adadelta,
                                  kernel::Rule::rmsprop, kernel::Rule::rmsprop_centred};
constexpr kernel::RuleStep how{.rate = 0.1,
                               .l2 = 0.01,
                               .decay = 0.02,
                               .beta1 = 0.9,
                               .beta2 = 0.99,
                               .eps = 1e-3,
                               .fix1 = 0.4,
                               .fix2 = 0.7,
                               .momentum = 0.9,
                               .rho = 0.9};

// The weights and both arrays after one step from fixed random values.
template <class T>
std::vector<Tensor> after_step(kernel::Rule rule, int64_t n) {
  const Tensor g = random_tensor({n}, 1, -1, 1, Dtype::f32).to(dtype_of<T>);
  std::vector<Tensor> x = {random_tensor({n}, 2, -1, 1, Dtype::f32).to(dtype_of<T>),
                           random_tensor({n}, 3, 1, 2, Dtype::f32).to(dtype_of<T>),
                           random_tensor({n}, 4, 0, 0.5, Dtype::f32).to(dtype_of<T>)};
  T* const arrays[] = {x[1].write<T>().data(), x[2].write<T>().data()};
  kernel::update(rule, how, x[0].write<T>().data(), arrays, g.read<T>().data(), n);
  return x;
}

TEST(OptimizerRules, KernelsAgreeWithTheirTwin) {
  for (const kernel::Rule rule : rules) {
    for (const int64_t n : {1, 3, 8, 17, 65, 100'003}) {
      const std::vector<Tensor> exact = after_step<double>(rule, n);
      for (const std::string& target : kernel::simd_targets()) {
        SCOPED_TRACE(say("rule ", static_cast<int>(rule), ", n ", n, ", ", target));
        kernel::use_simd_target(target);
        std::vector<Tensor> first;
        for (const int count : {1, 2, 4}) {
          set_threads(count);
          const std::vector<Tensor> fast = after_step<float>(rule, n);
          if (first.empty()) first = fast;
          for (size_t i = 0; i < fast.size(); ++i) {
            expect_same_bits(fast[i], first[i]);
            expect_close(fast[i], exact[i]);
          }
        }
      }
    }
  }
  kernel::use_simd_target("");
  set_threads(2);
}

TEST(OptimizerRules, ResumeWithTheSameBits) {
  const std::string path = testing::TempDir() + "fovea_optimizer_state.safetensors";
  for (const std::string kind : {"adam", "adamw", "sgd", "adadelta", "rmsprop"}) {
    SCOPED_TRACE(kind);
    const OptimizerOptions options{.kind = kind, .centred = true};
    Golden whole, parts;
    const auto straight = make_optimizer(whole.parameters, options);
    for (int t = 0; t < 8; ++t) whole.step(*straight, t);
    {
      const auto before = make_optimizer(parts.parameters, options);
      for (int t = 0; t < 4; ++t) parts.step(*before, t);
      save_safetensors(path, before->state());
    }
    const auto after = make_optimizer(parts.parameters, options);
    after->restore(Safetensors::open(path));
    for (int t = 4; t < 8; ++t) parts.step(*after, t);
    for (const char* name : {"a", "b"}) {
      expect_same_bits(parts.parameters[name], whole.parameters[name]);
    }
  }
}

TEST(OptimizerRules, AStateOfAnotherModelIsRefused) {
  const std::string path = testing::TempDir() + "fovea_optimizer_other.safetensors";
  const auto restore = [&](const std::string& saved, const std::string& wanted, const Shape& from,
                           const Shape& to, const char* extra = nullptr) {
    Parameters before, after;
    Scope(before).param("w", from, init::zeros());
    if (extra) Scope(before).param(extra, {2}, init::zeros());
    Scope(after).param("w", to, init::zeros());
    save_safetensors(path, make_optimizer(before, {.kind = saved})->state());
    make_optimizer(after, {.kind = wanted})->restore(Safetensors::open(path));
  };
  EXPECT_NO_THROW(restore("adam", "adamw", {3}, {3}));
  EXPECT_EQ(error_of([&] { restore("sgd", "adam", {3}, {3}); }),
            "adam: the saved state has no 'm/w'; it belongs to another model or optimiser: start "
            "anew or resume that one");
  EXPECT_EQ(
      error_of([&] { restore("adam", "adam", {3}, {4}); }),
      "adam: 'm/w' of the saved state must be float32 [4], got float32 [3]; it belongs to another "
      "model: start anew or resume that one");
  EXPECT_EQ(error_of([&] { restore("adam", "adam", {3}, {3}, "x"); }),
            "adam: the saved state has 4 arrays for adam, this model needs 2; it belongs to "
            "another model: start anew or resume that one");
}

TEST(OptimizerRules, WrongOptionsAreRefused) {
  Parameters parameters;
  const auto error = [&](const OptimizerOptions& options) {
    return error_of([&] { make_optimizer(parameters, options); });
  };
  EXPECT_EQ(error({.kind = "adma"}), "unknown optimiser 'adma'; did you mean 'adam'?");
  EXPECT_EQ(error({.rate = 0}), "adam: the rate must be above 0, got 0");
  EXPECT_EQ(error({.beta2 = 1}), "adam: beta2 must be in [0, 1), got 1");
  EXPECT_EQ(error({.kind = "sgd", .weight_decay = -1}),
            "sgd: the weight decay cannot be negative, got -1");
}

TEST(OptimizerRules, AParameterWithoutAGradientStays) {
  Golden golden;
  const Tensor b = golden.parameters["b"], before = b.to(Dtype::f64);
  Gradients gradients;
  gradients.set(golden.parameters["a"], golden.file.load("0/a"));
  make_optimizer(golden.parameters, {.kind = "adamw", .weight_decay = 1})->step(gradients);
  expect_close(golden.parameters["b"], before, 0);
}

}  // namespace
}  // namespace fovea::test
