// Options whose fields are listed once: command line, JSON, checkpoints and documentation read the
// same list, and an unknown name is an error that suggests the nearest known one.
//
//   struct Options { int64_t width = 64; double rate = 0.1; };
//   const Fields<Options> fields{{"width", &Options::width, "features"}, {"rate", &Options::rate,
//   "..."}}; fields.set(options, "width", "128");
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/names.h"

namespace fovea {

template <class Struct>
class Fields {
 public:
  using Member =
      std::variant<int64_t Struct::*, double Struct::*, bool Struct::*, std::string Struct::*>;
  struct Field {
    std::string name;
    Member member;
    std::string help;
    std::string group{};  // where a list of many fields shows it
  };

  Fields(std::initializer_list<Field> list) : list_(list) {}
  const std::vector<Field>& list() const { return list_; }

  // f(field, value) for every field, in order; value is the member of `of` itself.
  template <class Of, class F>
  void each(Of& of, F&& f) const {
    for (const Field& field : list_) {
      std::visit([&](auto member) { f(field, of.*member); }, field.member);
    }
  }
  bool has(std::string_view name) const {
    return std::ranges::find(list_, name, &Field::name) != list_.end();
  }

  void set(Struct& to, std::string_view name, std::string_view text) const {
    const Field& field = find(name);
    std::visit([&](auto member) { parse(to.*member, field.name, text); }, field.member);
  }
  std::string get(const Struct& from, std::string_view name) const {
    return std::visit([&](auto member) { return print(from.*member); }, find(name).member);
  }

 private:
  const Field& find(std::string_view name) const {
    std::vector<std::string> known;
    for (const Field& field : list_) {
      if (field.name == name) return field;
      known.push_back(field.name);
    }
    fail(unknown_name("option", name, known));
  }
  template <class Number>
  static void parse(Number& to, const std::string& name, std::string_view text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    check(result.ec == std::errc() && result.ptr == end, "option '", name, "' needs ",
          std::is_same_v<Number, double> ? "a number" : "a whole number", ", got '", text, "'");
    to = value;
  }
  static void parse(bool& to, const std::string& name, std::string_view text) {
    check(text == "true" || text == "false", "option '", name, "' needs true or false, got '", text,
          "'");
    to = text == "true";
  }
  static void parse(std::string& to, const std::string&, std::string_view text) { to = text; }
  static std::string print(bool value) { return value ? "true" : "false"; }
  static std::string print(const std::string& value) { return value; }
  template <class Number>
  static std::string print(Number value) {
    return say(value);
  }

  std::vector<Field> list_;
};

}  // namespace fovea
