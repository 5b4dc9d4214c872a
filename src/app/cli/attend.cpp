// fovea attend DIR TEXT: what the model looks at when it answers.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "fovea/app/cli/attend_over.h"
#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/model_folder.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/base/names.h"
#include "fovea/report/arrays.h"
#include "fovea/report/heat_map_json.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

struct AttendWords {
  std::optional<ConfigWords> answers;
  std::string folder, text;
  OverWords over;  // and what looking at one text and at many have in common
  bool colour = false;
};

void write_drawing(const Drawing& drawing, const std::string& path) {
  const auto dot = path.rfind('.');
  const std::string kind = dot == std::string::npos ? "" : path.substr(dot);
  if (kind == ".npz") return save_npz(path, drawing);
  if (kind == ".safetensors") return save_maps(path, drawing);
  std::string bytes;
  if (kind == ".svg") {
    bytes = draw_svg(drawing);
  } else if (kind == ".png") {
    std::string lacking;
    bytes = draw_png(drawing, &lacking);
    if (!lacking.empty()) fmt::print(stderr, "{}: {}\n", path, lacking);
  } else if (kind == ".html") {
    bytes = draw_html(drawing);
  } else if (kind == ".json") {
    bytes = json_text(to_json(drawing), 2) + "\n";
  } else {
    throw UsageError(say("attend: writes .svg, .png, .html, .json, .npz or .safetensors, not '",
                         path, "'; give --out such a name"));
  }
  write_file_atomically(path, std::as_bytes(std::span(bytes)));
}

void attend(const AttendWords& words) {
  if (words.text.empty() == words.over.part.empty()) {
    throw UsageError("attend: needs a text to look at, or --over a file of many");
  }
  auto solver = solver_of(model_folder(words.folder), *words.answers);
  if (!words.over.part.empty()) return attend_over(*solver, words.folder, words.over);
  if (!words.over.alignment.empty()) {
    throw UsageError("attend: --alignment is of many examples; give --over too");
  }
  Drawing drawing = solver->attend(words.text);
  check(!drawing.maps.empty(), words.folder, ": this model has no attention to show");
  choose_maps(drawing, words.over.map);
  if (words.over.json) {
    fmt::print("{}\n", json_text(to_json(drawing)));
    return;
  }
  for (const std::string& path : words.over.out) {
    write_drawing(drawing, path);
    fmt::print(stderr, "wrote {}\n", path);
  }
  if (!words.over.out.empty()) return;
  fmt::print("{}\n", drawing.title);
  const TerminalOptions options{.width = terminal_width(),
                                .colour = words.colour || wants_colour()};
  for (const AttentionMap& map : drawing.maps) fmt::print("\n{}", draw_terminal(map, options));
}

}  // namespace

void choose_maps(Drawing& drawing, const std::string& map) {
  if (map.empty()) return;
  std::vector<std::string> names;
  for (const AttentionMap& one : drawing.maps) names.push_back(one.name);
  std::erase_if(drawing.maps, [&](const AttentionMap& one) { return !one.name.starts_with(map); });
  if (drawing.maps.empty()) throw UsageError(unknown_name("map", map, names));
}

void add_attend(CLI::App& app) {
  auto* verb = app.add_subcommand("attend", "Show what a model looks at");
  auto words = std::make_shared<AttendWords>();
  verb->add_option("dir", words->folder, "Folder of the model")->required();
  verb->add_option("text", words->text, "The input to look at");
  verb->add_option("--over", words->over.part,
                   "What each head does over many: test, dev, or a file of the task's format");
  verb->add_option("--alignment", words->over.alignment,
                   "With --over: links to agree with, a line each, as '0-0 1-2' (key-query)");
  verb->add_option("--out", words->over.out,
                   "Write a file: .svg, .png, .html, .json, .npz or .safetensors");
  verb->add_option("--map", words->over.map, "Only maps whose name begins so");
  verb->add_flag("--colour,--color", words->colour, "Colours even where stdout is no terminal");
  verb->add_flag("--json", words->over.json, "Print the maps as JSON");
  words->answers = ConfigWords::of_answers(*verb);
  words->answers->add_reading(*verb);
  verb->callback([words] { attend(*words); });
}

}  // namespace fovea::cli
