// Addresses, names, tags and emoticons, which no rule for words keeps together.
#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/data/tokenizer_words.h"

namespace fovea {
namespace {

// Longer ones are none; without a limit a hostile line would be searched from every place to its
// end. 64 is that of mail.
constexpr size_t longest_scheme = 16, longest_mailbox = 64;

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }
bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_any(char c, std::string_view of) { return of.find(c) != std::string_view::npos; }
bool in_mailbox(char c) { return is_alnum(c) || is_any(c, "._%+-"); }

// What stands at the end of an address belongs to the sentence.
size_t trimmed(std::string_view s, size_t from, size_t to) {
  while (to > from && is_any(s[to - 1], ".,;:!?'*_)]}|")) {
    const std::string_view address = s.substr(from, to - from);
    if (address.ends_with(')') &&
        std::ranges::count(address, '(') >= std::ranges::count(address, ')'))
      break;
    --to;
  }
  return to;
}

size_t end_of_address(std::string_view s, size_t from, size_t body) {
  size_t to = body;
  while (to < s.size() && !is_wide(s[to]) && !is_any(s[to], "<>\"`")) ++to;
  to = trimmed(s, from, to);
  return to > body ? to : from;
}

// Each gives where the thing that begins at `at` ends; `at` itself when none does.
size_t web_address(std::string_view s, size_t at) {
  if (!is_alpha(s[at])) return at;
  if (s.substr(at).starts_with("www.") || s.substr(at).starts_with("WWW.")) {
    return end_of_address(s, at, at + 4);
  }
  size_t to = at;
  while (to < s.size() && to - at < longest_scheme && (is_alnum(s[to]) || is_any(s[to], "+-.")))
    ++to;
  return s.substr(to).starts_with("://") ? end_of_address(s, at, to + 3) : at;
}

size_t mail_address(std::string_view s, size_t at) {
  size_t to = at;
  while (to < s.size() && to - at < longest_mailbox && in_mailbox(s[to])) ++to;
  if (to == at || to == s.size() || s[to] != '@') return at;
  const size_t host = to + 1;
  for (to = host; to < s.size() && (is_alnum(s[to]) || is_any(s[to], ".-"));) ++to;
  while (to > host && is_any(s[to - 1], ".-")) --to;
  return s.substr(host, to - host).find('.') == std::string_view::npos ? at : to;
}

size_t name_or_tag(std::string_view s, size_t at) {
  if (s[at] != '@' && s[at] != '#') return at;
  size_t to = at + 1;
  bool letters = false;
  while (to < s.size()) {
    const CodePoint point = first_code_point(s.substr(to));
    const bool letter = is_alpha(s[to]) || (point.value >= 0x80 && s[at] == '#' &&
                                            word_class(point.value) == WordClass::letter);
    if (!letter && !is_digit(s[to]) && s[to] != '_') break;
    letters = letters || letter;
    to += point.bytes;
  }
  return letters ? to : at;
}

// :-) ;( =D <3: behind a word only with a bracket for a mouth, since "time:D" may mean anything.
size_t emoticon(std::string_view s, size_t at) {
  if (s.substr(at).starts_with("<3")) {
    return at + 2 == s.size() || !is_alnum(s[at + 2]) ? at + 2 : at;
  }
  if (!is_any(s[at], ":;=")) return at;
  size_t to = at + 1;
  if (to < s.size() && is_any(s[to], "-o'^")) ++to;
  if (to == s.size() || !is_any(s[to], ")(DPp/\\|*")) return at;
  const char mouth = s[to++];
  if (mouth == ')' || mouth == '(') {
    while (to < s.size() && s[to] == mouth) ++to;  // :)))
    return (at == 0 || s[at] != '=') && (to == s.size() || !is_alnum(s[to])) ? to : at;
  }
  return at == 0 && (to == s.size() || is_any(s[to], ".,!?")) ? to : at;
}

}  // namespace

std::vector<std::string_view> find_whole_words(std::string_view s) {
  std::vector<std::string_view> found;
  for (size_t at = 0; at < s.size();) {
    const bool starts = at == 0 || !(is_alnum(s[at - 1]) || is_wide(s[at - 1]));
    size_t to = at;
    if (starts) to = web_address(s, at);
    if (to == at && (at == 0 || !(in_mailbox(s[at - 1]) || is_wide(s[at - 1])))) {
      to = mail_address(s, at);
    }
    if (to == at && starts) to = name_or_tag(s, at);
    if (to == at) to = emoticon(s, at);
    if (to > at) found.push_back(s.substr(at, to - at));
    at = std::max(to, at + 1);
  }
  return found;
}

}  // namespace fovea
