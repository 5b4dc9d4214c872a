// What a table is for.
#include <algorithm>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/columns.h"
#include "fovea/task/fit/look.h"
#include "fovea/task/fit/roles.h"
#include "fovea/task/solver.h"

namespace fovea {
namespace {

std::string name_of(const Look& look, size_t column) {
  const std::string& name = look.columns[column].name;
  return name.empty() ? say("column ", column + 1) : say("column ", column + 1, " '", name, "'");
}
// As --columns takes it.
std::string reference(const Look& look, size_t column) {
  const std::string& name = look.columns[column].name;
  const bool plain = !name.empty() && name.find_first_of(",=+") == std::string::npos;
  return plain ? name : std::to_string(column + 1);
}

bool is_named(const ColumnInfo& column, std::string_view role) {
  const auto names = usual_names(role);
  return std::ranges::find(names, to_lowercase(column.name)) != names.end();
}

std::string list_columns(const Look& look) {
  std::string text;
  for (size_t i = 0; i < look.columns.size(); ++i) {
    text += say(i ? ", " : "", name_of(look, i), " (", look.columns[i].distinct, " of ",
                look.columns[i].seen, " values differ", look.columns[i].numeric ? ", numbers" : "",
                ")");
  }
  return text;
}

double words_of(const ColumnInfo& column) { return column.mean_length / 5.5; }
// Many different numbers.
bool is_score(const ColumnInfo& c) {
  return c.numeric && c.distinct > 20 && c.distinct * 4 > c.seen;
}
bool is_varied(const ColumnInfo& c) { return c.seen >= 2 && c.distinct * 2 > c.seen; }

// Whether most phrases stand in their texts, as those of aspects do.
bool holds_phrases(const Look& look, size_t text, size_t phrase) {
  size_t held = 0;
  for (const auto& row : look.dialect.rows) {
    if (std::max(text, phrase) >= row.size()) continue;
    held += row[text].find(row[phrase]) != std::string::npos ||
            row[text].find("$T$") != std::string::npos;
  }
  return held * 10 > look.dialect.rows.size() * 8;
}

// A task all of whose roles, three or more, are names of columns of their own.
const Task* task_by_names(const Look& look) {
  const Task* best = nullptr;
  for (const Task& task : tasks()) {
    std::vector<size_t> taken;
    for (const Role& role : task.roles) {
      for (size_t i = 0; i < look.columns.size(); ++i) {
        const ColumnInfo& column = look.columns[i];
        if ((to_lowercase(column.name) == role.name || is_named(column, role.name)) &&
            std::ranges::find(taken, i) == taken.end()) {
          taken.push_back(i);
          break;
        }
      }
    }
    if (taken.size() < 3 || taken.size() < task.roles.size()) continue;
    if (task.name == "aspect" && !holds_phrases(look, taken[1], taken[2])) continue;
    if (!best || task.roles.size() > best->roles.size()) best = &task;
  }
  return best;
}

// Columns that hold no answer, whatever they look like.
bool is_aside(const ColumnInfo& column) {
  static const std::set<std::string> names{"id",   "idx",    "index",    "split", "fold", "date",
                                           "time", "author", "user",     "url",   "lang", "year",
                                           "link", "source", "language", "part",  "set"};
  return names.contains(to_lowercase(column.name));
}

// The columns of a label and of two texts that are about as long as each other, neither of which
// has a usual name of a text (a title and its body); "": there are none such.
std::string pair_columns(const Look& look) {
  std::vector<size_t> texts, labels;
  for (size_t i = 0; i < look.columns.size(); ++i) {
    const ColumnInfo& column = look.columns[i];
    if (is_aside(column)) continue;
    if (is_like_labels(column)) {
      labels.push_back(i);
    } else if (!column.numeric && words_of(column) >= 2 && !is_named(column, "text")) {
      texts.push_back(i);
    } else {
      return "";
    }
  }
  if (labels.size() != 1 || texts.size() != 2) return "";
  const double first = words_of(look.columns[texts[0]]), second = words_of(look.columns[texts[1]]);
  if (first >= 3 * second + 3 || second >= 3 * first + 3) return "";
  return say("label=", reference(look, labels[0]), ",a=", reference(look, texts[0]),
             ",b=", reference(look, texts[1]));
}

}  // namespace

void infer_table(const std::string& path, const Look& look, FitData& data) {
  const auto& columns = look.columns;
  const auto reason = [&](std::string text) { data.because.push_back(std::move(text)); };
  const auto numbers = static_cast<size_t>(
      std::ranges::count_if(columns, [](const ColumnInfo& c) { return c.numeric; }));
  std::vector<size_t> texts, labels, sources, targets;
  for (size_t i = 0; i < columns.size(); ++i) {
    // Sentences that repeat are texts all the same.
    const bool sentences = words_of(columns[i]) >= 4 && columns[i].distinct >= 20;
    if (!columns[i].numeric &&
        (is_varied(columns[i]) || is_named(columns[i], "text") || sentences)) {
      texts.push_back(i);
    }
    // A usual name of a label may be one of a text that is to be written: target.
    const bool is_text = !columns[i].numeric && is_varied(columns[i]);
    if (is_named(columns[i], "label") && !is_text) labels.push_back(i);
    if (is_named(columns[i], "source")) sources.push_back(i);
    if (is_named(columns[i], "target")) targets.push_back(i);
  }
  // One column of many numbers, and all else is text.
  std::optional<size_t> score;
  if (labels.size() == 1 && is_score(columns[labels[0]])) score = labels[0];
  if (labels.empty() && !columns.empty() && is_score(columns.back()) &&
      texts.size() + 1 == columns.size()) {
    score = columns.size() - 1;
  }
  if (data.task.empty() && !data.settings.has("columns") && score && !texts.empty()) {
    std::string all;
    for (const size_t i : texts) {
      const bool is_the_text = is_named(columns[i], "text");
      if (is_the_text || !is_aside(columns[i])) {
        all = (all.empty() || is_the_text ? "" : all + "+") + reference(look, i);
      }
      if (is_the_text) break;
    }
    data.task = "regress";
    data.settings.set("columns", say("target=", reference(look, *score), ",text=", all));
    reason("task: regress, as there is a text and a column of many numbers");
    reason(say("text: ", all, "; target: ", name_of(look, *score)));
    return;
  }
  const Task* named = data.task.empty() ? task_by_names(look) : nullptr;
  if (named != nullptr) {
    data.task = named->name;
    reason(say("task: ", named->name, ", by the names of the columns"));
  } else if (const std::string pair = pair_columns(look);
             data.task.empty() && !data.settings.has("columns") && !pair.empty()) {
    data.task = "pair";
    data.settings.set("columns", pair);
    reason("task: pair, as there are two texts and a column of few values");
    reason("columns: " + pair);
  }
  if (!data.task.empty() && data.task != "classify" && data.task != "translate" &&
      data.task != "regress") {
    return;
  }
  if (data.task.empty() && columns.size() >= 2 && numbers == columns.size()) {
    data.task = "regress";
    reason(say("task: regress, as all ", columns.size(), " columns are numbers"));
  }
  if (data.task == "regress" && data.settings.has("columns")) {
    reason("columns: " + data.settings.get("columns") + ", as said");
    return;
  }
  if (data.task == "regress") {
    check(columns.size() >= 2, path, ": has one column of numbers; which number is to be learned ",
          "from which? Give a file with both, the target last");
    // As the reader chooses: by a usual name, else the last.
    const std::vector<Role> roles{{"target", Role::Kind::number}, {"numbers", Role::Kind::numbers}};
    const ColumnChoice choice = choose_columns(path, roles, columns, "");
    const size_t target = choice.columns[0][0];
    reason(say("target: ", name_of(look, target),
               target + 1 == columns.size() ? ", the last" : ", by its name", "; features: the ",
               choice.columns[1].size(), " others"));
    return;
  }
  const bool pairs = columns.size() == 2 && texts.size() == 2 && labels.empty() &&
                     words_of(columns[0]) >= 1.2 && words_of(columns[1]) >= 1.2 &&
                     words_of(columns[0]) < 4 * words_of(columns[1]) + 4 &&
                     words_of(columns[1]) < 4 * words_of(columns[0]) + 4;
  if (data.task.empty() && labels.empty() &&
      ((!sources.empty() && !targets.empty() && texts.size() >= 2) || pairs)) {
    data.task = "translate";
    reason(pairs ? "task: translate, as both columns are texts that hardly repeat"
                 : "task: translate, by the names of the columns");
  }
  if (data.task == "translate") {
    if (!data.settings.has("columns") && !sources.empty() && !targets.empty()) {
      data.settings.set("columns", say("source=", reference(look, sources[0]),
                                       ",target=", reference(look, targets[0])));
    }
    return;
  }
  if (data.task.empty()) {
    check(
        !texts.empty() || columns.size() == 2, path,
        ": no column is a text to learn from, and not all are numbers; say --task, and --columns ",
        "label=..,text=..; it has ", list_columns(look));
    data.task = "classify";
    check_roles(path, find_task(data.task), roles_in(data.settings.get("columns")));
    reason("task: classify, as there is a text and a column of few values");
  }
  const std::vector<Role> roles{{"label", Role::Kind::label}, {"text"}};
  const ColumnChoice choice =
      choose_columns(path, roles, columns, data.settings.get("columns"), {});
  const size_t label = choice.columns[0][0], text = choice.columns[1][0];
  const ColumnInfo &l = columns[label], &t = columns[text];
  const bool said = data.settings.has("columns");
  check(said || !is_aside(l), path, ": which column is the label? ", name_of(look, label),
        " hardly is. Say --columns label=..,text=.., or --task; it has ", list_columns(look));
  check(said || l.distinct * 2 <= l.seen || l.seen < 20 || is_named(l, "label"), path, ": is ",
        name_of(look, label), " a label? ", l.distinct, " of its first ", l.seen,
        " values differ. Say --columns label=..,text=.., or --task; it has ", list_columns(look));
  check(said || !t.numeric, path, ": is ", name_of(look, text),
        " a text? It holds numbers. Say --columns label=..,text=.., or --task; it has ",
        list_columns(look));
  if (!said) {
    data.settings.set("columns",
                      say("label=", reference(look, label), ",text=", reference(look, text)));
  }
  reason(say("text: ", name_of(look, text), " (",
             static_cast<int64_t>(words_of(t) * 10 + 0.5) / 10.0, " words on average); label: ",
             name_of(look, label), " (", l.distinct, " values in the first ", l.seen, " rows)"));
}

}  // namespace fovea
