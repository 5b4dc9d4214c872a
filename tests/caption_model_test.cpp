// Models of pictures and words: gradients, one step at a time, what is learned from rewards.
#include <gtest/gtest.h>

#include "fovea/attention/recorder.h"
#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/model/sight/captioner.h"
#include "fovea/model/sight/picture_question.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"
#include "fovea/train/optimizer.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

constexpr int64_t words = 6;
const std::vector<std::vector<int32_t>> targets{{2, 4, 5}, {2}, {2, 4, 4, 5}};
const std::vector<int32_t> wanted_ids{4, 5, 3, 3, 4, 4, 5, 3};

Tensor wanted() { return Tensor::of({static_cast<int64_t>(wanted_ids.size())}, wanted_ids); }

CaptionerOptions small(double penalty = 0) {
  CaptionerOptions o;
  o.embed = 3, o.width = 4, o.penalty = penalty;
  o.stages = 2, o.channels = 2;
  return o;
}
AttentionOptions choice(const std::string& score, const std::string& align = "softmax") {
  return {.score = score, .align = align, .score_width = 3};
}
constexpr ModelSizes sizes{.vocabulary = 7,
                           .target_vocabulary = words,
                           .labels = 4,
                           .height = 8,
                           .width = 6,
                           .channels = 3,
                           .frames = 3};

Tensor pictures(int64_t n, Dtype dtype = Dtype::f64) {
  return random_tensor({n, 8, 6, 3}, 5, 0, 1, dtype);
}
Tensor films(int64_t n, Dtype dtype = Dtype::f64) {
  return random_tensor({n, 3, 8, 6, 3}, 6, 0, 1, dtype);
}

template <class Model>
double captioner_error(Looking looking, const AttentionOptions& attention, const Tensor& seen,
                       double penalty = 0) {
  Parameters table(3, Dtype::f64);
  const Model model(table, sizes, looking, small(penalty), attention);
  ModelInputs in;
  in.pictures = seen;
  const Sequences y = sequences_of(targets);
  const Function scores = [&](const std::vector<Tensor>&) { return model.teach(in, y).scores; };
  const Function loss = [&](const std::vector<Tensor>&) { return model.loss(in, y, wanted(), 0); };
  return std::max(gradient_error(scores, {}, table), gradient_error(loss, {}, table));
}

TEST(Captioner, Gradients) {
  EXPECT_LT(captioner_error<Captioner>(Looking::soft, choice("additive"), pictures(3)), 1e-5);
  EXPECT_LT(captioner_error<Captioner>(Looking::soft, choice("additive"), pictures(3), 0.7), 1e-5);
  EXPECT_LT(captioner_error<Captioner>(Looking::soft, choice("general", "entmax"), pictures(3)),
            1e-4);
  EXPECT_LT(captioner_error<Captioner>(Looking::none, choice("additive"), pictures(3)), 1e-5);
  EXPECT_LT(captioner_error<FilmCaptioner>(Looking::soft, choice("additive"), films(3), 0.3), 1e-5);
  EXPECT_LT(captioner_error<FilmCaptioner>(Looking::none, choice("additive"), films(3)), 1e-5);
}

// What is not drawn is differentiated as it is: the heaviest region stays the heaviest.
TEST(Captioner, GradientsOfHardLooks) {
  EXPECT_LT(captioner_error<Captioner>(Looking::hard, choice("additive"), pictures(3), 0.7), 1e-5);
}

TEST(PictureQuestionModel, Gradients) {
  for (const char* mechanism : {"parallel", "alternating", "mean", "question"}) {
    for (const int64_t levels : {1, 3}) {
      SCOPED_TRACE(say(mechanism, " ", levels));
      Parameters table(4, Dtype::f64);
      PictureQuestionOptions o;
      o.width = 3, o.levels = levels, o.stages = 2, o.channels = 2;
      const std::string score =
          std::string(mechanism) == "parallel" ? "activated_general" : "additive";
      const PictureQuestionModel model(table, mechanism, sizes, o, choice(score));
      ModelInputs in;
      in.pictures = pictures(3);
      in.question =
          sequences_of(std::vector<std::vector<int32_t>>{{4, 5, 6}, {3}, {6, 5, 4, 4, 2}});
      const Function scores = [&](const std::vector<Tensor>&) { return model(in).scores; };
      // Steps as small as this stay on one side of the phrases' maxima.
      EXPECT_LT(gradient_error(scores, {}, table, {.step = 1e-5}), 1e-5);
    }
  }
}

// A picture's answer does not depend on what else is in the batch, nor a question's on padding.
TEST(PictureQuestionModel, ExamplesDoNotSeeEachOther) {
  Parameters table(4);
  PictureQuestionOptions o;
  o.width = 4, o.stages = 2, o.channels = 2;
  const PictureQuestionModel model(table, "parallel", sizes, o, choice("activated_general"));
  const std::vector<std::vector<int32_t>> questions{{4, 5, 6}, {3}, {6, 5, 4, 4, 2}};
  ModelInputs all;
  all.pictures = pictures(3, Dtype::f32);
  all.question = sequences_of(questions);
  const Tensor together = model(all).scores;
  for (int64_t b = 0; b < 3; ++b) {
    ModelInputs one;
    one.pictures = slice(all.pictures, 0, b, b + 1);
    one.question =
        sequences_of(std::vector<std::vector<int32_t>>{questions[static_cast<size_t>(b)]});
    const Tensor alone = model(one).scores;
    for (int64_t c = 0; c < 4; ++c) {
      EXPECT_NEAR(alone.read()[c], together.read()[b * 4 + c], 1e-5);
    }
  }
}

// Row t of what is taught is what step t of an answer gives that is led along the same path.
TEST(Captioner, StepsEqualTheWhole) {
  for (const Looking looking : {Looking::soft, Looking::hard, Looking::none}) {
    for (const int64_t beam : {1, 3}) {
      SCOPED_TRACE(say(static_cast<int>(looking), " ", beam));
      Parameters table(5);
      const Captioner model(table, sizes, looking, small(), choice("additive"));
      ModelInputs in;
      in.pictures = pictures(3, Dtype::f32);
      const Sequences y = sequences_of(targets);
      const Tensor whole = model.teach(in, y).scores;
      const auto decoding = model.decoder().start(model.encode(in), beam);
      for (int64_t t = 0; t < y.longest; ++t) {
        Tensor ids({3 * beam}, Dtype::i32);
        for (int64_t i = 0; i < ids.elements(); ++i) {
          const auto& target = targets[static_cast<size_t>(i / beam)];
          ids.write<int32_t>()[i] = target[std::min(static_cast<size_t>(t), target.size() - 1)];
        }
        const Tensor scores = decoding->step(ids);
        for (int64_t i = 0; i < ids.elements(); ++i) {
          if (t >= static_cast<int64_t>(targets[static_cast<size_t>(i / beam)].size())) continue;
          const int64_t row = y.offsets.read<int32_t>()[i / beam] + t;
          for (int64_t c = 0; c < words; ++c) {
            EXPECT_NEAR(scores.read()[i * words + c], whole.read()[row * words + c], 2e-5);
          }
        }
        std::vector<int32_t> rows;  // within a picture all answers are alike
        for (int64_t i = 0; i < ids.elements(); ++i) {
          rows.push_back(static_cast<int32_t>(i / beam * beam + (i + 1) % beam));
        }
        decoding->select(Tensor::of({ids.elements()}, rows));
      }
    }
  }
}

TEST(Captioner, BeamSearchAnswersAndLooksAreRecorded) {
  Parameters table(5);
  const Captioner model(table, sizes, Looking::hard, small(), choice("additive"));
  ModelInputs in;
  in.pictures = pictures(2, Dtype::f32);
  const auto answers = beam_search(model.decoder(), model.encode(in),
                                   {.beam = 3, .nbest = 2, .longest_factor = 0.1});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].size(), 2u);
  Recorder recorder;
  model.teach(in, sequences_of(std::vector<std::vector<int32_t>>{{2, 4}, {2, 5}}));
  ASSERT_EQ(recorder.maps().size(), 2u);
  const Tensor rows = recorder.maps()[0].weights.rows;  // [B, 1, 1, L]
  EXPECT_EQ(rows.shape(), (Shape{2, 1, 1, model.region_rows() * model.region_columns()}));
  double sum = 0, most = 0;
  for (float x : rows.read()) sum += x, most = std::max<double>(most, x);
  EXPECT_EQ(sum, 2);
  EXPECT_EQ(most, 1);
}

// ---- What is learned from rewards -------------------------------------------------------------

struct Rewarded {
  static constexpr int64_t regions = 3, features = 2, steps = 2;
  CaptionDecoderOptions options;
  Parameters table{7, Dtype::f64};
  CaptionDecoder decoder;

  explicit Rewarded(double reward)
      : options(made(reward)),
        decoder(table, words, features, Looking::hard, options, choice("additive")) {
    // First looks are almost even; these differ, and what is seen matters.
    for (const Parameter& p : table.entries()) {
      if (p.frozen()) continue;
      for (double& x : p.write<double>()) x *= 3;
    }
  }
  static CaptionDecoderOptions made(double reward) {
    CaptionDecoderOptions o;
    o.embed = 3, o.width = 3, o.expectation = 0, o.look_entropy = 0, o.reward = reward;
    return o;
  }
  static Memory memory(int64_t n) {
    const Tensor one = random_tensor({1, regions, features}, 8);
    Memory m{.states = concat(std::vector<Tensor>(static_cast<size_t>(n), one), 0)};
    m.lengths = Tensor::of({n}, std::vector<int32_t>(static_cast<size_t>(n), regions));
    m.beginnings = {mean(m.states, 1)};
    return m;
  }
  static Sequences target(int64_t n) {
    return sequences_of(std::vector(static_cast<size_t>(n), std::vector<int32_t>{2, 4}));
  }
  static Tensor after(int64_t n) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < n; ++i) ids.insert(ids.end(), {4, 3});
    return Tensor::of({2 * n}, ids);
  }
  // A few numbers that tell gradients apart: their products with fixed vectors.
  std::vector<double> shadow(const Gradients& gradients) const {
    std::vector<double> numbers;
    uint64_t seed = 100;
    for (const Parameter& p : table.entries()) {
      if (p.frozen()) continue;
      const Tensor g = gradients.or_zeros(p), by = random_tensor(p.shape(), seed++);
      double sum = 0;
      for (int64_t i = 0; i < g.elements(); ++i) sum += g.read<double>()[i] * by.read<double>()[i];
      numbers.push_back(sum);
    }
    return numbers;
  }
  // Over every pair of looks: sum of p(looks) cost(looks).
  std::vector<double> exact() const {
    Tape tape;
    Tensor expected;
    for (int32_t a = 0; a < regions; ++a) {
      for (int32_t b = 0; b < regions; ++b) {
        const auto one = decoder.forced(memory(1), target(1), after(1),
                                        Tensor::of({1, steps}, std::vector<int32_t>{a, b}));
        const Tensor part = exp(sum(one.log_probability)) * sum(one.cost);
        expected = expected.empty() ? part : expected + part;
      }
    }
    return shadow(tape.backward(expected));
  }
  // Means of n estimates and their standard errors.
  std::pair<std::vector<double>, std::vector<double>> estimated(int n, int64_t batch) const {
    Random random(11);
    std::vector<double> total, squares;
    for (int i = 0; i <= n; ++i) {
      Tape tape(random);
      // The loss is of a word, the expectation of a caption.
      const Tensor loss =
          affine(decoder.loss(memory(batch), target(batch), after(batch), 0), steps, 0);
      const auto g = shadow(tape.backward(loss));
      if (i == 0) {  // it has no baseline yet
        total.assign(g.size(), 0), squares.assign(g.size(), 0);
        continue;
      }
      for (size_t k = 0; k < g.size(); ++k) total[k] += g[k], squares[k] += g[k] * g[k];
    }
    for (size_t k = 0; k < total.size(); ++k) {
      total[k] /= n;
      squares[k] = std::sqrt(std::max(0.0, squares[k] / n - total[k] * total[k]) / n);
    }
    return {total, squares};
  }
};

TEST(HardCaptioner, GradientsFromRewardsAreUnbiased) {
  const Rewarded with(1), without(0);
  const auto exact = with.exact();
  const auto [means, errors] = with.estimated(400, 16);
  const auto [biased, biased_errors] = without.estimated(400, 16);
  double worst = 0;
  for (size_t k = 0; k < exact.size(); ++k) {
    EXPECT_LE(std::abs(means[k] - exact[k]), 3 * errors[k] + 1e-12) << k;
    worst = std::max(worst, std::abs(biased[k] - exact[k]) / (biased_errors[k] + 1e-12));
  }
  EXPECT_GT(worst, 6) << "what is drawn does not matter here: the test could not fail";
}

TEST(HardCaptioner, TheBaselineMovesWhileItTrainsOnly) {
  const Rewarded r(1);
  const Parameter baseline = r.table["baseline"];
  const auto loss = [&] {
    return r.decoder.loss(Rewarded::memory(16), Rewarded::target(16), Rewarded::after(16), 0)
        .item();
  };
  loss();
  EXPECT_EQ(baseline.read<double>()[1], 0);
  Random random(1);
  {
    Tape tape(random);
    loss();
  }
  const double first = baseline.read<double>()[0];
  EXPECT_GT(first, 0);
  EXPECT_EQ(baseline.read<double>()[1], 1);
  {
    Tape tape(random);
    loss();
  }
  EXPECT_NE(baseline.read<double>()[0], first);
  EXPECT_TRUE(baseline.frozen());
}

// ---- Every region its share of the looks ------------------------------------------------------

// How far the looks at regions, summed over words, are from even: mean over pictures of
// sum_i (share_i - 1 / L)^2.
double unevenness(double penalty) {
  constexpr int64_t B = 8, L = 6;
  CaptionDecoderOptions o;
  o.embed = 8, o.width = 12, o.penalty = penalty;
  Parameters table(3);
  const CaptionDecoder decoder(table, words, 4, Looking::soft, o, choice("additive"));
  Memory memory{.states = random_tensor({B, L, 4}, 9, -1, 1, Dtype::f32)};
  memory.lengths = Tensor::of({B}, std::vector<int32_t>(B, L));
  memory.beginnings = {mean(memory.states, 1)};
  std::vector<std::vector<int32_t>> captions;
  std::vector<int32_t> after;
  Random random(4);
  for (int64_t b = 0; b < B; ++b) {
    std::vector<int32_t> ids{2};
    for (int t = 0; t < 5; ++t) ids.push_back(4 + static_cast<int32_t>(random.below(2)));
    after.insert(after.end(), ids.begin() + 1, ids.end());
    after.push_back(3);
    captions.push_back(ids);
  }
  const Sequences target = sequences_of(captions);
  const Tensor next = Tensor::of({static_cast<int64_t>(after.size())}, after);
  const auto adam = make_optimizer(table, {.kind = "adam", .rate = 0.02});
  for (int step = 0; step < 120; ++step) {
    Tape tape;
    adam->step(tape.backward(decoder.loss(memory, target, next, 0)));
  }
  Recorder recorder;
  decoder.teach(memory, target);
  std::vector<double> share(B * L, 0);
  for (const auto& map : recorder.maps()) {
    for (size_t i = 0; i < share.size(); ++i) share[i] += map.weights.rows.read()[i] / 6;
  }
  double sum = 0;
  for (double x : share) sum += (x - 1.0 / L) * (x - 1.0 / L) / B;
  return sum;
}

TEST(Captioner, ThePenaltyEvensOutTheLooks) {
  const double without = unevenness(0), with = unevenness(1);
  EXPECT_LT(with, 0.3 * without) << without << " without it, " << with << " with it";
}

}  // namespace
}  // namespace fovea::test
