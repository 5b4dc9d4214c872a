// Files of word vectors.
#include "fovea/data/vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "fovea/base/error.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

std::string file_of(const ScratchFolder& scratch, const std::string& text) {
  const std::string path = scratch.path() + "/v.txt";
  std::ofstream(path) << text;
  return path;
}

std::string wrong(const std::string& path) {
  try {
    read_vectors(
        path, [](std::string_view) { return true; },
        [](std::string_view, std::span<const float>) { return true; });
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Vectors, AreReadWithAndWithoutAFirstLine) {
  const ScratchFolder scratch;
  for (const std::string first : {"", "3 2\n"}) {
    const std::string path = file_of(scratch, first + "the 0.5 -1\nNew York 2 3e-1\nzoo 1 1\n");
    EXPECT_EQ(vectors_width(path), 2);
    std::vector<std::string> words;
    std::vector<float> numbers;
    read_vectors(
        path, [](std::string_view word) { return word != "zoo"; },
        [&](std::string_view word, std::span<const float> of) {
          words.emplace_back(word);
          numbers.insert(numbers.end(), of.begin(), of.end());
          return true;
        });
    EXPECT_EQ(words, (std::vector<std::string>{"the", "New York"}));
    EXPECT_EQ(numbers, (std::vector<float>{0.5F, -1, 2, 0.3F}));
  }
}

std::string binary_of(const std::vector<std::pair<std::string, std::vector<float>>>& rows,
                      const std::string& between) {
  std::string bytes = say(rows.size(), " ", rows[0].second.size(), "\n");
  for (const auto& [word, numbers] : rows) {
    bytes += word + " ";
    bytes.append(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size());
    bytes += between;
  }
  return bytes;
}

TEST(Vectors, OfWord2vecsBinaryForm) {
  const ScratchFolder scratch;
  // As word2vec writes them, with a line break behind each, and as others do, without.
  for (const std::string between : {"\n", ""}) {
    const std::string path = scratch.write(
        "v.bin", binary_of({{"the", {0.5F, -1, 3e-8F}}, {"New_York", {2, 0.3F, 0}}}, between));
    EXPECT_EQ(vectors_width(path), 3);
    std::vector<float> numbers;
    read_vectors(
        path, [](std::string_view word) { return word == "New_York"; },
        [&](std::string_view, std::span<const float> of) {
          numbers.assign(of.begin(), of.end());
          return true;
        });
    EXPECT_EQ(numbers, (std::vector<float>{2, 0.3F, 0}));
  }
  const std::string whole = binary_of({{"a", {1, 2}}, {"b", {3, 4}}}, "\n");
  EXPECT_NE(wrong(scratch.write("v.bin", whole.substr(0, whole.size() - 4)))
                .find("ends in its 2. vector"),
            std::string::npos);
  EXPECT_NE(wrong(scratch.write("v.bin", binary_of({{"a", {1, NAN}}}, ""))).find("word 1 'a'"),
            std::string::npos);
}

TEST(Vectors, TextIsNoneOfWord2vecsBinaryForm) {
  const ScratchFolder scratch;
  // Numbers of one digit are shorter than float32, so that the next word soon follows.
  std::string wide = "2 900\nthe";
  for (int i = 0; i < 900; ++i) wide += " 0.12345";
  for (const std::string& text :
       {std::string("2 3\na 1 2 3\né 4 5 6\n"), std::string("2 3\nthe 1 0 1\ncafé 1 1 1\n"),
        std::string("1 2\nnaïve 1 2"), wide + "\né" + wide.substr(9) + "\n"}) {
    EXPECT_EQ(wrong(file_of(scratch, text)), "") << text.substr(0, 40);
  }
}

TEST(Vectors, AWordTwiceAndTwoWidthsAreNamed) {
  const ScratchFolder scratch;
  EXPECT_NE(wrong(file_of(scratch, "a 1 2\nb 1 2\na 3 4\n")).find("v.txt:3: the word 'a' has a"),
            std::string::npos);
  EXPECT_NE(wrong(file_of(scratch, "a 1 2\nb 1 2 3\n")).find("v.txt:2: has 3 numbers"),
            std::string::npos);
  EXPECT_NE(wrong(file_of(scratch, "a 1 2 3\nb 1 2\n")).find("v.txt:2: has 2 numbers"),
            std::string::npos);
}

TEST(Vectors, AWrongLineIsNamed) {
  const ScratchFolder scratch;
  EXPECT_NE(wrong(file_of(scratch, "a 1 2\nb 1\n")).find("v.txt:2"), std::string::npos);
  EXPECT_NE(wrong(file_of(scratch, "a 1 2\nb 1 x\n")).find("'x' is not a number"),
            std::string::npos);
  EXPECT_NE(wrong(file_of(scratch, "")).find("no word vectors"), std::string::npos);
  EXPECT_NE(wrong(file_of(scratch, "word\n")).find("needs a word and"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
