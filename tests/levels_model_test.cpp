// Models of several levels and representations: documents, words through letters, several vectors
// of a word. Gradients, neighbours in a batch, and data on which only the mechanism's own structure
// tells.
#include <gtest/gtest.h>

#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/model/table.h"
#include "fovea/model/word_embedding.h"
#include "fovea/op/reduce.h"
#include "fovea/train/optimizer.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

Settings settings_of(std::initializer_list<std::pair<const char*, const char*>> list) {
  Settings s;
  for (const auto& [name, value] : list) s.set(name, value);
  return s;
}

using Document = std::vector<std::vector<int32_t>>;

ModelInputs documents_of(const std::vector<Document>& list) {
  ModelInputs in;
  in.document = nested_sequences_of(list);
  in.text = in.document.inner;
  return in;
}

TEST(Documents, GradientsOverBothEncoders) {
  const std::vector<Document> two{{{4, 5, 6}, {7}}, {{6, 6}}};
  for (const char* name : {"hierarchical", "hierarchical_mean"}) {
    for (const char* encoder : {"rnn", "transformer"}) {
      SCOPED_TRACE(say(name, " ", encoder));
      Parameters table(3, Dtype::f64);
      const auto model = make_model<Scorer>(find_model(name, Takes::text, Gives::label), table,
                                            {.vocabulary = 9, .labels = 2, .longest = 9},
                                            settings_of({{"encoder", encoder},
                                                         {"embed", "3"},
                                                         {"width", "4"},
                                                         {"heads", "2"},
                                                         {"hidden", "5"},
                                                         {"score_width", "3"}}));
      const ModelInputs in = documents_of(two);
      const Function f = [&](const std::vector<Tensor>&) { return (*model)(in).scores; };
      EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
      const Tensor alone = (*model)(documents_of({two[1]})).scores, both = (*model)(in).scores;
      EXPECT_NEAR(alone.read<double>()[0], both.read<double>()[2], 1e-9);
    }
  }
}

// Eight sentences of noise, in which opinions stand as often as not; the one that begins with a
// mark has the opinion that counts.
std::vector<Document> marked_documents(int64_t n, Random random, std::vector<int32_t>& labels) {
  std::vector<Document> all;
  for (int64_t i = 0; i < n; ++i) {
    Document document;
    const uint64_t counts = random.below(8);
    labels.push_back(static_cast<int32_t>(random.below(2)));
    for (uint64_t s = 0; s < 8; ++s) {
      std::vector<int32_t> sentence;
      for (int word = 0; word < 4; ++word) {
        sentence.push_back(static_cast<int32_t>(10 + random.below(6)));
      }
      const auto opinion = static_cast<int32_t>(random.below(2));
      sentence[1 + random.below(3)] = 5 + (s == counts ? labels.back() : opinion);
      sentence[0] = s == counts ? 4 : 9;
      document.push_back(sentence);
    }
    all.push_back(std::move(document));
  }
  return all;
}

double learned_documents(const char* name) {
  Parameters table(1);
  const auto model = make_model<Scorer>(
      find_model(name, Takes::text, Gives::label), table,
      {.vocabulary = 16, .labels = 2, .longest = 40},
      settings_of({{"embed", "12"}, {"width", "12"}, {"score_width", "12"}, {"cell", "rnn"}}));
  const auto adam = make_optimizer(table, {.kind = "adam", .rate = 0.01});
  for (uint64_t step = 0; step < 150; ++step) {
    std::vector<int32_t> labels;
    const ModelInputs in = documents_of(marked_documents(32, Random(step + 10), labels));
    Random random(step);
    Tape tape(random);
    adam->step(tape.backward(model->loss(in, Tensor::of({32}, labels), 0)));
  }
  std::vector<int32_t> labels;
  const ModelInputs in = documents_of(marked_documents(300, Random(3), labels));
  const Tensor answers = argmax((*model)(in).scores, -1);
  int right = 0;
  for (size_t i = 0; i < 300; ++i) right += answers.read<int32_t>()[i] == labels[i];
  return right / 300.0;
}

TEST(Planted, OnlyTheRightSentenceTells) {
  const double attention = learned_documents("hierarchical");
  EXPECT_GE(attention, 0.97);
  EXPECT_LT(learned_documents("hierarchical_mean"), attention - 0.05);
}

// --- Several vectors of a word. ---

WordOptions two_sets(bool contextual = false) {
  WordOptions o;
  o.vectors = "a,b";
  o.vector_widths = "3,2";
  o.contextual = contextual;
  return o;
}

TEST(WordEmbedding, OneTableOneSetOrSeveral) {
  const Sequences words = sequences_of(std::vector<std::vector<int32_t>>{{1, 2, 3}, {4}});
  const auto made = [&](const WordOptions& o) {
    Parameters table(3, Dtype::f64);
    const WordEmbedding layer(Scope(table) / "embedding", 6, 4, o);
    const Function f = [&](const std::vector<Tensor>&) { return layer(words); };
    EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
    EXPECT_EQ(layer(words).shape(), Shape({4, 4}));
    std::set<std::string> names;
    for (const Parameter& p : table.entries()) names.insert(p.name());
    return names;
  };
  EXPECT_EQ(made({}), (std::set<std::string>{"embedding/weight"}));
  WordOptions one;
  one.vectors = "a", one.vector_widths = "4";
  EXPECT_EQ(made(one), (std::set<std::string>{"embedding/weight"}));
  one.vector_widths = "7";
  EXPECT_TRUE(made(one).contains("embedding/project/weight"));
  EXPECT_TRUE(made(two_sets()).contains("embedding/1/weight"));
  EXPECT_TRUE(made(two_sets(true)).contains("embedding/reader/0/forward/input/weight"));
  one.vectors = "a,b";
  EXPECT_THROW(made(one), Error) << "a width for each file";
}

TEST(WordEmbedding, FrozenVectorsStay) {
  Parameters table(3);
  WordOptions o = two_sets();
  o.tune_vectors = false;
  const WordEmbedding layer(table, 6, 4, o);
  EXPECT_TRUE(table["0/weight"].frozen() && table["1/weight"].frozen());
  EXPECT_FALSE(table["project/0/weight"].frozen());
}

// Words of which one set knows what they mean and the other has noise; which set it is goes by the
// word. Each set marks the words that it does not know with a large first feature.
double learned_vectors(const char* vectors, const char* widths) {
  constexpr int64_t V = 64, d = 8;
  Parameters table(1);
  const auto model = make_model<Scorer>(find_model("rnn", Takes::text, Gives::label), table,
                                        {.vocabulary = V, .labels = 2},
                                        settings_of({{"vectors", vectors},
                                                     {"vector_widths", widths},
                                                     {"tune_vectors", "false"},
                                                     {"embed", "8"},
                                                     {"width", "8"},
                                                     {"cell", "rnn"},
                                                     {"score", "none"},
                                                     {"summary", "mean"}}));
  const bool both = std::string(vectors) == "a,b";
  Random noise(5);
  std::vector<int32_t> means(V);
  for (int64_t set = 0; set < (both ? 2 : 1); ++set) {
    auto values =
        table[both ? say("encoder/embedding/", set, "/weight") : "encoder/embedding/weight"]
            .write();
    for (int64_t word = 0; word < V; ++word) {
      means[static_cast<size_t>(word)] = word / 2 % 2;
      const bool knows = word % 2 == set;
      for (int64_t f = 0; f < d; ++f) {
        const float random = static_cast<float>(noise.below(200)) / 100.f - 1;
        values[static_cast<size_t>(word * d + f)] =
            f == 0   ? (knows ? 0.f : 3.f)
            : f == 1 ? (knows ? means[static_cast<size_t>(word)] * 2.f - 1 : 2 * random)
                     : random;
      }
    }
  }
  const auto adam = make_optimizer(table, {.kind = "adam", .rate = 0.01});
  // Half of the words are never learned from: of those only the vectors tell.
  const auto batch = [&](uint64_t seed, bool unseen, std::vector<int32_t>& labels) {
    Random random(seed);
    std::vector<std::vector<int32_t>> texts;
    for (int i = 0; i < 64; ++i) {
      const auto word = static_cast<int32_t>(random.below(V / 2) + (unseen ? V / 2 : 0));
      texts.push_back({word});
      labels.push_back(means[static_cast<size_t>(word)]);
    }
    ModelInputs in;
    in.text = sequences_of(texts);
    return in;
  };
  for (uint64_t step = 0; step < 300; ++step) {
    std::vector<int32_t> labels;
    const ModelInputs in = batch(step + 10, false, labels);
    Random random(step);
    Tape tape(random);
    adam->step(tape.backward(model->loss(in, Tensor::of({64}, labels), 0)));
  }
  int right = 0;
  for (uint64_t part = 0; part < 4; ++part) {
    std::vector<int32_t> labels;
    const Tensor answers = argmax((*model)(batch(part, true, labels)).scores, -1);
    for (size_t i = 0; i < 64; ++i) right += answers.read<int32_t>()[i] == labels[i];
  }
  return right / 256.0;
}

TEST(Planted, OnlyOneEmbeddingTells) {
  EXPECT_GE(learned_vectors("a,b", "8,8"), 0.97);
  EXPECT_LT(learned_vectors("a", "8"), 0.9);
}

// --- Words through letters. ---

const ModelEntry& via() { return find_model("via", Takes::text, Gives::tokens); }

// Words of letters 4 .. 4 + n; the word itself is unknown, or one of a few.
ModelInputs spelled(const std::vector<Document>& texts, int32_t word = 1) {
  ModelInputs in;
  std::vector<std::vector<int32_t>> words;
  for (const Document& text : texts) words.emplace_back(text.size(), word);
  in.text = sequences_of(words);
  in.document = nested_sequences_of(texts);
  return in;
}

Settings small_via() {
  return settings_of({{"embed", "3"},
                      {"width", "4"},
                      {"letter_embed", "3"},
                      {"letter_width", "2"},
                      {"score_width", "3"}});
}

TEST(Via, GradientsAndNeighbours) {
  const std::vector<Document> texts{{{4, 5, 6}, {7}}, {{6, 6}}};
  const Sequences targets = sequences_of(std::vector<std::vector<int32_t>>{{2, 4, 5}, {2, 6}});
  for (const char* cell : {"gru", "lstm"}) {
    Parameters table(3, Dtype::f64);
    Settings settings = small_via();
    settings.set("cell", cell);
    const auto model = make_model<Translator>(
        via(), table, {.vocabulary = 5, .target_vocabulary = 8, .alphabet = 9}, settings);
    const Function f = [&](const std::vector<Tensor>&) {
      return model->teach(spelled(texts), targets).scores;
    };
    EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
    const Tensor alone =
        model->teach(spelled({texts[1]}), sequences_of(std::vector<std::vector<int32_t>>{{2, 6}}))
            .scores;
    const Tensor both = model->teach(spelled(texts), targets).scores;
    for (int64_t i = 0; i < alone.elements(); ++i) {
      EXPECT_NEAR(alone.read<double>()[i], both.read<double>()[3 * 8 + i], 1e-9);
    }
  }
}

TEST(Via, StepsEqualTheWhole) {
  Parameters table(3);
  const auto model = make_model<Translator>(
      via(), table, {.vocabulary = 5, .target_vocabulary = 8, .alphabet = 9}, small_via());
  const ModelInputs in = spelled({{{4, 5, 6}, {7}}, {{6, 6}}});
  const std::vector<std::vector<int32_t>> lists{{2, 4, 5}, {2, 6, 7}};
  const Tensor whole = model->teach(in, sequences_of(lists)).scores;
  auto decoding = model->decoder().start(model->encode(in), 1);
  for (size_t t = 0; t < 3; ++t) {
    const Tensor step = decoding->step(Tensor::ids({2}, {lists[0][t], lists[1][t]}));
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t c = 0; c < 8; ++c) {
        EXPECT_NEAR(step.read()[b * 8 + c], whole.read()[(b * 3 + static_cast<int64_t>(t)) * 8 + c],
                    1e-5);
      }
    }
  }
  EXPECT_THROW(model->encode({.text = in.text}), Error) << "letters are missing";
}

// Names that no vocabulary has are written as they stand: only their letters tell.
TEST(Planted, OnlyTheLettersTell) {
  const auto names = [](int64_t n, Random random) {
    std::vector<Document> texts;
    for (int64_t i = 0; i < n; ++i) {
      std::vector<int32_t> name;
      for (int letter = 0; letter < 4; ++letter) {
        name.push_back(static_cast<int32_t>(4 + random.below(8)));
      }
      texts.push_back({name});
    }
    return texts;
  };
  const auto learned = [&](const ModelEntry& row) {
    Parameters table(1);
    const auto model = make_model<Translator>(
        row, table, {.vocabulary = 5, .target_vocabulary = 12, .alphabet = 12},
        settings_of({{"embed", "16"},
                     {"width", "32"},
                     {"letter_embed", "16"},
                     {"letter_width", "24"},
                     {"score_width", "24"}}));
    const auto adam = make_optimizer(table, {.kind = "adam", .rate = 0.01});
    for (uint64_t step = 0; step < 300; ++step) {
      const auto texts = names(32, Random(step + 10));
      std::vector<std::vector<int32_t>> targets;
      std::vector<int32_t> wanted;
      for (const Document& text : texts) {
        targets.push_back({2});
        targets.back().insert(targets.back().end(), text[0].begin(), text[0].end());
        wanted.insert(wanted.end(), text[0].begin(), text[0].end());
        wanted.push_back(3);
      }
      Random random(step);
      Tape tape(random);
      const auto taught = model->teach(spelled(texts), sequences_of(targets));
      const auto n = static_cast<int64_t>(wanted.size());
      adam->step(tape.backward(classification_loss(taught.scores, Tensor::of({n}, wanted), 0)));
    }
    const auto texts = names(100, Random(3));
    const auto answers = beam_search(model->decoder(), model->encode(spelled(texts)), {});
    int right = 0;
    for (size_t i = 0; i < texts.size(); ++i) right += answers[i][0].ids == texts[i][0];
    return right / 100.0;
  };
  EXPECT_GE(learned(via()), 0.97);
  EXPECT_LT(learned(find_model("rnn", Takes::text, Gives::tokens)), 0.1);
}

}  // namespace
}  // namespace fovea::test
