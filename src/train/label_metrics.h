// Metrics of labels: one for a whole text, one for each token, or tags that mark entities.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/train/metric.h"

namespace fovea {

// {tokens labelled right, tokens}
Tally token_accuracy_tally(std::span<const int32_t> truth, std::span<const int32_t> predicted);
Tally token_accuracy_tally(std::span<const std::string> truth,
                           std::span<const std::string> predicted);

// For each class in turn {true positives, false positives, false negatives}: 3 * classes numbers.
Tally label_tally(int64_t classes, int64_t truth, int64_t predicted);
// The part of the examples whose class is right.
double accuracy_of(const Tally& sum);
// The plain mean of the F1 of every class that was true or predicted at least once.
double macro_f1_of(const Tally& sum);

// Tokens [begin, end) that are one entity of that type.
struct EntitySpan {
  size_t begin, end;      // counted from 0
  std::string_view type;  // of the tags
  auto operator<=>(const EntitySpan&) const = default;
};
// By the rules of conlleval, see below, in the order of their tokens.
std::vector<EntitySpan> entity_spans(std::span<const std::string> tags);

// {entities found, entities predicted, entities true}. An entity is found when its first token, its
// last token and its type are all right. Counted as the conlleval script of CoNLL-2000 does, by its
// rules for where a chunk starts and ends: IOB1, IOB2 (BIO) and IOBES or BILOU (E and L end, S and
// U are alone) need no telling apart, and a tag that breaks its scheme (I- after O) starts an
// entity.
Tally entity_tally(std::span<const std::string> truth, std::span<const std::string> predicted);
// The part of the predicted entities that were found, of the true ones, and their harmonic mean.
double entity_precision_of(const Tally& sum);
double entity_recall_of(const Tally& sum);
double entity_f1_of(const Tally& sum);

}  // namespace fovea
