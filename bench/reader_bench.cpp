// Training of bidirectional attention flow: 20,000 words of 100 numbers that stay as they are, 100
// features of their letters, two highway layers, LSTM of 100 in both directions, batches of 40
// passages of 60 to 240 words with questions of 6 to 18.
//   reader_bench [FOLDER]
// tools/bench_reader_torch.py runs it in turn with PyTorch: FOLDER gets data.safetensors and
// weights.safetensors, which both sides start from; then it serves turns. Without FOLDER: five
// turns of five steps, and words a second.
#include <algorithm>

#include "fovea/model/reader/bidaf.h"
#include "fovea/op/tape.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/optimizer.h"
#include "turns.h"

namespace fovea::bench {
namespace {

constexpr int64_t words = 20000, alphabet = 80, batch = 40, batches = 24;

struct Example {
  std::vector<int32_t> passage, question;
  int32_t first, last;  // columns of the answer
};

// The r-th most frequent word has a share of 1 / r.
class Zipf {
 public:
  Zipf() {
    for (int64_t r = 1; r <= words; ++r) {
      up_to_.push_back((up_to_.empty() ? 0 : up_to_.back()) + 1.0 / static_cast<double>(r));
    }
  }
  int32_t operator()(Random& random) const {
    const auto at = std::ranges::upper_bound(up_to_, random.uniform() * up_to_.back());
    return static_cast<int32_t>(std::min<int64_t>(at - up_to_.begin(), words - 1));
  }

 private:
  std::vector<double> up_to_;
};

// A word's letters are a function of its number.
Tensor letters_of(const Sequences& of) {
  Tensor all = Tensor::zeros({of.rows(), letters_of_word}, Dtype::i32);
  int32_t* to = all.write<int32_t>().data();
  for (int32_t id : of.ids.read<int32_t>()) {
    Random random(static_cast<uint64_t>(id), 5);
    const auto n = static_cast<int64_t>(2 + random.below(9));
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int32_t>(1 + random.below(alphabet - 1));
    to += letters_of_word;
  }
  return all;
}

std::vector<std::vector<Example>> make_batches() {
  Random random(1);
  const Zipf word;
  std::vector<Example> examples;
  for (int64_t i = 0; i < batches * batch; ++i) {
    Example e;
    for (uint64_t n = 60 + random.below(181); n > 0; --n) e.passage.push_back(word(random));
    for (uint64_t n = 6 + random.below(13); n > 0; --n) e.question.push_back(word(random));
    e.first = static_cast<int32_t>(1 + random.below(e.passage.size()));
    e.last = std::min(e.first + static_cast<int32_t>(random.below(4)),
                      static_cast<int32_t>(e.passage.size()));
    examples.push_back(std::move(e));
  }
  std::ranges::stable_sort(examples, {}, [](const Example& e) { return e.passage.size(); });
  std::vector<std::vector<Example>> all;
  for (int64_t i = 0; i < batches; ++i) {
    all.emplace_back(examples.begin() + i * batch, examples.begin() + (i + 1) * batch);
  }
  for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

struct Batch {
  ModelInputs in;
  Tensor targets;
};
Batch batch_of(const std::vector<Example>& of) {
  std::vector<std::vector<int32_t>> passages, questions;
  std::vector<int32_t> targets;
  for (const Example& e : of) {
    passages.push_back(e.passage), questions.push_back(e.question);
    targets.push_back(e.first), targets.push_back(e.last);
  }
  Batch b;
  b.in.text = sequences_of(passages);
  b.in.question = sequences_of(questions);
  b.in.letters = letters_of(b.in.text);
  b.in.second_letters = letters_of(b.in.question);
  b.targets = Tensor::of({static_cast<int64_t>(of.size()), 2}, targets);
  return b;
}

// Without dropout, whose draws the two sides would not share, and with vectors that stay.
BidafOptions options() {
  BidafOptions o;
  o.dropout = 0;
  o.vectors = "given", o.tune_vectors = false;
  return o;
}

class Training {
 public:
  explicit Training(const std::string& folder) {
    for (const auto& one : make_batches()) batches_.push_back(batch_of(one));
    if (folder.empty()) return;
    std::vector<NamedTensor> data;
    for (size_t i = 0; i < batches_.size(); ++i) {
      const auto& [in, targets] = batches_[i];
      const std::string name = std::to_string(i) + "/";
      data.push_back({name + "passage", in.text.ids});
      data.push_back({name + "offsets", in.text.offsets});
      data.push_back({name + "letters", in.letters});
      data.push_back({name + "question", in.question.ids});
      data.push_back({name + "question_offsets", in.question.offsets});
      data.push_back({name + "question_letters", in.second_letters});
      data.push_back({name + "targets", targets});
    }
    save_safetensors(folder + "/data.safetensors", data);
    save_parameters(folder + "/weights.safetensors", parameters_);
  }

  Step step() {
    const auto& [in, targets] = batches_[next_++ % batches_.size()];
    Tape tape;
    const Tensor loss = model_.loss(in, targets, 0);
    Gradients gradients = tape.backward(loss);
    clip_by_norm(parameters_, gradients, 5);
    optimizer_->step(gradients);
    return {loss.item(), in.text.rows() + in.question.rows()};
  }

 private:
  std::vector<Batch> batches_;
  size_t next_ = 0;
  Parameters parameters_{1};
  Bidaf model_{Scope(parameters_),
               {.vocabulary = words, .alphabet = alphabet, .labels = always_answered},
               options()};
  std::unique_ptr<Optimizer> optimizer_ = make_optimizer(parameters_, {.rate = 1e-3});
};

void measure(Training& training) {
  for (int i = 0; i < 5; ++i) {
    const Turn turn = take(training, 5);
    const auto tokens = static_cast<double>(turn.tokens);
    std::printf(
        "%.0f words/s, %.0f / processor s, %.0f ms of processor a step, loss %.4f, peak "
        "%.0f MB\n",
        tokens / turn.seconds, tokens / turn.processor, turn.processor * 200, turn.losses.back(),
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
