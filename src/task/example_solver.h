// What solvers that learn from a list of examples share: reading and splitting the data, and
// batches of like length.
#pragma once

#include <chrono>
#include <optional>

#include "fovea/data/batches.h"
#include "fovea/data/split.h"
#include "fovea/nn/sequences.h"
#include "fovea/task/solver.h"

namespace fovea {

template <class Example>
class ExampleSolver : public Solver {
 public:
  // Lays out the epoch's batches, of examples that are not too long.
  int64_t begin_epoch(int64_t epoch) override {
    if (lengths_.empty()) {
      for (const Example& example : learned()) lengths_.push_back(lengths_of(example));
      for (size_t i = 0; i < lengths_.size(); ++i) {
        if (lengths_[i].source <= config_.longest && lengths_[i].target <= config_.longest) {
          used_.push_back(static_cast<int64_t>(i));
        }
      }
      check(!used_.empty(), config_.data, ": every example has more than ", config_.longest,
            " tokens; raise longest");
    }
    std::vector<Lengths> lengths;
    for (int64_t i : used_) lengths.push_back(lengths_[static_cast<size_t>(i)]);
    const Random order = Random(static_cast<uint64_t>(config_.seed))
                             .fork("order")
                             .fork(static_cast<uint64_t>(epoch));
    batches_ = batches_by_length(
        lengths, {.examples = config_.batch, .tokens = config_.batch_tokens}, order);
    return static_cast<int64_t>(batches_.size());
  }

  // A batch can be cut between any two of its examples.
  int64_t examples_in(int64_t batch) const override {
    return static_cast<int64_t>(batches_.at(static_cast<size_t>(batch)).size());
  }

  // How many examples each part has.
  std::string summary() override {
    return say(parts().train.size(), " examples to learn from, ", parts().dev.size(),
               " to validate on, ", parts().test.size(), " to test on");
  }

  // Labels and lengths are of the train part, unknown tokens of dev.
  DataReport data_report() override {
    DataReport report;
    report.train = static_cast<int64_t>(parts().train.size());
    report.dev = static_cast<int64_t>(parts().dev.size());
    report.test = static_cast<int64_t>(parts().test.size());
    report.split = split_text();
    report.files = files();
    std::map<std::string, int64_t> counts;
    std::vector<int64_t> lengths;
    for (const Example& example : parts().train) {
      for (const std::string& label : labels_of(example)) ++counts[label];
      lengths.push_back(lengths_of(example).source);
    }
    count_labels(report, counts);
    if (report.unknown = unknown_part(parts().dev); report.unknown >= 0) {
      take_lengths(report, std::move(lengths));
    }
    return report;
  }

 protected:
  using Solver::Solver;
  // The data, split.
  struct Parts {
    std::vector<Example> train, dev, test;  // dev and test: set apart, or files of their own
  };

  // A file of the data.
  virtual std::vector<Example> read(const std::string& path) const = 0;
  // A file that is not of the data, whose texts may come otherwise: raw or tokenised.
  virtual std::vector<Example> read_other(const std::string& path) const { return read(path); }
  // Built-in data of that name; 0: as many as suit it.
  virtual std::vector<Example> generate(const std::string& name, int64_t n,
                                        Random random) const = 0;
  // In tokens, for batches; an example longer than config's `longest` is not learned from.
  virtual Lengths lengths_of(const Example& example) const = 0;
  // Examples of the same key are never learned from in part and measured on in part; empty: alone.
  virtual std::string together(const Example&) const { return ""; }
  // What a report on the data counts.
  virtual std::vector<std::string> labels_of(const Example&) const { return {}; }
  // Of the tokens of these; below 0 where there are none.
  virtual double unknown_part(const std::vector<Example>&) const { return -1; }
  // The share of unknown ids in these lists; 0 where they are empty.
  static double unknown_part_of(const std::vector<const std::vector<int32_t>*>& lists) {
    int64_t all = 0, unknown = 0;
    for (const auto* list : lists) {
      all += static_cast<int64_t>(list->size());
      unknown += std::ranges::count(*list, Tokenizer::unknown);
    }
    return all > 0 ? static_cast<double>(unknown) / static_cast<double>(all) : 0;
  }

  const std::vector<Example>& learned() { return parts().train; }  // those that are learned from
  // Read when they are first asked for.
  const Parts& parts() {
    if (!parts_) parts_ = load_parts();
    return *parts_;
  }
  std::vector<Example> train_and_dev() {
    std::vector<Example> all = parts().train;
    all.insert(all.end(), parts().dev.begin(), parts().dev.end());
    return all;
  }
  // For what can only be filled in once all examples have been seen.
  template <class F>
  void change_examples(F&& f) {
    parts();
    for (auto* part : {&parts_->train, &parts_->dev, &parts_->test})
      std::ranges::for_each(*part, f);
  }
  // "dev", "test", or a file.
  std::vector<Example> examples(const std::string& part) {
    if (part == "dev") return parts().dev;
    if (part == "test") return parts().test;
    return read_other(part);
  }
  // The first examples of dev, as many as config's validate_examples.
  std::vector<Example> validation_examples() {
    const auto& dev = parts().dev;
    const int64_t most = config_.validate_examples;
    return {dev.begin(), most == 0 || most >= std::ssize(dev) ? dev.end() : dev.begin() + most};
  }
  // The examples of a batch of this epoch, or of the shard of it that loss() is about.
  std::vector<Example> batch(int64_t number) {
    std::vector<Example> chosen;
    const std::vector<int64_t>& all = batches_.at(static_cast<size_t>(number));
    const auto n = static_cast<int64_t>(all.size());
    for (int64_t i = shard_.begin(n); i < shard_.end(n); ++i) {
      chosen.push_back(learned()[used_[all[static_cast<size_t>(i)]]]);
    }
    return chosen;
  }
  // Groups of at most `most` examples of like length; together they are all of them.
  std::vector<std::vector<int64_t>> groups(const std::vector<Example>& of, int64_t most) const {
    std::vector<Lengths> lengths;
    for (const Example& example : of) lengths.push_back(lengths_of(example));
    return batches_by_length(lengths, {.examples = most}, Random(0));
  }

  // Of a file, or of builtin:NAME.
  std::vector<Example> load(const std::string& source) const {
    constexpr std::string_view builtin = "builtin:";
    if (!source.starts_with(builtin)) return read(source);
    const std::string name = source.substr(builtin.size());
    find_builtin(find_task(config_.task), name);
    return generate(name, config_.examples, Random(0).fork(source));
  }
  // What parts() gives; as it stands, the config's `data`, and dev and test by split_parts().
  virtual Parts load_parts() const {
    check_source(config_.data);
    return split_parts(load(config_.data));
  }
  // What is not in files of its own is held out.
  Parts split_parts(std::vector<Example> all) const {
    Parts parts{std::move(all), {}, {}};
    const auto key = [this](const Example& example) { return together(example); };
    parts.dev = config_.dev.empty() ? take_part(parts.train, config_.dev_part, "dev", key)
                                    : load(config_.dev);
    parts.test = config_.test.empty() ? take_part(parts.train, config_.test_part, "test", key)
                                      : load(config_.test);
    check(!parts.train.empty(), config_.data, ": holds too few examples to learn from");
    return parts;
  }

 private:
  std::optional<Parts> parts_;
  std::vector<Lengths> lengths_;
  std::vector<int64_t> used_;                  // examples that are not too long
  std::vector<std::vector<int64_t>> batches_;  // places in used_
};

// Measures from when it was made.
class Stopwatch {
 public:
  double seconds() const {  // since then
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace fovea
