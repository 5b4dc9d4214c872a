// Options whose fields are said once, where their part is declared: command line, JSON, checkpoints
// and documentation read the same list, with the least and greatest value, which are checked here.
// An unknown name is an Error that suggests the nearest known one.
//
//   struct Options { int64_t width = 64; double rate = 0.1; std::string cell = "gru"; };
//   const Fields<Options> fields{{"width", &Options::width, "units of a layer", whole_from(1,
//   65536)},
//                                {"rate", &Options::rate, "learning rate", above(0, 100)},
//                                {"cell", &Options::cell, "kind of unit", one_of({"gru",
//                                "lstm"})}};
//   fields.set(options, "width", "128");
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/base/settings.h"

namespace fovea {

// What a field may be.
struct FieldRange {
  double least = -std::numeric_limits<double>::infinity();    // no smaller number may be said
  double greatest = std::numeric_limits<double>::infinity();  // and no larger one
  bool above_least = false;                                   // the least itself is not allowed
  bool below_greatest = false;                                // nor is the greatest
  std::vector<std::string> choices{};                         // of a text; none: any

  std::string text() const;  // "from 1 to 65536", "above 0", "tanh, relu"; "" when all is allowed
};
// Inclusive ranges, of whole numbers and of any; what is whole is the field's kind, not its range.
FieldRange whole_from(double least, double greatest);
FieldRange between(double least, double greatest);
FieldRange above(double least, double greatest);  // least < x <= greatest
FieldRange part_of_one();                         // 0 <= x < 1, as dropout
// A text that is one of these.
FieldRange one_of(std::vector<std::string> choices);

// A field without the struct it belongs to: what lists, help and JSON need.
struct FieldInfo {
  // What its text is read as: a whole number, any finite number, true or false, or itself.
  enum class Kind { whole, number, flag, text };
  std::string name, help;  // as it is said and stored, and what it does in a few words
  Kind kind = Kind::text;  // by the member's type
  FieldRange range;        // checked by check_text()
  std::string fallback;    // its value unless another is said

  // Throws unless `text` is a value that the field may have.
  void check_text(std::string_view text) const;
};

// The value that a text says, or an Error that names the option.
int64_t whole_of(const std::string& name, std::string_view text);
double number_of(const std::string& name, std::string_view text);
bool flag_of(const std::string& name, std::string_view text);
// The text that says a value.
std::string text_of(int64_t value);
std::string text_of(double value);  // the shortest that reads back as the same
std::string text_of(bool value);
std::string text_of(const std::string& value);

// The value of a text, into `to`; `name` is the option that an Error speaks of.
void parse(int64_t& to, const std::string& name, std::string_view text);
void parse(double& to, const std::string& name, std::string_view text);
void parse(bool& to, const std::string& name, std::string_view text);
void parse(std::string& to, const std::string& name, std::string_view text);

// The fields of a struct, in the order in which they are listed.
template <class Struct>
class Fields {
 public:
  // A member of the struct, whatever its type: int64_t, double, bool or std::string.
  class Member {
   public:
    // Of the struct itself, or of one that it is built on.
    template <class T, class Owner>
    requires std::is_base_of_v<Owner, Struct> Member(
        T Owner::*member)  // NOLINT: implicit on purpose
        : kind(kind_of(T())),
          get([member](const Struct& from) { return text_of(from.*member); }),
          set([member](Struct& to, const std::string& name, std::string_view text) {
            parse(to.*member, name, text);
          }) {}
    template <class Base>
    explicit Member(const Base& base) : kind(base.kind), get(base.get), set(base.set) {}

    FieldInfo::Kind kind;                           // by the member's type
    std::function<std::string(const Struct&)> get;  // its value as a text
    // Its value from a text, which must be of its kind; the range is for Fields::set to check.
    std::function<void(Struct&, const std::string& name, std::string_view text)> set;

   private:
    static constexpr FieldInfo::Kind kind_of(int64_t) { return FieldInfo::Kind::whole; }
    static constexpr FieldInfo::Kind kind_of(double) { return FieldInfo::Kind::number; }
    static constexpr FieldInfo::Kind kind_of(bool) { return FieldInfo::Kind::flag; }
    static FieldInfo::Kind kind_of(const std::string&) { return FieldInfo::Kind::text; }
  };
  // One row of the list.
  struct Field {
    std::string name;    // as it is said on the command line and in JSON
    Member member;       // &Options::width
    std::string help;    // what it does, for lists and documentation
    FieldRange range{};  // none: any value of its type
  };

  Fields(std::initializer_list<Field> list) : list_(list) {}
  // Those that several structs have alike, and then its own.
  Fields(std::vector<Field> common, std::initializer_list<Field> list) : list_(std::move(common)) {
    list_.insert(list_.end(), list.begin(), list.end());
  }
  // Those of a struct that this one is built on, and then its own.
  template <class Base>
  Fields(const Fields<Base>& base, std::initializer_list<Field> list) {
    for (const auto& field : base.list()) {
      list_.push_back({field.name, Member(field.member), field.help, field.range});
    }
    list_.insert(list_.end(), list.begin(), list.end());
  }
  // All of them, in the order in which they were given.
  const std::vector<Field>& list() const { return list_; }

  // The fields with the values of a fresh struct.
  std::vector<FieldInfo> infos() const { return infos(Struct()); }
  std::vector<FieldInfo> infos(const Struct& fresh) const {
    std::vector<FieldInfo> all;
    for (const Field& field : list_) all.push_back(info(field, fresh));
    return all;
  }
  // Whether there is a field of that name.
  bool has(std::string_view name) const {
    return std::ranges::find(list_, name, &Field::name) != list_.end();
  }
  // The field from a text: an Error unless it is of the field's kind and in its range.
  void set(Struct& to, std::string_view name, std::string_view text) const {
    const Field& field = find(name);
    // What it is when nothing is said need not be sayable: 0 steps stand for no limit.
    if (text != field.member.get(to)) info(field, to).check_text(text);
    field.member.set(to, field.name, text);
  }
  // The field as a text.
  std::string get(const Struct& from, std::string_view name) const {
    return find(name).member.get(from);
  }
  // `start` with what the settings say about these fields; other names are not looked at.
  Struct read(const Settings& settings) const { return read(settings, Struct()); }
  Struct read(const Settings& settings, Struct start) const {
    for (const Field& field : list_) {
      if (const std::string* text = settings.find(field.name)) set(start, field.name, *text);
    }
    return start;
  }

 private:
  static FieldInfo info(const Field& field, const Struct& at) {
    return {field.name, field.help, field.member.kind, field.range, field.member.get(at)};
  }
  const Field& find(std::string_view name) const {
    std::vector<std::string> known;
    for (const Field& field : list_) {
      if (field.name == name) return field;
      known.push_back(field.name);
    }
    fail(unknown_name("option", name, known));
  }

  std::vector<Field> list_;
};

}  // namespace fovea
