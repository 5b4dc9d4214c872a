// The XML of SemEval 2014 (aspectTerm), 2015 and 2016 (Opinion), and of MAMS.
#include <algorithm>
#include <charconv>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/aspects.h"
#include "fovea/data/rows.h"

namespace fovea {
namespace {

struct Element {
  std::string name;  // with / in front where it closes
  std::map<std::string, std::string, std::less<>> attributes;
};

class Xml {
 public:
  Xml(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  // The next tag; what stands before it is `between`. Comments and declarations are passed over.
  bool next(Element& element) {
    between_.clear();
    for (;;) {
      const size_t open = text_.find('<', at_);
      if (open == std::string_view::npos) return false;
      between_ += decoded(text_.substr(at_, open - at_));
      at_ = open;
      constexpr std::string_view verbatim = "<![CDATA[", verbatim_end = "]]>";
      if (text_.substr(open).starts_with(verbatim)) {
        const size_t from = open + verbatim.size(), to = text_.find(verbatim_end, from);
        if (to == std::string_view::npos) fail<ErrorKind::input>(where(), ": CDATA is not closed");
        between_ += text_.substr(from, to - from);
        at_ = to + verbatim_end.size();
        continue;
      }
      if (!text_.substr(open).starts_with("<!--") && !text_.substr(open).starts_with("<?") &&
          !text_.substr(open).starts_with("<!")) {
        break;
      }
      const std::string_view end = text_.substr(open).starts_with("<!--") ? "-->" : ">";
      const size_t close = text_.find(end, open);
      if (close == std::string_view::npos) {
        fail<ErrorKind::input>(where(), ": a tag is not closed");
      }
      at_ = close + end.size();
    }
    read_tag(element);
    return true;
  }
  // The text before the tag, as people read it.
  const std::string& between() const { return between_; }
  std::string where() const {
    const auto from = static_cast<ptrdiff_t>(counted_), to = static_cast<ptrdiff_t>(at_);
    lines_ += std::count(text_.begin() + from, text_.begin() + to, '\n');
    counted_ = at_;
    return say(path_, ":", 1 + lines_);
  }

 private:
  void read_tag(Element& element) {
    element = {};
    size_t i = at_ + 1;
    const auto sound = [&](bool good) {
      if (good && i < text_.size()) return;
      fail<ErrorKind::input>(where(), ": is not XML as SemEval and MAMS have it: a tag is broken");
    };
    while (i < text_.size() && !is_space(text_[i]) && text_[i] != '>' &&
           !(text_[i] == '/' && i > at_ + 1)) {
      element.name += text_[i++];
    }
    for (;;) {
      while (i < text_.size() && (is_space(text_[i]) || text_[i] == '/')) ++i;
      sound(true);
      if (text_[i] == '>') break;
      std::string name;
      while (i < text_.size() && text_[i] != '=' && text_[i] != '>' && !is_space(text_[i])) {
        name += text_[i++];
      }
      while (i < text_.size() && (is_space(text_[i]) || text_[i] == '=')) ++i;
      sound(i < text_.size() && (text_[i] == '"' || text_[i] == '\''));
      const size_t end = text_.find(text_[i], i + 1);
      sound(end != std::string_view::npos);
      element.attributes[name] = decoded(text_.substr(i + 1, end - i - 1));
      i = end + 1;
    }
    at_ = i + 1;
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

  // What stands for one character at the beginning of the text, as &#233; or &#xE9; do; how many
  // bytes it takes, 0 where there is none.
  static size_t take_reference(std::string_view text, std::string& out) {
    if (!text.starts_with("&#")) return 0;
    const bool hex = text.substr(2).starts_with('x');
    const char *from = text.data() + (hex ? 3 : 2),
               *to = text.data() + std::min<size_t>(text.size(), 16);
    uint32_t point = 0;
    if (from >= to) return 0;
    const auto [end, error] = std::from_chars(from, to, point, hex ? 16 : 10);
    const bool surrogate = point >= 0xD800 && point < 0xE000;
    if (error != std::errc() || end == to || *end != ';' || point == 0 || point > 0x10FFFF ||
        surrogate) {
      return 0;
    }
    append_code_point(out, point);
    return static_cast<size_t>(end + 1 - text.data());
  }

  static std::string decoded(std::string_view text) {
    static const std::pair<std::string_view, std::string_view> names[] = {
        {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}};
    std::string out;
    for (size_t i = 0; i < text.size();) {
      const auto* found = std::ranges::find_if(
          names, [&](const auto& one) { return text.substr(i).starts_with(one.first); });
      if (const size_t size = take_reference(text.substr(i), out); size > 0) {
        i += size;
      } else if (found != std::end(names)) {
        out += found->second;
        i += found->first.size();
      } else {
        out += text[i++];
      }
    }
    return out;
  }

  const std::string& path_;
  std::string_view text_;
  size_t at_ = 0;
  mutable size_t counted_ = 0;  // up to there line breaks have been counted
  mutable int64_t lines_ = 0;   // as many
  std::string between_;
};

// The byte at which a code point begins; npos where there are fewer, or no number is given.
size_t byte_of(std::string_view text, std::string_view place) {
  size_t wanted = 0;
  if (std::from_chars(place.data(), place.data() + place.size(), wanted).ec != std::errc()) {
    return std::string_view::npos;
  }
  size_t seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (seen++ == wanted) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<Aspect> parse_aspect_xml(const std::string& path, std::string_view text) {
  Xml xml(path, text);
  std::vector<Aspect> all;
  std::string sentence;
  bool has_categories = false;
  for (Element element; xml.next(element);) {
    if (element.name == "sentence") sentence.clear();
    if (element.name == "/text") sentence = trimmed(xml.between());
    has_categories |= element.name == "aspectCategory";
    if (element.name != "aspectTerm" && element.name != "Opinion") continue;
    const auto has = [&](const char* name) {
      const auto found = element.attributes.find(name);
      return found == element.attributes.end() ? std::string() : found->second;
    };
    const std::string phrase = element.name == "Opinion" ? has("target") : has("term");
    if (element.name == "Opinion" && (phrase.empty() || phrase == "NULL")) continue;
    check<ErrorKind::input>(!has("polarity").empty(), xml.where(), ": the phrase '", phrase,
                            "' has no polarity");
    Aspect aspect = aspect_of(xml.where(), sentence, phrase, has("polarity"));
    // Of a phrase that comes twice the place tells which is meant.
    const size_t at = byte_of(sentence, has("from"));
    if (at != std::string_view::npos && sentence.compare(at, phrase.size(), phrase) == 0) {
      aspect.begin = at;
      aspect.end = at + phrase.size();
    }
    all.push_back(std::move(aspect));
  }
  check<ErrorKind::input>(!all.empty(), path,
                          has_categories
                              ? ": has categories, but no phrases in its sentences; aspect needs "
                                "aspectTerm or Opinion elements"
                              : ": has no aspectTerm and no Opinion element; needs the XML of "
                                "SemEval or MAMS");
  return all;
}

}  // namespace fovea
