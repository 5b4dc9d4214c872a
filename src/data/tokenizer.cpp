#include "fovea/data/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/names.h"
#include "fovea/base/parallel.h"
#include "fovea/base/utf8.h"
#include "fovea/data/tokenizer_method.h"
#include "fovea/data/tokenizer_style.h"

namespace fovea {
namespace {

// The first format knew no words but those between spaces, and called them words. Another name, not
// a number beside it, so that a program from that time refuses what it would misread.
constexpr const char *first_format = "fovea tokenizer", *format_name = "fovea tokenizer 2";

bool has_pieces(const TokenizerOptions& options) { return parse_kind(options.kind).pieces > 0; }

nlohmann::json read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  check<ErrorKind::io>(file.good(), path, ": cannot be read; a model's folder needs its tokenizer");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const auto format = json.is_object() ? json.value("format", nlohmann::json()) : nlohmann::json();
  check<ErrorKind::input>(
      format == format_name || format == first_format, path,
      ": is not a tokenizer that Fovea saved, or not all of it; get the model's folder again");
  return json;
}

}  // namespace

TokenKind parse_kind(const std::string& kind) {
  const size_t colon = kind.find(':');
  const std::string name = kind.substr(0, colon);
  const std::vector<std::string> whole{"chars", "words", "spaces", "bytes"},
      pieces{"bpe", "unigram"};
  if (std::find(whole.begin(), whole.end(), name) != whole.end()) {
    check(colon == std::string::npos, "tokens: '", name, "' takes no number, got '", kind, "'");
    return {name, 0};
  }
  if (std::find(pieces.begin(), pieces.end(), name) == pieces.end()) {
    fail(unknown_name(
        "kind of tokens", name,
        std::vector<std::string>{"auto", "words", "spaces", "chars", "bytes", "bpe", "unigram"}));
  }
  int64_t count = 0;
  const char* end = kind.data() + kind.size();
  const char* number = colon == std::string::npos ? end : kind.data() + colon + 1;
  const auto result = std::from_chars(number, end, count);
  check(result.ec == std::errc() && result.ptr == end && count > 4 && count <= 1'000'000,
        "tokens: '", name, "' needs a number of pieces from 5 to 1000000, as in ", name,
        ":8000, got '", kind, "'");
  return {name, count};
}

Tokenizer::Tokenizer(TokenizerOptions options, std::shared_ptr<const Method> method)
    : options_(std::move(options)), method_(std::move(method)) {}

Tokenizer Tokenizer::learn(const TokenizerOptions& options, std::span<const std::string> texts) {
  if (options.kind == "auto") {
    const TokenStyle style = detect_tokens(texts);
    TokenizerOptions found = options;
    found.kind = style.kind();
    found.rules = style.rules;
    return learn(found, texts);
  }
  const bool pieces = has_pieces(options);
  check(options.min_count >= 1, "tokens: min_count needs to be 1 or more, got ", options.min_count);
  check(options.max_size == 0 || options.max_size > 4,
        "tokens: max_size needs to be above 4 (or 0: no limit), got ", options.max_size);
  std::vector<std::string> lower;
  if (options.lowercase && pieces) {
    for (const std::string& text : texts) lower.push_back(to_lowercase(text));
    texts = lower;
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    check(first_not_utf8(texts[i]) < 0, "tokens: text ", i + 1, " is not UTF-8; convert it");
  }
  if (options.kind == "bytes") return Tokenizer(options, make_bytes());
  return Tokenizer(options, pieces ? learn_pieces(options, texts) : learn_units(options, texts));
}

bool Tokenizer::lowers_first() const { return options_.lowercase && method_->wants_lowercase(); }

std::vector<int32_t> Tokenizer::encode(std::string_view text) const {
  return lowers_first() ? method_->encode(to_lowercase(text)) : method_->encode(text);
}

std::vector<std::vector<int32_t>> Tokenizer::encode(std::span<const std::string> texts) const {
  std::vector<std::vector<int32_t>> all(texts.size());
  parallel_for(static_cast<int64_t>(texts.size()), 64, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      all[i] = encode(texts[i]);
    }
  });
  return all;
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::vector<int32_t> said;
  for (const int32_t id : ids) {
    check(id >= 0 && id < size(), "tokens: needs ids below ", size(), " to decode, got ", id);
    if (id != pad && id != begin && id != end) said.push_back(id);
  }
  return method_->decode(said);
}

std::vector<std::string> Tokenizer::pieces(std::string_view text) const {
  return lowers_first() ? method_->pieces(to_lowercase(text)) : method_->pieces(text);
}

std::vector<Token> Tokenizer::pieces_with_places(std::string_view text) const {
  const std::string lower = lowers_first() ? to_lowercase(text) : std::string();
  const std::string_view seen = lowers_first() ? std::string_view(lower) : text;
  // Lower case may take more or fewer bytes, but has as many code points: both texts are walked
  // together. Of the bytes of a code point that has another length the first gets all of it.
  int64_t chars = 0;
  size_t at = 0, seen_at = 0, here = 0, seen_here = 0;  // of the next code point and of this one
  const auto step = [&] {
    here = at, seen_here = seen_at;
    at += first_code_point(text.substr(at)).bytes;
    seen_at += first_code_point(seen.substr(seen_at)).bytes;
    ++chars;
  };
  std::vector<Token> tokens;
  for (const ByteRange range : method_->ranges(seen)) {
    const auto from = static_cast<size_t>(range.begin), to = static_cast<size_t>(range.end);
    while (seen_at < seen.size() && seen_at <= from) step();
    if (from == to) {
      const bool last = seen_at <= from;
      const auto place = static_cast<int64_t>(last ? at : here);
      tokens.push_back({text.substr(static_cast<size_t>(place), 0), place, place,
                        chars - (last ? 0 : 1), chars - (last ? 0 : 1)});
      continue;
    }
    const bool same = seen_at - seen_here == at - here;
    const size_t last = tokens.empty() ? 0 : static_cast<size_t>(tokens.back().end);
    const size_t begin = std::max(last, here + (same ? from - seen_here : 0));
    const int64_t first = chars - 1;
    while (seen_at < to) step();
    const size_t end = seen_at - seen_here == at - here ? here + (to - seen_here) : at;
    tokens.push_back({text.substr(begin, end - begin), static_cast<int64_t>(begin),
                      static_cast<int64_t>(end), first, chars});
  }
  return tokens;
}

Tokenizer Tokenizer::split_as(const std::string& kind, const WordRules& rules) const {
  for (const std::string& one : {options_.kind, kind}) {
    check(one == "spaces" || one == "words",
          "tokens: only words and spaces can be split as each other, got ", one);
  }
  TokenizerOptions options = options_;
  options.kind = kind;
  options.rules = rules;
  return Tokenizer(options, method_->with(options));
}

Tokenizer Tokenizer::learn_partings(std::span<const Partings::Sentence> sentences) const {
  const Tokenizer raw = split_as("words", options_.rules);
  TokenizerOptions options = options_;
  options.partings =
      Partings::learn(sentences, [&](std::string_view text, std::vector<std::string_view>& words) {
        for (const ByteRange range : raw.method_->ranges(text)) {
          words.push_back(text.substr(static_cast<size_t>(range.begin),
                                      static_cast<size_t>(range.end - range.begin)));
        }
      });
  return Tokenizer(options, method_->with(options));
}

std::string Tokenizer::piece(int32_t id) const {
  check(id >= 0 && id < size(), "tokens: needs an id below ", size(), ", got ", id);
  return method_->piece(id);
}

int64_t Tokenizer::size() const { return method_->size(); }
const TokenizerOptions& Tokenizer::options() const { return options_; }

void Tokenizer::save(const std::string& folder, const std::string& name) const {
  const std::string path = folder + "/" + name;
  nlohmann::json about{{"format", format_name},
                       {"kind", options_.kind},
                       {"lowercase", options_.lowercase},
                       {"min_count", options_.min_count},
                       {"max_size", options_.max_size},
                       {"fold_case", options_.fold_case},
                       {"clitics", options_.rules.clitics},
                       {"compounds", options_.rules.compounds}};
  if (options_.partings.size() > 0) about["partings"] = options_.partings.json();
  method_->save(about, path);
  const std::string text = about.dump(1) + "\n";
  write_file_atomically(path + ".json", std::as_bytes(std::span(text)));
}

Tokenizer Tokenizer::load(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name, file = path + ".json";
  const nlohmann::json about = read_json(file);
  TokenizerOptions options;
  try {
    options = {about.at("kind"), about.at("lowercase"), about.at("min_count"),
               about.at("max_size")};
    if (about.at("format") == first_format) {
      if (options.kind == "words") options.kind = "spaces";
      options.fold_case = false;
    } else {
      options.fold_case = about.at("fold_case");
      options.rules = {about.at("clitics"), about.at("compounds")};
      if (about.contains("partings")) options.partings = Partings::from_json(about["partings"]);
    }
    if (options.kind == "bytes") return Tokenizer(options, make_bytes());
    return Tokenizer(
        options, has_pieces(options) ? load_pieces(about, path) : load_units(options, about, file));
  } catch (const nlohmann::json::exception&) {
    fail(file,
         ": lacks what a tokenizer needs (kind, lowercase, min_count, max_size, vocabulary), "
         "or has it in another form; get the model's folder again");
  }
}

}  // namespace fovea
