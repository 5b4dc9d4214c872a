#include "zoo/zoo.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "fovea/base/file.h"
#include "support/pack.h"
#include "support/scratch.h"

namespace fovea {
namespace {

using test::Animal;
using test::ScratchFolder;

// "[pos|a fine film]" for each record: texts as they are, words with their tags.
std::string records_of(RecordReader& records, const std::vector<Role>& roles) {
  std::string out;
  while (records.next()) {
    out += '[';
    for (size_t r = 0; r < roles.size(); ++r) {
      if (r > 0 && roles[r].kind != Role::Kind::list) out += '|';
      if (roles[r].kind == Role::Kind::number) out += say(records.number(r));
      if (roles[r].kind == Role::Kind::numbers) {
        for (const double number : records.numbers(r)) {
          out += say(out.ends_with('|') ? "" : " ", number);
        }
      }
      if (roles[r].kind == Role::Kind::list && r == 0) {
        for (size_t i = 0; i < records.list(0).size(); ++i) {
          out += say(i > 0 ? " " : "", records.list(0)[i], "/", records.list(1)[i]);
        }
      }
      out += records.text(r);
    }
    out += ']';
  }
  return out;
}

// Lets "-" be this file as long as it lives.
class AsStdin {
 public:
  explicit AsStdin(const std::string& path) : before_(dup(STDIN_FILENO)) {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    dup2(file.get(), STDIN_FILENO);
  }
  ~AsStdin() { dup2(before_.get(), STDIN_FILENO); }

 private:
  Descriptor before_;
};

class Zoo : public testing::TestWithParam<Animal> {};

TEST_P(Zoo, ComesOutAsItMust) {
  const Animal& animal = GetParam();
  const ScratchFolder folder;
  const std::string path = folder.write(animal.name, animal.bytes);
  std::string out;
  ReadSummary summary;
  try {
    std::unique_ptr<AsStdin> as_stdin;
    if (animal.stdin_) as_stdin = std::make_unique<AsStdin>(path);
    const auto roles = test::roles_called(animal.roles);
    RecordReader records(animal.stdin_ ? "-" : path, roles, animal.options);
    out = records_of(records, roles);
    summary = records.summary();
  } catch (const Error& error) {
    ASSERT_TRUE(animal.format.empty()) << error.what();
    out = error.what();
    if (out.starts_with(path)) out.erase(0, path.size());
    // One sentence or two, to be read whole.
    EXPECT_LT(out.size(), 500u);
    EXPECT_TRUE(out.starts_with(animal.out)) << out << "\n" << animal.out;
    return;
  }
  EXPECT_EQ(out, animal.out);
  EXPECT_EQ(summary.format, animal.format) << summary.sentence();
  EXPECT_EQ(summary.encoding, animal.encoding);
  EXPECT_EQ(summary.packing, animal.packing);
  EXPECT_EQ(summary.header, animal.header) << summary.sentence();
  EXPECT_EQ(summary.bad_rows, animal.bad) << summary.sentence();
  EXPECT_EQ(static_cast<int64_t>(summary.first_bad.size()), animal.bad);
}

INSTANTIATE_TEST_SUITE_P(Files, Zoo, testing::ValuesIn(test::zoo()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// Bytes of a pipe whose other end stays open: who asks for more than is there never returns.
TEST(Records, AnswerAPromptWithoutWaitingForMore) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Descriptor reading(ends[0]), writing(ends[1]);
  const std::string line = "hi\n";
  ASSERT_EQ(write(writing.get(), line.data(), line.size()), 3);
  RecordReader records(say("/proc/self/fd/", reading.get()), {{"text"}}, {.prompt = true});
  ASSERT_TRUE(records.next());
  EXPECT_EQ(records.text(0), "hi");
}

TEST(Records, SayWhatWasChosenAndWhy) {
  const ScratchFolder folder;
  const std::string path =
      folder.write("a", "id;category;review\n1;pos;a fine film\n2;;lost\n3;neg;so dull it was\n");
  RecordReader records(path, test::roles_called("classify"), {.skip_bad = true});
  while (records.next()) {
  }
  EXPECT_EQ(records.summary().sentence(),
            path +
                ": semicolon-separated, with a header: names in the first row are not numbers and "
                "occur nowhere else; UTF-8. label is column 2 'category' (a usual name for it), "
                "text is column 3 'review' (a usual name for it). 2 rows, 1 bad, left out: line 3 "
                "(the label is empty).");
  const auto& columns = records.summary().columns;
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_TRUE(columns[0].numeric);
  EXPECT_FALSE(columns[2].numeric);
  EXPECT_EQ(columns[1].distinct, 2);
}

// Rows that lie across the reads, in a file larger than every buffer.
TEST(Records, OfLargeFilesAreThoseOfSmallOnes) {
  const ScratchFolder folder;
  std::string text = "label,text\n";
  std::vector<std::string> texts;
  for (int i = 0; i < 4000; ++i) {
    texts.push_back(say(i, std::string(static_cast<size_t>(i) * 7 % 1500, 'x'), "\n\"end\""));
    text +=
        say("l,\"", i, std::string(static_cast<size_t>(i) * 7 % 1500, 'x'), "\n\"\"end\"\"\"\r\n");
  }
  for (const std::string& bytes : {text, test::zstd(text), test::xz(text)}) {
    RecordReader records(folder.write("a", bytes), test::roles_called("classify"));
    for (size_t i = 0; i < texts.size(); ++i) {
      ASSERT_TRUE(records.next());
      ASSERT_EQ(records.text(1), texts[i]);
      ASSERT_EQ(records.line(), static_cast<int64_t>(2 * i + 2));
    }
    EXPECT_FALSE(records.next());
  }
}

TEST(ZooItself, HasSixtyFilesOfDifferentNames) {
  std::set<std::string> names;
  for (const Animal& animal : test::zoo()) names.insert(animal.name);
  EXPECT_EQ(names.size(), test::zoo().size());
  EXPECT_GE(names.size(), 60u);
}

}  // namespace
}  // namespace fovea
