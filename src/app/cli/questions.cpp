#include "fovea/app/cli/questions.h"

#include <fmt/core.h>

namespace fovea::cli {

Questions::Questions(const Solver& solver, const std::string& path, const Settings& said)
    : bad_(std::make_shared<std::vector<Question>>()) {
  const Task& task = find_task(solver.config().task);
  const Role question = variant_of(task, takes_of(task, solver.config().settings)).question;
  // A conversation is in UTF-8 unless it says otherwise: its first line is too little to tell by.
  const std::string encoding = said.get("encoding", path == "-" ? "utf-8" : "auto");
  if (!said.has("columns") && !said.has("format") && !said.has("header")) {
    lines_.emplace(path, encoding, true);
    return;
  }
  ReadOptions options = read_options(solver.config());
  options.encoding = encoding;
  if (!said.has("columns")) options.columns.clear();
  options.skip_bad = options.may_be_empty = options.prompt = true;
  const std::string name = path == "-" ? "stdin" : path;
  options.on_bad = [bad = bad_, name](const BadRow& row) {
    bad->push_back({name, row.line, "", row.reason});
  };
  numbers_ = question.kind == Role::Kind::numbers;
  std::vector<Role> roles{question};
  if (!task.beside.name.empty()) roles.push_back(task.beside);
  two_texts_ = roles.size() > 1;
  records_.emplace(path, std::move(roles), options);
  fmt::print(stderr, "{}: {}; {}. {}.\n", name, records_->summary().format_reason,
             records_->summary().encoding, records_->summary().columns_reason);
}

bool Questions::next(std::vector<Question>& to) {
  if (lines_) {
    const Got got = lines_->next();
    if (got == Got::end) return false;
    const bool good = got == Got::good;
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
