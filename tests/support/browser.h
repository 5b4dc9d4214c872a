// Pages as a browser draws them.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fovea::test {

inline bool has_chromium() {
  static const bool found = std::system("command -v chromium >/dev/null 2>&1") == 0;
  return found;
}

// The page's elements after its script has run, as Chromium writes them. `then` is a script that
// runs after the page's own, for what a reader would do; `hash` is the end of the page's address.
inline std::string rendered(std::string page, const std::string& then = "",
                            const std::string& hash = "") {
  if (!then.empty()) page.insert(page.rfind("</body>"), "<script>" + then + "</script>");
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string stem = testing::TempDir() + "fovea_page_" + test->name();
  std::ofstream(stem + ".html") << page;
  const std::string command =
      "chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir='" +
      stem + "' --window-size=1280,1000 --virtual-time-budget=5000 --dump-dom 'file://" + stem +
      ".html" + hash + "' 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  std::string dom;
  std::array<char, 65536> part{};
  while (const size_t n = fread(part.data(), 1, part.size(), pipe)) dom.append(part.data(), n);
  EXPECT_EQ(pclose(pipe), 0);
  std::filesystem::remove_all(stem);
  std::filesystem::remove(stem + ".html");
  // The data and the script, which hold every word that the checks look for, are left out.
  const size_t cut = dom.find("<script type=\"application/json\"");
  return dom.substr(0, dom.find("<style>")) +
         dom.substr(dom.find("</style>"), cut - dom.find("</style>"));
}

#define NEED_CHROMIUM() \
  if (!has_chromium()) GTEST_SKIP() << "chromium is not installed; the page was not drawn"

inline void expect_drawn(const std::string& dom) {
  EXPECT_NE(dom.find("data-ready=\"yes\""), dom.npos) << dom.substr(0, 2000);
  EXPECT_NE(dom.find("data-errors=\"0\""), dom.npos) << dom.substr(0, 2000);
}

}  // namespace fovea::test
