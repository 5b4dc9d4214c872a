#include "fovea/train/caption_metrics.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/train/bleu.h"

namespace fovea {
namespace {

constexpr int most_order = 4;
using Gram = std::vector<std::string>;

std::map<Gram, double> grams_of(const std::vector<std::string>& words, size_t order) {
  std::map<Gram, double> all;
  for (size_t i = 0; i + order <= words.size(); ++i) {
    const auto from = words.begin() + static_cast<ptrdiff_t>(i);
    ++all[Gram(from, from + static_cast<ptrdiff_t>(order))];
  }
  return all;
}

}  // namespace

std::vector<std::string> caption_words(std::string_view text) {
  const std::string spaced = tokenize_13a(to_lowercase(std::string(text)));
  std::vector<std::string> words;
  for (const std::string_view word : split_at_spaces(spaced)) {
    const bool mark = std::ranges::all_of(word, [](char c) {
      return static_cast<unsigned char>(c) < 128 && std::ispunct(static_cast<unsigned char>(c));
    });
    if (!mark) words.emplace_back(word);
  }
  return words;
}

Tally caption_bleu_tally(const std::vector<std::string>& caption,
                         std::span<const std::vector<std::string>> references) {
  check(!references.empty(), "bleu: a caption needs a reference");
  Tally tally(2 * most_order + 2);
  for (size_t order = 1; order <= most_order; ++order) {
    std::map<Gram, double> allowed;
    for (const auto& reference : references) {
      for (const auto& [gram, count] : grams_of(reference, order)) {
        allowed[gram] = std::max(allowed[gram], count);
      }
    }
    for (const auto& [gram, count] : grams_of(caption, order)) {
      const auto found = allowed.find(gram);
      if (found != allowed.end()) tally[order - 1] += std::min(count, found->second);
      tally[most_order + order - 1] += count;
    }
  }
  const auto length = static_cast<double>(caption.size());
  double nearest = static_cast<double>(references[0].size());
  for (const auto& reference : references) {  // of equally near ones the shorter
    const auto its = static_cast<double>(reference.size());
    const double far = std::abs(its - length), best = std::abs(nearest - length);
    if (far < best || (far == best && its < nearest)) nearest = its;
  }
  tally[2 * most_order] = length;
  tally[2 * most_order + 1] = nearest;
  return tally;
}

template <int n>
double caption_bleu_of(const Tally& sum) {
  check(sum.size() == 2 * most_order + 2, "bleu: a tally has 10 numbers, got ", sum.size());
  double logs = 0;
  for (int order = 0; order < n; ++order) {
    if (sum[order] == 0) return 0;
    logs += std::log(sum[order] / sum[most_order + order]);
  }
  const double length = sum[2 * most_order], wanted = sum[2 * most_order + 1];
  return 100 * std::exp(logs / n + std::min(0.0, 1 - wanted / length));
}
template double caption_bleu_of<1>(const Tally&);
template double caption_bleu_of<2>(const Tally&);
template double caption_bleu_of<3>(const Tally&);
template double caption_bleu_of<4>(const Tally&);

CiderD::Counts CiderD::counts(const std::vector<std::string>& words) {
  Counts all;
  for (size_t order = 1; order <= orders; ++order) all.merge(grams_of(words, order));
  return all;
}

CiderD::CiderD(std::span<const std::vector<std::vector<std::string>>> references)
    : log_pictures_(std::log(static_cast<double>(std::max<size_t>(1, references.size())))) {
  for (const auto& of_picture : references) {
    std::set<Gram> seen;
    for (const auto& reference : of_picture) {
      for (const auto& [gram, count] : counts(reference)) seen.insert(gram);
    }
    for (const Gram& gram : seen) ++pictures_with_[gram];
  }
}

CiderD::Weighed CiderD::weighed(const std::vector<std::string>& words) const {
  Weighed result;
  result.length = static_cast<double>(words.size());
  for (const auto& [gram, count] : counts(words)) {
    const auto found = pictures_with_.find(gram);
    const double pictures = found == pictures_with_.end() ? 1 : std::max(1.0, found->second);
    const double weight = count * (log_pictures_ - std::log(pictures));
    const size_t n = gram.size() - 1;
    result.weight[n][gram] = weight;
    result.norm[n] += weight * weight;
  }
  for (double& norm : result.norm) norm = std::sqrt(norm);
  return result;
}

double CiderD::score(const std::vector<std::string>& caption,
                     std::span<const std::vector<std::string>> references) const {
  if (references.empty()) return 0;
  const Weighed ours = weighed(caption);
  double sum = 0;
  for (const auto& reference : references) {
    const Weighed theirs = weighed(reference);
    const double apart = ours.length - theirs.length;
    for (int n = 0; n < orders; ++n) {
      double product = 0;
      for (const auto& [gram, weight] : ours.weight[n]) {
        const auto found = theirs.weight[n].find(gram);
        if (found != theirs.weight[n].end()) {
          product += std::min(weight, found->second) * found->second;
        }
      }
      const double norms = ours.norm[n] * theirs.norm[n];
      if (norms > 0) product /= norms;
      sum += product * std::exp(-apart * apart / (2 * sigma * sigma)) / orders;
    }
  }
  return 10 * sum / static_cast<double>(references.size());
}

}  // namespace fovea
