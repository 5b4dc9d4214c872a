// Averaged weights: the mean itself, and that training ships it without being changed by it.
#include "fovea/train/average.h"

#include <gtest/gtest.h>

#include "fovea/base/parallel.h"
#include "fovea/train/checkpoint.h"
#include "support/program.h"
#include "support/scratch.h"
#include "support/toy_learner.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

void set(const Parameter& to, std::initializer_list<float> values) {
  std::ranges::copy(values, to.write().begin());
}

TEST(Snapshots, TheMeanIsOfTheLastOnesAndSummedInFloat64) {
  Parameters table;
  const Parameter w = Scope(table).param("w", {2}, init::zeros());
  Snapshots snapshots(table, 3);
  EXPECT_TRUE(snapshots.mean().empty());
  set(w, {100, 100}), snapshots.add();
  set(w, {2, 1e8f}), snapshots.add();
  set(w, {4, 1}), snapshots.add();
  set(w, {9, -1e8f}), snapshots.add();
  EXPECT_EQ(snapshots.count(), 3);
  expect_same_bits(snapshots.mean()[0], Tensor::of({2}, {5, static_cast<float>(1.0 / 3)}));
}

TEST(Snapshots, TheMeanStandsInForTheWeightsAndGivesWay) {
  Parameters table;
  const Parameter w = Scope(table).param("w", {1}, init::zeros());
  Snapshots snapshots(table, 5);
  { const Replaced nothing = snapshots.mean_in_place(); }
  for (float value : {1.f, 2.f}) set(w, {value}), snapshots.add();
  set(w, {7});
  const uint32_t number = w.value().identity().parameter;
  EXPECT_THROW(
      {
        const Replaced mean = snapshots.mean_in_place();
        EXPECT_EQ(w.value().item(), 1.5);
        EXPECT_EQ(w.value().identity().parameter, number);
        fail("a validation that goes wrong");
      },
      Error);
  EXPECT_EQ(w.value().item(), 7);
  EXPECT_EQ(w.value().identity().parameter, number);
  snapshots.mean_in_place().keep();
  EXPECT_EQ(w.value().item(), 1.5);
}

TEST(Snapshots, WholeNumbersAreTheNewestAndFloat64StaysSo) {
  Parameters whole(0, Dtype::i32), fine(0, Dtype::f64);
  const Parameter n = Scope(whole).param("n", {1}, init::zeros());
  const Parameter x = Scope(fine).param("x", {1}, init::zeros());
  Snapshots of_whole(whole, 2), of_fine(fine, 2);
  for (int value : {3, 4}) {
    n.write<int32_t>()[0] = value, of_whole.add();
    x.write<double>()[0] = value + 1e-12, of_fine.add();
  }
  EXPECT_EQ(of_whole.mean()[0].read<int32_t>()[0], 4);
  EXPECT_EQ(of_fine.mean()[0].read<double>()[0], ((3 + 1e-12) + (4 + 1e-12)) / 2);
}

TEST(Snapshots, TheSameBitsWithAnyNumberOfThreads) {
  Parameters table;
  const Parameter w = Scope(table).param("w", {3, 2111}, init::zeros());
  Snapshots snapshots(table, 5);
  std::vector<double> sum(w.elements());
  for (uint64_t k = 0; k < 5; ++k) {
    const Tensor now = random_tensor(w.shape(), k, -1, 1, Dtype::f32);
    std::ranges::copy(now.read(), w.write().begin());
    snapshots.add();
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += now.read()[i];
  }
  Tensor expected(w.shape());
  std::ranges::transform(sum, expected.write().begin(),
                         [](double x) { return static_cast<float>(x / 5); });
  const int before = threads();
  for (int count : {1, 2, 4}) {
    set_threads(count);
    expect_same_bits(snapshots.mean()[0], expected);
  }
  set_threads(before);
}

TEST(Snapshots, OnlyAsManyAsAreAskedForTakeMemory) {
  Parameters table;
  Scope(table).param("w", {1}, init::zeros());
  for (int64_t most : {0, 1}) {
    Snapshots off(table, most);
    off.add();
    EXPECT_EQ(off.count(), 0);
    EXPECT_TRUE(off.state().empty());
  }
}

TEST(Snapshots, ARestartTakesTheNewest) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/state";
  Parameters table, other;
  const Parameter w = Scope(table).param("w", {1}, init::zeros());
  Scope(other).param("w", {2}, init::zeros());
  Snapshots four(table, 4), two(table, 2), six(table, 6), stranger(other, 4);
  for (float value : {1.f, 2.f, 3.f, 6.f}) set(w, {value}), four.add();
  save_safetensors(path, four.state());
  const Safetensors file = Safetensors::open(path);
  two.restore(file, path), six.restore(file, path);
  EXPECT_EQ(two.mean()[0].item(), 4.5);
  EXPECT_EQ(six.mean()[0].item(), 3);
  EXPECT_NE(error_of([&] { stranger.restore(file, path); }).find("'snapshot/0/w' is"),
            std::string::npos);
  EXPECT_EQ(stranger.count(), 0);
}

// What a run of the toy did, and its raw weights whenever it validated.
struct Watched {
  std::vector<double> losses, sizes;
  std::vector<Tensor> weights;
};

Watched watch(Toy& toy, const TrainOptions& options, const std::string& folder) {
  Watched seen;
  train(toy, {.options = options, .folder = folder, .progress = [&](const TrainProgress& p) {
                seen.losses.push_back(p.loss);
                if (p.validation.empty()) return;
                seen.weights.push_back(toy.weight_);
                seen.sizes.push_back(p.validation[0].value);
              }});
  return seen;
}

Tensor mean_of(const std::vector<Tensor>& values, size_t from, size_t to) {
  Tensor mean = Tensor::zeros(values[0].shape());
  for (int64_t i = 0; i < mean.elements(); ++i) {
    double sum = 0;
    for (size_t k = from; k < to; ++k) sum += values[k].read()[i];
    mean.write()[i] = static_cast<float>(sum / static_cast<double>(to - from));
  }
  return mean;
}

Tensor shipped(const std::string& folder) {
  Toy toy;
  load_parameters(folder + "/model.safetensors", toy.parameters());
  return toy.weight_;
}

TEST(Average, TrainingIsNotChangedButTheMeanIsValidatedAndShipped) {
  const ScratchFolder plain, averaged;
  TrainOptions o = steps(32);  // validates at 7, 14, 21, 28 and at its end
  o.keep_best = false;
  Toy one, other;
  const Watched raw = watch(one, o, plain.path());
  o.average = 3;
  const Watched seen = watch(other, o, averaged.path());
  EXPECT_EQ(seen.losses, raw.losses);
  ASSERT_EQ(seen.weights.size(), 5u);
  for (size_t k = 0; k < 5; ++k) {
    SCOPED_TRACE(k);
    expect_same_bits(seen.weights[k], raw.weights[k]);
    const Tensor mean = mean_of(raw.weights, k < 3 ? 0 : k - 2, k + 1);
    EXPECT_EQ(seen.sizes[k], sum(square(mean)).item());
  }
  const Tensor last = mean_of(raw.weights, 2, 5);
  expect_same_bits(shipped(averaged.path()), last);
  expect_same_bits(other.weight_, last);
  Toy goes_on;
  load_parameters(Safetensors::open(averaged.path() + "/state.safetensors"), "state",
                  goes_on.parameters(), "parameter/");
  expect_same_bits(goes_on.weight_, raw.weights[4]);
}

TEST(Average, TheBestMeanIsKept) {
  const ScratchFolder folder;
  TrainOptions o = steps(28);
  o.average = 2;
  Toy toy;
  toy.given = {0.1, 0.3, 0.9, 0.2};
  const Watched seen = watch(toy, o, folder.path());
  expect_same_bits(shipped(folder.path()), mean_of(seen.weights, 1, 3));
}

TEST(Average, ARunKilledAnywhereEndsInTheSameBits) {
  const ScratchFolder whole, copies;
  TrainOptions o = steps(24);
  o.average = 3;
  o.keep_best = false;
  // What a kill would leave after each step and after each validation.
  int moments = 0;
  const auto copy = [&](const TrainProgress&) {
    fs::copy(whole.path(), say(copies.path(), "/", moments++), fs::copy_options::recursive);
  };
  Toy unbroken;
  train(unbroken, {.options = o, .folder = whole.path(), .progress = copy});
  ASSERT_EQ(moments, 24 + 4);
  for (int k = 0; k < moments; ++k) {
    SCOPED_TRACE(k);
    const std::string folder = say(copies.path(), "/", k);
    Toy toy;
    train(toy, {.options = o, .folder = folder, .resume = true});
    expect_same_bits(shipped(folder), shipped(whole.path()));
    expect_same_bits(toy.weight_, unbroken.weight_);
  }
  Toy again;
  train(again, {.options = o, .folder = whole.path(), .resume = true});
  expect_same_bits(again.weight_, unbroken.weight_);
  EXPECT_EQ(again.validations, 0u) << "a run that had ended has nothing left to do";
}

TEST(Average, OfOneIsPlainAndOfFewerIsRefused) {
  const ScratchFolder folder;
  TrainOptions o = steps(10);
  o.average = 1;
  Toy toy, plain;
  train(toy, {.options = o, .folder = folder.path()});
  train(plain, {.options = steps(10)});
  expect_same_bits(toy.weight_, plain.weight_);
  const Safetensors state = Safetensors::open(folder.path() + "/state.safetensors");
  for (const auto& entry : state.entries()) {
    EXPECT_FALSE(entry.name.starts_with("snapshot/")) << entry.name;
  }
  o.average = -2;
  EXPECT_NE(error_of([&] { train(toy, {.options = o}); }).find("average must be 0"),
            std::string::npos);
}

TEST(Average, TheProgramTakesIt) {
  EXPECT_NE(run(program + " train label --help-all").out.find("--average"), std::string::npos);
  const ScratchFolder s;
  const std::string words = program +
                            " train label --data builtin:tags --examples 100 --embed 8 --width 12"
                            " --validate-every 3 --set keep_best=false --steps 12 ";
  ASSERT_EQ(run(words + "--out " + s.path() + "/plain").exit, 0);
  ASSERT_EQ(run(words + "--average 3 --out " + s.path() + "/mean").exit, 0);
  const Safetensors state = Safetensors::open(s.path() + "/mean/state.safetensors"),
                    raw = Safetensors::open(s.path() + "/plain/model.safetensors"),
                    mean = Safetensors::open(s.path() + "/mean/model.safetensors");
  bool differs = false;
  for (const auto& entry : mean.entries()) {
    std::vector<Tensor> kept;
    for (int k = 0; k < 3; ++k) kept.push_back(state.load(say("snapshot/", k, "/", entry.name)));
    expect_same_bits(mean.load(entry), mean_of(kept, 0, 3));
    expect_same_bits(state.load("parameter/" + entry.name), raw.load(entry.name));
    differs |= relative_difference(mean.load(entry), raw.load(entry.name)) > 0;
  }
  EXPECT_TRUE(differs);
  const Ended refused = run(words + "--average -1", true);
  EXPECT_EQ(refused.exit, 2);
  EXPECT_NE(refused.out.find("'average' must be from 0"), std::string::npos) << refused.out;
}

}  // namespace
}  // namespace fovea::test
