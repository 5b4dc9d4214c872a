// Every mechanism of the catalogue is held to the laws it states, and every law has a broken
// mechanism that it catches.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/attention/catalog.h"
#include "fovea/attention/engine.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "support/layer.h"
#include "support/small_attention.h"

namespace fovea::test {
namespace {

constexpr int64_t B = 2, T = 9, H = 2, D = 6;

AttentionInputs some_inputs(int64_t queries = T, int64_t keys = T) {
  return {.q = random_tensor({B, queries, H, D}, 1, -1, 1, Dtype::f32),
          .k = random_tensor({B, keys, H, D}, 2, -1, 1, Dtype::f32),
          .v = random_tensor({B, keys, H, D}, 3, -1, 1, Dtype::f32)};
}

double difference(const Tensor& a, const Tensor& b) { return relative_difference(a, b); }

// Each law is the worst violation found; a mechanism obeys where that is small. `self`: it is of a
// sequence and itself, whose queries are padded as its keys are.
double violation(Law law, const Mechanism& mechanism, bool self = false) {
  AttentionInputs in = some_inputs();
  switch (law) {
    case Law::rows_sum_to_one: {
      in.capture.what = Capture::What::rows;
      in.who = causal();
      const Tensor rows = mechanism(in).weights.rows;
      return difference(sum(rows, -1), Tensor::full({B, H, T}, 1));
    }
    case Law::causal: {
      in.who = causal();
      AttentionInputs later = in;
      for (Heads* x : {&later.k, &later.v}) {
        *x = concat({slice(*x, 1, 0, T - 2), slice(*x, 1, T - 2, T) * 3.0}, 1);
      }
      return difference(slice(mechanism(later).context, 1, 0, T - 2),
                        slice(mechanism(in).context, 1, 0, T - 2));
    }
    case Law::permutation: {
      AttentionInputs turned = in;
      turned.k = concat({slice(in.k, 1, 4, T), slice(in.k, 1, 0, 4)}, 1);
      turned.v = concat({slice(in.v, 1, 4, T), slice(in.v, 1, 0, 4)}, 1);
      return difference(mechanism(turned).context, mechanism(in).context);
    }
    case Law::padding: {
      AttentionInputs padded = in;
      padded.k = concat({in.k, Tensor::full({B, 3, H, D}, 5)}, 1);
      padded.v = concat({in.v, Tensor::full({B, 3, H, D}, 7)}, 1);
      if (self) padded.q = concat({in.q, Tensor::full({B, 3, H, D}, 9)}, 1);
      padded.who = lengths(Tensor::ids({B}, {T, T}));
      return difference(slice(mechanism(padded).context, 1, 0, T), mechanism(in).context);
    }
    case Law::nothing_is_zero: {
      // The second query may look at nothing.
      Tensor mask = Tensor::full({T, T}, 1, Dtype::i32);
      for (int64_t j = 0; j < T; ++j) mask.write<int32_t>()[T + j] = 0;
      in.who = allow(mask);
      in.q = parameter(in.q), in.k = parameter(in.k), in.v = parameter(in.v);
      Random random(3);
      Tape tape(random);
      const Tensor c = mechanism(in).context;
      double worst = 0;
      const Tensor second = slice(c, 1, 1, 2);
      for (float x : second.read()) worst = std::max<double>(worst, std::abs(x));
      const Gradients g = tape.backward(sum(c));
      for (const Heads* x : {&in.q, &in.k, &in.v}) {
        const Tensor gradient = g.or_zeros(*x);
        for (float dx : gradient.read()) {
          if (!std::isfinite(dx)) return INFINITY;
        }
      }
      return worst;
    }
    case Law::steps_equal_whole: {
      in.who = causal();
      const Tensor whole = mechanism(in).context;
      double worst = 0;
      for (int64_t t = 1; t <= T; ++t) {
        AttentionInputs step = in;  // the newest query and the keys there are so far
        step.q = slice(in.q, 1, t - 1, t);
        step.k = slice(in.k, 1, 0, t);
        step.v = slice(in.v, 1, 0, t);
        step.who = {};
        worst = std::max(worst, difference(mechanism(step).context, slice(whole, 1, t - 1, t)));
      }
      return worst;
    }
  }
  return INFINITY;
}

constexpr double enough = 2e-5;

class EveryMechanism : public testing::TestWithParam<Entry> {};

TEST_P(EveryMechanism, ObeysItsLaws) {
  const Entry& entry = GetParam();
  if (entry.laws.empty() || entry.kind == Entry::Kind::feature)
    GTEST_SKIP() << entry.name << " has other inputs; its own tests hold it";
  Parameters parameters(5);
  const bool self = entry.kind == Entry::Kind::efficient;
  const Mechanism mechanism = make_mechanism(entry, parameters, small_options(D, H));
  for (Law law : entry.laws) {
    EXPECT_LE(violation(law, mechanism, self), enough) << entry.name << ": " << name_of(law);
  }
}

// Weights on request, as part of what is differentiated.
TEST_P(EveryMechanism, ItsWeightsHaveTheirGradient) {
  const Entry& entry = GetParam();
  if (entry.kind == Entry::Kind::feature || entry.features) {
    GTEST_SKIP() << entry.name << " has other inputs";
  }
  const Maker make = [&entry](Scope s) -> Function {
    return [mechanism = make_mechanism(entry, s, small_options(D, H))](const auto& x) {
      AttentionInputs in{.q = x[0], .k = x[1], .v = x[2]};
      in.capture.what = Capture::What::with_gradient;
      return mechanism(in).weights.rows;
    };
  };
  std::vector<Tensor> inputs;
  for (const uint64_t seed : {1, 2, 3}) inputs.push_back(random_tensor({B, T, H, D}, seed));
  // Of what draws a key it is another function's gradient, on purpose.
  if (entry.name == "hard") return check_float(make, inputs);
  check_layer(make, inputs);
}

TEST_P(EveryMechanism, SaysWhatItIs) {
  const Entry& entry = GetParam();
  for (const std::string* text : {&entry.id, &entry.title, &entry.paper, &entry.equation}) {
    EXPECT_FALSE(text->empty()) << entry.name;
  }
  for (const std::string& option : entry.options) {
    AttentionOptions o;
    EXPECT_NO_THROW(attention_fields().get(o, option)) << entry.name;
  }
  EXPECT_EQ(&find_entry(entry.kind, entry.name),
            &*std::ranges::find_if(
                catalog(),
                [&](auto& other) { return other.name == entry.name && other.kind == entry.kind; }))
      << "names are unique";
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryMechanism, testing::ValuesIn(catalog()),
                         [](const auto& info) {
                           const bool self = info.param.kind == Entry::Kind::efficient;
                           return (self ? "attention_" : "") + info.param.name;
                         });

// --- Broken mechanisms: each breaks one law, and that law must see it. ---

TEST(BrokenMechanism, WeightsThatSumToMoreThanOne) {
  const Mechanism broken = [](AttentionInputs in) {
    AttentionOutput out = attend(in);
    if (!out.weights.rows.empty()) out.weights.rows = out.weights.rows * 1.01;
    return out;
  };
  EXPECT_GT(violation(Law::rows_sum_to_one, broken), enough);
}

TEST(BrokenMechanism, LooksAhead) {
  const Mechanism broken = [](AttentionInputs in) {
    in.who = {};
    return attend(in);
  };
  EXPECT_GT(violation(Law::causal, broken), enough);
  EXPECT_GT(violation(Law::padding, broken), enough);
  EXPECT_GT(violation(Law::nothing_is_zero, broken), enough);
}

TEST(BrokenMechanism, PrefersTheFirstKey) {
  const Mechanism broken = [](AttentionInputs in) {
    Tensor bias = Tensor::zeros({in.k.dim(1)});
    bias.write()[0] = 1;
    in.bias = bias;
    return attend(in);
  };
  EXPECT_GT(violation(Law::permutation, broken), enough);
}

TEST(BrokenMechanism, CountsThePadding) {
  const Mechanism broken = [](AttentionInputs in) {
    AttentionOutput out = attend(in);
    out.context = out.context * (1.0 / static_cast<double>(in.k.dim(1)));
    return out;
  };
  EXPECT_GT(violation(Law::padding, broken), enough);
  EXPECT_GT(violation(Law::padding, broken, true), enough);
}

TEST(BrokenMechanism, GivesTheMeanToAQueryThatMayLookAtNothing) {
  const Mechanism broken = [](AttentionInputs in) {
    AttentionOutput out = attend(in);
    const Tensor everything = broadcast_to(mean(in.v, 1, true), out.context.shape());
    out.context = out.context + everything * 0.001;
    return out;
  };
  EXPECT_GT(violation(Law::nothing_is_zero, broken), enough);
}

TEST(BrokenMechanism, NormalisesOverTheQueries) {
  const Mechanism broken = [](AttentionInputs in) {
    AttentionOutput out = attend(in);
    out.context = out.context - mean(out.context, 1, true);
    return out;
  };
  EXPECT_GT(violation(Law::steps_equal_whole, broken), enough);
}

}  // namespace
}  // namespace fovea::test
