// How captions are measured against one or several that people gave.
//   BLEU-n:  Papineni et al. 2002, over orders 1 to n, not smoothed, the nearest reference's length
//   CIDEr-D: Vedantam, Zitnick, Parikh, "CIDEr: Consensus-based Image Description Evaluation",
//   2015:
//     g(c): n-grams weighed by how few pictures' references have them (tf-idf), n = 1 to 4
//     10 mean_n mean_references exp(-(l_c - l_r)^2 / 2 sigma^2) min(g(c), g(r)) . g(r) /
//     |g(c)||g(r)|
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/train/metric.h"

namespace fovea {

// Words in lower case, by mteval's rules, without those that are punctuation alone: as captions are
// compared.
std::vector<std::string> caption_words(std::string_view text);

// Ten numbers, as bleu_tally() has them, against the nearest of several references.
Tally caption_bleu_tally(const std::vector<std::string>& caption,
                         std::span<const std::vector<std::string>> references);
// BLEU of orders 1 to n, 0 to 100, of the sum over a corpus.
template <int n>
double caption_bleu_of(const Tally& sum);

// CIDEr-D needs to know all references first.
class CiderD {
 public:
  // The references of every picture.
  explicit CiderD(std::span<const std::vector<std::vector<std::string>>> references);
  // Of one caption against its references: 0 to 10.
  double score(const std::vector<std::string>& caption,
               std::span<const std::vector<std::string>> references) const;

 private:
  static constexpr int orders = 4;
  static constexpr double sigma = 6;
  using Counts = std::map<std::vector<std::string>, double>;
  struct Weighed {
    Counts weight[orders];
    double norm[orders] = {};
    double length = 0;
  };
  static Counts counts(const std::vector<std::string>& words);
  Weighed weighed(const std::vector<std::string>& words) const;

  Counts pictures_with_;  // an n-gram: in how many pictures' references it is
  double log_pictures_;
};

}  // namespace fovea
