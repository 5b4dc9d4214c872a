#include "fovea/base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::string& path, const std::string& text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

std::string error_of_writing(const std::string& path, const std::string& text) {
  try {
    write(path, text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string name = testing::TempDir() + "fovea_file_XXXXXX";
    folder_ = mkdtemp(name.data());
    target_ = folder_ + "/target";
  }
  ~FileTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      result.push_back(entry.path().filename());
    }
    return result;
  }

  std::string folder_, target_;
};

// Writes beyond `bytes` fail while this lives, as they do on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_;
};

TEST_F(FileTest, WritesThePiecesInOrderAndReplaces) {
  const std::string a = "one ", b, c = "two";
  const std::vector<std::span<const std::byte>> pieces = {
      std::as_bytes(std::span(a)), std::as_bytes(std::span(b)), std::as_bytes(std::span(c))};
  write_file_atomically(target_, pieces);
  EXPECT_EQ(contents_of(target_), "one two");
  write(target_, "3");
  EXPECT_EQ(contents_of(target_), "3");
  write(target_, "");
  EXPECT_EQ(contents_of(target_), "");
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
}

TEST_F(FileTest, TakesAPathWithoutAFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  write("target", "here");
  std::filesystem::current_path(before);
  EXPECT_EQ(contents_of(target_), "here");
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  write(target_, "old");
  {
    const FileSizeLimit limit(100000);
    EXPECT_EQ(error_of_writing(target_, std::string(300000, 'n')),
              "cannot write '" + target_ + "': File too large");
  }
  EXPECT_EQ(contents_of(target_), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
}

TEST_F(FileTest, SaysWhyItMayNotWrite) {
  EXPECT_EQ(error_of_writing(folder_ + "/none/x", "new"),
            "cannot write '" + folder_ + "/none/x': No such file or directory");
  write(target_, "old");
  EXPECT_EQ(error_of_writing(target_ + "/x", "new"),
            "cannot write '" + target_ + "/x': Not a directory");
  if (geteuid() != 0) {  // root may write anywhere
    chmod(folder_.c_str(), 0555);
    EXPECT_EQ(error_of_writing(target_, "new"),
              "cannot write '" + target_ + "': Permission denied");
    chmod(folder_.c_str(), 0755);
    chmod(target_.c_str(), 0444);
    EXPECT_EQ(error_of_writing(target_, "new"),
              "cannot write '" + target_ + "': Permission denied");
  }
  EXPECT_EQ(contents_of(target_), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
}

TEST_F(FileTest, ReplacesNothingButFiles) {
  const std::string end = "': what is there now is not a file";
  EXPECT_EQ(error_of_writing(folder_, "new"), "cannot write '" + folder_ + end);
  ASSERT_EQ(mkfifo(target_.c_str(), 0600), 0);
  EXPECT_EQ(error_of_writing(target_, "new"), "cannot write '" + target_ + end);
  EXPECT_TRUE(std::filesystem::is_fifo(target_));
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
}

TEST_F(FileTest, KeepsTheModeOfTheFileItReplaces) {
  write(target_, "old");
  ASSERT_EQ(chmod(target_.c_str(), 0640), 0);
  write(target_, "new");
  struct stat about;
  ASSERT_EQ(stat(target_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0640u);
}

TEST_F(FileTest, OverwritesWhatAKilledWriterLeft) {
  std::ofstream(target_ + ".tmp") << "half of something longer";
  write(target_, "whole");
  EXPECT_EQ(contents_of(target_), "whole");
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
}

TEST_F(FileTest, WritersOfOneFileTakeTurns) {
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    writers.emplace_back([this, letter] {
      for (int i = 0; i < 20; ++i) write(target_, std::string(50000 + 1000 * letter, letter));
    });
  }
  for (auto& writer : writers) writer.join();
  const std::string last = contents_of(target_);
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(last, std::string(50000 + 1000 * last[0], last[0]));
  EXPECT_EQ(names(), std::vector<std::string>{"target"});
}

}  // namespace
}  // namespace fovea
