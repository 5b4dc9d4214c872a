#include "fovea/model/memory/memory_network.h"

#include <algorithm>
#include <limits>

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
  Asked(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o, int64_t times,
        const Parameter& fixed)
      : question(s / "question", sizes, o.width, times, 0.1, fixed) {
    for (int64_t h = 0; h < o.hops; ++h)
      facts.emplace_back(s / "fact" / h, sizes, o.width, times, 0.1, fixed);
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

// O: where the next fact is. How far from the last one it lies counts too.
struct FindFacts {
  FindFacts(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o, int64_t times,
            int64_t longest, const Parameter& fixed)
      : asked(s, sizes, o, times, fixed),
        memories(s / "memory", sizes, o.width, times, 0.1, fixed),
        nothing(s.param("nothing", {o.hops, o.width}, init::normal(0.1))),
        distance(s.param("distance", {o.hops, 2 * times + 1}, init::zeros())),
        positions(o.positions),
        width(o.width),
        times(times),
        longest(longest) {}

  Tensor operator()(const ModelInputs& in, const RememberedSentences& kept,
                    const FoundFacts& found) const {
    const auto B = static_cast<int64_t>(found.size());
    const int64_t S = kept.outer.longest, hop = static_cast<int64_t>(found[0].size());
    const Tensor weights = story_weights(positions, longest, width, memories.weight.dtype());
    const Tensor q = asked(in, kept, found, weights, longest);
    const Tensor all = memories(kept.words, kept.places, weights);
    const Tensor rows = unpack(slice(all, 0, 0, kept.outer.rows()), kept.outer.offsets, S);
    const Tensor scores = reshape(matmul(reshape(q, {B, 1, width}), rows, Transpose::b), {B, S});
    const Tensor none = matmul(q, slice(nothing, 0, hop, hop + 1), Transpose::b);  // [B, 1]
    Tensor ids({B, S + 1}, Dtype::i32), there({B, S + 1}, Dtype::i32);
    const Tensor lengths = kept.outer.lengths();
    for (int64_t b = 0; b < B; ++b) {
      for (int64_t i = 0; i <= S; ++i) {
        const int64_t last = hop > 0 ? found[b][hop - 1] : -1;
        const int64_t away = last < 0 || i == S ? 0 : std::clamp(i - last, -times, times);
        ids.write<int32_t>()[b * (S + 1) + i] = static_cast<int32_t>(away + times);
        there.write<int32_t>()[b * (S + 1) + i] = i == S || i < lengths.read<int32_t>()[b];
      }
    }
    const Tensor by_distance = reshape(
        embedding(reshape(slice(distance, 0, hop, hop + 1), {2 * times + 1, 1}), ids), {B, S + 1});
    return where(there, concat({scores, none}, 1) + by_distance, nowhere);
  }
  Asked asked;
  WordTable memories;
  Parameter nothing, distance;
  bool positions;
  int64_t width, times, longest;
};

// R: a dictionary.
struct AnswerWord {
  AnswerWord(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o, int64_t times,
             int64_t longest, const Parameter& fixed)
      : asked(s, sizes, o, times, fixed),
        words(s / "answers", sizes, o.width, times, 0.1, fixed),
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
  AnswerReader(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o, int64_t times,
               const Parameter& fixed)
      : words(s / "words", sizes, o.width, times, 0.1, fixed),
        reader(s / "reader", o.width, o.width, {.cell = Cell::lstm}),
        answers(s / "answers", sizes, o.width, times, 0.1, fixed) {}
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
      first_time_(sizes.vocabulary + sizes.hashed),
      times_(o.memory > 0 ? o.memory : std::max<int64_t>(1, sizes.longest)),
      parts_(std::move(parts)) {}

MemoryNetwork::MemoryNetwork(Scope s, const ModelSizes& sizes, const MemoryNetworkOptions& o)
    : MemoryNetwork(MemoryNetworkParts{}, sizes, o) {
  const Parameter fixed = fixed_rows(s, sizes, o.width);
  parts_.output = FindFacts(s / "output", sizes, o, times_, longest_sentence_, fixed);
  if (o.response == "lstm") {
    parts_.response = AnswerReader(s / "response", sizes, o, times_, fixed);
  } else {
    parts_.response = AnswerWord(s / "response", sizes, o, times_, longest_sentence_, fixed);
  }
}

RememberedSentences MemoryNetwork::kept(const ModelInputs& in) const {
  return remembered(in.story, longest_sentence_,
                    {.memory = times_, .times = times_, .first_id = first_time_});
}

FoundFacts MemoryNetwork::find(const ModelInputs& in, const RememberedSentences& kept) const {
  const int64_t B = in.question.count(), S = kept.outer.longest;
  FoundFacts found(static_cast<size_t>(B));
  for (int64_t h = 0; h < options_.hops; ++h) {
    const Tensor scores = parts_.output(in, kept, found);
    if (Recorder* recorder = Recorder::current()) {
      Weights w;
      w.rows = reshape(softmax(scores * (1 / options_.margin)), {B, 1, 1, S + 1});
      recorder->keep("hops", std::move(w));
    }
    const Tensor best = argmax(scores, 1);
    for (int64_t b = 0; b < B; ++b) {
      const int64_t at = best.read<int32_t>()[b];
      found[b].push_back(at == S ? -1 : at);
    }
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
    const Tensor loss =
        margin_loss(parts_.output(in, sentences, found), ids_of(wanted), options_.margin);
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
