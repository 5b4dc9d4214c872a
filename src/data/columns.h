// Which columns of a table are meant: by name, by number, by the names people use, by content.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// What a task needs of a record. The name is the word before `=` in columns and decides which
// column names are usual for it (label: label, category, class, ...).
struct Role {
  // What a cell must hold.
  enum class Kind {
    text,     // one text
    picture,  // the name of a file that holds a picture
    label,    // one of few texts
    list,     // words: a CoNLL column, a JSON array, or what stands between spaces
    number,   // one number
    numbers,  // several columns of numbers; when nothing is said all that no other role has
    texts,    // any number of texts: a JSON array, or what stands between bars (a|b)
  };
  std::string name;        // label, text, source, ...
  Kind kind = Kind::text;  // of its cells
  bool required = true;    // else a file, or a record, may be without
};

// What the first rows of a file tell of a column.
struct ColumnInfo {
  std::string name;        // of the header or the key; "" where there is none
  bool numeric = false;    // four of five cells that are not empty, or more, are numbers
  bool pictures = false;   // or names of PNG, JPEG or BMP files
  int64_t seen = 0;        // cells that are not empty
  int64_t distinct = 0;    // different ones among them
  double mean_length = 0;  // in bytes
  std::vector<std::string> samples{};  // the first few different ones, shortened
};

// A finite number, spaces round it allowed. `decimal_comma`: 3,14 too.
std::optional<double> to_number(std::string_view cell, bool decimal_comma = false);

// One for each column. Rows may be shorter than `names`; what is then missing counts as empty.
std::vector<ColumnInfo> describe_columns(std::span<const std::string> names,
                                         std::span<const std::vector<std::string>> rows,
                                         bool decimal_comma);

// Lower case names that columns of this role often have, the surest first.
std::span<const std::string_view> usual_names(std::string_view role);
// How surely this is the name of a column, in whatever role: 2 as good as surely, 1 often, 0 not.
int usual_name_weight(std::string_view name);

// Whether `asked`, as choose_columns has it, names a column for this role.
bool says_role(std::string_view asked, std::string_view role);

// Few different values, none of them long, each of them often: as labels are.
bool is_like_labels(const ColumnInfo& column);

// At most thirty characters of it.
std::string shortened(std::string_view text);

// Names of the columns that a role had in the table that a model learned from.
struct ColumnNames {
  std::string role;                // as Role has it
  std::vector<std::string> names;  // one a column
};

// The columns of each role, counted from 0; a role that is not required may have none.
struct ColumnChoice {
  std::vector<std::vector<size_t>> columns;  // by role, in the order of the roles
  std::string reason;  // "label is column 2 'category' (a usual name), text is ..."
};

// `asked` is columns: "label=category,text=title+body" or "label=5,text=3", where a name goes
// before a number, + joins columns and a comma that no role follows belongs to the name; or names
// or numbers alone, one for each role in order ("5,3"; one alone is the role `tags`). Roles that
// are not said take a column by its usual name, pictures the one that names files of them, else a
// file with as many columns as roles gives them in order, else content decides: few different
// values make a label, the longest texts a text. An Error says what to give and lists the columns.
// `fixed`: defaults of the format by role (CoNLL's words and tags), -1 where there is none.
// `learned`: of roles that are not said, columns of these names go before all guesses.
ColumnChoice choose_columns(const std::string& path, std::span<const Role> roles,
                            std::span<const ColumnInfo> columns, const std::string& asked,
                            std::span<const int64_t> fixed = {},
                            std::span<const ColumnNames> learned = {});

}  // namespace fovea
