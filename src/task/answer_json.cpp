#include "fovea/task/answer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "fovea/base/error.h"
#include "fovea/base/json_text.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// Whether an answer is one of a few: a label, or yes and no.
bool gives_label(Gives gives) { return gives == Gives::label || gives == Gives::links; }

void append_text(std::string& to, const std::string& text) {
  const bool plain = std::ranges::none_of(
      text, [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32; });
  if (plain && first_not_utf8(text) < 0) {
    to += '"';
    to += text;
    to += '"';
  } else {
    to += json_text(nlohmann::json(text));
  }
}

// Digits of a probability, a tenth of what it takes to write any number: taggers write one for
// every token. False: it is none, or rounds to one.
bool append_probability(std::string& to, double x) {
  if (!(x >= 1e-4 && x < 1)) return false;
  constexpr std::array<double, 4> scales{1e6, 1e7, 1e8, 1e9};
  constexpr size_t digits = 6;
  size_t zeros = 0;
  for (double y = x; y < 0.1; y *= 10) ++zeros;
  int64_t n = std::llrint(x * scales[zeros]);
  if (n >= 1'000'000) return false;
  std::array<char, digits> text{};
  for (size_t i = digits; i-- > 0; n /= 10) text[i] = static_cast<char>('0' + n % 10);
  size_t end = digits;
  while (end > 1 && text[end - 1] == '0') --end;
  to += "0.";
  to.append(zeros, '0').append(text.data(), end);
  return true;
}

// Six digits are more than a model in float32 knows.
void append_number(std::string& to, double x) {
  if (append_probability(to, x)) return;
  if (std::isfinite(x)) {
    fmt::format_to(std::back_inserter(to), "{:.6g}", x);
  } else {
    to += "null";
  }
}

void append_place(std::string& to, const TextPlace& place) {
  const auto append = [&](std::string_view name, int64_t n) {
    const fmt::format_int digits(n);
    to.append(name).append(digits.data(), digits.size());
  };
  append(",\"begin\":", place.begin);
  append(",\"end\":", place.end);
  append(",\"char_begin\":", place.char_begin);
  append(",\"char_end\":", place.char_end);
}

void append_tokens(std::string& to, const std::vector<AnswerToken>& tokens) {
  to += ",\"tokens\":[";
  for (const AnswerToken& token : tokens) {
    to += &token == tokens.data() ? "{\"text\":" : ",{\"text\":";
    append_text(to, token.text);
    if (token.place) {
      to += ",\"tag\":";
      append_text(to, token.tag);
      append_place(to, *token.place);
      to += ",\"probability\":";
      append_number(to, token.probability());
    } else {
      to += ",\"log_probability\":";
      append_number(to, token.log_probability);
    }
    to += '}';
  }
  to += ']';
}

void append_entities(std::string& to, const std::vector<Entity>& entities) {
  to += ",\"entities\":[";
  for (const Entity& entity : entities) {
    to += &entity == entities.data() ? "{\"kind\":" : ",{\"kind\":";
    append_text(to, entity.kind);
    to += ",\"text\":";
    append_text(to, entity.text);
    append_place(to, entity.place);
    fmt::format_to(std::back_inserter(to),
                   ",\"first_token\":{},\"last_token\":{},\"probability\":", entity.first_token,
                   entity.last_token);
    append_number(to, entity.probability);
    to += '}';
  }
  to += ']';
}

void append_prediction(std::string& to, const Prediction& p, Gives gives) {
  to += "\"answer\":";
  if (p.number) {
    fmt::format_to(std::back_inserter(to), "{:.9g}", *p.number);
  } else if (gives == Gives::span && !p.place) {
    to += "null";  // the passage does not answer
  } else {
    append_text(to, p.text);
  }
  if (gives == Gives::number) return;
  if (p.place) append_place(to, *p.place);
  if (gives == Gives::span || gives == Gives::choice) {
    to += ",\"probability\":";
    append_number(to, std::exp(p.score));
  }
  if (gives == Gives::span) return;
  to += gives_label(gives) ? ",\"probability\":" : ",\"log_probability\":";
  append_number(to, gives_label(gives) ? std::exp(p.score) : p.score);
  if (!gives_label(gives)) append_tokens(to, p.tokens);
  if (gives == Gives::labels) append_entities(to, p.entities);
}

// Within one cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out;
}

std::string figure(double x) { return fmt::format("{:.6g}", x); }

}  // namespace

void append_json(std::string& to, const Answered& answered, Gives gives, int64_t line) {
  fmt::format_to(std::back_inserter(to), "{{\"line\":{},", line);
  if (!answered.error.empty()) {
    to += "\"error\":";
    append_text(to, answered.error);
    to += '}';
    return;
  }
  if (answered.predictions.empty()) {
    to += "\"answer\":null}";
    return;
  }
  const Prediction& best = answered.predictions[0];
  append_prediction(to, best, gives);
  if (!best.probabilities.empty()) {
    to += ",\"probabilities\":{";
    for (const LabelProbability& one : best.probabilities) {
      if (&one != best.probabilities.data()) to += ',';
      append_text(to, one.label);
      to += ':';
      append_number(to, one.probability);
    }
    to += '}';
  }
  if (answered.predictions.size() > 1) {
    to += ",\"answers\":[";
    for (const Prediction& p : answered.predictions) {
      to += &p == &best ? "{" : ",{";
      append_prediction(to, p, gives);
      to += '}';
    }
    to += ']';
  }
  to += '}';
}

std::vector<std::string> answer_columns(Gives gives, const std::vector<std::string>& labels) {
  if (gives == Gives::labels) {
    return {"line", "token", "tag", "begin", "end", "char_begin", "char_end", "probability"};
  }
  if (gives == Gives::number) return {"line", "answer"};
  if (gives == Gives::span) {
    return {"line", "rank", "answer", "probability", "begin", "end", "char_begin", "char_end"};
  }
  if (!gives_label(gives)) return {"line", "rank", "answer", "log_probability"};
  std::vector<std::string> names{"line", "rank", "answer", "probability"};
  names.insert(names.end(), labels.begin(), labels.end());
  return names;
}

std::vector<std::vector<std::string>> answer_rows(const Answered& answered, Gives gives,
                                                  int64_t line,
                                                  const std::vector<std::string>& labels) {
  std::vector<std::vector<std::string>> rows;
  const std::string number = std::to_string(line);
  for (const Prediction& p : answered.predictions) {
    const std::string rank = std::to_string(rows.size() + 1);
    if (gives == Gives::number) {
      rows.push_back({number, p.text});
    } else if (gives == Gives::span) {
      rows.push_back({number, rank, cell(p.text), figure(std::exp(p.score))});
      if (p.place) {
        rows.back().insert(rows.back().end(), {say(p.place->begin), say(p.place->end),
                                               say(p.place->char_begin), say(p.place->char_end)});
      }
      rows.back().resize(answer_columns(gives, labels).size());
    } else if (gives != Gives::labels) {
      rows.push_back(
          {number, rank, cell(p.text), figure(gives_label(gives) ? std::exp(p.score) : p.score)});
      for (const std::string& label : labels) {
        const auto& all = answered.predictions[0].probabilities;
        const auto found = std::ranges::find(all, label, &LabelProbability::label);
        rows.back().push_back(found == all.end() ? "" : figure(found->probability));
      }
    }
    for (const AnswerToken& t : p.tokens) {
      if (gives != Gives::labels) break;
      rows.push_back({number, cell(t.text), t.tag, say(t.place->begin), say(t.place->end),
                      say(t.place->char_begin), say(t.place->char_end), figure(t.probability())});
    }
  }
  // A line that has no answer keeps its place.
  if (rows.empty()) {
    rows.push_back({number});
    rows.back().resize(answer_columns(gives, labels).size());
  }
  return rows;
}

}  // namespace fovea
