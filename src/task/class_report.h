// How a model of labels errs: each class's precision, recall and F1, which classes it takes for
// which, and the mistakes that it is surest of.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace fovea {

// One label that was asked for: of a text, or of a token in it.
struct LabelledItem {
  std::string truth, output;  // the label that it should have, and the one that it got
  double probability = 0;     // of the output
  std::string text;           // that it was asked of; of a token, it and those around it
};

// Counts over all items.
struct ClassReport {
  // One label, as truth and as answer.
  struct Class {
    std::string label;                           // as the data spells it
    int64_t count = 0, answered = 0, right = 0;  // true ones, answers, both
    // Of its answers the part that is right, of the true ones the part that was found, and their
    // harmonic mean; 0 where there is nothing to divide by.
    double precision() const { return answered > 0 ? double(right) / double(answered) : 0; }
    double recall() const { return count > 0 ? double(right) / double(count) : 0; }
    double f1() const {
      return count + answered > 0 ? 2.0 * double(right) / double(count + answered) : 0;
    }
  };
  std::vector<Class> classes;                   // the most frequent first
  std::vector<std::vector<int64_t>> confusion;  // [truth][output], in that order
  std::vector<LabelledItem> mistakes;           // the ten surest, the surest first
};

// Counts the items, whatever their order.
ClassReport class_report(const std::vector<LabelledItem>& items);

// Tables of at most `width` columns; of more than twelve classes the twelve pairs that are mixed up
// most often take the place of the matrix.
std::string text_of(const ClassReport& report, int width = 80);
// The same for programs, whole.
nlohmann::json to_json(const ClassReport& report);

}  // namespace fovea
