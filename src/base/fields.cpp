#include "fovea/base/fields.h"

#include <charconv>
#include <cmath>

namespace fovea {
namespace {

template <class Number>
bool reads(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

std::string plain(double x) {
  char buffer[32];
  const auto end = std::abs(x) < 1e15 && x == std::floor(x)
                       ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<int64_t>(x)).ptr
                       : std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  return {buffer, end};
}

}  // namespace

FieldRange whole_from(double least, double greatest) { return between(least, greatest); }

FieldRange between(double least, double greatest) {
  FieldRange range;
  range.least = least, range.greatest = greatest;
  return range;
}

FieldRange above(double least, double greatest) {
  FieldRange range = between(least, greatest);
  range.above_least = true;
  return range;
}

FieldRange part_of_one() {
  FieldRange range = between(0, 1);
  range.below_greatest = true;
  return range;
}

FieldRange one_of(std::vector<std::string> choices) {
  FieldRange range;
  range.choices = std::move(choices);
  return range;
}

std::string FieldRange::text() const {
  if (!choices.empty()) {
    std::string all;
    for (const std::string& choice : choices) all += (all.empty() ? "" : ", ") + choice;
    return all;
  }
  const bool low = std::isfinite(least), high = std::isfinite(greatest);
  if (!low && !high) return "";
  std::string text;
  if (low) text = (above_least ? "above " : high ? "from " : "at least ") + plain(least);
  if (high)
    text +=
        (low ? ", " : "") + std::string(below_greatest ? "below " : "at most ") + plain(greatest);
  if (low && high && !above_least && !below_greatest) {
    text = "from " + plain(least) + " to " + plain(greatest);
  }
  return text;
}

int64_t whole_of(const std::string& name, std::string_view text) {
  int64_t value = 0;
  check(reads(text, value), "option '", name, "' needs a whole number, got '", text, "'");
  return value;
}

double number_of(const std::string& name, std::string_view text) {
  double value = 0;
  check(reads(text, value) && std::isfinite(value), "option '", name, "' needs a number, got '",
        text, "'");
  return value;
}

bool flag_of(const std::string& name, std::string_view text) {
  check(text == "true" || text == "false", "option '", name, "' needs true or false, got '", text,
        "'");
  return text == "true";
}

void FieldInfo::check_text(std::string_view text) const {
  if (kind == Kind::flag) {
    flag_of(name, text);
    return;
  }
  if (kind == Kind::text) {
    const bool known =
        range.choices.empty() || std::ranges::find(range.choices, text) != range.choices.end();
    if (!known) fail(unknown_name(name, text, range.choices));
    return;
  }
  const double value =
      kind == Kind::whole ? static_cast<double>(whole_of(name, text)) : number_of(name, text);
  const bool low = range.above_least ? value > range.least : value >= range.least;
  const bool high = range.below_greatest ? value < range.greatest : value <= range.greatest;
  check(low && high, "option '", name, "' must be ", range.text(), ", got ", text);
}

void parse(int64_t& to, const std::string& name, std::string_view text) {
  to = whole_of(name, text);
}
void parse(double& to, const std::string& name, std::string_view text) {
  to = number_of(name, text);
}
void parse(bool& to, const std::string& name, std::string_view text) { to = flag_of(name, text); }
void parse(std::string& to, const std::string&, std::string_view text) { to = text; }

std::string text_of(int64_t value) { return std::to_string(value); }

std::string text_of(double value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const std::string& value) { return value; }

}  // namespace fovea
