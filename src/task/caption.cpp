// caption: a text about a picture, or about a film.
#include <map>

#include "fovea/attention/recorder.h"
#include "fovea/data/tokenizer.h"
#include "fovea/model/seq2seq/beam_search.h"
#include "fovea/model/sight/regions.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/lesson.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/pictures.h"
#include "fovea/train/caption_metrics.h"
#include "fovea/train/text_metrics.h"

namespace fovea {
namespace {

struct NumberedCaption : Captioned {
  std::vector<int32_t> ids{};
};

class CaptionSolver final : public ExampleSolver<NumberedCaption> {
 public:
  CaptionSolver(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder),
        films_(variant_of(find_task(config.task), config.settings).takes == Takes::frames) {
    if (folder.empty()) {
      learn();
    } else {
      tokens_ = Tokenizer::load(folder, "tokens");
      form_ = load_form(folder);
    }
    if (purpose == Purpose::learn) parts();
    ModelSizes sizes{.target_vocabulary = tokens_->size(), .longest = config.longest + 2};
    form_.add_to(sizes);
    model_ = model<Translator>(sizes);
    if (const auto* looks = dynamic_cast<const LooksAtRegions*>(model_.get())) {
      rows_ = looks->region_rows(), columns_ = looks->region_columns();
    }
    if (purpose == Purpose::learn) {
      std::vector<const std::vector<int32_t>*> captions;
      for (const NumberedCaption& e : parts().train) captions.push_back(&e.ids);
      start_from_frequencies(model_->output_bias(), captions);
    }
  }

  void save_vocabulary(const std::string& folder) const override {
    tokens_->save(folder, "tokens");
    save_form(folder, form_);
  }

  Loss loss(int64_t number) override {
    const auto chosen = batch(number);
    const Lesson lesson = lesson_of(chosen);
    return {model_->loss(inputs(chosen), lesson.target, lesson.wanted, config_.smoothing),
            lesson.wanted.elements()};
  }

  std::vector<Metric> validate() override { return measure(validation_examples(), 1).values(); }
  Evaluation evaluate(const std::string& part) override {
    return measure(examples(part), config_.beam);
  }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<NumberedCaption> asked;
    for (const std::string& line : lines) asked.push_back(ask(line));
    return answer(asked, std::max(config_.beam, options.nbest), options.nbest, options.details);
  }

  // Each token of the given caption, after those before it.
  std::vector<ScoredText> score(const std::vector<std::string>& lines) const override {
    std::vector<ScoredText> all;
    for (const std::string& line : lines) {
      const NumberedCaption example = ask(line);
      check(!example.caption.empty(), "score: needs ", films_ ? "a film" : "a picture",
            ", a tab and its caption, got '", line, "'");
      ScoredText scored;
      for (int32_t id : example.ids) scored.tokens.push_back(tokens_->piece(id));
      scored.tokens.push_back("(end)");
      const Tensor cost = cross_entropy_each(teach({example}).scores, lesson_of({example}).wanted);
      for (float x : cost.read()) scored.log_probability.push_back(-x);
      all.push_back(std::move(scored));
    }
    return all;
  }

  // With the captions that they have: what is looked at then is the truth, not an answer.
  std::vector<std::string> lines_of(const std::string& part) override {
    std::vector<std::string> lines;
    for (const NumberedCaption& e : examples(part)) lines.push_back(e.name + "\t" + e.caption);
    return lines;
  }

  // Of a picture, or of a picture, a tab and the caption that is given.
  Drawing attend(const std::string& input) const override {
    NumberedCaption example = ask(input);
    if (example.caption.empty()) {
      example.caption = answer({example}, config_.beam, 1)[0].at(0).text;
      example.ids = tokens_->encode(example.caption);
    }
    Recorder recorder;
    teach({example});
    std::vector<std::string> words = tokens_->pieces(example.caption);
    words.push_back("(end)");
    const auto keys = films_ ? frame_names(form_.frames) : region_names(rows_, columns_);
    Drawing drawing{example.caption, maps_of(recorder, 0, [&](const std::string&) {
                      return MapLabels{words, keys};
                    })};
    auto ground = std::make_shared<PictureGround>();
    for (const SharedPicture& picture :
         films_ ? frames_seen(example.pictures, form_.frames) : example.pictures) {
      ground->pictures.push_back(fitted(*picture, form_.size));
    }
    ground->rows = films_ ? 1 : rows_, ground->columns = films_ ? 1 : columns_;
    for (AttentionMap& map : drawing.maps) map.ground = ground;
    return drawing;
  }

 protected:
  std::vector<NumberedCaption> read(const std::string& path) const override {
    ReadSummary summary;
    auto list = read_captioned(path, films_, read_options(config_), &summary);
    note_file(summary);
    return numbered(std::move(list));
  }
  std::vector<NumberedCaption> generate(const std::string& name, int64_t n,
                                        Random random) const override {
    check((name == "moving") == films_, "builtin:", name, " holds ",
          name == "moving" ? "films" : "pictures", ", which the model ", config_.model,
          " does not take");
    if (n <= 0) n = name == "moving" ? 3'000 : 10'000;
    return numbered(name == "moving" ? generate_moving(n, random) : generate_scenes(n, random));
  }
  // Captions of all lengths stand in a batch together: pictures whose captions are equally long are
  // alike, and batch norm would learn from each batch what only its kind of picture is like.
  Lengths lengths_of(const NumberedCaption& e) const override {
    const auto length = static_cast<int64_t>(e.ids.size()) + 1;
    return {0, length <= config_.longest ? 1 : length};
  }
  // All captions of a picture.
  std::string together(const NumberedCaption& e) const override { return e.name; }

 private:
  void learn() {
    std::vector<std::string> captions;
    for (const NumberedCaption& e : parts().train) captions.push_back(e.caption);
    tokens_ = Tokenizer::learn({.kind = config_.tokens,
                                .lowercase = config_.lowercase,
                                .min_count = config_.min_count,
                                .max_size = config_.vocabulary},
                               captions);
    if (config_.tokens == "auto") note_tokens("tokens", captions);
    std::vector<SharedPicture> pictures;
    for (const NumberedCaption& e : parts().train) {
      pictures.insert(pictures.end(), e.pictures.begin(), e.pictures.end());
    }
    form_.size = learned_size(config_, pictures);
    if (films_) form_.frames = static_cast<int64_t>(parts().train[0].pictures.size());
    change_examples([this](NumberedCaption& e) { e.ids = tokens_->encode(e.caption); });
  }

  std::vector<NumberedCaption> numbered(std::vector<Captioned> list) const {
    std::vector<NumberedCaption> all;
    for (Captioned& one : list) {
      NumberedCaption e{std::move(one)};
      if (tokens_) e.ids = tokens_->encode(e.caption);
      all.push_back(std::move(e));
    }
    return all;
  }

  // "picture", or "picture<TAB>caption".
  NumberedCaption ask(const std::string& line) const {
    const size_t tab = line.find('\t');
    NumberedCaption e;
    e.name = line.substr(0, tab);
    e.pictures = films_ ? frames_called(e.name) : std::vector{picture_called(e.name)};
    if (tab != std::string::npos) e.caption = line.substr(tab + 1);
    e.ids = tokens_->encode(e.caption);
    return e;
  }

  ModelInputs inputs(const std::vector<NumberedCaption>& of) const {
    ModelInputs in;
    if (films_) {
      std::vector<std::vector<SharedPicture>> films;
      for (const NumberedCaption& e : of) films.push_back(e.pictures);
      in.pictures = films_batch(films, form_);
    } else {
      std::vector<SharedPicture> pictures;
      for (const NumberedCaption& e : of) pictures.push_back(e.pictures[0]);
      in.pictures = pictures_batch(pictures, form_);
    }
    return in;
  }

  static Lesson lesson_of(const std::vector<NumberedCaption>& of) {
    std::vector<std::vector<int32_t>> captions;
    for (const NumberedCaption& e : of) captions.push_back(e.ids);
    return fovea::lesson_of(captions);
  }
  Decoder::Taught teach(const std::vector<NumberedCaption>& of) const {
    return model_->teach(inputs(of), lesson_of(of).target);
  }

  // What each token of an answer cost, the end included, as the model reads its own answer.
  std::vector<AnswerToken> tokens_of(const NumberedCaption& asked,
                                     const std::vector<int32_t>& ids) const {
    NumberedCaption example = asked;
    example.ids = ids;
    const Tensor likely = log_softmax(teach({example}).scores);
    std::vector<AnswerToken> tokens;
    for (size_t t = 0; t <= ids.size(); ++t) {
      const int32_t id = t < ids.size() ? ids[t] : Tokenizer::end;
      const auto row = static_cast<int64_t>(t) * likely.dim(1);
      tokens.push_back({.text = tokens_->piece(id), .log_probability = likely.read()[row + id]});
    }
    return tokens;
  }

  std::vector<std::vector<Prediction>> answer(const std::vector<NumberedCaption>& of, int64_t beam,
                                              int64_t nbest, bool details = false) const {
    std::vector<std::vector<Prediction>> all;
    const auto most = static_cast<size_t>(std::max<int64_t>(1, 64 / beam));
    for (size_t from = 0; from < of.size(); from += most) {
      const std::vector<NumberedCaption> chosen(
          of.begin() + static_cast<ptrdiff_t>(from),
          of.begin() + static_cast<ptrdiff_t>(std::min(of.size(), from + most)));
      const Memory memory = model_->encode(inputs(chosen));
      // A caption is as long as captions are, however many regions there are.
      const double regions = memory.lengths.read<int32_t>()[0];
      const auto answers = beam_search(model_->decoder(), memory,
                                       {.beam = beam,
                                        .nbest = nbest,
                                        .length_penalty = config_.length_penalty,
                                        .longest_factor = 90 / regions,
                                        .begin = Tokenizer::begin,
                                        .end = Tokenizer::end});
      for (size_t i = 0; i < chosen.size(); ++i) {
        auto& predictions = all.emplace_back();
        for (const Hypothesis& a : answers[i]) {
          predictions.push_back({tokens_->decode(a.ids), a.score});
          if (details) predictions.back().tokens = tokens_of(chosen[i], a.ids);
        }
      }
    }
    return all;
  }

  // Every picture is asked about once, and its answer is held against all of its captions.
  Evaluation measure(const std::vector<NumberedCaption>& of, int64_t beam) const {
    const Stopwatch watch;
    std::vector<NumberedCaption> asked;
    std::vector<std::vector<std::string>> captions;
    std::map<std::string, size_t> places;
    for (const NumberedCaption& e : of) {
      const auto [at, is_new] = places.emplace(e.name, asked.size());
      if (is_new) asked.push_back(e), captions.emplace_back();
      captions[at->second].push_back(e.caption);
    }
    const auto answers = answer(asked, beam, 1);
    Evaluation result;
    result.seconds = watch.seconds();
    std::vector<std::vector<std::vector<std::string>>> references;
    for (const auto& list : captions) {
      auto& words = references.emplace_back();
      for (const std::string& caption : list) words.push_back(caption_words(caption));
    }
    const CiderD cider(references);
    std::vector<Evaluation::One> bleu{
        {"bleu_1", {}}, {"bleu_2", {}}, {"bleu_3", {}}, {"bleu_4", {}}};
    Evaluation::One exact{"exact_match", {}}, agrees{"cider_d", {}};
    for (size_t i = 0; i < asked.size(); ++i) {
      const std::string& text = answers[i].at(0).text;
      const auto words = caption_words(text);
      const Tally counts = caption_bleu_tally(words, references[i]);
      for (Evaluation::One& one : bleu) one.tallies.push_back(counts);
      agrees.tallies.push_back({cider.score(words, references[i]), 1});
      const bool right = std::ranges::any_of(captions[i], [&](const std::string& caption) {
        return text == (config_.lowercase ? tokens_->decode(tokens_->encode(caption)) : caption);
      });
      exact.tallies.push_back({right ? 1.0 : 0.0, 1});
      result.inputs.push_back(asked[i].name);
      result.truths.push_back(captions[i][0]);
      result.outputs.push_back(text);
    }
    // Where captions follow from the picture they can be right; people's can only agree.
    const bool generated = config_.data.starts_with("builtin:");
    result.metrics = generated ? std::vector{exact, agrees} : std::vector{agrees, exact};
    if (auto pointing = measure_pointing(asked); !pointing.tallies.empty()) {
      result.metrics.insert(result.metrics.begin() + 1, std::move(pointing));
    }
    result.metrics.insert(result.metrics.end(), bleu.begin(), bleu.end());
    return result;
  }

  // Where it is known what each word names: the share of the looks that fall there, while the right
  // caption is read.
  Evaluation::One measure_pointing(const std::vector<NumberedCaption>& of) const {
    Evaluation::One one{"pointing", {}};
    const bool known = std::ranges::any_of(of, [](const auto& e) { return !e.places.empty(); });
    if (!known) return one;
    constexpr size_t most = 64;
    for (size_t from = 0; from < of.size(); from += most) {
      const std::vector<NumberedCaption> chosen(
          of.begin() + static_cast<ptrdiff_t>(from),
          of.begin() + static_cast<ptrdiff_t>(std::min(of.size(), from + most)));
      Recorder recorder;
      teach(chosen);
      for (size_t b = 0; b < chosen.size(); ++b) {
        one.tallies.push_back(pointing_of(recorder, static_cast<int64_t>(b), chosen[b]));
      }
      if (recorder.maps().empty()) return {"pointing", {}};  // a model without attention
    }
    return one;
  }

  Tally pointing_of(const Recorder& recorder, int64_t b, const NumberedCaption& e) const {
    Tally sum{0, 0};
    if (e.places.size() != e.ids.size()) return sum;  // tokens that are no words
    const size_t keys = static_cast<size_t>(films_ ? form_.frames : rows_ * columns_);
    const MapLabels labels{std::vector<std::string>(e.ids.size()), std::vector<std::string>(keys)};
    for (const AttentionMap& map : maps_of(recorder, b, [&](auto&) { return labels; })) {
      for (size_t t = 0; t < map.queries.size(); ++t) {
        if (!e.places[t].known()) continue;
        const std::span<const float> weights(map.weights.data() + t * keys, keys);
        fovea::add_to(
            sum, films_
                     ? moment_tally(weights, e.places[t], static_cast<int64_t>(e.pictures.size()))
                     : pointing_tally(weights, rows_, columns_, *e.pictures[0], e.places[t].box));
      }
    }
    return sum;
  }

  bool films_;
  std::optional<Tokenizer> tokens_;
  PictureForm form_;
  std::unique_ptr<const Translator> model_;
  int64_t rows_ = 0, columns_ = 0;  // of regions
};

}  // namespace

std::unique_ptr<Solver> make_caption(const Config& config, Purpose purpose,
                                     const std::string& folder) {
  return std::make_unique<CaptionSolver>(config, purpose, folder);
}

}  // namespace fovea
