// Files of word vectors.
#include "fovea/data/vectors.h"

#include <gtest/gtest.h>

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
