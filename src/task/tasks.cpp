#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/data/algorithms.h"
#include "fovea/task/make.h"
#include "fovea/task/solver.h"
#include "fovea/task/variants.h"
#include "fovea/train/checkpoint.h"

namespace fovea {

namespace {

std::vector<Builtin> algorithm_data() {
  std::vector<Builtin> list;
  for (const Algorithm& one : algorithms()) list.push_back({one.name, one.help});
  for (Builtin& one : list) {
    if (one.name == "recall") one.settings = {{"bits", "6"}};
    if (one.name.starts_with("ram-")) one.settings = {{"symbols", "24"}};
    const Algorithm& of = find_algorithm(one.name);
    for (const char* option : {"bits", "symbols", "repeats"}) {
      if (std::ranges::find(of.options, option) == of.options.end()) one.unread.push_back(option);
    }
    if (of.in_bits) one.unread.push_back("smoothing");
  }
  return list;
}

}  // namespace

const std::vector<Task>& tasks() {
  // What all tasks read from files, and what those read that have tokens.
  static const std::vector<std::string> files{"data",      "dev",      "test",    "dev_part",
                                              "test_part", "examples", "columns", "format",
                                              "header",    "encoding", "skip_bad"};
  const auto with = [](std::vector<std::string> names) {
    names.insert(names.begin(), files.begin(), files.end());
    return names;
  };
  static const std::vector<Task> all{
      {.name = "translate",
       .title = "From one sequence to another: n tokens to m",
       .input = "source and target: TSV, CSV, JSON lines, or two parallel files",
       .roles = {{"source"}, {"target"}},
       .question = {"source"},
       .takes = Takes::text,
       .gives = Gives::tokens,
       .several_answers = true,
       .data_options = with(
           {"tokens", "target_tokens", "lowercase", "min_count", "vocabulary", "longest", "bleu"}),
       .answer_options = {"beam", "length_penalty"},
       .builtin = {{"dates",
                    "dates as people write them, to ISO; the alignment is known",
                    {{"tokens", "chars"}, {"embed", "64"}, {"width", "128"}, {"rate", "0.003"}}},
                   {"reverse",
                    "letters and words, backwards",
                    {{"embed", "64"}, {"width", "128"}}}},
       .defaults = {{"tokens", "auto"}, {"rate", "0.001"}},
       .budget = {{"time", "60s"}},
       .make = make_translate},
      {.name = "label",
       .title = "A label for every token",
       .input = "words and tags: CoNLL columns, CoNLL-U, JSON lines",
       .roles = {{"words", Role::Kind::list}, {"tags", Role::Kind::list}},
       .question = {"text"},
       .takes = Takes::text,
       .gives = Gives::labels,
       .data_options = with({"tokens", "lowercase", "min_count", "vocabulary", "longest"}),
       .answer_options = {},
       .builtin = {{"tags", "sentences of a small grammar with parts of speech"}},
       .defaults = {{"tokens", "auto"}, {"dropout", "0.3"}, {"batch", "32"}},
       .budget = {{"time", "60s"}},
       .make = make_label},
      {.name = "classify",
       .title = "One label for a text",
       .input = "label and text: CSV, TSV, JSON lines",
       .roles = {{"label", Role::Kind::label}, {"text"}},
       .question = {"text"},
       .takes = Takes::text,
       .gives = Gives::label,
       .several_answers = true,
       .data_options =
           with({"tokens", "lowercase", "min_count", "vocabulary", "longest", "lengths", "side"}),
       .answer_options = {},
       .builtin = {{"sentiment", "opinions, with negation"},
                   {"listops",
                    "values of nested lists, 100 to 400 tokens (--lengths)",
                    {{"tokens", "spaces"}}},
                   {"pathfinder",
                    "whether a dashed path joins two dots, pixel by pixel (--side)",
                    {{"tokens", "chars"}, {"longest", "1024"}}},
                   {"shapes",
                    "which shape a grey picture shows, pixel by pixel (--side)",
                    {{"tokens", "chars"}, {"longest", "1024"}}}},
       .defaults = {{"tokens", "auto"}, {"dropout", "0.3"}, {"width", "128"}},
       .budget = {{"time", "60s"}},
       .make = make_classify},
      {.name = "pair",
       .title = "One label for two texts; ranks them where several stand with one",
       .input = "label, a and b, or a and numbers: CSV, TSV, JSON lines",
       .roles = {{"label", Role::Kind::label}, {"a"}, {"b"}},
       .question = {"a"},
       .beside = {"b"},
       .takes = Takes::pair,
       .gives = Gives::label,
       .several_answers = true,
       .data_options =
           with({"tokens", "lowercase", "min_count", "vocabulary", "longest", "letters_of_text"}),
       .answer_options = {},
       .builtin = {{"answers", "questions, and texts that may answer them"},
                   {"records", "notes that name a number, and the numbers of the record"},
                   {"documents", "whether two long texts are about the same thing"}},
       .defaults = {{"tokens", "auto"}, {"dropout", "0.2"}, {"width", "64"}, {"batch", "32"}},
       .budget = {{"time", "60s"}},
       .make = make_pair},
      {.name = "aspect",
       .title = "One label for a phrase in its sentence",
       .input = "label, text and phrase: CSV, TSV, JSON lines, three lines with $T$, or XML",
       .roles = {{"label", Role::Kind::label}, {"text"}, {"phrase"}},
       .question = {"text"},
       .beside = {"phrase"},
       .takes = Takes::phrase,
       .gives = Gives::label,
       .several_answers = true,
       .data_options = with({"tokens", "lowercase", "min_count", "vocabulary", "longest"}),
       .answer_options = {},
       .builtin = {{"aspects", "two things and what is said of each"}},
       .defaults = {{"tokens", "auto"}, {"dropout", "0.3"}, {"width", "64"}, {"batch", "32"}},
       .budget = {{"time", "60s"}},
       .make = make_aspect},
      {.name = "lm",
       .title = "What comes next: a language model",
       .input = "a text file",
       .roles = {{"text"}},
       .question = {"text"},
       .takes = Takes::text,
       .gives = Gives::next,
       .several_answers = true,
       .data_options = with({"tokens", "lowercase", "min_count", "vocabulary", "context"}),
       .answer_options = {"length", "temperature", "top_k", "top_p"},
       .builtin = {{"dates", "dates as people write them, one a line"}},
       .defaults = {{"tokens", "chars"},
                    {"batch", "32"},
                    {"dropout", "0"},
                    {"rate", "0.001"},
                    {"weight_decay", "0.1"},
                    {"optimizer", "adamw"},
                    {"beta2", "0.99"},
                    {"position", "rotary"},
                    {"schedule", "cosine"},
                    {"floor", "0.1"},
                    {"validate_every", "250"},
                    {"validate_examples", "200"}},
       .budget = {{"time", "60s"}},
       .make = make_lm},
      {.name = "mlm",
       .title = "Words hidden in a text: a masked language model",
       .input = "a text file, a sentence a line",
       .roles = {{"text"}},
       .question = {"text"},
       .takes = Takes::text,
       .gives = Gives::hidden,
       .several_answers = true,
       .data_options = with({"tokens", "lowercase", "min_count", "vocabulary", "longest"}),
       .answer_options = {},
       .builtin = {{"tags", "sentences of a small grammar"}, {"sentiment", "opinions"}},
       .defaults = {{"tokens", "auto"},
                    {"batch", "64"},
                    {"layers", "2"},
                    {"width", "128"},
                    {"dropout", "0.1"},
                    {"rate", "0.001"},
                    {"schedule", "cosine"},
                    {"warmup", "100"},
                    {"optimizer", "adamw"},
                    {"weight_decay", "0.01"}},
       .budget = {{"time", "60s"}},
       .make = make_mlm},
      {.name = "regress",
       .title = "A number from numbers, or from a text",
       .input = "a table of numbers, the target last or called so",
       .roles = {{"target", Role::Kind::number}, {"numbers", Role::Kind::numbers}},
       .question = {"numbers", Role::Kind::numbers},
       .takes = Takes::numbers,
       .gives = Gives::number,
       .data_options = files,
       .answer_options = {},
       .builtin = {{"sine", "2 sin x + x with noise"}},
       .defaults =
           {{"rate", "0.03"}, {"clip", "0"}, {"validate_every", "50"}, {"test_part", "0.25"}},
       .budget = {{"steps", "300"}},
       .also = regress_from_text(with({})),
       .make = make_regress},
      {.name = "qa",
       .title = "A story and questions about it",
       .input = "bAbI's files or folder, stories with question<TAB>answer, or JSON lines",
       .roles = {},
       .question = {"text"},
       .takes = Takes::story,
       .gives = Gives::choice,
       .several_answers = true,
       .data_options = {"data", "dev", "test", "dev_part", "test_part", "examples", "encoding",
                        "skip_bad", "tasks", "min_count", "hashed"},
       .answer_options = {},
       .builtin = {{"stories", "people, places and things, with one to three supporting facts"}},
       .defaults = {{"optimizer", "sgd"},
                    {"momentum", "0"},
                    {"rate", "0.01"},
                    {"clip", "40"},
                    {"batch", "32"}},
       .budget = {{"time", "60s"}},
       .make = make_qa},
      {.name = "read",
       .title = "A passage and a question: the part of it that answers, or one of candidates",
       .input =
           "SQuAD's JSON; passage, question and answer (and candidates): TSV, CSV, JSON lines; "
           "CBT's and CNN's cloze files",
       .roles = {{"passage"}, {"question"}, {"answer"}},
       .question = {"passage"},
       .beside = {"question"},
       .takes = Takes::passage,
       .gives = Gives::span,
       .several_answers = true,
       .data_options = with({"tokens", "lowercase", "min_count", "vocabulary", "longest"}),
       .answer_options = {"longest_answer", "no_answer", "passage"},
       .builtin = {{"facts",
                    "people, where and when they were born, what they do",
                    {{"letters", "16"}, {"embed", "32"}, {"width", "32"}, {"rate", "0.008"}}},
                   {"cloze",
                    "who did what to whom, in other words and with a blank; names mean nothing",
                    {{"model", "attention_sum"},
                     {"tokens", "spaces"},
                     {"rate", "0.006"},
                     {"schedule", "cosine"},
                     {"embed", "32"}}}},
       .defaults = {{"tokens", "auto"}, {"batch", "32"}, {"clip", "5"}, {"rate", "0.001"}},
       .budget = {{"time", "60s"}},
       .also = read_choices(with({"tokens", "lowercase", "min_count", "vocabulary", "longest"})),
       .make = make_read},
      {.name = "algorithm",
       .title = "What a simple program does, learned on short inputs and measured by length",
       .input = "builtin:NAME; a file of problems to measure on",
       .roles = {},
       .question = {"text"},
       .takes = Takes::steps,
       .gives = Gives::steps,
       .data_options = {"data", "examples", "lengths", "test_lengths", "bits", "symbols", "repeats",
                        "curriculum"},
       .answer_options = {},
       .builtin = algorithm_data(),
       .defaults = {{"model", "ntm"}, {"validate_every", "1000"}, {"validate_examples", "100"}},
       .budget = {{"time", "60s"}},
       .make = make_algorithm},
      {.name = "image",
       .title = "One label for a picture",
       .input = "label and picture: CSV, TSV, JSON lines; a folder for each label; or IDX and NPY "
                "arrays images,labels",
       .roles = {{"label", Role::Kind::label}, {"picture"}},
       .question = {"picture"},
       .takes = Takes::picture,
       .gives = Gives::label,
       .several_answers = true,
       .data_options = with({"size", "colour", "shift_by", "flip", "crop", "canvas", "clutter"}),
       .answer_options = {},
       .builtin = {{"digits", "digits drawn by our own code, 28 x 28"},
                   {"translated", "the same somewhere on a canvas of 60 x 60", {{"canvas", "60"}}},
                   {"cluttered",
                    "and among pieces of other digits",
                    {{"canvas", "60"}, {"clutter", "4"}}}},
       .defaults = {{"batch", "64"}, {"rate", "0.001"}, {"schedule", "cosine"}},
       .budget = {{"time", "60s"}},
       .make = make_image},
      {.name = "caption",
       .title = "A text about a picture, or about a film",
       .input = "picture (or frames) and caption: TSV, CSV, JSON lines that name picture files",
       .roles = {{"picture"}, {"caption"}},
       .question = {"picture"},
       .takes = Takes::picture,
       .gives = Gives::tokens,
       .several_answers = true,
       .data_options =
           with({"tokens", "lowercase", "min_count", "vocabulary", "longest", "size", "colour"}),
       .answer_options = {"beam", "length_penalty"},
       .builtin =
           {{"scenes",
             "coloured shapes and digits, told from left to right; their places are known",
             {{"tokens", "spaces"}, {"model", "soft"}, {"channels", "16"}, {"rate", "0.002"}}},
            {"moving",
             "films of a thing that moves one way and then another",
             {{"tokens", "spaces"},
              {"model", "temporal"},
              {"stages", "3"},
              {"channels", "12"},
              {"rate", "0.002"}}}},
       .defaults = {{"tokens", "auto"}, {"batch", "32"}, {"rate", "0.001"}, {"schedule", "cosine"}},
       .budget = {{"time", "120s"}},
       .also = caption_of_frames(
           with({"tokens", "lowercase", "min_count", "vocabulary", "longest", "size", "colour"})),
       .make = make_caption},
      {.name = "ask",
       .title = "Questions about a picture",
       .input = "picture, question and answer: TSV, CSV, JSON lines; or a folder as SHAPES has it",
       .roles = {{"picture"}, {"question"}, {"answer", Role::Kind::label}},
       .question = {"picture"},
       .beside = {"question"},
       .takes = Takes::scene,
       .gives = Gives::label,
       .several_answers = true,
       .data_options =
           with({"tokens", "lowercase", "min_count", "vocabulary", "longest", "size", "colour"}),
       .answer_options = {},
       .builtin = {{"scenes",
                    "what colour, what shape, whether there is, what stands at an edge",
                    {{"tokens", "spaces"}, {"channels", "16"}}}},
       // Twice the rate never finds where to look: co-attention then answers by the question alone.
       .defaults =
           {{"tokens", "auto"}, {"batch", "32"}, {"rate", "0.0005"}, {"schedule", "cosine"}},
       .budget = {{"time", "120s"}},
       .make = make_ask},
      {.name = "graph",
       .title = "Labels of a graph's nodes, or of whole graphs",
       .input = "a folder of features.txt, labels.txt and edges.txt; nodes.csv,edges.csv; or JSON "
                "lines",
       .roles = {},
       .question = {"node"},
       .takes = Takes::graph,
       .gives = Gives::label,
       .several_answers = true,
       .data_options = {"data", "dev", "test", "dev_part", "test_part", "examples", "directed",
                        "neighbours"},
       .answer_options = {},
       .builtin = {{"communities", "a graph of groups with words of their own"},
                   {"lookup",
                    "who asks must look at the one with its key: gat cannot, gatv2 can",
                    {{"directed", "true"},
                     {"layers", "1"},
                     {"heads", "1"},
                     {"width", "128"},
                     {"output", "linear"},
                     {"dropout", "0"},
                     {"attention_dropout", "0"},
                     {"weight_decay", "0"},
                     {"rate", "0.003"},
                     {"early_stop", "0"},
                     {"epochs", "30"}}}},
       .defaults =
           {{"rate", "0.005"}, {"weight_decay", "0.0005"}, {"clip", "0"}, {"early_stop", "100"}},
       .budget = {{"epochs", "1000"}},
       .make = make_graph},
      {.name = "links",
       .title = "Whether there is an edge between two nodes of a graph",
       .input = "a graph, as graph has it; some of its edges are held out",
       .roles = {},
       .question = {"nodes"},
       .takes = Takes::graph,
       .gives = Gives::links,
       .several_answers = true,
       .data_options = {"data", "dev_part", "test_part", "examples", "directed", "neighbours"},
       .answer_options = {},
       .builtin = {{"communities", "a graph of groups with words of their own"}},
       .defaults = {{"model", "gcn"},
                    {"rate", "0.01"},
                    {"clip", "0"},
                    {"early_stop", "50"},
                    {"dev_part", "0.05"},
                    {"test_part", "0.1"}},
       .budget = {{"epochs", "200"}},
       .make = make_links},
  };
  return all;
}

const Task& find_task(std::string_view name) {
  std::vector<std::string> known;
  for (const Task& task : tasks()) {
    if (task.name == name) return task;
    known.push_back(task.name);
  }
  fail(unknown_name("task", name, known));
}

const Builtin& find_builtin(const Task& task, std::string_view name) {
  std::vector<std::string> known;
  for (const Builtin& builtin : task.builtin) {
    if (builtin.name == name) return builtin;
    known.push_back(builtin.name);
  }
  fail(unknown_name("built-in data", name, known));
}

namespace {

std::string config_path(const std::string& folder) { return folder + "/config.json"; }

// Folders of before they were kept have none; whatever else is there is passed over.
std::vector<ColumnNames> learned_columns(const nlohmann::json& config) {
  std::vector<ColumnNames> learned;
  if (!config.contains("columns") || !config["columns"].is_object()) return learned;
  for (const auto& [role, names] : config["columns"].items()) {
    learned.push_back({role, {}});
    for (const auto& name : names) {
      if (name.is_string()) learned.back().names.push_back(name.get<std::string>());
    }
  }
  return learned;
}

}  // namespace

void save_config(const std::string& folder, const Config& config) {
  make_folder(folder);
  nlohmann::ordered_json json{
      {"format", "fovea 2"}, {"task", config.task}, {"options", to_json(config)}};
  for (const ColumnNames& of : config.learned) json["columns"][of.role] = of.names;
  const std::string text = json.dump(2) + "\n";
  write_file_atomically(config_path(folder), std::as_bytes(std::span(text)));
}

Config load_config(const std::string& folder) {
  const std::string path = config_path(folder);
  std::ifstream file(path);
  check<ErrorKind::input>(file.good(), folder,
                          ": is not the folder of a trained model: it has no config.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const bool is_object = json.is_object() && json.contains("format") && json["format"].is_string();
  check<ErrorKind::input>(
      !is_object || json["format"] != "fovea 1", path,
      ": is of a model that an earlier version made, which this one cannot read; train it again");
  check<ErrorKind::input>(is_object && json["format"] == "fovea 2" && json.contains("task") &&
                              json.contains("options") && json["task"].is_string(),
                          path, ": is not the configuration of a Fovea model");
  try {
    Config config = config_from_json(json["task"].get<std::string>(), json["options"]);
    config.learned = learned_columns(json);
    return config;
  } catch (const Error& error) {
    fail<ErrorKind::input>(path, ": ", error.what());
  }
}

void check_answer_options(const Config& config, const Settings& settings) {
  const Task& task = find_task(config.task);
  for (const auto& [name, text] : settings) {
    const auto& reading = reading_options();
    if (std::ranges::find(reading, name) != reading.end()) continue;
    std::string names;
    for (const std::string& one : task.answer_options) names += (names.empty() ? "" : ", ") + one;
    check(std::ranges::find(task.answer_options, name) != task.answer_options.end(), "option '",
          name, "' says nothing about the answers of ", task.name,
          names.empty() ? "" : "; these do: ", names);
  }
  changed(config, settings);
}

std::vector<ScoredText> Solver::score(const std::vector<std::string>&) const {
  fail("score: ", config_.task,
       " gives no probabilities to texts; lm, mlm, translate, caption, read and tasks with labels, "
       "as classify, do");
}

std::unique_ptr<Solver> begin_run(const Config& config, const std::string& folder, bool goes_on) {
  auto solver = find_task(config.task).make(config, Purpose::learn, goes_on ? folder : "");
  if (folder.empty() || goes_on) return solver;
  save_run(*solver, folder);
  return solver;
}

void save_run(const Solver& solver, const std::string& folder) {
  make_folder(folder);
  solver.save_vocabulary(folder);
  Config config = solver.config();
  config.learned = solver.learned_columns();
  save_config(folder, config);  // last: a folder with a config is whole
}

std::unique_ptr<Solver> open_solver(const std::string& folder, const Settings& settings) {
  const Config config = load_config(folder);
  check_answer_options(config, settings);
  return find_task(config.task).make(changed(config, settings), Purpose::use, folder);
}

}  // namespace fovea
