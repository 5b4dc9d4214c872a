// Generation with kept keys and values.
//   FOVEA_THREADS=2 tools/bench generate_bench [CASE [SECONDS]]     CASE: token, growth, translate
//   FOVEA_THREADS=2 tools/bench generate_bench serve FOLDER WIDTH
// token: one text by a language model 6 x 512, against reading its weights once for every token.
// growth: seconds a token takes with 512 to 8192 tokens before it.
// translate: 32 sources by an encoder-decoder with a beam of 4, 40 tokens each; 3 + 3 layers, 256
// wide as the preset multi30k-transformer is, and 512 wide.
// serve: tools/bench_generate_torch.py runs it in turn with PyTorch. FOLDER gets
// weights.safetensors and data.safetensors; then, for every number that comes on stdin, it
// translates so many times and answers with a line: seconds, seconds of processor time on all
// threads, tokens, and the ids of the best answers.
#include <cmath>
#include <ctime>
#include <iostream>

#include "fovea/app/bench/race.h"
#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/model/transformer/language_model.h"
#include "fovea/model/transformer/translator.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/train/checkpoint.h"

namespace fovea::bench {
namespace {

constexpr int64_t words = 8000;
constexpr int32_t first_word = 4;

TransformerOptions options(int64_t layers, int64_t width, int64_t hidden) {
  return {.layers = layers,
          .width = width,
          .heads = width / 64,
          .hidden = hidden,
          .dropout = 0,
          .attention_dropout = 0};
}

// Words of any text: what they are does not matter for speed.
std::vector<int32_t> some_words(int64_t n, Random random) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < n; ++i) {
    ids.push_back(first_word + static_cast<int32_t>(random.below(words - first_word)));
  }
  return ids;
}

class Generation {
 public:
  // Every weight is read once: of the embedding, which is the output layer as well, one row more.
  double bytes() const { return 4.0 * static_cast<double>(parameters_.count() + width); }
  // Keys and values of one token.
  double kept_bytes() const { return 2.0 * 4 * width * layers; }

  std::unique_ptr<LanguageModel::Continuation> start(int64_t length) const {
    auto text = model_.start();
    while (text->length() < length) {
      const int64_t n = std::min<int64_t>(512, length - text->length());
      text->step(Tensor::of({1, n}, some_words(n, Random(2))));
    }
    return text;
  }
  // The likeliest token after `last`.
  static Tensor next(LanguageModel::Continuation& text, const Tensor& last) {
    return argmax(text.step(last), -1);
  }

 private:
  static constexpr int64_t layers = 6, width = 512;
  Parameters parameters_{1};
  TransformerLanguageModel model_{
      parameters_, {.vocabulary = words}, options(layers, width, 4 * width)};
};

void measure_token(double seconds) {
  constexpr int64_t tokens = 32;
  const Generation model;
  std::printf("%-46s %6s %7s %8s %8s\n", "", "ratio", "spread", "tokens/s", "limit");
  const Tensor memory = uniform({static_cast<int64_t>(model.bytes() / 4)}, 9);
  Race race(seconds, "", [&](const Row& row) {
    const double rate = tokens / row.seconds;
    std::printf("%-46s %6.3f %7.2f %8.1f %8.1f\n", row.name.c_str(), row.ratio, row.spread, rate,
                rate / row.ratio);
    std::printf("a token reads %.1f MB of weights; memory gives %.1f GB/s; %d threads\n",
                model.bytes() * 1e-6, rate / row.ratio * model.bytes() * 1e-9, threads());
  });
  race.against_each_other(
      "32 tokens, 6 x 512, weights read once a token",
      [&] {
        auto text = model.start(0);
        Tensor last = Tensor::of({1}, std::vector<int32_t>{2});
        for (int64_t i = 0; i < tokens; ++i) last = Generation::next(*text, last);
      },
      [&] {
        for (int64_t i = 0; i < tokens; ++i) {
          kernel::limit_read(memory.read().data(), memory.elements());
        }
      });
}

struct Line {
  double at_0, slope;
};

Line fitted(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0, my = 0, xy = 0, xx = 0;
  const auto n = static_cast<double>(x.size());
  for (size_t i = 0; i < x.size(); ++i) mx += x[i] / n, my += y[i] / n;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
  }
  return {my - xy / xx * mx, xy / xx};
}

void measure_growth(double seconds) {
  const Generation model;
  const std::vector<int64_t> lengths{16, 512, 1024, 2048, 4096, 8192};
  std::vector<std::unique_ptr<LanguageModel::Continuation>> texts;
  for (const int64_t n : lengths) texts.push_back(model.start(n));
  const Tensor word = Tensor::of({1}, std::vector<int32_t>{5});
  // The first token after a length that is a power of two makes room for as many again.
  for (auto& text : texts) text->step(word);
  std::vector<Timer> timers(texts.size());
  for (const double stop = now() + seconds; now() < stop || timers[0].seconds.size() < 10;) {
    for (size_t i = 0; i < texts.size(); ++i) timers[i].run([&] { texts[i]->step(word); });
  }
  const double least = timers[0].best();
  std::vector<double> x, y, log_x, log_y;
  std::printf("%8s %12s %7s %22s\n", "tokens", "ms a token", "spread", "GB/s of kept, growing");
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto n = static_cast<double>(lengths[i]);
    const double time = timers[i].best(), more = time - least;
    std::printf("%8.0f %12.3f %7.2f", n, time * 1e3, timers[i].spread());
    if (i > 0) std::printf(" %22.1f", (n - 16) * model.kept_bytes() / more * 1e-9);
    std::printf("\n");
    x.push_back(n), y.push_back(time);
    if (i > 0 && more > 0) log_x.push_back(std::log(n - 16)), log_y.push_back(std::log(more));
  }
  const Line line = fitted(x, y);
  double furthest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    furthest = std::max(furthest, std::abs(y[i] - line.at_0 - line.slope * x[i]) / y[i]);
  }
  std::printf("a token: %.3f ms + %.3f us a token before it, at most %.1f %% off that line;\n",
              line.at_0 * 1e3, line.slope * 1e6, furthest * 100);
  std::printf("what comes on top of 16 tokens before it grows as their number to the power %.2f\n",
              fitted(log_x, log_y).slope);
}

constexpr int64_t sources = 32, beam = 4, tokens_each = 40;

// Weights drawn at random, with an output layer of its own: one that shares the embedding would say
// every word again. It is scaled so that some words are much likelier than others, and the end is
// never among them: every answer is as long as it may be.
class Translation {
 public:
  explicit Translation(int64_t width, const std::string& folder = "")
      : model_(parameters_, {.vocabulary = words, .target_vocabulary = words}, untied(width)) {
    const Parameter& output = parameters_["output/weight"];
    for (float& w : output.write()) w *= 6;
    std::fill_n(output.write().begin() + 3 * width, width, 0.0F);
    std::vector<std::vector<int32_t>> lists;
    for (int64_t b = 0; b < sources; ++b) {
      Random random(3, static_cast<uint64_t>(b));
      const auto n = static_cast<int64_t>(20 + random.below(11));
      lists.push_back(some_words(n, random));
    }
    source_ = sequences_of(lists);
    if (folder.empty()) return;
    save_parameters(folder + "/weights.safetensors", parameters_);
    save_safetensors(
        folder + "/data.safetensors",
        std::vector<NamedTensor>{{"source/ids", source_.ids}, {"source/offsets", source_.offsets}});
  }

  std::vector<std::vector<Hypothesis>> run() const {
    // 40 tokens, however long the sources are.
    return beam_search(Limited(model_.decoder()), model_.encode({.text = source_}),
                       {.beam = beam, .longest_factor = 100});
  }

 private:
  // A decoder that writes 40 tokens at the most.
  class Limited : public Decoder {
   public:
    explicit Limited(const Decoder& decoder) : decoder_(decoder) {}
    Taught teach(const Memory& memory, const Sequences& target) const override {
      return decoder_.teach(memory, target);
    }
    std::unique_ptr<Decoding> start(const Memory& memory, int64_t beam) const override {
      return decoder_.start(memory, beam);
    }
    int64_t longest() const override { return 40; }

   private:
    const Decoder& decoder_;
  };

  static TransformerOptions untied(int64_t width) {
    TransformerOptions o = options(3, width, width == 256 ? 512 : 4 * width);
    o.tied = false;
    return o;
  }

  Parameters parameters_{1};
  TransformerTranslator model_;
  Sequences source_;
};

void serve(const std::string& folder, int64_t width) {
  const Translation translation(width, folder);
  std::printf("ready\n");
  std::fflush(stdout);
  for (int64_t times; std::cin >> times;) {
    const double start = now(), processor = static_cast<double>(std::clock());
    std::vector<std::vector<Hypothesis>> answers;
    for (int64_t i = 0; i < times; ++i) answers = translation.run();
    std::printf("%.6f %.6f %lld", now() - start,
                (static_cast<double>(std::clock()) - processor) / CLOCKS_PER_SEC,
                static_cast<long long>(times * sources * tokens_each));
    for (const auto& one : answers) {
      check(static_cast<int64_t>(one[0].ids.size()) == tokens_each, "generate_bench: an answer of ",
            one[0].ids.size(), " tokens, where all should have ", tokens_each);
      for (const int32_t id : one[0].ids) std::printf(" %d", id);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

void measure_translation(int64_t width, double seconds) {
  const Translation translation(width);
  translation.run();
  Timer timer;
  for (const double stop = now() + seconds; now() < stop || timer.seconds.size() < 3;) {
    timer.run([&] { translation.run(); });
  }
  std::printf("%d wide, 32 sources, beam 4, 40 tokens each: %.3f s, %.0f tokens/s, spread %.2f\n",
              static_cast<int>(width), timer.best(), sources * tokens_each / timer.best(),
              timer.spread());
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  using namespace fovea::bench;
  wait_passively(argv);
  const std::string which = argc > 1 ? argv[1] : "";
  if (which == "serve" && argc > 3) return serve(argv[2], std::atoi(argv[3])), 0;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  if (which.empty() || which == "token") measure_token(seconds);
  if (which.empty() || which == "growth") measure_growth(seconds);
  for (const int64_t width : {256, 512}) {
    if (which.empty() || which == "translate") measure_translation(width, seconds);
  }
}
