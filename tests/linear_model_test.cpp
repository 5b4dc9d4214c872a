// Models that are fitted at once: features, coordinate descent, calibration, n-grams, neighbours.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "fovea/base/parallel.h"
#include "fovea/data/feature_words.h"
#include "fovea/data/ngrams.h"
#include "fovea/data/tag_features.h"
#include "fovea/model/linear/calibration.h"
#include "fovea/model/linear/classifier.h"
#include "fovea/model/linear/coordinate_descent.h"
#include "fovea/model/linear/crf_tagger.h"
#include "fovea/model/linear/regressor.h"
#include "fovea/model/linear/ridge.h"
#include "fovea/model/ngram/kneser_ney.h"
#include "fovea/model/numbers/nearest.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using Texts = std::vector<std::vector<std::string>>;

Ngrams ngrams_of(const Texts& texts, const NgramOptions& options) {
  return Ngrams::learn(options, static_cast<int64_t>(texts.size()),
                       [&](int64_t i) { return texts[static_cast<size_t>(i)]; });
}

TEST(FeatureCounter, CountsGroupsNotTimes) {
  FeatureCounter counter;
  for (int32_t group = 0; group < 40; ++group) {
    for (uint64_t f = 0; f <= static_cast<uint64_t>(group); ++f) {
      counter.add(FeatureHash(1).add(std::to_string(f)).finish(), group);
      counter.add(FeatureHash(1).add(std::to_string(f)).finish(), group);
    }
  }
  EXPECT_EQ(counter.counts(1, 0).size(), 40U);
  EXPECT_EQ(counter.counts(39, 0).size(), 2U);  // 0 comes in 40 groups, 1 in 39
  const auto most = counter.counts(1, 1);
  ASSERT_EQ(most.size(), 1U);
  EXPECT_EQ(most[0].groups, 40);
  EXPECT_NE(FeatureHash(1).add("a").finish(), FeatureHash(2).add("a").finish());
}

TEST(FeatureIndex, FindsWhatItKeeps) {
  std::vector<uint64_t> features;
  for (uint64_t i = 0; i < 1000; ++i) features.push_back(i * 0x9e3779b97f4a7c15);
  std::ranges::sort(features);
  const FeatureIndex index(features), again = FeatureIndex::from(index.to_tensor());
  for (size_t i = 0; i < features.size(); ++i) {
    EXPECT_EQ(index.id(features[i]), static_cast<int32_t>(i));
    EXPECT_EQ(again.id(features[i]), static_cast<int32_t>(i));
  }
  EXPECT_EQ(index.id(5), -1);
  EXPECT_EQ(FeatureIndex().id(5), -1);
}

TEST(Ngrams, AreWeightedByHowRareTheyAre) {
  const Texts texts{{"a", "b"}, {"a", "c"}, {"a", "b"}};
  const Ngrams ngrams = ngrams_of(texts, {.words = 2, .letters = 0, .least = 1});
  EXPECT_EQ(ngrams.size(), 5);  // a, b, c, a b, a c
  const auto values = ngrams.values(texts[0]);
  ASSERT_EQ(values.size(), 3U);
  double squares = 0, least = 1;
  for (const auto& one : values) {
    squares += static_cast<double>(one.value) * static_cast<double>(one.value);
    least = std::min(least, static_cast<double>(one.value));
  }
  EXPECT_NEAR(squares, 1, 1e-6);
  // "a" is in all three: idf 1; "b" and "a b" in two: 1 + log(4 / 3).
  const double rare = 1 + std::log(4.0 / 3);
  EXPECT_NEAR(least, 1 / std::sqrt(1 + 2 * rare * rare), 1e-6);
  EXPECT_TRUE(ngrams.values(std::vector<std::string>{"zebra"}).empty());
}

TEST(Ngrams, LettersStayInsideOfWordsAndKeepCharactersWhole) {
  const Texts texts{{"é"}, {"é"}};
  const Ngrams ngrams = ngrams_of(texts, {.words = 1, .letters = 3, .least = 1});
  EXPECT_EQ(ngrams.size(), 4);  // é; " é", "é ", " é "
  const ScratchFolder scratch;
  ngrams.save(scratch.path(), "n");
  const Ngrams again = Ngrams::load(scratch.path(), "n");
  const auto one = ngrams.values(texts[0]), two = again.values(texts[0]);
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].value, two[i].value);
  float sum = 0, places = 0;
  for (const auto& value : one) sum += value.value;
  for (const auto& place : ngrams.places(texts[0])) places += place.value;
  EXPECT_NEAR(sum, places, 1e-6);
}

TEST(Ngrams, MarkedWordsAreFeaturesOfTheirOwn) {
  const Texts texts{{"a", "b", marked("m", "a"), marked("m", "b"), marked("o", "b")}};
  // Words: a, b, a b, and as many of m, one of o; letters: three of a, three of b.
  EXPECT_EQ(ngrams_of(texts, {.words = 2, .letters = 0, .least = 1}).size(), 7);
  EXPECT_EQ(ngrams_of(texts, {.words = 2, .letters = 3, .least = 1}).size(), 13);
}

TEST(FeatureWords, OfAPairSayWhatBothHave) {
  const std::vector<std::string> first{"where", "is", "anna"}, second{"anna", "is", "out", "is"};
  const FeatureWords all = words_of_pair(first, second);
  EXPECT_EQ(all.words, (std::vector<std::string>{
                           "where", "is", "anna", marked("second", "anna"), marked("second", "is"),
                           marked("second", "out"), marked("second", "is"),
                           marked("shared", "anna"), marked("shared", "is"),
                           marked("second in first", "7"), marked("long second in first", "10"),
                           marked("first in second", "6"), marked("long first in second", "5")}));
  EXPECT_EQ(all.tokens, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 3, 4, -1, -1, -1, -1}));
  EXPECT_EQ(words_of_pair({}, {}).words.size(), 0U);
}

TEST(FeatureWords, SharedAreThoseThatTheOtherTextHas) {
  const std::vector<std::string> first{"where", "is", "anna"}, second{"anna", "is", "out", "is"};
  EXPECT_EQ(shared_words(first, second), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(shared_words(second, first), (std::vector<float>{1, 1, 0, 1}));
  EXPECT_TRUE(shared_words({}, first).empty());
}

TEST(FeatureWords, OfARecordSayAboutHowLargeEachNumberIs) {
  const std::vector<std::string> text{"ill"}, names{"age", "pulse", "heat"};
  const FeatureWords all = words_of_record(text, names, std::vector{-0.1, std::nan(""), 8.0});
  EXPECT_EQ(all.words, (std::vector<std::string>{"ill", marked("age", "-1"), marked("pulse", "?"),
                                                 marked("heat", "5")}));
  EXPECT_EQ(all.tokens, (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(FeatureWords, OfAPhraseSayWhatStandsRoundIt) {
  const std::vector<std::string> words{"the", "red", "wine", "is", "bad", ",", "i", "think"};
  const FeatureWords all = words_of_phrase(words, 1, 3);
  const auto said = [&](const std::string& mark) {
    std::string text;
    for (const std::string& word : all.words) {
      const std::string begin = marked(mark, "");
      if (word.starts_with(begin)) text += (text.empty() ? "" : " ") + word.substr(begin.size());
    }
    return text;
  };
  EXPECT_EQ(said("near"), "the $T$ is bad , i");
  EXPECT_EQ(said("clause"), "the $T$ is bad");
  EXPECT_EQ(said("phrase"), "red wine");
  EXPECT_EQ(all.words.size(), all.tokens.size());
  EXPECT_EQ(words_of_phrase({}, 0, 1).words.size(), 2U) << "two places of no phrase";
}

SparseRows rows_of(const std::vector<std::vector<float>>& dense) {
  std::vector<int32_t> offsets{0}, ids;
  std::vector<float> values;
  for (const auto& row : dense) {
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i] != 0) ids.push_back(static_cast<int32_t>(i)), values.push_back(row[i]);
    }
    offsets.push_back(static_cast<int32_t>(ids.size()));
  }
  return {Tensor::of({static_cast<int64_t>(offsets.size())}, offsets),
          Tensor::of({static_cast<int64_t>(ids.size())}, ids),
          Tensor::of({static_cast<int64_t>(values.size())}, values)};
}

// Noisy points about a line, with a feature that tells nothing.
struct Points {
  std::vector<std::vector<float>> x;
  std::vector<int32_t> labels;
  explicit Points(int64_t n, uint64_t seed) {
    Random random(seed);
    for (int64_t i = 0; i < n; ++i) {
      const auto a = static_cast<float>(random.normal()), b = static_cast<float>(random.normal());
      x.push_back({a, b, static_cast<float>(random.normal())});
      labels.push_back(2 * a - b + 0.3 + random.normal() * 0.7 > 0);
    }
  }
  Fitted::Examples examples() const {
    ModelInputs in;
    in.sparse = rows_of(x);
    return {in, Tensor::of({static_cast<int64_t>(labels.size())}, labels)};
  }
};

TEST(CoordinateDescent, FindsTheMinimum) {
  const Points points(200, 1);
  const SparseRows rows = rows_of(points.x);
  const std::vector<char> first(points.labels.begin(), points.labels.end());
  DescentOptions options;
  options.cost = 0.7;
  options.tolerance = 1e-8;
  options.rounds = 5000;
  const LinearFit fit = fit_two_classes(rows, 3, first, options);
  EXPECT_LT(fit.rounds, 5000);
  // At the minimum the gradient of the primal is zero: w = 2 C sum_i y x max(0, 1 - y w.x).
  std::vector<double> gradient = fit.weight;
  for (size_t i = 0; i < points.x.size(); ++i) {
    const double y = first[i] ? 1 : -1;
    double score = fit.weight[3];
    for (size_t f = 0; f < 3; ++f) score += fit.weight[f] * static_cast<double>(points.x[i][f]);
    const double pull = 2 * options.cost * y * std::max(0.0, 1 - y * score);
    for (size_t f = 0; f < 3; ++f) gradient[f] -= pull * static_cast<double>(points.x[i][f]);
    gradient[3] -= pull;
  }
  for (double g : gradient) EXPECT_NEAR(g, 0, 1e-4);
  // From another cost's end it comes to the same.
  DescentOptions other = options;
  other.cost = 0.1;
  const LinearFit warm =
      fit_two_classes(rows, 3, first, options, fit_two_classes(rows, 3, first, other).dual);
  for (size_t f = 0; f < 4; ++f) EXPECT_NEAR(warm.weight[f], fit.weight[f], 1e-4);
}

TEST(Ridge, IsTheClosedForm) {
  Random random(2);
  std::vector<std::vector<float>> x;
  std::vector<float> y;
  std::array<double, 3> mean{};
  for (int i = 0; i < 30; ++i) {
    const auto a = static_cast<float>(random.normal()), b = static_cast<float>(random.normal());
    x.push_back({a, b + 1});
    y.push_back(2 * a - b + 3 + static_cast<float>(random.normal()));
    mean[0] += static_cast<double>(a) / 30, mean[1] += static_cast<double>(b + 1) / 30;
    mean[2] += static_cast<double>(y.back()) / 30;
  }
  for (double cost : {0.02, 1.0, 50.0}) {
    SCOPED_TRACE(cost);
    // About the means: (S + I / 2 C) w = s, by Cramer's rule.
    double aa = 0.5 / cost, bb = aa, ab = 0, ay = 0, by = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double a = static_cast<double>(x[i][0]) - mean[0],
                   b = static_cast<double>(x[i][1]) - mean[1],
                   target = static_cast<double>(y[i]) - mean[2];
      aa += a * a, bb += b * b, ab += a * b, ay += a * target, by += b * target;
    }
    const double under = aa * bb - ab * ab, first = (ay * bb - by * ab) / under,
                 second = (by * aa - ay * ab) / under;
    RidgeOptions options;
    options.cost = cost;
    options.tolerance = 1e-9;
    const RidgeFit fit = fit_ridge(rows_of(x), 2, y, options);
    EXPECT_LE(fit.rounds, 10);
    EXPECT_NEAR(fit.weight[0], first, 1e-6);
    EXPECT_NEAR(fit.weight[1], second, 1e-6);
    EXPECT_NEAR(fit.weight[2], mean[2] - first * mean[0] - second * mean[1], 1e-6);
    const RidgeFit warm = fit_ridge(rows_of(x), 2, y, options, fit.weight);
    EXPECT_EQ(warm.rounds, 0) << "where it ends it stays";
  }
}

TEST(LinearRegressor, LearnsTheSameBitsOnAnyThreads) {
  const auto examples = [](int64_t n, uint64_t seed) {
    const Points points(n, seed);
    std::vector<float> targets;
    for (const auto& row : points.x) targets.push_back(row[0] - 2 * row[1] + 0.5F);
    ModelInputs in;
    in.sparse = rows_of(points.x);
    return Fitted::Examples{in, Tensor::of({n, 1}, targets)};
  };
  const Fitted::Examples train = examples(600, 4), dev = examples(50, 5);
  std::vector<std::vector<float>> weights;
  for (int count : {1, 3}) {
    set_threads(count);
    Parameters table(0);
    const LinearRegressor model(table, {.sparse = 3}, {});
    model.fit(train, dev, {});
    EXPECT_NEAR(model.vote(0), 1, 0.01);
    EXPECT_NEAR(model.vote(1), -2, 0.01);
    const Tensor found = model(dev.inputs).scores;
    for (int64_t i = 0; i < 50; ++i) EXPECT_NEAR(found.read()[i], dev.targets.read()[i], 0.05);
    weights.emplace_back(table["weight"].read().begin(), table["weight"].read().end());
  }
  set_threads(2);
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(Calibration, FindsHowSureScoresAre) {
  Random random(3);
  std::vector<float> scores;
  std::vector<int32_t> targets;
  for (int i = 0; i < 4000; ++i) {
    const double s = random.normal();
    scores.push_back(0), scores.push_back(static_cast<float>(s));
    targets.push_back(random.uniform() < 1 / (1 + std::exp(-3 * s)));
  }
  const Tensor t = Tensor::of({4000, 2}, scores), y = Tensor::of({4000}, targets);
  EXPECT_NEAR(best_factor(t, y), 3, 0.4);
  EXPECT_LT(mean_surprise({t}, {3}, y), mean_surprise({t}, {1}, y));
  EXPECT_GT(share_right(t, y), 0.8);
}

TEST(LinearClassifier, LearnsTheSameBitsOnAnyThreads) {
  const Points train(300, 4), dev(100, 5);
  std::vector<std::vector<float>> weights;
  for (int count : {1, 3}) {
    set_threads(count);
    Parameters table(0);
    const LinearClassifier model(table, {.labels = 2, .sparse = 3}, {});
    model.fit(train.examples(), dev.examples(), {});
    const auto examples = dev.examples();
    EXPECT_GT(share_right(model(examples.inputs).scores, examples.targets), 0.8);
    EXPECT_GT(model.vote(0, 1), 0);
    EXPECT_LT(model.vote(1, 1), 0);
    weights.emplace_back(table["weight"].read().begin(), table["weight"].read().end());
  }
  set_threads(2);
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(TagFeatures, KnowWordsByWhatStandsAroundThem) {
  const Texts sentences{{"the", "Cat", "sat"}, {"the", "Dog", "sat"}};
  const TagFeatures features = TagFeatures::learn(2, sentences);
  const auto ids = features.ids(std::vector<std::string>{"the", "Cow", "sat"});
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_FALSE(ids[1].empty());  // never seen, but its shape and neighbours are
  EXPECT_GT(ids[0].size(), ids[1].size());
  EXPECT_TRUE(features.ids(std::vector<std::string>()).empty());
}

TEST(KneserNey, GivesProbabilitiesThatSumToOne) {
  Random random(7);
  std::vector<int32_t> text;
  for (int i = 0; i < 3000; ++i) {
    text.push_back(i > 0 && random.uniform() < 0.7F ? (text.back() * 3 + 1) % 7
                                                    : static_cast<int32_t>(random.below(7)));
  }
  const KneserNey model({.vocabulary = 9}, {.order = 4});
  model.count(text);
  std::vector<float> row(9);
  for (const std::vector<int32_t>& before :
       {std::vector<int32_t>{}, {0}, {8}, {1, 4, 6}, {8, 8, 1}, {3, 3, 3, 3, 3}}) {
    model.row(before, row.data());
    double sum = 0;
    for (float x : row) sum += std::exp(static_cast<double>(x));
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_TRUE(std::isfinite(row[8])) << "a token that was never seen";
  }
  model.row(std::vector<int32_t>{1, 4}, row.data());
  EXPECT_EQ(std::ranges::max_element(row) - row.begin(), 6);  // 4 * 3 + 1 = 13 = 6 mod 7
  // Step by step as all at once.
  Sequences ids = sequences_of(std::vector<std::vector<int32_t>>{{1, 4, 6}, {2}});
  const Tensor all = model.scores(ids);
  const auto text_of = model.start();
  Tensor last;
  for (int32_t token : {1, 4, 6}) last = text_of->step(Tensor::ids({1}, {token}));
  for (int64_t v = 0; v < 9; ++v) EXPECT_EQ(last.read()[v], all.read()[2 * 9 + v]);
}

TEST(LeastSquares, FindsALine) {
  Random random(9);
  std::vector<float> x, y;
  for (int i = 0; i < 50; ++i) {
    x.push_back(static_cast<float>(random.normal())),
        x.push_back(static_cast<float>(random.normal()));
    y.push_back(3 * x[2 * i] - 2 * x[2 * i + 1] + 5);
  }
  ModelInputs in;
  in.numbers = Tensor::of({50, 2}, x);
  in.known.numbers = in.numbers;
  in.known.answers = Tensor::of({50, 1}, y);
  const Fitted::Examples all{in, in.known.answers};
  Parameters table(0);
  const LeastSquares line(table, {.features = 2});
  line.fit(all, all, {});
  for (int i = 0; i < 50; ++i) EXPECT_NEAR(line(in).scores.read()[i], y[i], 1e-3);
  Parameters other(0);
  const NearestNeighbours nearest(other);
  nearest.fit(all, all, {});  // every example is its own neighbour
  EXPECT_EQ(other["count"].read()[0], 1);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(nearest(in).scores.read()[i], y[i]);
}

}  // namespace
}  // namespace fovea::test
