// Models of passages and questions: gradients, neighbours in a batch, and that reading pays.
#include <gtest/gtest.h>

#include <numeric>

#include "fovea/attention/recorder.h"
#include "fovea/data/passages.h"
#include "fovea/model/reader/span_reader.h"
#include "fovea/model/table.h"
#include "fovea/nn/highway.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

using Lists = std::vector<std::vector<int32_t>>;

constexpr int64_t vocabulary = 12, letters = 6;

struct Example {
  std::vector<int32_t> passage, question, candidates;
};
const std::vector<Example> examples{{{4, 5, 6, 4, 7, 8}, {9, 10, 5}, {4, 5, 7}},
                                    {{6}, {9}, {6, 11}},
                                    {{7, 8, 7}, {10, 9, 4, 6, 8}, {7, 8, 4, 5}}};

Tensor letters_of(const Sequences& words) {
  Tensor all = Tensor::zeros({words.rows(), letters_of_word}, Dtype::i32);
  for (int64_t i = 0; i < words.rows(); ++i) {
    const int32_t id = words.ids.read<int32_t>()[static_cast<size_t>(i)];
    for (int32_t k = 0; k <= id % 3; ++k) {
      all.write<int32_t>()[static_cast<size_t>(i * letters_of_word + k)] =
          1 + (id + k) % (letters - 1);
    }
  }
  return all;
}

// With a candidate's mentions wherever its word stands.
ModelInputs inputs_of(std::span<const Example> of) {
  Lists passages, questions;
  size_t most = 0;
  for (const Example& e : of) {
    passages.push_back(e.passage), questions.push_back(e.question);
    most = std::max(most, e.candidates.size());
  }
  ModelInputs in;
  in.text = sequences_of(passages);
  in.question = sequences_of(questions);
  in.letters = letters_of(in.text);
  in.second_letters = letters_of(in.question);
  std::vector<int32_t> ids, offsets{0}, rows;
  int32_t from = 0;
  for (const Example& e : of) {
    for (size_t c = 0; c < most; ++c) {
      ids.push_back(c < e.candidates.size() ? e.candidates[c] : -1);
      for (size_t t = 0; c < e.candidates.size() && t < e.passage.size(); ++t) {
        if (e.passage[t] == ids.back()) rows.push_back(from + static_cast<int32_t>(t));
      }
      offsets.push_back(static_cast<int32_t>(rows.size()));
    }
    from += static_cast<int32_t>(e.passage.size());
  }
  const auto B = static_cast<int64_t>(of.size()), C = static_cast<int64_t>(most);
  in.candidates = Tensor::of({B, C}, ids);
  in.sparse = {Tensor::of({B * C + 1}, offsets),
               Tensor::of({static_cast<int64_t>(rows.size())}, rows),
               Tensor::full({static_cast<int64_t>(rows.size())}, 1)};
  return in;
}

Settings small() {
  Settings s;
  for (const auto& [name, value] : {std::pair{"embed", "3"},
                                    {"width", "2"},
                                    {"letters", "2"},
                                    {"score_width", "3"},
                                    {"heads", "1"},
                                    {"layers", "1"},
                                    {"highway", "1"},
                                    {"dropout", "0"}}) {
    s.set(name, value);
  }
  return s;
}

std::string name_of_row(const testing::TestParamInfo<const ModelEntry*>& info) {
  return info.param->name;
}

class EveryClozeReader : public testing::TestWithParam<const ModelEntry*> {};

TEST_P(EveryClozeReader, GradientsOfAllParameters) {
  Parameters table(3, Dtype::f64);
  const auto model = make_model<Scorer>(*GetParam(), table,
                                        {.vocabulary = vocabulary, .alphabet = letters}, small());
  const ModelInputs in = inputs_of(examples);
  const Tensor targets = Tensor::ids({3}, {1, 0, 1});
  for (const double smoothing : {0.0, 0.1}) {
    const Function f = [&](const std::vector<Tensor>&) {
      return model->loss(in, targets, smoothing);
    };
    EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
  }
}

TEST_P(EveryClozeReader, NeighboursInABatchChangeNothing) {
  Parameters table(3);
  const auto model = make_model<Scorer>(*GetParam(), table,
                                        {.vocabulary = vocabulary, .alphabet = letters}, small());
  const Tensor together = (*model)(inputs_of(examples)).scores;
  for (size_t b = 0; b < examples.size(); ++b) {
    const Tensor alone = (*model)(inputs_of({&examples[b], 1})).scores;
    for (size_t c = 0; c < 4; ++c) {
      const float there = together.read()[b * 4 + c];
      if (c >= examples[b].candidates.size()) {
        EXPECT_EQ(there, -INFINITY) << "there are no more candidates";
      } else {
        EXPECT_NEAR(alone.read()[c], there, 1e-5);
      }
    }
  }
}

TEST_P(EveryClozeReader, LeavesItsMapsToTheRecorder) {
  Parameters table(3);
  const auto model = make_model<Scorer>(*GetParam(), table,
                                        {.vocabulary = vocabulary, .alphabet = letters}, small());
  const ModelInputs in = inputs_of(examples);
  const Tensor plain = (*model)(in).scores;
  Recorder recorder;
  const Tensor watched = (*model)(in).scores;
  for (int64_t i = 0; i < plain.elements(); ++i) {
    EXPECT_EQ(plain.read()[static_cast<size_t>(i)], watched.read()[static_cast<size_t>(i)]);
  }
  const size_t maps = recorder.maps().size();
  EXPECT_EQ(maps, GetParam()->name == "rnn" ? 0u : GetParam()->name == "impatient" ? 5u : 1u);
  for (const auto& map : recorder.maps()) {
    const auto rows = map.weights.rows.read();
    EXPECT_NEAR(std::accumulate(rows.begin(), rows.begin() + 6, 0.0), 1, 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryClozeReader,
                         testing::ValuesIn(models_for(Takes::passage, Gives::choice)), name_of_row);

class EverySpanReader : public testing::TestWithParam<const ModelEntry*> {};

TEST_P(EverySpanReader, GradientsOfAllParameters) {
  for (const int64_t kinds : {always_answered, may_be_unanswered}) {
    Parameters table(3, Dtype::f64);
    const auto model = make_model<SpanReader>(
        *GetParam(), table,
        {.vocabulary = vocabulary, .alphabet = letters, .labels = kinds, .longest = 9}, small());
    const ModelInputs in = inputs_of(examples);
    const int32_t none = kinds == may_be_unanswered ? 0 : 1;
    const Tensor targets = Tensor::ids({3, 2}, {2, 5, none, none, 1, 1});
    for (const double smoothing : {0.0, 0.1}) {
      const Function f = [&](const std::vector<Tensor>&) {
        return model->loss(in, targets, smoothing);
      };
      EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
    }
  }
}

TEST_P(EverySpanReader, NeighboursInABatchChangeNothing) {
  Parameters table(3);
  const auto model = make_model<SpanReader>(
      *GetParam(), table,
      {.vocabulary = vocabulary, .alphabet = letters, .labels = may_be_unanswered, .longest = 9},
      small());
  const auto together = (*model)(inputs_of(examples));
  ASSERT_EQ(together.start.shape(), (Shape{3, 7}));
  for (size_t b = 0; b < examples.size(); ++b) {
    const auto alone = (*model)(inputs_of({&examples[b], 1}));
    for (size_t c = 0; c < 7; ++c) {
      if (c > examples[b].passage.size()) {
        EXPECT_EQ(together.start.read()[b * 7 + c], -INFINITY);
        continue;
      }
      EXPECT_NEAR(alone.start.read()[c], together.start.read()[b * 7 + c], 1e-5);
      EXPECT_NEAR(alone.end.read()[c], together.end.read()[b * 7 + c], 1e-5);
    }
  }
}

TEST_P(EverySpanReader, WithoutUnansweredQuestionsThereIsAlwaysAnAnswer) {
  Parameters table(3);
  const auto model = make_model<SpanReader>(
      *GetParam(), table,
      {.vocabulary = vocabulary, .alphabet = letters, .labels = always_answered, .longest = 9},
      small());
  const auto out = (*model)(inputs_of(examples));
  for (size_t b = 0; b < 3; ++b) EXPECT_EQ(out.start.read()[b * 7], -INFINITY);
}

INSTANTIATE_TEST_SUITE_P(Table, EverySpanReader,
                         testing::ValuesIn(models_for(Takes::passage, Gives::span)), name_of_row);

TEST(Bidaf, LeavesBothDirectionsOfTheFlow) {
  Parameters table(3);
  const auto model = make_model<SpanReader>(
      find_model("bidaf", Takes::passage, Gives::span), table,
      {.vocabulary = vocabulary, .alphabet = letters, .labels = 1, .longest = 9}, small());
  Recorder recorder;
  (*model)(inputs_of(examples));
  EXPECT_EQ(recorder["flow/passage_to_question"].rows.shape(), (Shape{3, 1, 6, 5}));
  EXPECT_EQ(recorder["flow/question_to_passage"].rows.shape(), (Shape{3, 1, 1, 6}));
}

TEST(Bidaf, WordsThatComeTwiceAreTheSameWord) {
  // What is worked out once for all places of a word is what each would have got.
  Settings none = small();
  none.set("letters", "0");
  Parameters table(3);
  const auto model =
      make_model<SpanReader>(find_model("bidaf", Takes::passage, Gives::span), table,
                             {.vocabulary = vocabulary, .labels = 1, .longest = 9}, none);
  ModelInputs in = inputs_of(examples);
  const auto before = (*model)(in);
  in.letters = in.second_letters = {};
  const auto without = (*model)(in);
  for (size_t i = 0; i < 21; ++i) EXPECT_EQ(before.start.read()[i], without.start.read()[i]);
}

TEST(Highway, Gradients) {
  check_layer(
      [](Scope s) -> Function {
        const Highway layer(s, 4);
        return [layer](const std::vector<Tensor>& x) { return layer(x[0]); };
      },
      {random_tensor({3, 4}, 1)});
}

}  // namespace
}  // namespace fovea::test
