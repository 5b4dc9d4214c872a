#include "fovea/model/memory/memory_parts.h"

#include <algorithm>

namespace fovea {
namespace {

Tensor ids_of(const std::vector<int32_t>& list) { return Tensor::of({std::ssize(list)}, list); }

std::span<const int32_t> numbers(const Tensor& ids) {
  return ids.empty() ? std::span<const int32_t>() : ids.read<int32_t>();
}

Sequences read_by(const InputPart& input, const Tensor& words, const Tensor& letters) {
  Sequences read = input.read(words, letters);
  check(read.count() == words.elements(), "memory network: the input part read ", read.count(),
        " of ", words.elements(), " words");
  return read;
}

}  // namespace

InputPart word_input(const ModelSizes& sizes) {
  return {.features = sizes.vocabulary,
          .fixed = sizes.hashed,
          .read = [](const Tensor& words, const Tensor&) {
            const auto n = static_cast<int32_t>(words.elements());
            std::vector<int32_t> offsets;
            for (int32_t i = 0; i <= n; ++i) offsets.push_back(i);
            return Sequences(words, Packing(ids_of(offsets)));
          }};
}

InputPart letter_input(int64_t groups) {
  return {.features = groups, .read = [groups](const Tensor& words, const Tensor& letters) {
            check(words.elements() == 0 || !letters.empty(),
                  "memory network: reads letters, and was given none");
            constexpr int64_t L = letters_of_word;
            constexpr int32_t end = -1;
            std::vector<std::vector<int32_t>> lists;
            for (int64_t w = 0; w < words.elements(); ++w) {
              const auto word = letters.read<int32_t>().subspan(w * L, L);
              std::vector<int32_t> ends{end};
              ends.insert(ends.end(), word.begin(), std::ranges::find(word, 0));
              ends.push_back(end);
              lists.emplace_back();
              for (size_t i = 0; i + 3 <= ends.size(); ++i) {
                const std::string_view bytes(reinterpret_cast<const char*>(&ends[i]),
                                             3 * sizeof(int32_t));
                lists.back().push_back(
                    static_cast<int32_t>(hash_name(bytes) % static_cast<uint64_t>(groups)));
              }
            }
            return sequences_of(lists);
          }};
}

StorePart next_slot() {
  return [](StoredSentences& slots, int64_t sentence, std::span<const int32_t>) {
    slots.push_back(sentence);
  };
}

StorePart oldest_slot(int64_t n) {
  return [n](StoredSentences& slots, int64_t sentence, std::span<const int32_t>) {
    if (std::ssize(slots) < n) return slots.push_back(sentence);
    slots[sentence % n] = sentence;
  };
}

ReadTexts::ReadTexts(Sequences all, Packing of, int64_t longest_sentence)
    : words(std::move(all)), texts(std::move(of)) {
  const auto begin = words.offsets.read<int32_t>(), from = texts.offsets.read<int32_t>();
  std::vector<int32_t> at, stand;
  for (int64_t t = 0; t < texts.count(); ++t) {
    for (int32_t w = from[t]; w < from[t + 1]; ++w) {
      const auto place = std::min<int64_t>(w - from[t], longest_sentence - 1);
      stand.insert(stand.end(), begin[w + 1] - begin[w], static_cast<int32_t>(place));
    }
  }
  for (int32_t word : from) at.push_back(begin[word]);
  sums = Sequences(words.ids, Packing(ids_of(at)));
  places = ids_of(stand);
}

MemoryContents memory_contents(const InputPart& input, const StorePart& store,
                               const ModelInputs& in, int64_t longest_sentence) {
  const Sequences read = read_by(input, in.story.inner.ids, in.letters);
  const auto words = numbers(in.story.inner.ids), features = numbers(read.ids);
  const auto outer = in.story.outer.offsets.read<int32_t>(),
             inner = in.story.inner.offsets.read<int32_t>(), at = read.offsets.read<int32_t>();
  std::vector<StoredSentences> which;
  std::vector<int32_t> kept, words_of{0}, texts{0}, counts{0};
  for (int64_t b = 0; b < in.story.count(); ++b) {
    StoredSentences slots;
    const int64_t n = outer[b + 1] - outer[b];
    for (int64_t i = 0; i < n; ++i) {
      const int32_t from = inner[outer[b] + i], to = inner[outer[b] + i + 1];
      store(slots, i, words.subspan(from, to - from));
    }
    std::ranges::sort(slots);
    for (int64_t i : slots) {
      check(i >= 0 && i < n, "memory network: a slot holds sentence ", i, " of a story of ", n);
      for (int32_t w = inner[outer[b] + i]; w < inner[outer[b] + i + 1]; ++w) {
        kept.insert(kept.end(), features.begin() + at[w], features.begin() + at[w + 1]);
        words_of.push_back(static_cast<int32_t>(kept.size()));
      }
      texts.push_back(static_cast<int32_t>(words_of.size()) - 1);
    }
    counts.push_back(static_cast<int32_t>(texts.size()) - 1);
    which.push_back(std::move(slots));
  }
  if (texts.size() == 1) texts.push_back(0);  // one without words, which no story has
  return {.questions = ReadTexts(read_by(input, in.question.ids, in.second_letters), in.question,
                                 longest_sentence),
          .sentences = ReadTexts(Sequences(ids_of(kept), Packing(ids_of(words_of))),
                                 Packing(ids_of(texts)), longest_sentence),
          .outer = Packing(ids_of(counts)),
          .which = std::move(which)};
}

}  // namespace fovea
