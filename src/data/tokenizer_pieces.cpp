// Pieces of words as tokens, by sentencepiece: Kudo and Richardson, "SentencePiece: a simple and
// language independent subword tokenizer and detokenizer for neural text processing", 2018.
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/random.h"
#include "fovea/data/text_file.h"
#include "fovea/data/tokenizer_method.h"

namespace fovea {
namespace {

class Pieces : public Tokenizer::Method {
 public:
  // `model` is the content of sentencepiece's file; `who` begins the text of an error.
  Pieces(std::string model, const std::string& who) : model_(std::move(model)) {
    check(!model_.empty() && processor_.LoadFromSerializedProto(model_).ok(), who,
          ": is not a model of sentencepiece, or not all of it; get the model's folder again");
    check(processor_.pad_id() == Tokenizer::pad && processor_.unk_id() == Tokenizer::unknown &&
              processor_.bos_id() == Tokenizer::begin && processor_.eos_id() == Tokenizer::end,
          who, ": needs the pieces <pad>, <unk>, <s>, </s> as numbers 0, 1, 2, 3, got ",
          processor_.pad_id(), ", ", processor_.unk_id(), ", ", processor_.bos_id(), ", ",
          processor_.eos_id());
  }

  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int> ids;
    require(processor_.Encode(view(text), &ids));
    return {ids.begin(), ids.end()};
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    require(processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text));
    return text;
  }
  std::vector<std::string> pieces(std::string_view text) const override {
    std::vector<std::string> names;
    require(processor_.Encode(view(text), &names));
    return names;
  }
  // Without the space that a piece takes along from before its word.
  std::vector<ByteRange> ranges(std::string_view text) const override {
    sentencepiece::ImmutableSentencePieceText encoded;
    require(processor_.Encode(view(text), encoded.mutable_proto()));
    std::vector<ByteRange> all;
    const auto size = static_cast<int64_t>(text.size());
    int64_t last = 0;
    for (const auto& piece : encoded.pieces()) {
      int64_t begin = std::clamp<int64_t>(piece.begin(), last, size);
      last = std::clamp<int64_t>(piece.end(), begin, size);
      while (begin < last && text[static_cast<size_t>(begin)] == ' ') ++begin;
      all.push_back({begin, last});
    }
    return all;
  }
  std::string piece(int32_t id) const override { return processor_.IdToPiece(id); }
  int64_t size() const override { return processor_.GetPieceSize(); }

  // The hash tells whether the two files are of one save.
  void save(nlohmann::json& about, const std::string& path) const override {
    about["model"] = hash_name(model_);
    write_file_atomically(path + ".model", std::as_bytes(std::span(model_)));
  }

 private:
  static absl::string_view view(std::string_view text) { return {text.data(), text.size()}; }
  static void require(const sentencepiece::util::Status& status) {
    check(status.ok(), "sentencepiece: ", status.message());
  }

  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
};

class Texts : public sentencepiece::SentenceIterator {
 public:
  explicit Texts(std::span<const std::string> texts) : texts_(texts) {}
  bool done() const override { return at_ == texts_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return texts_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  std::span<const std::string> texts_;
  size_t at_ = 0;
};

// The number after `words` in a message of sentencepiece; 0 without.
int64_t number_after(std::string_view message, std::string_view words) {
  const size_t found = message.find(words);
  int64_t number = 0;
  if (found == std::string_view::npos) return number;
  std::istringstream(std::string(message.substr(found + words.size()))) >> number;
  return number;
}

[[noreturn]] void explain(const TokenizerOptions& options, const std::string& message) {
  if (const int64_t most = number_after(message, "value <= "); most > 0) {
    fail("tokens: the texts hold fewer pieces than ", options.kind, " asks for; at most ", most);
  }
  if (const int64_t least = number_after(message, " vs "); least > 0) {
    fail("tokens: ", options.kind, " asks for fewer pieces than the texts have characters; needs ",
         "more than ", least);
  }
  fail("tokens: sentencepiece could not learn ", options.kind, ": ", message);
}

}  // namespace

std::shared_ptr<const Tokenizer::Method> learn_pieces(const TokenizerOptions& options,
                                                      std::span<const std::string> texts) {
  const TokenKind kind = parse_kind(options.kind);
  const bool any = std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    return text.find_first_not_of(" \t\r\n") != std::string::npos;
  });
  check(any, "tokens: no text to learn ", options.kind, " from");
  // One thread and one seed: the same pieces everywhere. No normalization: what is decoded is to be
  // compared with texts that nobody normalized.
  const std::unordered_map<std::string, std::string> settings{
      {"model_type", kind.name},
      {"vocab_size", std::to_string(kind.pieces)},
      {"hard_vocab_limit", kind.name == "unigram" ? "false" : "true"},
      {"normalization_rule_name", "identity"},
      {"pad_id", std::to_string(Tokenizer::pad)},
      {"unk_id", std::to_string(Tokenizer::unknown)},
      {"bos_id", std::to_string(Tokenizer::begin)},
      {"eos_id", std::to_string(Tokenizer::end)},
      {"unk_surface", special_pieces[Tokenizer::unknown]},
      {"max_sentence_length", std::to_string(longest_line)},
      {"num_threads", "1"},
      {"minloglevel", "3"}};
  sentencepiece::SetRandomGeneratorSeed(1);
  Texts iterator(texts);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &iterator, &model);
  if (!status.ok()) explain(options, status.message());
  return std::make_shared<Pieces>(std::move(model), "tokens");
}

std::shared_ptr<const Tokenizer::Method> load_pieces(const nlohmann::json& about,
                                                     const std::string& path) {
  const std::string name = path + ".model";
  std::ifstream file(name, std::ios::binary);
  check(file.good(), name, ": cannot be read; a model's folder needs its tokenizer");
  std::string model{std::istreambuf_iterator<char>(file), {}};
  check(hash_name(model) == about.at("model").get<uint64_t>(), name, ": is not the file that ",
        path, ".json was saved with, or not all of it; get the model's folder again");
  return std::make_shared<Pieces>(std::move(model), name);
}

}  // namespace fovea
