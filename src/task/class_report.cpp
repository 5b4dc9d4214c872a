#include "fovea/task/class_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr size_t most_classes = 12, most_mistakes = 10;

// At most so many characters of it, on one line.
std::string cut(const std::string& text, size_t most) {
  std::string out;
  size_t count = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = first_code_point(std::string_view(text).substr(at)).bytes;
    if (++count > most) return out + "…";
    out += text[at] == '\n' || text[at] == '\t' ? std::string(" ") : text.substr(at, bytes);
    at += bytes;
  }
  return out;
}

std::string padded(const std::string& text, size_t width, bool right = false) {
  const std::string part = cut(text, width - 1);
  const size_t size = code_points(part).size();
  const std::string space(width > size ? width - size : 0, ' ');
  return right ? space + part : part + space;
}

std::string matrix(const ClassReport& report, size_t width) {
  const size_t n = report.classes.size(), room = (width - 14) / n;
  const size_t cell = std::clamp<size_t>(room, 5, 10);
  std::string text = "  truth \\ answer\n  " + padded("", 12);
  for (const auto& one : report.classes) text += padded(one.label, cell, true);
  for (size_t i = 0; i < n; ++i) {
    text += "\n  " + padded(report.classes[i].label, 12);
    for (const int64_t count : report.confusion[i]) {
      text += padded(count == 0 ? "." : std::to_string(count), cell, true);
    }
  }
  return text + "\n";
}

std::string pairs(const ClassReport& report) {
  struct Mixed {
    int64_t count;
    size_t truth, output;
  };
  std::vector<Mixed> all;
  for (size_t i = 0; i < report.classes.size(); ++i) {
    for (size_t j = 0; j < report.classes.size(); ++j) {
      if (i != j && report.confusion[i][j] > 0) all.push_back({report.confusion[i][j], i, j});
    }
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Mixed::count);
  std::string text;
  for (size_t k = 0; k < std::min(most_classes, all.size()); ++k) {
    text += fmt::format("  {:>6} times {} was taken for {}\n", all[k].count,
                        report.classes[all[k].truth].label, report.classes[all[k].output].label);
  }
  return text;
}

}  // namespace

ClassReport class_report(const std::vector<LabelledItem>& items) {
  std::map<std::string, int64_t> counts;
  for (const LabelledItem& item : items) ++counts[item.truth], counts.try_emplace(item.output, 0);
  ClassReport report;
  for (const auto& [label, count] : counts) report.classes.push_back({label, count});
  std::ranges::stable_sort(report.classes, std::ranges::greater(), &ClassReport::Class::count);
  std::map<std::string, size_t> places;
  for (const auto& one : report.classes) places.emplace(one.label, places.size());
  report.confusion.assign(places.size(), std::vector<int64_t>(places.size(), 0));
  std::vector<const LabelledItem*> wrong;
  for (const LabelledItem& item : items) {
    const size_t truth = places[item.truth], output = places[item.output];
    ++report.confusion[truth][output];
    ++report.classes[output].answered;
    if (truth == output) {
      ++report.classes[truth].right;
    } else {
      wrong.push_back(&item);
    }
  }
  std::ranges::stable_sort(wrong, [](const LabelledItem* a, const LabelledItem* b) {
    return a->probability > b->probability;
  });
  // A text that comes again teaches nothing new.
  std::set<std::pair<std::string_view, std::string_view>> shown;
  for (const LabelledItem* item : wrong) {
    if (report.mistakes.size() == most_mistakes) break;
    if (shown.emplace(item->text, item->truth).second) report.mistakes.push_back(*item);
  }
  return report;
}

std::string text_of(const ClassReport& report, int width) {
  std::string text = fmt::format("  {}{:>10}{:>10}{:>10}{:>10}\n", padded("class", 20), "precision",
                                 "recall", "F1", "examples");
  const size_t shown = std::min<size_t>(report.classes.size(), 30);
  for (size_t i = 0; i < shown; ++i) {
    const auto& one = report.classes[i];
    text += fmt::format("  {}{:>10.3f}{:>10.3f}{:>10.3f}{:>10}\n", padded(one.label, 20),
                        one.precision(), one.recall(), one.f1(), one.count);
  }
  if (shown < report.classes.size()) {
    text += fmt::format("  and {} more, in summary.json\n", report.classes.size() - shown);
  }
  if (report.mistakes.empty()) return text;
  const auto room = static_cast<size_t>(std::max(40, width));
  text += "\n" + (report.classes.size() <= most_classes ? matrix(report, room) : pairs(report));
  text += "\n  surest mistakes\n";
  for (const LabelledItem& item : report.mistakes) {
    const std::string labels = fmt::format("  {:.2f}  {} (truth: {})  ", item.probability,
                                           cut(item.output, 20), cut(item.truth, 20));
    const size_t used = code_points(labels).size();
    text += labels + cut(item.text, room > used + 12 ? room - used - 2 : 10) + "\n";
  }
  return text;
}

nlohmann::json to_json(const ClassReport& report) {
  nlohmann::json json{{"classes", nlohmann::json::array()},
                      {"confusion", report.confusion},
                      {"mistakes", nlohmann::json::array()}};
  for (const auto& one : report.classes) {
    json["classes"].push_back({{"label", one.label},
                               {"precision", one.precision()},
                               {"recall", one.recall()},
                               {"f1", one.f1()},
                               {"examples", one.count}});
  }
  for (const LabelledItem& item : report.mistakes) {
    json["mistakes"].push_back({{"truth", item.truth},
                                {"answer", item.output},
                                {"probability", item.probability},
                                {"text", item.text}});
  }
  return json;
}

}  // namespace fovea
