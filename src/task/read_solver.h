// What reading for a part of the passage and reading for a choice share: passages and questions as
// numbers, windows over passages that are too long, and how questions are asked.
//
// A passage of more than `longest` tokens is read in windows of that many, each beginning half a
// window behind the one before; the model learns from the window that has the answer in its middle.
#pragma once

#include <map>

#include "fovea/data/asked_tokens.h"
#include "fovea/data/passages.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/maps.h"

namespace fovea {

// A text as tokens: their numbers, and the bytes [begins, ends) that each is.
struct TextNumbers {
  std::vector<int32_t> ids, begins, ends;  // one a token

  int64_t size() const { return static_cast<int64_t>(ids.size()); }  // how many tokens
};

// A question with its passage, as a model reads them.
struct NumberedQuestion : PassageQuestion {
  std::shared_ptr<const TextNumbers> numbers{};  // of the passage
  TextNumbers asked{};                           // of the question
  // Of a cloze: the word of each candidate, and the tokens of the passage at which it is named.
  std::vector<int32_t> candidate_ids{};
  std::vector<std::vector<int32_t>> mentions{};
};

// Tokens [from, to) of a passage.
struct PassageWindow {
  int64_t from = 0, to = 0;                   // by their places
  int64_t size() const { return to - from; }  // how many tokens
};

// Derived solvers know their model; their constructors call begin().
class ReadSolver : public ExampleSolver<NumberedQuestion> {
 public:
  void save_vocabulary(const std::string& folder) const override;
  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override { return measure(examples(part)); }
  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override;
  // A passage is told line by line and asked about; a blank line begins another. With the option
  // `passage` every line is a question.
  std::optional<std::string> heard(std::string& so_far, const std::string& line) const override;

 protected:
  ReadSolver(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder) {}

  // For constructors: vocabularies learned or loaded, and all examples numbered.
  void begin(Purpose purpose, const std::string& folder);
  // For each its likeliest answers, the best first, at most nbest.
  virtual std::vector<std::vector<Prediction>> answer(const std::vector<NumberedQuestion>& of,
                                                      int64_t nbest) const = 0;
  // How well these are answered.
  virtual Evaluation measure(const std::vector<NumberedQuestion>& of) const = 0;
  // Whether answers are candidates.
  virtual bool chooses() const = 0;

  std::vector<NumberedQuestion> read(const std::string& path) const override;
  std::vector<NumberedQuestion> read_other(const std::string& path) const override;
  std::vector<NumberedQuestion> generate(const std::string& name, int64_t n,
                                         Random random) const override;
  Parts load_parts() const override;  // numbered too, where there are tokens already
  Lengths lengths_of(const NumberedQuestion& e) const override;
  std::string together(const NumberedQuestion& e) const override { return *e.passage; }
  double unknown_part(const std::vector<NumberedQuestion>& of) const override;

  // What a line asks: passage, tab, question and, of a cloze, a tab and candidates with | between;
  // or a passage with the question as its last sentence.
  NumberedQuestion ask(const std::string& line) const;
  // The line that asks it.
  static std::string line_of(const NumberedQuestion& e);
  // What splits its texts.
  const Tokenizer& tokens_for(const NumberedQuestion& e) const { return asked_.of(*e.passage); }

  // All windows that a passage is read in, and the one that has a token in its middle.
  std::vector<PassageWindow> windows_of(const NumberedQuestion& e) const;
  PassageWindow window_around(const NumberedQuestion& e, int64_t token) const;
  // Passages in their windows, and questions.
  struct Asked {
    const NumberedQuestion* question;  // which must outlive it
    PassageWindow window;              // of its passage
  };
  // One batch of them; with the letters of words where the model's option `letters` asks for them.
  ModelInputs inputs(std::span<const Asked> of) const;
  // Every window of these questions, in groups of like length, with the number of its question.
  struct Group {
    std::vector<Asked> asked;  // at most 64, for one call of the model
    std::vector<size_t> of;    // of each, its question's place in the list
  };
  // The questions must outlive them.
  std::vector<Group> all_windows(const std::vector<NumberedQuestion>& of) const;

  // Where tokens first to last of the passage stand in it, and their text.
  static TextPlace place_of(const NumberedQuestion& e, int64_t first, int64_t last);
  static std::string text_of(const NumberedQuestion& e, int64_t first, int64_t last);
  // What maps of readers look at: by the map's name, passage or question or both.
  std::vector<AttentionMap> maps_over(const Recorder& recorder, const NumberedQuestion& e) const;
  // A map of one row, over the words of the passage.
  AttentionMap marked(const NumberedQuestion& e, const std::string& answer,
                      std::vector<float> weights) const;

  std::optional<Tokenizer> tokens_, alphabet_;  // for texts, and for the letters of a token

 private:
  // What questions about one passage share.
  using KnownPassages = std::map<const std::string*, std::shared_ptr<const TextNumbers>>;
  void number(NumberedQuestion& e, const Tokenizer& tokens, KnownPassages& known) const;
  void number_all(std::vector<NumberedQuestion>& list, const Tokenizer& tokens) const;
  void number_rest(NumberedQuestion& e, const Tokenizer& tokens) const;
  Tensor letters(std::span<const Asked> of, int64_t rows, bool question) const;

  AskedTokens asked_;
  std::string passage_;  // of the option `passage`
};

}  // namespace fovea
