// Recurrent models: gradients, independence of padding, one step at a time.
#include <gtest/gtest.h>

#include "fovea/model/recurrent/capsule_classifier.h"
#include "fovea/model/recurrent/classifier.h"
#include "fovea/model/recurrent/tagger.h"
#include "fovea/model/seq2seq/encoder_decoder.h"
#include "fovea/op/softmax.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

// Worst error of the gradients of all parameters of what `scores` computes.
double parameters_error(Parameters& table, const std::function<Tensor()>& scores) {
  const Function layer = [&](const std::vector<Tensor>&) { return scores(); };
  return layer_error(table, layer, std::vector<Tensor>());
}

constexpr int64_t source_words = 7, target_words = 6;

const std::vector<std::vector<int32_t>> sources{{4, 5, 6, 1, 2}, {3}, {6, 5, 4}};
const std::vector<std::vector<int32_t>> targets{{2, 4, 5}, {2}, {2, 3, 3, 5}};

RecurrentModelOptions small(const std::string& cell, bool bidirectional = true,
                            int64_t layers = 1) {
  return {.cell = cell, .layers = layers, .embed = 3, .width = 4, .bidirectional = bidirectional};
}

AttentionOptions choice(const std::string& score, const std::string& align = "softmax",
                        const std::string& query = "single") {
  return {.score = score, .align = align, .query = query, .heads = 2, .score_width = 3, .reach = 2};
}

constexpr ModelSizes words{.vocabulary = source_words, .target_vocabulary = target_words};

struct Translating {
  RecurrentModelOptions recurrent;
  AttentionOptions attention;
  std::string summary = "last";
  bool input_feeding = false;

  EncoderDecoder make(Parameters& table) const {
    return EncoderDecoder(table, words, {{recurrent, input_feeding}, summary}, attention);
  }
};

// Gradients of all parameters of the taught scores, against numeric ones.
double taught_error(const Translating& options) {
  Parameters table(3, Dtype::f64);
  const EncoderDecoder model = options.make(table);
  const Sequences y = sequences_of(targets);
  const ModelInputs x{.text = sequences_of(sources)};
  return parameters_error(table, [&] { return model.teach(x, y).scores; });
}

TEST(EncoderDecoder, GradientsWithoutAttention) {
  for (const char* summary : {"last", "activated", "mean"}) {
    for (const char* cell : {"rnn", "gru", "lstm"}) {
      SCOPED_TRACE(summary);
      EXPECT_LT(taught_error({small(cell), choice("none"), summary}), 1e-5);
    }
  }
  EXPECT_LT(taught_error({small("lstm", false, 2), choice("none")}), 1e-5);
}

TEST(EncoderDecoder, GradientsWithEveryScore) {
  for (const Entry& entry : catalog()) {
    if (entry.kind != Entry::Kind::score) continue;
    SCOPED_TRACE(entry.name);
    EXPECT_LT(taught_error({small("gru"), choice(entry.name)}), 1e-4);
  }
}

TEST(EncoderDecoder, GradientsWithEverySmoothAlignment) {
  for (const char* align : {"softmax", "sigmoid", "local_m", "local_p", "sparsemax", "entmax"}) {
    SCOPED_TRACE(align);
    EXPECT_LT(taught_error({small("lstm"), choice("general", align)}), 1e-4);
  }
}

TEST(EncoderDecoder, GradientsWithInputFeeding) {
  EXPECT_LT(taught_error({small("lstm", true, 2), choice("additive"), "last", true}), 1e-5);
  EXPECT_LT(taught_error({small("gru"), choice("none"), "mean", true}), 1e-5);
}

// Row t of what is taught is what step t of an answer gives that is led along the same path.
void expect_steps_equal_whole(const Translating& options, int64_t beam) {
  Parameters table(5);
  const EncoderDecoder model = options.make(table);
  const Sequences x = sequences_of(sources), y = sequences_of(targets);
  const Tensor whole = model.teach({.text = x}, y).scores;
  const auto decoding = model.decoder().start(model.encode({.text = x}), beam);
  for (int64_t t = 0; t < y.longest; ++t) {
    Tensor ids({x.count() * beam}, Dtype::i32);
    for (int64_t i = 0; i < ids.elements(); ++i) {
      const auto& target = targets[i / beam];
      ids.write<int32_t>()[i] = target[std::min<size_t>(t, target.size() - 1)];
    }
    const Tensor scores = decoding->step(ids);
    for (int64_t i = 0; i < ids.elements(); ++i) {
      if (t >= static_cast<int64_t>(targets[i / beam].size())) continue;
      const int64_t row = y.offsets.read<int32_t>()[i / beam] + t;
      for (int64_t c = 0; c < target_words; ++c) {
        EXPECT_NEAR(scores.read()[i * target_words + c], whole.read()[row * target_words + c],
                    2e-5);
      }
    }
    std::vector<int32_t> rows;  // within a source all answers are alike, so any may take over
    for (int64_t i = 0; i < ids.elements(); ++i) {
      rows.push_back(static_cast<int32_t>(i / beam * beam + (i + 1) % beam));
    }
    decoding->select(Tensor::of({ids.elements()}, rows));
  }
}

TEST(EncoderDecoder, StepsEqualTheWhole) {
  for (int64_t beam : {1, 3}) {
    expect_steps_equal_whole({small("gru"), choice("none")}, beam);
    expect_steps_equal_whole({small("lstm", true, 2), choice("none"), "mean", true}, beam);
    for (const char* align : {"softmax", "hard", "local_m", "local_p", "entmax", "sigmoid"}) {
      SCOPED_TRACE(align);
      expect_steps_equal_whole({small("lstm"), choice("additive", align)}, beam);
      expect_steps_equal_whole({small("gru", false), choice("dot", align), "last", true}, beam);
    }
  }
}

TEST(EncoderDecoder, NeighboursInABatchChangeNothing) {
  for (const char* align : {"softmax", "local_p", "sparsemax"}) {
    SCOPED_TRACE(align);
    Parameters table(6);
    const EncoderDecoder model = Translating{small("gru"), choice("additive", align)}.make(table);
    const Sequences y = sequences_of(targets);
    const Tensor together = model.teach({.text = sequences_of(sources)}, y).scores;
    for (size_t b = 0; b < sources.size(); ++b) {
      const Tensor alone =
          model.teach({.text = sequences_of({&sources[b], 1})}, sequences_of({&targets[b], 1}))
              .scores;
      const int64_t first = y.offsets.read<int32_t>()[b];
      for (int64_t i = 0; i < alone.elements(); ++i) {
        EXPECT_NEAR(alone.read()[i], together.read()[first * target_words + i], 1e-5);
      }
    }
  }
}

TEST(EncoderDecoder, ADrawingAlignmentGivesWhatItDrew) {
  Parameters table(7);
  const EncoderDecoder model =
      Translating{small("gru"), choice("additive", "hard_reinforce")}.make(table);
  const Sequences y = sequences_of(targets);
  Random random(1);
  Tape tape(random);
  const auto taught = model.teach({.text = sequences_of(sources)}, y);
  ASSERT_EQ(taught.log_probability.shape(), Shape({y.rows()}));
  for (float value : taught.log_probability.read()) EXPECT_LE(value, 0);
  EXPECT_TRUE(tape.backward(sum(taught.log_probability)).has(table["decoder/attention/score/w"]));
}

TEST(EncoderDecoder, GradientsWithEveryWayToAsk) {
  for (const char* query : {"single", "multi_head", "multi_hop", "multi_dimensional"}) {
    SCOPED_TRACE(query);
    EXPECT_LT(taught_error({small("gru"), choice("scaled", "softmax", query)}), 1e-4);
    expect_steps_equal_whole({small("gru"), choice("scaled", "softmax", query)}, 3);
  }
}

TEST(Tagger, GradientsWithAndWithoutAttention) {
  const Sequences words = sequences_of(sources);
  const Tensor letters = random_ids({words.rows(), letters_of_word}, 3, 5);
  for (const char* score : {"none", "scaled"}) {
    Parameters table(8, Dtype::f64);
    const RecurrentTagger model(table, {.vocabulary = source_words, .alphabet = 5, .labels = 3},
                                small("gru"), choice(score), {.letters = 2}, {});
    const ModelInputs in{.text = words, .letters = letters};
    EXPECT_LT(parameters_error(table, [&] { return model(in).scores; }), 1e-5);
  }
}

TEST(Classifier, GradientsOfEveryWayToPool) {
  const ModelInputs in{.text = sequences_of(sources)};
  for (const char* score : {"none", "self_attentive", "general"}) {
    for (const char* summary : {"last", "mean", "max"}) {
      Parameters table(9, Dtype::f64);
      const RecurrentClassifier model(table, {.vocabulary = source_words, .labels = 3},
                                      {small("lstm"), summary}, choice(score));
      EXPECT_LT(parameters_error(table, [&] { return model(in).scores; }), 1e-5)
          << score << " " << summary;
      if (std::string(score) != "none") break;
    }
  }
}

TEST(Classifier, CapsulesLearnFromWhatWasDrawn) {
  for (const char* align : {"hard_reinforce", "reinforced"}) {
    Parameters table(3);
    const CapsuleClassifier model(table, {.vocabulary = source_words, .labels = 3}, small("gru"),
                                  choice("dot", align));
    Random random(1);
    Tape tape(random);
    const ModelInputs in{.text = sequences_of(sources)};
    ASSERT_EQ(model(in).log_probability.shape(), Shape({3}));
    const Gradients d = tape.backward(model.loss(in, Tensor::ids({3}, {2, 0, 1}), 0));
    // Nothing but the REINFORCE term reaches what decides where to look.
    const std::string decides =
        std::string(align) == "reinforced" ? "capsules/align/outer/weight" : "capsules/query";
    EXPECT_TRUE(d.has(table[decides]));
  }
}

TEST(Classifier, GradientsOfCapsules) {
  const ModelInputs in{.text = sequences_of(sources)};
  Parameters table(9, Dtype::f64);
  const CapsuleClassifier model(table, {.vocabulary = source_words, .labels = 3}, small("gru"),
                                choice("dot", "entmax"));
  EXPECT_LT(parameters_error(table, [&] { return model(in).scores; }), 1e-5);
  EXPECT_LT(parameters_error(table,
                             [&] {
                               return model.loss(in, Tensor::ids({3}, {2, 0, 1}), 0);
                             }),
            1e-5);
}

TEST(Classifier, NeighboursInABatchChangeNothing) {
  for (const char* summary : {"last", "mean", "max"}) {
    Parameters table(10);
    const RecurrentClassifier model(table, {.vocabulary = source_words, .labels = 3},
                                    {small("gru"), summary}, choice("none"));
    const Tensor together = model({.text = sequences_of(sources)}).scores;
    const Tensor alone = model({.text = sequences_of({&sources[1], 1})}).scores;
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(alone.read()[i], together.read()[3 + i], 1e-6) << summary;
    }
  }
}

}  // namespace
}  // namespace fovea::test
