// fovea attend DIR TEXT: what the model looks at when it answers.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/model_folder.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/base/names.h"
#include "fovea/report/heat_map_json.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

struct AttendWords {
  std::optional<ConfigWords> answers;
  std::string folder, text, map;
  std::vector<std::string> out;
  bool json = false, colour = false;
};

std::string picture(const Drawing& drawing, const std::string& path) {
  const auto dot = path.rfind('.');
  const std::string kind = dot == std::string::npos ? "" : path.substr(dot);
  if (kind == ".svg") return draw_svg(drawing);
  if (kind == ".png") return draw_png(drawing);
  if (kind == ".html") return draw_html(drawing);
  if (kind == ".json") return json_text(to_json(drawing), 2) + "\n";
  throw UsageError(
      say("attend: draws .svg, .png, .html or .json, not '", path, "'; give --out such a name"));
}

// The maps whose name begins so.
void choose(Drawing& drawing, const std::string& map) {
  if (map.empty()) return;
  std::vector<std::string> names;
  for (const AttentionMap& one : drawing.maps) names.push_back(one.name);
  std::erase_if(drawing.maps, [&](const AttentionMap& one) { return !one.name.starts_with(map); });
  if (drawing.maps.empty()) throw UsageError(unknown_name("map", map, names));
}

void attend(const AttendWords& words) {
  auto solver = solver_of(model_folder(words.folder), *words.answers);
  Drawing drawing = solver->attend(words.text);
  check(!drawing.maps.empty(), words.folder, ": this model has no attention to show");
  choose(drawing, words.map);
  if (words.json) {
    fmt::print("{}\n", json_text(to_json(drawing)));
    return;
  }
  for (const std::string& path : words.out) {
    const std::string bytes = picture(drawing, path);
    write_file_atomically(path, std::as_bytes(std::span(bytes)));
    fmt::print(stderr, "wrote {}\n", path);
  }
  if (!words.out.empty()) return;
  fmt::print("{}\n", drawing.title);
  const TerminalOptions options{.width = terminal_width(),
                                .colour = words.colour || wants_colour()};
  for (const AttentionMap& map : drawing.maps) fmt::print("\n{}", draw_terminal(map, options));
}

}  // namespace

void add_attend(CLI::App& app) {
  auto* verb = app.add_subcommand("attend", "Show what a model looks at");
  auto words = std::make_shared<AttendWords>();
  verb->add_option("dir", words->folder, "Folder of the model")->required();
  verb->add_option("text", words->text, "The input to look at")->required();
  verb->add_option("--out", words->out, "Draw to a file: .svg, .png, .html or .json");
  verb->add_option("--map", words->map, "Only maps whose name begins so");
  verb->add_flag("--colour,--color", words->colour, "Colours even where stdout is no terminal");
  verb->add_flag("--json", words->json, "Print the maps as JSON");
  words->answers = ConfigWords::of_answers(*verb);
  verb->callback([words] { attend(*words); });
}

}  // namespace fovea::cli
