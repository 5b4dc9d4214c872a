// Metrics of labels: one for a whole text, one for each token, or tags that mark entities.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/train/metric.h"

namespace fovea {

// {tokens labelled right, tokens}
Tally token_accuracy_tally(std::span<const int32_t> truth, std::span<const int32_t> predicted);
Tally token_accuracy_tally(std::span<const std::string> truth,
                           std::span<const std::string> predicted);

// For each class in turn {true positives, false positives, false negatives}: 3 * classes numbers.
Tally label_tally(int64_t classes, int64_t truth, int64_t predicted);
double accuracy_of(const Tally& sum);
// The plain mean of the F1 of every class that was true or predicted at least once.
double macro_f1_of(const Tally& sum);

// {entities found, entities predicted, entities true}. An entity is found when its first token, its
// last token and its type are all right. Counted as the conlleval script of CoNLL-2000 does, by its
// rules for where a chunk starts and ends: IOB1, IOB2 (BIO) and IOBES or BILOU (E and L end, S and
// U are alone) need no telling apart, and a tag that breaks its scheme (I- after O) starts an
// entity.
Tally entity_tally(std::span<const std::string> truth, std::span<const std::string> predicted);
double entity_precision_of(const Tally& sum);
double entity_recall_of(const Tally& sum);
double entity_f1_of(const Tally& sum);

}  // namespace fovea
