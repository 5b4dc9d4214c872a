#include "fovea/model/ngram/kneser_ney.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/base/parallel.h"

namespace fovea {

const Fields<NgramModelOptions>& ngram_model_fields() {
  using O = NgramModelOptions;
  static const Fields<O> fields{
      {"order", &O::order, "tokens of the longest n-gram", whole_from(1, 12)}};
  return fields;
}

KneserNey::KneserNey(const ModelSizes& sizes, const NgramModelOptions& options)
    : vocabulary_(sizes.vocabulary), order_(options.order) {}

namespace {

// Where n-grams begin, in the order of their tokens: a pass for each token, the last one first.
std::vector<int32_t> sorted_places(std::span<const int32_t> text, int64_t order,
                                   int64_t vocabulary) {
  const auto n = static_cast<int64_t>(text.size());
  std::vector<int32_t> places(text.size()), next(text.size());
  for (int64_t i = 0; i < n; ++i) places[i] = static_cast<int32_t>(i);
  std::vector<int64_t> start(static_cast<size_t>(vocabulary) + 2);
  for (int64_t k = order - 1; k >= 0; --k) {
    // Behind the end of the text stands a token that is less than all.
    const auto token = [&](int32_t place) {
      return place + k < n ? static_cast<size_t>(text[place + k]) + 1 : 0;
    };
    std::ranges::fill(start, 0);
    for (int32_t place : places) ++start[token(place) + 1];
    for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    for (int32_t place : places) next[start[token(place)]++] = place;
    places.swap(next);
  }
  return places;
}

// What is taken off a count of 1, 2, and 3 or more (Chen, Goodman 1999).
std::array<double, 4> discounts(const std::vector<int32_t>& counts) {
  std::array<double, 5> n{};
  for (int32_t c : counts) {
    if (c >= 1 && c <= 4) ++n[static_cast<size_t>(c)];
  }
  std::array<double, 4> d{0, 0.5, 0.75, 0.9};
  if (n[1] == 0 || n[2] == 0) return d;
  const double y = n[1] / (n[1] + 2 * n[2]);
  for (size_t k = 1; k <= 3; ++k) {
    if (n[k] > 0 && n[k + 1] > 0) {
      d[k] = std::clamp(static_cast<double>(k) - static_cast<double>(k + 1) * y * n[k + 1] / n[k],
                        0.05, static_cast<double>(k) - 0.05);
    }
  }
  return d;
}

}  // namespace

int64_t KneserNey::find(int64_t level, int64_t first, int64_t last, int32_t token) const {
  const auto& tokens = levels_[static_cast<size_t>(level)].token;
  const auto found = std::lower_bound(tokens.begin() + first, tokens.begin() + last, token);
  return found != tokens.begin() + last && *found == token ? found - tokens.begin() : -1;
}

int64_t KneserNey::node(std::span<const int32_t> tokens) const {
  int64_t first = 0, last = static_cast<int64_t>(levels_[0].token.size()), at = -1;
  for (size_t k = 0; k < tokens.size(); ++k) {
    at = find(static_cast<int64_t>(k), first, last, tokens[k]);
    if (at < 0 || k + 1 == tokens.size()) return at;
    first = levels_[k].child[at], last = levels_[k].child[at + 1];
  }
  return at;
}

void KneserNey::count(std::span<const int32_t> text) const {
  const auto n = static_cast<int64_t>(text.size());
  levels_.assign(static_cast<size_t>(order_), {});
  const auto places = sorted_places(text, order_, vocabulary_);
  // One way through all n-grams in order: a level gets a new one where its tokens change.
  int32_t before = -1;
  for (int32_t place : places) {
    int64_t same = 0;
    while (before >= 0 && same < order_ && place + same < n && before + same < n &&
           text[place + same] == text[before + same]) {
      ++same;
    }
    for (int64_t k = 0; k < order_ && place + k < n; ++k) {
      Level& level = levels_[static_cast<size_t>(k)];
      if (k < same) {
        ++level.count.back();
        continue;
      }
      if (k + 1 < order_) {
        level.child.push_back(
            static_cast<int32_t>(levels_[static_cast<size_t>(k) + 1].token.size()));
      }
      level.token.push_back(text[place + k]);
      level.count.push_back(1);
    }
    before = place;
  }
  for (int64_t k = 0; k + 1 < order_; ++k) {
    levels_[static_cast<size_t>(k)].child.push_back(
        static_cast<int32_t>(levels_[static_cast<size_t>(k) + 1].token.size()));
  }
  // Shorter ones count how many different tokens they follow.
  std::vector<std::vector<int32_t>> follows;
  for (int64_t k = 0; k + 1 < order_; ++k) {
    follows.emplace_back(levels_[static_cast<size_t>(k)].token.size(), 0);
  }
  std::vector<int32_t> tokens(static_cast<size_t>(order_));
  const std::function<void(int64_t, int64_t)> walk = [&](int64_t k, int64_t at) {
    const Level& level = levels_[static_cast<size_t>(k)];
    tokens[static_cast<size_t>(k)] = level.token[at];
    if (k > 0) {
      const int64_t shorter = node({tokens.data() + 1, static_cast<size_t>(k)});
      if (shorter >= 0) ++follows[static_cast<size_t>(k) - 1][shorter];
    }
    if (k + 1 == order_) return;
    for (int64_t c = level.child[at]; c < level.child[at + 1]; ++c) walk(k + 1, c);
  };
  for (int64_t at = 0; at < static_cast<int64_t>(levels_[0].token.size()); ++at) walk(0, at);
  for (int64_t k = 0; k + 1 < order_; ++k) {
    // What the text begins with follows nothing, and still has been seen.
    auto& counts = levels_[static_cast<size_t>(k)].count;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] = std::max(1, follows[k][i]);
  }
  for (int64_t k = 0; k < order_; ++k) {
    Level& level = levels_[static_cast<size_t>(k)];
    const auto d = discounts(level.count);
    const auto share = [&](int64_t first, int64_t last) {
      double sum = 0, left = 0;
      for (int64_t i = first; i < last; ++i) sum += level.count[i];
      for (int64_t i = first; i < last; ++i) {
        const double off = d[static_cast<size_t>(std::min(level.count[i], 3))];
        level.alpha[i] = static_cast<float>((level.count[i] - off) / sum);
        left += off / sum;
      }
      return last > first ? static_cast<float>(left) : 1.0F;
    };
    level.alpha.resize(level.token.size());
    if (k == 0) {
      unigram_left_ = share(0, static_cast<int64_t>(level.token.size()));
      continue;
    }
    Level& parent = levels_[static_cast<size_t>(k) - 1];
    parent.gamma.resize(parent.token.size());
    for (size_t i = 0; i < parent.token.size(); ++i) {
      parent.gamma[i] = share(parent.child[i], parent.child[i + 1]);
    }
  }
}

void KneserNey::row(std::span<const int32_t> before, float* to) const {
  std::fill(to, to + vocabulary_, unigram_left_ / static_cast<float>(vocabulary_));
  const Level& words = levels_[0];
  for (size_t i = 0; i < words.token.size(); ++i) to[words.token[i]] += words.alpha[i];
  const auto most = std::min<int64_t>(order_ - 1, static_cast<int64_t>(before.size()));
  for (int64_t k = 1; k <= most; ++k) {
    const int64_t at = node(before.last(static_cast<size_t>(k)));
    if (at < 0) break;  // then no longer one has been seen either
    const Level& level = levels_[static_cast<size_t>(k) - 1];
    const Level& next = levels_[static_cast<size_t>(k)];
    if (level.child[at] == level.child[at + 1]) continue;
    for (int64_t v = 0; v < vocabulary_; ++v) to[v] *= level.gamma[at];
    for (int64_t c = level.child[at]; c < level.child[at + 1]; ++c)
      to[next.token[c]] += next.alpha[c];
  }
  for (int64_t v = 0; v < vocabulary_; ++v) to[v] = std::log(to[v]);
}

Tensor KneserNey::scores(const Sequences& ids) const {
  check(!levels_.empty(), "n-gram model: has counted no text yet");
  Tensor all({ids.rows(), vocabulary_});
  float* to = all.write().data();
  const auto tokens = ids.ids.read<int32_t>();
  const Tensor owner = ids.owners();
  const auto offsets = ids.offsets.read<int32_t>(), owners = owner.read<int32_t>();
  parallel_for(ids.rows(), 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto first = static_cast<size_t>(offsets[owners[i]]);
      row(tokens.subspan(first, static_cast<size_t>(i) + 1 - first), to + i * vocabulary_);
    }
  });
  return all;
}

namespace {

class Counted : public LanguageModel::Continuation {
 public:
  explicit Counted(const KneserNey& model) : model_(model) {}
  Tensor step(const Tensor& ids) override {
    const int64_t B = ids.dim(0), m = ids.rank() == 2 ? ids.dim(1) : 1;
    texts_.resize(static_cast<size_t>(B));
    Tensor scores({B, model_.vocabulary()});
    for (int64_t b = 0; b < B; ++b) {
      auto& text = texts_[static_cast<size_t>(b)];
      for (int64_t i = 0; i < m; ++i) text.push_back(ids.read<int32_t>()[b * m + i]);
      model_.row(text, scores.write().data() + b * model_.vocabulary());
    }
    length_ += m;
    return scores;
  }
  void select(const Tensor& rows) override {
    std::vector<std::vector<int32_t>> chosen;
    for (int32_t row : rows.read<int32_t>()) chosen.push_back(texts_.at(static_cast<size_t>(row)));
    texts_ = std::move(chosen);
  }
  int64_t length() const override { return length_; }

 private:
  const KneserNey& model_;
  std::vector<std::vector<int32_t>> texts_;
  int64_t length_ = 0;
};

}  // namespace

std::unique_ptr<LanguageModel::Continuation> KneserNey::start() const {
  return std::make_unique<Counted>(*this);
}

}  // namespace fovea
