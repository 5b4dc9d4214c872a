#include "fovea/model/memory/memory_network.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

constexpr double nowhere = -1e30;

// A question and what was found, each with words of its own: [B, d].
struct Asked {
  Asked(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o, const Parameter& fixed)
      : question(s / "question", sizes, o.width, 0, 0.1, fixed) {
    for (int64_t h = 0; h < o.hops; ++h)
      facts.emplace_back(s / "fact" / h, sizes, o.width, 0, 0.1, fixed);
  }
  Tensor operator()(const ModelInputs& in, const RememberedSentences& kept, const FoundFacts& found,
                    const Tensor& weights, int64_t longest) const {
    Tensor q = question(in.question, places_in(in.question, longest), weights);
    const auto B = static_cast<int64_t>(found.size());
    for (size_t h = 0; h < facts.size() && !found.empty() && h < found[0].size(); ++h) {
      const Tensor rows = facts[h](kept.words, kept.places, weights);
      std::vector<int32_t> from, to;
      for (int64_t b = 0; b < B; ++b) {
        if (found[b][h] < 0) continue;
        from.push_back(static_cast<int32_t>(kept.outer.offsets.read<int32_t>()[b] + found[b][h]));
        to.push_back(static_cast<int32_t>(b));
      }
      if (from.empty()) continue;
      const auto n = static_cast<int64_t>(from.size());
      q = q + scatter_add(embedding(rows, Tensor::of({n}, from)), Tensor::of({n}, to), B);
    }
    return q;
  }
  WordTable question;
  std::vector<WordTable> facts;
};

// Whether something was said after or before each of the last two facts that were found: [B, S, 4].
// What of that counts, the question decides: a thing is where its bearer went after taking it, and
// was where he had been before.
constexpr int64_t time_features = 4;
Tensor times_of(const RememberedSentences& kept, const FoundFacts& found, int64_t S, Dtype dtype) {
  const auto B = static_cast<int64_t>(found.size());
  Tensor all = Tensor::zeros({B, S, time_features}, dtype);
  with_real(dtype, [&]<class T>(T) {
    for (int64_t b = 0; b < B; ++b) {
      const auto hops = static_cast<int64_t>(found[b].size());
      const int64_t n = kept.outer.lengths().read<int32_t>()[b];
      for (int64_t back = 1; back <= std::min<int64_t>(2, hops); ++back) {
        const int64_t fact = found[b][hops - back];
        T* to = all.write<T>().data() + b * S * time_features + 2 * (back - 1);
        for (int64_t i = 0; fact >= 0 && i < n; ++i) {
          if (i != fact) to[i * time_features + (i > fact ? 0 : 1)] = T(1);
        }
      }
    }
  });
  return all;
}

// What each row's scores are beside that of `at`: those behind it have `newer` on top, those before
// it have it less; "no more", the last, neither.
Tensor beside(const ScoredFacts& of, const std::vector<int32_t>& at) {
  if (of.newer.empty()) return of.scores;
  const int64_t B = of.scores.dim(0), N = of.scores.dim(1);
  Tensor sign = Tensor::zeros({B, N}, of.scores.dtype());
  with_real(sign.dtype(), [&]<class T>(T) {
    for (int64_t b = 0; b < B; ++b) {
      T* to = sign.write<T>().data() + b * N;
      for (int64_t i = 0; at[b] < N - 1 && i < N - 1; ++i)
        to[i] = i > at[b] ? T(1) : i < at[b] ? T(-1) : T(0);
    }
  });
  return of.scores + of.newer * sign;
}

// One after the other against the best so far, from the oldest on.
std::vector<int32_t> best_of(const ScoredFacts& of) {
  const int64_t B = of.scores.dim(0), N = of.scores.dim(1);
  std::vector<int32_t> best(static_cast<size_t>(B), 0);
  with_real(of.scores.dtype(), [&]<class T>(T) {
    for (int64_t b = 0; b < B; ++b) {
      const T* s = of.scores.read<T>().data() + b * N;
      const T newer = of.newer.empty() ? T(0) : of.newer.read<T>()[b];
      for (int64_t i = 1; i < N; ++i) {
        if (s[i] + (i < N - 1 ? newer : T(0)) > s[best[b]]) best[b] = static_cast<int32_t>(i);
      }
    }
  });
  return best;
}

// O: where the next fact is.
struct FindFacts {
  FindFacts(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o, int64_t longest,
            const Parameter& fixed)
      : asked(s, sizes, o, fixed),
        memories(s / "memory", sizes, o.width, 0, 0.1, fixed),
        nothing(s.param("nothing", {o.hops, o.width}, init::normal(0.1))),
        positions(o.positions),
        width(o.width),
        longest(longest) {
    const LinearOptions small{.init = init::normal(0.1)};
    for (int64_t h = 0; h < o.hops; ++h) {
      times.emplace_back(s / "times" / h, o.width, time_features, small);
      newer.emplace_back(s / "newer" / h, o.width, 1, small);
    }
  }

  ScoredFacts operator()(const ModelInputs& in, const RememberedSentences& kept,
                         const FoundFacts& found) const {
    const auto B = static_cast<int64_t>(found.size());
    const int64_t S = kept.outer.longest, hop = static_cast<int64_t>(found[0].size());
    const Dtype dtype = memories.weight.dtype();
    const Tensor weights = story_weights(positions, longest, width, dtype);
    const Tensor q = asked(in, kept, found, weights, longest);
    const Tensor all = memories(kept.words, kept.places, weights);
    const Tensor rows = unpack(slice(all, 0, 0, kept.outer.rows()), kept.outer.offsets, S);
    const auto along = [&](const Tensor& a, const Tensor& each) {
      return reshape(matmul(reshape(a, {B, 1, a.dim(1)}), each, Transpose::b), {B, S});
    };
    const Tensor scores = along(q, rows) + along(times[hop](q), times_of(kept, found, S, dtype));
    const Tensor none = matmul(q, slice(nothing, 0, hop, hop + 1), Transpose::b);  // [B, 1]
    Tensor there({B, S + 1}, Dtype::i32);
    const Tensor lengths = kept.outer.lengths();
    for (int64_t b = 0; b < B; ++b) {
      for (int64_t i = 0; i <= S; ++i)
        there.write<int32_t>()[b * (S + 1) + i] = i == S || i < lengths.read<int32_t>()[b];
    }
    return {where(there, concat({scores, none}, 1), nowhere), newer[hop](q)};
  }
  Asked asked;
  WordTable memories;
  Parameter nothing;
  std::vector<Linear> times, newer;
  bool positions;
  int64_t width, longest;
};

// R: a dictionary.
struct AnswerWord {
  AnswerWord(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o, int64_t longest,
             const Parameter& fixed)
      : asked(s, sizes, o, fixed),
        words(s / "answers", sizes, o.width, 0, 0.1, fixed),
        positions(o.positions),
        width(o.width),
        longest(longest) {}
  Tensor operator()(const ModelInputs& in, const RememberedSentences& kept,
                    const FoundFacts& found) const {
    const Tensor weights = story_weights(positions, longest, width, words.weight.dtype());
    return candidate_scores(words, asked(in, kept, found, weights, longest), in.candidates);
  }
  Asked asked;
  WordTable words;
  bool positions;
  int64_t width, longest;
};

// R: reads the question and then what was found, the oldest first.
struct AnswerReader {
  AnswerReader(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o,
               const Parameter& fixed)
      : words(s / "words", sizes, o.width, 0, 0.1, fixed),
        reader(s / "reader", o.width, o.width, {.cell = Cell::lstm}),
        answers(s / "answers", sizes, o.width, 0, 0.1, fixed) {}
  Tensor operator()(const ModelInputs& in, const RememberedSentences& kept,
                    const FoundFacts& found) const {
    std::vector<std::vector<int32_t>> lists;
    const auto read = [](const Sequences& from, int64_t s, std::vector<int32_t>& to) {
      const auto offsets = from.offsets.read<int32_t>();
      const auto ids = from.ids.read<int32_t>();
      to.insert(to.end(), ids.begin() + offsets[s], ids.begin() + offsets[s + 1]);
    };
    for (size_t b = 0; b < found.size(); ++b) {
      lists.emplace_back();
      read(in.question, static_cast<int64_t>(b), lists.back());
      std::vector<int64_t> facts = found[b];
      std::ranges::sort(facts);
      for (int64_t i : facts) {
        if (i >= 0) read(kept.words, kept.outer.offsets.read<int32_t>()[b] + i, lists.back());
      }
    }
    const Sequences all = sequences_of(lists);
    const auto out = reader({.x = words.rows(all.ids), .offsets = all.offsets});
    return candidate_scores(answers, out.last.back().h, in.candidates);
  }
  WordTable words;
  Recurrent reader;
  WordTable answers;
};

Tensor ids_of(const std::vector<int32_t>& list) {
  return Tensor::of({static_cast<int64_t>(list.size())}, list);
}

}  // namespace

const Fields<MemoryNetworkOptions>& memory_network_fields() {
  using O = MemoryNetworkOptions;
  static const Fields<O> fields(
      story_fields(),
      {{"hops", &O::hops, "looks at the memory, one after the other", whole_from(1, 100)},
       {"response", &O::response, "what answers: a dictionary or a network that reads the facts",
        one_of({"words", "lstm"})},
       {"margin", &O::margin, "by which the right one must lead", above(0, 100)}});
  return fields;
}

MemoryNetwork::MemoryNetwork(MemoryNetworkParts parts, const ModelSizes& sizes,
                             const MemoryNetworkOptions& o)
    : options_(o),
      longest_sentence_(std::max<int64_t>(1, sizes.longest_sentence)),
      parts_(std::move(parts)) {}

MemoryNetwork::MemoryNetwork(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o)
    : MemoryNetwork(MemoryNetworkParts{}, sizes, o) {
  const Parameter fixed = fixed_rows(s, sizes, o.width);
  parts_.output = FindFacts(s / "output", sizes, o, longest_sentence_, fixed);
  if (o.response == "lstm") {
    parts_.response = AnswerReader(s / "response", sizes, o, fixed);
  } else {
    parts_.response = AnswerWord(s / "response", sizes, o, longest_sentence_, fixed);
  }
}

RememberedSentences MemoryNetwork::kept(const ModelInputs& in) const {
  return remembered(in.story, longest_sentence_, {.memory = options_.memory});
}

FoundFacts MemoryNetwork::find(const ModelInputs& in, const RememberedSentences& kept) const {
  const int64_t B = in.question.count(), S = kept.outer.longest;
  FoundFacts found(static_cast<size_t>(B));
  for (int64_t h = 0; h < options_.hops; ++h) {
    const ScoredFacts scored = parts_.output(in, kept, found);
    const std::vector<int32_t> best = best_of(scored);
    if (Recorder* recorder = Recorder::current()) {
      Weights w;
      w.rows = reshape(softmax(beside(scored, best) * (1 / options_.margin)), {B, 1, 1, S + 1});
      recorder->keep("hops", std::move(w));
    }
    for (int64_t b = 0; b < B; ++b) found[b].push_back(best[b] == S ? -1 : best[b]);
  }
  return found;
}

Scorer::Output MemoryNetwork::operator()(const ModelInputs& in) const {
  const RememberedSentences sentences = kept(in);
  return {parts_.response(in, sentences, find(in, sentences))};
}

Tensor MemoryNetwork::loss(const ModelInputs& in, const Tensor& targets, double) const {
  check(!in.supporting.empty(),
        "memory network: learns from supporting facts, and this data has none; choose a model that "
        "finds them itself, as memn2n");
  const RememberedSentences sentences = kept(in);
  const int64_t B = in.question.count(), S = sentences.outer.longest, given = in.supporting.dim(1);
  const auto facts = in.supporting.read<int32_t>();
  FoundFacts found(static_cast<size_t>(B));
  Tensor total;
  for (int64_t h = 0; h < options_.hops; ++h) {
    std::vector<int32_t> wanted;
    for (int64_t b = 0; b < B; ++b) {
      const int64_t fact = h < given ? facts[b * given + h] : -1;
      const int64_t at = fact < 0 ? -1 : fact - sentences.first.read<int32_t>()[b];
      wanted.push_back(static_cast<int32_t>(at < 0 ? S : at));
    }
    const Tensor loss = margin_loss(beside(parts_.output(in, sentences, found), wanted),
                                    ids_of(wanted), options_.margin);
    total = total.empty() ? loss : total + loss;
    for (int64_t b = 0; b < B; ++b) found[b].push_back(wanted[b] == S ? -1 : wanted[b]);
  }
  return total + margin_loss(parts_.response(in, sentences, found), targets, options_.margin);
}

Tensor margin_loss(const Tensor& scores, const Tensor& targets, double margin) {
  const int64_t n = scores.dim(0);
  const Tensor right = reshape(pick(scores, targets), {n, 1});
  // The right one itself adds the margin, which has no gradient.
  return sum(relu(scores - right + margin)) * (1.0 / static_cast<double>(n));
}

}  // namespace fovea
