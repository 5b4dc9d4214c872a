// TensorBoard's event files, byte for byte as TensorBoard's own writer has them.
#include "fovea/train/event_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fovea/base/error.h"

namespace fovea::test {
namespace {

std::string hex_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string hex;
  for (const char c : std::string(std::istreambuf_iterator<char>(in), {})) {
    constexpr char digits[] = "0123456789abcdef";
    hex += digits[static_cast<unsigned char>(c) >> 4];
    hex += digits[c & 15];
  }
  return hex;
}

class EventFiles : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::string folder_ = testing::TempDir() + "fovea_events_" +
                              testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(EventFiles, HaveTensorBoardsBytes) {
  EventFile file(folder_ + "/run", 1'700'000'000);
  EXPECT_EQ(file.path(), folder_ + "/run/events.out.tfevents.1700000000");
  file.scalar("loss", 1, 2.5, 1'700'000'000.25);
  file.scalar("dev/bleu", 100'000, -0.1, 1'700'000'001.5);
  // Each record: 8 bytes of length, their checksum, the event, its checksum.
  EXPECT_EQ(hex_of(file.path()),
            "1800000000000000a37f4b220900000040fc54d9411a0d627261696e2e4576656e743a32eced8f9d"
            "1a00000000000000129bd82d0900001040fc54d94110012a0d0a0b0a046c6f7373150000204098d7"
            "d6a8200000000000000029eda9500900006040fc54d94110a08d062a110a0f0a086465762f626c65"
            "7515cdccccbd7289b203");
}

TEST_F(EventFiles, AreWholeAfterEveryPoint) {
  EventFile file(folder_, 5);
  size_t before = std::filesystem::file_size(file.path());
  for (int step = 1; step <= 3; ++step) {
    file.scalar("loss", step, 1, 6);
    const size_t now = std::filesystem::file_size(file.path());
    EXPECT_GT(now, before);
    before = now;
  }
}

TEST_F(EventFiles, OfTheSameSecondStayApart) {
  EventFile first(folder_, 7);
  const std::string bytes = hex_of(first.path());
  EventFile second(folder_, 7);
  EXPECT_EQ(second.path(), first.path() + ".1");
  second.scalar("loss", 1, 1, 8);
  EXPECT_EQ(hex_of(first.path()), bytes);
}

TEST_F(EventFiles, SayWhereTheyCannotBeWritten) {
  std::ofstream(folder_) << "a file where a folder should be";
  try {
    EventFile file(folder_, 7);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot make the folder '" + folder_),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace fovea::test
