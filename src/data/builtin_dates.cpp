// builtin:dates. Each way to write a date is a pattern of marks; the marks leave spans behind, so
// the true alignment comes with the text.
#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>

#include "fovea/base/error.h"
#include "fovea/data/builtin.h"

namespace fovea {
namespace {

constexpr int first_year = 1800, last_year = 2100;
constexpr int first_short_year = 1970, last_short_year = 2069;  // what two digits can mean

constexpr std::array months{"January", "February", "March",     "April",   "May",      "June",
                            "July",    "August",   "September", "October", "November", "December"};
constexpr std::array weekdays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                              "Thursday", "Friday", "Saturday"};
constexpr std::array small{"zero",    "one",     "two",       "three",    "four",
                           "five",    "six",     "seven",     "eight",    "nine",
                           "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                           "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array tens{"",      "",      "twenty",  "thirty", "forty",
                          "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array ordinals{"first",     "second",      "third",      "fourth",     "fifth",
                              "sixth",     "seventh",     "eighth",     "ninth",      "tenth",
                              "eleventh",  "twelfth",     "thirteenth", "fourteenth", "fifteenth",
                              "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"};

struct Date {
  int year, month, day;
};

// %Y 1998  %y 98  %Z nineteen ninety-eight  %B March  %b Mar  %a Mar.  %m 3  %M 03
// %d 5  %D 05  %o 5th  %O fifth  %W Thursday  %w Thu
struct Form {
  const char* pattern;
  int weight;
};

constexpr Form forms[] = {
    {"%B %d, %Y", 8},    {"%B %d %Y", 4},        {"%d %B %Y", 8},         {"%B %o, %Y", 4},
    {"%o %B %Y", 3},     {"%o of %B %Y", 3},     {"the %o of %B, %Y", 2}, {"%B the %o, %Y", 1},
    {"%b %d, %Y", 4},    {"%b %d %Y", 4},        {"%a %d, %Y", 2},        {"%d %b %Y", 4},
    {"%d %a %Y", 1},     {"%d-%b-%Y", 3},        {"%D-%b-%y", 2},         {"%d %b '%y", 2},
    {"%B %d, '%y", 2},   {"%d.%m.%Y", 5},        {"%D.%M.%Y", 5},         {"%d.%m.%y", 3},
    {"%d. %m. %Y", 1},   {"%m/%d/%Y", 5},        {"%M/%D/%Y", 5},         {"%m/%d/%y", 3},
    {"%Y-%m-%d", 2},     {"%Y-%M-%D", 4},        {"%Y/%M/%D", 3},         {"%Y%M%D", 3},
    {"%Y %B %d", 1},     {"%Y, %B %o", 1},       {"%Y-%b-%D", 1},         {"%W, %B %d, %Y", 4},
    {"%W, %d %B %Y", 3}, {"%W, %o of %B %Y", 2}, {"%W %d.%m.%Y", 1},      {"%w %d %b %Y", 2},
    {"%w, %D %b %Y", 2}, {"%w %m/%d/%y", 1},     {"%B %Y, the %o", 1},    {"the %O of %B, %Y", 1},
    {"%B %O, %Y", 1},    {"the %O of %B, %Z", 1}};

std::string two_digits(int number) { return say(number / 10, number % 10); }

std::string in_words(int number) {
  if (number < 20) return small[number];
  if (number % 10 == 0) return tens[number / 10];
  return say(tens[number / 10], "-", small[number % 10]);
}

std::string year_in_words(int year) {
  const int century = year / 100, rest = year % 100;
  if (century == 20 && rest < 10) {
    return rest == 0 ? say("two thousand") : say("two thousand ", small[rest]);
  }
  if (rest == 0) return say(in_words(century), " hundred");
  return say(in_words(century), rest < 10 ? " oh " : " ", in_words(rest));
}

std::string ordinal_in_words(int number) {
  if (number <= 20) return ordinals[number - 1];
  if (number % 10 == 0) return "thirtieth";
  return say(tens[number / 10], "-", ordinals[number % 10 - 1]);
}

std::string ordinal(int number) {
  const int last = number / 10 == 1 ? 0 : number % 10;
  return say(number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::chrono::year_month_day calendar(const Date& date) {
  return std::chrono::year(date.year) / date.month / date.day;
}

std::string weekday(const Date& date) {
  return weekdays[std::chrono::weekday(std::chrono::sys_days(calendar(date))).c_encoding()];
}

std::string write_mark(char mark, const Date& date) {
  const std::string month = months[date.month - 1];
  switch (mark) {
    case 'Y':
      return say(date.year);
    case 'y':
      return two_digits(date.year % 100);
    case 'Z':
      return year_in_words(date.year);
    case 'B':
      return month;
    case 'b':
      return month.substr(0, 3);
    case 'a':
      return month.substr(0, 3) + (month.size() > 3 ? "." : "");
    case 'm':
      return say(date.month);
    case 'M':
      return two_digits(date.month);
    case 'd':
      return say(date.day);
    case 'D':
      return two_digits(date.day);
    case 'o':
      return ordinal(date.day);
    case 'O':
      return ordinal_in_words(date.day);
    case 'W':
      return weekday(date);
    case 'w':
      return weekday(date).substr(0, 3);
    default:
      fail("builtin:dates: no mark %", std::string(1, mark));
  }
}

const Form& draw_form(Random& random) {
  static const int total = [] {
    int sum = 0;
    for (const Form& form : forms) sum += form.weight;
    return sum;
  }();
  auto left = static_cast<int>(random.below(total));
  const Form* form = forms;
  while (left >= form->weight) left -= (form++)->weight;
  return *form;
}

Date draw_date(bool short_year, Random& random) {
  const int from = short_year ? first_short_year : first_year;
  const int to = short_year ? last_short_year : last_year;
  for (;;) {
    const int year = from + static_cast<int>(random.below(to - from + 1));
    const int month = 1 + static_cast<int>(random.below(12));
    const Date date{year, month, 1 + static_cast<int>(random.below(31))};
    if (calendar(date).ok()) return date;
  }
}

Pair write(const Form& form, const Date& date) {
  std::string text;
  Span year, month, day;
  for (const char* at = form.pattern; *at; ++at) {
    if (*at != '%') {
      text += *at;
      continue;
    }
    const char mark = *++at;
    const auto from = static_cast<int32_t>(text.size());  // all is ASCII: bytes are code points
    text += write_mark(mark, date);
    const Span span{from, static_cast<int32_t>(text.size())};
    const std::string_view kind(&mark, 1);
    if (std::string_view("YyZ").find(kind) != std::string_view::npos) year = span;
    if (std::string_view("BbamM").find(kind) != std::string_view::npos) month = span;
    if (std::string_view("dDoO").find(kind) != std::string_view::npos) day = span;
  }
  const Span dash;
  return {std::move(text),
          say(date.year, "-", two_digits(date.month), "-", two_digits(date.day)),
          {year, year, year, year, dash, month, month, dash, day, day}};
}

}  // namespace

std::vector<Pair> generate_dates(int64_t n, Random random) {
  std::vector<Pair> pairs;
  for (int64_t i = 0; i < n; ++i) {
    const Form& form = draw_form(random);
    const bool short_year = std::string_view(form.pattern).find("%y") != std::string_view::npos;
    Pair pair = write(form, draw_date(short_year, random));
    const uint64_t letters = random.below(10);
    for (char& c : pair.source) {
      const auto byte = static_cast<unsigned char>(c);
      if (letters < 3) c = static_cast<char>(std::tolower(byte));
      if (letters == 3) c = static_cast<char>(std::toupper(byte));
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace fovea
