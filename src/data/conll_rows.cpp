// Rows of CoNLL columns and CoNLL-U: a row is a sentence.
#include <algorithm>
#include <deque>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

const std::vector<std::string> names{"id",   "form",   "lemma", "upos", "xpos", "feats",
                                     "head", "deprel", "deps",  "misc", "text"};
constexpr size_t columns_of_conllu = 10;
constexpr std::string_view text_comment = "# text = ";
// A sentence is kept until it ends; a file without blank lines is not one of sentences.
constexpr size_t longest_sentence = 100'000;

class ConllRows : public Rows {
 public:
  ConllRows(LineReader& lines, bool conllu) : lines_(lines), conllu_(conllu) {}

  Got next() override {
    text_.clear();
    ends_.clear();
    places_.clear();
    words_ = 0;
    sentence_text_.clear();
    has_text_ = false;
    std::string problem;
    int64_t problem_line = 0;
    for (;;) {
      const Got got = lines_.next();
      if (got == Got::end) break;
      if (got == Got::bad) {
        if (problem.empty()) problem = lines_.problem(), problem_line = lines_.number();
        continue;
      }
      const std::string_view line = lines_.text();
      if (trimmed(line).empty()) {
        if (words_ > 0 || !problem.empty()) break;
        has_text_ = false;
        doubtful_.clear();
        continue;
      }
      if (!problem.empty() || is_comment(line)) continue;
      problem = take(line);
      if (!problem.empty()) problem_line = lines_.number();
    }
    if (!problem.empty()) return bad(problem_line, problem);
    if (words_ == 0) return Got::end;
    line_ = places_[0];
    give_cells();
    return Got::good;
  }

  std::span<const std::string_view> list(size_t column) override {
    if (column >= width_) return Rows::list(column);
    list_.resize(words_);
    for (size_t i = 0; i < words_; ++i) list_[i] = word(i, column);
    return list_;
  }

  int64_t line_of(size_t item) const override { return item < words_ ? places_[item] : line_; }

 private:
  // "# made by hand" before a sentence, unless it has as many columns as a word: "# O". Those that
  // come before the first word wait until it says how many there are.
  bool is_comment(std::string_view line) {
    if (conllu_ || !line.starts_with('#') || words_ > 0) {
      if (width_ == 0 && !line.starts_with("-DOCSTART-")) take_doubtful(line);
      return false;
    }
    if (width_ == 0) {
      doubtful_.emplace_back(lines_.number(), line);
      return true;
    }
    split(line);
    return parts_.size() != width_;
  }

  void take_doubtful(std::string_view first_word) {
    split(first_word);
    const size_t width = parts_.size();
    for (const auto& [number, line] : doubtful_) {
      split(line);
      if (parts_.size() != width || conllu_) continue;
      width_ = width;
      width_line_ = number;
      add_word(number);
    }
    doubtful_.clear();
  }

  // The reason why not; empty when the line is taken or passed over.
  std::string take(std::string_view line) {
    if (line.starts_with("-DOCSTART-") || (conllu_ && line.starts_with('#'))) {
      if (line.starts_with(text_comment)) {
        sentence_text_ = line.substr(text_comment.size());
        has_text_ = true;
      }
      return {};
    }
    split(line);
    if (width_ == 0) {
      width_ = conllu_ ? columns_of_conllu : parts_.size();
      width_line_ = conllu_ ? 0 : lines_.number();
    }
    if (parts_.size() != width_) {
      return say("needs ", width_, " columns as ",
                 width_line_ > 0 ? say("line ", width_line_) : "CoNLL-U", " has, got ",
                 parts_.size());
    }
    if (conllu_ && parts_[0].find_first_of("-.") != std::string_view::npos) return {};
    if (words_ == longest_sentence) {
      return say("the sentence has more than ", longest_sentence,
                 " words; needs a blank line between sentences");
    }
    add_word(lines_.number());
    return {};
  }

  void add_word(int64_t line) {
    ++words_;
    places_.push_back(line);
    for (const std::string_view part : parts_) {
      text_ += part;
      ends_.push_back(text_.size());
    }
  }

  // Where there is a tab, words may hold spaces.
  void split(std::string_view line) {
    const bool tabs = line.find('\t') != std::string_view::npos;
    parts_.clear();
    for (size_t from = 0; from <= line.size();) {
      const size_t to = std::min(line.find(tabs ? '\t' : ' ', from), line.size());
      if (tabs || to > from) parts_.push_back(line.substr(from, to - from));
      from = to + 1;
    }
  }

  std::string_view word(size_t i, size_t column) const {
    const size_t at = i * width_ + column;
    const size_t from = at == 0 ? 0 : ends_[at - 1];
    return std::string_view(text_).substr(from, ends_[at] - from);
  }

  // As text a column is its words with a space between them.
  void give_cells() {
    joined_.resize(width_);
    cells_.assign(width_ + (conllu_ ? 1 : 0), {});
    for (size_t column = 0; column < width_; ++column) {
      joined_[column].clear();
      for (size_t i = 0; i < words_; ++i) {
        if (i > 0) joined_[column] += ' ';
        joined_[column] += word(i, column);
      }
      cells_[column] = joined_[column];
    }
    if (conllu_ && has_text_) cells_.back() = sentence_text_;
  }

  LineReader& lines_;
  bool conllu_;
  size_t width_ = 0, words_ = 0;
  int64_t width_line_ = 0;
  std::string text_;  // all cells of the sentence, one after the other; ends_ has their ends
  std::vector<size_t> ends_;
  std::vector<int64_t> places_;  // the lines of the words
  std::vector<std::string_view> parts_;
  std::vector<std::string> joined_;
  std::vector<std::pair<int64_t, std::string>> doubtful_;  // lines with #, and their numbers
  std::string sentence_text_;
  bool has_text_ = false;
};

}  // namespace

std::unique_ptr<Rows> conll_rows(LineReader& lines, bool conllu) {
  return std::make_unique<ConllRows>(lines, conllu);
}

std::span<const std::string> conllu_names() { return names; }

}  // namespace fovea
