#include "fovea/app/cli/attend_over.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/base/names.h"
#include "fovea/data/text_file.h"
#include "fovea/report/page.h"
#include "fovea/task/survey.h"

namespace fovea::cli {
namespace {

using nlohmann::ordered_json;

struct Column {
  std::string title;
  std::optional<double> (*of)(const HeadSurvey&);
  int digits;
  size_t width() const { return std::max<size_t>(6, title.size() + 1); }
};

const std::vector<Column>& columns() {
  using H = HeadSurvey;
  using Value = std::optional<double>;
  static const std::vector<Column> all{
      {"entropy", [](const H& h) -> Value { return h.entropy; }, 2},
      {"keys", [](const H& h) -> Value { return h.keys; }, 1},
      {"distance", [](const H& h) { return h.distance; }, 1},
      {"first", [](const H& h) -> Value { return h.first; }, 2},
      {"before", [](const H& h) { return h.before; }, 2},
      {"same", [](const H& h) { return h.same; }, 2},
      {"next", [](const H& h) { return h.after; }, 2},
      {"special", [](const H& h) -> Value { return h.special; }, 2},
      {"agrees", [](const H& h) { return h.agreement; }, 2},
      {"heaviest", [](const H& h) { return h.heaviest_agrees; }, 2},
  };
  return all;
}

void print_columns(const std::vector<HeadSurvey>& heads, size_t width,
                   std::span<const Column* const> shown) {
  fmt::print("{:<{}}", "attention", width);
  for (const Column* c : shown) fmt::print("{:>{}}", c->title, c->width());
  fmt::print("\n");
  for (const HeadSurvey& h : heads) {
    if (std::ranges::none_of(shown, [&](const Column* c) { return c->of(h).has_value(); }))
      continue;
    fmt::print("{:<{}}", h.name, width);
    for (const Column* c : shown) {
      const auto value = c->of(h);
      const int digits = value && *value >= 100 ? 0 : c->digits;
      const std::string text = value ? fmt::format("{:.{}f}", *value, digits) : "-";
      fmt::print("{:>{}}", text, c->width());
    }
    fmt::print("\n");
  }
}

void print_table(const std::vector<HeadSurvey>& heads) {
  size_t width = 9;
  for (const HeadSurvey& h : heads) width = std::max(width, h.name.size());
  std::vector<const Column*> shown;
  for (const Column& c : columns()) {
    if (std::ranges::any_of(heads, [&](const HeadSurvey& h) { return c.of(h).has_value(); })) {
      shown.push_back(&c);
    }
  }
  // Columns that the terminal has no room for come below, beside the names again.
  const auto room = static_cast<size_t>(terminal_width());
  for (size_t first = 0, last = 0; first < shown.size(); first = last) {
    size_t used = width + shown[last++]->width();
    while (last < shown.size() && used + shown[last]->width() <= room) {
      used += shown[last++]->width();
    }
    if (first > 0) fmt::print("\n");
    print_columns(heads, width, std::span(shown).subspan(first, last - first));
  }
}

ordered_json json_of(const HeadSurvey& h) {
  ordered_json json{{"name", h.name},       {"examples", h.examples}, {"queries", h.queries},
                    {"entropy", h.entropy}, {"keys", h.keys},         {"first", h.first},
                    {"special", h.special}};
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  add("distance", h.distance);
  add("before", h.before);
  add("same", h.same);
  add("after", h.after);
  add("agreement", h.agreement);
  add("heaviest_agrees", h.heaviest_agrees);
  return json;
}

std::vector<WordLinks> read_alignments(const std::string& path, size_t examples) {
  std::vector<WordLinks> all;
  int64_t number = 0;
  for (const std::string& line : read_lines(path)) {
    all.push_back(parse_links(line, say(path, ":", ++number)));
  }
  check(all.size() == examples, path, ": needs a line for each example: ", examples, ", got ",
        all.size());
  return all;
}

}  // namespace

void attend_over(Solver& solver, const std::string& folder, const OverWords& words) {
  for (const std::string& path : words.out) {
    if (!path.ends_with(".json") && !path.ends_with(".html")) {
      throw UsageError(
          say("attend: what was seen over many examples is written as .json or .html, "
              "not '",
              path, "'; give --out such a name"));
    }
  }
  const std::vector<std::string> lines = solver.lines_of(words.part);
  std::vector<WordLinks> links;
  if (!words.alignment.empty()) links = read_alignments(words.alignment, lines.size());
  Survey survey;
  int64_t seen = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find_first_not_of(" \t\r\n") == std::string::npos) continue;
    Drawing drawing = solver.attend(lines[i]);
    check(!drawing.maps.empty(), folder, ": this model has no attention to show");
    choose_maps(drawing, words.map);
    survey.add(drawing, links.empty() ? nullptr : &links[i]);
    ++seen;
  }
  check(seen > 0, words.part, ": has no example to look at");
  const std::vector<HeadSurvey> heads = survey.heads();
  const std::string title = say(folder, " over ", with_commas(seen),
                                seen == 1 ? " example of " : " examples of ", words.part);
  ordered_json json{{"title", title}, {"examples", seen}, {"heads", ordered_json::array()}};
  for (const HeadSurvey& h : heads) json["heads"].push_back(json_of(h));
  if (words.json) {
    fmt::print("{}\n", json_text(json));
    return;
  }
  for (const std::string& path : words.out) {
    const std::string bytes = path.ends_with(".json")
                                  ? json_text(json, 2) + "\n"
                                  : build_page({.html = "survey.html",
                                                .title = title,
                                                .styles = {"base.css"},
                                                .scripts = {"base.js", "survey.js"},
                                                .data = json});
    write_file_atomically(path, std::as_bytes(std::span(bytes)));
    fmt::print(stderr, "wrote {}\n", path);
  }
  if (!words.out.empty()) return;
  fmt::print("{}\n\n", title);
  print_table(heads);
}

}  // namespace fovea::cli
