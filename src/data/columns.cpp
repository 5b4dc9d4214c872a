#include "fovea/data/columns.h"

#include <algorithm>
#include <charconv>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/base/utf8.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

std::string name_of(std::span<const ColumnInfo> columns, size_t i) {
  return columns[i].name.empty() ? say("column ", i + 1)
                                 : say("column ", i + 1, " '", shortened(columns[i].name), "'");
}

// "\n  1 'id': 17, 18", so that one sees what there is to choose from.
std::string listed(std::span<const ColumnInfo> columns) {
  std::string text;
  const size_t shown = std::min<size_t>(columns.size(), 12);
  for (size_t i = 0; i < shown; ++i) {
    text += say(i == 0 ? "" : "; ", name_of(columns, i));
    for (size_t k = 0; k < std::min<size_t>(2, columns[i].samples.size()); ++k) {
      std::string sample = shortened(columns[i].samples[k]);
      std::replace(sample.begin(), sample.end(), '\n', ' ');
      text += say(k == 0 ? " (" : ", ", sample);
    }
    if (!columns[i].samples.empty()) text += ")";
  }
  if (shown < columns.size()) text += say("; and ", columns.size() - shown, " more");
  return text;
}

class Choice {
 public:
  Choice(const std::string& path, std::span<const Role> roles, std::span<const ColumnInfo> columns)
      : path_(path),
        roles_(roles),
        columns_(columns),
        chosen_(roles.size()),
        reasons_(roles.size()) {}

  void ask(const std::string& asked) {
    if (asked.empty()) return;
    const std::string all = "," + asked;
    bool named = false;
    // From the last role to the first: a column's name may hold commas.
    size_t end = all.size();
    for (size_t at = all.rfind(','); at != std::string::npos;
         at = at == 0 ? std::string::npos : all.rfind(',', at - 1)) {
      const std::string_view part = std::string_view(all).substr(at + 1, end - at - 1);
      const size_t equals = part.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view name = trimmed(part.substr(0, equals));
      const size_t role = role_called(name);
      if (role == roles_.size()) continue;
      check(reasons_[role].empty(), "--columns: ", name, " is said twice in '", asked, "'");
      chosen_[role] = found(part.substr(equals + 1), name);
      reasons_[role] = "as asked";
      named = true;
      end = at;
    }
    if (!named) {
      ask_in_order(asked);
    } else if (end > 0) {
      fail_form(asked);
    }
  }

  void take_fixed(std::span<const int64_t> fixed) {
    for (size_t r = 0; r < fixed.size(); ++r) {
      if (fixed[r] >= 0 && chosen_[r].empty()) {
        chosen_[r] = {static_cast<size_t>(fixed[r])};
        reasons_[r] = "as the format has it";
      }
    }
  }

  void take_learned(std::span<const ColumnNames> learned) {
    for (const ColumnNames& of : learned) {
      const size_t r = role_called(of.role);
      if (r == roles_.size() || !chosen_[r].empty()) continue;
      std::vector<size_t> all;
      for (const std::string& name : of.names) {
        for (size_t c = 0; c < columns_.size(); ++c) {
          if (columns_[c].name == name && is_free(c)) all.push_back(c);
        }
      }
      if (all.empty() || all.size() != of.names.size()) continue;
      chosen_[r] = std::move(all);
      reasons_[r] = "the name it was learned by";
    }
  }

  void take_usual_names() {
    for (size_t r = 0; r < roles_.size(); ++r) {
      if (!chosen_[r].empty() || roles_[r].kind == Role::Kind::numbers) continue;
      std::vector<std::string_view> names{roles_[r].name};
      const bool number = roles_[r].kind == Role::Kind::number;
      for (const auto name : usual_names(number ? "number" : roles_[r].name)) names.push_back(name);
      for (const std::string_view name : names) {
        const size_t c = free_column_called(name);
        if (c == columns_.size()) continue;
        chosen_[r] = {c};
        reasons_[r] = "a usual name for it";
        break;
      }
    }
  }

  void take_pictures() {
    for (const size_t r : open_roles()) {
      if (roles_[r].kind != Role::Kind::picture) continue;
      const auto c = only([](const ColumnInfo& column) { return column.pictures; });
      if (c) chosen_[r] = {*c}, reasons_[r] = "names of pictures";
    }
  }

  void take_in_order() {
    const auto open = open_roles();
    const auto free = free_columns();
    if (open.empty() || open.size() != free.size() || wants_numbers()) return;
    if (open.size() == 2 && takes_content(open, free)) return;
    for (size_t i = 0; i < open.size(); ++i) {
      chosen_[open[i]] = {free[i]};
      reasons_[open[i]] = open.size() == 1 ? "the only one left" : "in order";
    }
  }

  void take_content() {
    for (const size_t r : open_roles()) {
      const auto kind = roles_[r].kind;
      if (kind == Role::Kind::label) {
        const auto c = only([&](const ColumnInfo& column) { return is_like_labels(column); });
        if (c) chosen_[r] = {*c}, reasons_[r] = "few different values";
      } else if (kind == Role::Kind::text && open_texts() == 1) {
        if (const auto c = longest()) chosen_[r] = {*c}, reasons_[r] = "the longest texts";
      } else if (kind == Role::Kind::number) {
        for (const size_t c : free_columns()) {
          if (columns_[c].numeric) chosen_[r] = {c}, reasons_[r] = "the last one of numbers";
        }
      }
    }
  }

  ColumnChoice finish() {
    for (size_t r = 0; r < roles_.size(); ++r) {
      if (roles_[r].kind == Role::Kind::numbers && chosen_[r].empty()) {
        for (const size_t c : free_columns()) {
          if (columns_[c].numeric) chosen_[r].push_back(c);
        }
        reasons_[r] = "all other numbers";
      }
    }
    ColumnChoice result;
    for (size_t r = 0; r < roles_.size(); ++r) {
      if (chosen_[r].empty()) {
        check(!roles_[r].required, path_, ": which column is the ", roles_[r].name,
              " cannot be told; say --columns ", example(), ". There ",
              columns_.size() == 1 ? "is " : "are ", listed(columns_));
        continue;
      }
      result.reason += say(result.reason.empty() ? "" : ", ", roles_[r].name, " is ");
      for (size_t i = 0; i < chosen_[r].size(); ++i) {
        result.reason += say(i == 0 ? "" : " + ", name_of(columns_, chosen_[r][i]));
      }
      result.reason += " (" + reasons_[r] + ")";
    }
    result.columns = std::move(chosen_);
    return result;
  }

 private:
  size_t role_called(std::string_view name) const {
    size_t r = 0;
    while (r < roles_.size() && roles_[r].name != name) ++r;
    return r;
  }

  // "label=..,text=.." with the columns there are.
  std::string example() const {
    std::string text;
    size_t next = 0;
    for (size_t r = 0; r < roles_.size(); ++r) {
      if (!roles_[r].required) continue;
      size_t c = columns_.size();
      if (!chosen_[r].empty()) c = chosen_[r][0];
      for (size_t i = columns_.size(); i-- > 0 && chosen_[r].empty();) {
        if (roles_[r].kind == Role::Kind::label && is_free(i) && is_like_labels(columns_[i])) c = i;
      }
      if (c == columns_.size()) {
        while (next < columns_.size() && !is_free(next)) ++next;
        c = next++;
      }
      const bool named = c < columns_.size() && !columns_[c].name.empty();
      text += say(text.empty() ? "" : ",", roles_[r].name, "=",
                  named ? shortened(columns_[c].name) : say(c + 1));
    }
    return text;
  }

  [[noreturn]] void fail_form(const std::string& asked) const {
    std::string names;
    for (const Role& role : roles_) names += (names.empty() ? "" : ", ") + role.name;
    fail("--columns: needs ", names, " each with a column, such as ", example(), ", got '", asked,
         "'");
  }

  void ask_in_order(const std::string& asked) {
    const size_t tags = role_called("tags");
    std::vector<std::string_view> parts;
    for (size_t from = 0; from <= asked.size();) {
      const size_t to = std::min(asked.find(',', from), asked.size());
      parts.push_back(std::string_view(asked).substr(from, to - from));
      from = to + 1;
    }
    std::vector<size_t> order;
    for (size_t r = 0; r < roles_.size(); ++r) {
      if (roles_[r].required) order.push_back(r);
    }
    if (parts.size() == 1 && tags < roles_.size()) order = {tags};
    if (parts.size() != order.size()) fail_form(asked);
    for (size_t i = 0; i < parts.size(); ++i) {
      chosen_[order[i]] = found(parts[i], roles_[order[i]].name);
      reasons_[order[i]] = "as asked";
    }
  }

  std::vector<size_t> found(std::string_view said, std::string_view role) const {
    if (const auto whole = find(said)) return {*whole};
    std::vector<size_t> parts;
    for (size_t from = 0; from <= said.size();) {
      const size_t to = std::min(said.find('+', from), said.size());
      const std::string_view part = trimmed(said.substr(from, to - from));
      const auto column = find(part);
      if (!column) fail_unknown(part, role);
      parts.push_back(*column);
      from = to + 1;
    }
    return parts;
  }

  std::optional<size_t> find(std::string_view said) const {
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (!said.empty() && columns_[c].name == said) return c;
    }
    size_t number = 0;
    const auto result = std::from_chars(said.data(), said.data() + said.size(), number);
    const bool whole = result.ec == std::errc() && result.ptr == said.data() + said.size();
    if (whole && number >= 1 && number <= columns_.size()) return number - 1;
    return std::nullopt;
  }

  [[noreturn]] void fail_unknown(std::string_view part, std::string_view role) const {
    std::vector<std::string> names;
    for (const ColumnInfo& column : columns_) {
      if (!column.name.empty()) names.push_back(column.name);
    }
    const std::string nearest = nearest_name(part, names);
    fail(path_, ": has no column '", shortened(part), "' for the ", role,
         is_in_first_row(part)
             ? "; the first row has it: if that names the columns, say --header yes"
         : nearest.empty() ? ""
                           : say("; did you mean '", nearest, "'?"),
         nearest.empty() || is_in_first_row(part) ? ";" : "",
         " columns go by name or number, counted from 1. There ",
         columns_.size() == 1 ? "is " : "are ", listed(columns_));
  }

  bool is_in_first_row(std::string_view part) const {
    return std::any_of(columns_.begin(), columns_.end(), [&](const ColumnInfo& column) {
      return column.name.empty() && !column.samples.empty() && column.samples[0] == part;
    });
  }

  bool wants_numbers() const {
    return std::any_of(roles_.begin(), roles_.end(), [](const Role& role) {
      return role.kind == Role::Kind::numbers && role.required;
    });
  }
  bool is_free(size_t column) const {
    return std::none_of(chosen_.begin(), chosen_.end(), [&](const auto& taken) {
      return std::count(taken.begin(), taken.end(), column) > 0;
    });
  }
  std::vector<size_t> free_columns() const {
    std::vector<size_t> free;
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (is_free(c)) free.push_back(c);
    }
    return free;
  }
  size_t free_column_called(std::string_view name) const {
    size_t c = 0;
    while (c < columns_.size() && (to_lowercase(columns_[c].name) != name || !is_free(c))) ++c;
    return c;
  }
  std::vector<size_t> open_roles() const {
    std::vector<size_t> open;
    for (size_t r = 0; r < roles_.size(); ++r) {
      if (chosen_[r].empty() && roles_[r].required && roles_[r].kind != Role::Kind::numbers) {
        open.push_back(r);
      }
    }
    return open;
  }
  size_t open_texts() const {
    size_t count = 0;
    for (const size_t r : open_roles()) count += roles_[r].kind == Role::Kind::text;
    return count;
  }

  // A label and a text the other way round than asked, beyond doubt.
  bool takes_content(const std::vector<size_t>& open, const std::vector<size_t>& free) const {
    if (roles_[open[0]].kind != Role::Kind::label || roles_[open[1]].kind != Role::Kind::text) {
      return false;
    }
    const ColumnInfo &first = columns_[free[0]], &second = columns_[free[1]];
    return is_like_labels(second) && !is_like_labels(first) &&
           first.mean_length > 2 * second.mean_length;
  }

  template <class F>
  std::optional<size_t> only(const F& fits) const {
    std::optional<size_t> result;
    for (const size_t c : free_columns()) {
      if (!fits(columns_[c])) continue;
      if (result) return std::nullopt;
      result = c;
    }
    return result;
  }
  // Longer by half than any other that is free, and no numbers.
  std::optional<size_t> longest() const {
    std::optional<size_t> best;
    double second = 0;
    for (const size_t c : free_columns()) {
      if (columns_[c].numeric) continue;
      if (!best || columns_[c].mean_length > columns_[*best].mean_length) {
        if (best) second = std::max(second, columns_[*best].mean_length);
        best = c;
      } else {
        second = std::max(second, columns_[c].mean_length);
      }
    }
    if (best && columns_[*best].mean_length < 1.5 * second) return std::nullopt;
    return best;
  }

  const std::string& path_;
  std::span<const Role> roles_;
  std::span<const ColumnInfo> columns_;
  std::vector<std::vector<size_t>> chosen_;
  std::vector<std::string> reasons_;
};

}  // namespace

bool says_role(std::string_view asked, std::string_view role) {
  for (size_t from = 0; from <= asked.size();) {
    const size_t to = std::min(asked.find(',', from), asked.size());
    const std::string_view part = asked.substr(from, to - from);
    const size_t equals = part.find('=');
    if (equals != part.npos && trimmed(part.substr(0, equals)) == role) return true;
    from = to + 1;
  }
  return false;
}

bool is_like_labels(const ColumnInfo& column) {
  return column.seen >= 6 && column.distinct <= std::min<int64_t>(100, column.seen / 3) &&
         column.distinct >= 2 && column.mean_length <= 40;
}

ColumnChoice choose_columns(const std::string& path, std::span<const Role> roles,
                            std::span<const ColumnInfo> columns, const std::string& asked,
                            std::span<const int64_t> fixed, std::span<const ColumnNames> learned) {
  Choice choice(path, roles, columns);
  choice.ask(asked);
  choice.take_fixed(fixed);
  choice.take_learned(learned);
  choice.take_usual_names();
  choice.take_pictures();
  choice.take_in_order();
  choice.take_content();
  choice.take_in_order();
  return choice.finish();
}

}  // namespace fovea
