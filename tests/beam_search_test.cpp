// Beam search against an exhaustive search over a model small enough for one.
#include "fovea/model/seq2seq/beam_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fovea/op/softmax.h"

namespace fovea::test {
namespace {

constexpr int64_t vocabulary = 6;  // pad, unknown, begin, end, and two words

// Scores that depend on one number of the memory and on all tokens so far.
class Scripted : public Decoder {
 public:
  Taught teach(const Memory&, const Sequences&) const override { return {}; }

  static std::vector<float> next(int32_t source, const std::vector<int32_t>& so_far) {
    uint64_t hash = static_cast<uint64_t>(source) * 977 + 13;
    for (int32_t id : so_far) hash = hash * 1315423911u + static_cast<uint64_t>(id) + 7;
    std::vector<float> scores;
    Random random(hash);
    for (int64_t i = 0; i < vocabulary; ++i) scores.push_back(2 * random.uniform());
    return scores;
  }

  class Steps : public Decoding {
   public:
    Steps(const Memory& memory, int64_t beam) : beam_(beam), paths_(memory.count() * beam) {
      for (float x : memory.states.read()) firsts_.push_back(static_cast<int32_t>(x));
    }
    Tensor step(const Tensor& ids) override {
      Tensor scores({ids.dim(0), vocabulary});
      for (int64_t i = 0; i < ids.dim(0); ++i) {
        paths_[i].push_back(ids.read<int32_t>()[i]);
        const auto row = next(firsts_[i / beam_], paths_[i]);
        std::ranges::copy(row, scores.write().begin() + i * vocabulary);
      }
      return scores;
    }
    void select(const Tensor& rows) override {
      auto before = paths_;
      for (int64_t i = 0; i < rows.dim(0); ++i) paths_[i] = before[rows.read<int32_t>()[i]];
    }

   private:
    int64_t beam_;
    std::vector<int32_t> firsts_;
    std::vector<std::vector<int32_t>> paths_;
  };
  std::unique_ptr<Decoding> start(const Memory& memory, int64_t beam) const override {
    return std::make_unique<Steps>(memory, beam);
  }
};

// A memory of one number each.
Memory memory_of(std::span<const std::vector<int32_t>> lists) {
  const auto B = static_cast<int64_t>(lists.size());
  Memory memory{.states = Tensor({B, 1, 1}), .lengths = Tensor::full({B}, 1, Dtype::i32)};
  for (int64_t b = 0; b < B; ++b) memory.states.write()[b] = static_cast<float>(lists[b][0]);
  return memory;
}

std::vector<double> log_probabilities(int32_t source, const std::vector<int32_t>& path) {
  const auto scores = Scripted::next(source, path);
  double sum = 0;
  for (float s : scores) sum += std::exp(s);
  std::vector<double> result;
  for (float s : scores) result.push_back(s - std::log(sum));
  return result;
}

TEST(BeamSearch, GreedyTakesTheLikeliestEachTime) {
  const std::vector<std::vector<int32_t>> sources{{4}, {5}, {1}};
  const auto answers = beam_search(Scripted(), memory_of(sources), {.beam = 1});
  for (size_t b = 0; b < sources.size(); ++b) {
    std::vector<int32_t> path{2};
    while (path.size() < 12) {
      auto likely = log_probabilities(sources[b][0], path);
      likely[0] = likely[2] = -INFINITY;
      const auto best = std::ranges::max_element(likely) - likely.begin();
      if (best == 3) break;
      path.push_back(static_cast<int32_t>(best));
    }
    path.erase(path.begin());
    EXPECT_EQ(answers[b].at(0).ids, path) << b;
  }
}

// All answers of up to `longest` of these tokens with their log-probabilities.
void all_answers(int32_t source, std::vector<int32_t> path, double so_far, size_t longest,
                 const std::vector<int32_t>& tokens,
                 std::map<double, std::vector<int32_t>>& found) {
  const auto likely = log_probabilities(source, path);
  found[so_far + likely[3]] = {path.begin() + 1, path.end()};
  if (path.size() > longest) return;
  for (int32_t token : tokens) {
    auto longer = path;
    longer.push_back(token);
    all_answers(source, longer, so_far + likely[token], longest, tokens, found);
  }
}

void expect_best_of(const std::vector<int32_t>& tokens, const BeamOptions& options) {
  for (int32_t source = 0; source < 20; ++source) {
    std::map<double, std::vector<int32_t>> found;
    all_answers(source, {2}, 0, 6, tokens, found);
    const std::vector<std::vector<int32_t>> one{{source}};
    const auto answers = beam_search(Scripted(), memory_of(one), options);
    auto best = found.rbegin();
    for (const Hypothesis& answer : answers[0]) {
      EXPECT_EQ(answer.ids, best->second) << source;
      EXPECT_NEAR(answer.score, best->first, 1e-5);
      ++best;
    }
    ASSERT_EQ(answers[0].size(), 3u);
  }
}

TEST(BeamSearch, AWideBeamFindsTheBestAnswer) {
  expect_best_of({1, 4, 5}, {.beam = 200, .nbest = 3, .length_penalty = 0});
}

TEST(BeamSearch, ATokenThatIsRuledOutIsInNoAnswer) {
  expect_best_of({4, 5}, {.beam = 200, .nbest = 3, .length_penalty = 0, .never = 1});
}

TEST(BeamSearch, SourcesDoNotTouchEachOther) {
  const std::vector<std::vector<int32_t>> sources{{4}, {9}, {2}};
  const auto together = beam_search(Scripted(), memory_of(sources), {.beam = 4, .nbest = 2});
  for (size_t b = 0; b < sources.size(); ++b) {
    const auto alone =
        beam_search(Scripted(), memory_of({&sources[b], 1}), {.beam = 4, .nbest = 2});
    EXPECT_EQ(alone[0][0].ids, together[b][0].ids);
    EXPECT_EQ(alone[0][1].ids, together[b][1].ids);
  }
}

TEST(BeamSearch, RefusesMoreAnswersThanItFollows) {
  const std::vector<std::vector<int32_t>> one{{4}};
  EXPECT_THROW(beam_search(Scripted(), memory_of(one), {.beam = 2, .nbest = 3}), Error);
}

}  // namespace
}  // namespace fovea::test
