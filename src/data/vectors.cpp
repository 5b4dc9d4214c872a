#include "fovea/data/vectors.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/line_reader.h"

namespace fovea {
namespace {

// Lines of vectors; the line "words width" that word2vec puts first is passed over.
class VectorLines {
 public:
  explicit VectorLines(const std::string& path) : lines_(path) {
    check(next(), path, ": holds no word vectors");
    auto fields = split_at_spaces(lines_.text());
    const auto whole = [](std::string_view text) {
      return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (fields.size() == 2 && whole(fields[0]) && whole(fields[1])) {
      check(next(), path, ": holds no word vectors behind its first line");
      fields = split_at_spaces(lines_.text());
    }
    check(fields.size() >= 2, path, ":", lines_.number(),
          ": needs a word and the numbers of its vector, got '", shown(), "'");
    width_ = static_cast<int64_t>(fields.size()) - 1;
    numbers_.resize(static_cast<size_t>(width_));
  }

  int64_t width() const { return width_; }
  bool next() {
    for (;;) {
      const Got got = lines_.next();
      check(got != Got::bad, lines_.path(), ":", lines_.last_number(), ": ", lines_.problem());
      if (got == Got::end) return false;
      if (!split_at_spaces(lines_.text()).empty()) return true;
    }
  }
  // What stands before the numbers: some files have words with spaces in them.
  std::string_view word() {
    const auto fields = split_at_spaces(lines_.text());
    const auto n = static_cast<int64_t>(fields.size());
    check(n > width_, lines_.path(), ":", lines_.number(), ": has ", n - 1,
          " numbers, the vectors before it have ", width_);
    const std::string_view first = fields[0], last = fields[static_cast<size_t>(n - width_ - 1)];
    return {first.data(), static_cast<size_t>(last.data() + last.size() - first.data())};
  }
  std::span<const float> numbers() {
    const auto fields = split_at_spaces(lines_.text());
    for (size_t i = 0; i < numbers_.size(); ++i) {
      const std::string_view field = fields[fields.size() - numbers_.size() + i];
      const auto [end, error] =
          std::from_chars(field.data(), field.data() + field.size(), numbers_[i]);
      check(
          error == std::errc() && end == field.data() + field.size() && std::isfinite(numbers_[i]),
          lines_.path(), ":", lines_.number(), ": '", field, "' is not a number; a line is a ",
          "word and the ", width_, " numbers of its vector");
    }
    return numbers_;
  }

 private:
  std::string shown() const { return std::string(lines_.text().substr(0, 40)); }

  LineReader lines_;
  int64_t width_ = 0;
  std::vector<float> numbers_;
};

}  // namespace

int64_t vectors_width(const std::string& path) { return VectorLines(path).width(); }

void read_vectors(const std::string& path, const std::function<bool(std::string_view)>& wants,
                  const std::function<bool(std::string_view, std::span<const float>)>& take) {
  VectorLines lines(path);
  do {
    const std::string_view word = lines.word();
    if (wants(word) && !take(word, lines.numbers())) return;
  } while (lines.next());
}

}  // namespace fovea
