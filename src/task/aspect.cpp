// aspect: one label for a phrase in its sentence.
#include "fovea/data/aspects.h"
#include "fovea/data/builtin.h"
#include "fovea/task/label_solver.h"
#include "fovea/task/make.h"

namespace fovea {
namespace {

// An example with the numbers of its tokens, and which of them are the phrase.
struct Placed : Aspect {
  std::vector<int32_t> ids{};
  int32_t from = 0, to = 0;
  const Tokenizer* split = nullptr;  // what split it
};

class AspectSolver final : public LabelSolver<Placed> {
 public:
  AspectSolver(const Config& config, Purpose purpose, const std::string& folder)
      : LabelSolver(config, purpose, folder) {
    begin(purpose, folder);
  }

  Drawing attend(const std::string& input) const override {
    const Placed example = ask(input);
    const PlacedTokens all = placed_tokens(tokens_for(example.text), example.text);
    check(!all.pieces.empty(), "attend: the input has no tokens");
    Recorder recorder(capture_of(example.ids.size()));
    const std::string label = answer({example}, 1)[0][0].text;
    if (const auto says = votes(example, label, all.pieces.size())) {
      return {label, vote_maps(label, *says, all)};
    }
    const auto part = [&](int64_t from, int64_t to) {
      return PlacedTokens{{all.pieces.begin() + from, all.pieces.begin() + to},
                          {all.places.begin() + from, all.places.begin() + to}};
    };
    const auto length = static_cast<int64_t>(all.pieces.size());
    const auto keys_of = [&](const std::string& map) {
      if (map.ends_with("/left")) return part(0, example.from);
      if (map.ends_with("/right")) return part(example.to, length);
      const bool of_phrase = map.ends_with("/second") || map.find("/target_by") != map.npos;
      return of_phrase ? part(example.from, example.to) : all;
    };
    const std::string phrase(example.phrase());
    std::vector<AttentionMap> maps = with_keys(maps_of(recorder, 0, [&](const std::string& map) {
      if (map.starts_with("encoder/")) return within(all);
      if (map.ends_with("/affinity")) {
        const PlacedTokens of = part(example.from, example.to);
        return MapLabels{all.pieces, of.pieces, all.places, of.places};
      }
      // A further question to the same rows is a hop.
      std::vector<std::string> asked{phrase};
      for (int hop = 2; hop < 10; ++hop) asked.push_back(say(phrase, " ", hop));
      return onto(asked, keys_of(map));
    }));
    if (std::optional<AttentionMap> rotation = rotated(maps, all, example)) {
      maps.insert(maps.begin(), std::move(*rotation));
    }
    std::vector<PlacedTokens> read{all};
    if (config_.settings.get("whole", "true") == "false") {
      read = {part(example.from, example.to), part(0, example.from), part(example.to, length)};
      // What has no tokens is not encoded: the side of a phrase that begins or ends its sentence.
      std::erase_if(read, [](const PlacedTokens& one) { return one.pieces.empty(); });
      if (config_.model != "rotatory") read = {all, part(example.from, example.to)};
    }
    return {label, with_vector_shares(std::move(maps), recorder, config_, read)};
  }

 private:
  // The four maps of rotatory attention over the one sentence that they are parts of; a row for
  // each, of each hop.
  static std::optional<AttentionMap> rotated(const std::vector<AttentionMap>& maps,
                                             const PlacedTokens& all, const Placed& example) {
    AttentionMap whole;
    whole.name = "attention/rotation";
    whole.keys = all.pieces;
    whole.key_places = all.places;
    const auto from = static_cast<size_t>(example.from), to = static_cast<size_t>(example.to);
    struct Part {
      const char *name, *title;
      size_t begin;
    };
    const auto back = std::ranges::find_if(
        maps, [](const AttentionMap& map) { return map.name.ends_with("/target_by_left"); });
    if (back == maps.end()) return std::nullopt;
    const size_t hops = back->queries.size();
    for (size_t hop = 0; hop < hops; ++hop) {
      for (const Part& part : {Part{"/left", "left", 0}, Part{"/right", "right", to},
                               Part{"/target_by_left", "phrase, left", from},
                               Part{"/target_by_right", "phrase, right", from}}) {
        const auto found = std::ranges::find_if(
            maps, [&](const AttentionMap& map) { return map.name.ends_with(part.name); });
        if (found == maps.end() || found->queries.size() <= hop) continue;  // nothing stands there
        std::vector<float> row(all.pieces.size(), 0);
        const size_t n = found->keys.size();
        std::copy_n(found->weights.begin() + static_cast<int64_t>(hop * n), n,
                    row.begin() + static_cast<int64_t>(part.begin));
        whole.queries.push_back(hops > 1 ? say(part.title, " ", hop + 1) : part.title);
        whole.weights.insert(whole.weights.end(), row.begin(), row.end());
      }
    }
    return whole;
  }

 protected:
  std::vector<Placed> read(const std::string& path) const override {
    return noted(path, read_aspects);
  }
  std::vector<Placed> generate(const std::string&, int64_t n, Random random) const override {
    return numbered(generate_aspects(n > 0 ? n : 4'000, random));
  }
  Lengths lengths_of(const Placed& e) const override {
    return {static_cast<int64_t>(e.ids.size())};
  }
  std::string together(const Placed& e) const override { return e.text; }
  std::vector<std::string> texts_of(const Placed& e) const override { return {e.text}; }
  std::vector<const std::vector<int32_t>*> ids_of(const Placed& e) const override {
    return {&e.ids};
  }

  Placed parsed(const std::string& line) const override {
    const size_t tab = line.rfind('\t');
    check(tab != std::string::npos, "aspect: needs a sentence, a tab and its phrase, got '", line,
          "'");
    Placed e;
    static_cast<Aspect&>(e) = aspect_of("aspect", line.substr(0, tab), line.substr(tab + 1), "");
    return e;
  }
  // With $T$ where the phrase comes more than once.
  std::string line_of(const Placed& e) const override {
    const std::string phrase(e.phrase());
    const bool first = find_phrase(e.text, phrase) == e.begin;
    return (first ? e.text : e.text.substr(0, e.begin) + "$T$" + e.text.substr(e.end)) + "\t" +
           phrase;
  }
  void number(Placed& e, const Tokenizer& tokenizer) const override {
    e.ids = tokenizer.encode(e.text);
    e.split = &tokenizer;
    e.from = e.to = 0;
    const auto tokens = tokenizer.pieces_with_places(e.text);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto at = static_cast<int32_t>(i);
      if (tokens[i].end <= static_cast<int64_t>(e.begin)) e.from = e.to = at + 1;
      if (tokens[i].begin < static_cast<int64_t>(e.end)) e.to = at + 1;
    }
    // Signs that are no tokens leave the one beside them.
    if (e.ids.empty()) e.ids = {Tokenizer::unknown};
    e.from = std::min<int32_t>(e.from, static_cast<int32_t>(e.ids.size()) - 1);
    e.to = std::max(e.to, e.from + 1);
  }
  FeatureWords words_of(const Placed& e) const override {
    return words_of_phrase(lower_words(*e.split, e.text), static_cast<size_t>(e.from),
                           static_cast<size_t>(e.to));
  }
  ModelInputs inputs(const std::vector<Placed>& of) const override {
    std::vector<std::vector<int32_t>> lists;
    std::vector<int32_t> places;
    for (const Placed& e : of) {
      lists.push_back(e.ids);
      places.push_back(e.from), places.push_back(e.to);
    }
    ModelInputs in;
    in.text = sequences_of(lists);
    in.phrase = Tensor::of({static_cast<int64_t>(of.size()), 2}, places);
    return in;
  }
};

}  // namespace

std::unique_ptr<Solver> make_aspect(const Config& config, Purpose purpose,
                                    const std::string& folder) {
  return std::make_unique<AspectSolver>(config, purpose, folder);
}

}  // namespace fovea
