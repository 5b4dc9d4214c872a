// What verbs say to a person: numbers, tables, progress.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "fovea/train/trainer.h"

namespace fovea::cli {

// Columns of the terminal on stdout or stderr; 80 when there is none.
int terminal_width();
// Colours are wanted on stdout: it is a terminal, and NO_COLOR is not set.
bool wants_colour();

// Throws when what was printed cannot be written: a full disk, a pipe that nobody reads.
void flush_stdout();

std::string with_commas(int64_t n);        // 1,234,567
std::string short_count(int64_t n);        // 1.2M, 340k
std::string clock_text(double seconds);    // 1:05, 2:03:04
std::string figure_text(double x);         // 0.042, 1.24, 35.0, 1,240
std::string metric_text(const Metric& m);  // 0.934, 31.42

// "1,234 of ..." names with underscores as words.
std::string words_of(std::string name);

// Metrics one a line.
void print_metrics(const std::vector<Metric>& metrics);

// Whether who reads a log wants a further line, so many seconds behind the last one: a sign of life
// each minute, and of validations not every one where they are quick.
bool is_line_due(double seconds, bool validated);

// A bar on a terminal, elsewhere lines as is_line_due says; on stderr.
class ProgressBar {
 public:
  void operator()(const TrainProgress& progress);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  bool drawn_ = false;
  Clock::time_point last_{};
  std::string metric_;
};

}  // namespace fovea::cli
