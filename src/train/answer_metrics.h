// How near an answer is to those that people gave: exact match and F1 of words, as the scripts of
// SQuAD count them (evaluate-v1.1.py and evaluate-v2.0.py), to the last letter.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fovea/train/metric.h"

namespace fovea {

// In lower case, without the marks of ASCII and the words a, an and the, one space between words.
std::string normalised_answer(std::string_view answer);

// Whose rules decide about answers of which nothing is left: by those of 1.1 they have no word in
// common with anything, by those of 2.0 nothing is equal to nothing.
enum class AnswerRules { squad_1, squad_2 };

// {1 if it is one of them, 1}. By the rules of 2.0, no truth at all means that there is no answer,
// and then an empty one is right.
Tally answer_em_tally(std::string_view answer, std::span<const std::string> truths,
                      AnswerRules rules);
// {F1 of its words with those of the truth that is nearest, 1}.
Tally answer_f1_tally(std::string_view answer, std::span<const std::string> truths,
                      AnswerRules rules);

}  // namespace fovea
