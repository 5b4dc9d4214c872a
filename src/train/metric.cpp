#include "fovea/train/metric.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/train/bleu.h"
#include "fovea/train/caption_metrics.h"
#include "fovea/train/label_metrics.h"

namespace fovea {

void add_to(Tally& sum, const Tally& example) {
  if (sum.empty()) sum.resize(example.size());
  check(sum.size() == example.size(), "metric: a tally of ", sum.size(),
        " numbers cannot take one of ", example.size());
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += example[i];
}

double ratio_of(const Tally& sum) { return sum.at(1) > 0 ? sum[0] / sum[1] : 0; }
double perplexity_of(const Tally& sum) { return std::exp(ratio_of(sum)); }
double rmse_of(const Tally& sum) { return std::sqrt(ratio_of(sum)); }

Tally rmse_tally(double truth, double predicted) {
  return {(truth - predicted) * (truth - predicted), 1};
}

Tally mae_tally(double truth, double predicted) { return {std::abs(truth - predicted), 1}; }

Tally r2_tally(double truth, double predicted) {
  return {(truth - predicted) * (truth - predicted), 1, truth, truth * truth};
}

double r2_of(const Tally& sum) {
  const double spread = sum.at(3) - sum[2] * sum[2] / std::max(1.0, sum[1]);
  return spread > 0 ? 1 - sum[0] / spread : 0;
}

double bits_per_byte_of(const Tally& sum) { return ratio_of(sum) / std::log(2.0); }

std::span<const MetricKind> metrics() {
  static const MetricKind table[] = {
      {"bleu", "BLEU of the corpus, 0 to 100, as sacreBLEU counts it", true, bleu_of},
      {"cider_d", "CIDEr-D of the captions, 0 to 10", true, ratio_of},
      {"bleu_1", "BLEU of captions, words alone, 0 to 100", true, caption_bleu_of<1>},
      {"bleu_2", "BLEU of captions, up to pairs of words", true, caption_bleu_of<2>},
      {"bleu_3", "BLEU of captions, up to three words", true, caption_bleu_of<3>},
      {"bleu_4", "BLEU of captions, up to four words", true, caption_bleu_of<4>},
      {"pointing", "share of the looks that fall on what a word names", true, ratio_of},
      {"exact_match", "share of texts that are right to the letter", true, ratio_of},
      {"cer", "character errors for each character of the truth", false, ratio_of},
      {"alignment", "share of outputs that look at the right input", true, ratio_of},
      {"token_accuracy", "share of tokens labelled right", true, ratio_of},
      {"entity_f1", "F1 of whole entities, as conlleval counts them", true, entity_f1_of},
      {"entity_precision", "share of predicted entities that are right", true, entity_precision_of},
      {"entity_recall", "share of true entities that are found", true, entity_recall_of},
      {"accuracy", "share of texts labelled right", true, accuracy_of},
      {"macro_f1", "mean of the classes' F1", true, macro_f1_of},
      {"right_answers", "share of questions that are answered right", true, ratio_of},
      {"answer_f1", "overlap of words with the answers given, as SQuAD counts it", true, ratio_of},
      {"answer_em", "share of answers that are one of those given, as SQuAD counts it", true,
       ratio_of},
      {"wrong_bits", "share of bits that are wrong", false, ratio_of},
      {"sequences", "share of sequences that are right from end to end", true, ratio_of},
      {"prefix", "share of each sequence before its first error", true, ratio_of},
      {"excess_bits", "bits for each symbol beyond what the best estimator needs", false, ratio_of},
      {"map", "mean average precision of the ranked candidates", true, ratio_of},
      {"mrr", "mean of 1 / the rank of the first that is right", true, ratio_of},
      {"precision_at_1", "share of questions whose first candidate is right", true, ratio_of},
      {"auc", "how often an edge scores above a pair without one", true, ratio_of},
      {"hits_at_10", "share of edges that fewer than 10 of 100 other pairs score above", true,
       ratio_of},
      {"rmse", "root of the mean squared error", false, rmse_of},
      {"mae", "mean of the absolute error", false, ratio_of},
      {"r2", "part of the variance that is explained", true, r2_of},
      {"loss", "nats for each token", false, ratio_of},
      {"bits_per_byte", "bits for each byte of the text", false, bits_per_byte_of},
      {"perplexity", "how many equally likely tokens it wavers between", false, perplexity_of},
  };
  return table;
}

const MetricKind& find_metric(std::string_view name) {
  std::vector<std::string> known;
  const std::string_view base = name.substr(0, name.find('@'));
  for (const MetricKind& kind : metrics()) {
    if (kind.name == base) return kind;
    known.push_back(kind.name);
  }
  fail(unknown_name("metric", name, known));
}

}  // namespace fovea
