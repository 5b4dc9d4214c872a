#include "fovea/task/data_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// What two ways to write one label have in common.
std::string plain(const std::string& label) {
  std::string text = to_lowercase(label);
  std::erase_if(text, [](char c) { return c == ' ' || c == '_' || c == '-' || c == '\t'; });
  return text;
}

constexpr size_t most_shown = 12;

}  // namespace

void count_labels(DataReport& report, const std::map<std::string, int64_t>& counts) {
  report.labels.assign(counts.begin(), counts.end());
  std::ranges::stable_sort(report.labels, std::ranges::greater(),
                           &std::pair<std::string, int64_t>::second);
  std::map<std::string, std::vector<std::string>> alike;
  for (const auto& [label, count] : counts) alike[plain(label)].push_back(label);
  for (auto& [name, labels] : alike) {
    // Signs alone (: and - of parts of speech) are no words that one writes in two ways.
    if (labels.size() > 1 && !name.empty()) report.twins.push_back(std::move(labels));
  }
}

void take_lengths(DataReport& report, std::vector<int64_t> lengths) {
  if (lengths.empty()) return;
  std::ranges::sort(lengths);
  report.shortest = lengths.front();
  report.median = lengths[lengths.size() / 2];
  report.longest = lengths.back();
}

std::vector<std::string> lines_of(const DataReport& report) {
  std::vector<std::string> lines;
  if (!report.labels.empty()) {
    std::string text = fmt::format("{} labels:", report.labels.size());
    for (size_t i = 0; i < std::min(most_shown, report.labels.size()); ++i) {
      text += fmt::format("{} {} {}", i == 0 ? "" : ",", report.labels[i].first,
                          report.labels[i].second);
    }
    if (report.labels.size() > most_shown) {
      text += fmt::format(", and {} more", report.labels.size() - most_shown);
    }
    lines.push_back(std::move(text));
  }
  for (const auto& twins : report.twins) {
    std::string text;
    for (const std::string& label : twins) text += (text.empty() ? "'" : ", '") + label + "'";
    lines.push_back(fmt::format(
        "labels that differ in case or spaces alone: {}; they are learned as different ones",
        text));
  }
  std::string text;
  if (report.longest > 0) {
    text = fmt::format("lengths: {} to {} tokens, half of them up to {}", report.shortest,
                       report.longest, report.median);
  }
  if (report.unknown >= 0) {
    text += fmt::format("{}{:.1f} % of the tokens to validate on are unknown",
                        text.empty() ? "" : "; ", 100 * report.unknown);
  }
  if (!text.empty()) lines.push_back(std::move(text));
  return lines;
}

nlohmann::json to_json(const DataReport& report) {
  nlohmann::json json{{"unit", report.unit}, {"train", report.train}, {"dev", report.dev},
                      {"test", report.test}, {"split", report.split}, {"files", report.files}};
  if (!report.labels.empty()) {
    json["labels"] = nlohmann::json::object();
    for (const auto& [label, count] : report.labels) json["labels"][label] = count;
  }
  if (!report.twins.empty()) json["twins"] = report.twins;
  if (report.longest > 0) {
    json["lengths"] = {
        {"shortest", report.shortest}, {"median", report.median}, {"longest", report.longest}};
  }
  if (report.vocabulary > 0) json["vocabulary"] = report.vocabulary;
  if (report.unknown >= 0) json["unknown"] = report.unknown;
  return json;
}

}  // namespace fovea
