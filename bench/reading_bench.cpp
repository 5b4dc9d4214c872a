// A table read, its texts tokenised and numbered: how fast, and how much memory beside what is
// kept.
//   reading_bench [MB [FOLDER]]      a table of that size is made in the folder and removed again
//   reading_bench make MB FILE       it is made and left there
//   reading_bench FILE               such a table is read
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "fovea/app/bench/race.h"
#include "fovea/data/builtin.h"
#include "fovea/data/records.h"
#include "fovea/data/tokenizer.h"

namespace {

using namespace fovea;

constexpr size_t at_once = 1 << 15;  // texts that are held as text

int64_t make_table(const std::string& path, int64_t bytes) {
  const auto examples = generate_sentiment(20'000, Random(1));
  std::ofstream file(path);
  int64_t made = 0;
  for (size_t i = 0; made < bytes; ++i) {
    const Labelled& one = examples[i % examples.size()];
    const std::string line = one.label + "\t" + one.text + "\n";
    file << line;
    made += static_cast<int64_t>(line.size());
  }
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) return make_table(argv[3], std::atoll(argv[2]) << 20) > 0 ? 0 : 1;
  const bool is_there = argc > 1 && std::filesystem::is_regular_file(argv[1]);
  const int64_t megabytes = argc > 1 ? std::atoll(argv[1]) : 256;
  const std::string path =
      is_there ? argv[1]
               : (argc > 2 ? argv[2] : std::filesystem::temp_directory_path().string()) +
                     "/reading_bench.tsv";
  const auto bytes = static_cast<double>(is_there ? std::filesystem::file_size(path)
                                                  : make_table(path, megabytes << 20));
  const std::vector<Role> roles{{"label", Role::Kind::label}, {"text"}};

  double start = bench::now();
  RecordReader plain(path, roles);
  while (plain.next()) {
  }
  std::printf("read                  %7.1f MB/s\n", bytes / 1e6 / (bench::now() - start));

  const double before = bench::peak_megabytes();
  start = bench::now();
  const std::clock_t work = std::clock();
  std::vector<int32_t> ids, labels;  // all that is kept
  std::vector<int64_t> ends;
  std::vector<std::string> texts;
  std::optional<Tokenizer> tokens;
  const auto number = [&] {
    if (!tokens) tokens = Tokenizer::learn({}, texts);
    for (const auto& list : tokens->encode(texts)) {
      ids.insert(ids.end(), list.begin(), list.end());
      ends.push_back(static_cast<int64_t>(ids.size()));
    }
    texts.clear();
  };
  RecordReader records(path, roles);
  while (records.next()) {
    labels.push_back(records.text(0) == "positive");
    texts.emplace_back(records.text(1));
    if (texts.size() == at_once) number();
  }
  number();
  const double seconds = bench::now() - start;
  const double busy = static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC;
  const double kept =
      static_cast<double>(ids.size() * sizeof(int32_t) + labels.size() * sizeof(int32_t) +
                          ends.size() * sizeof(int64_t)) /
      1e6;
  std::printf(
      "read, words, numbers  %7.1f MB/s (%d threads), %.1f MB a second of one core's work\n",
      bytes / 1e6 / seconds, threads(), bytes / 1e6 / busy);
  std::printf("kept %.0f MB, peak above the start %.0f MB: %.2f times\n", kept,
              bench::peak_megabytes() - before, (bench::peak_megabytes() - before) / kept);
  if (!is_there) std::filesystem::remove(path);
}
