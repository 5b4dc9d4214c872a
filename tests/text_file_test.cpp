#include "fovea/data/text_file.h"

#include <gtest/gtest.h>

#include "support/pack.h"
#include "support/scratch.h"

namespace fovea {
namespace {

using test::error_of;
using test::gzip;
using test::ScratchFolder;
using test::xz;
using test::zstd;
using Lines = std::vector<std::string>;

// Longer than the buffers in between, and hard to pack.
std::string long_text() {
  std::string text;
  uint32_t state = 1;
  for (int i = 0; i < 40'000; ++i) {
    state = state * 1664525 + 1013904223;
    text += say("line ", i, " ", state, "\n");
  }
  return text;
}

TEST(TextFile, EndsOfLinesAndTheByteOrderMarkGo) {
  const ScratchFolder folder;
  EXPECT_EQ(read_lines(folder.write("a", "one\ntwo\n")), (Lines{"one", "two"}));
  EXPECT_EQ(read_lines(folder.write("a", "one\r\n\r\ntwo")), (Lines{"one", "", "two"}));
  EXPECT_EQ(read_lines(folder.write("a",
                                    "\xef\xbb\xbf"
                                    "one\n\xef\xbb\xbf"
                                    "two\n")),
            (Lines{"one",
                   "\xef\xbb\xbf"
                   "two"}));
  EXPECT_EQ(read_lines(folder.write("a", "\n")), (Lines{""}));
}

TEST(TextFile, NumbersLinesFromOne) {
  const ScratchFolder folder;
  std::string seen;
  for_each_line(folder.write("a", "x\ny\nz"),
                [&](std::string_view line, int64_t number) { seen += say(number, line); });
  EXPECT_EQ(seen, "1x2y3z");
}

TEST(TextFile, UnpacksByContent) {
  const ScratchFolder folder;
  const std::string text = long_text();
  const Lines plain = read_lines(folder.write("plain.gz", text));  // the name does not count
  ASSERT_EQ(plain.size(), 40'000u);
  EXPECT_EQ(plain[39'999].substr(0, 11), "line 39999 ");
  EXPECT_EQ(read_lines(folder.write("a", gzip(text))), plain);
  EXPECT_EQ(read_lines(folder.write("a", xz(text))), plain);
  EXPECT_EQ(read_lines(folder.write("a", zstd(text))), plain);
}

TEST(TextFile, PackedFilesOneAfterTheOtherAreOneText) {
  const ScratchFolder folder;
  const Lines lines{"one", "two", "three"};
  EXPECT_EQ(read_lines(folder.write("a", gzip("one\ntw") + gzip("o\nthree"))), lines);
  EXPECT_EQ(read_lines(folder.write("a", gzip("one\ntwo\nthree") + std::string(512, '\0'))), lines);
  EXPECT_EQ(read_lines(folder.write("a", xz("one\ntw") + xz("o\nthree"))), lines);
  EXPECT_EQ(read_lines(folder.write("a", zstd("one\ntw") + zstd("o\nthree"))), lines);
}

TEST(TextFile, DamagedPackingIsRefused) {
  const ScratchFolder folder;
  for (const auto& [kind, packed] : std::vector<std::pair<std::string, std::string>>{
           {"gzip", gzip(long_text())}, {"xz", xz(long_text())}, {"zstd", zstd(long_text())}}) {
    const auto says = [&folder](const std::string& bytes) {
      const std::string path = folder.write("a", bytes);
      const std::string text = error_of([&] { read_lines(path); });
      EXPECT_EQ(text.substr(0, path.size()), path);
      return text.substr(std::min(text.size(), path.size()));
    };
    for (const size_t size : {size_t{7}, packed.size() / 2, packed.size() - 1}) {
      EXPECT_EQ(says(packed.substr(0, size)),
                ": the " + kind + " data ends too soon; get the file again");
    }
    std::string flipped = packed;
    flipped[packed.size() / 2] ^= 0x10;
    EXPECT_EQ(says(flipped), ": the " + kind + " data is damaged; get the file again");
    EXPECT_EQ(says(packed + "what follows is not packed"),
              ": the " + kind + " data is damaged; get the file again");
  }
}

TEST(TextFile, OtherEncodingsAreNamedWithTheirPlace) {
  const ScratchFolder folder;
  const std::string path = folder.write("a",
                                        "fine\nGr\xc3\xbc\xc3\x9f"
                                        "e \xfc"
                                        "ber\n");
  EXPECT_EQ(
      error_of([&] { read_lines(path); }),
      path +
          ":2: not UTF-8 text at byte 9; convert it (iconv -f ITS-ENCODING -t utf-8) or say its "
          "--encoding");
  for (const char* bad : {"\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"}) {
    const std::string text = error_of([&] { read_lines(folder.write("a", bad)); });
    EXPECT_NE(text.find(":1: not UTF-8 text at byte 1;"), std::string::npos) << text;
  }
}

TEST(TextFile, BinaryFilesAreRefused) {
  const ScratchFolder folder;
  const std::string path = folder.write("a", std::string("text\n\x7f"
                                                         "ELF\0\0\0",
                                                         11));
  const std::string text = error_of([&] { read_lines(path); });
  EXPECT_NE(text.find("looks like a binary file"), std::string::npos) << text;
}

TEST(TextFile, AVeryLongLineIsNamedWithItsSize) {
  const ScratchFolder folder;
  const std::string longest(longest_line, 'x');
  EXPECT_EQ(read_lines(folder.write("a", longest + "\n"))[0], longest);
  const std::string path = folder.write("a", "short\n" + longest + "xx\nshort\n");
  const std::string text = error_of([&] { read_lines(path); });
  EXPECT_EQ(text.find(path + say(":2: the line has ", longest_line + 2, " bytes")), 0u) << text;
}

TEST(TextFile, SaysWhyAFileCannotBeRead) {
  const ScratchFolder folder;
  EXPECT_EQ(error_of([&] { read_lines("/no/such/file"); }),
            "/no/such/file: cannot be read: No such file or directory");
  EXPECT_EQ(error_of([&] { read_lines(folder.path()); }),
            folder.path() + ": cannot be read: Is a directory");
  const std::string path = folder.write("a", "");
  EXPECT_EQ(error_of([&] { read_lines(path); }),
            path + ": is empty; needs at least one line of text");
}

}  // namespace
}  // namespace fovea
