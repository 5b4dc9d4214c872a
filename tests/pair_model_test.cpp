// Models of two texts, and of a phrase in its sentence: gradients, neighbours in a batch, and data
// on which only the mechanism's own structure tells.
#include <gtest/gtest.h>

#include "fovea/model/table.h"
#include "fovea/op/reduce.h"
#include "fovea/train/optimizer.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

const ModelSizes sizes{.vocabulary = 9, .labels = 3, .longest = 20};

ModelInputs inputs_of(Takes takes, std::span<const std::vector<int32_t>> first,
                      std::span<const std::vector<int32_t>> second,
                      const std::vector<int32_t>& phrase) {
  ModelInputs in;
  in.text = sequences_of(first);
  if (takes == Takes::pair) in.second = sequences_of(second);
  const auto B = static_cast<int64_t>(first.size());
  if (takes == Takes::phrase) in.phrase = Tensor::of({B, 2}, phrase);
  return in;
}

const std::vector<std::vector<int32_t>> texts{{4, 5, 6, 1, 2}, {3}, {6, 5, 4}},
    others{{7, 2}, {8, 1, 4, 4}, {5}};  // the first and the last pair share a token
// In the middle, alone, at the end.
const std::vector<int32_t> phrases{1, 3, 0, 1, 1, 3};

// All but those that are fitted, at least in part, to what tasks make of their texts.
std::vector<const ModelEntry*> trained(Takes takes) {
  std::vector<const ModelEntry*> list = models_for(takes, Gives::label);
  std::erase_if(list, [](const ModelEntry* row) {
    return row->name == "linear" || row->name == "wide" || row->name == "most_frequent";
  });
  return list;
}
std::vector<const ModelEntry*> rows() {
  std::vector<const ModelEntry*> list = trained(Takes::pair);
  for (const ModelEntry* row : trained(Takes::phrase)) list.push_back(row);
  return list;
}

Settings small() {
  Settings s;
  for (const auto& [name, value] : {std::pair{"embed", "3"},
                                    {"width", "4"},
                                    {"score_width", "3"},
                                    {"hops", "2"},
                                    {"heads", "2"},
                                    {"hidden", "5"}}) {
    s.set(name, value);
  }
  return s;
}

class EveryPairModel : public testing::TestWithParam<const ModelEntry*> {};

TEST_P(EveryPairModel, GradientsOfAllParameters) {
  for (const char* whole : {"true", "false"}) {
    for (const char* pooled : {"false", "true"}) {
      Settings settings = small();
      settings.set("whole", whole);
      settings.set("pooled", pooled);
      Parameters table(3, Dtype::f64);
      const auto model = make_model<Scorer>(*GetParam(), table, sizes, settings);
      const ModelInputs in = inputs_of(GetParam()->takes, texts, others, phrases);
      const Function f = [&](const std::vector<Tensor>&) { return (*model)(in).scores; };
      EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
    }
  }
}

TEST_P(EveryPairModel, NeighboursInABatchChangeNothing) {
  Parameters table(3);
  const auto model = make_model<Scorer>(*GetParam(), table, sizes, small());
  const Tensor together = (*model)(inputs_of(GetParam()->takes, texts, others, phrases)).scores;
  for (size_t b = 0; b < texts.size(); ++b) {
    const Tensor alone = (*model)(inputs_of(GetParam()->takes, {&texts[b], 1}, {&others[b], 1},
                                            {phrases[2 * b], phrases[2 * b + 1]}))
                             .scores;
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(alone.read()[c], together.read()[b * 3 + c], 1e-5);
    }
  }
}

TEST_P(EveryPairModel, OverATransformer) {
  if (GetParam()->name == "rnn") GTEST_SKIP() << "recurrent states by definition";
  Settings settings = small();
  settings.set("encoder", "transformer");
  Parameters table(3, Dtype::f64);
  const auto model = make_model<Scorer>(*GetParam(), table, sizes, settings);
  EXPECT_TRUE(table.has("encoder/0/self/query/weight")) << "blocks in the place of layers";
  const ModelInputs in = inputs_of(GetParam()->takes, texts, others, phrases);
  const Function f = [&](const std::vector<Tensor>&) { return (*model)(in).scores; };
  EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 2e-5);
  const Tensor alone =
      (*model)(inputs_of(GetParam()->takes, {&texts[0], 1}, {&others[0], 1}, {1, 3})).scores;
  const Tensor together = (*model)(in).scores;
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(alone.read<double>()[c], together.read<double>()[c], 1e-9);
  }
}

TEST(RecordModels, GradientsWithARecordInThePlaceOfTheSecondText) {
  for (const ModelEntry* row : trained(Takes::pair)) {
    SCOPED_TRACE(row->name);
    if (row->name == "transformer") continue;  // it compares two texts
    Parameters table(3, Dtype::f64);
    ModelSizes with_numbers = sizes;
    with_numbers.features = 2;
    const auto model = make_model<Scorer>(*row, table, with_numbers, small());
    ModelInputs in;
    in.text = sequences_of(texts);
    in.numbers = random_tensor({3, 2}, 4);
    const Function f = [&](const std::vector<Tensor>&) { return (*model)(in).scores; };
    EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
    in.numbers = random_tensor({3, 5}, 4);
    EXPECT_THROW((*model)(in), Error);
  }
}

// Of each token 1 where the other text of its pair has it too.
Tensor marks_of(std::span<const std::vector<int32_t>> texts_,
                std::span<const std::vector<int32_t>> others_) {
  std::vector<float> marks;
  for (size_t b = 0; b < texts_.size(); ++b) {
    for (const int32_t id : texts_[b]) {
      marks.push_back(std::ranges::count(others_[b], id) > 0 ? 1.0f : 0.0f);
    }
  }
  return Tensor::of({static_cast<int64_t>(marks.size()), 1}, marks);
}

TEST(MarkedPairs, MarksAreReadByEveryModelThatComparesTexts) {
  for (const ModelEntry* row : trained(Takes::pair)) {
    SCOPED_TRACE(row->name);
    const bool reads = row->defaults.get("match") == "true";
    EXPECT_EQ(reads, row->name != "siamese" && row->name != "transformer");
    if (!reads) continue;
    for (const char* encoder : {"rnn", "transformer"}) {
      Settings settings = small();
      settings.set({{"match", "true"}, {"encoder", encoder}});
      Parameters table(3, Dtype::f64);
      const auto model = make_model<Scorer>(*row, table, sizes, settings);
      ModelInputs in = inputs_of(Takes::pair, texts, others, {});
      EXPECT_THROW((*model)(in), Error) << "a batch without marks";
      in.shared = marks_of(texts, others), in.second_shared = marks_of(others, texts);
      const Function f = [&](const std::vector<Tensor>&) { return (*model)(in).scores; };
      EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 2e-5);
      const Tensor with = (*model)(in).scores;
      in.shared = Tensor::zeros(in.shared.shape());
      EXPECT_NE(with.read<double>()[0], (*model)(in).scores.read<double>()[0]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryPairModel, testing::ValuesIn(rows()), [](const auto& info) {
  return info.param->name + (info.param->takes == Takes::pair ? "_of_pairs" : "_of_phrases");
});

TEST(PhraseModels, APhraseOutsideItsTextIsAnError) {
  Parameters table(3);
  const auto model = make_model<Scorer>(find_model("rotatory", Takes::phrase, Gives::label), table,
                                        sizes, small());
  EXPECT_THROW((*model)(inputs_of(Takes::phrase, texts, others, {1, 3, 0, 2, 1, 3})), Error);
  EXPECT_THROW((*model)(inputs_of(Takes::phrase, texts, others, {1, 1, 0, 1, 1, 3})), Error);
}

// --- Planted structure. ---

struct Planted {
  std::vector<std::vector<int32_t>> first, second;
  std::vector<int32_t> phrase, labels;
};
using Planter = std::function<Planted(int64_t n, Random random)>;

// Accuracy on fresh examples after so many steps.
double learned(const std::string& name, Takes takes, const Planter& plant, Settings settings,
               int64_t vocabulary, int steps) {
  for (const auto& [key, value] : {std::pair{"embed", "16"}, {"width", "16"}}) {
    if (!settings.has(key)) settings.set(key, value);
  }
  Parameters table(1);
  const auto model =
      make_model<Scorer>(find_model(name, takes, Gives::label), table,
                         {.vocabulary = vocabulary, .labels = 2, .longest = 20}, settings);
  const auto adam = make_optimizer(table, {.kind = "adam", .rate = 0.01});
  for (int step = 0; step < steps; ++step) {
    const Planted batch = plant(64, Random(static_cast<uint64_t>(step) + 10));
    Random random(static_cast<uint64_t>(step));
    Tape tape(random);
    const Tensor targets = Tensor::of({64}, batch.labels);
    adam->step(tape.backward(
        model->loss(inputs_of(takes, batch.first, batch.second, batch.phrase), targets, 0)));
  }
  const Planted test = plant(500, Random(3));
  const Tensor answers =
      argmax((*model)(inputs_of(takes, test.first, test.second, test.phrase)).scores, -1);
  int right = 0;
  for (size_t i = 0; i < 500; ++i) right += answers.read<int32_t>()[i] == test.labels[i];
  return right / 500.0;
}

// Two of six things in a sentence, each with its opinion beside it, the two opposite: what is said
// of the phrase is the label.
Planted two_opinions(int64_t n, Random random) {
  Planted p;
  for (int64_t i = 0; i < n; ++i) {
    const auto one = static_cast<int32_t>(random.below(6));
    const auto other = static_cast<int32_t>((one + 1 + random.below(5)) % 6);
    const auto good = static_cast<int32_t>(random.below(2));
    const auto opinion = [&](int32_t is_good) {
      return static_cast<int32_t>(10 + 4 * is_good + random.below(4));
    };
    p.first.push_back({4 + one, opinion(good), 3, 4 + other, opinion(1 - good)});
    const bool asks_first = random.below(2) == 0;
    p.phrase.push_back(asks_first ? 0 : 3), p.phrase.push_back(asks_first ? 1 : 4);
    p.labels.push_back(asks_first ? good : 1 - good);
  }
  return p;
}

TEST(Planted, OnlyThePhraseTells) {
  for (const char* model :
       {"rotatory", "interactive", "alternating", "parallel", "multi_grained"}) {
    SCOPED_TRACE(model);
    EXPECT_GE(learned(model, Takes::phrase, two_opinions, {}, 18, 150), 0.97);
  }
  EXPECT_LT(learned("rnn", Takes::phrase, two_opinions, {}, 18, 150), 0.65)
      << "the sentence alone cannot tell";
}

// A key that is asked for, and a list of keys with values: is the asked key's value high? With so
// many keys a vector of the list alone, made without knowing the key, does not hold all values.
constexpr int32_t keys = 12;
Planted look_up(int64_t n, Random random) {
  Planted p;
  for (int64_t i = 0; i < n; ++i) {
    const auto asked = static_cast<int32_t>(random.below(keys));
    const auto at = static_cast<int32_t>(random.below(keys));
    const auto high = static_cast<int32_t>(random.below(2));
    std::vector<int32_t> list;
    for (int32_t j = 0; j < keys; ++j) {
      // Every key once, in any order that starts anywhere; the value is part of the token.
      const int32_t key = (asked + j + keys - at) % keys;
      const auto value = key == asked ? high : static_cast<int32_t>(random.below(2));
      list.push_back(4 + keys + 2 * key + value);
    }
    p.first.push_back({4 + asked});
    p.second.push_back(list);
    p.labels.push_back(high);
  }
  return p;
}

TEST(Planted, OnlyTheOtherTextTellsWhereToLook) {
  Settings narrow;
  narrow.set("width", "3");
  for (const char* model : {"interactive", "alternating", "parallel", "multi_grained"}) {
    SCOPED_TRACE(model);
    EXPECT_GE(learned(model, Takes::pair, look_up, narrow, 4 + 3 * keys, 450), 0.97);
  }
  EXPECT_LT(learned("siamese", Takes::pair, look_up, narrow, 4 + 3 * keys, 450), 0.9);
}

// Two lists of tokens out of many: is any in both? Which ones they are does not tell, only the
// affinity of a pair does.
Planted in_common(int64_t n, Random random) {
  constexpr int32_t things = 40, length = 4;
  Planted p;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int32_t> order(things);
    for (int32_t j = 0; j < things; ++j) order[static_cast<size_t>(j)] = 4 + j;
    for (size_t j = 0; j < 2 * length; ++j) {
      std::swap(order[j], order[j + random.below(things - j)]);
    }
    p.first.emplace_back(order.begin(), order.begin() + length);
    p.second.emplace_back(order.begin() + length, order.begin() + 2 * length);
    const auto same = static_cast<int32_t>(random.below(2));
    if (same == 1) p.second.back()[random.below(length)] = p.first.back()[random.below(length)];
    p.labels.push_back(same);
  }
  return p;
}

TEST(Planted, OnlyTheAffinityTells) {
  Settings pooled;
  pooled.set("pooled", "true");
  pooled.set("score", "general");
  EXPECT_GE(learned("parallel", Takes::pair, in_common, pooled, 44, 400), 0.97);
  EXPECT_LT(learned("siamese", Takes::pair, in_common, {}, 44, 400), 0.8);
}

}  // namespace
}  // namespace fovea::test
