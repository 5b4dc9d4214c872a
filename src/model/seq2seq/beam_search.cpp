#include "fovea/model/seq2seq/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/parallel.h"
#include "fovea/kernel/softmax.h"

namespace fovea {
namespace {

struct Open {  // an answer that goes on
  std::vector<int32_t> ids;
  double log_probability = -std::numeric_limits<double>::infinity();
};

struct Continuation {
  int32_t row;  // of the answer it continues
  int32_t token;
  double log_probability;
};

// Whether one of n scores may be as good as `least`: never wrong when it says no. No early exit:
// this way the compiler takes several at a time.
bool any_near(const float* scores, int64_t n, double least) {
  const auto limit = static_cast<float>(least - 1e-3 - 1e-6 * std::abs(least));
  int reached = 0;
  for (int64_t i = 0; i < n; ++i) reached |= scores[i] >= limit;
  return reached != 0;
}

// Of the exponentials in each row: what cross-entropy works out on its way, here without targets.
std::vector<float> log_sums(const Tensor& scores) {
  const int64_t rows = scores.dim(0);
  const std::vector<int32_t> no_target(rows, -1);
  std::vector<float> lse(rows), loss(rows);
  kernel::cross_entropy({.rows = rows, .cols = scores.dim(1), .smoothing = 0}, loss.data(),
                        lse.data(), scores.read().data(), no_target.data());
  return lse;
}

// One memory's search.
class Search {
 public:
  Search(const BeamOptions& o, int64_t memory_length, int64_t longest)
      : o_(o),
        longest_(static_cast<size_t>(
            std::clamp<double>(o.longest_factor * static_cast<double>(memory_length) + 10, 1,
                               static_cast<double>(longest)))),
        open_(static_cast<size_t>(o.beam)) {
    open_[0].log_probability = 0;  // the others are copies of it until it branches
  }

  bool done() const { return done_; }
  const std::vector<Open>& open() const { return open_; }

  // Scores [beam, vocabulary] of the next token and the logarithms of the sums of their
  // exponentials [beam]; `rows` gets which answer each one continues.
  void advance(const float* scores, const float* lse, int64_t vocabulary, int32_t* rows) {
    for (int64_t i = 0; i < o_.beam; ++i) rows[i] = static_cast<int32_t>(i);
    if (done_) return;
    std::vector<Open> next;
    int64_t rank = 0;
    for (const Continuation& c : best(scores, lse, vocabulary)) {
      std::vector<int32_t> ids = open_[c.row].ids;
      const bool in_beam = rank++ < o_.beam;
      if (c.token == o_.end) {
        if (in_beam) finish(std::move(ids), c.log_probability);
        continue;
      }
      if (static_cast<int64_t>(next.size()) == o_.beam) continue;
      rows[next.size()] = c.row;
      ids.push_back(c.token);
      next.push_back({std::move(ids), c.log_probability});
    }
    open_ = std::move(next);
    close_if_done();
    open_.resize(o_.beam);
  }

  std::vector<Hypothesis> answers() && {
    if (finished_.empty()) finish_open();
    check(!finished_.empty(), "the model's weights are broken: nothing that it could answer has a ",
          "probability; train it again, with a smaller --rate");
    std::ranges::stable_sort(finished_, std::ranges::greater(), &Hypothesis::score);
    if (static_cast<int64_t>(finished_.size()) > o_.nbest) finished_.resize(o_.nbest);
    return std::move(finished_);
  }

 private:
  double penalised(double log_probability, size_t length) const {
    return log_probability / std::pow((5 + static_cast<double>(length)) / 6, o_.length_penalty);
  }
  void finish(std::vector<int32_t> ids, double log_probability) {
    const double score = penalised(log_probability, ids.size() + 1);
    finished_.push_back({std::move(ids), score});
  }
  void finish_open() {
    for (Open& open : open_) {
      if (std::isfinite(open.log_probability)) finish(std::move(open.ids), open.log_probability);
    }
  }

  // Twice as many as the beam, since up to a beam of them may end.
  std::vector<Continuation> best(const float* scores, const float* lse, int64_t vocabulary) const {
    const auto keep = static_cast<size_t>(2 * o_.beam);
    auto better = [](const Continuation& a, const Continuation& b) {
      return a.log_probability != b.log_probability
                 ? a.log_probability > b.log_probability
                 : std::pair(a.row, a.token) < std::pair(b.row, b.token);
    };
    std::vector<Continuation> kept;  // a heap whose worst is in front
    auto consider = [&](const Continuation& c) {
      if (c.token == o_.begin || c.token == 0 || c.token == o_.never) return;
      if (!std::isfinite(c.log_probability)) return;
      if (kept.size() == keep) {
        if (!better(c, kept.front())) return;
        std::ranges::pop_heap(kept, better);
        kept.pop_back();
      }
      kept.push_back(c);
      std::ranges::push_heap(kept, better);
    };
    constexpr int64_t block = 64;  // tokens, in most of which there is none good enough
    for (int32_t row = 0; row < o_.beam; ++row, scores += vocabulary) {
      const double so_far = open_[row].log_probability - lse[row];
      if (!std::isfinite(so_far)) continue;
      for (int64_t first = 0; first < vocabulary; first += block) {
        const int64_t end = std::min(first + block, vocabulary);
        const bool full = kept.size() == keep;
        if (full && !any_near(scores + first, end - first, kept[0].log_probability - so_far)) {
          continue;
        }
        for (int64_t token = first; token < end; ++token) {
          consider({row, static_cast<int32_t>(token), so_far + scores[token]});
        }
      }
    }
    std::ranges::sort(kept, better);
    return kept;
  }

  void close_if_done() {
    const bool too_long = !open_.empty() && open_[0].ids.size() >= longest_;
    if (too_long && static_cast<int64_t>(finished_.size()) < o_.nbest) finish_open();
    // Once as many have ended as there are places, those still open rarely come out first.
    done_ = too_long || open_.empty() || static_cast<int64_t>(finished_.size()) >= o_.beam;
  }

  BeamOptions o_;
  size_t longest_;
  std::vector<Open> open_;
  std::vector<Hypothesis> finished_;
  bool done_ = false;
};

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(const Decoder& decoder, const Memory& memory,
                                                 const BeamOptions& options) {
  check(options.beam >= 1 && options.nbest >= 1 && options.nbest <= options.beam,
        "beam search: needs 1 <= nbest <= beam, got ", options.nbest, " of ", options.beam);
  const int64_t B = memory.count(), beam = options.beam;
  std::vector<Search> searches;
  // Letters are counted where there are letters to look at.
  const Tensor& lengths = memory.letter_lengths.empty() ? memory.lengths : memory.letter_lengths;
  for (int32_t n : lengths.read<int32_t>()) {
    searches.emplace_back(options, n, decoder.longest());
  }
  auto decoding = decoder.start(memory, beam);
  Tensor ids({B * beam}, Dtype::i32), rows({B * beam}, Dtype::i32);
  std::ranges::fill(ids.write<int32_t>(), options.begin);
  while (!std::ranges::all_of(searches, &Search::done)) {
    const Tensor scores = decoding->step(ids);  // [B beam, V]
    const int64_t V = scores.dim(1);
    const float* from = scores.read().data();
    const std::vector<float> lse = log_sums(scores);
    int32_t* which = rows.write<int32_t>().data();
    int32_t* last = ids.write<int32_t>().data();
    parallel_for(B, 1, [&](int64_t first, int64_t end) {
      for (int64_t b = first; b < end; ++b) {
        searches[b].advance(from + b * beam * V, &lse[b * beam], V, which + b * beam);
        for (int64_t i = 0; i < beam; ++i) {
          which[b * beam + i] += static_cast<int32_t>(b * beam);
          const auto& open = searches[b].open()[i].ids;
          last[b * beam + i] = open.empty() ? options.end : open.back();
        }
      }
    });
    if (beam > 1) decoding->select(rows);
  }
  std::vector<std::vector<Hypothesis>> answers;
  for (Search& search : searches) answers.push_back(std::move(search).answers());
  return answers;
}

}  // namespace fovea
