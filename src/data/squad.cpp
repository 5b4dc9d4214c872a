// The JSON of SQuAD, as its authors publish it:
//   {"version": ..., "data": [{"title": ..., "paragraphs": [{"context": ..., "qas": [
//     {"id": ..., "question": ..., "is_impossible": ..., "answers": [
//       {"text": ..., "answer_start": ...}]}]}]}]}
// answer_start counts code points. Other keys (plausible_answers) are passed over.
#include <charconv>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/json_line.h"
#include "fovea/data/passage_collector.h"

namespace fovea {
namespace {

struct Answer {
  std::string text;
  int64_t start = -1;
};
struct Question {
  std::string id, text;
  std::vector<Answer> answers;
  bool impossible = false, has_list = false;
};
struct Paragraph {
  std::string context;
  std::vector<Question> questions;
};
using Article = std::vector<Paragraph>;

// Cuts "data.12.paragraphs" into its parts.
class PathParts {
 public:
  explicit PathParts(std::string_view path) : rest_(path) {}

  bool key(std::string_view name) { return next() == name; }
  std::optional<size_t> number() {
    const std::string_view part = next();
    size_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (part.empty() || error != std::errc() || end != part.data() + part.size()) return {};
    return value;
  }
  std::string_view next() {
    const size_t dot = rest_.find('.');
    const std::string_view part = rest_.substr(0, dot);
    rest_ = dot == std::string_view::npos ? std::string_view() : rest_.substr(dot + 1);
    return part;
  }
  bool ended() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

class SquadVisitor final : public JsonVisitor {
 public:
  bool wants(std::string_view path) override {
    return path.starts_with("data") && path.find(".plausible_answers") == std::string_view::npos;
  }
  void value(std::string_view path, const JsonValue& value) override {
    PathParts parts(path);
    Paragraph* paragraph = paragraph_at(parts);
    if (!paragraph) return;
    const std::string_view key = parts.next();
    const std::string text(value.kind == JsonKind::null ? "" : value.text);
    if (key == "context" && parts.ended()) paragraph->context = text;
    if (key != "qas") return;
    Question* question = one_of(paragraph->questions, parts);
    if (!question) return;
    const std::string_view what = parts.next();
    if (what == "answers") {
      Answer* answer = one_of(question->answers, parts);
      question->has_list = true;
      if (!answer) return;
      const std::string_view part = parts.next();
      if (part == "text") answer->text = text;
      if (part == "answer_start")
        std::from_chars(text.data(), text.data() + text.size(), answer->start);
    } else if (what == "id") {
      question->id = text;
    } else if (what == "question") {
      question->text = text;
    } else if (what == "is_impossible") {
      question->impossible = text == "true";
      may_be_unanswered = true;
    }
  }
  // Of a question without answers; answers themselves are objects.
  void list(std::string_view path, std::span<const JsonValue> values) override {
    if (!values.empty() || !path.ends_with(".answers")) return;
    PathParts parts(path);
    Paragraph* paragraph = paragraph_at(parts);
    if (!paragraph || !parts.key("qas")) return;
    if (Question* question = one_of(paragraph->questions, parts)) question->has_list = true;
  }

  std::vector<Article> articles;
  bool may_be_unanswered = false;

 private:
  // The element that a number names; they are told in order.
  template <class T>
  static T* one_of(std::vector<T>& list, PathParts& parts) {
    const auto n = parts.number();
    if (!n || *n > list.size()) return nullptr;
    if (*n == list.size()) list.emplace_back();
    return &list[*n];
  }
  Paragraph* paragraph_at(PathParts& parts) {
    if (!parts.key("data")) return nullptr;
    Article* article = one_of(articles, parts);
    return article && parts.key("paragraphs") ? one_of(*article, parts) : nullptr;
  }
};

// The byte at which a code point begins; -1 where there is no such one.
int64_t byte_of(std::string_view text, int64_t code_point) {
  if (code_point < 0) return -1;
  size_t at = 0;
  for (int64_t i = 0; i < code_point; ++i) {
    if (at >= text.size()) return -1;
    at += first_code_point(text.substr(at)).bytes;
  }
  return static_cast<int64_t>(at);
}

}  // namespace

void parse_squad(std::string_view text, PassageCollector& to) {
  const std::string& path = to.summary.path;
  const int64_t wrong = first_not_utf8(text);
  check<ErrorKind::input>(wrong < 0, path, ": is not UTF-8 text at byte ", wrong + 1);
  SquadVisitor read;
  const std::string problem = walk_json(text, read);
  check<ErrorKind::input>(problem.empty(), path, ": is cut off or damaged: ", problem,
                          "; get the file again");
  for (size_t a = 0; a < read.articles.size(); ++a) {
    for (size_t p = 0; p < read.articles[a].size(); ++p) {
      Paragraph& paragraph = read.articles[a][p];
      const auto passage = std::make_shared<const std::string>(std::move(paragraph.context));
      for (size_t q = 0; q < paragraph.questions.size(); ++q) {
        Question& question = paragraph.questions[q];
        const std::string where =
            say("article ", a + 1, ", paragraph ", p + 1, ", question ", q + 1,
                question.id.empty() ? "" : " (id " + shortened(question.id) + ")");
        PassageQuestion one{.id = std::move(question.id),
                            .passage = passage,
                            .question = std::move(question.text),
                            .may_be_unanswered = read.may_be_unanswered};
        if (!question.impossible) {
          for (Answer& answer : question.answers) {
            one.answers.push_back({std::move(answer.text), byte_of(*passage, answer.start)});
          }
          if (one.answers.empty()) {
            to.refuse(where, question.has_list || read.may_be_unanswered
                                 ? "has no answer, and does not say that it is_impossible"
                                 : "has no answers");
            continue;
          }
        }
        to.add(std::move(one), false, where);
      }
    }
  }
}

}  // namespace fovea
