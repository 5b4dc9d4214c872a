// Words found and numbered, as a ratio to reading the same bytes from memory on all threads.
//   tokens_bench [SECONDS [PART OF A NAME]]     text of our own making
//   tokens_bench FILE                           a file, in turn with tools/bench_tokens_hf.py: for
//                                               every line of stdin, how long a pass took
#include <atomic>
#include <iostream>

#include "fovea/app/bench/race.h"
#include "fovea/data/builtin.h"
#include "fovea/data/text_file.h"
#include "fovea/data/tokenizer.h"
#include "fovea/data/tokenizer_join.h"

namespace {

using namespace fovea;
using Texts = std::vector<std::string>;

double bytes_of(const Texts& texts) {
  double bytes = 0;
  for (const std::string& text : texts) bytes += static_cast<double>(text.size());
  return bytes;
}

// As people write it: a capital, signs behind words.
Texts raw_text(int64_t bytes) {
  Texts texts;
  for (const Labelled& example : generate_sentiment(20'000, Random(1))) {
    std::vector<std::string_view> words;
    split_words(example.text, {}, words);
    texts.push_back(join_words(words));
    texts.back()[0] = static_cast<char>(texts.back()[0] - 'a' + 'A');
  }
  const size_t once = texts.size();
  for (double made = bytes_of(texts); made < static_cast<double>(bytes);) {
    texts.push_back(texts[texts.size() % once]);
    made += static_cast<double>(texts.back().size());
  }
  return texts;
}

int64_t split_all(const Texts& texts, decltype(split_words)* split) {
  std::atomic<int64_t> count{0};
  parallel_for(static_cast<int64_t>(texts.size()), 256, [&](int64_t begin, int64_t end) {
    std::vector<std::string_view> words;
    for (int64_t i = begin; i < end; ++i) {
      words.clear();
      split(texts[static_cast<size_t>(i)], {}, words);
      count += static_cast<int64_t>(words.size());
    }
  });
  return count;
}

int take_turns(const std::string& path) {
  const Texts texts = read_lines(path);
  const auto tokenizer = Tokenizer::learn({}, texts);
  std::printf("ready %.0f\n", bytes_of(texts));
  std::fflush(stdout);
  for (std::string what; std::getline(std::cin, what);) {
    const double start = bench::now();
    int64_t count = 0;
    if (what == "split") count = split_all(texts, split_words);
    if (what == "encode") {
      for (const auto& ids : tokenizer.encode(texts)) count += static_cast<int64_t>(ids.size());
    }
    if (what == "learn") count = Tokenizer::learn({}, texts).size();
    std::printf("%.6f %lld\n", bench::now() - start, static_cast<long long>(count));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::atof(argv[1]) == 0) return take_turns(argv[1]);
  bench::wait_passively(argv);
  std::printf("%-30s %7s %7s %8s %8s\n", "", "ratio", "spread", "MB/s", "limit");
  bench::Race race(argc > 1 ? std::atof(argv[1]) : 2, argc > 2 ? argv[2] : "",
                   [](const bench::Row& row) {
                     std::printf("%-30s %7.4f %7.2f %8.1f %8.1f\n", row.name.c_str(), row.ratio,
                                 row.spread, row.rate * 1e3, row.limit * 1e3);
                     std::fflush(stdout);
                   });
  const Texts texts = raw_text(32 << 20);
  const double bytes = bytes_of(texts);
  const auto words = Tokenizer::learn({}, texts);
  const auto lower = Tokenizer::learn({.lowercase = true}, texts);
  race.against_memory("words: split", bytes, [&] { split_all(texts, split_words); });
  race.against_memory("words: split by ICU alone", bytes,
                      [&] { split_all(texts, split_words_by_icu); });
  race.against_memory("words: encode", bytes, [&] { words.encode(texts); });
  race.against_memory("words: encode, lowercase", bytes, [&] { lower.encode(texts); });
  race.against_memory("words: learn", bytes, [&] { Tokenizer::learn({}, texts); });
  const auto spaces = words.split_as("spaces");
  race.against_memory("spaces: encode", bytes, [&] { spaces.encode(texts); });
}
