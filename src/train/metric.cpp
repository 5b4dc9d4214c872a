#include "fovea/train/metric.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/train/bleu.h"
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

std::span<const MetricKind> metrics() {
  static const MetricKind table[] = {
      {"bleu", "BLEU of the corpus, 0 to 100, as sacreBLEU counts it", true, bleu_of},
      {"exact_match", "share of texts that are right to the letter", true, ratio_of},
      {"cer", "character errors for each character of the truth", false, ratio_of},
      {"alignment", "share of outputs that look at the right input", true, ratio_of},
      {"token_accuracy", "share of tokens labelled right", true, ratio_of},
      {"entity_f1", "F1 of whole entities, as conlleval counts them", true, entity_f1_of},
      {"entity_precision", "share of predicted entities that are right", true, entity_precision_of},
      {"entity_recall", "share of true entities that are found", true, entity_recall_of},
      {"accuracy", "share of texts labelled right", true, accuracy_of},
      {"macro_f1", "mean of the classes' F1", true, macro_f1_of},
      {"rmse", "root of the mean squared error", false, rmse_of},
      {"loss", "nats for each token", false, ratio_of},
      {"perplexity", "how many equally likely tokens it wavers between", false, perplexity_of},
  };
  return table;
}

const MetricKind& find_metric(std::string_view name) {
  std::vector<std::string> known;
  for (const MetricKind& kind : metrics()) {
    if (kind.name == name) return kind;
    known.push_back(kind.name);
  }
  fail(unknown_name("metric", name, known));
}

}  // namespace fovea
