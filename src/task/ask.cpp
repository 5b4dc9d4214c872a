// ask: questions about a picture.
#include "fovea/model/sight/regions.h"
#include "fovea/task/label_solver.h"
#include "fovea/task/make.h"
#include "fovea/task/pictures.h"
#include "fovea/task/text_cut.h"

namespace fovea {
namespace {

struct NumberedQuestion : PictureQuestion {
  std::string label{};  // the answer, as solvers of labels call it
  std::vector<int32_t> ids{};
};

class AskSolver final : public LabelSolver<NumberedQuestion> {
 public:
  AskSolver(const Config& config, Purpose purpose, const std::string& folder)
      : LabelSolver(config, purpose, folder) {
    if (folder.empty()) {
      std::vector<SharedPicture> pictures;
      for (const NumberedQuestion& e : parts().train) pictures.push_back(e.picture);
      form_.size = learned_size(config, pictures);
    } else {
      form_ = load_form(folder);
    }
    begin(purpose, folder);
    if (const auto* looks = dynamic_cast<const LooksAtRegions*>(model_.get())) {
      rows_ = looks->region_rows(), columns_ = looks->region_columns();
    }
  }

  void save_vocabulary(const std::string& folder) const override {
    LabelSolver::save_vocabulary(folder);
    save_form(folder, form_);
  }

  Drawing attend(const std::string& input) const override {
    const NumberedQuestion example = ask(input);
    Recorder recorder;
    const std::string label = answer({example}, 1)[0][0].text;
    const PlacedTokens words = placed_tokens(tokens_for(example.question), example.question);
    auto ground = std::make_shared<PictureGround>();
    ground->pictures.push_back(fitted(*example.picture, form_.size));
    ground->rows = rows_, ground->columns = columns_;
    // Alternating attention asks the words twice.
    Drawing drawing{label, with_keys(maps_of(recorder, 0, [&](const std::string& map) {
                      const std::vector<std::string> asks{label, label + " 2"};
                      if (map.ends_with("/affinity")) {
                        return MapLabels{words.pieces, region_names(rows_, columns_), words.places};
                      }
                      return is_of_regions(map) ? MapLabels{asks, region_names(rows_, columns_)}
                                                : onto(asks, words);
                    }))};
    for (AttentionMap& map : drawing.maps) {
      if (is_of_regions(map.name) || map.name.ends_with("/affinity")) map.ground = ground;
    }
    return drawing;
  }

 protected:
  std::vector<NumberedQuestion> read(const std::string& path) const override {
    return answered(noted(path, read_picture_questions));
  }
  std::vector<NumberedQuestion> generate(const std::string&, int64_t n,
                                         Random random) const override {
    return answered(numbered(generate_scene_questions(n > 0 ? n : 10'000, random)));
  }
  // A folder as SHAPES has it brings its own parts.
  Parts load_parts() const override {
    check_source(config_.data);
    const ShapesFolder folder =
        config_.data.starts_with("builtin:") ? ShapesFolder() : shapes_folder(config_.data);
    if (folder.train.empty() || folder.dev.empty() || folder.test.empty()) {
      return LabelSolver::load_parts();
    }
    return {read(folder.train), config_.dev.empty() ? read(folder.dev) : load(config_.dev),
            config_.test.empty() ? read(folder.test) : load(config_.test)};
  }
  // Questions of all lengths stand in a batch together: equally long ones ask for the same kind of
  // thing, and a net that learns from one kind at a time forgets the others.
  Lengths lengths_of(const NumberedQuestion&) const override { return {1}; }
  // All questions about a picture.
  std::string together(const NumberedQuestion& e) const override { return e.name; }
  std::vector<std::string> texts_of(const NumberedQuestion& e) const override {
    return {e.question};
  }
  std::vector<const std::vector<int32_t>*> ids_of(const NumberedQuestion& e) const override {
    return {&e.ids};
  }
  NumberedQuestion parsed(const std::string& line) const override {
    const size_t tab = line.find('\t');
    check(tab != std::string::npos, "ask: needs a picture, a tab and a question, got '", line, "'");
    NumberedQuestion e;
    e.name = line.substr(0, tab);
    e.question = line.substr(tab + 1);
    check(e.question.find_first_not_of(" \t") != std::string::npos,
          "ask: there is no question behind the tab of '", line, "'");
    e.picture = picture_called(e.name);
    return e;
  }
  std::string line_of(const NumberedQuestion& e) const override {
    return e.name + "\t" + e.question;
  }
  void number(NumberedQuestion& e, const Tokenizer& tokens) const override {
    e.ids = cut_to(tokens.encode(e.question), config_.longest);
    if (e.ids.empty()) e.ids = {Tokenizer::unknown};
  }
  ModelInputs inputs(const std::vector<NumberedQuestion>& of) const override {
    std::vector<std::vector<int32_t>> questions;
    std::vector<SharedPicture> pictures;
    for (const NumberedQuestion& e : of) {
      questions.push_back(e.ids), pictures.push_back(e.picture);
    }
    ModelInputs in;
    in.question = sequences_of(questions);
    in.pictures = pictures_batch(pictures, form_);
    return in;
  }
  void add_sizes(ModelSizes& sizes) const override { form_.add_to(sizes); }

  // Where it is known what is asked about: the share of the last look at the picture that falls
  // there.
  void measure_more(const std::vector<NumberedQuestion>& of,
                    const std::vector<std::vector<Prediction>>&,
                    Evaluation& result) const override {
    const bool known = std::ranges::any_of(of, [](const auto& e) { return e.place.known(); });
    if (!known) return;
    Evaluation::One one{"pointing", std::vector<Tally>(of.size(), {0, 0})};
    bool looked = false;
    const auto keys = static_cast<size_t>(rows_ * columns_);
    for (const auto& group : groups(of, 64)) {
      std::vector<NumberedQuestion> chosen;
      for (int64_t i : group) chosen.push_back(of[static_cast<size_t>(i)]);
      Recorder recorder;
      (*model_)(inputs(chosen));
      const Recorder::Map* last = nullptr;
      for (const Recorder::Map& map : recorder.maps()) {
        if (is_of_regions(map.name)) last = &map;
      }
      if (last == nullptr) return;
      looked = true;
      for (size_t b = 0; b < group.size(); ++b) {
        const NumberedQuestion& e = chosen[b];
        if (!e.place.known()) continue;
        one.tallies[static_cast<size_t>(group[b])] =
            pointing_tally(last->weights.rows.read().subspan(b * keys, keys), rows_, columns_,
                           *e.picture, e.place.box);
      }
    }
    if (looked) result.metrics.push_back(std::move(one));
  }

 private:
  static bool is_of_regions(const std::string& map) {
    return map.substr(0, map.find('#')).ends_with("/second");
  }
  static std::vector<NumberedQuestion> answered(std::vector<NumberedQuestion> list) {
    for (NumberedQuestion& e : list) e.label = e.answer;
    return list;
  }

  PictureForm form_;
  int64_t rows_ = 0, columns_ = 0;  // of regions
};

}  // namespace

std::unique_ptr<Solver> make_ask(const Config& config, Purpose purpose, const std::string& folder) {
  return std::make_unique<AskSolver>(config, purpose, folder);
}

}  // namespace fovea
