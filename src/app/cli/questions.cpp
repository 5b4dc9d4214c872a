#include "fovea/app/cli/questions.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace fovea::cli {
namespace {

// What --columns, as it is said to train, says of the roles that are asked about; "": nothing.
std::string columns_of(const std::string& columns, const std::vector<Role>& trained,
                       const std::vector<Role>& asked) {
  const std::string all = "," + columns;
  std::vector<std::string> in_order;  // one for each role, where none is named
  for (size_t from = 1; from < all.size();) {
    const size_t end = std::min(all.find(',', from), all.size());
    in_order.push_back(all.substr(from, end - from));
    from = end + 1;
  }
  const bool ordered = columns.find('=') == std::string::npos && trained.size() > 1 &&
                       in_order.size() == trained.size();
  std::string found;
  for (const Role& role : asked) {
    const size_t at = all.find("," + role.name + "=");
    if (at != std::string::npos) {
      size_t end = all.size();
      for (const Role& other : trained)
        end = std::min(end, all.find("," + other.name + "=", at + 1));
      found += all.substr(at, end - at);
    }
    for (size_t i = 0; ordered && i < trained.size(); ++i) {
      if (trained[i].name == role.name) found += say(',', role.name, '=', in_order[i]);
    }
  }
  return found.empty() ? "" : found.substr(1);
}

// The format of a file that is a table, with what is asked in one of its columns: one that names
// them, or sentences with a word a line where the task learned from such. "": it is none.
std::string table_format(const std::string& path, const ReadOptions& said,
                         std::span<const Role> learned_from) {
  if (!std::filesystem::is_regular_file(path)) return "";  // a pipe cannot be looked at twice
  ReadOptions options;
  options.encoding = said.encoding;
  options.learned = said.learned;
  const ReadSummary found = look_into(path, options).summary;
  if (found.format == "jsonl" || found.header) return found.format;
  const bool of_words = std::ranges::any_of(
      learned_from, [](const Role& role) { return role.kind == Role::Kind::list; });
  return of_words && found.format.starts_with("conll") ? found.format : "";
}

// Of a conversation: whether it is a table whose first line names a column that was learned from.
// Lines that cannot be read are for whoever answers them, one by one.
bool begins_with_names(LineReader& lines, const std::vector<ColumnNames>& learned) {
  if (learned.empty()) return false;
  const std::string_view head = lines.head(64 << 10);
  if (head.find('\n') >= head.size() - 1) return false;  // one line is a question
  try {
    const Dialect found =
        recognise(lines.path(), head, lines.head_is_all(), {}, "auto", "auto", learned);
    return found.header && has_name(found.names, learned);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

Questions::Questions(const Solver& solver, const std::string& path, const Settings& said)
    : bad_(std::make_shared<std::vector<Question>>()) {
  const Task& task = find_task(solver.config().task);
  const TaskVariant variant = variant_of(task, solver.config().settings);
  const Role& question = variant.question;
  // A conversation is in UTF-8 unless it says otherwise: its first line is too little to tell by.
  const std::string encoding = said.get("encoding", path == "-" ? "utf-8" : "auto");
  const bool nothing_said = !said.has("columns") && !said.has("format") && !said.has("header");
  ReadOptions options = read_options(solver.config());
  options.encoding = encoding;
  std::string format;
  std::optional<LineReader> conversation;
  if (nothing_said && !task.roles.empty()) {
    if (path != "-") {
      format = table_format(path, options, variant.roles);
    } else if (begins_with_names(conversation.emplace(path, encoding, true), options.learned)) {
      format = "auto";
    }
  }
  const bool table = !format.empty();
  if (nothing_said && !table) {
    if (!conversation) conversation.emplace(path, encoding, true);
    lines_ = std::move(conversation);
    takes_json_ = task.roles.empty();
    return;
  }
  std::vector<Role> roles{question};
  if (!task.beside.name.empty()) roles.push_back(task.beside);
  const std::string of_these = columns_of(options.columns, variant.roles, roles);
  if (!said.has("columns")) options.columns = table ? of_these : "";
  if (!of_these.empty() && said.has("columns")) options.columns = of_these;
  if (table)
    options.format = format.starts_with("conll") ? format : "auto", options.header = "auto";
  options.skip_bad = options.may_be_empty = options.prompt = true;
  const std::string name = path == "-" ? "stdin" : path;
  options.on_bad = [bad = bad_, name](const BadRow& row) {
    bad->push_back({name, row.line, "", row.reason});
  };
  numbers_ = question.kind == Role::Kind::numbers;
  two_texts_ = roles.size() > 1;
  // What is to be told need not be there, but is no number to tell it by.
  if (numbers_ && table) roles.push_back({"target", Role::Kind::number, false});
  if (conversation) {
    records_.emplace(std::move(*conversation), std::move(roles), options);
  } else {
    records_.emplace(path, std::move(roles), options);
  }
  fmt::print(stderr, "{}: {}; {}. {}.\n", name, records_->summary().format_reason,
             records_->summary().encoding, records_->summary().columns_reason);
}

bool Questions::next(std::vector<Question>& to) {
  if (lines_) {
    const Got got = lines_->next();
    if (got == Got::end) return false;
    const bool good = got == Got::good;
    if (good && !std::exchange(takes_json_, true) && lines_->text().starts_with("{\"") &&
        lines_->text().ends_with('}')) {
      fmt::print(stderr,
                 "fovea: {}: lines are taken as they are, JSON too; --columns text=FIELD answers "
                 "what stands in a field\n",
                 lines_->path());
    }
    to.push_back({lines_->path(), lines_->number(), std::string(good ? lines_->text() : ""),
                  good ? "" : lines_->problem()});
    return true;
  }
  const bool more = records_->next();
  for (Question& one : *bad_) to.push_back(std::move(one));
  bad_->clear();
  if (!more) return false;
  std::string text;
  if (numbers_) {
    for (const double x : records_->numbers(0)) text += say(text.empty() ? "" : ",", x);
  } else {
    text = records_->text(0);
    if (two_texts_) text += say('\t', records_->text(1));
  }
  // A text of several lines is one question.
  std::ranges::replace(text, '\n', ' ');
  to.push_back({records_->summary().path, records_->line(), std::move(text), ""});
  return true;
}

bool Questions::has_line() const { return lines_ ? lines_->has_line() : records_->has_line(); }

}  // namespace fovea::cli
