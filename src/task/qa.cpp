// qa: a story and a question, answered by one of the candidates: all answers that training has
// seen, or, where questions come with key-value memories, the values of their own memories. A
// memory network may write its answer instead, in words that training has seen in answers.
#include <filesystem>
#include <map>
#include <set>

#include "fovea/attention/recorder.h"
#include "fovea/base/utf8.h"
#include "fovea/base/words.h"
#include "fovea/data/stories.h"
#include "fovea/model/memory/stories.h"
#include "fovea/op/softmax.h"
#include "fovea/task/example_solver.h"
#include "fovea/task/letters.h"
#include "fovea/task/make.h"
#include "fovea/task/maps.h"
#include "fovea/task/names.h"
#include "fovea/task/story_maps.h"
#include "fovea/task/story_numbers.h"
#include "fovea/task/written_answers.h"

namespace fovea {
namespace {

using Numbered = NumberedStoryQuestion;

class Qa final : public ExampleSolver<Numbered> {
 public:
  Qa(const Config& config, Purpose purpose, const std::string& folder)
      : ExampleSolver(config, purpose, folder),
        reads_letters_(config.settings.get("input", "words") == "letters"),
        writes_(config.settings.get("response", "words") == "lstm") {
    if (folder.empty()) {
      learn_vocabularies();
    } else {
      numbers_ = StoryNumbers(load_names(folder, "words"), config.hashed, reads_letters_);
      answers_ = load_names(folder, "answers");
      own_candidates_ = answers_.name(0) == own_mark;
      longest_sentence_ = whole_of("longest_sentence", load_names(folder, "sentences").name(0));
      // Folders of earlier versions do not say it, and have an option's own value.
      longest_story_ = std::filesystem::exists(folder + "/story.json")
                           ? whole_of("longest_story", load_names(folder, "story").name(0))
                           : config.longest;
      if (writes_) written_ = WrittenAnswers::load(folder);
    }
    if (purpose == Purpose::learn) change_examples([this](Numbered& e) { numbers_.number(e); });
    model_ = model<Scorer>({.vocabulary = numbers_.words().size(),
                            .target_vocabulary = written_ ? written_->size() : 0,
                            .labels = answers_.size(),
                            .longest = tokens_of_the_longest(),
                            .hashed = config.hashed,
                            .longest_sentence = longest_sentence_,
                            .longest_story = longest_story_});
    if (writes_) writer_ = dynamic_cast<const WritesAnswers*>(model_.get());
    if (purpose == Purpose::learn && dynamic_cast<const LearnsFromFacts*>(model_.get()))
      check_facts();
  }

  void save_vocabulary(const std::string& folder) const override {
    save_names(folder, "words", numbers_.words());
    save_names(folder, "answers", answers_);
    if (written_) written_->save(folder);
    // Words of the longest sentence, and sentences of the longest story.
    for (const auto& [name, longest] :
         {std::pair("sentences", longest_sentence_), std::pair("story", longest_story_)}) {
      save_names(folder, name, Vocabulary::of(std::vector<std::string>{std::to_string(longest)}));
    }
  }

  int64_t begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    return ExampleSolver::begin_epoch(epoch);
  }

  Loss loss(int64_t number) override {
    const auto chosen = batch(number);
    Batch b = batch_of(chosen);
    b.in.epoch = epoch_;
    return {model_->loss(b.in, b.targets, config_.smoothing), b.in.story.inner.rows(),
            std::ssize(chosen), dynamic_cast<const SumsLoss*>(model_.get()) != nullptr};
  }

  std::vector<Metric> validate() override { return measure(validation_examples()).values(); }
  Evaluation evaluate(const std::string& part) override {
    std::vector<Numbered> of = examples(part);
    for (Numbered& e : of) {
      if (!e.numbers) numbers_.number(e);
    }
    return measure(of);
  }

  std::optional<std::string> heard(std::string& so_far, const std::string& line) const override {
    return story_heard(so_far, line);
  }

  std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                               const PredictOptions& options) const override {
    std::vector<Numbered> of;
    for (const std::string& line : lines) of.push_back(numbers_.numbered(story_of_text(line)));
    return answer(of, options.nbest);
  }

  Drawing attend(const std::string& input) const override {
    const Numbered e = numbers_.numbered(story_of_text(input));
    Recorder recorder(capture_of(looked_at(e)));
    const std::string best = answer({e}, 1)[0].at(0).text;
    const auto memory = whole_of("memory", config_.settings.get("memory", "0"));
    return {joined(e.question) + "? → " + best, maps_of(recorder, 0, [&](const std::string& name) {
              return story_labels(recorder, name, e, memory);
            })};
  }

 protected:
  std::vector<Numbered> read(const std::string& path) const override {
    return read_part(path, "train");
  }
  // Nobody asks for a measure of what was learned from.
  std::vector<Numbered> read_other(const std::string& path) const override {
    return read_part(path, "test");
  }
  std::vector<Numbered> generate(const std::string&, int64_t n, Random random) const override {
    return of_stories(generate_stories(n > 0 ? n : 3'000, random));
  }
  // Batches are drawn from all stories alike: of like length they would be of one task, and words
  // are packed anyway.
  Lengths lengths_of(const Numbered&) const override { return {1}; }
  // Questions about one story: what is learned of it by heart must not answer the others.
  std::string together(const Numbered& e) const override { return story_key(e); }
  // One file may hold all parts, and a folder has files for each.
  Parts load_parts() const override {
    check(!config_.data.empty(), "qa: needs data: a file, a folder, or builtin:stories");
    Parts parts = marked(load(config_.data));
    // What is named counts before what is marked; what is neither is held out.
    if (!config_.dev.empty()) parts.dev = load(config_.dev);
    if (!config_.test.empty()) {
      parts.test = is_folder(config_.test) ? read_other(config_.test) : load(config_.test);
    } else if (is_folder(config_.data)) {
      parts.test = read_other(config_.data);
    }
    if (parts.dev.empty()) parts.dev = take_part(parts.train, config_.dev_part, "dev", story_key);
    if (parts.test.empty())
      parts.test = take_part(parts.train, config_.test_part, "test", story_key);
    keep_tasks(parts);
    for (const auto* part : {&parts.train, &parts.dev, &parts.test}) {
      check(!part->empty(), config_.data, ": holds no question",
            config_.tasks.empty() ? "" : say(" of the tasks '", config_.tasks, "'"), " to ",
            part == &parts.train ? "learn from"
            : part == &parts.dev ? "validate on"
                                 : "test on");
    }
    return parts;
  }

 private:
  static bool is_folder(const std::string& path) { return std::filesystem::is_directory(path); }

  std::vector<Numbered> read_part(const std::string& path, const std::string& part) const {
    StoryReading how{.encoding = config_.encoding};
    int64_t bad = 0;
    std::string first;
    if (config_.skip_bad) {
      how.on_bad = [&](const std::string& problem) {
        if (bad++ == 0) first = problem;
      };
    }
    std::vector<Numbered> all = of_stories(read_stories(path, part, how));
    if (bad > 0) {
      note(say(path, ": ", bad, bad == 1 ? " line" : " lines", " left out that cannot be read; ",
               first));
    }
    return all;
  }

  // A file may say which example belongs where; without that all are to learn from.
  Parts marked(std::vector<Numbered> all) const {
    const bool said = std::ranges::any_of(all, [](const Numbered& e) { return !e.split.empty(); });
    if (!said) return {std::move(all), {}, {}};
    Parts parts;
    for (Numbered& e : all) {
      check(e.split == "train" || e.split == "dev" || e.split == "test", config_.data,
            ": a split is train, dev or test, got '", e.split, "'");
      (e.split == "train" ? parts.train
       : e.split == "dev" ? parts.dev
                          : parts.test)
          .push_back(std::move(e));
    }
    check(!parts.train.empty(), config_.data, ": marks no question with the split train");
    return parts;
  }
  // The same for all questions about one story.
  static std::string story_key(const Numbered& e) {
    return e.story && !e.story->empty() ? say(static_cast<const void*>(e.story.get())) : "";
  }

  // A Transformer looks at words, the others at sentences.
  size_t looked_at(const Numbered& e) const {
    size_t words = e.question.size();
    for (size_t i = 0; i < e.sentences; ++i) words += (*e.story)[i].words.size() + 1;
    return config_.model == "transformer" ? words : e.sentences;
  }

  static constexpr const char* own_mark = "(values of the question's memories)";

  void keep_tasks(Parts& parts) const {
    if (config_.tasks.empty()) return;
    std::set<std::string> there;
    for (const auto* part : {&parts.train, &parts.dev, &parts.test})
      for (const Numbered& e : *part) there.insert(e.task);
    const std::set<std::string> wanted = tasks_named(config_.tasks, there);
    for (auto* part : {&parts.train, &parts.dev, &parts.test})
      std::erase_if(*part, [&](const Numbered& e) { return !wanted.contains(e.task); });
  }

  // Before anything is learned: that a batch has none would show in the middle of it.
  void check_facts() {
    const auto& train = parts().train;
    const auto none = [](const Numbered& e) { return e.facts.empty(); };
    const auto first = std::ranges::find_if(train, none);
    check(first == train.end(), config_.model, ": learns from supporting facts, and ",
          std::ranges::count_if(train, none), " of ", train.size(),
          " questions to learn from have none, as '",
          first == train.end() ? "" : joined(first->question),
          "?'; choose a model that finds them itself, as memn2n");
  }

  static std::vector<Numbered> of_stories(std::vector<StoryQuestion> list) {
    std::vector<Numbered> all;
    for (StoryQuestion& q : list) all.push_back({std::move(q), nullptr, {}, {}});
    return all;
  }

  // Read as one text, with a mark behind each sentence, and somewhat longer stories than were
  // learned.
  int64_t tokens_of_the_longest() const {
    constexpr int64_t least = 512;
    return std::max(least, longest_story_ * (longest_sentence_ + 1) + longest_sentence_);
  }

  void learn_vocabularies() {
    std::map<std::string, int64_t> counts;
    std::set<const void*> seen;
    std::vector<std::string> answers;
    size_t longest = 1, longest_story = 1;
    bool values = false, sentences = false;
    for (const Numbered& e : parts().train) {
      std::set<std::string> words(e.question.begin(), e.question.end());
      longest = std::max(longest, e.question.size());
      longest_story = std::max(longest_story, e.sentences);
      for (const std::string& answer : e.answers) answers.push_back(answer);
      // A question may come with nothing remembered: that says nothing about the others.
      if (e.sentences > 0) ((*e.story)[0].value.empty() ? sentences : values) = true;
      if (seen.insert(e.story.get()).second) {
        for (const Remembered& r : *e.story) {
          words.insert(r.words.begin(), r.words.end());
          longest = std::max(longest, r.words.size());
        }
      }
      // Once for a story, however often it says so: a name that is all over one is still rare.
      for (const std::string& word : words) ++counts[word];
    }
    own_candidates_ = values && !sentences;
    if (own_candidates_) {
      answers = {own_mark};
    } else {
      for (const std::string& answer : answers) counts[answer] += config_.min_count;
    }
    std::vector<std::string> words{"(unknown)"};
    for (const auto& [word, count] : counts) {
      if (count >= config_.min_count) words.push_back(word);
    }
    numbers_ = StoryNumbers(Vocabulary::of(words), config_.hashed, reads_letters_);
    if (writes_) {
      std::vector<std::string> texts;
      for (const Numbered& e : parts().train)
        texts.insert(texts.end(), e.answers.begin(), e.answers.end());
      written_ = WrittenAnswers::learn(texts);
    }
    std::ranges::sort(answers);
    answers_ = Vocabulary::of(answers);
    longest_sentence_ = static_cast<int64_t>(longest);
    longest_story_ = static_cast<int64_t>(longest_story);
  }

  struct Batch {
    ModelInputs in;
    Tensor targets;                                // int32 [B]
    std::vector<std::vector<std::string>> values;  // own candidates, by name
  };
  Batch batch_of(const std::vector<Numbered>& of) const {
    using Nested = std::vector<std::vector<std::vector<int32_t>>>;
    Nested stories, keys, values;
    std::vector<std::vector<int32_t>> questions;
    const auto first = [](const auto& list, size_t n) {
      return std::vector<std::vector<int32_t>>(list.begin(),
                                               list.begin() + static_cast<int64_t>(n));
    };
    size_t facts = 0;
    bool keyed = false;
    for (const Numbered& e : of) {
      stories.push_back(first(e.numbers->words, e.sentences));
      questions.push_back(e.question_ids.empty() ? std::vector<int32_t>{StoryNumbers::unknown}
                                                 : e.question_ids);
      facts = std::max(facts, e.facts.size());
      // Each by itself: what is told in sentences is key and value at once.
      const bool apart = e.numbers->keys.size() == e.numbers->words.size();
      keyed |= apart;
      keys.push_back(first(apart ? e.numbers->keys : e.numbers->words, e.sentences));
      values.push_back(first(apart ? e.numbers->values : e.numbers->words, e.sentences));
    }
    Batch b;
    b.in.story = nested_sequences_of(stories);
    b.in.question = sequences_of(questions);
    if (reads_letters_) give_letters(of, b.in);
    if (keyed) {
      b.in.keys = nested_sequences_of(keys);
      b.in.values = nested_sequences_of(values);
    }
    const auto B = static_cast<int64_t>(of.size());
    if (facts > 0) {
      std::vector<int32_t> list;
      for (const Numbered& e : of) {
        for (size_t k = 0; k < facts; ++k) list.push_back(k < e.facts.size() ? e.facts[k] : -1);
      }
      b.in.supporting = Tensor::of({B, static_cast<int64_t>(facts)}, list);
    }
    std::vector<int32_t> targets;
    if (writes_) {
      std::vector<std::string> answers;
      for (const Numbered& e : of) answers.push_back(e.answers.empty() ? "" : e.answers[0]);
      Lesson lesson = written_->lesson(answers);
      b.in.answer = std::move(lesson.target), b.targets = std::move(lesson.wanted);
      return b;
    }
    if (own_candidates_) {
      give_own_candidates(of, b);
      for (size_t i = 0; i < of.size(); ++i) targets.push_back(first_right(of[i], b.values[i]));
    } else {
      std::vector<int32_t> ids;
      for (const std::string& answer : answers_.names()) ids.push_back(numbers_.id(answer));
      b.in.candidates = Tensor::of({answers_.size()}, ids);
      for (const Numbered& e : of)
        targets.push_back(e.answers.empty() ? -1 : answers_.id(e.answers[0]));
    }
    b.targets = Tensor::of({B}, targets);
    return b;
  }
  static void give_letters(const std::vector<Numbered>& of, ModelInputs& in) {
    std::vector<int32_t> story, question;
    for (const Numbered& e : of) {
      for (size_t i = 0; i < e.sentences; ++i)
        story.insert(story.end(), e.numbers->letters[i].begin(), e.numbers->letters[i].end());
      question.insert(question.end(), e.question_letters.begin(), e.question_letters.end());
      if (e.question_letters.empty()) question.resize(question.size() + letters_of_word);
    }
    in.letters = letter_rows(story);
    in.second_letters = letter_rows(question);
  }
  // The distinct values of each question's memories.
  void give_own_candidates(const std::vector<Numbered>& of, Batch& b) const {
    size_t most = 1;
    for (const Numbered& e : of) {
      std::vector<std::string> names;
      for (size_t i = 0; i < e.sentences; ++i) {
        const Words& value = (*e.story)[i].value;
        if (value.empty()) continue;
        const std::string name = joined(value);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
      }
      most = std::max(most, names.size());
      b.values.push_back(std::move(names));
    }
    std::vector<int32_t> ids;
    for (const auto& names : b.values) {
      for (size_t k = 0; k < most; ++k)
        ids.push_back(k < names.size() ? numbers_.id(names[k]) : -1);
    }
    b.in.candidates =
        Tensor::of({static_cast<int64_t>(of.size()), static_cast<int64_t>(most)}, ids);
  }
  // -1, which a loss skips, where none is.
  static int32_t first_right(const Numbered& e, const std::vector<std::string>& candidates) {
    for (size_t k = 0; k < candidates.size(); ++k) {
      if (std::ranges::find(e.answers, candidates[k]) != e.answers.end())
        return static_cast<int32_t>(k);
    }
    return -1;
  }

  std::vector<std::vector<Prediction>> answer(const std::vector<Numbered>& of,
                                              int64_t nbest) const {
    std::vector<std::vector<Prediction>> all(of.size());
    for (const auto& group : groups(of, 64)) {
      std::vector<Numbered> chosen;
      for (int64_t i : group) chosen.push_back(of[i]);
      const Batch b = batch_of(chosen);
      if (writer_) {
        const int64_t beam = std::max<int64_t>(4, nbest);
        // Every word of an answer that was learned from is known: an unknown one is always wrong.
        const auto found = writer_->write(
            b.in, {.beam = beam, .nbest = nbest, .length_penalty = 0, .never = Tokenizer::unknown});
        for (size_t row = 0; row < group.size(); ++row) {
          // No words are no answer, unless there is no other.
          auto& predictions = all[group[row]];
          for (const Hypothesis& h : found[row]) {
            if (!h.ids.empty()) predictions.push_back({written_->text(h.ids), h.score});
          }
          if (predictions.empty()) predictions.push_back({"", found[row][0].score});
        }
        continue;
      }
      const Tensor likely = log_softmax((*model_)(b.in).scores);
      const int64_t C = likely.dim(1);
      for (size_t row = 0; row < group.size(); ++row) {
        auto& predictions = all[group[row]];
        const auto names =
            std::span<const std::string>(own_candidates_ ? b.values[row] : answers_.names());
        for (size_t k = 0; k < names.size(); ++k)
          predictions.push_back({names[k], likely.read()[row * C + k]});
        if (predictions.empty()) predictions.push_back({"(nothing remembered)", 0});
        std::ranges::stable_sort(predictions, std::ranges::greater(), &Prediction::score);
        if (static_cast<int64_t>(predictions.size()) > nbest) predictions.resize(nbest);
      }
    }
    return all;
  }

  // An answer that training never saw counts as not found.
  Evaluation measure(const std::vector<Numbered>& of) const {
    const Stopwatch watch;
    const auto found = answer(of, 1);
    Evaluation result;
    result.seconds = watch.seconds();
    Evaluation::One right{"right_answers", {}};
    std::map<std::pair<size_t, std::string>, Evaluation::One> by_task;  // 2 before 10
    for (size_t i = 0; i < of.size(); ++i) {
      const bool is = std::ranges::find(of[i].answers, found[i][0].text) != of[i].answers.end();
      right.tallies.push_back({is ? 1.0 : 0.0, 1});
      by_task.try_emplace({of[i].task.size(), of[i].task},
                          Evaluation::One{"right_answers@" + of[i].task, {}});
      result.inputs.push_back(of[i].input);
      result.truths.push_back(of[i].answers.empty() ? "" : of[i].answers[0]);
      result.outputs.push_back(found[i][0].text);
    }
    result.metrics = {right};
    if (by_task.size() < 2) return result;
    for (auto& [name, one] : by_task) {
      for (size_t i = 0; i < of.size(); ++i)
        one.tallies.push_back(of[i].task == name.second ? right.tallies[i] : Tally{0, 0});
      result.metrics.push_back(std::move(one));
    }
    return result;
  }

  StoryNumbers numbers_;
  Vocabulary answers_;
  bool own_candidates_ = false;
  int64_t longest_sentence_ = 1, longest_story_ = 1;
  bool reads_letters_, writes_;
  std::optional<WrittenAnswers> written_{};
  int64_t epoch_ = 0;
  std::unique_ptr<const Scorer> model_;
  const WritesAnswers* writer_ = nullptr;  // the same, where it writes
};

}  // namespace

std::unique_ptr<Solver> make_qa(const Config& config, Purpose purpose, const std::string& folder) {
  return std::make_unique<Qa>(config, purpose, folder);
}

}  // namespace fovea
