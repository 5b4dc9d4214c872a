#include "fovea/task/survey.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// "[CLS]", "<s>", "<|endoftext|>", "(begin)".
bool is_special(const std::string& token) {
  if (token.size() < 3) return false;
  const char a = token.front(), b = token.back();
  return (a == '[' && b == ']') || (a == '<' && b == '>') || token == "(begin)" || token == "(end)";
}

// Query i then stands at key i.
bool same_text(const AttentionMap& map) {
  return map.queries.size() > 1 && map.queries.size() == map.keys.size() &&
         (map.queries == map.keys || map.name.find("self") != std::string::npos);
}

}  // namespace

WordLinks parse_links(const std::string& line, const std::string& where) {
  WordLinks links;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    int64_t key = -1, query = -1;
    const char* end = word.data() + word.size();
    const auto [dash, wrong] = std::from_chars(word.data(), end, key);
    bool fine = wrong == std::errc() && dash != end && *dash == '-';
    if (fine) {
      const auto [rest, also_wrong] = std::from_chars(dash + 1, end, query);
      fine = also_wrong == std::errc() && rest == end;
    }
    check(fine && key >= 0 && query >= 0, where,
          ": an alignment is written as pairs of places from 0, '0-0 1-2', got '", word, "'");
    links.emplace_back(key, query);
  }
  return links;
}

void Survey::add(const Drawing& drawing, const WordLinks* links) {
  for (const AttentionMap& map : drawing.maps) {
    auto head = std::ranges::find(heads_, map.name, &Head::name);
    if (head == heads_.end()) {
      head = heads_.insert(heads_.end(), Head());
      head->name = map.name;
    }
    ++head->examples;
    if (map.summary) {
      add_summary(*head, map);
    } else {
      add_exact(*head, map, links);
    }
  }
}

void Survey::add_exact(Head& head, const AttentionMap& map, const WordLinks* links) {
  const size_t Tq = map.queries.size(), Tk = map.keys.size();
  const bool placed = same_text(map);
  for (size_t i = 0; i < Tq; ++i) {
    const float* row = map.weights.data() + i * Tk;
    head.queries += 1;
    for (size_t j = 0; j < Tk; ++j) {
      const double a = row[j];
      if (a > 0) head.entropy -= a * std::log(a);
      if (j == 0) head.first += a;
      if (is_special(map.keys[j])) head.special += a;
      if (!placed) continue;
      head.distance += a * std::abs(static_cast<double>(j) - static_cast<double>(i));
      if (j + 1 == i) head.before += a;
      if (j == i) head.same += a;
      if (j == i + 1) head.after += a;
    }
    if (placed) head.placed += 1;
    if (!links || placed) continue;
    double on_links = 0;
    bool any = false, heaviest = false;
    const auto top = std::max_element(row, row + Tk) - row;
    for (const auto& [key, query] : *links) {
      if (query != static_cast<int64_t>(i) || key >= static_cast<int64_t>(Tk)) continue;
      any = true;
      on_links += row[key];
      heaviest |= key == top;
    }
    if (!any) continue;
    head.linked += 1;
    head.agreement += on_links;
    head.heaviest += heaviest;
  }
}

// Where only the heaviest keys are known, they stand for all: shares and distances are theirs.
void Survey::add_summary(Head& head, const AttentionMap& map) {
  const AttentionSummary& s = *map.summary;
  const auto Tq = static_cast<int64_t>(s.entropy.size());
  const bool placed = Tq == s.keys && Tq > 1;
  for (int64_t i = 0; i < Tq; ++i) {
    head.queries += 1;
    head.entropy += s.entropy[static_cast<size_t>(i)];
    double known = 0, distance = 0;
    for (int64_t n = 0; n < s.top; ++n) {
      const auto at = static_cast<size_t>(i * s.top + n);
      const int64_t j = s.top_keys[at];
      if (j < 0) break;
      const double a = s.top_weights[at];
      known += a;
      distance += a * static_cast<double>(std::abs(j - i));
      if (j == 0) head.first += a;
      if (placed && j + 1 == i) head.before += a;
      if (placed && j == i) head.same += a;
      if (placed && j == i + 1) head.after += a;
    }
    if (placed) head.placed += 1;
    if (placed && known > 0) head.distance += distance / known;
  }
}

std::vector<HeadSurvey> Survey::heads() const {
  std::vector<HeadSurvey> all;
  for (const Head& h : heads_) {
    HeadSurvey& one = all.emplace_back();
    one.name = h.name;
    one.examples = h.examples;
    one.queries = static_cast<int64_t>(h.queries);
    if (h.queries > 0) {
      one.entropy = h.entropy / h.queries;
      one.keys = std::exp(one.entropy);
      one.first = h.first / h.queries;
      one.special = h.special / h.queries;
    }
    if (h.placed > 0) {
      one.distance = h.distance / h.placed;
      one.before = h.before / h.placed;
      one.same = h.same / h.placed;
      one.after = h.after / h.placed;
    }
    if (h.linked > 0) {
      one.agreement = h.agreement / h.linked;
      one.heaviest_agrees = h.heaviest / h.linked;
    }
  }
  return all;
}

}  // namespace fovea
