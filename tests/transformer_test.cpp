// The Transformer family: against PyTorch's layers, against numeric gradients, step by step, with
// and without padding, recomputed.
#include <gtest/gtest.h>

#include "fovea/attention/recorder.h"
#include "fovea/base/parallel.h"
#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/model/transformer/heads.h"
#include "fovea/model/transformer/language_model.h"
#include "fovea/model/transformer/translator.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"
#include "support/golden.h"
#include "support/layer.h"

namespace fovea::test {
namespace {

using Tensors = std::vector<Tensor>;

TransformerOptions tiny(const std::string& position = "sinusoidal") {
  return {.layers = 2,
          .width = 8,
          .heads = 2,
          .hidden = 12,
          .dropout = 0,
          .attention_dropout = 0,
          .position = position,
          .longest = 16};
}

Sequences some(std::initializer_list<int64_t> lengths, uint64_t seed, int64_t vocabulary = 11) {
  std::vector<std::vector<int32_t>> lists;
  for (const int64_t n : lengths) {
    const Tensor ids = random_ids({n}, seed++, vocabulary);
    lists.emplace_back(ids.read<int32_t>().begin(), ids.read<int32_t>().end());
  }
  return sequences_of(lists);
}

Sequences one_of(const Sequences& all, int64_t b) {
  const auto at = all.offsets.read<int32_t>();
  const auto ids = all.ids.read<int32_t>();
  const std::vector<std::vector<int32_t>> list{{&ids[at[b]], &ids[at[b]] + at[b + 1] - at[b]}};
  return sequences_of(list);
}

Tensor rows_of(const Tensor& rows, const Sequences& all, int64_t b) {
  const auto at = all.offsets.read<int32_t>();
  return slice(rows, 0, at[b], at[b + 1]);
}

const std::vector<std::string> every_position{"sinusoidal", "learned", "rotary", "alibi",
                                              "shaw",       "t5",      "none"};

// Torch's weights of one attention, from x[at] on, under our path.
void hold_attention(Golden& golden, const Parameters& table, const std::string& path,
                    const Tensors& x, size_t at) {
  for (const char* kind : {"weight", "bias"}) {
    std::vector<Parameter> packed;
    for (const char* part : {"query/", "key/", "value/"})
      packed.push_back(table[path + part + kind]);
    golden.hold(at, x[at], packed);
    golden.hold(at + 2, x[at + 2], {table[path + "out/" + kind]});
    ++at;
  }
}

TEST(Torch, TransformerLayersAgreeForwardAndBackward) {
  Golden golden("transformer.safetensors");
  auto agrees = [&](const std::string& name, TransformerBlock::Kind kind, int64_t heads,
                    bool pre_norm, const std::string& activation) {
    golden.check(name, [&](const Tensors& x) {
      const bool cross = kind == TransformerBlock::Kind::cross_decoder;
      const size_t first = cross ? 2 : 1, feed = first + (cross ? 8 : 4),
                   lengths = feed + (cross ? 10 : 8);
      Parameters table;
      const TransformerBlock block(Scope(table) / "0",
                                   {.width = x[0].dim(2),
                                    .heads = heads,
                                    .hidden = x[feed].dim(0),
                                    .norm = pre_norm ? "pre" : "post",
                                    .activation = activation,
                                    .dropout = 0,
                                    .attention_dropout = 0},
                                   kind);
      hold_attention(golden, table, "0/self/", x, first);
      if (cross) hold_attention(golden, table, "0/cross/", x, first + 4);
      size_t at = feed;
      for (const std::string part : {"inner", "outer"}) {
        for (const char* kind : {"/weight", "/bias"}) {
          golden.hold(at, x[at], {table["0/feed_forward/" + part + kind]});
          ++at;
        }
      }
      for (int i = 1; i <= (cross ? 3 : 2); ++i) {
        for (const char* kind : {"/gamma", "/beta"}) {
          golden.hold(at, x[at], {table[say("0/norm", i, kind)]});
          ++at;
        }
      }
      Sequences s;
      s.offsets = offsets_of(x[lengths]);
      s.ids = Tensor({s.offsets.read<int32_t>().back()}, Dtype::i32);
      s.longest = x[0].dim(1);
      const RowLayout layout(s);
      Memory memory;
      if (cross) {
        memory = {.states = x[1], .lengths = x[lengths + 1], .who = fovea::lengths(x[lengths + 1])};
      }
      return layout.pad(block(layout.strip(x[0]), layout, memory));
    });
  };
  for (const bool pre : {false, true}) {
    for (const std::string f : {"relu", "gelu"}) {
      const std::string name = say(pre ? "pre " : "post ", f);
      agrees("encoder " + name, TransformerBlock::Kind::encoder, 2, pre, f);
      agrees("decoder " + name, TransformerBlock::Kind::cross_decoder, 3, pre, f);
    }
  }
  agrees("encoder causal", TransformerBlock::Kind::decoder, 4, true, "relu");
  EXPECT_EQ(golden.left(), std::set<std::string>{});
}

TEST(Transformer, GradientsReachEveryParameter) {
  const Sequences source = some({3, 2}, 1, 5), target = some({2, 3}, 3, 5);
  for (const bool pre : {true, false}) {
    SCOPED_TRACE(pre);
    TransformerOptions o = tiny(pre ? "shaw" : "learned");
    o.layers = 1;
    o.width = 4;
    o.hidden = 5;
    o.longest = 3;
    o.norm = pre ? "pre" : "post";
    o.tied = pre;
    Parameters table(1, Dtype::f64);
    const TransformerTranslator model(table, {.vocabulary = 5, .target_vocabulary = 5}, o);
    const Function f = [&](const Tensors&) { return model.teach({.text = source}, target).scores; };
    EXPECT_LT(layer_error(table, f, Tensors{}), 1e-5);
  }
}

TEST(Transformer, StepsEqualTheWholeAnswer) {
  const Sequences source = some({5, 3}, 1), target = some({4, 4}, 3);
  for (const std::string& position : every_position) {
    SCOPED_TRACE(position);
    Parameters table(2);
    const TransformerTranslator model(table, {.vocabulary = 11, .target_vocabulary = 11},
                                      tiny(position));
    const Tensor whole = model.teach({.text = source}, target).scores;
    // Two answers to each source side by side: the second is the first, but for what select() does.
    const auto decoding = model.decoder().start(model.encode({.text = source}), 2);
    const Tensor ids = target.ids.reshaped({2, 4});
    for (int64_t t = 0; t < 4; ++t) {
      const auto id = ids.read<int32_t>();
      const Tensor now = decoding->step(Tensor::ids({4}, {id[t], id[t], id[4 + t], id[4 + t]}));
      for (int64_t b = 0; b < 2; ++b) {
        for (int64_t i = 0; i < 2; ++i) {
          expect_close(slice(now, 0, 2 * b + i, 2 * b + i + 1),
                       slice(whole, 0, 4 * b + t, 4 * b + t + 1), 1e-5);
        }
      }
      decoding->select(Tensor::ids({4}, {1, 0, 2, 2}));
    }
  }
}

TEST(Transformer, SelectGoesOnFromAnotherAnswer) {
  const Sequences source = some({5}, 1);
  Parameters table(2);
  const TransformerTranslator model(table, {.vocabulary = 11, .target_vocabulary = 11}, tiny());
  const auto decoding = model.decoder().start(model.encode({.text = source}), 2);
  decoding->step(Tensor::ids({2}, {2, 2}));
  decoding->step(Tensor::ids({2}, {4, 7}));
  decoding->select(Tensor::ids({2}, {1, 1}));
  const Tensor now = decoding->step(Tensor::ids({2}, {5, 6}));
  const Tensor whole =
      model.teach({.text = source}, sequences_of(std::vector<std::vector<int32_t>>{{2, 7, 5}}))
          .scores;
  expect_close(slice(now, 0, 0, 1), slice(whole, 0, 2, 3), 1e-5);
}

TEST(LanguageModel, ContinuationEqualsTheWholeText) {
  for (const std::string& position : every_position) {
    SCOPED_TRACE(position);
    for (const std::string align : {"softmax", "local_m", "sparsemax"}) {
      TransformerOptions o = tiny(position);
      o.key_heads = 1;
      o.attention.align = align;
      o.attention.reach = 2;
      Parameters table(2);
      const TransformerLanguageModel model(table, {.vocabulary = 11}, o);
      const Sequences text = some({7, 7}, 1);
      const Tensor whole = reshape(model.scores(text), {2, 7, 11});
      const Tensor ids = text.ids.reshaped({2, 7});
      const auto go = model.start();
      expect_close(go->step(slice(ids, 1, 0, 3)), reshape(slice(whole, 1, 2, 3), {2, 11}), 1e-5);
      for (int64_t t = 3; t < 7; ++t) {
        expect_close(go->step(reshape(slice(ids, 1, t, t + 1), {2})),
                     reshape(slice(whole, 1, t, t + 1), {2, 11}), 1e-5);
      }
      EXPECT_EQ(go->length(), 7);
    }
  }
}

TEST(LanguageModel, LooksOnlyBack) {
  Parameters table(2);
  const TransformerLanguageModel model(table, {.vocabulary = 11}, tiny("rotary"));
  Sequences text = some({6, 4}, 1);
  const Tensor before = model.scores(text);
  text.ids.write<int32_t>()[3] = (text.ids.read<int32_t>()[3] + 1) % 11;
  const Tensor after = model.scores(text);
  expect_same_bits(slice(before, 0, 0, 3), slice(after, 0, 0, 3));
  expect_same_bits(slice(before, 0, 6, 10), slice(after, 0, 6, 10));
  EXPECT_GT(relative_difference(slice(before, 0, 3, 4), slice(after, 0, 3, 4)), 1e-3);
}

TEST(Transformer, EachSequenceIsWhatItIsAlone) {
  const Sequences source = some({3, 6}, 1), target = some({5, 2}, 3);
  for (const std::string& position : every_position) {
    SCOPED_TRACE(position);
    Parameters table(2), other(2), third(2), fourth(2);
    const TransformerTranslator translator(table, {.vocabulary = 11, .target_vocabulary = 11},
                                           tiny(position));
    const ModelSizes sizes{.vocabulary = 11, .labels = 3};
    const TransformerTagger tagger(other, sizes, tiny(position), {.letters = 0}, {});
    const TransformerClassifier mean(third, sizes, tiny(position)),
        first(fourth, sizes, tiny(position), "first");
    const Tensor taught = translator.teach({.text = source}, target).scores,
                 tags = tagger({.text = source}).scores, means = mean({.text = source}).scores,
                 firsts = first({.text = source}).scores;
    for (int64_t b = 0; b < 2; ++b) {
      const Sequences s = one_of(source, b), t = one_of(target, b);
      expect_close(rows_of(taught, target, b), translator.teach({.text = s}, t).scores, 1e-5);
      expect_close(rows_of(tags, source, b), tagger({.text = s}).scores, 1e-5);
      expect_close(slice(means, 0, b, b + 1), mean({.text = s}).scores, 1e-5);
      expect_close(slice(firsts, 0, b, b + 1), first({.text = s}).scores, 1e-5);
    }
  }
}

// The loss and every gradient of a translator while it drops at random.
Tensors trained(const TransformerOptions& o, int64_t* tape_size = nullptr) {
  Parameters table(2);
  const TransformerTranslator model(table, {.vocabulary = 11, .target_vocabulary = 11}, o);
  const Sequences source = some({5, 3}, 1), target = some({4, 2}, 3);
  Random random(7);
  Tape tape(random);
  const Tensor scores = model.teach({.text = source}, target).scores;
  const Tensor loss = cross_entropy(scores, random_ids({target.rows()}, 5, 11), 0.1);
  Tensors results{loss, scores};
  if (tape_size) *tape_size = tape.size();
  const Gradients g = tape.backward(loss);
  for (const auto& entry : table.entries()) results.push_back(g[entry]);
  return results;
}

TEST(Transformer, RecomputedGradientsAreTheSameBits) {
  for (const bool pre : {true, false}) {
    for (const std::string position : {"sinusoidal", "shaw", "t5"}) {
      TransformerOptions o = tiny(position);
      o.norm = pre ? "pre" : "post";
      o.dropout = o.attention_dropout = 0.2;
      o.attention.score = "general";
      int64_t all = 0, few = 0;
      const Tensors kept = trained(o, &all);
      o.recompute = true;
      const Tensors again = trained(o, &few);
      EXPECT_LT(few, all - 50);  // the operations inside of blocks are not kept
      ASSERT_EQ(kept.size(), again.size());
      for (size_t i = 0; i < kept.size(); ++i) {
        SCOPED_TRACE(i);
        expect_same_bits(kept[i], again[i]);
      }
    }
  }
}

TEST(Transformer, SameBitsWithAnyNumberOfThreads) {
  TransformerOptions o = tiny();
  o.width = 64;
  o.dropout = o.attention_dropout = 0.1;
  const int before = threads();
  Tensors first;
  for (const int n : {1, 2, 4}) {
    set_threads(n);
    const Tensors now = trained(o);
    if (first.empty()) first = now;
    for (size_t i = 0; i < now.size(); ++i) expect_same_bits(now[i], first[i]);
  }
  set_threads(before);
}

TEST(Transformer, BeamSearchFindsWhatStepsSay) {
  Parameters table(3);
  const TransformerTranslator model(table, {.vocabulary = 11, .target_vocabulary = 11}, tiny());
  const Sequences source = some({5, 3, 4}, 1);
  const auto greedy = beam_search(model.decoder(), model.encode({.text = source}), {.beam = 1});
  for (int64_t b = 0; b < 3; ++b) {
    // What was said so far, taught anew, must prefer what was said next.
    std::vector<std::vector<int32_t>> so_far{{2}};
    for (const int32_t id : greedy[b][0].ids) {
      const Tensor scores = model.teach({.text = one_of(source, b)}, sequences_of(so_far)).scores;
      const Tensor best = argmax(scores, -1);
      EXPECT_EQ(best.read<int32_t>().back(), id);
      so_far[0].push_back(id);
    }
  }
  const auto answers =
      beam_search(model.decoder(), model.encode({.text = source}), {.beam = 4, .nbest = 2});
  for (int64_t b = 0; b < 3; ++b) {
    ASSERT_EQ(answers[b].size(), 2U);
    EXPECT_GE(answers[b][0].score, answers[b][1].score);
  }
}

TEST(Transformer, ABeamStaysWithinThePlacesThatWereLearned) {
  Parameters table(3);
  const TransformerTranslator model(table, {.vocabulary = 11, .target_vocabulary = 11},
                                    tiny("learned"));
  // Nothing ends, and twice the source and ten tokens would be more than the 16 places there are.
  const auto answers = beam_search(model.decoder(), model.encode({.text = some({12, 3}, 1)}),
                                   {.beam = 3, .end = -1});
  for (const auto& one : answers) EXPECT_LE(one[0].ids.size(), 16u);
}

TEST(Transformer, EveryHeadOfEveryLayerIsRecordedByName) {
  Parameters table(3);
  const TransformerTranslator model(table, {.vocabulary = 11, .target_vocabulary = 11}, tiny());
  const Sequences source = some({5, 3}, 1), target = some({4, 2}, 3);
  Recorder recorder;
  model.teach({.text = source}, target);
  ASSERT_EQ(recorder.maps().size(), 6U);
  EXPECT_EQ(recorder["encoder/1/self"].rows.shape(), (Shape{2, 2, 5, 5}));
  EXPECT_EQ(recorder["decoder/0/self"].rows.shape(), (Shape{2, 2, 4, 4}));
  EXPECT_EQ(recorder["decoder/1/cross"].rows.shape(), (Shape{2, 2, 4, 5}));
}

TEST(Transformer, EncodersHaveTheSamePathsWhateverTheyAreUsedFor) {
  Parameters masked, tagged, classified;
  const ModelSizes sizes{.vocabulary = 11, .alphabet = 30, .labels = 3};
  const MaskedLanguageModel mlm(masked, sizes, tiny("learned"));
  const TransformerTagger tagger(tagged, sizes, tiny("learned"), {}, {});
  const TransformerClassifier classifier(classified, sizes, tiny("learned"));
  int64_t found = 0;
  for (const auto& entry : masked.entries()) {
    if (!entry.name().starts_with("encoder/")) continue;
    ++found;
    EXPECT_TRUE(tagged.has(entry.name()) && classified.has(entry.name())) << entry.name();
  }
  EXPECT_EQ(found, 2 + 2 * 16 + 2);
  EXPECT_FALSE(masked.has("output/weight"));
  const Sequences tokens = some({5, 3}, 1);
  const Tensor all = mlm({.text = tokens}).scores,
               few = mlm({.text = tokens, .rows = Tensor::ids({2}, {6, 1})}).scores;
  EXPECT_EQ(all.shape(), (Shape{8, 11}));
  expect_close(slice(few, 0, 0, 1), slice(all, 0, 6, 7), 1e-6);
  const Tensor letters = random_ids({8, letters_of_word}, 4, 30);
  EXPECT_EQ(tagger({.text = tokens, .letters = letters}).scores.shape(), (Shape{8, 3}));
}

TEST(Transformer, SharedAndTiedEmbeddingsAreOneParameter) {
  TransformerOptions o = tiny();
  o.shared = true;
  Parameters table, untied;
  const TransformerTranslator model(table, {.vocabulary = 11, .target_vocabulary = 11}, o);
  EXPECT_FALSE(table.has("decoder/embedding/weight"));
  EXPECT_FALSE(table.has("output/weight"));
  EXPECT_THROW(TransformerTranslator(untied, {.vocabulary = 11, .target_vocabulary = 12}, o),
               Error);
  Parameters apart;
  o.shared = o.tied = false;
  const TransformerTranslator other(apart, {.vocabulary = 11, .target_vocabulary = 12}, o);
  EXPECT_TRUE(apart.has("decoder/embedding/weight"));
  EXPECT_TRUE(apart.has("output/weight"));
}

TEST(Transformer, SaysWhatItCannotDo) {
  auto make = [](auto change) {
    TransformerOptions o = tiny();
    change(o);
    Parameters table;
    const TransformerLanguageModel model(table, {.vocabulary = 11}, o);
  };
  EXPECT_THROW(make([](auto& o) { o.position = "rotery"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.activation = "swish"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.attention.align = "hard_reinforce"; }), Error);
  EXPECT_THROW(make([](auto& o) { o.heads = 3; }), Error);
  Parameters table;
  const TransformerLanguageModel model(table, {.vocabulary = 11}, tiny("learned"));
  EXPECT_EQ(model.longest(), 16);
  EXPECT_THROW(model.scores(some({17}, 1)), Error);
}

}  // namespace
}  // namespace fovea::test
