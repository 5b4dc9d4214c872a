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
    for (int64_t i : used_) lengths.push_back(lengths_[i]);
    const Random order = Random(config_.seed).fork("order").fork(static_cast<uint64_t>(epoch));
    batches_ = batches_by_length(
        lengths, {.examples = config_.batch, .tokens = config_.batch_tokens}, order);
    return static_cast<int64_t>(batches_.size());
  }

  std::string summary() override {
    return say(parts().train.size(), " examples to learn from, ", parts().dev.size(),
               " to validate on, ", parts().test.size(), " to test on");
  }

 protected:
  using Solver::Solver;
  struct Parts {
    std::vector<Example> train, dev, test;
  };

  virtual std::vector<Example> read(const std::string& path) const = 0;
  // Built-in data of that name; 0: as many as suit it.
  virtual std::vector<Example> generate(const std::string& name, int64_t n,
                                        Random random) const = 0;
  virtual Lengths lengths_of(const Example& example) const = 0;

  const std::vector<Example>& learned() { return parts().train; }
  const Parts& parts() {
    if (!parts_) parts_ = load_parts();
    return *parts_;
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
    return read(part);
  }
  std::vector<Example> validation_examples() {
    const auto& dev = parts().dev;
    const auto most = static_cast<size_t>(config_.validate_examples);
    return {dev.begin(), most == 0 || most >= dev.size() ? dev.end() : dev.begin() + most};
  }
  std::vector<Example> batch(int64_t number) {
    std::vector<Example> chosen;
    for (int64_t i : batches_.at(number)) chosen.push_back(learned()[used_[i]]);
    return chosen;
  }
  // Groups of at most `most` examples of like length; together they are all of them.
  std::vector<std::vector<int64_t>> groups(const std::vector<Example>& of, int64_t most) const {
    std::vector<Lengths> lengths;
    for (const Example& example : of) lengths.push_back(lengths_of(example));
    return batches_by_length(lengths, {.examples = most}, Random(0));
  }

 private:
  std::vector<Example> load(const std::string& source) const {
    constexpr std::string_view builtin = "builtin:";
    if (!source.starts_with(builtin)) return read(source);
    const std::string name = source.substr(builtin.size());
    find_builtin(find_task(config_.task), name);
    return generate(name, config_.examples, Random(0).fork(source));
  }
  Parts load_parts() const {
    check(!config_.data.empty(), config_.task,
          ": needs data: a file, or builtin:", find_task(config_.task).builtin[0].name);
    Parts parts{load(config_.data), {}, {}};
    parts.dev =
        config_.dev.empty() ? take_part(parts.train, config_.dev_part, "dev") : load(config_.dev);
    parts.test = config_.test.empty() ? take_part(parts.train, config_.test_part, "test")
                                      : load(config_.test);
    check(!parts.train.empty(), config_.data, ": holds too few examples to learn from");
    return parts;
  }
  std::optional<Parts> parts_;
  std::vector<Lengths> lengths_;
  std::vector<int64_t> used_;                  // examples that are not too long
  std::vector<std::vector<int64_t>> batches_;  // places in used_
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace fovea
