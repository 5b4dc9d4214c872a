// Training of the recurrent encoder-decoder: LSTM 256 (both directions in the encoder), additive
// attention whose score is 256 wide, two vocabularies of 8,000 words, batches of 64.
//   translate_bench [FOLDER]
// tools/bench_translate_torch.py runs it in turn with PyTorch: FOLDER gets data.safetensors and
// weights.safetensors, which both sides start from; then it serves turns. Without FOLDER: five
// turns of ten steps, and words a second.
#include <numeric>

#include "fovea/model/seq2seq/encoder_decoder.h"
#include "fovea/op/tape.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/optimizer.h"
#include "turns.h"

namespace fovea::bench {
namespace {

constexpr int64_t words = 8000, batch = 64, batches = 100, width = 256;
constexpr int32_t begin = 1, end = 2, first_word = 3;

struct Example {
  std::vector<int32_t> source;
  std::vector<int32_t> target;  // begin, words, end
};

// Words come as often as in a language: the r-th most frequent with a share of 1 / r.
class Zipf {
 public:
  Zipf() {
    for (int64_t r = 1; r <= words - first_word; ++r) {
      up_to_.push_back((up_to_.empty() ? 0 : up_to_.back()) + 1.0 / static_cast<double>(r));
    }
  }
  int32_t operator()(Random& random) const {
    const auto at = std::ranges::upper_bound(up_to_, random.uniform() * up_to_.back());
    return first_word +
           static_cast<int32_t>(std::min<int64_t>(at - up_to_.begin(), words - first_word - 1));
  }

 private:
  std::vector<double> up_to_;
};

template <class T>
void shuffle(std::vector<T>& all, Random random) {
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
}

// Word by word into another language, with one word in ten wrong and a few left out or doubled.
Example make_example(const Zipf& word, const std::vector<int32_t>& dictionary, Random random) {
  Example e{{}, {begin}};
  for (uint64_t n = 8 + random.below(13); n > 0; --n) {
    e.source.push_back(word(random));
    const float chance = random.uniform();
    const int32_t to = chance < 0.10F ? word(random) : dictionary[e.source.back()];
    if (chance < 0.95F) e.target.push_back(to);
    if (chance >= 0.90F && chance < 0.95F) e.target.push_back(to);
  }
  e.target.push_back(end);
  return e;
}

// Batches of like lengths, in random order.
std::vector<std::vector<Example>> make_batches() {
  const Random random(1);
  std::vector<int32_t> dictionary(words);
  std::iota(dictionary.begin(), dictionary.end(), 0);
  shuffle(dictionary, random.fork("dictionary"));
  for (int32_t& word : dictionary) word = std::max(word, first_word);
  const Zipf word;
  std::vector<Example> examples;
  for (int64_t i = 0; i < batches * batch; ++i) {
    examples.push_back(make_example(word, dictionary, random.fork(static_cast<uint64_t>(i))));
  }
  std::ranges::stable_sort(
      examples, {}, [](const Example& e) { return std::pair(e.source.size(), e.target.size()); });
  std::vector<std::vector<Example>> all;
  for (int64_t i = 0; i < batches; ++i) {
    all.emplace_back(examples.begin() + i * batch, examples.begin() + (i + 1) * batch);
  }
  shuffle(all, random.fork("order"));
  return all;
}

void save_data(const std::string& path, const std::vector<std::vector<Example>>& all) {
  std::vector<std::vector<int32_t>> sources, targets;
  for (const auto& one : all) {
    for (const Example& e : one) sources.push_back(e.source), targets.push_back(e.target);
  }
  const Sequences s = sequences_of(sources), t = sequences_of(targets);
  save_safetensors(path, std::vector<NamedTensor>{{"source/ids", s.ids},
                                                  {"source/offsets", s.offsets},
                                                  {"target/ids", t.ids},
                                                  {"target/offsets", t.offsets}});
}

EncoderDecoderOptions options() {
  EncoderDecoderOptions o;
  o.cell = "lstm", o.embed = o.width = width;
  return o;
}

class Training {
 public:
  explicit Training(const std::string& folder) {
    if (folder.empty()) return;
    save_data(folder + "/data.safetensors", batches_);
    save_parameters(folder + "/weights.safetensors", parameters_);
  }

  Step step() {
    std::vector<std::vector<int32_t>> sources, targets;
    std::vector<int32_t> wanted;
    for (const Example& e : batches_[next_++ % batches]) {
      sources.push_back(e.source);
      targets.emplace_back(e.target.begin(), e.target.end() - 1);
      wanted.insert(wanted.end(), e.target.begin() + 1, e.target.end());
    }
    const auto tokens = static_cast<int64_t>(wanted.size());
    Tape tape;
    const auto taught = model_.teach({.text = sequences_of(sources)}, sequences_of(targets));
    const Tensor loss = classification_loss(taught.scores, Tensor::of({tokens}, wanted), 0, {});
    Gradients gradients = tape.backward(loss);
    clip_by_norm(parameters_, gradients, 1);
    optimizer_->step(gradients);
    return {loss.item(), tokens};
  }

 private:
  std::vector<std::vector<Example>> batches_ = make_batches();
  int64_t next_ = 0;
  Parameters parameters_{1};
  EncoderDecoder model_{Scope(parameters_),
                        {.vocabulary = words, .target_vocabulary = words},
                        options(),
                        {.score_width = width}};
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer(parameters_, {.rate = 1e-3});
};

void measure(Training& training) {
  for (int i = 0; i < 5; ++i) {
    const Turn turn = take(training, 10);
    const auto tokens = static_cast<double>(turn.tokens);
    std::printf("%.0f words/s, %.0f / processor s, loss %.4f, peak %.0f MB\n",
                tokens / turn.seconds, tokens / turn.processor, turn.losses.back(),
                own_peak_megabytes());
  }
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  const double before = fovea::bench::own_peak_megabytes();
  fovea::bench::Training training(folder);
  folder.empty() ? fovea::bench::measure(training) : fovea::bench::serve(training, before);
}
