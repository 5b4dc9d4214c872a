// How long a random-access machine runs, and that problems side by side do not touch each other.
#include "fovea/model/machine/random_access.h"

#include <gtest/gtest.h>

#include "fovea/attention/recorder.h"
#include "fovea/data/algorithms.h"
#include "support/gradient.h"

namespace fovea::test {
namespace {

constexpr int64_t symbols = 9;
const AlgorithmOptions problems{.symbols = symbols};
const ModelSizes sizes{.inputs = symbols + 1, .outputs = symbols};

ModelInputs inputs_of(const Algorithm& of, std::span<const std::string> lines, Dtype dtype) {
  const StepBatch batch = batch_of(of, problems, lines);
  ModelInputs in;
  in.steps = batch.steps.to(dtype);
  in.rows = batch.asked;
  return in;
}

// Steps that it takes with so many cells.
int64_t steps_of(const RandomAccessOptions& options, int64_t cells) {
  const Algorithm& access = find_algorithm("ram-access");
  const std::string line = access.draw(problems, cells, Random(1), Random(2));
  Parameters table(7);
  const RandomAccessMachine model(table, sizes, options);
  Recorder recorder;
  model(inputs_of(access, {&line, 1}, Dtype::f32));
  return std::ssize(recorder.maps());
}

TEST(RandomAccess, MoreCellsGetMoreSteps) {
  RandomAccessOptions o{.registers = 2, .width = 3};
  EXPECT_EQ(steps_of(o, 4), 2 + 4);
  EXPECT_EQ(steps_of(o, 8), 2 + 8);
  o.cell_steps = 0.5;
  EXPECT_EQ(steps_of(o, 4), 2 + 2);
  EXPECT_EQ(steps_of(o, 5), 2 + 3) << "a part of a step is one";
  o.cell_steps = 3;
  EXPECT_EQ(steps_of(o, 4), 2 + 12);
  o.cell_steps = 0;
  EXPECT_EQ(steps_of(o, 8), 2);
  o.cell_steps = 3, o.machine_steps = 4;
  EXPECT_EQ(steps_of(o, 4), 4);
  EXPECT_EQ(steps_of(o, 8), 4);
}

// Three are copied, each time elsewhere, so that other cells are asked for.
TEST(RandomAccess, AProblemsScoresDoNotDependOnItsNeighbours) {
  const Algorithm& copy = find_algorithm("ram-copy");
  const std::vector<std::string> lines{"4 1 2 3 0 0 0 0 0", "6 8 7 5 0 0 0 0 0",
                                       "5 3 3 4 0 0 0 0 0"};
  Parameters table(7, Dtype::f64);
  const RandomAccessMachine model(table, sizes, {.registers = 3, .width = 5, .machine_steps = 4});
  // As they are drawn all wiring is nearly undecided, and no problem's own cells would show.
  for (double& w : table["wiring/weight"].write<double>()) w *= 20;
  const Tensor together = model(inputs_of(copy, lines, Dtype::f64)).scores;
  const int64_t B = std::ssize(lines), n = 3;
  ASSERT_EQ(together.shape(), Shape({n * B, symbols}));
  const auto score = [&](const Tensor& of, int64_t row, int64_t number) {
    return of.read<double>()[row * symbols + number];
  };
  double apart = 0;
  for (int64_t b = 0; b < B; ++b) {
    const Tensor alone = model(inputs_of(copy, {&lines[b], 1}, Dtype::f64)).scores;
    ASSERT_EQ(alone.shape(), Shape({n, symbols}));
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t c = 0; c < symbols; ++c) {
        EXPECT_NEAR(score(alone, k, c), score(together, k * B + b, c), 1e-9) << lines[b];
        apart = std::max(apart, std::abs(score(alone, k, c) - score(together, k * B, c)));
      }
    }
  }
  EXPECT_GT(apart, 0.01) << "all have the same scores, whichever is whose";
}

}  // namespace
}  // namespace fovea::test
