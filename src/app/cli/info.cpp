// fovea info DIR: what is in a model's folder.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/help.h"
#include "fovea/app/cli/model_folder.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/json_text.h"
#include "fovea/tensor/safetensors.h"

namespace fovea::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json file_of(const std::string& path) {
  std::ifstream file(path);
  Json json = file.good() ? Json::parse(file, nullptr, false) : Json();
  return json.is_discarded() ? Json() : json;
}

int64_t parameters_in(const std::string& path) {
  if (!fs::exists(path)) return 0;
  int64_t count = 0;
  const auto file = Safetensors::open(path);
  for (const auto& entry : file.entries()) {
    int64_t elements = 1;
    for (const int64_t n : entry.shape) elements *= n;
    count += elements;
  }
  return count;
}

int64_t size_of(const std::string& folder) {
  int64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<int64_t>(entry.file_size());
  }
  return bytes;
}

Json info_of(const std::string& folder) {
  const Config config = load_config(folder);
  const Task& task = find_task(config.task);
  Json json{{"folder", folder}, {"task", config.task}, {"model", config.model}};
  json["data"] = config.data;
  if (const Json data = file_of(folder + "/data.json"); data.is_object()) {
    json["learned_from"] = data;
  }
  for (const char* name : {"tokens", "source", "words"}) {
    const Json tokens = file_of(folder + "/" + name + ".json");
    if (tokens.is_object() && tokens.contains("kind")) {
      json["tokens"] = {{"kind", tokens["kind"]}};
      if (tokens.contains("vocabulary")) {
        json["tokens"]["different"] = tokens["vocabulary"].size() + 4;
      }
      break;
    }
  }
  json["options"] = Json::object();
  Settings chosen;  // what decides what the others are
  for (const char* key : {"model", "data", "score", "align", "query", "optimizer", "schedule"}) {
    if (config.settings.has(key)) chosen.set(key, config.settings.get(key));
  }
  for (const OptionGroup& group : options_of(task, chosen)) {
    for (const FieldInfo& field : group.fields) {
      const std::string text = config.settings.get(field.name, field.fallback);
      if (text != field.fallback && !text.empty() && field.name != "data" &&
          field.name != "model") {
        json["options"][field.name] = text;
      }
    }
  }
  for (const char* key : {"score", "align", "query", "optimizer", "schedule"}) {
    Settings plain;
    plain.set("model", config.model);
    for (const OptionGroup& group : options_of(task, plain)) {
      for (const FieldInfo& field : group.fields) {
        if (field.name == key && config.settings.get(key, field.fallback) != field.fallback) {
          json["options"][key] = config.settings.get(key);
        }
      }
    }
  }
  const Json summary = file_of(folder + "/summary.json");
  if (summary.is_object()) {
    for (const char* key :
         {"test", "validation", "stopped", "steps", "epochs", "best_step", "seconds", "ended"}) {
      if (summary.contains(key)) json[key] = summary[key];
    }
  } else {
    json["stopped"] = nullptr;  // it is under way, or was killed
  }
  json["parameters"] = parameters_in(folder + "/model.safetensors");
  json["bytes"] = size_of(folder);
  return json;
}

void line(const std::string& name, const std::string& text) {
  if (!text.empty()) fmt::print("{}", beside(name, text, 16));
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

std::string pairs_of(const Json& object, size_t most = 12) {
  std::string text;
  size_t shown = 0;
  for (const auto& [key, value] : object.items()) {
    if (shown++ == most) return text + fmt::format(", and {} more", object.size() - most);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, text_of(value));
  }
  return text;
}

void print(const Json& json) {
  fmt::print("{}\n\n", json["folder"].get<std::string>());
  line("task", json["task"]);
  line("model", fmt::format("{}, {} parameters", json["model"].get<std::string>(),
                            with_commas(json["parameters"].get<int64_t>())));
  line("learned from", json["data"]);
  if (json.contains("learned_from")) {
    const Json& data = json["learned_from"];
    const auto count = [&](const char* part) { return with_commas(data.value(part, int64_t{0})); };
    line("",
         fmt::format("{} {} to learn from, {} to validate on, {} to test on", count("train"),
                     text_of(data.value("unit", Json("examples"))), count("dev"), count("test")));
    line("", text_of(data.value("split", Json(""))));
    for (const Json& file : data.value("files", Json::array())) line("", text_of(file));
    if (data.contains("labels")) line("labels", pairs_of(data["labels"]));
  }
  if (json.contains("tokens")) {
    std::string text = json["tokens"]["kind"];
    if (json["tokens"].contains("different")) {
      text += fmt::format(", {} different ones",
                          with_commas(json["tokens"]["different"].get<int64_t>()));
    }
    line("tokens", text);
  }
  line("options", json["options"].empty() ? "as the task has them" : "");
  std::string said;
  for (const auto& [name, value] : json["options"].items()) {
    said += (said.empty() ? "" : " ") + setting_words(name, value);
  }
  line("options", said);
  if (json.contains("test")) {
    for (const auto& [name, value] : json["test"].items()) {
      line("on test", fmt::format("{} {:.4g}", words_of(name), value.get<double>()));
    }
  }
  if (json["stopped"].is_null()) {
    line("training", "not finished");
  } else {
    line("training",
         fmt::format("{} steps in {}, stopped by {}, best at step {}{}",
                     with_commas(json["steps"].get<int64_t>()),
                     clock_text(json["seconds"].get<double>()), text_of(json["stopped"]),
                     with_commas(json["best_step"].get<int64_t>()),
                     json.contains("ended") ? ", ended " + text_of(json["ended"]) : ""));
  }
  line("size", fmt::format("{:.1f} MB", static_cast<double>(json["bytes"].get<int64_t>()) / 1e6));
}

}  // namespace

void add_info(CLI::App& app) {
  struct InfoWords {
    std::string folder;
    bool json = false;
  };
  auto* verb = app.add_subcommand("info", "Say what a model's folder holds");
  auto words = std::make_shared<InfoWords>();
  verb->add_option("dir", words->folder, "Folder of the model")->required();
  verb->add_flag("--json", words->json, "Print it as JSON");
  verb->callback([words] {
    const Json json = info_of(model_folder(words->folder));
    if (words->json) {
      fmt::print("{}\n", json_text(json, 2));
    } else {
      print(json);
    }
  });
}

}  // namespace fovea::cli
