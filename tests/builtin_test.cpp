#include "fovea/data/builtin.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

std::string part(const std::string& text, Span span) {
  return span.from < 0 ? "" : text.substr(span.from, span.to - span.from);
}

int leading_number(const std::string& text) { return std::stoi("0" + text); }

const std::vector<std::string> months{"jan", "feb", "mar", "apr", "may", "jun",
                                      "jul", "aug", "sep", "oct", "nov", "dec"};

TEST(Dates, TruthPointsAtWhatIsWritten) {
  for (const Pair& pair : generate_dates(5'000, Random(1))) {
    SCOPED_TRACE(pair.source + " -> " + pair.target);
    ASSERT_EQ(pair.target.size(), 10u);
    ASSERT_EQ(pair.truth.size(), 10u);
    EXPECT_EQ(pair.truth[4], Span());
    EXPECT_EQ(pair.truth[7], Span());
    for (const int digit : {1, 2, 3}) EXPECT_EQ(pair.truth[digit], pair.truth[0]);
    EXPECT_EQ(pair.truth[6], pair.truth[5]);
    EXPECT_EQ(pair.truth[9], pair.truth[8]);
    const int y = std::stoi(pair.target.substr(0, 4)), m = std::stoi(pair.target.substr(5, 2)),
              d = std::stoi(pair.target.substr(8, 2));
    const std::string source = to_lowercase(pair.source);
    const std::string year = part(source, pair.truth[0]), month = part(source, pair.truth[5]),
                      day = part(source, pair.truth[8]);
    ASSERT_TRUE(!year.empty() && !month.empty() && !day.empty());
    if (isdigit(year[0])) {
      EXPECT_EQ(std::stoi(year), year.size() == 2 ? y % 100 : y);
      if (year.size() == 2) {
        EXPECT_TRUE(y >= 1970 && y <= 2069);
      }
    }
    if (isdigit(month[0])) {
      EXPECT_EQ(std::stoi(month), m);
    } else {
      EXPECT_EQ(month.substr(0, 3), months[m - 1]);
    }
    if (isdigit(day[0])) {
      EXPECT_EQ(leading_number(day), d);
    }
    EXPECT_TRUE((std::chrono::year(y) / m / d).ok());
  }
}

TEST(Dates, WeekdaysAreRight) {
  const std::vector<std::string> days{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  int seen = 0;
  for (const Pair& pair : generate_dates(5'000, Random(2))) {
    const std::string start = to_lowercase(pair.source).substr(0, 3);
    const auto found = std::find(days.begin(), days.end(), start);
    if (found == days.end()) continue;
    ++seen;
    const auto date = std::chrono::year(std::stoi(pair.target.substr(0, 4))) /
                      std::stoi(pair.target.substr(5, 2)) / std::stoi(pair.target.substr(8, 2));
    EXPECT_EQ(std::chrono::weekday(std::chrono::sys_days(date)).c_encoding(),
              static_cast<unsigned>(found - days.begin()))
        << pair.source << " -> " << pair.target;
  }
  EXPECT_GT(seen, 300);
}

TEST(Dates, AreMostlyDistinctAndOfManyForms) {
  std::set<std::string> sources, shapes;
  std::map<std::string, std::string> meaning;
  for (const Pair& pair : generate_dates(20'000, Random(3))) {
    sources.insert(pair.source);
    // The same text never means two dates.
    const auto [known, fresh] = meaning.emplace(pair.source, pair.target);
    EXPECT_TRUE(fresh || known->second == pair.target) << pair.source;
    std::string shape;
    for (const char c : pair.source) {
      const char kind = isdigit(c) ? '0' : isalpha(c) ? 'a' : c;
      if (shape.empty() || shape.back() != kind) shape += kind;
    }
    shapes.insert(shape);
  }
  EXPECT_GT(sources.size(), 19'000u);
  EXPECT_GT(shapes.size(), 20u);
}

TEST(Dates, AreTheSameForTheSameStream) {
  const auto first = generate_dates(3, Random(1)), again = generate_dates(3, Random(1));
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].source, again[i].source);
  EXPECT_EQ(first[0].source, "2 JUL 1967");
  EXPECT_NE(generate_dates(1, Random(2))[0].source, first[0].source);
}

TEST(Reverse, TruthPointsAtTheSameToken) {
  std::set<size_t> counts;
  for (const Pair& pair : generate_reverse(2'000, Random(1))) {
    auto tokens = split_at_spaces(pair.source);
    const auto back = split_at_spaces(pair.target);
    counts.insert(tokens.size());
    std::reverse(tokens.begin(), tokens.end());
    ASSERT_EQ(tokens, back);
    ASSERT_EQ(pair.truth.size(), pair.target.size());
    std::string pointed;
    for (size_t i = 0; i < pair.target.size(); ++i) {
      const Span span = pair.truth[i];
      EXPECT_EQ(pair.target[i] == ' ', span.from < 0);
      if (span.from >= 0 && (i == 0 || pair.target[i - 1] == ' ')) {
        pointed += (pointed.empty() ? "" : " ") + part(pair.source, span);
      }
    }
    EXPECT_EQ(pointed, pair.target);
  }
  EXPECT_EQ(*counts.begin(), 3u);
  EXPECT_EQ(*counts.rbegin(), 20u);
  EXPECT_EQ(counts.size(), 18u);
}

TEST(Tags, DependOnTheWordsAround) {
  std::map<std::string, std::map<std::string, int>> seen;
  int words = 0, best = 0;
  for (const Tagged& sentence : generate_tags(5'000, Random(1))) {
    ASSERT_EQ(sentence.words.size(), sentence.tags.size());
    ASSERT_EQ(sentence.words.back(), ".");
    for (size_t i = 0; i < sentence.words.size(); ++i) ++seen[sentence.words[i]][sentence.tags[i]];
  }
  for (const auto& [word, tags] : seen) {
    int most = 0;
    for (const auto& [tag, count] : tags) {
      words += count;
      most = std::max(most, count);
    }
    best += most;
  }
  for (const char* word : {"can", "watch", "saw", "run", "light"}) EXPECT_GE(seen[word].size(), 2u);
  EXPECT_EQ(seen["can"].size(), 3u);
  // Each word's most frequent tag is right less often than a model that reads the others.
  EXPECT_LT(static_cast<double>(best) / words, 0.95);
}

// Naive Bayes over words: what a bag of words can tell.
double bag_of_words_accuracy(const std::vector<Labelled>& train,
                             const std::vector<Labelled>& test) {
  std::map<std::string, std::pair<double, double>> counts;
  const auto distinct = [](const std::string& text) {
    const auto words = split_at_spaces(text);
    return std::set<std::string>(words.begin(), words.end());
  };
  for (const Labelled& example : train) {
    for (const std::string& word : distinct(example.text)) {
      auto& count = counts.try_emplace(word, 1, 1).first->second;
      ++(example.label == "positive" ? count.first : count.second);
    }
  }
  int right = 0;
  for (const Labelled& example : test) {
    double sum = 0;
    for (const std::string& word : distinct(example.text)) {
      if (counts.count(word)) sum += std::log(counts[word].first / counts[word].second);
    }
    right += (sum > 0) == (example.label == "positive");
  }
  return static_cast<double>(right) / static_cast<double>(test.size());
}

TEST(Sentiment, ABagOfWordsDoesNotSuffice) {
  const auto train = generate_sentiment(5'000, Random(1)),
             test = generate_sentiment(2'000, Random(2));
  int positive = 0;
  for (const Labelled& example : train) {
    ASSERT_TRUE(example.label == "positive" || example.label == "negative");
    positive += example.label == "positive";
  }
  EXPECT_NEAR(positive, 2'500, 200);
  const double accuracy = bag_of_words_accuracy(train, test);
  RecordProperty("bag_of_words_accuracy", std::to_string(accuracy));
  EXPECT_LT(accuracy, 0.75);
}

}  // namespace
}  // namespace fovea
