// image: one label for a picture.
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/attention/recorder.h"
#include "fovea/base/file.h"
#include "fovea/data/batches_ahead.h"
#include "fovea/data/digits.h"
#include "fovea/data/labelled_pictures.h"
#include "fovea/data/picture_batch.h"
#include "fovea/op/softmax.h"
#include "fovea/report/picture_map.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/label_answers.h"
#include "fovea/task/make.h"
#include "fovea/task/names.h"
#include "fovea/task/picture_looks.h"

namespace fovea {
namespace {

struct Batch {
  Tensor pictures, targets;
};

class Image final : public ExampleSolver<LabelledPicture> {
 public:
  Image(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder) {
    if (folder.empty()) {
      learn();
    } else {
      labels_ = load_names(folder, "labels");
      load_size(folder + "/picture.json");
    }
    if (purpose == Purpose::learn) parts();
    const int64_t side = config_.canvas;
    model_ = model<Scorer>({.labels = labels_.size(),
                            .height = side > 0 ? side : size_.height,
                            .width = side > 0 ? side : size_.width,
                            .channels = size_.channels});
  }

  void save_vocabulary(const std::string& folder) const override {
    save_names(folder, "labels", labels_);
    const nlohmann::json json{
        {"height", size_.height}, {"width", size_.width}, {"channels", size_.channels}};
    const std::string text = json.dump() + "\n";
    write_file_atomically(folder + "/picture.json", std::as_bytes(std::span(text)));
  }

  int64_t begin_epoch(int64_t epoch) override {
    ahead_.stop();
    const int64_t count = ExampleSolver::begin_epoch(epoch);
    ahead_.start(count, [this, epoch](int64_t number) { return made(batch(number), epoch); });
    return count;
  }
  Loss loss(int64_t number) override {
    const Batch now = ahead_.take(number);
    ModelInputs in;
    in.pictures = now.pictures;
    return {model_->loss(in, now.targets, config_.smoothing), now.targets.dim(0)};
  }

  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part)); }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<LabelledPicture> asked;
    for (const std::string& line : lines) asked.push_back({name_of(line), ""});
    return answer(asked, options.nbest, options.details);
  }

  std::vector<std::string> labels() const override { return labels_.names(); }

  Drawing attend(const std::string& input) const override {
    const Picture picture = prepared(name_of(input), -1);
    const Picture* one = &picture;
    const Recorder recorder;
    ModelInputs in;
    in.pictures = picture_batch({&one, 1}, size_of(picture));
    const Tensor likely = log_softmax((*model_)(in).scores);
    const std::string label = label_predictions(likely, 0, labels_, 1, false)[0].text;
    return {label, picture_looks(recorder, *model_, picture, label)};
  }

 protected:
  std::vector<LabelledPicture> read(const std::string& path) const override {
    ReadSummary summary;
    auto all = read_labelled_pictures(path, read_options(config_), &summary);
    note_file(summary);
    return all;
  }
  std::vector<LabelledPicture> generate(const std::string&, int64_t n, Random) const override {
    std::vector<LabelledPicture> all;
    for (int64_t i = 0; i < (n > 0 ? n : 4'000); ++i) {
      all.push_back({say("builtin:digits#", i), std::to_string(digit_of(i)), {28, 28, 1}});
    }
    return all;
  }
  Lengths lengths_of(const LabelledPicture&) const override { return {1}; }
  std::vector<std::string> labels_of(const LabelledPicture& e) const override { return {e.label}; }
  // A folder as MNIST comes has its own part to test on.
  Parts load_parts() const override {
    check_source(config_.data);
    std::vector<LabelledPicture> all = load(config_.data);
    const std::string test = config_.test.empty() ? test_arrays_of(config_.data) : "";
    if (test.empty()) return split_parts(std::move(all));
    Parts parts{std::move(all), {}, read(test)};
    parts.dev =
        config_.dev.empty() ? take_part(parts.train, config_.dev_part, "dev") : load(config_.dev);
    return parts;
  }

 private:
  void learn() {
    const auto& train = parts().train;
    std::vector<std::string> labels;
    PictureSize first = train[0].size;
    for (const LabelledPicture& e : train) {
      labels.push_back(e.label);
      first.channels = std::max(first.channels, e.size.channels);
    }
    std::ranges::sort(labels);
    labels_ = Vocabulary::of(labels);
    check(labels_.size() >= 2, config_.data, ": has only the label '", labels_.name(0),
          "'; image needs at least two");
    size_ = wanted_size(config_, first);
    check(config_.canvas == 0 || (size_.height <= config_.canvas && size_.width <= config_.canvas),
          "canvas: pictures of ", size_.height, " x ", size_.width, " pixels do not fit on ",
          config_.canvas, " x ", config_.canvas, "; give a larger one, or a smaller size");
  }
  void load_size(const std::string& path) {
    std::ifstream file(path);
    check<ErrorKind::io>(file.good(), path, ": cannot be read; the model needs it");
    const auto json = nlohmann::json::parse(file, nullptr, false);
    for (auto& [name, to] : {std::pair<const char*, int64_t*>{"height", &size_.height},
                             {"width", &size_.width},
                             {"channels", &size_.channels}}) {
      check<ErrorKind::input>(json.is_object() && json.contains(name) &&
                                  json[name].is_number_integer() && json[name] >= 1,
                              path, ": is not what an image model leaves there");
      *to = json[name].get<int64_t>();
    }
  }

  // A line asks about a file, "FILE#i", or picture i of the array that it is tested on.
  std::string name_of(const std::string& line) const {
    if (line.empty() || line.find_first_not_of("0123456789") != std::string::npos) return line;
    if (config_.data.starts_with("builtin:")) return "builtin:digits#" + line;
    std::string source = config_.test.empty() ? test_arrays_of(config_.data) : config_.test;
    if (source.empty()) source = config_.data;
    const std::string images = source.substr(0, source.find(','));
    check(is_array_file(images), "image: '", line, "' would be the number of a picture, but ",
          images, " is no array of them; name a file");
    return images + "#" + line;
  }

  // As the model sees it: while training (epoch >= 0) changed by numbers of seed, epoch and
  // example; else the same always.
  Picture prepared(const std::string& name, int64_t epoch) const {
    const bool trains = epoch >= 0;
    const auto example = static_cast<int64_t>(hash_name(name));
    const Random stream = trains ? augment_stream(config_.seed, epoch, example)
                                 : Random(0).fork(static_cast<uint64_t>(example));
    const bool on = config_.canvas > 0;
    if (on && !trains && !name.starts_with("builtin:") && is_canvas(name)) {
      return *store_.get(name, {config_.canvas, config_.canvas, size_.channels});
    }
    Picture picture = *store_.get(name, size_);
    if (trains && augments(config_)) picture = augmented(picture, config_, stream);
    if (!on) return picture;
    return on_canvas(picture, {config_.canvas, config_.clutter}, stream.fork("canvas"));
  }
  // A picture of the very size of the canvas is on one already.
  bool is_canvas(const std::string& name) const {
    const PictureSize size = picture_size(name);
    return size.height == config_.canvas && size.width == config_.canvas;
  }

  Batch made(const std::vector<LabelledPicture>& of, int64_t epoch) const {
    std::vector<Picture> pictures;
    std::vector<int32_t> wanted;
    for (const LabelledPicture& e : of) {
      pictures.push_back(prepared(e.name, epoch));
      wanted.push_back(labels_.id(e.label));
    }
    std::vector<const Picture*> each;
    for (const Picture& picture : pictures) each.push_back(&picture);
    const auto count = static_cast<int64_t>(wanted.size());
    return {picture_batch(each, size_of(pictures[0])), Tensor::adopt({count}, std::move(wanted))};
  }

  std::vector<std::vector<Prediction>> answer(const std::vector<LabelledPicture>& of, int64_t nbest,
                                              bool details = false) const {
    constexpr size_t at_once = 64;
    std::vector<std::vector<Prediction>> all;
    for (size_t from = 0; from < of.size(); from += at_once) {
      const size_t to = std::min(of.size(), from + at_once);
      ModelInputs in;
      in.pictures =
          made({of.begin() + static_cast<ptrdiff_t>(from), of.begin() + static_cast<ptrdiff_t>(to)},
               -1)
              .pictures;
      const Tensor likely = model_->answer(in).likely;
      for (int64_t row = 0; row < likely.dim(0); ++row) {
        all.push_back(label_predictions(likely, row, labels_, nbest, details));
      }
    }
    return all;
  }

  Evaluation measure(const std::vector<LabelledPicture>& of) const {
    const Stopwatch watch;
    const auto found = answer(of, 1);
    const double seconds = watch.seconds();
    LabelMeasure measure(labels_);
    for (size_t i = 0; i < of.size(); ++i) measure.add(of[i].name, of[i].label, found[i][0]);
    return measure.finish(seconds);
  }

  Vocabulary labels_;
  PictureSize size_;  // of a picture, before it is laid on a canvas
  PictureStore store_;
  std::unique_ptr<const Scorer> model_;
  BatchesAhead<Batch> ahead_;  // last: its thread uses all of the above
};

}  // namespace

std::unique_ptr<Solver> make_image(const Config& config, Purpose purpose,
                                   const std::string& folder) {
  return std::make_unique<Image>(config, purpose, folder);
}

}  // namespace fovea
