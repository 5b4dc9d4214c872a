#include "fovea/task/config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/attention/catalog.h"
#include "fovea/base/utf8.h"
#include "fovea/data/vectors.h"
#include "fovea/model/table.h"
#include "fovea/model/word_embedding.h"
#include "fovea/task/solver.h"

namespace fovea {

const Fields<DataOptions>& data_fields() {
  using O = DataOptions;
  static const Fields<O> fields{
      {"data", &O::data, "a file, - (stdin), two parallel files a,b or builtin:NAME"},
      {"dev", &O::dev, "file to validate on; else a part of the data"},
      {"test", &O::test, "file that eval measures on; else a part of the data"},
      {"dev_part", &O::dev_part, "part of the data to validate on, without dev", above(0, 0.9)},
      {"test_part", &O::test_part, "part of the data to test on, without test", above(0, 0.9)},
      {"examples", &O::examples, "built-in data: how many examples; 0: what suits it",
       whole_from(0, 1e8)},
      {"tokens", &O::tokens,
       "auto (words; spaces where text is tokenised), words, spaces, chars, bytes, bpe:N, "
       "unigram:N"},
      {"target_tokens", &O::target_tokens, "tokens of the target, if not the same"},
      {"lowercase", &O::lowercase, "lower-case all text"},
      {"min_count", &O::min_count, "tokens that come less often are unknown", whole_from(1, 1e12)},
      {"vocabulary", &O::vocabulary, "most tokens; 0: all", whole_from(0, 1e9)},
      {"longest", &O::longest,
       "longer examples (in tokens) are left out; classify, pair, regress, ask: cut; read: in "
       "windows",
       whole_from(1, 1e9)},
      {"columns", &O::columns, "which columns are meant, by name or number: label=5,text=review"},
      {"format", &O::format, "of files, where content does not tell",
       one_of({known_formats().begin(), known_formats().end()})},
      {"header", &O::header, "whether the first row names the columns",
       one_of({known_headers().begin(), known_headers().end()})},
      {"encoding", &O::encoding, "of files, where content does not tell",
       one_of({"auto", "utf-8", "utf-16le", "utf-16be", "windows-1252", "latin1"})},
      {"skip_bad", &O::skip_bad, "count rows that cannot be read and leave them out"},
      {"context", &O::context, "tokens of a window of text", whole_from(2, 1e7)},
      {"tasks", &O::tasks, "only these, as 1,4-10; else all"},
      {"hashed", &O::hashed, "vectors that are not learned, for unknown words; 0: one for all",
       whole_from(0, 1e7)},
      {"lengths", &O::lengths, "lengths to train on, as 1-20 or 8,16"},
      {"test_lengths", &O::test_lengths, "lengths to measure, as 20,40,80"},
      {"side", &O::side, "built-in pictures: pixels of a side", whole_from(16, 512)},
      {"letters_of_text", &O::letters_of_text, "built-in documents: letters of each",
       whole_from(32, 1e6)},
      {"bits", &O::bits, "bits of a vector", whole_from(1, 1024)},
      {"symbols", &O::symbols, "symbols that there are", whole_from(2, 65536)},
      {"repeats", &O::repeats, "repeat-copy: most repeats", whole_from(1, 999)},
      {"curriculum", &O::curriculum, "epochs in which lengths grow, shortest first; 0: none",
       whole_from(0, 1e9)},
      {"directed", &O::directed, "graph: along an edge only the second node looks at the first"},
      {"neighbours", &O::neighbours,
       "graph: look at so many drawn neighbours a layer, as 10,10; else at all"},
      {"size", &O::size,
       "of pictures, as 32 or 32x48 (height first); auto: the first's, no side above 64"},
      {"colour", &O::colour, "of pictures; auto: rgb where any has colours",
       one_of({"auto", "grey", "rgb"})},
      {"shift_by", &O::shift_by, "while training: pictures are moved by up to so many pixels",
       whole_from(0, 4096)},
      {"flip", &O::flip, "while training: left and right change places every other time"},
      {"crop", &O::crop, "while training: the least part of each side that is seen", above(0, 1)},
      {"canvas", &O::canvas, "pictures are laid somewhere on a black square of this side; 0: not",
       whole_from(0, 4096)},
      {"clutter", &O::clutter, "on a canvas: pieces of other things", whole_from(0, 1000)},
      {"bleu", &O::bleu, "words that BLEU counts; none: already spaced", one_of({"13a", "none"})},
  };
  return fields;
}

ReadOptions read_options(const DataOptions& o) {
  ReadOptions options;
  options.columns = o.columns;
  options.format = o.format;
  options.header = o.header;
  options.encoding = o.encoding;
  options.skip_bad = o.skip_bad;
  options.learned = o.learned;
  return options;
}

const std::vector<std::string>& reading_options() {
  static const std::vector<std::string> names{"columns", "format", "header", "encoding",
                                              "skip_bad"};
  return names;
}

const Fields<AnswerOptions>& answer_fields() {
  using O = AnswerOptions;
  static const Fields<O> fields{
      {"beam", &O::beam, "answers followed at once; 1 is greedy", whole_from(1, 1000)},
      {"length_penalty", &O::length_penalty, "favours longer answers", between(-100, 100)},
      {"length", &O::length, "tokens that continue a prompt", whole_from(1, 1e6)},
      {"temperature", &O::temperature, "below 1 bolder, 0 always the likeliest", between(0, 1e6)},
      {"top_k", &O::top_k, "draw from so many likeliest tokens; 0: all", whole_from(0, 1e9)},
      {"top_p", &O::top_p, "draw from the likeliest tokens of this share", above(0, 1)},
      {"longest_answer", &O::longest_answer, "most tokens of an answer", whole_from(1, 1e6)},
      {"no_answer", &O::no_answer, "added to the score of there being no answer",
       between(-1e6, 1e6)},
      {"passage", &O::passage, "a file of text that every line asks about"},
  };
  return fields;
}

namespace {

std::vector<FieldInfo> chosen(std::vector<FieldInfo> all, const std::vector<std::string>& names) {
  std::erase_if(
      all, [&](const FieldInfo& f) { return std::ranges::find(names, f.name) == names.end(); });
  return all;
}

bool has_model(const std::string& name, Takes takes, Gives gives) {
  return std::ranges::any_of(models_for(takes, gives),
                             [&](const ModelEntry* entry) { return entry->name == name; });
}

}  // namespace

namespace {

// The built-in data that was asked for; without a name if none was.
Builtin builtin_of(const Task& task, const Settings& said) {
  constexpr std::string_view builtin = "builtin:";
  const std::string data = said.get("data");
  if (!data.starts_with(builtin)) return {};
  return find_builtin(task, data.substr(builtin.size()));
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

TaskVariant first_variant(const Task& task) {
  TaskVariant variant;
  variant.takes = task.takes, variant.gives = task.gives;
  variant.roles = task.roles, variant.question = task.question;
  variant.data_options = task.data_options;
  variant.defaults = task.defaults, variant.budget = task.budget;
  return variant;
}

// Of a task of two kinds, the options of data that only the second reads.
std::vector<std::string> options_of_second(const Task& task) {
  std::vector<std::string> own = task.also->data_options;
  std::erase_if(own, [&](const std::string& name) {
    return std::ranges::find(task.data_options, name) != task.data_options.end();
  });
  return own;
}

bool is_of_both(const Task& task, const std::string& model) {
  return has_model(model, task.takes, task.gives) &&
         has_model(model, task.also->takes, task.also->gives);
}

}  // namespace

TaskVariant variant_of(const Task& task, const Settings& said) {
  if (!task.also) return first_variant(task);
  const TaskVariant& second = *task.also;
  const std::string model = said.get("model", builtin_of(task, said).settings.get("model"));
  const bool first = model.empty() || has_model(model, task.takes, task.gives),
             other = model.empty() || has_model(model, second.takes, second.gives);
  bool named = says_role(said.get("columns"), second.column);
  // A run's folder has every option of its kind, and so tells whose `mean` it is.
  if (!model.empty() && first && other) {
    for (const std::string& name : options_of_second(task)) named |= said.has(name);
  }
  return (first == other ? named : other) ? second : first_variant(task);
}

Settings with_inferred(const Task& task, Settings said) {
  const std::string data = said.get("data");
  const bool told =
      said.has("columns") || data.empty() || data == "-" || data.starts_with("builtin:");
  if (!task.also || told) return said;
  const bool of_both = is_of_both(task, said.get("model"));
  if (said.has("model") && !of_both) return said;
  ReadOptions options;
  options.format = said.get("format", "auto");
  options.header = said.get("header", "auto");
  options.encoding = said.get("encoding", "auto");
  if (!task.also->is_in(data, options)) return said;
  if (!said.has("model")) {
    said.set("model", models_for(task.also->takes, task.also->gives)[0]->name);
  }
  // The model's name does not say it then, but an option that only the second kind reads does.
  for (const std::string& name : options_of_second(task)) {
    const std::string* usual = task.also->defaults.find(name);
    if (of_both && usual && !said.has(name)) said.set(name, *usual);
  }
  return said;
}

namespace {

std::string model_name(const Task& task, const Settings& said) {
  const TaskVariant variant = variant_of(task, said);
  if (said.has("model")) return said.get("model");
  if (const Settings suits = builtin_of(task, said).settings; suits.has("model")) {
    return suits.get("model");
  }
  return variant.defaults.get("model", models_for(variant.takes, variant.gives)[0]->name);
}

// What is in force unless more is said: defaults of the task, the model and the built-in data.
Settings suggested(const Task& task, const Settings& said) {
  const TaskVariant variant = variant_of(task, said);
  Settings all = variant.defaults;
  const std::string model = model_name(task, said);
  all.set(find_model(model, variant.takes, variant.gives).defaults);
  all.set(builtin_of(task, said).settings);
  all.set("model", model);
  const auto vectors = vector_files(said.get("vectors"));
  if (!vectors.empty() && !said.has("vector_widths")) {
    int64_t widest = 0;
    std::string widths;
    for (const std::string& path : vectors) {
      const int64_t width = vectors_width(path);
      widths += (widths.empty() ? "" : ",") + text_of(width);
      widest = std::max(widest, width);
    }
    all.set("vector_widths", widths);
    if (!said.has("embed")) all.set("embed", text_of(widest));
  }
  return all;
}

bool says_budget(const Settings& s) { return s.has("time") || s.has("steps") || s.has("epochs"); }

Config typed(const Task& task, Settings settings) {
  Config config;
  static_cast<DataOptions&>(config) = data_fields().read(settings);
  static_cast<TrainOptions&>(config) =
      training_fields().read(settings, budget_fields().read(settings));
  static_cast<AnswerOptions&>(config) = answer_fields().read(settings);
  config.task = task.name;
  config.model = settings.get("model");
  seconds_of(config.time);
  config.settings = std::move(settings);
  return config;
}

const FieldInfo* find_option(const std::vector<OptionGroup>& groups, std::string_view name) {
  for (const OptionGroup& group : groups) {
    for (const FieldInfo& field : group.fields) {
      if (field.name == name) return &field;
    }
  }
  return nullptr;
}

[[noreturn]] void refuse(const std::vector<OptionGroup>& groups, const Task& task,
                         const std::string& model, const Builtin& data, const std::string& name) {
  std::vector<std::string> all;
  std::string shown;
  for (const OptionGroup& group : groups) {
    for (const FieldInfo& field : group.fields) {
      all.push_back(field.name);
      if (group.title == "Model" || group.title == "Attention") {
        shown += (shown.empty() ? "" : ", ") + field.name;
      }
    }
  }
  if (!option_exists(name)) fail(unknown_name("option", name, all));
  check(!has(data.unread, name), "option '", name, "' means nothing for builtin:", data.name);
  const std::string near = nearest_name(name, all);
  fail("option '", name, "' is not read by the model ", model, " of ", task.name,
       near.empty() ? "" : say("; did you mean '", near, "'?"),
       near.empty() ? "; it reads: " : " It reads: ", shown, ", and options of data and training");
}

}  // namespace

std::vector<OptionGroup> options_of(const Task& task, const Settings& said) {
  Settings now = suggested(task, said);
  now.set(said);
  const TaskVariant variant = variant_of(task, said);
  const ModelEntry& entry = find_model(now.get("model"), variant.takes, variant.gives);
  std::vector<FieldInfo> model{{.name = "model",
                                .help = "kind of model (fovea list)",
                                .kind = FieldInfo::Kind::text,
                                .range = {},
                                .fallback = entry.name}};
  std::vector<FieldInfo> attention;
  std::vector<std::pair<Takes, Gives>> kinds{{task.takes, task.gives}};
  if (task.also) kinds.emplace_back(task.also->takes, task.also->gives);
  for (const auto& [takes, gives] : kinds) {
    for (const ModelEntry* fit : models_for(takes, gives)) {
      auto& choices = model[0].range.choices;
      if (std::ranges::find(choices, fit->name) == choices.end()) choices.push_back(fit->name);
    }
  }
  for (FieldInfo& field : entry.options(now)) {
    (attention_fields().has(field.name) && field.name != "heads" ? attention : model)
        .push_back(std::move(field));
  }
  std::vector<OptionGroup> groups{
      {"Data", chosen(data_fields().infos(), variant.data_options)},
      {"Model", std::move(model)},
      {"Attention", std::move(attention)},
      {"Budget", budget_fields().infos()},
      {"Training", training_options(now, TrainOptions())},
      {"Answers", chosen(answer_fields().infos(), task.answer_options)}};
  Settings fallback = suggested(task, said);
  if (!says_budget(said) && !says_budget(fallback)) fallback.set(variant.budget);
  for (OptionGroup& group : groups) {
    for (FieldInfo& field : group.fields) {
      if (const std::string* text = fallback.find(field.name)) field.fallback = *text;
    }
  }
  const Builtin data = builtin_of(task, said);
  for (OptionGroup& group : groups) {
    std::erase_if(group.fields, [&](const FieldInfo& field) {
      return has(data.unread, field.name) || has(entry.unread, field.name);
    });
  }
  std::erase_if(groups, [](const OptionGroup& group) { return group.fields.empty(); });
  return groups;
}

namespace {

// `stored`: by an earlier run, whose defaults may be what nobody can say.
Config checked_config(const Task& task, const Settings& said, bool stored) {
  for (const auto& [name, text] : said) {  // a run's folder keeps them as JSON
    check(first_not_utf8(text) < 0, "option '", name,
          "' has a byte that is not UTF-8; rename the file, or write the text so");
  }
  const std::vector<OptionGroup> groups = options_of(task, said);
  for (const auto& [name, text] : said) {
    const FieldInfo* field = find_option(groups, name);
    if (!field) refuse(groups, task, model_name(task, said), builtin_of(task, said), name);
    if (!stored || text != field->fallback) field->check_text(text);
  }
  Settings settings;
  for (const OptionGroup& group : groups) {
    for (const FieldInfo& field : group.fields) {
      settings.set(field.name, said.get(field.name, field.fallback));
    }
  }
  return typed(task, std::move(settings));
}

}  // namespace

Settings read_by_choice(const Task& task, const Settings& for_all, const Settings& choice) {
  Settings all = for_all;
  all.set(choice);
  all = with_inferred(task, std::move(all));
  const auto groups = options_of(task, all);
  Settings read;
  for (const auto& [name, text] : all) {
    if (find_option(groups, name) || choice.has(name) || !option_exists(name)) read.set(name, text);
  }
  make_config(task, read);
  return read;
}

bool option_exists(std::string_view name) {
  bool exists = attention_fields().has(name) || data_fields().has(name) ||
                training_fields().has(name) || budget_fields().has(name) ||
                answer_fields().has(name) || name == "model";
  for (const ModelEntry& entry : models()) {
    for (const FieldInfo& field : entry.options({})) exists |= field.name == name;
  }
  return exists;
}

Config make_config(const Task& task, const Settings& said) {
  return checked_config(task, said, false);
}

Config changed(const Config& config, const Settings& said) {
  const Task& task = find_task(config.task);
  Settings all = config.settings;
  all.set(said);
  const auto groups = options_of(task, all);
  for (const auto& [name, text] : said) {
    if (const FieldInfo* field = find_option(groups, name)) field->check_text(text);
  }
  Config result = checked_config(task, all, true);
  result.learned = config.learned;
  return result;
}

const std::vector<std::string>& resumable_options() {
  static const std::vector<std::string> names{"time", "steps",      "epochs",     "early_stop",
                                              "rate", "save_every", "tensorboard"};
  return names;
}

nlohmann::json to_json(const Config& config) {
  nlohmann::json json = nlohmann::json::object();
  for (const OptionGroup& group : options_of(find_task(config.task), config.settings)) {
    for (const FieldInfo& field : group.fields) {
      const std::string text = config.settings.get(field.name, field.fallback);
      switch (field.kind) {
        case FieldInfo::Kind::whole:
          json[field.name] = whole_of(field.name, text);
          break;
        case FieldInfo::Kind::number:
          json[field.name] = number_of(field.name, text);
          break;
        case FieldInfo::Kind::flag:
          json[field.name] = flag_of(field.name, text);
          break;
        case FieldInfo::Kind::text:
          json[field.name] = text;
      }
    }
  }
  return json;
}

namespace {

// What folders did that were saved before there was such an option, where more is usual by now.
const Settings& before_there_were() {
  static const Settings all{{"match", "false"}};
  return all;
}

}  // namespace

Config config_from_json(const std::string& task, const nlohmann::json& options) {
  check(options.is_object(), "config: needs an object of options");
  Settings settings;
  for (const auto& [key, value] : options.items()) {
    const std::string name =
        key == "column" ? "columns" : key;  // of folders before there were more
    if (value.is_string()) {
      settings.set(name, value.get<std::string>());
    } else if (value.is_boolean()) {
      settings.set(name, text_of(value.get<bool>()));
    } else if (value.is_number_integer()) {
      settings.set(name, text_of(value.get<int64_t>()));
    } else if (value.is_number()) {
      settings.set(name, text_of(value.get<double>()));
    } else {
      fail("config: option '", name, "' cannot be ", value.dump());
    }
  }
  // What says nothing about such a model was once taken all the same.
  const std::vector<OptionGroup> groups = options_of(find_task(task), settings);
  Settings read;
  for (const auto& [name, text] : settings) {
    if (find_option(groups, name) || !option_exists(name)) read.set(name, text);
  }
  for (const auto& [name, text] : before_there_were()) {
    if (!settings.has(name) && find_option(groups, name)) read.set(name, text);
  }
  return checked_config(find_task(task), read, true);
}

}  // namespace fovea
