#include "fovea/model/memory/memory_network.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/recorder.h"
#include "fovea/model/seq2seq/recurrent_decoder.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/recurrent.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

constexpr double nowhere = -1e30;

Tensor ids_of(const std::vector<int32_t>& list) {
  return Tensor::of({static_cast<int64_t>(list.size())}, list);
}

// What O and R are made of: vectors of features, and of the words that answers are.
struct Vectors {
  WordTable features(Scope s, const MemoryNetworkOptions& o) const {
    return WordTable(s, read, o.width, 0, 0.1, fixed);
  }
  WordTable answers(Scope s, const MemoryNetworkOptions& o) const {
    return WordTable(s, words, o.width, 0, 0.1, fixed_words);
  }
  ModelSizes read, words;
  Parameter fixed, fixed_words;  // those that are not learned
};
Tensor sums(const WordTable& table, const ReadTexts& of, const Tensor& weights) {
  return table(of.sums, of.places, weights);
}

// A question and what was found, each with vectors of its own: [B, d].
struct Asked {
  Asked(Scope s, const Vectors& vectors, const MemoryNetworkOptions& o)
      : question(vectors.features(s / "question", o)) {
    for (int64_t h = 0; h < o.hops; ++h) facts.push_back(vectors.features(s / "fact" / h, o));
  }
  Tensor operator()(const MemoryContents& kept, const FoundFacts& found,
                    const Tensor& weights) const {
    Tensor q = sums(question, kept.questions, weights);
    const auto B = static_cast<int64_t>(found.size());
    for (size_t h = 0; h < facts.size() && !found.empty() && h < found[0].size(); ++h) {
      const Tensor rows = sums(facts[h], kept.sentences, weights);
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
Tensor times_of(const MemoryContents& kept, const FoundFacts& found, int64_t S, Dtype dtype) {
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
  FindFacts(Scope s, const Vectors& vectors, const MemoryNetworkOptions& o, int64_t longest)
      : asked(s, vectors, o),
        memories(vectors.features(s / "memory", o)),
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

  ScoredFacts operator()(const MemoryContents& kept, const FoundFacts& found) const {
    const auto B = static_cast<int64_t>(found.size());
    const int64_t S = kept.outer.longest, hop = static_cast<int64_t>(found[0].size());
    const Dtype dtype = memories.weight.dtype();
    const Tensor weights = story_weights(positions, longest, width, dtype);
    const Tensor q = asked(kept, found, weights);
    const Tensor all = sums(memories, kept.sentences, weights);
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
  AnswerWord(Scope s, const Vectors& vectors, const MemoryNetworkOptions& o, int64_t longest)
      : asked(s, vectors, o),
        words(vectors.answers(s / "answers", o)),
        positions(o.positions),
        width(o.width),
        longest(longest) {}
  Tensor operator()(const MemoryContents& kept, const FoundFacts& found,
                    const Tensor& candidates) const {
    const Tensor weights = story_weights(positions, longest, width, words.weight.dtype());
    return candidate_scores(words, asked(kept, found, weights), candidates);
  }
  Asked asked;
  WordTable words;
  bool positions;
  int64_t width, longest;
};

// R: reads the question and then what was found, the oldest first, and goes on to write.
struct AnswerWriter {
  AnswerWriter(Scope s, const Vectors& vectors, const MemoryNetworkOptions& o)
      : words(vectors.features(s / "words", o)),
        reader(s / "reader", o.width, o.width, {.cell = Cell::lstm}),
        decoder(s / "decoder", vectors.words.target_vocabulary, o.width, decoder_options(o),
                {.score = "none"}) {}
  static RecurrentDecoderOptions decoder_options(const MemoryNetworkOptions& o) {
    RecurrentDecoderOptions like;
    like.cell = "lstm";
    like.embed = like.width = o.width;
    return like;
  }
  // What the decoder begins with.
  Memory tell(const MemoryContents& kept, const FoundFacts& found) const {
    std::vector<std::vector<int32_t>> words_read;  // of each word its features
    std::vector<int32_t> offsets{0};
    const auto read = [&](const ReadTexts& from, int64_t text) {
      const auto words = from.texts.offsets.read<int32_t>(),
                 at = from.words.offsets.read<int32_t>();
      const auto features = from.words.ids.read<int32_t>();
      for (int32_t w = words[text]; w < words[text + 1]; ++w)
        words_read.emplace_back(features.begin() + at[w], features.begin() + at[w + 1]);
    };
    for (size_t b = 0; b < found.size(); ++b) {
      read(kept.questions, static_cast<int64_t>(b));
      std::vector<int64_t> facts = found[b];
      std::ranges::sort(facts);
      for (int64_t i : facts) {
        if (i >= 0) read(kept.sentences, kept.outer.offsets.read<int32_t>()[b] + i);
      }
      offsets.push_back(static_cast<int32_t>(words_read.size()));
    }
    const Packing texts(ids_of(offsets));
    const auto end =
        reader({.x = words.each(sequences_of(words_read)), .offsets = texts.offsets}).last.back();
    return {.lengths = texts.lengths(), .beginnings = {end.h, end.c}};
  }
  WordTable words;
  Recurrent reader;
  RecurrentDecoder decoder;
};
WritingPart writing_part(Scope s, const Vectors& vectors, const MemoryNetworkOptions& o) {
  const AnswerWriter writer(s, vectors, o);
  return {.loss =
              [writer](const MemoryContents& kept, const FoundFacts& found, const Sequences& answer,
                       const Tensor& wanted) {
                const Tensor scores = writer.decoder.teach(writer.tell(kept, found), answer).scores;
                return sum(cross_entropy_each(scores, wanted)) *
                       (1.0 / static_cast<double>(answer.count()));
              },
          .write =
              [writer](const MemoryContents& kept, const FoundFacts& found,
                       const BeamOptions& options) {
                return beam_search(writer.decoder, writer.tell(kept, found), options);
              }};
}

}  // namespace

const Fields<MemoryNetworkOptions>& memory_network_fields() {
  using O = MemoryNetworkOptions;
  static const Fields<O> fields(
      story_fields(),
      {{"hops", &O::hops, "looks at the memory, one after the other", whole_from(1, 100)},
       {"input", &O::input, "what is known of a word: itself, or groups of its letters",
        one_of({"words", "letters"})},
       {"groups", &O::groups, "vectors that groups of letters share", whole_from(1, 1 << 20)},
       {"response", &O::response,
        "what answers: a dictionary, or a network that reads the facts and writes",
        one_of({"words", "lstm"})},
       {"margin", &O::margin, "by which the right one must lead", above(0, 100)}});
  return fields;
}

MemoryNetwork::MemoryNetwork(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o,
                             MemoryNetworkParts parts)
    : options_(o),
      longest_sentence_(std::max<int64_t>(1, sizes.longest_sentence)),
      parts_(std::move(parts)) {
  const bool letters = o.input == "letters", own = parts_.input.read != nullptr;
  if (!own) parts_.input = letters ? letter_input(o.groups) : word_input(sizes);
  if (!parts_.store) parts_.store = o.memory > 0 ? oldest_slot(o.memory) : next_slot();
  Vectors vectors;
  vectors.words = sizes;
  vectors.fixed_words = fixed_rows(s, sizes, o.width);
  vectors.read.vocabulary = parts_.input.features, vectors.read.hashed = parts_.input.fixed;
  vectors.fixed =
      !own && !letters ? vectors.fixed_words : fixed_rows(s / "input", vectors.read, o.width);
  if (!parts_.output) parts_.output = FindFacts(s / "output", vectors, o, longest_sentence_);
  check(!parts_.writing.loss == !parts_.writing.write,
        "memory network: a part that writes needs both what it costs and what it writes");
  if (parts_.response || parts_.writing.write) return;
  if (o.response == "lstm") {
    check(sizes.target_vocabulary > 0, "memory network: needs words to write answers with");
    parts_.writing = writing_part(s / "response", vectors, o);
  } else {
    parts_.response = AnswerWord(s / "response", vectors, o, longest_sentence_);
  }
}

FoundFacts MemoryNetwork::find(const MemoryContents& memory) const {
  const int64_t B = memory.outer.count(), S = memory.outer.longest;
  FoundFacts found(static_cast<size_t>(B));
  for (int64_t h = 0; h < options_.hops; ++h) {
    const ScoredFacts scored = parts_.output(memory, found);
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
  check(parts_.response != nullptr, "memory network: writes its answers, and scores none");
  const MemoryContents memory = memory_contents(parts_.input, parts_.store, in, longest_sentence_);
  return {parts_.response(memory, find(memory), in.candidates)};
}

std::vector<std::vector<Hypothesis>> MemoryNetwork::write(const ModelInputs& in,
                                                          const BeamOptions& options) const {
  check(parts_.writing.write != nullptr, "memory network: chooses its answers, and writes none");
  const MemoryContents memory = memory_contents(parts_.input, parts_.store, in, longest_sentence_);
  return parts_.writing.write(memory, find(memory), options);
}

Tensor MemoryNetwork::loss(const ModelInputs& in, const Tensor& targets, double) const {
  check(!in.supporting.empty(),
        "memory network: learns from supporting facts, and this data has none; choose a model that "
        "finds them itself, as memn2n");
  const MemoryContents memory = memory_contents(parts_.input, parts_.store, in, longest_sentence_);
  const int64_t B = memory.outer.count(), S = memory.outer.longest, given = in.supporting.dim(1);
  const auto facts = in.supporting.read<int32_t>();
  FoundFacts found(static_cast<size_t>(B));
  Tensor total;
  for (int64_t h = 0; h < options_.hops; ++h) {
    std::vector<int32_t> wanted;
    for (int64_t b = 0; b < B; ++b) {
      const int64_t fact = h < given ? facts[b * given + h] : -1;
      const auto at = std::ranges::find(memory.which[b], fact);
      const bool stored = at != memory.which[b].end();
      wanted.push_back(static_cast<int32_t>(stored ? at - memory.which[b].begin() : S));
    }
    const Tensor loss =
        margin_loss(beside(parts_.output(memory, found), wanted), ids_of(wanted), options_.margin);
    total = total.empty() ? loss : total + loss;
    for (int64_t b = 0; b < B; ++b) found[b].push_back(wanted[b] == S ? -1 : wanted[b]);
  }
  if (parts_.writing.loss) return total + parts_.writing.loss(memory, found, in.answer, targets);
  return total +
         margin_loss(parts_.response(memory, found, in.candidates), targets, options_.margin);
}

Tensor margin_loss(const Tensor& scores, const Tensor& targets, double margin) {
  const int64_t n = scores.dim(0);
  const Tensor right = reshape(pick(scores, targets), {n, 1});
  // The right one itself adds the margin, which has no gradient.
  return sum(relu(scores - right + margin)) * (1.0 / static_cast<double>(n));
}

}  // namespace fovea
