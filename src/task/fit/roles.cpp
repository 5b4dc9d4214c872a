#include "fovea/task/fit/roles.h"

#include <algorithm>

#include "fovea/base/names.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool has_all(const Names& names, const Names& wanted) {
  return std::ranges::all_of(wanted, [&](const std::string& one) { return has(names, one); });
}

// What a record of the task has; some tasks may be given one of two things.
std::vector<Names> records_of(const Task& task) {
  std::vector<Names> all(1);
  for (const Role& role : task.roles) all[0].push_back(role.name);
  if (task.also) {
    all.emplace_back();
    for (const Role& role : task.also->roles) all[1].push_back(role.name);
  }
  if (task.takes == Takes::pair) all.push_back({"label", "a", "numbers"});  // a text and a record
  return all;
}

Names all_roles() {
  Names all;
  for (const Task& task : tasks()) {
    for (const Names& record : records_of(task)) {
      std::ranges::copy_if(record, std::back_inserter(all),
                           [&](const std::string& role) { return !has(all, role); });
    }
  }
  return all;
}

}  // namespace

std::vector<std::string> roles_in(const std::string& columns) {
  const Names known = all_roles();
  Names named;
  for (size_t from = 0; from <= columns.size();) {
    const size_t to = std::min(columns.find(',', from), columns.size());
    const std::string_view part = std::string_view(columns).substr(from, to - from);
    if (const size_t equals = part.find('='); equals != part.npos) {
      const std::string name(trimmed(part.substr(0, equals)));
      if (has(known, name)) {
        named.push_back(name);
      } else {  // further on it may be a column's name that holds a comma
        check(from > 0, "--columns: ", unknown_name("role", name, known),
              "; --task says which of them count");
      }
    }
    from = to + 1;
  }
  return named;
}

std::string task_of_roles(const std::vector<std::string>& roles) {
  Names just_these, among_others;
  for (const Task& task : tasks()) {
    for (const Names& record : records_of(task)) {
      if (!has_all(record, roles)) continue;
      Names& list = record.size() == roles.size() ? just_these : among_others;
      if (!has(list, task.name)) list.push_back(task.name);
    }
  }
  check(!just_these.empty() || !among_others.empty(), "--columns: no task has the roles ",
        listed(roles), " together; say --task");
  const Names& best = just_these.empty() ? among_others : just_these;
  return best.size() == 1 ? best[0] : "";
}

void check_roles(const std::string& path, const Task& task, const std::vector<std::string>& roles) {
  const bool has_them = std::ranges::any_of(
      records_of(task), [&](const Names& record) { return has_all(record, roles); });
  check(has_them, "--columns: names ", listed(roles), ", but ", path, " looks like a file for ",
        task.name, ", which has other roles; say --task");
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 < names.size() ? ", " : " and ";
    text += names[i];
  }
  return text;
}

}  // namespace fovea
