// BLEU as sacreBLEU counts it. Papineni, Roukos, Ward, Zhu, "BLEU: a method for automatic
// evaluation of machine translation", 2002; Post, "A call for clarity in reporting BLEU scores",
// 2018.
//
//   BLEU = 100 * min(1, exp(1 - r / c)) * (p1 p2 p3 p4)^(1/4)
#pragma once

#include <string>
#include <string_view>

#include "fovea/train/metric.h"

namespace fovea {

struct BleuOptions {
  std::string tokenize = "none";  // none: words are what whitespace separates; 13a: mteval's rules
  bool lowercase = false;         // both sides, before n-grams are compared
};

// Ten numbers: n-grams of the hypothesis that the reference has (n = 1 to 4), n-grams of the
// hypothesis (n = 1 to 4), words of the hypothesis, words of the reference.
Tally bleu_tally(std::string_view hypothesis, std::string_view reference,
                 const BleuOptions& options = {});
// 0 to 100, of the sum over a corpus; an order without matches is smoothed as sacreBLEU does by
// default ("exp").
double bleu_of(const Tally& sum);

// mteval-v13a's tokens, separated by single spaces.
std::string tokenize_13a(std::string_view line);

}  // namespace fovea
