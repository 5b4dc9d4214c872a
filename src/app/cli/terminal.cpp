#include "fovea/app/cli/terminal.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "fovea/base/error.h"

namespace fovea::cli {

int terminal_width() {
  for (int file : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  }
  return 80;
}

bool wants_colour() { return isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR"); }

void flush_stdout() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  check(!failed, "stdout: cannot be written", errno == 0 ? "" : say(": ", std::strerror(errno)));
}

std::string with_commas(int64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > (n < 0); at -= 3) text.insert(at, ",");
  return text;
}

std::string short_count(int64_t n) {
  if (n >= 9'950'000) return fmt::format("{:.0f}M", static_cast<double>(n) / 1e6);
  if (n >= 999'500) return fmt::format("{:.1f}M", static_cast<double>(n) / 1e6);
  if (n >= 1000) return fmt::format("{:.0f}k", static_cast<double>(n) / 1e3);
  return std::to_string(n);
}

std::string clock_text(double seconds) {
  const auto s = static_cast<int64_t>(std::max(0.0, seconds) + 0.5);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string figure_text(double x) {
  if (x >= 999.5) return with_commas(std::llround(x));
  return fmt::format("{:.{}f}", x, x >= 99.95 ? 0 : x >= 9.995 ? 1 : x >= 0.9995 ? 2 : 3);
}

std::string metric_text(const Metric& m) {
  return m.name == "bleu" || m.name == "perplexity" ? fmt::format("{:.2f}", m.value)
                                                    : fmt::format("{:.4f}", m.value);
}

std::string words_of(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

void print_metrics(const std::vector<Metric>& metrics) {
  for (const Metric& m : metrics) fmt::print("  {:<18}{:>9}\n", words_of(m.name), metric_text(m));
}

bool is_line_due(double seconds, bool validated) { return seconds >= (validated ? 10 : 60); }

void ProgressBar::operator()(const TrainProgress& p) {
  const bool terminal = isatty(STDERR_FILENO);
  if (!p.validation.empty()) {
    metric_ = words_of(p.validation[0].name) + " " + metric_text(p.validation[0]);
  }
  const auto now = Clock::now();
  if (!terminal) {
    const bool validated = !p.validation.empty();
    if (last_ == Clock::time_point()) last_ = now;
    const bool due = is_line_due(std::chrono::duration<double>(now - last_).count(), validated);
    // The first and the last validation in any case.
    if (!due && !(validated && (!drawn_ || p.done >= 1))) return;
    drawn_ = true;
    fmt::print(stderr, "step {}  epoch {}  {}  loss {:.4f}  {}\n", p.step, p.epoch,
               clock_text(p.seconds), p.loss,
               validated ? metric_ : fmt::format("{:.0f} %", 100 * p.done));
    last_ = now;
    return;
  }
  if (now - last_ < std::chrono::milliseconds(100) && p.done < 1) return;
  last_ = now;
  const double left = p.done > 0.002 ? p.seconds * (1 / p.done - 1) : 0;
  std::string text = fmt::format(" {:>3.0f} %  {}<{}  loss {:.4f}", 100 * p.done,
                                 clock_text(p.seconds), clock_text(left), p.loss);
  if (!metric_.empty()) text += "  " + metric_;
  if (p.tokens_per_second > 0) {
    text += fmt::format("  {} tokens/s", short_count(static_cast<int64_t>(p.tokens_per_second)));
  }
  const int room = std::min(30, terminal_width() - static_cast<int>(text.size()) - 1);
  std::string bar;
  if (room >= 5) {
    const auto eighths = static_cast<int>(p.done * room * 8);
    static constexpr const char* blocks[]{" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    for (int i = 0; i < room; ++i) bar += blocks[std::clamp(eighths - 8 * i, 0, 8)];
  } else if (static_cast<int>(text.size()) >= terminal_width()) {
    text.resize(terminal_width() - 1);
  }
  fmt::print(stderr, "\r\x1b[K{}{}", bar, text);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::finish() {
  if (drawn_ && isatty(STDERR_FILENO)) std::fputs("\n", stderr);
  drawn_ = false;
}

}  // namespace fovea::cli
