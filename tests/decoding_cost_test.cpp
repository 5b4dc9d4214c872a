// What a decoding step costs, counted: the pairs of a query and a key that attention looks at, as
// the recorder sees them. With keys and values kept, the t-th step looks at t pairs in each head,
// and a source is encoded once; a decoding that starts over at each step is there to show that the
// count tells them apart.
#include <gtest/gtest.h>

#include "fovea/attention/recorder.h"
#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/model/transformer/heads.h"
#include "fovea/model/transformer/language_model.h"
#include "fovea/model/transformer/translator.h"
#include "fovea/op/index.h"
#include "fovea/op/shape.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

constexpr int64_t vocabulary = 13, layers = 2, heads = 2;

TransformerOptions small(const std::string& position = "sinusoidal") {
  TransformerOptions o;
  o.layers = layers;
  o.width = 8;
  o.heads = heads;
  o.hidden = 12;
  o.dropout = 0;
  o.attention_dropout = 0;
  o.position = position;
  o.longest = 64;
  return o;
}

struct Cost {
  int64_t calls = 0, queries = 0, pairs = 0;  // of all batch entries and heads together
};

// Of the attentions whose path has `part` in it.
Cost cost(const Recorder& recorder, const std::string& part) {
  Cost sum;
  for (const Recorder::Map& map : recorder.maps()) {
    if (map.name.find(part) == std::string::npos) continue;
    const Tensor& rows = map.weights.rows;  // [B, H, Tq, Tk]
    ++sum.calls;
    sum.queries += rows.shape().product(0, 3);
    sum.pairs += rows.elements();
  }
  return sum;
}

int64_t up_to(int64_t n) { return n * (n + 1) / 2; }

TEST(DecodingCost, TokenLooksOnceAtEveryTokenBeforeIt) {
  for (const char* position : {"sinusoidal", "rotary", "alibi"}) {
    Parameters table(1);
    const TransformerLanguageModel model(table, {.vocabulary = vocabulary}, small(position));
    for (const int64_t T : {8, 16, 32, 33}) {
      const Recorder recorder;
      const auto text = model.start();
      for (int64_t t = 0; t < T; ++t) text->step(random_ids({1}, t, vocabulary));
      const Cost c = cost(recorder, "self");
      EXPECT_EQ(c.calls, layers * T);
      EXPECT_EQ(c.queries, layers * heads * T);
      EXPECT_EQ(c.pairs, layers * heads * up_to(T)) << position << ", " << T << " tokens";
    }
  }
}

TEST(DecodingCost, StartingOverAtEachTokenIsCountedAsTheSquare) {
  Parameters table(1);
  const TransformerLanguageModel model(table, {.vocabulary = vocabulary}, small());
  const int64_t T = 16;
  const Recorder recorder;
  for (int64_t t = 1; t <= T; ++t) {
    const auto text = model.start();
    text->step(random_ids({1, t}, 5, vocabulary));
  }
  const Cost c = cost(recorder, "self");
  EXPECT_EQ(c.queries, layers * heads * up_to(T));
  EXPECT_EQ(c.pairs, layers * heads * T * (T + 1) * (2 * T + 1) / 6);
}

// Starts over at every step: all tokens of all answers go through the model again.
class StartingOver : public Decoder {
 public:
  StartingOver(const Translator& model, const ModelInputs& in) : model_(model), in_(in) {}
  Taught teach(const Memory& memory, const Sequences& target) const override {
    return model_.decoder().teach(memory, target);
  }
  std::unique_ptr<Decoding> start(const Memory&, int64_t) const override {
    return std::make_unique<Steps>(*this);
  }

 private:
  class Steps : public Decoding {
   public:
    explicit Steps(const StartingOver& over) : over_(over) {}
    Tensor step(const Tensor& ids) override {
      answers_.resize(ids.dim(0));
      for (int64_t i = 0; i < ids.dim(0); ++i) answers_[i].push_back(ids.read<int32_t>()[i]);
      const auto decoding = over_.model_.decoder().start(over_.model_.encode(over_.in_), 0);
      Tensor all({ids.dim(0), static_cast<int64_t>(answers_[0].size())}, Dtype::i32);
      auto to = all.write<int32_t>().begin();
      for (const auto& answer : answers_) to = std::ranges::copy(answer, to).out;
      const Tensor scores = decoding->step(all);
      const int64_t N = ids.dim(0), V = scores.dim(1), m = scores.dim(0) / N;
      return reshape(slice(reshape(scores, {N, m, V}), 1, m - 1, m), {N, V});
    }
    void select(const Tensor& rows) override {
      const auto before = answers_;
      for (int64_t i = 0; i < rows.dim(0); ++i) answers_[i] = before[rows.read<int32_t>()[i]];
    }

   private:
    const StartingOver& over_;
    std::vector<std::vector<int32_t>> answers_;
  };
  const Translator& model_;
  const ModelInputs& in_;
};

class TranslationCost : public testing::Test {
 protected:
  static constexpr int64_t B = 3, S = 5, beam = 4, T = 15;
  // Nothing ends before it has T tokens: the end is a token that the model does not know of.
  static constexpr BeamOptions options{.beam = beam, .nbest = beam, .longest_factor = 1, .end = -1};

  static ModelInputs inputs() {
    const std::vector<std::vector<int32_t>> lists{
        {4, 5, 6, 7, 8}, {9, 8, 7, 6, 5}, {1, 4, 1, 4, 1}};
    return {.text = sequences_of(lists)};
  }
  std::vector<std::vector<Hypothesis>> run(const Translator& model) const {
    return beam_search(model.decoder(), model.encode(inputs()), options);
  }

  Parameters table_{1};
  TransformerTranslator model_{
      table_, {.vocabulary = vocabulary, .target_vocabulary = vocabulary}, small()};
};

TEST_F(TranslationCost, SourceIsEncodedOnceAndStepsLookAtWhatIsKept) {
  const Recorder recorder;
  run(model_);
  const Cost encoder = cost(recorder, "encoder"), self = cost(recorder, "decoder/0/self"),
             cross = cost(recorder, "decoder/0/cross");
  EXPECT_EQ(encoder.calls, layers);
  EXPECT_EQ(encoder.pairs, layers * heads * B * S * S);
  EXPECT_EQ(self.calls, T);
  EXPECT_EQ(self.pairs, heads * B * beam * up_to(T));
  EXPECT_EQ(cross.calls, T);
  EXPECT_EQ(cross.pairs, heads * B * beam * T * S);
}

TEST_F(TranslationCost, StartingOverGivesTheSameAnswersForMuchMore) {
  const auto kept = run(model_);
  const ModelInputs in = inputs();
  const StartingOver starting_over(model_, in);
  const Memory memory{.lengths = in.text.lengths()};  // the rest is made anew at each step
  const Recorder recorder;
  const auto over = beam_search(starting_over, memory, options);
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < beam; ++i) EXPECT_EQ(kept[b][i].ids, over[b][i].ids);
  }
  EXPECT_EQ(cost(recorder, "encoder").calls, layers * T);
  EXPECT_EQ(cost(recorder, "decoder/0/self").pairs,
            heads * B * beam * T * (T + 1) * (2 * T + 1) / 6);
}

// Selections one after the other, of which most leave much of the past in place.
TEST(KeyValueCache, SelectionsInPlaceAreThoseOfCopies) {
  const int64_t B = 6;
  KeyValueCache cache;
  Tensor keys, values;  // what it should hold
  Random random(7);
  for (int64_t t = 0; t < 40; ++t) {
    const int64_t m = 1 + t % 3;
    const Tensor k = random_tensor({B, m, 2, 3}, 2 * t), v = random_tensor({B, m, 2, 5}, 2 * t + 1);
    cache.append(k, v);
    keys = t == 0 ? k : concat({keys, k}, 1);
    values = t == 0 ? v : concat({values, v}, 1);
    if (t % 4 == 3) continue;
    std::vector<int32_t> rows;
    for (int64_t b = 0; b < B; ++b) {
      rows.push_back(static_cast<int32_t>(b / 3 * 3 + static_cast<int64_t>(random.below(3))));
    }
    const KeyValueCache before = cache;
    cache.select(Tensor::of({B}, rows));
    expect_same_bits(before.keys(), keys);  // a copy of the cache does not change with it
    keys = embedding(keys, Tensor::of({B}, rows));
    values = embedding(values, Tensor::of({B}, rows));
    expect_same_bits(cache.keys(), keys);
    expect_same_bits(cache.values(), values);
  }
  EXPECT_THROW(cache.select(Tensor::ids({B}, {0, 1, 2, 3, 4, 6})), Error);
}

}  // namespace
}  // namespace fovea::test
