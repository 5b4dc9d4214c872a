// Answers as programs read them.
#include "fovea/task/answer_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace fovea::test {
namespace {

// Probabilities have a way of their own, which gives the digits of every other number.
TEST(AnswerJson, ProbabilitiesHaveSixDigits) {
  std::vector<double> all{1, 0.5, 0.1, 0.099999949, 0.9999995, 0.99999949, 1e-4, 9.99e-5, 1e-9};
  for (int i = 1; i < 5000; ++i) all.push_back(std::exp(-static_cast<float>(i) * 0.002F));
  for (const double probability : all) {
    Answered answered;
    answered.predictions.push_back({.text = "a", .score = std::log(probability)});
    std::string line;
    append_json(line, answered, Gives::label, 7);
    const std::string digits = fmt::format("{:.6g}", std::exp(std::log(probability)));
    EXPECT_EQ(line, R"({"line":7,"answer":"a","probability":)" + digits + "}");
  }
}

TEST(AnswerJson, TokensHaveTheirPlaces) {
  Answered answered;
  answered.predictions.push_back({.text = "X"});
  answered.predictions[0].tokens.push_back(
      {"a\"b", TextPlace{0, 1234567, 10, 99}, "X", std::log(0.25)});
  std::string line;
  append_json(line, answered, Gives::labels, 1);
  const auto token = nlohmann::json::parse(line)["tokens"][0];
  EXPECT_EQ(token, (nlohmann::json{{"text", "a\"b"},
                                   {"tag", "X"},
                                   {"begin", 0},
                                   {"end", 1234567},
                                   {"char_begin", 10},
                                   {"char_end", 99},
                                   {"probability", 0.25}}));
}

}  // namespace
}  // namespace fovea::test
