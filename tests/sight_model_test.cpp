// Models of pictures: gradients of all parameters, no picture depends on the others of its batch,
// and REINFORCE's gradient is that of the expected reward.
#include <gtest/gtest.h>

#include "fovea/attention/recorder.h"
#include "fovea/model/sight/conv_net.h"
#include "fovea/model/sight/fully_connected.h"
#include "fovea/model/sight/glimpses.h"
#include "fovea/model/sight/patches.h"
#include "fovea/model/table.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"
#include "support/layer.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

ModelSizes sizes_of(int64_t height, int64_t width, int64_t channels, int64_t labels = 3) {
  return {.labels = labels, .height = height, .width = width, .channels = channels};
}
ModelInputs inputs_of(const Tensor& pictures) {
  ModelInputs in;
  in.pictures = pictures;
  return in;
}

TEST(Glimpse, SeesWhatIsAroundItAtEveryScale) {
  Tensor x({1, 4, 4, 1});
  for (int i = 0; i < 16; ++i) x.write()[static_cast<size_t>(i)] = static_cast<float>(i);
  const Tensor middle = Tensor::zeros({1, 2});
  EXPECT_EQ(glimpse_start(0, 4, 2), 1);
  EXPECT_EQ(glimpse_start(-1, 4, 2), -1);
  EXPECT_EQ(glimpse_start(1, 4, 2), 3);
  const Tensor y = glimpse(x, middle, {.size = 2, .scales = 3});
  // Pixels of the middle; means of 2 x 2 of all; and of the picture in the middle of black.
  const std::vector<float> wanted{5,     6,     9,          10,         2.5f,       4.5f,
                                  10.5f, 12.5f, 10 / 16.0f, 18 / 16.0f, 42 / 16.0f, 50 / 16.0f};
  expect_close(y, Tensor::of({1, 12}, wanted), 1e-6);
  const Tensor corner = glimpse(x, Tensor::of({1, 2}, {-1, 1}), {.size = 2});
  expect_close(corner, Tensor::of({1, 4}, {0, 0, 3, 0}), 1e-6);
  for (const double far : {1e30, -1e30}) {
    EXPECT_NO_THROW(glimpse(x, Tensor::full({1, 2}, far), {.size = 2}));
  }
}

TEST(Glimpse, ItsGradientIsTheNumericOne) {
  const Tensor places = random_tensor({2, 2}, 2);
  check_gradients([&](auto& x) { return glimpse(x[0], places, {.size = 3, .scales = 2}); },
                  {random_tensor({2, 5, 6, 2}, 1)});
}

TEST(SightModels, GradientsAreTheNumericOnes) {
  const Tensor pictures = random_tensor({3, 6, 6, 2}, 1, 0, 1);
  const auto error = [&](const auto& make, std::optional<uint64_t> seed) {
    Parameters table(1, Dtype::f64);
    const auto model = make(Scope(table));
    return gradient_error([&](auto& x) { return model(inputs_of(x[0])).scores; }, {pictures}, table,
                          {.step = 1e-6, .seed = seed});
  };
  for (const std::string block : {"plain", "residual", "depthwise"}) {
    SCOPED_TRACE(block);
    EXPECT_LT(error(
                  [&](Scope s) {
                    return ConvClassifier(s, sizes_of(6, 6, 2),
                                          {.stages = 2, .blocks = 2, .width = 3, .block = block});
                  },
                  7),
              1e-5);
  }
  EXPECT_LT(error(
                [&](Scope s) {
                  return FullyConnected(s, sizes_of(6, 6, 2), {2, 5, 0});
                },
                {}),
            1e-5);
  TransformerOptions small;
  small.layers = 2, small.width = 8, small.heads = 2, small.dropout = small.attention_dropout = 0;
  small.position = "none";
  for (const int64_t patch : {3, 4}) {  // 4 leaves a rest, which is filled up
    EXPECT_LT(
        error([&](Scope s) { return PatchTransformer(s, sizes_of(6, 6, 2), {patch}, small); }, {}),
        1e-5);
  }
}

// Places are constants to the scores, so only pictures that no place depends on can be moved: the
// parameters of seeing are.
TEST(SightModels, GradientsOfGlimpses) {
  const Tensor pictures = random_tensor({3, 6, 6, 1}, 1, 0, 1);
  const Tensor targets = Tensor::ids({3}, {0, 2, 1});
  Parameters table(1, Dtype::f64);
  const GlimpseClassifier model(table, sizes_of(6, 6, 1),
                                {.glimpses = 2, .glimpse = 3, .scales = 2, .width = 6}, true);
  EXPECT_LT(gradient_error([&](auto&) { return model.loss(inputs_of(pictures), targets, 0.1); }, {},
                           table, {.seed = 3}),
            1e-5);
}

TEST(SightModels, NoPictureDependsOnTheOthers) {
  const Tensor pictures = random_tensor({5, 12, 12, 1}, 1, 0, 1, Dtype::f32);
  for (const ModelEntry* entry : models_for(Takes::picture, Gives::label)) {
    SCOPED_TRACE(entry->name);
    Parameters table(1);
    Settings settings = entry->defaults;
    settings.set("width", "8");
    if (entry->name == "patches") settings.set("layers", "2");
    const auto model = make_model<Scorer>(*entry, table, sizes_of(12, 12, 1), settings);
    const Tensor all = (*model)(inputs_of(pictures)).scores;
    for (int64_t i = 0; i < 5; ++i) {
      const Tensor alone = (*model)(inputs_of(slice(pictures, 0, i, i + 1))).scores;
      expect_close(alone, slice(all, 0, i, i + 1), 2e-5);
    }
  }
}

TEST(SightModels, SayWhatDoesNotFit) {
  Parameters table(1);
  EXPECT_EQ(error_of([&] { ConvEncoder(table, sizes_of(5, 9, 1), {.stages = 3}); }),
            "stages: pictures of 5 x 9 pixels can be halved 2 times, not 3");
}

TEST(ConvEncoder, GivesRegions) {
  for (const auto& [block, rows, columns] :
       {std::tuple<std::string, int64_t, int64_t>{"plain", 3, 2},
        {"residual", 4, 3},
        {"depthwise", 3, 3}}) {
    SCOPED_TRACE(block);
    Parameters table(1);
    const ConvEncoder encoder(table, sizes_of(13, 10, 3),
                              {.stages = 2, .blocks = 2, .width = 4, .block = block});
    EXPECT_EQ(encoder.rows(), rows);
    EXPECT_EQ(encoder.columns(), columns);
    EXPECT_EQ(encoder.features(), 8);
    const Tensor x = random_tensor({2, 13, 10, 3}, 1, 0, 1, Dtype::f32);
    EXPECT_EQ(encoder(x).shape(), (Shape{2, rows * columns, 8}));
  }
}

TEST(Glimpses, LeaveTheirPathInTheRecorder) {
  Parameters table(1);
  const GlimpseClassifier model(table, sizes_of(10, 10, 1), {.glimpses = 3, .glimpse = 4}, false);
  const Tensor x = random_tensor({2, 10, 10, 1}, 1, 0, 1, Dtype::f32);
  const Recorder recorder;
  model(inputs_of(x));
  ASSERT_EQ(recorder.maps().size(), 3u);
  const Tensor rows = recorder.maps()[0].weights.rows;
  EXPECT_EQ(rows.shape(), (Shape{2, 1, 1, 100}));
  EXPECT_FLOAT_EQ(rows.read()[33], 1 / 16.0f) << "first the middle";
  EXPECT_NEAR(sum(rows).item(), 2, 1e-5);
}

// One glimpse of 2 x 2 pixels: its place falls into a cell of a pixel, and what is answered depends
// on the cell alone. So the expected reward is a sum over cells, of what is answered there times
// how likely the place falls into it, and its gradient with respect to the mean is exact.
TEST(Reinforce, GradientIsThatOfTheExpectedReward) {
  constexpr int64_t side = 4;
  constexpr double deviation = 0.4, weight = 0.7;
  Parameters table(3, Dtype::f64);
  const GlimpseClassifier model(
      table, sizes_of(side, side, 1, 2),
      {.glimpses = 1, .glimpse = 2, .width = 4, .deviation = deviation, .reward = weight}, false);
  table["place/bias"] = Tensor::of({2}, std::vector<double>{0.15, -0.1});
  table["baseline/bias"] = Tensor::of({1}, std::vector<double>{0.3});  // moves nothing
  // What is seen is the same within a cell, but the place itself is not: it is hidden.
  table["core/from_where/weight"] = Tensor::zeros({4, 2}, Dtype::f64);
  const Tensor picture = random_tensor({1, side, side, 1}, 5, -3, 3);

  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  const auto density = [](double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); };
  // Of each axis: how likely the place falls into a cell, and how that changes with the mean.
  const double mean[2] = {std::tanh(0.15), std::tanh(-0.1)};
  const auto edge = [](int64_t start) {  // where glimpse_start becomes `start`
    return (static_cast<double>(start) - 0.5 + 1) * 2 / side - 1;
  };
  double expected[2] = {0, 0}, rewards = 0, likely = 0;
  for (int64_t i = -8; i <= 8; ++i) {
    for (int64_t j = -8; j <= 8; ++j) {
      const int64_t cell[2] = {i, j};
      double p[2], slope[2];
      std::vector<double> place(2);
      for (int a = 0; a < 2; ++a) {
        const double low = (edge(cell[a]) - mean[a]) / deviation,
                     high = (edge(cell[a] + 1) - mean[a]) / deviation;
        p[a] = below(high) - below(low);
        slope[a] = (density(low) - density(high)) / deviation;
        place[static_cast<size_t>(a)] = (edge(cell[a]) + edge(cell[a] + 1)) / 2;
        ASSERT_EQ(glimpse_start(place[static_cast<size_t>(a)], side, 2), cell[a]);
      }
      const Tensor at = Tensor::of({1, 2}, place);
      const Tensor scores = model.scores_at(picture, std::vector{at});
      const double right = softmax(scores).read<double>()[1];
      likely += p[0] * p[1];
      rewards += right * p[0] * p[1];
      expected[0] += right * slope[0] * p[1];
      expected[1] += right * p[0] * slope[1];
    }
  }
  EXPECT_NEAR(likely, 1, 1e-9);
  ASSERT_GT(rewards, 0.1);
  ASSERT_LT(rewards, 0.9);

  constexpr int64_t draws = 1600, batch = 128;
  const Tensor many = broadcast_to(picture, {batch, side, side, 1});
  const Tensor targets = Tensor::of({batch}, std::vector<int32_t>(batch, 1));
  double sum[2] = {0, 0}, squares[2] = {0, 0};
  Random random(11);
  for (int64_t n = 0; n < draws; ++n) {
    Tape tape(random);
    const Gradients g = tape.backward(model.loss(inputs_of(many), targets, 0));
    const Tensor slope = g[table["place/bias"]];
    for (int a = 0; a < 2; ++a) {
      // The loss has the reward with a minus and its weight; tanh(bias) is the mean.
      const double one =
          -slope.read<double>()[static_cast<size_t>(a)] / weight / (1 - mean[a] * mean[a]);
      sum[a] += one, squares[a] += one * one;
    }
  }
  for (int a = 0; a < 2; ++a) {
    const double found = sum[a] / draws;
    const double error = std::sqrt((squares[a] / draws - found * found) / draws);
    EXPECT_LT(std::abs(found - expected[a]), 3 * error) << "axis " << a;
    EXPECT_GT(std::abs(expected[a]), 10 * error) << "else the test could not fail";
  }
}

}  // namespace
}  // namespace fovea::test
