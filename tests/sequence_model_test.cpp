// Recurrent models: gradients, independence of padding, one step at a time.
#include <gtest/gtest.h>

#include "fovea/model/classifier.h"
#include "fovea/model/encoder_decoder.h"
#include "fovea/model/tagger.h"
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

RecurrentModelOptions small(Cell cell, bool bidirectional = true, int64_t layers = 1) {
  return {.cell = cell, .layers = layers, .embed = 3, .width = 4, .bidirectional = bidirectional};
}

AttentionChoice choice(const std::string& score, const std::string& align = "softmax") {
  AttentionChoice c{.score = score, .align = align};
  c.options.width = 3;
  c.options.reach = 2;
  return c;
}

// Gradients of all parameters of the taught scores, against numeric ones.
double taught_error(const EncoderDecoderOptions& options) {
  Parameters table(3, Dtype::f64);
  const EncoderDecoder model(table, source_words, target_words, options);
  const Sequences x = sequences_of(sources), y = sequences_of(targets);
  return parameters_error(table, [&] { return model.teach(x, y, nullptr).scores; });
}

TEST(EncoderDecoder, GradientsWithoutAttention) {
  for (const char* summary : {"last", "activated", "mean"}) {
    for (Cell cell : {Cell::rnn, Cell::gru, Cell::lstm}) {
      SCOPED_TRACE(summary);
      EXPECT_LT(taught_error({small(cell), choice("none"), summary}), 1e-5);
    }
  }
  EXPECT_LT(taught_error({small(Cell::lstm, false, 2), choice("none")}), 1e-5);
}

TEST(EncoderDecoder, GradientsWithEveryScore) {
  for (const Entry& entry : catalog()) {
    if (entry.kind != Entry::Kind::score) continue;
    SCOPED_TRACE(entry.name);
    EXPECT_LT(taught_error({small(Cell::gru), choice(entry.name)}), 1e-4);
  }
}

TEST(EncoderDecoder, GradientsWithEverySmoothAlignment) {
  for (const char* align : {"softmax", "sigmoid", "local_m", "local_p", "sparsemax", "entmax"}) {
    SCOPED_TRACE(align);
    EXPECT_LT(taught_error({small(Cell::lstm), choice("general", align)}), 1e-4);
  }
}

TEST(EncoderDecoder, GradientsWithInputFeeding) {
  EXPECT_LT(taught_error({small(Cell::lstm, true, 2), choice("additive"), "last", true}), 1e-5);
  EXPECT_LT(taught_error({small(Cell::gru), choice("none"), "mean", true}), 1e-5);
}

// Row t of what is taught is what step t of an answer gives that is led along the same path.
void expect_steps_equal_whole(const EncoderDecoderOptions& options, int64_t beam) {
  Parameters table(5);
  const EncoderDecoder model(table, source_words, target_words, options);
  const Sequences x = sequences_of(sources), y = sequences_of(targets);
  const Tensor whole = model.teach(x, y, nullptr).scores;
  const auto decoding = model.start(x, beam);
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
    expect_steps_equal_whole({small(Cell::gru), choice("none")}, beam);
    expect_steps_equal_whole({small(Cell::lstm, true, 2), choice("none"), "mean", true}, beam);
    for (const char* align : {"softmax", "hard", "local_m", "local_p", "entmax", "sigmoid"}) {
      SCOPED_TRACE(align);
      expect_steps_equal_whole({small(Cell::lstm), choice("additive", align)}, beam);
      expect_steps_equal_whole({small(Cell::gru, false), choice("dot", align), "last", true}, beam);
    }
  }
}

TEST(EncoderDecoder, NeighboursInABatchChangeNothing) {
  for (const char* align : {"softmax", "local_p", "sparsemax"}) {
    SCOPED_TRACE(align);
    Parameters table(6);
    const EncoderDecoder model(table, source_words, target_words,
                               {small(Cell::gru), choice("additive", align)});
    const Sequences y = sequences_of(targets);
    const Tensor together = model.teach(sequences_of(sources), y, nullptr).scores;
    for (size_t b = 0; b < sources.size(); ++b) {
      const Tensor alone =
          model.teach(sequences_of({&sources[b], 1}), sequences_of({&targets[b], 1}), nullptr)
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
  const EncoderDecoder model(table, source_words, target_words,
                             {small(Cell::gru), choice("additive", "hard_reinforce")});
  const Sequences y = sequences_of(targets);
  Tape tape;
  Random random(1);
  const auto taught = model.teach(sequences_of(sources), y, &random);
  ASSERT_EQ(taught.log_probability.shape(), Shape({y.rows()}));
  for (float value : taught.log_probability.read()) EXPECT_LE(value, 0);
  EXPECT_TRUE(tape.backward(sum(taught.log_probability)).has(table["attention/score/w"]));
}

TEST(EncoderDecoder, RefusesAnUnknownSummary) {
  Parameters table;
  EXPECT_THROW(EncoderDecoder(table, 5, 5, {small(Cell::gru), choice("none"), "lost"}), Error);
}

TEST(Tagger, GradientsWithAndWithoutAttention) {
  const Sequences words = sequences_of(sources);
  const Tensor letters = random_ids({words.rows(), Tagger::word_length}, 3, 5);
  for (const char* score : {"none", "scaled"}) {
    Parameters table(8, Dtype::f64);
    const Tagger model(table, source_words, 5, 3,
                       {.recurrent = small(Cell::gru), .attention = choice(score), .letters = 2});
    EXPECT_LT(parameters_error(table, [&] { return model(words, letters, nullptr); }), 1e-5);
  }
}

TEST(Classifier, GradientsOfEveryWayToPool) {
  const Sequences tokens = sequences_of(sources);
  for (const char* score : {"none", "self_attentive", "general"}) {
    for (const char* summary : {"last", "mean", "max"}) {
      Parameters table(9, Dtype::f64);
      const Classifier model(
          table, source_words, 3,
          {.recurrent = small(Cell::lstm), .attention = choice(score), .summary = summary});
      EXPECT_LT(parameters_error(table, [&] { return model(tokens, nullptr).scores; }), 1e-5)
          << score << " " << summary;
      if (std::string(score) != "none") break;
    }
  }
}

TEST(Classifier, NeighboursInABatchChangeNothing) {
  for (const char* summary : {"last", "mean", "max"}) {
    Parameters table(10);
    const Classifier model(
        table, source_words, 3,
        {.recurrent = small(Cell::gru), .attention = choice("none"), .summary = summary});
    const Tensor together = model(sequences_of(sources), nullptr).scores;
    const Tensor alone = model(sequences_of({&sources[1], 1}), nullptr).scores;
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(alone.read()[i], together.read()[3 + i], 1e-6) << summary;
    }
  }
}

}  // namespace
}  // namespace fovea::test
