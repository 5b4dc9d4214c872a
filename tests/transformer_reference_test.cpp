// Weights that others trained, and what another engine says to them: a GPT-2-shaped model that
// sorts letters, and an encoder-decoder that writes Arabic names in Latin letters.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/attention/recorder.h"
#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/model/transformer/heads.h"
#include "fovea/model/transformer/language_model.h"
#include "fovea/model/transformer/translator.h"
#include "fovea/op/shape.h"
#include "fovea/tensor/safetensors.h"
#include "support/gradient.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

void set(const Parameters& table, const std::string& name, Tensor value) {
  ASSERT_EQ(table[name].shape(), value.shape()) << name;
  table[name] = std::move(value);
}

// GPT-2 keeps linear layers as [in, out], and query, key and value in one.
void read_gpt2(const std::string& path, int64_t layers, const Parameters& table) {
  const Safetensors stored = Safetensors::open(path);
  auto linear = [&](const std::string& name, const std::string& theirs, int64_t part, int64_t of) {
    const Tensor w = transposed(stored.load(theirs + ".weight")), b = stored.load(theirs + ".bias");
    const int64_t n = b.dim(0) / of;
    set(table, name + "/weight", slice(w, 0, part * n, (part + 1) * n));
    set(table, name + "/bias", slice(b, 0, part * n, (part + 1) * n));
  };
  auto norm = [&](const std::string& name, const std::string& theirs) {
    set(table, name + "/gamma", stored.load(theirs + ".weight"));
    set(table, name + "/beta", stored.load(theirs + ".bias"));
  };
  set(table, "decoder/embedding/weight", stored.load("transformer.wte.weight"));
  set(table, "decoder/positions/weight", stored.load("transformer.wpe.weight"));
  for (int64_t i = 0; i < layers; ++i) {
    const std::string ours = say("decoder/", i, "/"), theirs = say("transformer.h.", i, ".");
    linear(ours + "self/query", theirs + "attn.c_attn", 0, 3);
    linear(ours + "self/key", theirs + "attn.c_attn", 1, 3);
    linear(ours + "self/value", theirs + "attn.c_attn", 2, 3);
    linear(ours + "self/out", theirs + "attn.c_proj", 0, 1);
    linear(ours + "feed_forward/inner", theirs + "mlp.c_fc", 0, 1);
    linear(ours + "feed_forward/outer", theirs + "mlp.c_proj", 0, 1);
    norm(ours + "norm1", theirs + "ln_1");
    norm(ours + "norm2", theirs + "ln_2");
  }
  norm("decoder/norm", "transformer.ln_f");
  set(table, "output/weight", stored.load("lm_head.weight"));
}

TEST(Reference, SortingModelGivesTheLogitsAndMapsOfPyTorch) {
  const std::string weights = shared_data("../reference/gpt-nano-sort/model.safetensors"),
                    said = shared_data("../reference/gpt-nano-sort_torch-fp32.json");
  if (weights.empty() || said.empty()) GTEST_SKIP() << "the sorting model is not here";
  Parameters table;
  const TransformerLanguageModel model(table, {.vocabulary = 3},
                                       {.layers = 3,
                                        .width = 48,
                                        .heads = 3,
                                        .activation = "gelu_tanh",
                                        .position = "learned",
                                        .longest = 11,
                                        .tied = false,
                                        .scale_embedding = false});
  EXPECT_EQ(table.count(), 85728);
  read_gpt2(weights, 3, table);
  const auto reference = nlohmann::json::parse(std::ifstream(said));
  const auto ids = reference.at("input_ids").get<std::vector<std::vector<int32_t>>>();
  const auto B = static_cast<int64_t>(ids.size()), T = static_cast<int64_t>(ids[0].size());
  const auto logits = reference.at("logits").get<std::vector<float>>();
  Recorder recorder;
  const Tensor ours = model.scores(sequences_of(ids));
  expect_close(ours, Tensor::of({B * T, 3}, logits), 1e-5);
  for (int64_t i = 0; i < 3; ++i) {
    const auto map = reference.at("attentions").at(i).get<std::vector<float>>();
    expect_close(recorder[say("decoder/", i, "/self")].rows, Tensor::of({B, 3, T, T}, map), 1e-5);
  }
}

// OpenNMT's names; query, key and value, or key and value, are one.
void read_opennmt(const Safetensors& stored, int64_t layers, const Parameters& table) {
  auto linear = [&](const std::string& name, const std::string& theirs, int64_t part, int64_t of) {
    for (const std::string what : {"weight", "bias"}) {
      const Tensor x = stored.load(theirs + "." + what);
      const int64_t n = x.dim(0) / of;
      set(table, name + "/" + what, slice(x, 0, part * n, (part + 1) * n));
    }
  };
  auto norm = [&](const std::string& name, const std::string& theirs) {
    for (const std::string what : {"gamma", "beta"}) {
      set(table, name + "/" + what, stored.load(theirs + ".layer_norm." + what));
    }
  };
  for (const std::string side : {"encoder", "decoder"}) {
    const bool decoder = side == "decoder";
    set(table, side + "/embedding/weight", stored.load(side + ".embeddings.weight"));
    for (int64_t i = 0; i < layers; ++i) {
      const std::string ours = say(side, "/", i, "/"), theirs = say(side, ".layer_", i, ".");
      const char* parts[] = {"query", "key", "value"};
      for (int part = 0; part < 3; ++part) {
        linear(ours + "self/" + parts[part], theirs + "self_attention.linear_0", part, 3);
      }
      linear(ours + "self/out", theirs + "self_attention.linear_1", 0, 1);
      norm(ours + "norm1", theirs + "self_attention");
      if (decoder) {
        linear(ours + "cross/query", theirs + "attention.linear_0", 0, 1);
        linear(ours + "cross/key", theirs + "attention.linear_1", 0, 2);
        linear(ours + "cross/value", theirs + "attention.linear_1", 1, 2);
        linear(ours + "cross/out", theirs + "attention.linear_2", 0, 1);
        norm(ours + "norm2", theirs + "attention");
      }
      linear(ours + "feed_forward/inner", theirs + "ffn.linear_0", 0, 1);
      linear(ours + "feed_forward/outer", theirs + "ffn.linear_1", 0, 1);
      norm(ours + (decoder ? "norm3" : "norm2"), theirs + "ffn");
    }
    norm(side + "/norm", side);
  }
  set(table, "output/weight", stored.load("decoder.projection.weight"));
}

// Sines in one half and cosines in the other, counted from 1.
Tensor halved_positions(int64_t longest, int64_t width) {
  Tensor table({longest, width});
  auto to = table.write<float>();
  const int64_t half = width / 2;
  for (int64_t t = 0; t < longest; ++t) {
    for (int64_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(t + 1) *
          std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half - 1));
      to[t * width + i] = static_cast<float>(std::sin(angle));
      to[t * width + half + i] = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

// Scores with a bias for each token, which our output layer does not have.
class Biased : public Decoder {
 public:
  Biased(const Decoder& decoder, Tensor bias) : decoder_(decoder), bias_(std::move(bias)) {}
  Taught teach(const Memory& memory, const Sequences& target) const override {
    return {decoder_.teach(memory, target).scores + bias_};
  }
  std::unique_ptr<Decoding> start(const Memory& memory, int64_t beam) const override {
    struct Step : Decoding {
      std::unique_ptr<Decoding> of;
      Tensor bias;
      Tensor step(const Tensor& ids) override { return of->step(ids) + bias; }
      void select(const Tensor& rows) override { of->select(rows); }
    };
    auto step = std::make_unique<Step>();
    step->of = decoder_.start(memory, beam);
    step->bias = bias_;
    return step;
  }

 private:
  const Decoder& decoder_;
  Tensor bias_;
};

TEST(Reference, TransliterationModelGivesTheLogitsAndAnswersOfPyTorch) {
  const std::string weights = shared_data("../reference/aren-transliteration/model.safetensors"),
                    said = shared_data("../reference/ct2-aren-transliteration_torch-fp32.json");
  if (weights.empty() || said.empty()) GTEST_SKIP() << "the transliteration model is not here";
  const Safetensors stored = Safetensors::open(weights);
  Parameters table;
  const TransformerTranslator model(table, {.vocabulary = 51, .target_vocabulary = 43},
                                    {.layers = 6,
                                     .width = 32,
                                     .heads = 8,
                                     .activation = "relu",
                                     .position = "learned",
                                     .longest = 40,
                                     .tied = false});
  read_opennmt(stored, 6, table);
  for (const std::string side : {"encoder", "decoder"}) {
    set(table, side + "/positions/weight", halved_positions(40, 32));
  }
  const Biased biased(model.decoder(), stored.load("decoder.projection.bias"));
  const auto reference = nlohmann::json::parse(std::ifstream(said));
  std::vector<std::vector<int32_t>> sources, begins, wanted;
  std::vector<float> logits;
  for (const auto& one : reference.at("cases")) {
    sources.push_back(one.at("source_ids"));
    begins.push_back({1});
    wanted.push_back(one.at("greedy_target_ids"));
    for (const float x : one.at("first_step_logits")) logits.push_back(x);
  }
  const Sequences source = sequences_of(sources);  // of different lengths, so with padding
  const auto B = static_cast<int64_t>(sources.size());
  const Memory memory = model.encode({.text = source});
  expect_close(biased.teach(memory, sequences_of(begins)).scores, Tensor::of({B, 43}, logits),
               1e-5);
  const auto answers = beam_search(biased, memory, {.beam = 1, .begin = 1, .end = 2});
  for (int64_t b = 0; b < B; ++b) {
    EXPECT_EQ(answers[b][0].ids, std::vector<int32_t>(wanted[b].begin() + 1, wanted[b].end() - 1));
  }
}

}  // namespace
}  // namespace fovea::test
