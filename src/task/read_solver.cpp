#include "fovea/task/read_solver.h"

#include <algorithm>
#include <unordered_map>

#include "fovea/base/utf8.h"
#include "fovea/data/encoding.h"
#include "fovea/data/rows.h"
#include "fovea/data/stories.h"
#include "fovea/task/text_cut.h"
#include "fovea/task/vectors.h"

namespace fovea {
namespace {

TextNumbers numbers_of(const std::string& text, const Tokenizer& tokens) {
  TextNumbers numbers{tokens.encode(text), {}, {}};
  for (const Token& token : tokens.pieces_with_places(text)) {
    numbers.begins.push_back(static_cast<int32_t>(token.begin));
    numbers.ends.push_back(static_cast<int32_t>(token.end));
  }
  return numbers;
}

std::string_view word_of(const std::string& text, const TextNumbers& numbers, int64_t i) {
  const auto at = static_cast<size_t>(i);
  return std::string_view(text).substr(static_cast<size_t>(numbers.begins[at]),
                                       static_cast<size_t>(numbers.ends[at] - numbers.begins[at]));
}

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::ranges::replace(text, '\t', ' ');
  return text;
}

std::string file_text(const std::string& path) {
  TextSource source = open_text(path);
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (const size_t n = source.bytes->read(buffer)) text.append(buffer.data(), n);
  const int64_t wrong = first_not_utf8(text);
  check<ErrorKind::input>(wrong < 0, path, ": is not UTF-8 text at byte ", wrong + 1);
  check<ErrorKind::input>(!split_at_spaces(text).empty(), path, ": has no text to ask about");
  return text;
}

// Where the last sentence begins, which is the question; npos where that has no question mark.
size_t last_sentence(const std::string& text) {
  if (!is_question(text)) return std::string::npos;
  const size_t end = text.find_last_not_of(" \t\r\n");
  for (size_t i = end; i-- > 1;) {
    const bool mark = text[i - 1] == '.' || text[i - 1] == '!' || text[i - 1] == '?';
    if (text[i] == '\n' || (mark && text[i] == ' ')) return i;
  }
  return std::string::npos;
}

}  // namespace

void ReadSolver::save_vocabulary(const std::string& folder) const {
  tokens_->save(folder, "tokens");
  alphabet_->save(folder, "letters");
}

void ReadSolver::begin(Purpose purpose, const std::string& folder) {
  if (folder.empty()) {
    std::vector<std::string> texts;
    const std::string* last = nullptr;
    for (const NumberedQuestion& e : parts().train) {
      if (e.passage.get() != last) texts.push_back(*e.passage);
      last = e.passage.get();
      texts.push_back(e.question);
    }
    alphabet_ = Tokenizer::learn({.kind = "chars", .min_count = 3}, texts);
    if (config_.tokens == "auto") note_tokens("tokens", texts);
    add_vector_words(config_, texts);
    tokens_ = Tokenizer::learn({.kind = config_.tokens,
                                .lowercase = config_.lowercase,
                                .min_count = config_.min_count,
                                .max_size = config_.vocabulary},
                               texts);
  } else {
    tokens_ = Tokenizer::load(folder, "tokens");
    alphabet_ = Tokenizer::load(folder, "letters");
  }
  asked_ = AskedTokens(*tokens_, config_.tokens == "auto");
  if (purpose == Purpose::use && !config_.passage.empty()) passage_ = file_text(config_.passage);
  if (purpose == Purpose::learn) parts();
  if (!folder.empty()) return;
  KnownPassages known;
  change_examples([&](NumberedQuestion& e) { number(e, *tokens_, known); });
}

void ReadSolver::number(NumberedQuestion& e, const Tokenizer& tokens, KnownPassages& known) const {
  auto& numbers = known[e.passage.get()];
  if (!numbers) numbers = std::make_shared<const TextNumbers>(numbers_of(*e.passage, tokens));
  e.numbers = numbers;
  number_rest(e, tokens);
}

// Where there are tokens already, as of a folder, examples are numbered as they are read.
ReadSolver::Parts ReadSolver::load_parts() const {
  Parts parts = ExampleSolver::load_parts();
  if (!tokens_) return parts;
  for (auto* part : {&parts.train, &parts.dev, &parts.test}) number_all(*part, *tokens_);
  return parts;
}

void ReadSolver::number_all(std::vector<NumberedQuestion>& list, const Tokenizer& tokens) const {
  KnownPassages known;
  for (NumberedQuestion& e : list) number(e, tokens, known);
}

void ReadSolver::number_rest(NumberedQuestion& e, const Tokenizer& tokens) const {
  e.asked = numbers_of(e.question, tokens);
  for (auto* list : {&e.asked.ids, &e.asked.begins, &e.asked.ends}) {
    *list = cut_to(std::move(*list), config_.longest);
  }
  if (e.asked.ids.empty()) e.asked = {{Tokenizer::unknown}, {0}, {0}};
  e.candidate_ids.clear();
  e.mentions.assign(e.candidates.size(), {});
  if (e.candidates.empty()) return;
  std::vector<std::string> words;
  std::unordered_map<std::string, std::vector<int32_t>> places;
  for (int64_t i = 0; i < e.numbers->size(); ++i) {
    words.push_back(to_lowercase(word_of(*e.passage, *e.numbers, i)));
    places[words.back()].push_back(static_cast<int32_t>(i));
  }
  for (size_t c = 0; c < e.candidates.size(); ++c) {
    const TextNumbers numbers = numbers_of(e.candidates[c], tokens);
    std::vector<std::string> parts;
    for (int64_t i = 0; i < numbers.size(); ++i) {
      parts.push_back(to_lowercase(word_of(e.candidates[c], numbers, i)));
    }
    e.candidate_ids.push_back(numbers.size() == 1 ? numbers.ids[0] : Tokenizer::unknown);
    if (parts.empty()) continue;
    for (int32_t at : places[parts[0]]) {
      const auto from = static_cast<size_t>(at);
      if (from + parts.size() > words.size()) continue;
      if (std::equal(parts.begin(), parts.end(), words.begin() + at)) e.mentions[c].push_back(at);
    }
  }
}

std::vector<NumberedQuestion> ReadSolver::read(const std::string& path) const {
  ReadSummary summary;
  auto list = chooses() ? read_clozes(path, read_options(config_), &summary)
                        : read_passages(path, read_options(config_), &summary);
  note_file(summary);
  std::vector<NumberedQuestion> all;
  for (PassageQuestion& q : list) all.push_back({std::move(q)});
  return all;
}

std::vector<NumberedQuestion> ReadSolver::read_other(const std::string& path) const {
  std::vector<NumberedQuestion> all = read(path);
  std::vector<std::string> texts;
  for (const NumberedQuestion& e : all) texts.push_back(*e.passage);
  number_all(all, asked_.of_all(texts));
  return all;
}

std::vector<NumberedQuestion> ReadSolver::generate(const std::string& name, int64_t n,
                                                   Random random) const {
  const bool cloze = name == "cloze";
  check(cloze == chooses(), "read: builtin:", name, " holds ",
        cloze ? "clozes, which models read that choose among candidates, as attention_sum"
              : "answers that are parts of their passages, which models read that give a span, as "
                "bidaf");
  auto list = cloze ? generate_clozes(n > 0 ? n : 10'000, random)
                    : generate_facts(n > 0 ? n : 8'000, random);
  std::vector<NumberedQuestion> all;
  for (PassageQuestion& q : list) all.push_back({std::move(q)});
  return all;
}

Lengths ReadSolver::lengths_of(const NumberedQuestion& e) const {
  return {std::min(e.numbers->size(), config_.longest)};
}

double ReadSolver::unknown_part(const std::vector<NumberedQuestion>& of) const {
  std::vector<const std::vector<int32_t>*> lists;
  const TextNumbers* last = nullptr;
  for (const NumberedQuestion& e : of) {
    if (e.numbers.get() != last) lists.push_back(&e.numbers->ids);
    last = e.numbers.get();
    lists.push_back(&e.asked.ids);
  }
  return unknown_part_of(lists);
}

std::vector<std::vector<Prediction>> ReadSolver::answers(const std::vector<std::string>& lines,
                                                         const PredictOptions& options) const {
  std::vector<NumberedQuestion> of;
  for (const std::string& line : lines) of.push_back(ask(line));
  return answer(of, options.nbest);
}

std::optional<std::string> ReadSolver::heard(std::string& so_far, const std::string& line) const {
  if (split_at_spaces(line).empty()) {
    so_far.clear();
    return std::nullopt;
  }
  if (!passage_.empty() || line.find('\t') != std::string::npos) return line;
  if (!so_far.empty() && (is_question(line) || has_blank(line))) return so_far + "\t" + line;
  so_far += (so_far.empty() ? "" : "\n") + line;
  return std::nullopt;
}

NumberedQuestion ReadSolver::ask(const std::string& line) const {
  std::string passage = passage_, question = line;
  NumberedQuestion e;
  size_t tab = line.rfind('\t');
  if (chooses() && tab != std::string::npos && tab > 0 &&
      line.find('|', tab) != std::string::npos) {
    for (size_t from = tab + 1; from <= line.size();) {
      const size_t to = std::min(line.find('|', from), line.size());
      const auto one = trimmed(std::string_view(line).substr(from, to - from));
      if (!one.empty()) e.candidates.emplace_back(one);
      from = to + 1;
    }
    question.resize(tab);
    tab = question.rfind('\t');
  }
  if (tab == std::string::npos && passage.empty()) tab = last_sentence(question);
  if (tab != std::string::npos) {
    passage = question.substr(0, tab);
    question = question.substr(tab + 1);
  }
  check(!split_at_spaces(passage).empty() && !split_at_spaces(question).empty(),
        "read: needs a passage, a tab and a question about it, got '", shortened(line), "'");
  e.passage = std::make_shared<const std::string>(std::move(passage));
  e.question = std::move(question);
  if (chooses() && e.candidates.empty()) e.candidates = candidates_in(*e.passage);
  check(!chooses() || !e.candidates.empty(), "read: the passage has no word to choose, got '",
        shortened(line), "'");
  std::vector<NumberedQuestion> one{std::move(e)};
  number_all(one, tokens_for(one[0]));
  check(one[0].numbers->size() > 0, "read: the passage has no words, got '", shortened(line), "'");
  return std::move(one[0]);
}

std::string ReadSolver::line_of(const NumberedQuestion& e) {
  std::string line = on_one_line(*e.passage) + "\t" + on_one_line(e.question);
  if (e.candidates.empty() || e.candidates == candidates_in(*e.passage)) return line;
  for (size_t i = 0; i < e.candidates.size(); ++i) line += (i == 0 ? "\t" : "|") + e.candidates[i];
  return line + (e.candidates.size() == 1 ? "|" : "");
}

std::vector<PassageWindow> ReadSolver::windows_of(const NumberedQuestion& e) const {
  const int64_t n = e.numbers->size(), size = config_.longest,
                step = std::max<int64_t>(1, size / 2);
  std::vector<PassageWindow> all{{0, std::min(n, size)}};
  while (all.back().to < n) {
    const int64_t from = all.back().from + step;
    all.push_back({from, std::min(n, from + size)});
  }
  return all;
}

PassageWindow ReadSolver::window_around(const NumberedQuestion& e, int64_t token) const {
  const int64_t n = e.numbers->size(), size = std::min(n, config_.longest);
  const int64_t from = std::clamp<int64_t>(token - size / 2, 0, n - size);
  return {from, from + size};
}

Tensor ReadSolver::letters(std::span<const Asked> of, int64_t rows, bool question) const {
  constexpr int64_t n = letters_of_word, head = n / 2;
  Tensor all = Tensor::zeros({rows, n}, Dtype::i32);
  int32_t* to = all.write<int32_t>().data();
  for (const Asked& one : of) {
    const NumberedQuestion& e = *one.question;
    const std::string& text = question ? e.question : *e.passage;
    const TextNumbers& numbers = question ? e.asked : *e.numbers;
    const PassageWindow w = question ? PassageWindow{0, e.asked.size()} : one.window;
    for (int64_t i = w.from; i < w.to; ++i) {
      auto ids = alphabet_->encode(word_of(text, numbers, i));
      const auto size = static_cast<int64_t>(ids.size());
      if (size > n) ids.erase(ids.begin() + head, ids.begin() + (size - (n - head)));
      std::ranges::copy(ids, to);
      to += n;
    }
  }
  return all;
}

ModelInputs ReadSolver::inputs(std::span<const Asked> of) const {
  std::vector<std::vector<int32_t>> passages, questions;
  for (const auto& [e, window] : of) {
    const auto& ids = e->numbers->ids;
    passages.emplace_back(ids.begin() + window.from, ids.begin() + window.to);
    questions.push_back(e->asked.ids);
  }
  ModelInputs in;
  in.text = sequences_of(passages);
  in.question = sequences_of(questions);
  if (config_.settings.get("letters", "0") != "0") {
    in.letters = letters(of, in.text.rows(), false);
    in.second_letters = letters(of, in.question.rows(), true);
  }
  return in;
}

std::vector<ReadSolver::Group> ReadSolver::all_windows(
    const std::vector<NumberedQuestion>& of) const {
  constexpr size_t most = 64;
  struct One {
    size_t question;
    PassageWindow window;
  };
  std::vector<One> all;
  for (size_t i = 0; i < of.size(); ++i) {
    for (const PassageWindow& window : windows_of(of[i])) all.push_back({i, window});
  }
  std::ranges::stable_sort(all, {}, [](const One& one) { return one.window.size(); });
  std::vector<Group> groups;
  for (size_t from = 0; from < all.size(); from += most) {
    Group group;
    for (size_t i = from; i < std::min(all.size(), from + most); ++i) {
      group.asked.push_back({&of[all[i].question], all[i].window});
      group.of.push_back(all[i].question);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

TextPlace ReadSolver::place_of(const NumberedQuestion& e, int64_t first, int64_t last) {
  TextPlace place;
  place.begin = e.numbers->begins[static_cast<size_t>(first)];
  place.end = e.numbers->ends[static_cast<size_t>(last)];
  const std::string_view text = *e.passage;
  place.char_begin = count_code_points(text.substr(0, static_cast<size_t>(place.begin)));
  place.char_end = place.char_begin +
                   count_code_points(text.substr(static_cast<size_t>(place.begin),
                                                 static_cast<size_t>(place.end - place.begin)));
  return place;
}

std::string ReadSolver::text_of(const NumberedQuestion& e, int64_t first, int64_t last) {
  const auto from = static_cast<size_t>(e.numbers->begins[static_cast<size_t>(first)]);
  return e.passage->substr(from,
                           static_cast<size_t>(e.numbers->ends[static_cast<size_t>(last)]) - from);
}

std::vector<AttentionMap> ReadSolver::maps_over(const Recorder& recorder,
                                                const NumberedQuestion& e) const {
  const Tokenizer& tokens = tokens_for(e);
  const PlacedTokens passage = placed_tokens(tokens, *e.passage);
  const std::vector<std::string> question = tokens.pieces(e.question);
  return maps_of(recorder, 0, [&](const std::string& name) {
    if (name.ends_with("passage_to_question")) {
      return MapLabels{passage.pieces, question, passage.places, {}};
    }
    if (name.starts_with("encoder/")) {  // of both in one sequence
      MapLabels both;
      const PlacedTokens none;
      both.keys.push_back("[begin]");
      both.keys.insert(both.keys.end(), question.begin(), question.end());
      both.keys.push_back("[end]");
      both.keys.insert(both.keys.end(), passage.pieces.begin(), passage.pieces.end());
      both.queries = both.keys;
      return both;
    }
    int64_t rows = 0;
    for (const auto& map : recorder.maps()) {
      if (map.name.starts_with(name) && !map.weights.rows.empty()) rows += map.weights.rows.dim(2);
    }
    return onto(rows == 1 ? std::vector<std::string>{e.question} : question, passage);
  });
}

AttentionMap ReadSolver::marked(const NumberedQuestion& e, const std::string& answer,
                                std::vector<float> weights) const {
  PlacedTokens passage = placed_tokens(tokens_for(e), *e.passage);
  AttentionMap map;
  map.name = "answer";
  map.queries = {answer.empty() ? "(no answer)" : answer};
  map.keys = std::move(passage.pieces);
  map.key_places = std::move(passage.places);
  map.weights = std::move(weights);
  return map;
}

}  // namespace fovea
